"""What models believe and what is true, side by side; designs have two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from becbo.arrays import Array
from becbo.plots.comparison import Panel, add_legend, curves_figure
from becbo.plots.landscape import (
    Landscape,
    chance_bar,
    draw_landscape,
    draw_values,
    legend_handles,
    value_bar,
)

_WIDTH, _HEIGHT = 3.0, 3.0  # inches of a panel and its labels
_SMALL = 0.75  # size of the markers where there are hundreds
_N_LEVELS = 12
_GUESS = 0.5  # balanced accuracy of a classifier that knows nothing


def value_levels(truth: Landscape) -> Array:  # (k,)
    """Round numbers over the range of the true value where designs work."""
    if truth.objective is None:
        raise ValueError("the truth has no value to take levels from")
    inside = truth.objective[truth.chance >= 0.5]
    return np.asarray(MaxNLocator(_N_LEVELS).tick_values(inside.min(), inside.max()))


def samples_figure(
    truth: Landscape,
    rows: Sequence[Sequence[Landscape]],
    *,
    x_label: str = "x",
    y_label: str = "y",
    title: str = "",
) -> Figure:
    """Where methods went and what they believed: the truth on the left, then a row per method.

    A row holds the states of one run; rows may have different lengths.
    """
    figure, axes = _grid(len(rows), 1 + max(map(len, rows)), title)
    levels = value_levels(truth)
    middle = (len(rows) - 1) // 2
    drawn = []
    for i, row in enumerate(rows):
        panels = [truth if i == middle else None, *row]
        for ax, panel in zip_longest(axes[i], panels):
            if panel is None:
                ax.remove()
                continue
            draw_values(ax, panel, levels, _SMALL)
            drawn.append(ax)
    _label(drawn, x_label, y_label)
    value_bar(figure, levels, drawn, len(rows))
    _legend(figure, [replace(p, objective=None, bound=None) for row in rows for p in row])
    return figure


def stages_figure(
    truth: Landscape,
    stages: Sequence[Landscape],
    *,
    x_label: str = "x",
    y_label: str = "y",
    title: str = "",
) -> Figure:
    """A run stage by stage after the truth: the value above, the chance to work below."""
    panels = [truth, *stages]
    chances = [replace(panel, objective=None, title="") for panel in panels]
    figure, (above, below) = _grid(2, len(panels), title)
    levels = value_levels(truth)
    for ax, panel in zip(above, panels, strict=True):
        draw_values(ax, panel, levels, _SMALL)
    for ax, panel in zip(below, chances, strict=True):
        colours = draw_landscape(ax, panel, _SMALL)
    _label([*above, *below], x_label, y_label)
    value_bar(figure, levels, above)
    chance_bar(figure, colours, below)
    _legend(figure, chances)
    return figure


def cases_figure(
    rows: Sequence[tuple[str, Sequence[Landscape]]],
    *,
    x_label: str = "x",
    y_label: str = "y",
    title: str = "",
) -> Figure:
    """Classifiers on the same designs: a row per set of designs with its name, a column each."""
    figure, axes = _grid(len(rows), len(rows[0][1]), title)
    for line, (name, panels) in zip(axes, rows, strict=True):
        for ax, panel in zip(line, panels, strict=True):
            colours = draw_landscape(ax, panel)
        _label(line, x_label, y_label)
        line[0].set_ylabel(f"{name}\n\n{y_label}")
    chance_bar(figure, colours, list(chain(*axes)), len(rows))
    _legend(figure, [panel for _, panels in rows for panel in panels])
    return figure


def truths_figure(
    panels: Sequence[Landscape], *, x_label: str = "x", y_label: str = "y", title: str = ""
) -> Figure:
    """Problems as they are, white where designs fail."""
    figure, [axes] = _grid(1, len(panels), title, width=_WIDTH + 0.9)
    for ax, panel in zip(axes, panels, strict=True):
        levels = value_levels(panel)
        draw_values(ax, panel, levels)
        value_bar(figure, levels, [ax])
    _label(axes, x_label, y_label)
    _legend(figure, [replace(panel, objective=None) for panel in panels])
    return figure


def accuracy_figure(panels: Sequence[Panel], *, title: str = "") -> Figure:
    """Balanced accuracy of classifiers against evaluations, one panel per problem."""
    figure = curves_figure(
        [replace(panel, reference=_GUESS) for panel in panels],
        title=title,
        value_label="balanced accuracy",
        reference_label="a guess",
    )
    for ax in figure.axes:
        ax.set_ylim(0.45, 1.0)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    return figure


def _grid(
    n_rows: int, n_columns: int, title: str, width: float = _WIDTH
) -> tuple[Figure, list[list[Axes]]]:
    size = width * n_columns + 1.2, _HEIGHT * n_rows + 1.2
    figure = Figure(figsize=size)
    figure.set_layout_engine("constrained", wspace=0.03, hspace=0.03)
    axes: list[list[Axes]] = figure.subplots(n_rows, n_columns, squeeze=False).tolist()
    figure.suptitle(title)
    return figure, axes


def _label(axes: Sequence[Axes], x_label: str, y_label: str) -> None:
    for ax in axes:
        ax.set_xlabel(x_label)
        ax.set_ylabel(y_label)
        ax.title.set_fontsize(10)


def _legend(figure: Figure, panels: Sequence[Landscape]) -> None:
    handles = legend_handles(panels)
    add_legend(figure, handles, [str(handle.get_label()) for handle in handles])
