"""The report: one HTML file that needs nothing else, and its parts for other pages.

`sections` is the report without head and scripts: HTML without inline styles or scripts, which
holds the figures as JSON. The page that shows it needs `STYLE`, Plotly, and a script that draws
them, as `pages/draw.js` does in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from plotly.graph_objects import Figure
from plotly.offline import get_plotlyjs

from becbo.campaign import words
from becbo.campaign.calibration import ENOUGH
from becbo.campaign.campaign import Campaign
from becbo.campaign.description import LabParameter
from becbo.campaign.insight import Drivers, Insight, insight
from becbo.errors import InvalidInput
from becbo.plots import pages
from becbo.space import Categorical
from becbo.trial import Outcome

_FOLDER = Path(__file__).parent / "pages"
STYLE = (_FOLDER / "insight.css").read_text(encoding="utf-8")
_DRAW = (_FOLDER / "draw.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Picture:
    """A figure and what it shows in words, for those who do not see it."""

    figure: Figure
    alt: str


def write_report(campaign: Campaign, path: str | Path) -> Path:
    """Writes the report of a campaign to an .html file."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):  # it would overwrite a table or a database
        raise InvalidInput(f"{path}: a report is a web page, give it a name that ends in .html")
    content = report(insight(campaign))
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from error
    return path


def report(found: Insight) -> str:
    """The whole page."""
    return whole_page(found.description.name, sections(found))


def whole_page(title: str, content: str) -> str:
    """A page that needs nothing else around `sections`, with Plotly in it."""
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=title,
            written=datetime.now(),
            sections=content,
            style=STYLE,
            plotly=get_plotlyjs(),
            draw=_DRAW,
        )
    )


def sections(found: Insight) -> str:
    """What the report shows, as HTML to put into a page."""
    shown = pictures(found)
    template = _environment().get_template("insight.html.jinja")
    return template.render(
        found=found,
        described=found.description,
        best=found.status.best,
        effort=_effort(found),
        enough=ENOUGH,
        pictures=shown,
        figures=_json(shown),
    )


def pictures(found: Insight) -> dict[str, Picture]:
    """All figures by name: progress, map-1 and so on, failure, value, calibration."""
    shown = {}
    if found.status.n_done:
        shown["progress"] = _progress(found)
    for i, picture in enumerate(_maps(found), start=1):
        shown[f"map-{i}"] = picture
    for name, what in (("failure", "the chance to work"), ("value", "the expected value")):
        drivers: Drivers = getattr(found, name)
        if drivers.shares:
            shown[name] = _drivers(drivers, what)
    if found.calibration.is_enough:
        shown["calibration"] = _calibration(found)
    return shown


def _progress(found: Insight) -> Picture:
    done = [run for run in found.runs if run.outcome.is_answer]
    objective = found.description.objective
    figure = pages.progress_figure(
        [run.number for run in done],
        [run.value for run in done],
        direction=objective.direction,
        value_label=objective.heading,
    )
    return Picture(figure, f"{objective.name} of every run and the best so far, failures below")


def _maps(found: Insight) -> Iterable[Picture]:
    described = {p.name: p for p in found.description.parameters}
    for slice_, nearness in zip(found.maps.maps, found.maps.nearness, strict=True):
        x, y = described[slice_.x], described.get(slice_.y)
        figure = pages.map_figure(
            _axis(x, slice_.x_values),
            pages.Axis("", [0.0], is_continuous=False, names=[""])
            if y is None
            else _axis(y, slice_.y_values),
            slice_.chance,
            list(_marks(found, x, y, nearness)),
            expected=slice_.expected,
            value_label=found.description.objective.heading,
        )
        over = x.name if y is None else f"{x.name} and {y.name}"
        yield Picture(figure, f"chance to work over {over}")


def _axis(described: LabParameter, values: Iterable[Any]) -> pages.Axis:
    parameter = described.parameter
    if isinstance(parameter, Categorical):
        names = [str(value) for value in values]
        positions = [float(i) for i in range(len(names))]
        return pages.Axis(described.heading, positions, is_continuous=False, names=names)
    has_many = parameter.options() is None
    return pages.Axis(described.heading, [float(v) for v in values], parameter.log, has_many)


def _marks(
    found: Insight, x: LabParameter, y: LabParameter | None, nearness: Iterable[float]
) -> Iterable[pages.Mark]:
    """All runs that say something, the best, and the suggestion that nobody asked for yet."""
    kinds: dict[Outcome, pages.MarkKind] = {
        Outcome.OK: "worked", Outcome.FAILED: "failed", Outcome.PENDING: "next"
    }  # fmt: skip
    best = found.status.best
    for run, near in zip(found.runs, nearness, strict=True):
        if run.outcome in kinds:
            is_best = best is not None and run.number == best.number
            kind = "best" if is_best else kinds[run.outcome]
            label = f"run {run.number}: {run.result}"
            yield pages.Mark(kind, _position(x, run.params), _position(y, run.params), label, near)
    for next_ in found.suggestions:
        if next_.number is None:
            at = _position(x, next_.params), _position(y, next_.params)
            yield pages.Mark("next", *at, "would be suggested next")


def _position(described: LabParameter | None, params: dict[str, Any]) -> float:
    """Where a design lies on an axis."""
    if described is None:
        return 0.0
    value, parameter = params[described.name], described.parameter
    if isinstance(parameter, Categorical):
        return float(parameter.choices.index(value))
    return float(value)


def _drivers(drivers: Drivers, what: str) -> Picture:
    figure = pages.drivers_figure(
        [share.name for share in drivers.shares],
        [share.alone for share in drivers.shares],
        [share.total for share in drivers.shares],
    )
    said = ", ".join(f"{share.name} {words.percent(share.total)}" for share in drivers.shares)
    return Picture(figure, f"share of the variation of {what}: {said}")


def _calibration(found: Insight) -> Picture:
    bins = found.calibration.bins
    figure = pages.calibration_figure(
        [b.believed for b in bins],
        [b.observed for b in bins],
        [b.interval for b in bins],
        [b.n for b in bins],
    )
    said = "; ".join(
        f"believed {words.percent(b.believed)}, worked {words.percent(b.observed)} of {b.n}"
        for b in bins
    )
    return Picture(figure, f"share that worked against the chance believed: {said}")


def _effort(found: Insight) -> tuple[int, int]:
    """Experiments until the best one, it included, and how many of them failed."""
    best = found.status.best
    until = [run for run in found.runs if best is not None and run.number <= best.number]
    n_failed = sum(run.outcome is Outcome.FAILED for run in until)
    return n_failed + sum(run.outcome is Outcome.OK for run in until), n_failed


def _json(shown: dict[str, Picture]) -> str:
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
        "number": words.number, "percent": words.percent, "plural": words.plural,
        "tight": words.tight,
    }  # fmt: skip
    environment.globals |= {"estimate": words.estimate}
    return environment
