"""How much of the evidence on the paper was asked for, how much is there, what the rest costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.table import Table

_HIGH = ("edge", "be-cbo-code", "be-cbo-code-c")
_EIGHT = (  # of 2 to 10 dimensions
    *("townsend", "simionescu", "lsq", "three_bar_truss"),
    *("spring", "welded_beam", "speed_reducer", "rolling_bearing"),
)
_WIDTHS = ("width-16", "width-32", "hidden-2", "width-128")
_CODE = "be-cbo-code-"  # and the change, such as hidden-1
_RECENT = 10  # proposals whose pace a longer run goes on with

Paces = Mapping[str, Mapping[str, float]]  # label -> problem -> seconds of a run


@dataclass(frozen=True)
class Asked:
    """Runs that were asked for; no methods or problems named: all of the suite."""

    suite: str
    methods: tuple[str, ...]
    seeds: int
    budget: int
    problems: tuple[str, ...] = ()
    with_accuracy: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        return self.methods or tuple(variant.label for variant in SUITES[self.suite].variants)

    @property
    def where(self) -> tuple[str, ...]:
        return self.problems or SUITES[self.suite].problems

    def is_met_by(self, record: Record, label: str) -> bool:
        run = record.run
        return (
            run.problem in self.where
            and run.label == label
            and run.seed < self.seeds
            and len(record.y) >= self.budget
            and (record.has_accuracy or not self.with_accuracy)
        )


ASKED = (
    Asked("paper", ("be-cbo-code", "be-cbo-search", "be-cbo", "cei", "scbo"), 10, 200),
    Asked("paper", ("be-cbo-code", "be-cbo-code-gp"), 10, 200, with_accuracy=True),
    Asked("interior", ("edge", "be-cbo", "be-cbo-c", "cei", "scbo"), 10, 200),
    Asked("highdim", _HIGH, 5, 200),
    Asked("ackley", _HIGH, 5, 200),
    *(
        Asked(f"ablation-{n}", (), 5, 100)
        for n in ("band", "training", "acquisition", "classifier")
    ),
    *(Asked(f"ablation-{n}", (), 3, 100, _EIGHT) for n in ("networks", "layers", "lr")),
    Asked("ablation-width", tuple(f"be-cbo-code-{n}" for n in _WIDTHS), 3, 100, _EIGHT),
)


def table(records: Sequence[Record], others: Sequence[Record] = ()) -> str:
    """A row per suite and method that was asked for: what is there, what is left and its hours.

    Records of `others` tell the pace of methods that have not run otherwise.
    """
    rows = []
    known = {record.run.label.removesuffix("-v1") for record in records}
    unknown = [record for record in others if record.run.label not in known]
    for asked in ASKED:
        paces = paces_of([*records, *unknown], asked.budget)
        for label in asked.labels:
            there = [record for record in records if asked.is_met_by(record, label)]
            before = sum(asked.is_met_by(record, earlier(label)) for record in records)
            size = f"{len(asked.where)} x {asked.seeds} x {asked.budget}"
            n = asked.seeds * len(asked.where)
            rows.append(
                (
                    asked.suite + (", with accuracy" if asked.with_accuracy else ""),
                    label,
                    size,
                    f"{len(there)} of {n}" + (f"; {before} of {earlier(label)}" if before else ""),
                    seeds_there(asked, there),
                    f"{sum(np.sum(record.seconds) for record in there) / 3600:.1f}",
                    f"{hours_left(asked, label, there, paces):.1f}" if len(there) < n else "none",
                )
            )
    header = (
        "suite",
        "method",
        "problems x seeds x evaluations",
        "runs there",
        "seeds",
        "hours",
        "left",
    )
    return Table(header, tuple(rows), ()).markdown()


def seeds_there(asked: Asked, there: Sequence[Record]) -> str:
    """How many seeds there are of each problem: all the same, or the fewest and the most."""
    counts = [sum(record.run.problem == problem for record in there) for problem in asked.where]
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def hours_left(asked: Asked, label: str, there: Sequence[Record], paces: Paces) -> float:
    """Processor hours of the runs that are not there."""
    done = {record.run.key for record in there}
    left = [
        problem
        for problem in asked.where
        for seed in range(asked.seeds)
        if (problem, label, seed) not in done
    ]
    return sum(seconds_of(label, problem, paces) for problem in left) / 3600


def seconds_of(label: str, problem: str, paces: Paces) -> float:
    """What a run takes, as far as records tell.

    Of the method itself, or of its version before, on the problem. Otherwise of the method with the
    most problems in common, times how much dearer this one is on those; NaN if there is none. A
    variant of be-cbo-code that has not run is as dear as cei, if its classifier is that of cei, or
    as be-cbo-code, times how much dearer the same change made be-cbo.
    """
    own = paces.get(f"{label}-v1", {}) | paces.get(label, {})
    if not own and label.startswith(_CODE):
        if label.endswith("-gp"):
            return seconds_of("cei", problem, paces)
        change = dearer(paces.get(earlier(label), {}), paces.get("be-cbo-v1", {}))
        return seconds_of("be-cbo-code", problem, paces) * change
    if problem in own:
        return own[problem]
    guesses = []
    for other in paces.values():
        shared = own.keys() & other.keys()
        if shared and problem in other:
            guesses.append((len(shared), other[problem] * dearer(own, other)))
    if guesses:
        return max(guesses)[1]
    return float(np.mean(list(own.values()))) if own else float("nan")


def earlier(label: str) -> str:
    """The version before: changes were made to be-cbo then, and to be-cbo-code now."""
    return f"{label.replace(_CODE, 'be-cbo-')}-v1"


def dearer(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """How much dearer a method is than another on the problems that both ran on; 1 if none."""
    ratios = [
        np.log(one[problem] / other[problem]) for problem in sorted(one.keys() & other.keys())
    ]
    return float(np.exp(np.mean(ratios))) if ratios else 1.0


def paces_of(records: Sequence[Record], budget: int) -> Paces:
    """The mean seconds of a run of so many evaluations, per label and problem."""
    seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record.seconds:
            spent = seconds_at(record, budget)
            seconds[record.run.label][record.run.problem].append(spent)
    return {
        label: {problem: float(np.mean(times)) for problem, times in by_problem.items()}
        for label, by_problem in seconds.items()
    }


def seconds_at(record: Record, budget: int) -> float:
    """Of the proposals of a run cut at the budget, or continued at the pace of the last ones.

    Proposals get slower, so for a continued one it is too little.
    """
    n = budget - record.n_initial
    missing = max(n - len(record.seconds), 0)
    return float(np.sum(record.seconds[:n]) + missing * np.mean(record.seconds[-_RECENT:]))
