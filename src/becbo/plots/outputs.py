"""Interactive figures of several outputs: plain data in, a Plotly figure out.

Needs the extra `becbo[lab]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plotly import graph_objects as go

from becbo.plots.interactive import (
    BLUE,
    INK,
    RED,
    WHITE,
    Mark,
    add_marks,
    base_figure,
    marker,
    plain_text,
)

_NEUTRAL = "#5b6773"


@dataclass(frozen=True)
class ObjectiveAxis:
    """One objective of a Pareto plot.

    Attributes:
        label: Name and unit.
        sign: 1 if more is better, -1 if less is, 0 if there is a target.
        target: The value to hit.
    """

    label: str
    sign: int
    target: float | None = None

    @property
    def title(self) -> str:
        """The label with an arrow that points to better values."""
        return f"{self.label} {'←→'[self.sign > 0]} better" if self.sign else self.label


def pareto_figure(
    x: ObjectiveAxis,
    y: ObjectiveAxis,
    marks: Sequence[Mark],
    front: Sequence[tuple[float, float]],
) -> go.Figure:
    """Two objectives as a plane, with the front as a staircase.

    Args:
        x: The objective to the right.
        y: The objective upwards.
        marks: The runs.
        front: The values of the runs on the front; the staircase needs two directions.

    Returns:
        The figure.
    """
    figure = base_figure(height=380)
    if x.sign and y.sign and front:
        steps = _staircase(x.sign, y.sign, front)
        figure.add_scatter(
            x=[at for at, _ in steps], y=[at for _, at in steps], mode="lines",
            line=dict(color=INK, width=1.5, dash="dot"), hoverinfo="skip", showlegend=False,
        )  # fmt: skip
    for axis, add in ((x, figure.add_vline), (y, figure.add_hline)):
        if axis.target is not None:
            add(axis.target, line=dict(color=_NEUTRAL, width=1.5, dash="dash"))
    for kind in ("worked", "beyond", "failed", "next", "best"):
        add_marks(figure, kind, [mark for mark in marks if mark.kind == kind])
    figure.update_layout(
        xaxis=dict(title=dict(text=plain_text(x.title, 60))),
        yaxis=dict(title=dict(text=plain_text(y.title, 60))),
        showlegend=False,
    )
    return figure


def _staircase(
    x_sign: int, y_sign: int, front: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The border of what the front dominates: from the best x to the best y."""
    ordered = sorted(front, key=lambda at: -x_sign * at[0])
    steps = [ordered[0]]
    for at in ordered[1:]:
        if y_sign * at[1] > y_sign * steps[-1][1]:
            steps += [(at[0], steps[-1][1]), at]
    return steps


def hypervolume_figure(numbers: Sequence[int], volumes: Sequence[float]) -> go.Figure:
    """The hypervolume of the front against experiments.

    Args:
        numbers: The numbers of the experiments, rising.
        volumes: The hypervolume after each.

    Returns:
        The figure.
    """
    figure = base_figure(height=260)
    figure.add_scatter(
        x=list(numbers), y=list(volumes), mode="lines", fill="tozeroy",
        line=dict(color=BLUE, width=2, shape="hv"), fillcolor="rgba(143,191,220,0.25)",
        hovertemplate="after run %{x}: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(
        xaxis=dict(title=dict(text="run"), tickformat="d"),
        yaxis=dict(title=dict(text="hypervolume"), rangemode="tozero"),
        showlegend=False,
    )
    return figure


def limit_figure(
    numbers: Sequence[int],
    values: Sequence[float],
    worked: Sequence[bool],
    *,
    label: str,
    lower: float | None,
    upper: float | None,
) -> go.Figure:
    """A measured limit: its value in each run, and the bounds that it must keep.

    Args:
        numbers: The numbers of the runs that measured it.
        values: The measured values.
        worked: Whether each run worked.
        label: The name of the limit, with its unit.
        lower: The smallest acceptable value.
        upper: The largest acceptable value.

    Returns:
        The figure.
    """
    figure = base_figure(height=260)
    for kind in ("worked", "failed"):
        shown = [
            (n, v)
            for n, v, is_ok in zip(numbers, values, worked, strict=True)
            if is_ok is (kind == "worked")
        ]
        figure.add_scatter(
            x=[n for n, _ in shown], y=[v for _, v in shown], mode="markers", name=kind,
            marker=marker(kind), hovertemplate=f"run %{{x}}, {kind}: %{{y:.6g}}<extra></extra>",
        )  # fmt: skip
    for bound in (lower, upper):
        if bound is not None:
            figure.add_hline(bound, line=dict(color=RED, width=1.5, dash="dash"))
    ends: list[Any] = [*values, *(bound for bound in (lower, upper) if bound is not None)]
    room = 0.08 * ((max(ends) - min(ends)) or abs(max(ends)) or 1.0)
    figure.update_layout(
        xaxis=dict(title=dict(text="run"), tickformat="d"),
        yaxis=dict(title=dict(text=plain_text(label)), range=[min(ends) - room, max(ends) + room]),
        showlegend=False,
        plot_bgcolor=WHITE,
    )
    return figure
