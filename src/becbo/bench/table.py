"""The table of a folder of records: one row per problem and method, then means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from becbo.bench.records import Record
from becbo.bench.summary import (
    CAP,
    Array,
    at,
    best_so_far,
    failure_share,
    first_feasible,
    regret_curve,
    stack,
    values,
)
from becbo.problems import PROBLEMS, get_single

CHECKPOINTS = (50, 100, 200)


@dataclass(frozen=True)
class Row:
    """One method on one problem, over its seeds. Minimised values."""

    problem: str
    label: str
    seeds: tuple[int, ...]
    optimum: float
    best: Array  # (k,) at the end; infinite: nothing worked
    regret: Array  # (k, c) log10 normalised, at the checkpoints; NaN: the run was shorter
    failed: float  # share of the proposals
    first_feasible: float  # median evaluations to the first design that worked
    seconds: float  # per proposal, median


@dataclass(frozen=True)
class Table:
    """Cells as text, for a terminal or a page."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    means: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """As a Markdown table."""
        bold = [(f"**{cells[0]}**", *cells[1:]) for cells in self.means]
        lines = [self.header, ("---",) * len(self.header), *self.rows, *bold]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def checkpoints(records: Sequence[Record]) -> tuple[int, ...]:
    """The usual numbers of evaluations, as far as the runs go."""
    longest = max(record.run.budget for record in records)
    return tuple(n for n in CHECKPOINTS if n <= longest) or (longest,)


def rows(records: Sequence[Record], points: Sequence[int]) -> list[Row]:
    """One row per problem and method, in the order of the problem list, then by label."""
    finished = [record for record in records if record.is_finished]
    order = {name: i for i, name in enumerate(PROBLEMS)}
    names = sorted({r.run.problem for r in finished}, key=lambda n: (order.get(n, len(order)), n))
    labels = sorted({r.run.label for r in finished})
    groups = (
        [r for r in finished if (r.run.problem, r.run.label) == (name, label)]
        for name in names
        for label in labels
    )
    return [_row(group, points) for group in groups if group]


def table(records: Sequence[Record]) -> Table:
    """The numbers of all finished runs in words."""
    finished = [record for record in records if record.is_finished]
    if not finished:
        return Table(_header(()), (), ())
    points = checkpoints(finished)
    found = rows(finished, points)
    labels = sorted({row.label for row in found})
    return Table(
        _header(points),
        tuple(_cells(row) for row in found),
        tuple(_mean_cells(label, found) for label in labels),
    )


def _row(group: Sequence[Record], points: Sequence[int]) -> Row:
    group = sorted(group, key=lambda record: record.run.seed)
    y = [values(record) for record in group]
    curves = stack([regret_curve(record) for record in group])
    shares = [failure_share(v, r.n_initial) for v, r in zip(y, group, strict=True)]
    return Row(
        group[0].run.problem,
        group[0].run.label,
        tuple(record.run.seed for record in group),
        get_single(group[0].run.problem).optimum,
        best=np.array([best_so_far(v)[-1] for v in y]),
        regret=np.column_stack([at(curves, n) for n in points]),
        failed=float(np.mean(shares)),
        first_feasible=float(np.median([first_feasible(v) for v in y])),
        seconds=_median(np.concatenate([np.array(record.seconds) for record in group])),
    )


def _median(sample: Array) -> float:
    return float(np.median(sample)) if len(sample) else float("nan")


def _header(points: Sequence[int]) -> tuple[str, ...]:
    regret = " / ".join(f"@{n}" for n in points)
    return (
        "problem",
        "method",
        "seeds",
        "optimum",
        "best: median (worst)",
        "distance to optimum",
        f"log10 regret {regret}".strip(),
        "failed",
        "first working",
        "s per proposal (median)",
    )


def _cells(row: Row) -> tuple[str, ...]:
    median = float(np.median(row.best))
    return (
        row.problem,
        row.label,
        str(len(row.seeds)),
        f"{row.optimum:.6g}",
        f"{_value(median)} ({_value(float(row.best.max()))})",
        _distance(median, row.optimum),
        _regrets(row.regret.mean(axis=0)),
        _share(row.failed),
        _value(row.first_feasible),
        _seconds(row.seconds),
    )


def _mean_cells(label: str, found: Sequence[Row]) -> tuple[str, ...]:
    """Means over problems, each of which counts the same however many seeds it has."""
    mine = [row for row in found if row.label == label]
    n_problems = len({row.problem for row in found})
    regret = np.mean([row.regret.mean(axis=0) for row in mine], axis=0)
    capped = np.mean([np.maximum(row.regret, CAP).mean(axis=0) for row in mine], axis=0)
    return (
        "mean",
        label,
        f"{len(mine)} of {n_problems} problems",
        "",
        "",
        "",
        f"{_regrets(regret)}, capped at {CAP:g}: {_regrets(capped)}",
        _share(float(np.mean([row.failed for row in mine]))),
        "",
        _seconds(float(np.mean([row.seconds for row in mine]))),
    )


def _value(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else "none"


def _distance(value: float, optimum: float) -> str:
    if not np.isfinite(value):
        return "-"
    if abs(optimum) < 1e-9:  # a share of (almost) nothing would say nothing
        return f"{value - optimum:.3g}"
    percent = 100 * (value - optimum) / abs(optimum)
    return f"{percent:.0f} %" if percent >= 100 else f"{percent:.3g} %"


def _regrets(regrets: Array) -> str:
    return " / ".join("-" if np.isnan(r) else f"{r:.2f}" for r in regrets)


def _share(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.0%}"


def _seconds(seconds: float) -> str:
    return "-" if np.isnan(seconds) else f"{seconds:.3f}"
