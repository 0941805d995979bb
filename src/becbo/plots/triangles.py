"""Mixtures of three ingredients as triangles, as interactive figures.

Needs the extra `becbo[lab]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from plotly import graph_objects as go

from becbo.arrays import Array
from becbo.plots.interactive import INK, MARKERS, TICK, Mark, add_marks, base_figure, plain_text
from becbo.plots.maps import HEIGHT, Shading, hover_text, small

_SLOPE = math.sqrt(3) / 2  # height of a triangle
_SIDE = 330  # pixels, about
_CELLS = 4.5, 18.0  # pixels: the smallest and the largest size of a point


@dataclass(frozen=True)
class Triangle:
    """A mixture of three: lower left, lower right and top have as much as possible of one.

    Attributes:
        names: The ingredients in this order.
        units: Their units.
        low: The least amount of each.
        total: What they add up to.
    """

    names: Sequence[str]
    units: Sequence[str]
    low: Sequence[float]
    total: float

    @property
    def room(self) -> float:
        """What can be moved from one ingredient to another."""
        return self.total - math.fsum(self.low)

    @property
    def labels(self) -> list[str]:
        """What is written at the corners: how much of the ingredient there is."""
        return [
            f"{low + self.room:.4g} {plain_text(unit)} {plain_text(name, TICK)}".replace("  ", " ")
            for name, unit, low in zip(self.names, self.units, self.low, strict=True)
        ]

    def place(self, amounts: Array) -> Array:  # (n, 3) -> (n, 2)
        """Where mixtures lie, in a triangle of side 1."""
        shares = (amounts - np.array(self.low)) / self.room
        return np.column_stack([shares[:, 1] + shares[:, 2] / 2, _SLOPE * shares[:, 2]])


def triangle_figure(
    triangle: Triangle,
    amounts: Array,
    shown: Shading,
    marks: Sequence[Mark],
    hovered: Sequence[Shading] = (),
) -> go.Figure:
    """Anything over a mixture of three ingredients.

    Args:
        triangle: The mixture.
        amounts: The amounts of each at every point, (n, 3).
        shown: What is shown as colours, of n values in any shape.
        marks: Designs to show, at the positions that `Triangle.place` gives.
        hovered: What else is told on hovering.

    Returns:
        The figure.
    """
    figure = base_figure(height=HEIGHT + 60)
    values = shown.values.ravel()
    allowed = ~np.isnan(values)
    at = triangle.place(amounts[allowed])
    told = [*(each.values.ravel() for each in hovered), *amounts.T]
    settings = [
        f"{plain_text(name)}: %{{customdata[{i}]:.4g}}"
        for i, name in enumerate(triangle.names, start=len(hovered))
    ]
    figure.add_scatter(
        x=small(at[:, 0]), y=small(at[:, 1]), mode="markers",
        marker=dict(
            color=small(values[allowed]), symbol="hexagon", size=_cell(triangle, amounts),
            colorscale=shown.colours, showscale=shown.kind != "chance", colorbar=shown.bar,
            **({} if shown.ends is None else dict(cmin=shown.ends[0], cmax=shown.ends[1])),
        ),
        customdata=small(np.column_stack(told)[allowed]),
        hovertemplate=hover_text(settings, [shown, *hovered], "marker.color"),
    )  # fmt: skip
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _SLOPE]])
    outline = corners[[0, 1, 2, 0]]
    figure.add_scatter(
        x=outline[:, 0], y=outline[:, 1], mode="lines", line=dict(color=INK, width=1.2),
        hoverinfo="skip",
    )  # fmt: skip
    for label, (x, y), (anchor, shift) in zip(
        triangle.labels,
        corners.tolist(),
        (("left", -14), ("right", -14), ("center", 14)),
        strict=True,
    ):
        at_edge = {"left": x - 0.08, "right": x + 0.08, "center": x}[anchor]
        figure.add_annotation(
            x=at_edge, y=y, text=label, showarrow=False, yshift=shift, xanchor=anchor
        )
    for kind in MARKERS:
        add_marks(figure, kind, [mark for mark in marks if mark.kind == kind])
    hidden = dict(visible=False, fixedrange=True)
    figure.update_layout(
        xaxis=dict(range=[-0.08, 1.08], **hidden),
        yaxis=dict(range=[-0.1, 1.0], scaleanchor="x", **hidden),
        showlegend=False,
    )
    return figure


def _cell(triangle: Triangle, amounts: Array) -> float:
    """The size of a point that leaves no gap to the next one, in pixels."""
    steps = [np.diff(np.unique(amounts[:, i])).max(initial=0.0) for i in (0, 1)]
    return float(np.clip(1.4 * _SIDE * max(steps) / triangle.room, *_CELLS))
