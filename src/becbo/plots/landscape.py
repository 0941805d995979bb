"""A run in two dimensions: what the model believes, what is true, and what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SUCCESS, _FAILURE, _BEST, _TRUTH, _HALF = "#14507a", "#b3261e", "#ffc83d", "#111111", "#ffffff"
# Pale at both ends so that points and lines stay visible on it.
_CHANCE = LinearSegmentedColormap.from_list(
    "chance", ["#e9a79d", "#f6dcd6", "#f4f1ea", "#cfe3ee", "#8fbfdc"]
)


@dataclass(frozen=True)
class Landscape:
    """One panel: a model on a grid and the experiments it was made from.

    Attributes:
        x: Grid values of the first parameter, (nx,).
        y: Grid values of the second parameter, (ny,).
        p_feasible: The model's chance that a design works, (ny, nx).
        points: Designs tried, (n, 2).
        worked: Which of them worked, (n,).
        objective: Predicted or true value, (ny, nx); drawn where `p_feasible` is at least 0.5.
        slack: The truth, at least 0 where a design works, (ny, nx).
        best: The best design found, (2,).
        optima: The best designs there are, (k, 2).
        frame: Corners (low, high) of a part to outline, such as one another panel enlarges, (2, 2).
        title: Above the panel.
    """

    x: Array
    y: Array
    p_feasible: Array
    points: Array
    worked: NDArray[np.bool_]
    objective: Array | None = None
    slack: Array | None = None
    best: Array | None = None
    optima: Array | None = None
    frame: Array | None = None
    title: str = ""


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
    bar = figure.colorbar(chance, ax=list(axes), ticks=[0, 0.25, 0.5, 0.75, 1], pad=0.015)
    bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
    bar.set_label("the model's chance that a design works")
    figure.legend(handles=_legend(panels), loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(title)
    return figure


def draw_landscape(ax: Axes, panel: Landscape) -> QuadContourSet:
    """Draw one panel; returns the filled map, for a colour bar."""
    grid = panel.x, panel.y
    chance = ax.contourf(*grid, panel.p_feasible, levels=np.linspace(0, 1, 21), cmap=_CHANCE)
    if panel.objective is not None:
        _draw_objective(ax, panel, panel.objective)
    if panel.slack is not None:
        ax.contour(*grid, panel.slack, levels=[0.0], colors=_TRUTH, linewidths=1.6)
    ax.contour(*grid, panel.p_feasible, levels=[0.5], colors=_HALF, linewidths=3.2)
    ax.contour(
        *grid, panel.p_feasible, levels=[0.5], colors=_SUCCESS, linewidths=1.6, linestyles="--"
    )
    _draw_points(ax, panel)
    if panel.frame is not None:
        low, high = panel.frame
        ax.add_patch(Rectangle((low[0], low[1]), *(high - low), fill=False, zorder=4))
    ax.set_title(panel.title)
    ax.set_xlim(panel.x[0], panel.x[-1])
    ax.set_ylim(panel.y[0], panel.y[-1])
    return chance


def _draw_objective(ax: Axes, panel: Landscape, objective: Array) -> None:
    inside = np.ma.masked_where(panel.p_feasible < 0.5, objective)
    if inside.count() and np.ptp(inside.compressed()) > 0:
        lines = ax.contour(
            panel.x, panel.y, inside, levels=8, colors="#5d6d78", linewidths=0.6, linestyles="-"
        )
        ax.clabel(lines, fontsize=7, fmt="%.3g")


def _draw_points(ax: Axes, panel: Landscape) -> None:
    marks: dict[str, Array | None]
    marks = {"failed": panel.points[~panel.worked], "worked": panel.points[panel.worked]}
    marks |= {"optimum": panel.optima, "best": panel.best}
    low, high = (panel.x[0], panel.y[0]), (panel.x[-1], panel.y[-1])
    for kind, where in marks.items():
        points = np.reshape([] if where is None else where, (-1, 2))
        shown = points[((points >= low) & (points <= high)).all(axis=1)]
        if len(shown):  # an empty line would still claim room in the layout
            ax.plot(*shown.T, **_style(kind), clip_on=False)  # whole markers at the border


def _style(kind: str) -> dict[str, Any]:
    """Marker of one kind of point, the same in the panels and in the legend."""
    marks: dict[str, dict[str, Any]] = {
        "worked": dict(marker="o", color=_SUCCESS, markersize=5.5, markeredgecolor="white"),
        "failed": dict(marker="x", color=_FAILURE, markersize=6, markeredgewidth=1.8),
        "best": dict(marker="*", color=_BEST, markersize=15, markeredgecolor="black"),
        "optimum": dict(marker="o", color="none", markersize=17, markeredgecolor="black"),
    }
    return {"linestyle": "none", "zorder": 5, **marks[kind]}


def _legend(panels: Sequence[Landscape]) -> list[Line2D]:
    """Only what at least one panel shows."""
    worked = any(panel.worked.any() for panel in panels)
    failed = any((~panel.worked).any() for panel in panels)
    entries: list[tuple[bool, str, dict[str, Any]]] = [
        (worked, "it worked", _style("worked")),
        (failed, "it failed", _style("failed")),
        (any(p.best is not None for p in panels), "best found", _style("best")),
        (any(p.optima is not None for p in panels), "best possible", _style("optimum")),
        (True, "edge, as the model sees it", dict(color=_SUCCESS, linestyle="--")),
        (any(p.slack is not None for p in panels), "edge, in truth", dict(color=_TRUTH)),
        (
            any(p.objective is not None for p in panels),
            "lines of equal value",
            dict(color="#5d6d78", linewidth=0.8),
        ),
    ]
    return [Line2D([], [], label=label, **style) for shown, label, style in entries if shown]
