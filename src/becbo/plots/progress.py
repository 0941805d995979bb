"""How a run went: the best value so far, every success, every failure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from becbo.arrays import Array

_BEST, _SUCCESS, _FAILURE, _OPTIMUM = "#1b3a5c", "#7fa6c9", "#c8372d", "#2e8540"
# Values or distances over more decades than this are drawn on a logarithmic axis.
_DECADES = 1.5


def best_so_far(values: Array) -> Array:  # (n,) -> (n,)
    """The smallest value after each experiment; NaN until the first success."""
    return np.asarray(np.fmin.accumulate(values))


def progress_figure(
    values: Sequence[float | None],
    *,
    optimum: float | None = None,
    title: str = "",
) -> Figure:
    """Best value against experiments; values are minimised.

    Args:
        values: One per experiment, in order; None or NaN where it failed.
        optimum: The best value there is, if it is known.
        title: Above the picture.

    Returns:
        A figure with the values, a strip of the failures and, if the distance to the optimum
        shrinks over decades, that distance on a logarithmic axis.
    """
    array = np.array([np.nan if v is None else v for v in values], dtype=float)
    best = best_so_far(array)
    distance = np.abs(best - (np.nan if optimum is None else optimum))
    has_distance = _spans_decades(distance)

    figure = Figure(figsize=(8.0, 7.0 if has_distance else 4.8), layout="constrained")
    main, strip, below = _axes(figure, has_distance)
    _draw_values(main, array, best, optimum)
    main.set_ylabel("value (smaller is better)")
    _draw_failures(strip, array)
    if below is not None:
        _draw_distance(below, distance)
    _label_experiments(below or main)
    main.set_xlim(0.0, len(array) + 1.0)
    figure.suptitle(title)
    return figure


def _spans_decades(positive: Array) -> bool:
    """Whether all known numbers are positive and cover more than `_DECADES`."""
    known = positive[~np.isnan(positive)]
    return bool(len(known) and known.min() > 0 and np.log10(known.max() / known.min()) > _DECADES)


def _axes(figure: Figure, has_distance: bool) -> tuple[Axes, Axes, Axes | None]:
    """Values, failure strip on their worse side, and distance below, on one horizontal axis."""
    heights = [0.35, 4.0] + [2.4] * has_distance
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    main = figure.add_subplot(grid[1])
    strip = figure.add_subplot(grid[0], sharex=main)
    below = figure.add_subplot(grid[2], sharex=main) if has_distance else None
    for ax in (main, strip, below):
        if ax is not None:
            ax.tick_params(labelbottom=False)
            ax.spines[["top", "right"]].set_visible(False)
    return main, strip, below


def _label_experiments(bottom: Axes) -> None:
    bottom.set_xlabel("experiment")
    bottom.tick_params(labelbottom=True)
    bottom.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _draw_values(ax: Axes, values: Array, best: Array, optimum: float | None) -> None:
    experiments = np.arange(1, len(values) + 1)
    worked = ~np.isnan(values)
    ax.plot(
        experiments[worked],
        values[worked],
        "o",
        color=_SUCCESS,
        markersize=5,
        label=f"worked ({worked.sum()})",
    )
    ax.step(experiments, best, where="post", color=_BEST, linewidth=2, label="best so far")
    if optimum is not None:
        ax.axhline(optimum, color=_OPTIMUM, linestyle="--", label=f"best possible ({optimum:.6g})")
    if _spans_decades(values):
        ax.set_yscale("log")
    ax.grid(axis="y", alpha=0.25)
    ax.legend(loc="best", frameon=False)


def _draw_failures(ax: Axes, values: Array) -> None:
    failed = np.flatnonzero(np.isnan(values)) + 1
    ax.plot(failed, np.zeros(len(failed)), "x", color=_FAILURE, markersize=6, markeredgewidth=1.5)
    ax.set_ylim(-1, 1)
    ax.set_yticks([0], [f"failed ({len(failed)})"], color=_FAILURE)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_facecolor("#fbeeec")


def _draw_distance(ax: Axes, distance: Array) -> None:
    experiments = np.arange(1, len(distance) + 1)
    ax.step(experiments, distance, where="post", color=_BEST, linewidth=2)
    ax.set_yscale("log")
    ax.set_ylabel("distance of the best\nto the best possible")
    ax.grid(axis="y", alpha=0.25)
