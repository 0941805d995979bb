"""A run in two dimensions: what the model believes, what is true, and what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from becbo.arrays import Array, Mask

_SUCCESS, _FAILURE, _BEST, _TRUTH, _HALF = "#14507a", "#b3261e", "#ffc83d", "#111111", "#ffffff"
_INITIAL = "#8a8a8a"
# Pale throughout so that points and lines stay visible on it.
_CHANCE = LinearSegmentedColormap.from_list(
    "chance", ["#e9a79d", "#f6dcd6", "#f4f1ea", "#cfe3ee", "#8fbfdc"]
)
_VALUE = LinearSegmentedColormap.from_list("value", ["#33898f", "#86c0ad", "#d3e4b6", "#fdf7dc"])
_HATCH = "////"


@dataclass(frozen=True)
class Landscape:
    """One panel: a model on a grid and the experiments it was made from.

    Attributes:
        x: Grid values of the first parameter, (nx,).
        y: Grid values of the second parameter, (ny,).
        p_feasible: The model's chance that a design works, (ny, nx). None: the truth is shown,
            which `slack` tells.
        points: Designs tried, (n, 2).
        worked: Which of them worked, (n,).
        objective: Predicted or true value, (ny, nx); drawn where a design works or is likely to.
        slack: The truth, at least 0 where a design works, (ny, nx).
        bound: At least 0 where the method may search, (ny, nx).
        best: The best design found, (2,).
        optima: The best designs there are, (k, 2).
        frame: Corners (low, high) of a part to outline, such as one another panel enlarges, (2, 2).
        n_initial: How many of the points, from the first, were spread before the method began.
        title: Above the panel.
    """

    x: Array
    y: Array
    p_feasible: Array | None
    points: Array
    worked: Mask
    objective: Array | None = None
    slack: Array | None = None
    bound: Array | None = None
    best: Array | None = None
    optima: Array | None = None
    frame: Array | None = None
    n_initial: int = 0
    title: str = ""

    @property
    def chance(self) -> Array:  # (ny, nx)
        """The chance to work: the model's, or 0 and 1 where the truth is shown."""
        if self.p_feasible is not None:
            return self.p_feasible
        if self.slack is None:
            raise ValueError("a landscape needs p_feasible or slack")
        return np.where(self.slack >= 0, 1.0, 0.0)


def landscape_figure(
    panels: Sequence[Landscape], *, x_label: str = "x", y_label: str = "y", title: str = ""
) -> Figure:
    """The panels side by side, with one colour bar and one legend."""
    figure = Figure(figsize=(3.9 * len(panels) + 0.8, 4.9))
    figure.set_layout_engine("constrained", wspace=0.03)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        chance = draw_landscape(ax, panel)
        ax.set_xlabel(x_label)
    axes[0].set_ylabel(y_label)
    chance_bar(figure, chance, list(axes))
    figure.legend(
        handles=legend_handles(panels), loc="outside lower center", ncols=4, frameon=False
    )
    figure.suptitle(title)
    return figure


def chance_bar(
    figure: Figure, chance: QuadContourSet, axes: Sequence[Axes], n_rows: int = 1
) -> None:
    """The colours of `draw_landscape` in words, beside the axes."""
    ticks = [0, 0.25, 0.5, 0.75, 1]
    bar = figure.colorbar(chance, ax=axes, ticks=ticks, pad=0.015, aspect=20 * n_rows)
    bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
    bar.set_label("the model's chance\nthat a design works")


def draw_landscape(ax: Axes, panel: Landscape, size: float = 1.0) -> QuadContourSet:
    """The chance to work as colours, the value as lines; returns the colours, for a bar.

    `size` scales the markers.
    """
    chance = ax.contourf(panel.x, panel.y, panel.chance, levels=np.linspace(0, 1, 21), cmap=_CHANCE)
    if panel.objective is not None:
        _draw_objective(ax, panel, panel.objective)
    if panel.bound is not None:
        _draw_bound(ax, panel, panel.bound)
    _draw_rest(ax, panel, size)
    return chance


def draw_values(ax: Axes, panel: Landscape, levels: Array, size: float = 1.0) -> None:
    """The value as colours between levels (k,), white where a design fails or is likely to.

    `size` scales the markers.
    """
    if panel.objective is not None:
        grid, scale = (panel.x, panel.y), _value_scale(levels)
        ax.contourf(*grid, panel.objective, levels=levels, extend="both", **scale)
        ax.contourf(*grid, panel.chance, levels=[-1.0, 0.5], colors="white")
    _draw_rest(ax, panel, size)


def value_bar(figure: Figure, levels: Array, axes: Sequence[Axes], n_rows: int = 1) -> None:
    """The colours of `draw_values` in numbers, beside the axes."""
    colours = ScalarMappable(**_value_scale(levels))
    bar = figure.colorbar(colours, ax=axes, pad=0.015, aspect=20 * n_rows)
    bar.set_label("value (smaller is better)")


def _value_scale(levels: Array) -> dict[str, Any]:
    return dict(cmap=_VALUE, norm=BoundaryNorm(levels.tolist(), _VALUE.N, extend="both"))


