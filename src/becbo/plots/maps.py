"""Maps: what the models say over two parameters, as interactive figures.

Needs the extra `becbo[lab]`. A mixture of three is drawn as a triangle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
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
_HEIGHT, _FLAT = 330, 140
_VALUE_COLOURS = ("#f7f4ea", "#d5e2c3", "#8fbf9f", "#3f8f86", "#14507a")  # from low to high
_SLOPE = math.sqrt(3) / 2  # height of a triangle
_CELL = 7.5  # size of a point in a triangle


def map_figure(
    x: Axis,
    y: Axis,
    chance: Array,
    marks: Sequence[Mark],
    *,
    expected: Array | None = None,
    value_label: str = "value",
) -> go.Figure:
    """The probability to work over two parameters, with the line of 50 % and the designs.

    Args:
        x: First parameter, nx values.
        y: Second parameter, ny values.
        chance: From 0 to 1, NaN where a design is not allowed, (ny, nx).
        marks: Designs to show.
        expected: Predicted value, shown on hovering, (ny, nx).
        value_label: The name of the value.

    Returns:
        The figure.
    """
    figure = base_figure(height=_HEIGHT if len(y.values) > 1 else _FLAT)
    hover = [*_named(x, y), "chance to work: %{z:.0%}"]
    if expected is not None:
        hover.append(f"expected {plain_text(value_label)}: %{{customdata:.5g}}")
    shading = dict(
        x=list(x.values), y=list(y.values), z=chance, zmin=0, zmax=1, showscale=False,
        colorscale=_colorscale(), customdata=expected,
        hovertemplate="<br>".join(hover) + "<extra></extra>",
    )  # fmt: skip
    if x.is_continuous and y.is_continuous:
        figure.add_contour(**shading, contours=dict(coloring="heatmap"), line_width=0)
    else:  # nothing lies between two cells, least of all a smooth line
        figure.add_heatmap(**shading)
    _add_edge(figure, x, y, chance)
    return _finished(figure, x, y, marks)


def value_figure(
    x: Axis,
    y: Axis,
    mean: Array,
    std: Array,
    chance: Array,
    marks: Sequence[Mark],
    *,
    label: str,
) -> go.Figure:
    """The expected value of an output over two parameters, with the edge of what works.

    Args:
        x: First parameter, nx values.
        y: Second parameter, ny values.
        mean: The expected value, NaN where a design is not allowed, (ny, nx).
        std: Its standard deviation, shown on hovering, (ny, nx).
        chance: The probability to work, whose line of 50 % is drawn, (ny, nx).
        marks: Designs to show.
        label: Name and unit of the output.

    Returns:
        The figure.
    """
    figure = base_figure(height=_HEIGHT if len(y.values) > 1 else _FLAT)
    hover = [*_named(x, y), f"{plain_text(label)}: %{{z:.4g}} ± %{{customdata[0]:.2g}}"]
    hover.append("chance to work: %{customdata[1]:.0%}")
    common = dict(x=list(x.values), y=list(y.values))
    shading = dict(
        z=mean, colorscale=_colorscale(_VALUE_COLOURS), customdata=np.dstack([std, chance]),
        hovertemplate="<br>".join(hover) + "<extra></extra>", colorbar=_bar(label),
    )  # fmt: skip
    if x.is_continuous and y.is_continuous:
        lines = dict(coloring="heatmap", showlabels=True)
        figure.add_contour(**common, **shading, contours=lines, line=dict(color=WHITE, width=1))
    else:
        figure.add_heatmap(**common, **shading)
    _add_edge(figure, x, y, chance)
    return _finished(figure, x, y, marks)


def ternary_figure(
    labels: Sequence[str],
    points: Array,
    values: Array,
    marks: Sequence[Mark],
    *,
    what: str,
    is_chance: bool = True,
) -> go.Figure:
    """Anything over a mixture of three ingredients, as a triangle with a corner for each.

    Args:
        labels: The ingredients: lower left, lower right, top.
        points: Their amounts, (n, 3).
        values: What to show at each point, NaN where a design is not allowed, (n,).
        marks: Designs to show, at the positions that `in_triangle` gives.
        what: What the values are.
        is_chance: Whether they are probabilities.

    Returns:
        The figure.
    """
    figure = base_figure(height=_HEIGHT + 60)
    shown = ~np.isnan(values)
    at = in_triangle(points[shown])
    hover = [f"{plain_text(label)}: %{{customdata[{i}]:.4g}}" for i, label in enumerate(labels)]
    hover.append(f"{plain_text(what)}: %{{customdata[3]:{'.0%' if is_chance else '.4g'}}}")
    scale: dict[str, Any] = dict(colorscale=_colorscale(_VALUE_COLOURS), colorbar=_bar(what))
    if is_chance:
        scale = dict(colorscale=_colorscale(), cmin=0, cmax=1)
    figure.add_scatter(
        x=at[:, 0], y=at[:, 1], mode="markers",
        marker=dict(color=values[shown], symbol="hexagon", size=_CELL, **scale),
        customdata=np.column_stack([points[shown], values[shown]]),
        hovertemplate="<br>".join(hover) + "<extra></extra>",
    )  # fmt: skip
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _SLOPE]])
    outline = corners[[0, 1, 2, 0]]
    figure.add_scatter(
        x=outline[:, 0], y=outline[:, 1], mode="lines", line=dict(color=INK, width=1.2),
        hoverinfo="skip",
    )  # fmt: skip
    for label, (x, y), shift in zip(labels, corners.tolist(), (-14, -14, 14), strict=True):
        text = f"100 % {plain_text(label, TICK)}"
        figure.add_annotation(x=x, y=y, text=text, showarrow=False, yshift=shift)
    for kind in MARKERS:
        add_marks(figure, kind, [mark for mark in marks if mark.kind == kind])
    hidden = dict(visible=False, fixedrange=True)
    figure.update_layout(
        xaxis=dict(range=[-0.08, 1.08], **hidden),
        yaxis=dict(range=[-0.1, 1.0], scaleanchor="x", **hidden),
        showlegend=False,
    )
    return figure


def in_triangle(points: Array) -> Array:  # (n, 3) -> (n, 2)
    """Positions in a triangle of side 1, whose corners are pure: lower left, lower right, top."""
    shares = points / points.sum(axis=1, keepdims=True)
    return np.column_stack([shares[:, 1] + shares[:, 2] / 2, _SLOPE * shares[:, 2]])


def _named(x: Axis, y: Axis) -> list[str]:
    """The settings, for hovering."""
    axes = ((x, "x"), (y, "y"))
    return [f"{plain_text(axis.label)}: %{{{name}}}" for axis, name in axes if axis.label]


def _bar(label: str) -> dict[str, Any]:
    return dict(title=dict(text=plain_text(label, TICK)), thickness=10, outlinewidth=0)


def _add_edge(figure: go.Figure, x: Axis, y: Axis, chance: Array) -> None:
    """The line of 50 %, a staircase where nothing lies between two cells."""
    edge = dict(color=INK, width=2, dash="dash")
    if x.is_continuous and y.is_continuous:
        even = dict(start=_EVEN, end=_EVEN, size=1, coloring="none")
        figure.add_contour(
            x=list(x.values), y=list(y.values), z=chance, showscale=False, contours=even,
            line=edge, hoverinfo="skip",
        )  # fmt: skip
    else:
        xs, ys = _steps(chance, _bounds(x), _bounds(y))
        figure.add_scatter(x=xs, y=ys, mode="lines", line=edge, hoverinfo="skip")


def _finished(figure: go.Figure, x: Axis, y: Axis, marks: Sequence[Mark]) -> go.Figure:
    """The figure with its designs and axes."""
    for kind in MARKERS:
        add_marks(figure, kind, [mark for mark in marks if mark.kind == kind])
    figure.update_layout(xaxis=_axis(x), yaxis=_axis(y), showlegend=False, plot_bgcolor=FORBIDDEN)
    return figure


def _colorscale(colours: Sequence[str] = CHANCE_COLOURS) -> list[list[Any]]:
    last = len(colours) - 1
    return [[i / last, colour] for i, colour in enumerate(colours)]


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
