"""The figures of a report, from what a campaign has taught."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from becbo.campaign.formatting import percent
from becbo.front import is_acceptable
from becbo.insight.insight import Importances, Insight
from becbo.outputs import Objective
from becbo.plots import interactive
from becbo.plots import outputs as output_plots
from becbo.report.base import ReportFigure, run_kind, run_label
from becbo.report.map_figures import chance_maps, output_maps
from becbo.trial import Outcome


def report_figures(found: Insight) -> dict[str, ReportFigure]:
    """All figures by name.

    They are progress with one objective, front-1 and so on and hypervolume with several, limit-1
    and so on, map-1 and so on, layer-1 and so on, failure, value-1 and so on, and calibration.
    """
    shown = {}
    if found.status.n_done and len(found.description.outputs.objectives) == 1:
        shown["progress"] = _progress(found)
    groups = {
        "front": _fronts(found),
        "limit": _limits(found),
        "map": chance_maps(found),
        "layer": output_maps(found),
        "value": _values(found),
    }
    for group, figures in groups.items():
        shown |= {f"{group}-{i}": figure for i, figure in enumerate(figures, start=1)}
    if found.growth is not None:
        shown["hypervolume"] = _hypervolume(found)
    if found.failure_importances.parameters:
        shown["failure"] = _importance(found.failure_importances, f"the {found.chance}")
    if found.calibration.is_enough:
        shown["calibration"] = _calibration(found)
    return shown


def _progress(found: Insight) -> ReportFigure:
    done = [run for run in found.runs if run.outcome.is_answer]
    outputs = found.description.outputs
    (objective,) = outputs.objectives
    best_label = "best reading so far" if found.description.settings.noisy else "best so far"
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
        best_label=best_label,
        target=objective.target,
    )
    return ReportFigure(
        figure, f"{objective.name} of every run and the {best_label}, failures below"
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
            interactive.Mark(run_kind(found, run), a, b, run_label(found, run))
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


def _values(found: Insight) -> Iterator[ReportFigure]:
    """What drives each objective and each limit."""
    for name, importances in found.output_importances.items():
        if importances.parameters:
            yield _importance(importances, name, group=name)


def _importance(importances: Importances, what: str, group: str = "") -> ReportFigure:
    parameters = importances.parameters
    figure = interactive.importance_figure(
        [each.name for each in parameters],
        [each.main for each in parameters],
        [each.total for each in parameters],
    )
    said = ", ".join(f"{each.name} {percent(each.total)}" for each in parameters)
    return ReportFigure(figure, f"share of the variation of {what}: {said}", group=group)


def _calibration(found: Insight) -> ReportFigure:
    bins = found.calibration.bins
    figure = interactive.calibration_figure(
        [b.stated for b in bins],
        [b.observed for b in bins],
        [b.interval for b in bins],
        [b.n for b in bins],
    )
    said = "; ".join(
        f"stated {percent(b.stated)}, came true {percent(b.observed)} of {b.n}" for b in bins
    )
    return ReportFigure(figure, f"share that came true against the stated chance: {said}")
