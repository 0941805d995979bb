"""Tables and figures of the suites with several outputs, for `report.py`.

Quick methods have run five seeds of 100 evaluations. Tools that take seconds per proposal have run
one seed of 30, some of them not on all problems; they are compared with everything else on the
same problems, the same seed and as many evaluations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from becbo.arrays import Array
from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.summary import (
    CAP,
    HYPERVOLUME_REGRET,
    bootstrap_interval,
    failure_share,
    feasible,
    measure_of,
    with_interval,
)
from becbo.bench.table import Table, table

OUTPUTS = ("pareto", "pareto-measured", "measured")
WHOLE, SHORT = 100, 30  # evaluations of quick methods, and of slow ones
SEED = 0  # the one that slow tools have run
_OURS, _OTHERS = "#0072b2", "#555555"


def text(suite: str, records: Sequence[Record], image: str) -> str:
    """One suite: methods over all problems, then all tools side by side, then every problem."""
    shared = problems_of_all(short_runs(suite, records))
    whole = whole_runs(suite, records)
    each = table(whole)
    return "\n\n".join(
        [
            f"**{suite}** ({SUITES[suite].summary}):",
            _means(whole).markdown(),
            f"All tools, seed {SEED} and the first {SHORT} evaluations of every run. The mean is "
            f"over the\n{len(shared)} problems that all of them have run "
            f"({', '.join(shared)}).\nWhere a tool has run more, the last columns compare it with "
            f"`{_reference(suite)}` on all that it has run.",
            tools_table(suite, records).markdown(),
            f"![Quality, failures and time of all tools]({image})",
            problems_table(suite, records).markdown(),
            "Every problem after 50 and 100 evaluations:",
            Table(each.header, each.rows, ()).markdown(),
        ]
    )


def whole_runs(suite: str, records: Iterable[Record]) -> list[Record]:
    """The runs of methods that have run all problems to the end."""
    long = [record for record in records if record.run.budget >= WHOLE]
    there = {(record.run.label, record.run.problem) for record in long}
    partial = {
        label
        for label, _ in there
        if any((label, problem) not in there for problem in SUITES[suite].problems)
    }
    return [record for record in long if record.run.label not in partial]


@dataclass(frozen=True)
class Short:
    """The first evaluations of one run."""

    label: str
    problem: str
    end: float  # share of the hypervolume, or capped log10 regret
    infeasible: float  # share of the proposals
    seconds: Array  # (k,) per proposal


def short_runs(suite: str, records: Iterable[Record]) -> list[Short]:
    """What all tools can be compared by, in the order of the suite's problems."""
    found = [r for r in records if r.run.seed == SEED and r.run.budget >= SHORT]
    order = SUITES[suite].problems
    found.sort(key=lambda record: (record.run.label, order.index(record.run.problem)))
    return [
        Short(
            r.run.label,
            r.run.problem,
            _end(r, SHORT),
            failure_share(feasible(r)[:SHORT], r.n_initial),
            np.array(r.seconds[: SHORT - r.n_initial]),
        )
        for r in found
    ]


def problems_of_all(runs: Sequence[Short]) -> list[str]:
    """The problems that every label has run, in the order of the runs."""
    labels = {run.label for run in runs}
    there = {(run.label, run.problem) for run in runs}
    every = dict.fromkeys(run.problem for run in runs)
    return [problem for problem in every if all((label, problem) in there for label in labels)]


@dataclass(frozen=True)
class Standing:
    """A tool on some problems."""

    label: str
    mean: float
    infeasible: float
    seconds: float  # per proposal, median
    n_problems: int


def standings(runs: Sequence[Short], problems: Sequence[str]) -> list[Standing]:
    """Every tool on these problems, as far as it has run them, the best first."""
    found = []
    for label in dict.fromkeys(run.label for run in runs):
        mine = [run for run in runs if run.label == label and run.problem in problems]
        if mine:
            found.append(
                Standing(
                    label,
                    float(np.mean([run.end for run in mine])),
                    float(np.mean([run.infeasible for run in mine])),
                    float(np.median(np.concatenate([run.seconds for run in mine]))),
                    len(mine),
                )
            )
    return sorted(found, key=lambda s: s.mean, reverse=_more_is_better(problems))


