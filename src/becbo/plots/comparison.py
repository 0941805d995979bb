"""Methods side by side: curves per problem, bars, profiles and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from becbo.arrays import Array

# Okabe and Ito's colours, distinguishable by everybody; the dashes tell them apart in grey. The
# last four are for comparisons of many tools.
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"),
    *("#7b3294", "#8c510a", "#999933", "#bbbbbb"),
)
_USUAL = ("edge", "be-cbo", "cei", "scbo", "svm-cbo", "sobol")  # methods
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (1, 1)))
_REFERENCE = "#111111"
_REFERENCE_LINE: dict[str, Any] = dict(color=_REFERENCE, linewidth=1, linestyle=(0, (6, 3)))
_COLUMNS = 4  # panels beside each other


@dataclass(frozen=True)
class Panel:
    """One problem: what each method reached.

    Attributes:
        title: The problem.
        curves: Per method one line per run, (k, n); infinite or NaN where there is nothing yet.
        reference: A level to compare with, such as the optimum.
    """

    title: str
    curves: Mapping[str, Array]
    reference: float | None = None


@dataclass(frozen=True)
class Interval:
    """A mean and how sure it is."""

    mean: float
    low: float
    high: float


def curves_figure(
    panels: Sequence[Panel],
    *,
    title: str,
    value_label: str,
    reference_label: str = "",
    log: bool = False,
    focus: bool = False,
) -> Figure:
    """Mean over the runs and one standard deviation around it, one panel per problem.

    A line begins where all its runs have a value. `focus` limits each panel to what happens
    after the first tenth of the evaluations, because what random designs return would dwarf it.
    """
    labels = _labels(panels)
    figure, axes = _grid(len(panels), title)
    for ax, panel in zip(axes, panels, strict=True):
        for label, curves in panel.curves.items():
            _draw_curve(ax, curves, _style(label, labels), log)
        if panel.reference is not None:
            ax.axhline(panel.reference, **_REFERENCE_LINE)
        if log:
            ax.set_yscale("log")
        if focus:
            _focus(ax, panel)
        if not any(np.isfinite(curves).any() for curves in panel.curves.values()):
            ax.text(
                0.5, 0.6, "nothing worked", transform=ax.transAxes, ha="center", color="#444444"
            )
        ax.set_title(panel.title, fontsize=11)
        ax.grid(alpha=0.25)
    for ax in axes[::_COLUMNS]:
        ax.set_ylabel(value_label)
    extra = reference_label if any(p.reference is not None for p in panels) else ""
    _label_evaluations(axes)
    _legend(figure, labels, extra)
    return figure


def bars_figure(
    shares: Mapping[str, Sequence[Array]],
    groups: Sequence[str],
    *,
    title: str,
    value_label: str,
    references: Sequence[float | None] = (),
    reference_label: str = "",
) -> Figure:
    """Per method one share per run (k,) and problem: bars of the mean, whiskers of the spread."""
    labels = list(shares)
    figure = Figure(figsize=(max(6.0, 1.05 * len(groups) + 2.0), 4.6), layout="constrained")
    ax = figure.subplots()
    width = 0.8 / len(labels)
    for i, (label, samples) in enumerate(shares.items()):
        at = np.arange(len(groups)) + (i - (len(labels) - 1) / 2) * width
        means = np.array([s.mean() if len(s) else np.nan for s in samples])
        spreads = np.array([s.std() if len(s) else np.nan for s in samples])
        colour = _style(label, labels)["color"]
        ax.bar(at, means, width * 0.92, color=colour, label=label)
        ax.errorbar(at, means, spreads, fmt="none", ecolor="#444444", elinewidth=0.8)
    for i, level in enumerate(references):
        if level is not None:
            ax.plot([i - 0.45, i + 0.45], [level, level], color=_REFERENCE, linewidth=1.5)
    handles, names = ax.get_legend_handles_labels()
    if references:
        handles.append(Line2D([], [], color=_REFERENCE, linewidth=1.5))
        names.append(reference_label)
    ax.set_xticks(range(len(groups)), groups, rotation=30, ha="right")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylim(0, 1)
    ax.set_ylabel(value_label)
    ax.grid(axis="y", alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    add_legend(figure, handles, names)
    figure.suptitle(title)
    return figure


def profiles_figure(
    profiles: Mapping[str, Array], areas: Mapping[str, Interval], *, title: str
) -> Figure:
    """Share of targets reached (n,) against evaluations, and the area under each line."""
    labels = list(profiles)
    figure = Figure(figsize=(9.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2.2, 1])
    for label, profile in profiles.items():
        evaluations = np.arange(1, len(profile) + 1)
        left.plot(evaluations, profile, label=label, **_style(label, labels))
    left.set_xlabel("evaluations")
    left.set_ylabel("share of targets reached")
    left.yaxis.set_major_formatter(PercentFormatter(1.0))
    left.set_ylim(0, 1)
    left.set_xlim(0, max(len(p) for p in profiles.values()))
    left.grid(alpha=0.25)
    _draw_areas(right, areas, labels)
    add_legend(figure, *left.get_legend_handles_labels())
    figure.suptitle(title)
    return figure


def ranks_figure(ranks: Mapping[str, float], critical_difference: float, *, title: str) -> Figure:
    """Mean ranks on a line; a bar joins methods that the data do not tell apart (Demsar 2006)."""
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    n = len(ordered)
    groups = _groups([rank for _, rank in ordered], critical_difference)
    figure = Figure(figsize=(8.0, 1.5 + 0.28 * (n + len(groups))), layout="constrained")
    ax = figure.subplots()
    ax.set_xlim(0.8, n + 0.2)
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    ax.set_xticks(range(1, n + 1))
    ax.set_xlabel("mean rank over the problems (1 is best)")
    depth = 0.5
    for low, high in groups:
        ax.plot(
            [ordered[low][1] - 0.03, ordered[high][1] + 0.03], [depth, depth],
            color=_REFERENCE, linewidth=4, solid_capstyle="butt",
        )  # fmt: skip
        depth += 0.4
    for i, (label, rank) in enumerate(ordered):
        is_left = i < (n + 1) // 2
        y = depth + 0.7 * (i if is_left else n - 1 - i) + 0.3
        side = 0.8 if is_left else n + 0.2
        ax.plot([rank, rank, side], [0, y, y], color=_style(label, list(ranks))["color"])
        ax.annotate(
            f"{label}  {rank:.2f}", (side, y), xytext=(-4 if is_left else 4, 0),
            textcoords="offset points", ha="right" if is_left else "left", va="center",
            annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(depth + 0.7 * ((n + 1) // 2) + 0.3, 0)
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    figure.suptitle(f"{title}\n(bars join what differs by less than {critical_difference:.2f})")
    return figure


def _groups(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Longest stretches (first, last) of sorted ranks within the difference of each other."""
    stretches: list[tuple[int, int]] = []
    for i, low in enumerate(ranks):
        last = max(j for j, rank in enumerate(ranks) if rank - low <= difference)
        if last > i and (not stretches or last > stretches[-1][1]):
            stretches.append((i, last))
    return stretches


