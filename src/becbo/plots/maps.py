"""Maps: what the models say over two parameters, as interactive figures.

Needs the extra `becbo[lab]`. `becbo.plots.triangles` draws mixtures of three.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from becbo.arrays import Array
from becbo.plots.interactive import (
    CHANCE_COLOURS,
    FORBIDDEN,
    INK,
    MARKERS,
    TICK,
    WHITE,
    Axis,
    Mark,
    add_marks,
    base_figure,
    plain_text,
)

_EVEN = 0.5  # the probability whose line is drawn
_ROOMY, _MOST_TICKS = 3, 6  # powers of ten on a logarithmic axis
HEIGHT, _FLAT = 330, 140
_LEAST_SHARE = 0.01  # that the scale of shares reaches
_VALUE_COLOURS = ("#f7f4ea", "#d5e2c3", "#8fbf9f", "#3f8f86", "#14507a")  # from low to high


@dataclass(frozen=True, eq=False)
class Shading:
    """What a map shows.

    Attributes:
        what: What the values are.
        values: One for each cell, NaN where a design is not allowed, (ny, nx).
        kind: A `chance` is coloured from 0 to 100 %. A `share` is a probability that is small
            everywhere, a `value` any number: they are coloured from the lowest to the highest.
    """

    what: str
    values: Array
    kind: Literal["chance", "share", "value"] = "chance"

    @property
    def format(self) -> str:
        """How a number is written."""
        return ".4g" if self.kind == "value" else ".0%"

    @property
    def colours(self) -> list[list[Any]]:
        """The colours from the lowest to the highest value, as Plotly takes them."""
        colours = CHANCE_COLOURS if self.kind == "chance" else _VALUE_COLOURS
        return [[i / (len(colours) - 1), colour] for i, colour in enumerate(colours)]

    @property
    def ends(self) -> tuple[float, float] | None:
        """What the first and the last colour mean; None if they are the extreme values."""
        if self.kind == "value":
            return None
        highest = float(np.nanmax(self.values, initial=_LEAST_SHARE))
        return 0.0, 1.0 if self.kind == "chance" else highest

    @property
    def bar(self) -> dict[str, Any]:
        """The scale beside the map."""
        return dict(thickness=10, outlinewidth=0, tickformat="" if self.kind == "value" else ".0%")


def hover_text(settings: Sequence[str], shown: Sequence[Shading], first: str) -> str:
    """What appears above a cell: its settings, the value at `first`, and the others as data."""
    places = [first, *(f"customdata[{i}]" for i in range(len(shown) - 1))]
    said = [
        f"{plain_text(each.what)}: %{{{place}:{each.format}}}"
        for each, place in zip(shown, places, strict=True)
    ]
    return "<br>".join([*settings, *said]) + "<extra></extra>"


def map_figure(
    x: Axis,
    y: Axis,
    shown: Shading,
    marks: Sequence[Mark],
    *,
    edge: Array | None = None,
    hovered: Sequence[Shading] = (),
) -> go.Figure:
    """Anything over two parameters, with the edge of what works and the designs.

    Args:
        x: First parameter, nx values.
        y: Second parameter, ny values.
        shown: What is shown as colours.
        marks: Designs to show.
        edge: The probability to work, whose line of 50 % is drawn, (ny, nx); None if it is what
            is shown.
        hovered: What else is told on hovering.

    Returns:
        The figure.
    """
    figure = base_figure(height=HEIGHT if len(y.values) > 1 else _FLAT)
    is_value, is_chance = shown.kind == "value", shown.kind == "chance"
    shading = dict(
        x=list(x.values), y=list(y.values), z=small(shown.values), showscale=not is_chance,
        colorscale=shown.colours, colorbar=shown.bar,
        customdata=small(np.dstack([each.values for each in hovered])) if hovered else None,
        hovertemplate=hover_text(_named(x, y), [shown, *hovered], "z"),
        **({} if shown.ends is None else dict(zmin=shown.ends[0], zmax=shown.ends[1])),
    )  # fmt: skip
    if x.is_continuous and y.is_continuous:
        lines = dict(coloring="heatmap", showlabels=is_value)
        line = dict(color=WHITE, width=1 if is_value else 0)
        figure.add_contour(**shading, contours=lines, line=line)
    else:  # nothing lies between two cells, least of all a smooth line
        figure.add_heatmap(**shading)
    _add_edge(figure, x, y, shown.values if edge is None else edge)
    for kind in MARKERS:
        add_marks(figure, kind, [mark for mark in marks if mark.kind == kind])
    figure.update_layout(xaxis=_axis(x), yaxis=_axis(y), showlegend=False, plot_bgcolor=FORBIDDEN)
    return figure


def small(values: Array) -> NDArray[np.float32]:
    """Numbers with the digits that a picture needs: a page has many."""
    return values.astype(np.float32)


def _named(x: Axis, y: Axis) -> list[str]:
    """The settings, for hovering."""
    axes = ((x, "x"), (y, "y"))
    return [f"{plain_text(axis.label)}: %{{{name}}}" for axis, name in axes if axis.label]


def _add_edge(figure: go.Figure, x: Axis, y: Axis, chance: Array) -> None:
    """The line of 50 %, a staircase where nothing lies between two cells."""
    edge = dict(color=INK, width=2, dash="dash")
    if x.is_continuous and y.is_continuous:
        even = dict(start=_EVEN, end=_EVEN, size=1, coloring="none")
        figure.add_contour(
            x=list(x.values), y=list(y.values), z=small(chance), showscale=False, contours=even,
            line=edge, hoverinfo="skip",
        )  # fmt: skip
    else:
        xs, ys = _steps(chance, _bounds(x), _bounds(y))
        figure.add_scatter(x=xs, y=ys, mode="lines", line=edge, hoverinfo="skip")


def _axis(axis: Axis) -> dict[str, Any]:
    low, high = axis.values[0], axis.values[-1]
    if not axis.is_continuous:
        bounds = _bounds(axis)
        low, high = bounds[0], bounds[-1]
    ends = [math.log10(low), math.log10(high)] if axis.is_log else [low, high]
    made: dict[str, Any] = dict(
        title=dict(text=plain_text(axis.label)),
        type="log" if axis.is_log else "linear",
        range=ends,
        showgrid=False,
    )
    if axis.names is not None:
        made |= dict(
            tickvals=list(axis.values), ticktext=[plain_text(name, TICK) for name in axis.names]
        )
    elif axis.is_log:
        made |= dict(tickvals=_round_numbers(low, high), tickformat="~g")
    return made


def _round_numbers(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, with 2 and 5 where there is room."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= _ROOMY else (1,)
    every = math.ceil(len(powers) / _MOST_TICKS) if len(steps) == 1 else 1
    round_ = [float(f"{step}e{power}") for power in powers[::every] for step in steps]
    found = [value for value in round_ if low <= value <= high]
    return found if len(found) > 1 else [low, high]


def _bounds(axis: Axis) -> list[float]:  # (k,) -> (k + 1,)
    """Where the cells of a grid begin and end."""
    at = np.log(axis.values) if axis.is_log else np.array(axis.values, dtype=float)
    if len(at) == 1:
        return [float(at[0]) - 0.5, float(at[0]) + 0.5]
    middles = (at[1:] + at[:-1]) / 2
    ends = np.concatenate([[2 * at[0] - middles[0]], middles, [2 * at[-1] - middles[-1]]])
    bounds: list[float] = (np.exp(ends) if axis.is_log else ends).tolist()
    return bounds


def _steps(
    chance: Array, x_bounds: Sequence[float], y_bounds: Sequence[float]
) -> tuple[list[float | None], list[float | None]]:
    """The line between cells on either side of 50 %, as pieces with gaps between them."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for i, j in _changes(chance, axis=1):
        xs += [x_bounds[j], x_bounds[j], None]
        ys += [y_bounds[i], y_bounds[i + 1], None]
    for i, j in _changes(chance, axis=0):
        xs += [x_bounds[j], x_bounds[j + 1], None]
        ys += [y_bounds[i], y_bounds[i], None]
    return xs, ys


def _changes(chance: Array, axis: int) -> Iterator[tuple[int, int]]:
    """Cells (i, j) on another side of 50 % than the one before them along the axis."""
    side = np.where(np.isnan(chance), np.nan, chance >= _EVEN)  # excluded designs have none
    for i, j in np.argwhere(np.abs(np.diff(side, axis=axis)) == 1.0).tolist():
        yield (i, j + 1) if axis == 1 else (i + 1, j)
