"""What the default method was meant to reach on the paper's problems, and whether it did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from becbo.arrays import Array
from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.report import standing
from becbo.bench.sections import Section, sections
from becbo.bench.summary import (
    CAP,
    bootstrap_interval,
    feasible,
    first_feasible,
    values,
    with_interval,
)
from becbo.bench.table import Table, yes
from becbo.problems import get

MEANS = {100: -2.8, 200: -3.2}  # evaluations: mean capped log10 regret
GAP = 1.5  # to be-cbo
VALUES = {
    "lsq": 0.601,
    "townsend": -2.02,
    "simionescu": -0.0719,
    "three_bar_truss": 263.92,
    "spring": 0.0129,
    "speed_reducer": 3000.0,
    "gas_transmission": 2.97e6,
    "pressure_vessel": 5950.0,
    "welded_beam": 2.60,
}
RARE = ("spring", "speed_reducer", "rolling_bearing", "planetary_gear", "batch_plant")


def capped(section: Section, label: str, n: int) -> dict[str, Array]:
    """Regrets after n evaluations, by problem with runs, one per run."""
    return {
        p: np.maximum(section.regret(p, label)[:, n - 1], CAP)
        for p in section.problems
        if section.of(p, label)
    }


def table(records: Sequence[Record], honest: Sequence[Record]) -> str:
    """A row per goal: what was to be reached, what was, whether."""
    found = {section.name: section for section in sections(records)}
    paper = found["paper"]
    unaided = {section.name: section for section in sections(honest)}["paper"]
    rows = [mean_goal(paper, n, goal) for n, goal in MEANS.items()]
    rows += [mean_goal(unaided, n, goal, ", honest protocol") for n, goal in MEANS.items()]
    rows += [gap_goal(paper, "be-cbo-v1", GAP)]
    rows += [everywhere_goal(paper)]
    rows += [everywhere_goal(unaided, ", honest protocol")]
    rows += [area_goal(found[name]) for name in ("paper", "tuning") if name in found]
    rows += [area_goal(unaided, ", honest protocol")]
    rows += [interior_goal(found["interior"])] if "interior" in found else []
    rows += [value_goal(paper, problem, limit) for problem, limit in VALUES.items()]
    return Table(("goal", "measured", "reached"), tuple(rows), ()).markdown()


def mean_goal(section: Section, n: int, goal: float, how: str = "") -> tuple[str, ...]:
    scores = list(capped(section, "edge", n).values())
    mean, (low, high) = np.mean([s.mean() for s in scores]), bootstrap_interval(scores)
    measured = with_interval(float(mean), low, high)
    return (f"mean regret after {n} evaluations at most {goal}{how}", measured, yes(mean <= goal))


def gap_goal(section: Section, other: str, goal: float) -> tuple[str, ...]:
    pairs = section.pairs("edge", other)
    gaps = [np.maximum(b, CAP) - np.maximum(a, CAP) for a, b in pairs.values()]
    mean = float(np.mean([gap.mean() for gap in gaps]))
    measured = (
        f"{with_interval(mean, *bootstrap_interval(gaps))} on {len(pairs)} problems, "
        f"{sum(map(len, gaps))} runs"
    )
    reached = mean >= goal and len(pairs) == len(section.problems)
    return (f"at least {goal} below {other}", measured, yes(reached))


def everywhere_goal(section: Section, how: str = "") -> tuple[str, ...]:
    """Whether no other method is better on any problem by more than chance (95 % intervals)."""
    n = section.horizon
    mine, worse, open_ = capped(section, "edge", n), [], []
    for other in section.labels:
        for problem, scores in capped(section, other, n).items():
            if scores.mean() < mine[problem].mean():
                if len(scores) == 1:  # no interval
                    open_.append(f"{other} on {problem}")
                elif bootstrap_interval([scores])[1] < bootstrap_interval([mine[problem]])[0]:
                    worse.append(f"{other} on {problem}")
    measured = "beaten by " + ", ".join(worse) if worse else "nowhere beaten"
    if open_:
        measured += f"; better in a single run, which decides nothing: {', '.join(open_)}"
    goal = f"no method better on any problem, beyond the intervals{how}"
    return (goal, measured, "not decided" if open_ and not worse else yes(not worse))


def area_goal(section: Section, how: str = "") -> tuple[str, ...]:
    """Whether edge reaches most targets soonest."""
    first, second = standing(section).rows[:2]
    measured = f"{first[0]} {first[1]}, then {second[0]} {second[1]}"
    goal = f"largest area under the targets of all methods, suite {section.name}{how}"
    return (goal, measured, yes(first[0] == "edge"))


def interior_goal(section: Section) -> tuple[str, ...]:
    """Whether edge is no worse than the paper's method where the optimum is not at the edge."""
    pairs = section.pairs("edge", "be-cbo-v1").values()
    gaps = [np.maximum(a, CAP) - np.maximum(b, CAP) for a, b in pairs]
    low, high = bootstrap_interval(gaps)
    mean = float(np.mean([gap.mean() for gap in gaps]))
    measured = f"{with_interval(mean, low, high, '+.2f')} on {len(gaps)} problems"
    return ("difference to be-cbo on the suite interior at most 0", measured, yes(mean <= 0))