def _labels(panels: Sequence[Panel]) -> list[str]:
    """Every method once, in the order of appearance."""
    return list(dict.fromkeys(label for panel in panels for label in panel.curves))


def _style(label: str, labels: Sequence[str]) -> dict[str, Any]:
    """The same in all figures for the methods that most of them show."""
    usual = _USUAL if set(_USUAL) & set(labels) else ()
    i = [*usual, *(other for other in labels if other not in usual)].index(label)
    first = _USUAL[0] if _USUAL[0] in labels else labels[0]
    return dict(
        color=_COLOURS[i % len(_COLOURS)],
        linestyle=_DASHES[i % len(_DASHES)],
        linewidth=2.4 if label == first else 1.7,
    )


def _grid(n_panels: int, title: str) -> tuple[Figure, list[Axes]]:
    columns = min(_COLUMNS, n_panels)
    rows = -(-n_panels // columns)
    size = (max(3.4 * columns + 0.6, 5.0), 2.6 * rows + 1.1)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[n_panels:]:
        unused.remove()
    figure.suptitle(title)
    return figure, axes[:n_panels]


def _draw_curve(ax: Axes, curves: Array, style: dict[str, Any], log: bool) -> None:
    known = np.where(np.isfinite(curves), curves, np.nan)
    mean, spread = known.mean(axis=0), known.std(axis=0)
    evaluations = np.arange(1, curves.shape[1] + 1)
    ax.plot(evaluations, mean, **style)
    low, high = mean - spread, mean + spread
    if log:  # a standard deviation below zero has no place there
        low = np.maximum(low, known.min(axis=0))
    ax.fill_between(evaluations, low, high, color=style["color"], alpha=0.13, linewidth=0)


def _focus(ax: Axes, panel: Panel) -> None:
    later = [
        mean[np.isfinite(mean)]
        for curves in panel.curves.values()
        for mean in [np.mean(curves[:, max(curves.shape[1] // 10, 1) :], axis=0)]
    ]
    seen = np.concatenate([*later, [] if panel.reference is None else [panel.reference]])
    if len(seen) and np.ptp(seen) > 0:
        margin = 0.06 * np.ptp(seen)
        ax.set_ylim(seen.min() - margin, seen.max() + margin)


def _label_evaluations(axes: Sequence[Axes]) -> None:
    for i, ax in enumerate(axes):
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.tick_params(labelsize=9)
        if i >= len(axes) - _COLUMNS:
            ax.set_xlabel("evaluations")


def _legend(figure: Figure, labels: Sequence[str], reference_label: str) -> None:
    handles = [Line2D([], [], label=label, **_style(label, labels)) for label in labels]
    if reference_label:
        handles.append(Line2D([], [], label=reference_label, **_REFERENCE_LINE))
    add_legend(figure, handles, [str(handle.get_label()) for handle in handles])


def add_legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
    """Below the panels, in as many lines as the figure is too narrow for one."""
    inches = 0.6 + 0.075 * max(map(len, names), default=0)  # a sample, gaps and the letters
    n_lines = math.ceil(len(names) / max(int(figure.get_figwidth() / inches), 1))
    columns = math.ceil(len(names) / max(n_lines, 1))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)


def _draw_areas(ax: Axes, areas: Mapping[str, Interval], labels: Sequence[str]) -> None:
    for i, (label, area) in enumerate(areas.items()):
        colour = _style(label, labels)["color"]
        ax.plot([area.low, area.high], [i, i], "|-", color=colour)
        ax.plot(area.mean, i, "o", color=colour)
    ax.set_yticks(range(len(areas)), list(areas))
    ax.invert_yaxis()
    ax.set_xlabel("area under the line\n(with 95 % interval; 1 is perfect)")
    ax.grid(axis="x", alpha=0.25)
