"""The figures of a report, from what a campaign has taught."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from plotly import graph_objects as go

from becbo.arrays import Array
from becbo.campaign.description import LabParameter
from becbo.campaign.formatting import percent, result_text
from becbo.campaign.runs import Run
from becbo.front import is_acceptable
from becbo.insight.insight import Importances, Insight
from becbo.insight.maps import DesignMap
from becbo.outputs import Objective
from becbo.plots import interactive, maps
from becbo.plots import outputs as output_plots
from becbo.space import Categorical
from becbo.trial import Outcome


@dataclass(frozen=True)
class ReportFigure:
    """A figure and its text alternative."""

    figure: go.Figure
    alt: str


def report_figures(found: Insight) -> dict[str, ReportFigure]:
    """All figures by name.

    They are progress with one objective, front-1 and so on and hypervolume with several, limit-1
    and so on, map-1 and so on, layer-1 and so on, failure, value and calibration.
    """
    shown = {}
    if found.status.n_done and len(found.description.outputs.objectives) == 1:
        shown["progress"] = _progress(found)
    groups = {
        "front": _fronts(found),
        "limit": _limits(found),
        "map": _maps(found),
        "layer": _layers(found),
    }
    for group, figures in groups.items():
        shown |= {f"{group}-{i}": figure for i, figure in enumerate(figures, start=1)}
    if found.growth is not None:
        shown["hypervolume"] = _hypervolume(found)
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
    outputs = found.description.outputs
    (objective,) = outputs.objectives
    best: list[float | None] = []
    for run in done:
        value = run.values.get(objective.name)
        so_far = best[-1] if best else None
        is_better = (
            value is not None
            and is_acceptable(run.result, outputs)
            and (so_far is None or objective.gain(value) > objective.gain(so_far))
        )
        best.append(value if is_better else so_far)
    figure = interactive.progress_figure(
        [run.number for run in done],
        [run.values.get(objective.name) for run in done],
        best,
        value_label=found.description.headings[objective.name],
        target=objective.target,
    )
    return ReportFigure(
        figure, f"{objective.name} of every run and the best so far, failures below"
    )


def _fronts(found: Insight) -> Iterator[ReportFigure]:
    """Two objectives as a plane, more as pairs."""
    if not found.status.front:
        return
    front = {run.number for run in found.status.front}
    for x, y in combinations(found.description.outputs.objectives, 2):
        points = [
            (run, run.values.get(x.name), run.values.get(y.name))
            for run in found.runs
            if run.outcome.is_answer
        ]
        marks = [
            interactive.Mark(_kind(found, run), a, b, _label(found, run))
            for run, a, b in points
            if a is not None and b is not None
        ]
        for each in found.suggestions:
            if x.name in each.outputs and y.name in each.outputs:
                at = each.outputs[x.name].mean, each.outputs[y.name].mean
                what = "next" if each.number is None else f"run {each.number}"
                marks.append(interactive.Mark("next", *at, f"{what}, as expected"))
        steps = [
            (a, b)
            for run, a, b in points
            if run.number in front and a is not None and b is not None
        ]
        figure = output_plots.pareto_figure(
            _objective_axis(found, x), _objective_axis(found, y), marks, steps
        )
        yield ReportFigure(figure, f"{y.name} against {x.name} of every run, with the front")


def _objective_axis(found: Insight, objective: Objective) -> output_plots.ObjectiveAxis:
    signs = {"maximize": 1, "minimize": -1, None: 0}
    label = found.description.headings[objective.name]
    return output_plots.ObjectiveAxis(label, signs[objective.direction], objective.target)


def _hypervolume(found: Insight) -> ReportFigure:
    assert found.growth is not None
    figure = output_plots.hypervolume_figure(found.growth.numbers, found.growth.volumes)
    return ReportFigure(figure, "hypervolume of the front after each run")


def _limits(found: Insight) -> Iterator[ReportFigure]:
    for limit in found.description.outputs.limits:
        measured = [
            (run, value) for run in found.runs if (value := run.values.get(limit.name)) is not None
        ]
        if measured:
            figure = output_plots.limit_figure(
                [run.number for run, _ in measured],
                [value for _, value in measured],
                [run.outcome is Outcome.OK for run, _ in measured],
                label=found.description.headings[limit.name],
                lower=limit.lower,
                upper=limit.upper,
            )
            n_broken = sum(limit.margin(value) < 0 for _, value in measured)
            said = f"{n_broken} of {len(measured)} runs are beyond it"
            yield ReportFigure(figure, f"{limit.name} of every run, {limit.wish}: {said}")


def _maps(found: Insight) -> Iterable[ReportFigure]:
    """The chance to work over each pair of parameters."""
    objective = found.description.outputs.objectives[0]
    for each, nearness in zip(found.maps.maps, found.maps.nearness, strict=True):
        layer = each.layers.get(objective.name)
        if each.ternary:
            figure = _ternary(found, each, nearness, each.p_feasible, "chance to work", True)
        else:
            figure = maps.map_figure(
                *_axes(found, each),
                each.p_feasible,
                list(_marks(found, each, nearness)),
                expected=None if layer is None else layer.mean,
                value_label=found.description.headings[objective.name],
            )
        yield ReportFigure(figure, f"chance to work over {_over(each)}")


def _layers(found: Insight) -> Iterable[ReportFigure]:
    """Every output over the pair of parameters that matters most, and the chance to improve."""
    if not found.maps.maps:
        return
    drivers = found.value_importances.parameters or found.failure_importances.parameters
    weight = {each.name: each.total for each in drivers}
    order = [weight.get(each.x, 0.0) + weight.get(each.y, 0.0) for each in found.maps.maps]
    index = order.index(max(order))
    each, nearness = found.maps.maps[index], found.maps.nearness[index]
    for name, layer in each.layers.items():
        label = found.description.headings[name]
        if each.ternary:
            figure = _ternary(found, each, nearness, layer.mean, label, False)
        else:
            marks = list(_marks(found, each, nearness))
            x, y = _axes(found, each)
            figure = maps.value_figure(
                x, y, layer.mean, layer.std, each.p_feasible, marks, label=label
            )
        yield ReportFigure(figure, f"expected {name} over {_over(each)}")


def _over(each: DesignMap) -> str:
    return " and ".join(filter(None, each.ternary or (each.x, each.y)))


def _axes(found: Insight, each: DesignMap) -> tuple[interactive.Axis, interactive.Axis]:
    described = {p.name: p for p in found.description.parameters}
    nothing = interactive.Axis("", [0.0], is_continuous=False, names=[""])
    y = _axis(described[each.y], each.y_values) if each.y else nothing
    return _axis(described[each.x], each.x_values), y


def _ternary(
    found: Insight,
    each: DesignMap,
    nearness: Iterable[float],
    values: Array,
    what: str,
    is_chance: bool,
) -> go.Figure:
    """A layer of a map over a mixture of three."""
    assert each.ternary is not None
    x, y = np.meshgrid(np.array(each.x_values, dtype=float), np.array(each.y_values, dtype=float))
    third = each.rest[each.ternary[2]]
    points = np.column_stack([x.ravel(), y.ravel(), third.ravel()])
    marks = list(_marks(found, each, nearness))
    return maps.ternary_figure(
        each.ternary, points, values.ravel(), marks, what=what, is_chance=is_chance
    )


def _axis(described: LabParameter, values: Iterable[Any]) -> interactive.Axis:
    parameter = described.parameter
    if isinstance(parameter, Categorical):
        names = [str(value) for value in values]
        positions = [float(i) for i in range(len(names))]
        return interactive.Axis(described.heading, positions, is_continuous=False, names=names)
    has_many = parameter.options() is None
    return interactive.Axis(described.heading, [float(v) for v in values], parameter.log, has_many)


def _marks(
    found: Insight, each: DesignMap, nearness: Iterable[float]
) -> Iterable[interactive.Mark]:
    """All runs that say something, the best, and the suggestion that nobody asked for yet."""
    for run, near in zip(found.runs, nearness, strict=True):
        if run.outcome is not Outcome.LOST:
            at = _place(found, each, run.params)
            yield interactive.Mark(_kind(found, run), *at, _label(found, run), near)
    for next_ in found.suggestions:
        if next_.number is None:
            at = _place(found, each, next_.params)
            yield interactive.Mark("next", *at, "would be suggested next")


def _place(found: Insight, each: DesignMap, params: dict[str, Any]) -> tuple[float, float]:
    """Where a design lies on a map."""
    if each.ternary:
        x, y = maps.in_triangle(np.array([[float(params[name]) for name in each.ternary]]))[0]
        return float(x), float(y)
    described = {p.name: p for p in found.description.parameters}
    return _position(described[each.x], params), _position(described.get(each.y), params)


def _kind(found: Insight, run: Run) -> interactive.MarkKind:
    """How a run is drawn that was not lost."""
    if run.number in {best.number for best in found.status.front}:
        return "best"
    if run.outcome is Outcome.OK:
        return "worked" if found.description.outputs.are_kept(run.values) else "beyond"
    return "failed" if run.outcome is Outcome.FAILED else "next"


def _label(found: Insight, run: Run) -> str:
    return f"run {run.number}: {result_text(run.result, found.description.outputs)}"


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
