"""How well the classifiers of recorded runs knew the edge, in the course of the runs."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from becbo.arrays import Array, Mask
from becbo.bench.lines import append_line, read_lines
from becbo.bench.records import Record
from becbo.bench.replay import can_replay, fit, problem_of
from becbo.bench.run import watch_parent
from becbo.extras import needed_extras
from becbo.problems import PROBLEMS, Problem
from becbo.threads import one_thread

if TYPE_CHECKING:
    from becbo.plots.comparison import Panel

Task = tuple[Record, tuple[int, ...]]  # a run, and after how many evaluations to test it
Key = tuple[str, str, int]  # of a run

CURVES = "accuracy.jsonl"
SCARCE = 1e-5  # of a smaller working share, random points say nothing

_PER_CLASS = 5_000  # random points that work, and as many that fail
_BATCH, _N_BATCHES = 10_000, 400  # drawn to find them


@dataclass(frozen=True)
class Probes:
    """Random points, as many that work as fail where enough can be found."""

    U: Array  # (m, dim) as models see them
    feasible: Mask  # (m,)


@dataclass(frozen=True)
class Curve:
    """Balanced accuracy of a run's classifier after some numbers of evaluations."""

    key: Key
    accuracy: Mapping[int, float]
    seconds: float = 0.0  # to compute it


@lru_cache(maxsize=32)
def probes(problem: Problem) -> Probes:
    """Uniform points of each class: where few designs work, out of 4 million draws."""
    rng = np.random.default_rng(0)
    kept = {label: np.empty((0, problem.dim)) for label in (True, False)}
    for _ in range(_N_BATCHES):
        X = problem.from_unit(rng.random((_BATCH, problem.dim)))
        works = problem.feasible(X)
        for label, known in kept.items():
            kept[label] = np.concatenate([known, X[works == label]])[:_PER_CLASS]
        if all(len(known) == _PER_CLASS for known in kept.values()):
            break
    works = np.repeat([True, False], [len(kept[True]), len(kept[False])])
    return Probes(problem.encode(np.concatenate([kept[True], kept[False]])), works)


def mean_class_accuracy(predicted: Mask, feasible: Mask) -> float:  # (m,), (m,)
    """(true positive rate + true negative rate) / 2: a guess has 0.5, however rare success is."""
    return float(np.mean([predicted[feasible].mean(), (~predicted[~feasible]).mean()]))


def balanced_accuracy(record: Record, n: int) -> float:
    """How well the classifier of a run separated the space after n evaluations."""
    points = probes(problem_of(record))
    _, models = fit(record, n)
    with one_thread():
        score = models.feasibility.score(points.U)[0]
    return mean_class_accuracy(score >= 0, points.feasible)


def measure(record: Record, counts: Sequence[int]) -> Curve:
    """The balanced accuracy of a run after each of the given numbers of evaluations."""
    begin = time.perf_counter()
    accuracy = {n: round(balanced_accuracy(record, n), 4) for n in counts}
    return Curve(record.run.key, accuracy, round(time.perf_counter() - begin, 3))


def measure_all(tasks: Iterable[Task], jobs: int = 1) -> Iterator[Curve]:
    """The curves of many runs, each as soon as it is there."""
    if jobs == 1:
        yield from (measure(*task) for task in tasks)
        return
    with needed_extras():
        import joblib
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(_work)(*task) for task in tasks)


def _work(record: Record, counts: Sequence[int]) -> Curve:
    """`measure` in a process of its own, which does not outlive the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_parent()
    return measure(record, counts)


def unmeasured(records: Iterable[Record], known: Mapping[Key, Curve], every: int) -> list[Task]:
    """Runs with the numbers of evaluations whose accuracy is not known yet, seed by seed."""
    tasks = []
    for record in sorted(filter(can_replay, records), key=lambda record: record.run.seed):
        there = known[record.run.key].accuracy if record.run.key in known else {}
        wanted = range(max(record.n_initial, 1), len(record.y) + 1, every)
        counts = tuple(n for n in wanted if n not in there)
        if record.is_finished and counts and (problem_of(record).feasibility_ratio or 0) >= SCARCE:
            tasks.append((record, counts))
    return tasks


def write_curve(folder: Path, curve: Curve) -> None:
    """Adds what was measured to the folder's file."""
    problem, label, seed = curve.key
    line = {"problem": problem, "label": label, "seed": seed}
    line |= {"accuracy": curve.accuracy, "seconds": curve.seconds}
    append_line(folder / CURVES, line)


def read_curves(folder: Path) -> dict[Key, Curve]:
    """What has been measured, by run; all lines of a run together."""
    curves: dict[Key, Curve] = {}
    path = folder / CURVES
    for line in read_lines(path, []) if path.exists() else ():
        key = line["problem"], line["label"], line["seed"]
        accuracy = {int(n): value for n, value in line["accuracy"].items()}
        before = curves.get(key, Curve(key, {}))
        curves[key] = Curve(key, {**before.accuracy, **accuracy}, before.seconds + line["seconds"])
    return curves


def accuracy_panels(curves: Iterable[Curve]) -> list[Panel]:
    """Per problem what each method's classifiers reached, one line per run."""
    from becbo.plots.comparison import Panel

    groups: dict[str, dict[str, list[Curve]]] = {}
    for curve in sorted(curves, key=lambda curve: curve.key):
        problem, label, _ = curve.key
        groups.setdefault(problem, {}).setdefault(label, []).append(curve)
    return [
        Panel(name, {label: accuracy_lines(runs) for label, runs in groups[name].items()})
        for name in (*PROBLEMS, *sorted(set(groups) - set(PROBLEMS)))
        if name in groups
    ]


def accuracy_lines(curves: Iterable[Curve]) -> Array:  # (k, n)
    """One row per run, one column per evaluation: straight lines between what was measured."""
    measured = [np.array(sorted(curve.accuracy.items())).T for curve in curves]  # (2, k_i) each
    evaluations = np.arange(1, max(n[-1] for n, _ in measured) + 1)
    return np.array([np.interp(evaluations, n, a, np.nan, np.nan) for n, a in measured])
