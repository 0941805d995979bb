"""What a campaign has taught so far, for people: one HTML file, and plots in optuna-dashboard."""

from becbo.report.html import write_report

__all__ = ["write_report"]