def tools_table(suite: str, records: Iterable[Record]) -> Table:
    """All tools on the problems that all have run, and each beside ours on its own problems."""
    runs = short_runs(suite, records)
    reference = _reference(suite)
    rows = []
    for s in standings(runs, problems_of_all(runs)):
        own = [run.problem for run in runs if run.label == s.label]
        sides = {t.label: t.mean for t in standings(runs, own) if t.label in (s.label, reference)}
        rows.append(
            (
                *(s.label, f"{s.mean:.3f}", f"{s.infeasible:.0%}", f"{s.seconds:.2f}"),
                *(str(len(own)), f"{sides[s.label]:.3f}", f"{sides[reference]:.3f}"),
            )
        )
    header = (
        *("method", f"mean after {SHORT}", "infeasible", "s per proposal (median)"),
        *("problems it has run", "mean on them", f"`{reference}` on them"),
    )
    return Table(header, tuple(rows), ())


def problems_table(suite: str, records: Iterable[Record]) -> Table:
    """Every tool on every problem."""
    runs = short_runs(suite, records)
    ends = {(run.label, run.problem): f"{run.end:.3f}" for run in runs}
    problems = [p for p in SUITES[suite].problems if any(run.problem == p for run in runs)]
    labels = dict.fromkeys(run.label for run in runs)
    rows = [(label, *(ends.get((label, p), "-") for p in problems)) for label in labels]
    return Table((f"after {SHORT}", *problems), tuple(rows), ())


def tools_figure(suite: str, records: Iterable[Record]) -> Figure:
    """One line per tool, the best on top: quality, share of failures, seconds per proposal."""
    runs = short_runs(suite, records)
    problems = problems_of_all(runs)
    found = standings(runs, problems)[::-1]
    own = {variant.label for variant in SUITES[suite].variants}
    colours = [_OURS if s.label in own else _OTHERS for s in found]
    figure = Figure(figsize=(9.0, 0.9 + 0.27 * len(found)), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    quality = "share of the hypervolume" if _more_is_better(problems) else "log10 regret"
    columns = {
        f"{quality} after {SHORT}": [s.mean for s in found],
        "infeasible proposals": [s.infeasible for s in found],
        "seconds per proposal": [max(s.seconds, 1e-3) for s in found],
    }
    for ax, (name, numbers) in zip(axes, columns.items(), strict=True):
        ax.scatter(numbers, range(len(found)), c=colours, s=36, zorder=2)
        ax.set_xlabel(name)
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(found)), [s.label for s in found])
    axes[1].xaxis.set_major_formatter(PercentFormatter(1.0))
    axes[1].set_xlim(-0.03, 1.03)
    axes[2].set_xscale("log")
    figure.suptitle(f"{suite}: all tools on {len(problems)} problems, one run each", fontsize=11)
    return figure


def draw(suite: str, records: Iterable[Record], folder: Path) -> str:
    """Draws the figure of a suite; returns its name."""
    name = f"{suite}-tools.png"
    tools_figure(suite, records).savefig(folder / name, dpi=90)
    return name


def _means(records: Sequence[Record]) -> Table:
    """Methods over all problems, with intervals over their runs."""
    rows = []
    for label in sorted({record.run.label for record in records}):
        mine = [record for record in records if record.run.label == label]
        problems = sorted({record.run.problem for record in mine})
        ends = [np.array([_end(r, WHOLE) for r in mine if r.run.problem == p]) for p in problems]
        mean = with_interval(
            float(np.mean([e.mean() for e in ends])), *bootstrap_interval(ends), form=".3f"
        )
        failed = np.mean([failure_share(feasible(r), r.n_initial) for r in mine])
        seconds = np.median(np.concatenate([r.seconds for r in mine]))
        rows.append((label, mean, f"{failed:.0%}", f"{seconds:.2f}", str(len(mine))))
    header = (
        *("method", f"mean after {WHOLE} (95 %)", "infeasible", "s per proposal (median)"),
        "runs",
    )
    return Table(header, tuple(rows), ())


def _end(record: Record, n: int) -> float:
    """Where a run is after n evaluations: share of the hypervolume, or capped regret."""
    measure = measure_of(record.run.problem)
    regret = float(measure.curve(record)[n - 1])
    return 1 - regret if measure is HYPERVOLUME_REGRET else max(regret, CAP)


def _more_is_better(problems: Sequence[str]) -> bool:
    return all(measure_of(problem) is HYPERVOLUME_REGRET for problem in problems)


def _reference(suite: str) -> str:
    """Our own method on a suite."""
    return SUITES[suite].variants[0].label
