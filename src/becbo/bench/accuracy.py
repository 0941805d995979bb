"""How well the classifier of a method knows the edge, measured in the course of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from becbo.arrays import Array, Mask
from becbo.bench.records import Record
from becbo.bench.summary import stack
from becbo.errors import InvalidInput
from becbo.problems import Problem
from becbo.surrogates.base import FeasibilityModel
from becbo.threads import one_thread

if TYPE_CHECKING:
    from becbo.plots.comparison import Panel

DIGITS = 4  # of an accuracy in a record

_PER_CLASS = 5_000  # random points that work, and as many that fail
_BATCH, _N_BATCHES = 10_000, 400  # drawn to find them


@dataclass(frozen=True)
class Probes:
    """Random points, as many that work as fail where enough can be found."""

    U: Array  # (m, dim) as models see them
    feasible: Mask  # (m,)


@lru_cache(maxsize=32)
def probes(problem: Problem) -> Probes:
    """Uniform points of each class: where few designs work, out of 4 million draws.

    Raises:
        InvalidInput: if there is none of a class among them.
    """
    rng = np.random.default_rng(0)
    kept = {label: np.empty((0, problem.dim)) for label in (True, False)}
    for _ in range(_N_BATCHES if problem.feasibility_ratio else 1):  # None: too small to sample
        X = problem.from_unit(rng.random((_BATCH, problem.dim)))
        works = problem.feasible(X)
        for label, known in kept.items():
            kept[label] = np.concatenate([known, X[works == label]])[:_PER_CLASS]
        if all(len(known) == _PER_CLASS for known in kept.values()):
            break
    if not all(map(len, kept.values())):
        raise InvalidInput(
            f"accuracy cannot be measured on {problem.name}: too few random designs work; leave "
            "the problem out, or do not measure it"
        )
    works = np.repeat([True, False], [len(kept[True]), len(kept[False])])
    return Probes(problem.encode(np.concatenate([kept[True], kept[False]])), works)


def mean_class_accuracy(predicted: Mask, feasible: Mask) -> float:  # (m,), (m,)
    """(true positive rate + true negative rate) / 2: a guess has 0.5, however rare success is."""
    return float(np.mean([predicted[feasible].mean(), (~predicted[~feasible]).mean()]))


def balanced_accuracy(classifier: FeasibilityModel, problem: Problem) -> float:
    """How well a classifier separates the designs of a problem."""
    points = probes(problem)
    with one_thread():
        score = classifier.score(points.U)[0]
    return mean_class_accuracy(score >= 0, points.feasible)


def accuracy_curve(record: Record) -> Array:  # (n,)
    """Accuracy after each evaluation of a run; NaN before the first proposal and after the last."""
    n_after = len(record.y) - record.n_initial - len(record.accuracy)
    return np.pad(record.accuracy, (record.n_initial, n_after), constant_values=np.nan)


def accuracy_panels(records: Sequence[Record], problems: Sequence[str]) -> list[Panel]:
    """Per problem what each method's classifiers reached, one line per run."""
    from becbo.plots.comparison import Panel

    panels = []
    for problem in problems:
        lines: dict[str, list[Array]] = {}
        for record in records:
            if record.run.problem == problem and record.accuracy:
                lines.setdefault(record.run.label, []).append(accuracy_curve(record)[:-1])
        if lines:
            panels.append(Panel(problem, {label: stack(group) for label, group in lines.items()}))
    return panels
