"""Interactive figures: plain data in, a Plotly figure out. Needs the extra `becbo[lab]`.

Only traces that are drawn as SVG, without WebGL. Labels are escaped: Plotly would interpret `<b>`
in the name of a parameter as markup.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plotly import graph_objects as go

MarkKind = Literal["worked", "beyond", "failed", "next", "best"]

INK, GRID, FORBIDDEN = "#1f2933", "#e3e7eb", "#c3c9d0"
BLUE, PALE_BLUE, RED, GOLD, WHITE = "#14507a", "#8fbfdc", "#b3261e", "#ffc83d", "#ffffff"
# From certain failure to certain success; the same as in `landscape`.
CHANCE_COLOURS = ("#e9a79d", "#f6dcd6", "#f4f1ea", "#cfe3ee", "#8fbfdc")
_DECADES = 1.5  # values over more than this are drawn on a logarithmic axis
TICK = 16  # letters beside an axis

MARKERS: dict[MarkKind, dict[str, Any]] = {
    "failed": dict(symbol="x-thin", line=dict(color=RED, width=2.2)),
    "worked": dict(symbol="circle", color=BLUE, line=dict(color=WHITE, width=1)),
    "beyond": dict(symbol="circle-open", color=RED, line=dict(color=RED, width=1.8)),
    "next": dict(symbol="diamond", color=WHITE, line=dict(color=INK, width=2)),
    "best": dict(symbol="star", color=GOLD, line=dict(color=INK, width=1)),
}
_NAMES: dict[MarkKind, str] = {
    "worked": "worked", "beyond": "worked, beyond a limit", "failed": "failed",
    "next": "suggested", "best": "best so far",
}  # fmt: skip
_SIZES: dict[MarkKind, float] = {
    "worked": 9, "beyond": 9, "failed": 9, "next": 12, "best": 16
}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """One axis of a map.

    Attributes:
        label: Name and unit.
        values: Positions of the grid, rising, (k,).
        is_log: Whether the axis is logarithmic.
        is_continuous: Whether there is anything between the values.
        names: What to write at the values, if not numbers.
    """

    label: str
    values: Sequence[float]
    is_log: bool = False
    is_continuous: bool = True
    names: Sequence[str] | None = None


@dataclass(frozen=True)
class Mark:
    """A design on a map; `nearness` to the slice, from 0 to 1, makes it strong or faint."""

    kind: MarkKind
    x: float
    y: float
    label: str
    nearness: float = 1.0


def progress_figure(
    numbers: Sequence[int],
    values: Sequence[float | None],
    best: Sequence[float | None],
    *,
    value_label: str,
    best_label: str = "best so far",
    target: float | None = None,
) -> go.Figure:
    """Best value against experiments, with a strip below for those that failed.

    Args:
        numbers: The numbers of the experiments, rising.
        values: The value of each; None where it failed.
        best: The best acceptable value after each; None while there is none.
        value_label: The name of the value, with its unit.
        best_label: What the best value is called.
        target: The value to hit, if there is one.

    Returns:
        The figure.
    """
    worked = [(n, v) for n, v in zip(numbers, values, strict=True) if v is not None]
    failed = [n for n, v in zip(numbers, values, strict=True) if v is None]
    so_far = [(n, v) for n, v in zip(numbers, best, strict=True) if v is not None]
    figure = base_figure(height=340 if worked else 130)
    if target is not None:
        figure.add_hline(target, line=dict(color=INK, width=1.5, dash="dash"))
    if so_far:
        figure.add_scatter(
            x=[n for n, _ in so_far], y=[v for _, v in so_far], mode="lines",
            name=best_label, line=dict(color=BLUE, width=2, shape="hv"), hoverinfo="skip",
        )  # fmt: skip
    if worked:
        figure.add_scatter(
            x=[n for n, _ in worked], y=[v for _, v in worked], mode="markers", name="worked",
            marker=marker("worked"), hovertemplate="run %{x}: %{y:.6g}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=failed, y=[0] * len(failed), yaxis="y2", mode="markers", name="failed",
        marker=marker("failed"), hovertemplate="run %{x} failed<extra></extra>",
    )  # fmt: skip
    first, last = (numbers[0], numbers[-1]) if len(numbers) else (0, 1)
    margin = max(0.02 * (last - first), 0.5)
    is_log = _spans_decades([v for _, v in worked])
    figure.update_layout(
        xaxis=dict(
            title=dict(text="run"), anchor="y2" if failed else "y", tickformat="d",
            range=[first - margin, last + margin],
        ),
        yaxis=dict(
            title=dict(text=plain_text(value_label)), domain=[0.16 if failed else 0, 1],
            visible=bool(worked),
            type="log" if is_log else "linear",
        ),
        yaxis2=dict(
            domain=[0, 0.1] if worked else [0, 1], range=[-1, 1], tickvals=[0],
            visible=bool(failed), ticktext=["failed"], showgrid=False, zeroline=False,
            fixedrange=True, automargin=True,
        ),
        showlegend=bool(worked),
        legend=dict(orientation="h", y=1.02, yanchor="bottom", x=0),
    )  # fmt: skip
    return figure


def importance_figure(
    names: Sequence[str], main: Sequence[float], total: Sequence[float]
) -> go.Figure:
    """The importance of each parameter, the first on top.

    Args:
        names: The parameters.
        main: The share of the variation that each causes on its own.
        total: The share including interactions with other parameters.

    Returns:
        The figure.
    """
    figure = base_figure(height=90 + 34 * len(names))
    bars = (
        ("together with others", total, 0.72, PALE_BLUE),
        ("on its own", main, 0.36, BLUE),
    )
    for name, share, width, colour in bars:
        figure.add_bar(
            x=list(share), y=list(range(len(names))), orientation="h", width=width, name=name,
            marker=dict(color=colour), customdata=[plain_text(name) for name in names],
            hovertemplate=f"%{{customdata}} {name}: %{{x:.0%}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        barmode="overlay",
        xaxis=dict(range=[0, 1], tickformat=".0%", fixedrange=True),
        yaxis=dict(
            tickvals=list(range(len(names))),
            ticktext=[plain_text(name, TICK) for name in names], autorange="reversed",
            automargin=True, showgrid=False, fixedrange=True,
        ),
        legend=dict(orientation="h", y=1.02, yanchor="bottom", x=0, traceorder="reversed"),
    )  # fmt: skip
    return figure


def calibration_figure(
    stated: Sequence[float],
    observed: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    counts: Sequence[int],
) -> go.Figure:
    """The share that came true against the stated probability, per group of experiments.

    Args:
        stated: The mean stated probability of each group.
        observed: The share that came true.
        intervals: The interval of that share.
        counts: The number of experiments.

    Returns:
        The figure.
    """
    figure = base_figure(height=360)
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line=dict(color=INK, width=1, dash="dot"),
        hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=list(stated),
        y=list(observed),
        mode="markers",
        marker=dict(color=BLUE, size=10),
        customdata=list(counts),
        error_y=dict(
            type="data",
            symmetric=False,
            array=[high - y for (_, high), y in zip(intervals, observed, strict=True)],
            arrayminus=[y - low for (low, _), y in zip(intervals, observed, strict=True)],
            color=BLUE,
            thickness=1.4,
            width=5,
        ),
        hovertemplate="%{customdata} experiments<br>stated %{x:.0%}, came true %{y:.0%}"
        "<extra></extra>",
        cliponaxis=False,
    )
    for x, (_, high), n in zip(stated, intervals, counts, strict=True):
        figure.add_annotation(x=x, y=high, text=f"n = {n}", showarrow=False, yshift=14)
    percent = dict(range=[0, 1], tickformat=".0%", dtick=0.2, fixedrange=True)
    figure.update_layout(
        xaxis=dict(title=dict(text="stated chance"), **percent),
        yaxis=dict(title=dict(text="share that came true"), **percent),
        showlegend=False,
    )
    return figure


def base_figure(height: int) -> go.Figure:
    """An empty figure in the style of all others."""
    axis = dict(
        gridcolor=GRID, zeroline=False, linecolor=INK, ticks="outside", tickcolor=INK, ticklen=4,
        title=dict(standoff=8), automargin=True,
    )  # fmt: skip
    layout = dict(
        height=height,
        template="none",
        font=dict(family="system-ui, sans-serif", size=13, color=INK),
        margin=dict(l=12, r=28, t=24, b=12),
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor=WHITE,
        hoverlabel=dict(bgcolor=WHITE, font=dict(color=INK)),
        xaxis=axis,
        yaxis=axis,
    )
    return go.Figure(layout=layout)


def plain_text(label: str, longest: int = 32) -> str:
    """A label that Plotly shows literally, shortened if it is long."""
    short = label if len(label) <= longest else label[: longest - 1] + "…"
    return html.escape(short, quote=False).replace("{", "&#123;")


def marker(kind: MarkKind) -> dict[str, Any]:
    """How a kind of run is drawn."""
    return {**MARKERS[kind], "size": _SIZES[kind]}


def add_marks(figure: go.Figure, kind: MarkKind, marks: Sequence[Mark]) -> None:
    """Draws designs of one kind, those near the slice stronger."""
    if not marks:
        return
    strength = [0.2 + 0.8 * mark.nearness for mark in marks]
    figure.add_scatter(
        x=[mark.x for mark in marks],
        y=[mark.y for mark in marks],
        mode="markers",
        name=_NAMES[kind],
        marker={
            **MARKERS[kind],
            "opacity": strength,
            "size": [_SIZES[kind] * (0.5 + 0.5 * s) for s in strength],
        },
        customdata=[plain_text(mark.label) for mark in marks],
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )


def _spans_decades(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and math.log10(max(values) / min(values)) > _DECADES
