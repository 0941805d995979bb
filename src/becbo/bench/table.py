"""The tables of a folder of records: one row per problem and method, then means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array
from becbo.bench.records import Record
from becbo.bench.summary import (
    CAP,
    HYPERVOLUME_REGRET,
    REGRET,
    at,
    best_so_far,
    failure_share,
    feasible,
    first_feasible,
    hypervolume_curve,
    measure_of,
    stack,
    values,
)
from becbo.problems import PROBLEMS, get_pareto, get_single

CHECKPOINTS = (50, 100, 200)


@dataclass(frozen=True)
class Row:
    """One method on one problem, over its seeds."""

    problem: str
    label: str
    seeds: tuple[int, ...]
    known: float  # the optimum, or the best known hypervolume
    best: Array  # (k,) value at the end (infinite: nothing worked), or share of the hypervolume
    regret: Array  # (k, c) at the checkpoints; NaN: the run was shorter
    infeasible: float  # share of the proposals that failed or broke a limit
    first_feasible: float  # median evaluations to the first feasible design
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


def yes(reached: bool) -> str:
    """Whether a goal was reached, as a cell."""
    return "yes" if reached else "**no**"


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


def tables(records: Sequence[Record]) -> list[Table]:
    """The numbers of all finished runs: one table per kind of problem that there is."""
    kinds = (
        [r for r in records if r.is_finished and measure_of(r.run.problem) is measure]
        for measure in (REGRET, HYPERVOLUME_REGRET)
    )
    return [table(kind) for kind in kinds if kind]


def table(records: Sequence[Record]) -> Table:
    """The numbers of the finished runs, on problems of one kind: one objective or several."""
    finished = [record for record in records if record.is_finished]
    if not finished:
        return Table(_header(_VALUES, ()), (), ())
    columns = _COLUMNS[measure_of(finished[0].run.problem).name]
    points = checkpoints(finished)
    found = rows(finished, points)
    labels = sorted({row.label for row in found})
    return Table(
        _header(columns, points),
        tuple(_cells(columns, row) for row in found),
        tuple(_mean_cells(columns, label, found) for label in labels),
    )


def outcome(record: Record) -> str:
    """The end of a run in a few words."""
    if not record.is_finished:
        return "error"
    if not feasible(record).any():
        return "nothing worked"
    if measure_of(record.run.problem) is HYPERVOLUME_REGRET:
        return f"{hypervolume_curve(record)[-1]:.1%} of the best known hypervolume"
    return f"best {np.nanmin(values(record)):.6g}"


def _row(group: Sequence[Record], points: Sequence[int]) -> Row:
    group = sorted(group, key=lambda record: record.run.seed)
    problem = group[0].run.problem
    measure = measure_of(problem)
    columns = _COLUMNS[measure.name]
    curves = stack([measure.curve(record) for record in group])
    return Row(
        problem,
        group[0].run.label,
        tuple(record.run.seed for record in group),
        columns.known(problem),
        best=np.array([columns.final(record) for record in group]),
        regret=np.column_stack([at(curves, n) for n in points]),
        infeasible=float(np.mean([failure_share(feasible(r), r.n_initial) for r in group])),
        first_feasible=float(np.median([first_feasible(feasible(r)) for r in group])),
        seconds=_median(np.concatenate([np.array(record.seconds) for record in group])),
    )


def _median(sample: Array) -> float:
    return float(np.median(sample)) if len(sample) else float("nan")


@dataclass(frozen=True)
class Columns:
    """The columns that differ between one objective and several."""

    header: tuple[str, ...]  # the last one also gets the checkpoints
    known: Callable[[str], float]  # the best known of a problem
    final: Callable[[Record], float]  # the end of a run
    cells: Callable[[Row], tuple[str, ...]]
    mean: Callable[[Sequence[Row]], str]  # of the last column


def _value_cells(row: Row) -> tuple[str, ...]:
    median = float(np.median(row.best))
    return (
        f"{row.known:.6g}",
        f"{_value(median)} ({_value(float(row.best.max()))})",
        _distance(median, row.known),
        _numbers(row.regret.mean(axis=0)),
    )


def _value_mean(found: Sequence[Row]) -> str:
    """Means over problems, as they are and capped."""
    regret = np.mean([row.regret.mean(axis=0) for row in found], axis=0)
    capped = np.mean([np.maximum(row.regret, CAP).mean(axis=0) for row in found], axis=0)
    return f"{_numbers(regret)}, capped at {CAP:g}: {_numbers(capped)}"


def _front_cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row.known:.5g}",
        f"{np.median(row.best):.3f} ({row.best.min():.3f})",
        _numbers(1 - row.regret.mean(axis=0), ".3f"),
    )


def _front_mean(found: Sequence[Row]) -> str:
    return _numbers(np.mean([1 - row.regret.mean(axis=0) for row in found], axis=0), ".3f")


_VALUES = Columns(
    ("optimum", "best: median (worst)", "distance to optimum", "log10 regret"),
    lambda problem: get_single(problem).optimum,
    lambda record: float(best_so_far(values(record))[-1]),
    _value_cells,
    _value_mean,
)
_FRONTS = Columns(
    ("best known hypervolume", "share of it: median (worst)", "mean share"),
    lambda problem: get_pareto(problem).hypervolume,
    lambda record: float(hypervolume_curve(record)[-1]),
    _front_cells,
    _front_mean,
)
_COLUMNS = {REGRET.name: _VALUES, HYPERVOLUME_REGRET.name: _FRONTS}


def _header(columns: Columns, points: Sequence[int]) -> tuple[str, ...]:
    *first, last = columns.header
    at_points = " / ".join(f"@{n}" for n in points)
    return (
        *("problem", "method", "seeds", *first, f"{last} {at_points}".strip()),
        *("infeasible", "first feasible", "s per proposal (median)"),
    )


def _cells(columns: Columns, row: Row) -> tuple[str, ...]:
    return (
        *(row.problem, row.label, str(len(row.seeds)), *columns.cells(row)),
        *(_share(row.infeasible), _value(row.first_feasible), _seconds(row.seconds)),
    )


def _mean_cells(columns: Columns, label: str, found: Sequence[Row]) -> tuple[str, ...]:
    """Means over problems, each of which counts the same however many seeds it has."""
    mine = [row for row in found if row.label == label]
    n_problems = len({row.problem for row in found})
    return (
        *("mean", label, f"{len(mine)} of {n_problems} problems"),
        *("" for _ in columns.header[:-1]),
        columns.mean(mine),
        _share(float(np.mean([row.infeasible for row in mine]))),
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


def _numbers(numbers: Array, form: str = ".2f") -> str:
    return " / ".join("-" if np.isnan(n) else f"{n:{form}}" for n in numbers)


def _share(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.0%}"


def _seconds(seconds: float) -> str:
    return "-" if np.isnan(seconds) else f"{seconds:.3f}"
