"""A figure of the report, and how runs appear in all of them."""

from __future__ import annotations

from dataclasses import dataclass

from plotly import graph_objects as go

from becbo.campaign.formatting import result_text
from becbo.campaign.runs import Run
from becbo.insight.insight import Insight
from becbo.plots.interactive import MarkKind
from becbo.trial import Outcome


@dataclass(frozen=True)
class ReportFigure:
    """A figure in the report.

    Attributes:
        figure: What is drawn.
        alt: Its text alternative.
        caption: What stands above it.
        group: The heading that it shares with others.
    """

    figure: go.Figure
    alt: str
    caption: str = ""
    group: str = ""


def run_kind(found: Insight, run: Run) -> MarkKind:
    """How a run is drawn that was not lost."""
    if run.number in {best.number for best in found.status.front}:
        return "best"
    if run.outcome is Outcome.OK:
        return "worked" if found.description.outputs.are_kept(run.values) else "beyond"
    return "failed" if run.outcome is Outcome.FAILED else "next"


def run_label(found: Insight, run: Run) -> str:
    """What is said about a run on hovering."""
    return f"run {run.number}: {result_text(run.result, found.description.outputs)}"
