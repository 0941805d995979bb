"""Spreadsheets in and out: a CSV or xlsx file with one experiment per row."""

from becbo.tables.importing import ImportSummary, import_cells, import_table
from becbo.tables.reading import BadTable
from becbo.tables.writing import export_table

__all__ = ["BadTable", "ImportSummary", "export_table", "import_cells", "import_table"]
