"""Random designs: which classifier sees the edge?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from becbo.arrays import Array
from becbo.bench.accuracy import balanced_accuracy
from becbo.bench.plan import Run
from becbo.bench.records import Record
from becbo.bench.replay import GRID, fit, problem_of, snapshot
from becbo.problems import get_single

if TYPE_CHECKING:
    from becbo.plots.landscape import Landscape

CLASSIFIERS = {"be-cbo-gp": "Gaussian process", "be-cbo": "deep ensemble"}  # by their methods


@dataclass(frozen=True)
class Case:
    """One set of random designs and several classifiers fitted to it."""

    name: str  # why this set is shown
    panels: tuple[Landscape, ...]  # one per classifier


@dataclass(frozen=True)
class Cases:
    """Some sets of random designs out of many."""

    names: tuple[str, ...]  # of the k classifiers
    cases: tuple[Case, ...]
    accuracy: Array  # (k, n_sets) on all sets

    @property
    def summary(self) -> str:
        """All sets in a sentence."""
        means = ", ".join(
            f"{mean:.1%} ({name})"
            for name, mean in zip(self.names, self.accuracy.mean(axis=1), strict=True)
        )
        n_ahead = (self.accuracy[1] > self.accuracy[0]).sum()
        return (
            f"over {self.accuracy.shape[1]} random sets, the {self.names[1]} is ahead on {n_ahead};"
            f"\nmean accuracy {means}"
        )


def random_record(problem: str, method: str, seed: int, n: int) -> Record:
    """n random designs, as if a method had tried them."""
    p = get_single(problem)
    X = p.from_unit(np.random.default_rng(seed).random((n, p.dim)))
    y = np.where(p.feasible(X), p.objective(X), np.nan)
    run = Run(problem, method, method, {}, seed, n, "honest")
    results = tuple(None if np.isnan(value) else value for value in y.tolist())
    return Record(run, p.variant, x=tuple(map(tuple, X.tolist())), y=results)


def classifier_cases(
    problem: str = "lsq",
    n: int = 50,
    n_sets: int = 20,
    classifiers: Mapping[str, str] = CLASSIFIERS,
    n_grid: int = GRID,
) -> Cases:
    """Three of many sets of n random designs, chosen by how well two classifiers do on them.

    `classifiers` are names by the method that has them; the first two decide.
    """
    records = [[random_record(problem, m, s, n) for s in range(n_sets)] for m in classifiers]
    accuracy = np.array([[_accuracy(r, n) for r in row] for row in records])
    names = tuple(classifiers.values())

    def panel(k: int, i: int) -> Landscape:
        shown = snapshot(records[k][i], n, n_grid)
        title = f"{names[k]}\nbalanced accuracy {accuracy[k, i]:.0%}"
        return replace(shown, objective=None, best=None, bound=None, n_initial=0, title=title)

    reasons = f"{names[1]}\nis ahead by most", f"{names[0]}\nis ahead by most", "both do well"
    cases = tuple(
        Case(f"{reason} (set {i})", tuple(panel(k, i) for k in range(len(names))))
        for reason, i in zip(reasons, choose_cases(*accuracy[:2]), strict=True)
    )
    return Cases(names, cases, accuracy)


def _accuracy(record: Record, n: int) -> float:
    _, models = fit(record, n)
    return balanced_accuracy(models.feasibility, problem_of(record))


def choose_cases(first: Array, second: Array) -> tuple[int, ...]:  # (n,), (n,)
    """Sets on which the second classifier is ahead by most, the first is, and both do well."""
    chosen: list[int] = []
    for score in (second - first, first - second, np.minimum(first, second)):
        order = np.argsort(-score, kind="stable").tolist()
        chosen.append(next(i for i in order if i not in chosen))
    return tuple(chosen)
