"""Records sorted for a report: one section per suite, each a small comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from becbo.arrays import Array
from becbo.bench.plan import SUITES, Suite
from becbo.bench.records import Record
from becbo.bench.summary import (
    HYPERVOLUME_REGRET,
    REGRET,
    Measure,
    at,
    best_so_far,
    hypervolume_curve,
    measure_of,
    stack,
    values,
)


@dataclass(frozen=True)
class Section:
    """Methods compared on problems, with the finished runs of each."""

    name: str
    summary: str
    problems: tuple[str, ...]
    labels: tuple[str, ...]
    records: tuple[Record, ...]
    unchanged: str | None = None  # the method that an ablation changes

    @cached_property
    def _runs(self) -> dict[tuple[str, str], list[Record]]:
        runs: dict[tuple[str, str], list[Record]] = {}
        for record in sorted(self.records, key=lambda record: record.run.seed):
            runs.setdefault((record.run.problem, record.run.label), []).append(record)
        return runs

    def of(self, problem: str, label: str) -> list[Record]:
        """The runs of a method on a problem, by seed."""
        return self._runs.get((problem, label), [])

    @property
    def measure(self) -> Measure:
        """How quality is measured on the problems of the section, which are of one kind."""
        return measure_of(self.problems[0])

    @property
    def horizon(self) -> int:
        """Evaluations that every method has reached."""
        budgets = [
            max(r.run.budget for r in self.records if r.run.label == label) for label in self.labels
        ]
        return min(budgets)

    @property
    def reference(self) -> str:
        """The method that the others are compared with."""
        preferred = (self.unchanged, "edge", "be-cbo", "be-cbo-v1")
        return next((label for label in preferred if label in self.labels), self.labels[0])

    def best(self, problem: str, label: str) -> Array:  # (k, n)
        """Best value after each evaluation, one row per run."""
        return stack([best_so_far(values(record)) for record in self.of(problem, label)])

    def hypervolume(self, problem: str, label: str) -> Array:  # (k, n)
        """Share of the best known hypervolume after each evaluation, one row per run."""
        return stack([hypervolume_curve(record) for record in self.of(problem, label)])

    def regret(self, problem: str, label: str) -> Array:  # (k, n)
        """Regret after each evaluation, by `measure`; one row per run."""
        return stack([self.measure.curve(record) for record in self.of(problem, label)])

    def seconds(self, problem: str, label: str) -> Array:  # (k, n)
        """Processor time spent on proposals so far; the initial design costs nothing."""
        return stack(
            [
                np.concatenate([np.zeros(record.n_initial), np.cumsum(record.seconds)])
                for record in self.of(problem, label)
            ]
        )

    def scores(self, problem: str, label: str) -> dict[int, float]:
        """Regret at the horizon, by seed."""
        runs, curves = self.of(problem, label), self.regret(problem, label)
        reached = zip(runs, at(curves, self.horizon), strict=True)
        return {run.run.seed: float(score) for run, score in reached if np.isfinite(score)}

    def shared_seeds(self, problem: str) -> list[int]:
        """The seeds on which every method has a run that reaches the horizon."""
        there = [self.scores(problem, label).keys() for label in self.labels]
        return sorted(set.intersection(*map(set, there)))

    def pairs(self, a: str, b: str) -> dict[str, tuple[Array, Array]]:
        """Per problem the scores of two methods on the seeds they share, (k,) and (k,)."""
        pairs = {}
        for problem in self.problems:
            mine, theirs = self.scores(problem, a), self.scores(problem, b)
            seeds = sorted(mine.keys() & theirs.keys())
            if seeds:
                scores = [np.array([side[seed] for seed in seeds]) for side in (mine, theirs)]
                pairs[problem] = scores[0], scores[1]
        return pairs

    @property
    def compared(self) -> tuple[str, ...]:
        """The problems on which every method has a run that reaches the horizon."""
        methods = self.labels
        return tuple(p for p in self.problems if all(self.scores(p, label) for label in methods))


def sections(records: Iterable[Record]) -> list[Section]:
    """One section per suite that has something to show, then problems outside all suites.

    A method that no suite has on a problem appears wherever that problem is and methods are told
    as much as it was. A suite of which only runs are there that an earlier one has as well has
    nothing to add.
    """
    finished = [record for record in records if record.is_finished]
    in_suites = {
        (problem, label)
        for suite in SUITES.values()
        for problem in suite.problems
        for label in suite.labels
    }
    found: list[Section] = []
    seen: set[tuple[str, str, int]] = set()  # runs that an earlier suite has
    for suite in SUITES.values():
        told = {variant.measured for variant in suite.variants}
        mine = [
            r
            for r in finished
            if r.run.problem in suite.problems
            and r.run.measured in told
            and (r.run.label in suite.labels or (r.run.problem, r.run.label) not in in_suites)
        ]
        if suite.reference is not None:
            mine = _of_one_version(suite, mine)
        section = _section(
            suite.name, suite.summary, suite.problems, suite.labels, mine, suite.reference
        )
        keys = {record.run.key for record in mine}
        if section and not keys <= seen:
            found.append(section)
        seen |= keys
    known = {problem for suite in SUITES.values() for problem in suite.problems}
    others = [record for record in finished if record.run.problem not in known]
    for name, measure in (("others", REGRET), ("pareto-others", HYPERVOLUME_REGRET)):
        rest = [record for record in others if measure_of(record.run.problem) is measure]
        problems = tuple(dict.fromkeys(record.run.problem for record in rest))
        section = _section(name, "problems outside the suites", problems, (), rest)
        found += [section] if section else []
    return found


def _of_one_version(suite: Suite, records: Sequence[Record]) -> list[Record]:
    """The runs of an ablation without those of earlier rules, or these until two variants ran."""
    there = {record.run.label for record in records}
    present = {variant.label for variant in suite.variants} & there
    left_out = present if len(present) < 2 and there & set(suite.earlier) else set(suite.earlier)
    return [record for record in records if record.run.label not in left_out]


def _section(
    name: str,
    summary: str,
    problems: Sequence[str],
    labels: Sequence[str],
    records: Sequence[Record],
    unchanged: str | None = None,
) -> Section | None:
    if not records:
        return None
    runs = [record.run for record in records]
    methods = {p: {run.label for run in runs if run.problem == p} for p in problems}
    # With something to compare, a problem that only one method has run on says nothing.
    least = min(2, max(map(len, methods.values())))
    names = tuple(p for p in problems if len(methods[p]) >= least)
    kept = tuple(record for record in records if record.run.problem in names)
    there = list(dict.fromkeys(record.run.label for record in kept))
    ordered = [label for label in labels if label in there]
    ordered += [label for label in there if label not in labels]
    return Section(name, summary, names, tuple(ordered), kept, unchanged)