def value_goal(section: Section, problem: str, limit: float) -> tuple[str, ...]:
    best = section.best(problem, "edge")[:, -1]
    hits = int((best < limit).sum())
    measured = f"{hits} of {len(best)}; median {np.median(best):.6g}, best {best.min():.6g}"
    reached = hits >= 0.8 * len(best)
    if not reached:
        away = [distance_left(record) for record in section.of(problem, "edge")]
        measured += f"; {np.median(away):.0%} of the box away"
    goal = f"{problem} below {limit:g} in 8 of 10 runs (optimum {get(problem).optimum:.6g})"
    return goal, measured, yes(reached)


def distance_left(record: Record) -> float:
    """From the best design of a run to the nearest optimum: the furthest parameter, in the box."""
    problem = get(record.run.problem)
    names = problem.space.names
    best = record.x[int(np.nanargmin(values(record)))]
    rows = [dict(zip(names, x, strict=True)) for x in (best, *problem.optimizers)]
    found, *optima = problem.space.encode(rows)
    return float(min(np.abs(found - optimum).max() for optimum in optima))


TOLD = "all-reasons"  # the label of `edge` with failures that name every limit they broke


def told_limits(records: Sequence[Record]) -> str:
    """How long the first success takes and where runs end, with reasons and without."""
    rows = []
    for problem in RARE:
        cells: list[str] = []
        for label in (TOLD, "edge"):
            runs = [r for r in records if r.run.key[:2] == (problem, label)]
            first = np.median([first_feasible(feasible(r)) for r in runs])
            best = np.median([np.nanmin(values(r), initial=np.inf) for r in runs])
            cells += [f"{first:.0f}", f"{best:.6g}"]
        rows.append(
            (problem, cells[0], cells[2], cells[1], cells[3], f"{get(problem).optimum:.6g}")
        )
    header = ("problem", "first success, told", "untold", "best, told", "untold", "optimum")
    return Table(header, tuple(rows), ()).markdown()


def first_success(records: Sequence[Record]) -> str:
    """Evaluations to the first success on the problems where they are many."""
    rare = [record for record in records if record.run.problem in RARE]
    there = {record.run.label for record in rare}
    labels = [label for label in SUITES["paper"].labels if label in there]
    rows = []
    for problem in RARE:
        runs = [r for r in rare if r.run.problem == problem]
        found = {
            label: [first_feasible(feasible(r)) for r in runs if r.run.label == label]
            for label in labels
        }
        medians = {label: np.median(firsts) for label, firsts in found.items() if firsts}
        share = get(problem).feasibility_ratio
        uniform = f"{np.log(2) / share:.0f}" if share else "millions"
        is_half = yes(medians["edge"] <= medians["sobol"] / 2 and np.isfinite(medians["edge"]))
        cells = (f"{medians[label]:.0f}" if label in medians else "" for label in labels)
        rows.append((problem, *cells, uniform, is_half))
    header = ("problem", *labels, "random", "edge at most half of sobol")
    return Table(header, tuple(rows), ()).markdown()
