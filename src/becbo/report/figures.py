"""The figures of a report, from what a campaign has taught."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plotly import graph_objects as go

from becbo.campaign.description import LabParameter
from becbo.campaign.formatting import percent, result_text
from becbo.insight.insight import Importances, Insight
from becbo.plots import interactive
from becbo.space import Categorical
from becbo.trial import Outcome


@dataclass(frozen=True)
class ReportFigure:
    """A figure and its text alternative."""

    figure: go.Figure
    alt: str


def report_figures(found: Insight) -> dict[str, ReportFigure]:
    """All figures by name: progress, map-1 and so on, failure, value, calibration."""
    shown = {}
    if found.status.n_done:
        shown["progress"] = _progress(found)
    for i, figure in enumerate(_maps(found), start=1):
        shown[f"map-{i}"] = figure
    for name, importances, what in (
        ("failure", found.failure_importances, "the chance to work"),
        ("value", found.value_importances, "the expected value"),
    ):
        if importances.parameters:
            shown[name] = _importance(importances, what)
    if found.calibration.is_enough:
        shown["calibration"] = _calibration(found)
    return shown


def _progress(found: Insight) -> ReportFigure:
    done = [run for run in found.runs if run.outcome.is_answer]
    objective = found.description.outputs.objectives[0]
    is_maximised = objective.direction == "maximize"
    figure = interactive.progress_figure(
        [run.number for run in done],
        [run.values.get(objective.name) for run in done],
        direction="maximize" if is_maximised else "minimize",
        value_label=found.description.headings[objective.name],
    )
    return ReportFigure(
        figure, f"{objective.name} of every run and the best so far, failures below"
    )


def _maps(found: Insight) -> Iterable[ReportFigure]:
    described = {p.name: p for p in found.description.parameters}
    objective = found.description.outputs.objectives[0]
    for slice_, nearness in zip(found.maps.maps, found.maps.nearness, strict=True):
        x, y = described[slice_.x], described.get(slice_.y)
        layer = slice_.layers.get(objective.name)
        figure = interactive.map_figure(
            _axis(x, slice_.x_values),
            interactive.Axis("", [0.0], is_continuous=False, names=[""])
            if y is None
            else _axis(y, slice_.y_values),
            slice_.p_feasible,
            list(_marks(found, x, y, nearness)),
            expected=None if layer is None else layer.mean,
            value_label=found.description.headings[objective.name],
        )
        over = x.name if y is None else f"{x.name} and {y.name}"
        yield ReportFigure(figure, f"chance to work over {over}")


def _axis(described: LabParameter, values: Iterable[Any]) -> interactive.Axis:
    parameter = described.parameter
    if isinstance(parameter, Categorical):
        names = [str(value) for value in values]
        positions = [float(i) for i in range(len(names))]
        return interactive.Axis(described.heading, positions, is_continuous=False, names=names)
    has_many = parameter.options() is None
    return interactive.Axis(described.heading, [float(v) for v in values], parameter.log, has_many)


def _marks(
    found: Insight, x: LabParameter, y: LabParameter | None, nearness: Iterable[float]
) -> Iterable[interactive.Mark]:
    """All runs that say something, the best, and the suggestion that nobody asked for yet."""
    kinds: dict[Outcome, interactive.MarkKind] = {
        Outcome.OK: "worked", Outcome.FAILED: "failed", Outcome.PENDING: "next"
    }  # fmt: skip
    best = found.status.best
    for run, near in zip(found.runs, nearness, strict=True):
        if run.outcome in kinds:
            is_best = best is not None and run.number == best.number
            kind = "best" if is_best else kinds[run.outcome]
            label = f"run {run.number}: {result_text(run.result, found.description.outputs)}"
            yield interactive.Mark(
                kind, _position(x, run.params), _position(y, run.params), label, near
            )
    for next_ in found.suggestions:
        if next_.number is None:
            at = _position(x, next_.params), _position(y, next_.params)
            yield interactive.Mark("next", *at, "would be suggested next")


def _position(described: LabParameter | None, params: dict[str, Any]) -> float:
    """Where a design lies on an axis."""
    if described is None:
        return 0.0
    value, parameter = params[described.name], described.parameter
    if isinstance(parameter, Categorical):
        return float(parameter.choices.index(value))
    return float(value)


def _importance(importances: Importances, what: str) -> ReportFigure:
    parameters = importances.parameters
    figure = interactive.importance_figure(
        [each.name for each in parameters],
        [each.main for each in parameters],
        [each.total for each in parameters],
    )
    said = ", ".join(f"{each.name} {percent(each.total)}" for each in parameters)
    return ReportFigure(figure, f"share of the variation of {what}: {said}")


def _calibration(found: Insight) -> ReportFigure:
    bins = found.calibration.bins
    figure = interactive.calibration_figure(
        [b.stated for b in bins],
        [b.observed for b in bins],
        [b.interval for b in bins],
        [b.n for b in bins],
    )
    said = "; ".join(
        f"stated {percent(b.stated)}, worked {percent(b.observed)} of {b.n}" for b in bins
    )
    return ReportFigure(figure, f"share that worked against the stated chance: {said}")
