"""The maps of a report: what works where, and every output with its uncertainty and its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plotly import graph_objects as go

from becbo.arrays import Array
from becbo.campaign.description import LabParameter
from becbo.insight.insight import Insight
from becbo.insight.maps import DesignMap
from becbo.plots.interactive import Axis, Mark
from becbo.plots.maps import Shading, map_figure
from becbo.plots.triangles import Triangle, triangle_figure
from becbo.report.base import ReportFigure, run_kind, run_label
from becbo.space import Categorical
from becbo.trial import Outcome


def chance_maps(found: Insight) -> Iterator[ReportFigure]:
    """The chance that a design is feasible, over each pair of parameters."""
    objective = found.description.outputs.objectives[0]
    for sheet in _sheets(found):
        layer = sheet.map.layers.get(objective.name)
        expected = f"expected {found.description.headings[objective.name]}"
        hovered = [] if layer is None else [Shading(expected, layer.mean, "value")]
        yield ReportFigure(
            sheet.figure(sheet.chance, hovered),
            f"{found.chance} over {sheet.over}",
            sheet.over,
        )


def output_maps(found: Insight) -> Iterator[ReportFigure]:
    """Every output over the parameters that matter most for it, then everything together."""
    sheets = list(_sheets(found))
    if not sheets:
        return
    limits = {limit.name: limit for limit in found.description.outputs.limits}
    for name in sheets[0].map.layers:
        sheet = _most_telling(found, sheets, name)
        layer, heading = sheet.map.layers[name], found.description.headings[name]
        mean = Shading(heading, layer.mean, "value")
        std = Shading("standard deviation", layer.std, "value")
        shown = [
            (f"Expected {heading}", mean, [std, sheet.chance]),
            ("Uncertainty (standard deviation)", std, [mean]),
        ]
        if layer.p_kept is not None:
            kept = Shading("chance to keep the limit", layer.p_kept)
            shown.append((f"Chance to be {limits[name].wish}", kept, [mean]))
        yield from _group(sheet, f"{name} over {sheet.over}", name, shown)
    sheet = _most_telling(found, sheets, found.description.outputs.objectives[0].name)
    together: list[tuple[str, Shading, list[Shading]]] = []
    if limits:
        together.append((found.chance.capitalize(), sheet.chance, []))
    if sheet.map.p_better is not None and found.status.front:
        is_single = len(found.description.outputs.objectives) == 1
        what = f"Chance to {'beat the best' if is_single else 'improve the front'}"
        better = Shading(what.lower(), sheet.map.p_better, "share")
        together.append((what, better, [sheet.chance]))
    yield from _group(sheet, f"Everything together over {sheet.over}", "", together)


def _group(
    sheet: _Sheet, group: str, name: str, shown: Sequence[tuple[str, Shading, list[Shading]]]
) -> Iterator[ReportFigure]:
    for caption, shading, hovered in shown:
        alt = f"{name}, {caption.lower()}, over {sheet.over}".removeprefix(", ")
        yield ReportFigure(sheet.figure(shading, hovered), alt, caption, group)


@dataclass(frozen=True)
class _Sheet:
    """A slice through the space on which layers are drawn.

    Attributes:
        found: What the campaign has taught.
        map: The slice.
        nearness: How near each run is to it.
    """

    found: Insight
    map: DesignMap
    nearness: Sequence[float]

    @property
    def over(self) -> str:
        """The parameters that vary."""
        *first, last = filter(None, self.map.ternary or (self.map.x, self.map.y))
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def chance(self) -> Shading:
        """The chance that a design is feasible."""
        return Shading(self.found.chance, self.map.p_feasible)

    def figure(self, shown: Shading, hovered: Sequence[Shading]) -> go.Figure:
        """A layer of the map, with all runs."""
        if self.map.ternary is None:
            edge, marks = self.map.p_feasible, list(self._marks(self._place))
            return map_figure(*self._axes, shown, marks, edge=edge, hovered=hovered)
        grids = np.meshgrid(np.array(self.map.x_values, float), np.array(self.map.y_values, float))
        layers = [*grids, self.map.rest[self.map.ternary[2]]]
        amounts = np.column_stack([layer.ravel() for layer in layers])
        triangle = self._triangle(self.map.ternary, amounts)

        def place(params: Mapping[str, Any]) -> tuple[float, float]:
            at = triangle.place(np.array([[float(params[name]) for name in triangle.names]]))
            return float(at[0, 0]), float(at[0, 1])

        return triangle_figure(triangle, amounts, shown, list(self._marks(place)), hovered)

    @property
    def _described(self) -> dict[str, LabParameter]:
        return {p.name: p for p in self.found.description.parameters}

    @property
    def _axes(self) -> tuple[Axis, Axis]:
        x, y = self._described[self.map.x], self._described.get(self.map.y)
        nothing = Axis("", [0.0], is_continuous=False, names=[""])
        return _axis(x, self.map.x_values), nothing if y is None else _axis(y, self.map.y_values)

    def _triangle(self, names: Sequence[str], amounts: Array) -> Triangle:  # amounts (n, 3)
        members = [self._described[name] for name in names]
        parameters = [member.parameter for member in members]
        lows = [float(p.low) for p in parameters if not isinstance(p, Categorical)]
        total = float(np.nanmax(amounts.sum(axis=1)))
        return Triangle(names, [member.unit for member in members], lows, total)

    def _place(self, params: Mapping[str, Any]) -> tuple[float, float]:
        """Where a design lies on a map that is not a triangle."""
        described = self._described
        x, y = described[self.map.x], described.get(self.map.y)
        return _position(x, params), 0.0 if y is None else _position(y, params)

    def _marks(self, place: Callable[[Mapping[str, Any]], tuple[float, float]]) -> Iterator[Mark]:
        """All runs that say something, and the suggestion that nobody asked for yet."""
        found = self.found
        for run, near in zip(found.runs, self.nearness, strict=True):
            if run.outcome is not Outcome.LOST:
                yield Mark(run_kind(found, run), *place(run.params), run_label(found, run), near)
        for suggestion in found.suggestions:
            if suggestion.number is None:
                yield Mark("next", *place(suggestion.params), "would be suggested next")


def _sheets(found: Insight) -> Iterator[_Sheet]:
    for each, nearness in zip(found.maps.maps, found.maps.nearness, strict=True):
        yield _Sheet(found, each, nearness)


def _most_telling(found: Insight, sheets: Sequence[_Sheet], name: str) -> _Sheet:
    """The sheet over the parameters that matter most for an output."""
    of_output = found.output_importances.get(name)
    drivers = of_output.parameters if of_output else ()
    drivers = drivers or found.value_importances.parameters or found.failure_importances.parameters
    weight = {each.name: each.total for each in drivers}

    def told(sheet: _Sheet) -> float:
        shown = sheet.map.ternary or (sheet.map.x, sheet.map.y)
        return sum(weight.get(parameter, 0.0) for parameter in shown)

    return max(sheets, key=told)


def _axis(described: LabParameter, values: Iterable[Any]) -> Axis:
    parameter = described.parameter
    if isinstance(parameter, Categorical):
        names = [str(value) for value in values]
        positions = [float(i) for i in range(len(names))]
        return Axis(described.heading, positions, is_continuous=False, names=names)
    has_many = parameter.options() is None
    return Axis(described.heading, [float(v) for v in values], parameter.log, has_many)


def _position(described: LabParameter, params: Mapping[str, Any]) -> float:
    """Where a design lies on an axis."""
    value, parameter = params[described.name], described.parameter
    if isinstance(parameter, Categorical):
        return float(parameter.choices.index(value))
    return float(value)