def _draw_rest(ax: Axes, panel: Landscape, size: float) -> None:
    """Edges, points, frame and title: what every kind of panel has."""
    _draw_edges(ax, panel)
    _draw_points(ax, panel, size)
    if panel.frame is not None:
        low, high = panel.frame
        ax.add_patch(Rectangle((low[0], low[1]), *(high - low), fill=False, zorder=4))
    ax.set_title(panel.title)
    ax.set_xlim(panel.x[0], panel.x[-1])
    ax.set_ylim(panel.y[0], panel.y[-1])


def _draw_edges(ax: Axes, panel: Landscape) -> None:
    grid = panel.x, panel.y
    if panel.slack is not None:
        ax.contour(*grid, panel.slack, levels=[0.0], colors=_TRUTH, linewidths=1.6)
    if panel.p_feasible is not None:
        ax.contour(*grid, panel.p_feasible, levels=[0.5], colors=_HALF, linewidths=3.2)
        ax.contour(
            *grid, panel.p_feasible, levels=[0.5], colors=_SUCCESS, linewidths=1.6, linestyles="--"
        )


def _draw_bound(ax: Axes, panel: Landscape, bound: Array) -> None:
    """Hatches where the method may search although a failure is likelier."""
    daring = np.minimum(bound, 0.5 - panel.chance)
    if (daring >= 0).any():
        ax.contourf(panel.x, panel.y, daring, levels=[0.0, np.inf], colors="none", hatches=[_HATCH])


def _draw_objective(ax: Axes, panel: Landscape, objective: Array) -> None:
    inside = np.ma.masked_where(panel.chance < 0.5, objective)
    if inside.count() and np.ptp(inside.compressed()) > 0:
        lines = ax.contour(
            panel.x, panel.y, inside, levels=8, colors="#5d6d78", linewidths=0.6, linestyles="-"
        )
        ax.clabel(lines, fontsize=7, fmt="%.3g")


def _draw_points(ax: Axes, panel: Landscape, size: float) -> None:
    is_initial = np.arange(len(panel.points)) < panel.n_initial
    marks: dict[str, Array | None] = {  # later ones on top
        "optimum": panel.optima,
        "failed at first": panel.points[is_initial & ~panel.worked],
        "worked at first": panel.points[is_initial & panel.worked],
        "failed": panel.points[~is_initial & ~panel.worked],
        "worked": panel.points[~is_initial & panel.worked],
        "best": panel.best,
    }
    low, high = (panel.x[0], panel.y[0]), (panel.x[-1], panel.y[-1])
    for kind, where in marks.items():
        points = np.reshape([] if where is None else where, (-1, 2))
        shown = points[((points >= low) & (points <= high)).all(axis=1)]
        if len(shown):  # an empty line would still claim room in the layout
            ax.plot(*shown.T, **_style(kind, size), clip_on=False)  # whole markers at the border


def _style(kind: str, size: float = 1.0) -> dict[str, Any]:
    """Marker of one kind of point, the same in the panels and in the legend."""
    worked = dict(marker="o", color=_SUCCESS, markersize=5.5, markeredgecolor="white")
    failed = dict(marker="x", color=_FAILURE, markersize=6, markeredgewidth=1.8)
    marks: dict[str, dict[str, Any]] = {
        "worked": worked,
        "failed": failed,
        "worked at first": worked | dict(color="white", markeredgecolor=_SUCCESS),
        "failed at first": failed | dict(color=_INITIAL),
        "best": dict(marker="*", color=_BEST, markersize=11, markeredgecolor="black"),
        "optimum": dict(marker="*", color="white", markersize=20, markeredgecolor="black"),
    }
    mark = marks[kind]
    return {"linestyle": "none", "zorder": 5, **mark, "markersize": size * mark["markersize"]}


def legend_handles(panels: Sequence[Landscape]) -> list[Artist]:
    """What the marks mean: only those that at least one panel shows."""
    later = [panel.worked[panel.n_initial :] for panel in panels]
    first = [panel.worked[: panel.n_initial] for panel in panels]
    entries: list[tuple[bool, str, dict[str, Any]]] = [
        (any(w.any() for w in later), "it worked", _style("worked")),
        (any((~w).any() for w in later), "it failed", _style("failed")),
        (any(w.any() for w in first), "it worked, initial design", _style("worked at first")),
        (any((~w).any() for w in first), "it failed, initial design", _style("failed at first")),
        (any(p.best is not None for p in panels), "best found", _style("best")),
        (any(p.optima is not None for p in panels), "best possible", _style("optimum")),
        (
            any(p.p_feasible is not None for p in panels),
            "edge, as the model sees it",
            dict(color=_SUCCESS, linestyle="--"),
        ),
        (any(p.slack is not None for p in panels), "edge, in truth", dict(color=_TRUTH)),
        (
            any(p.objective is not None for p in panels),
            "lines of equal value",
            dict(color="#5d6d78", linewidth=0.8),
        ),
    ]
    handles: list[Artist] = [
        Line2D([], [], label=label, **style) for shown, label, style in entries if shown
    ]
    if any(p.bound is not None for p in panels):
        label = "searched although a failure is likelier"
        handles.append(Patch(facecolor="none", edgecolor=_TRUTH, hatch=_HATCH, label=label))
    return handles
