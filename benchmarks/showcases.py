"""Showcases with real failures: becbo beside Optuna's samplers, in one run.

    python benchmarks/showcases.py kernel       # needs gcc
    python benchmarks/showcases.py pipeline
    python benchmarks/showcases.py kernel --again  # measures the best designs anew

Each sampler has the same number of trials. Records go to benchmarks/results/showcases, a line per
study; a second start continues, and two at once share the work but for a study that both began.
docs/showcases.md shows the tables.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np
import optuna
import showcase_kernel
import showcase_pipeline
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler

from becbo.bench.summary import bootstrap_interval, with_interval
from becbo.optuna import BECBOSampler, marking

RESULTS = Path(__file__).parent / "results" / "showcases"
SHOWCASES = {"kernel": showcase_kernel, "pipeline": showcase_pipeline}
Objective = Callable[[optuna.Trial], float]
Row = dict[str, Any]


def as_it_is(objective: Objective, failed: type[Exception]) -> Objective:
    """A failure is the state FAIL, which Optuna's own samplers ignore."""
    return objective


def with_reasons(objective: Objective, failed: type[Exception]) -> Objective:
    """A failure comes with its message."""
    return marking(objective)


def as_pruned(objective: Objective, failed: type[Exception]) -> Objective:
    """A failure is the state PRUNED, which TPE counts among the worst."""

    def pruned(trial: optuna.Trial) -> float:
        try:
            return objective(trial)
        except failed as error:
            raise optuna.TrialPruned(str(error)) from error

    return pruned


Told = Callable[[Objective, type[Exception]], Objective]
SAMPLERS: dict[str, tuple[Callable[[int, bool], BaseSampler], Told]] = {
    "becbo": (lambda seed, noisy: BECBOSampler(seed=seed, noisy=noisy), as_it_is),
    "becbo, told why": (lambda seed, noisy: BECBOSampler(seed=seed, noisy=noisy), with_reasons),
    "TPE": (lambda seed, _: TPESampler(seed=seed), as_it_is),
    "TPE, failures told as pruned": (lambda seed, _: TPESampler(seed=seed), as_pruned),
    "GP sampler": (lambda seed, noisy: GPSampler(seed=seed), as_it_is),
    "random search": (lambda seed, _: RandomSampler(seed=seed), as_it_is),
}


def run(showcase: ModuleType, label: str, seed: int, n_trials: int) -> Row:
    """One study of one sampler."""
    make, told = SAMPLERS[label]
    study = optuna.create_study(sampler=make(seed, showcase.NOISY))
    begin = time.perf_counter()
    study.optimize(
        told(showcase.objective, showcase.Failed), n_trials=n_trials, catch=(showcase.Failed,)
    )
    complete = optuna.trial.TrialState.COMPLETE
    values = [trial.value if trial.state == complete else None for trial in study.trials]
    return {
        "sampler": label,
        "seed": seed,
        "values": values,
        "best": study.best_params if any(value is not None for value in values) else None,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def measure_again(showcase: ModuleType, rows: Sequence[Row], rounds: int = 5) -> None:
    """Evaluates the best design of every study once a round, in random order."""
    again: list[list[float]] = [[] for _ in rows]
    for n in range(rounds):
        for i in random.Random(n).sample(range(len(rows)), len(rows)):
            again[i].append(showcase.objective(optuna.trial.FixedTrial(rows[i]["best"])))
    for row, found in zip(rows, again, strict=True):
        row["again"] = median(found)


def table(rows: Sequence[Row]) -> str:
    """Samplers by what their studies ended with."""
    if not rows:
        return "No studies have been recorded yet."
    lines = [
        "| sampler | best value (95 %) | after half of the trials | failed | studies |",
        "| --- | --- | --- | --- | --- |",
    ]
    for label in SAMPLERS:
        mine = [row for row in rows if row["sampler"] == label]
        if mine:
            ends = np.array([row.get("again") or _best(row["values"]) for row in mine])
            halves = [_best(row["values"][: len(row["values"]) // 2]) for row in mine]
            failed = np.mean([value is None for row in mine for value in row["values"]])
            shown = with_interval(ends.mean(), *bootstrap_interval([ends]), form=".3f")
            lines.append(
                f"| {label} | {shown} | {np.mean(halves):.3f} | {failed:.0%} | {len(mine)} |"
            )
    return "\n".join(lines)


def _best(values: Sequence[float | None]) -> float:
    return min((value for value in values if value is not None), default=float("inf"))


def read(name: str) -> list[Row]:
    """The studies of a showcase so far."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(name: str, rows: Sequence[Row]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{name}.jsonl").open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def continue_with(name: str, n_seeds: int, n_trials: int) -> None:
    """Runs the studies that are not there, all samplers of a seed before the next seed."""
    for seed, label in itertools.product(range(n_seeds), SAMPLERS):
        if (label, seed) not in {(row["sampler"], row["seed"]) for row in read(name)}:
            append(name, [run(SHOWCASES[name], label, seed, n_trials)])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=SHOWCASES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--again", action="store_true", help="only measure the best designs anew")
    options = parser.parse_args(arguments)
    showcase = SHOWCASES[options.name]
    if reason := showcase.missing():
        sys.exit(f"skipped: {reason}")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if options.again:
        rows = read(options.name)
        measure_again(showcase, rows)
        (RESULTS / f"{options.name}.jsonl").unlink()
        append(options.name, rows)
    else:
        continue_with(options.name, options.seeds, options.trials)
    print(table(read(options.name)))


if __name__ == "__main__":
    main()
