"""The report: one HTML file that needs nothing else, and its parts for other pages.

`Sections` are the report without head and scripts: HTML without inline styles or scripts that
contains the figures as JSON. The page that shows it needs `STYLE`, Plotly, and a script that draws
the figures, such as `templates/draw.js`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from becbo.campaign import formatting
from becbo.campaign.campaign import Campaign
from becbo.errors import InvalidInput
from becbo.files import check_free, write_file
from becbo.insight.calibration import ENOUGH
from becbo.insight.forecasts import outlook_table
from becbo.insight.insight import Insight, analyze_campaign
from becbo.outlook import Outlook, Stop
from becbo.report.base import ReportFigure
from becbo.report.figures import report_figures
from becbo.trial import Outcome

_FOLDER = Path(__file__).parent / "templates"
STYLE = (_FOLDER / "insight.css").read_text(encoding="utf-8")
# Plotly for figures with axes only: a third of the size of the whole library.
PLOTLY = (_FOLDER / "plotly-cartesian.min.js").read_text(encoding="utf-8")
_DRAW = (_FOLDER / "draw.js").read_text(encoding="utf-8")
_OUTLOOK = "<!-- outlook -->"  # in a template; what users write is escaped, so nothing else is this


@dataclass(frozen=True)
class Sections:
    """What the report shows, as HTML to put into a page.

    The outlook comes last: it depends on the reader's margin, and no model is needed to change it.

    Attributes:
        content: The HTML, with a comment where the outlook belongs.
        outlook: What more experiments may bring; None before the first one.
    """

    content: str
    outlook: Outlook | None

    @classmethod
    def of(cls, found: Insight) -> Sections:
        """The sections about what a campaign has taught."""
        return cls(_content(found), found.outlook if found.status.n_done else None)

    def html(self, margin: float | None = None) -> str:
        """The sections with the outlook by a margin, which `becbo.outlook.Stop` explains."""
        if self.outlook is None:
            return self.content
        template = _environment().get_template("outlook.html.jinja")
        section = template.render(outlook=outlook_table(self.outlook, Stop(margin=margin)))
        return self.content.replace(_OUTLOOK, section, 1)


def write_report(
    campaign: Campaign, path: str | Path, *, margin: float | None = None, overwrite: bool = False
) -> Path:
    """Writes the report of a campaign.

    Args:
        campaign: The campaign.
        path: An .html file.
        margin: The gain that is worth experiments, for the outlook; see `becbo.outlook.Stop`.
        overwrite: Whether it may replace a file.

    Returns:
        The path.

    Raises:
        InvalidInput: The file has another ending, exists already or cannot be written, or the
            margin cannot be used.

    Examples:
        >>> path = write_report(campaign, "coating.html", margin=5)
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):  # it would overwrite a table or a database
        raise InvalidInput(f"{path}: a report is a web page, give it a name that ends in .html")
    Stop(margin=margin)  # checked before the models are fitted, which takes a while
    check_free(path, overwrite)
    page = report_page(analyze_campaign(campaign), margin)
    write_file(path, page.encode(), overwrite=overwrite)
    return path


def report_page(found: Insight, margin: float | None = None) -> str:
    """The whole page."""
    return standalone_page(found.description.name, Sections.of(found).html(margin))


def standalone_page(title: str, content: str) -> str:
    """A page that needs nothing else around the HTML of `Sections`, with Plotly in it."""
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=title,
            written=datetime.now(),
            sections=content,
            style=STYLE,
            plotly=PLOTLY,
            draw=_DRAW,
        )
    )


def _content(found: Insight) -> str:
    """What the report shows but the outlook."""
    shown = report_figures(found)
    template = _environment().get_template("insight.html.jinja")
    return template.render(
        found=found,
        described=found.description,
        best=found.status.best,
        front_numbers={run.number for run in found.status.front},
        effort=_effort(found),
        enough=ENOUGH,
        pictures=shown,
        layers=_by_group(shown, "layer"),
        drivers=_by_group(shown, "value"),
        figures=_json(shown),
    )


def _effort(found: Insight) -> tuple[int, int]:
    """Experiments until the best one, it included, and how many of them failed."""
    best = found.status.best
    until = [run for run in found.runs if best is not None and run.number <= best.number]
    n_failed = sum(run.outcome is Outcome.FAILED for run in until)
    return n_failed + sum(run.outcome is Outcome.OK for run in until), n_failed


def _by_group(shown: dict[str, ReportFigure], kind: str) -> dict[str, list[str]]:
    """The names of the figures of a kind under each of their headings."""
    groups: dict[str, list[str]] = {}
    for name, picture in shown.items():
        if name.startswith(f"{kind}-"):
            groups.setdefault(picture.group, []).append(name)
    return groups


def _json(shown: dict[str, ReportFigure]) -> str:
    """The figures as JSON that may stand inside a script element."""
    figures = {name: json.loads(picture.figure.to_json()) for name, picture in shown.items()}
    return json.dumps(figures).replace("<", "\\u003c")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": formatting.number, "percent": formatting.percent, "plural": formatting.plural,
        "tight": formatting.tight,
    }  # fmt: skip
    environment.globals |= {
        "estimate": formatting.estimate,
        "margin": formatting.margin_text,
        "Outcome": Outcome,
    }
    return environment
