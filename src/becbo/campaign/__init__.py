"""What a lab does with a study: describe, suggest, record, correct, import, export, report."""
