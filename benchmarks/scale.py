"""How time and memory of a proposal grow with the history, up to 10,000 experiments.

    python benchmarks/scale.py --out benchmarks/results/scale.json   # about a minute

Histories and times are those of `speed.py`: "cold" is the first `ask` of an optimizer that was just
built from its trials, "s" the median of the next ones, in processor time of one core. Each cell
runs in a process of its own, whose largest memory is measured.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from speed import EXPERIMENTS, Lab, history

from becbo.bench.records import read
from becbo.bench.summary import regret_curve

RESULTS = Path(__file__).parent / "results" / "scale.json"
LONG = Path(__file__).parent / "results" / "long"  # records of `ablation.py`
# n, d, and at most so many seconds warm and cold.
CELLS = (
    *(
        (n, d, warm, cold)
        for d in (6, 20)
        for n, warm, cold in ((1000, 0.3, None), (4000, 1.0, 5.0), (10000, 3.0, 15.0))
    ),
    (500, 100, 0.5, None),
)
STUDY_SIZES = (1000, 4000, 10000)  # trials of studies in Optuna, six parameters
STUDY_SHARE = 1.5  # of the goals above, through Optuna
BATCH = (200, 6, 64, 4.0)  # n, d, proposals in one ask, at most so many seconds
MEMORY = 600  # MB at most
REPEATS = 7
CAP = -4.0  # of log10 regret


def measure(n: int, d: int) -> dict:
    """Times and memory of proposals after n experiments."""
    lab = Lab(*EXPERIMENTS["one value"], history(n, d), "edge")
    for _ in range(REPEATS + 1):
        lab.ask()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cold": lab.times[0], "median": float(np.median(lab.times[1:])), "memory": memory}


def measure_study(n: int) -> dict:
    """The same through Optuna: `study.ask` in a study of n trials."""
    from study_scale import measure as through_optuna

    return through_optuna("becbo", n)


def measure_batch(n: int, d: int, q: int) -> float:
    """Seconds of one ask for q proposals."""
    lab = Lab(*EXPERIMENTS["one value"], history(n, d), "edge")
    begin = time.process_time()
    lab.optimizer.ask(q)
    return time.process_time() - begin


def alone(function: Callable[..., dict], *args: int) -> dict:
    """What a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(function, *args).result()


def exponents(cells: list[dict], d: int) -> str:
    """Slopes of log time and log memory over log n, for d parameters."""
    rows = [c for c in cells if c["d"] == d]
    log_n = np.log([c["n"] for c in rows])
    slopes = {
        k: np.polyfit(log_n, np.log([c[k] for c in rows]), 1)[0]
        for k in ("median", "cold", "memory")
    }
    warm, cold, memory = (f"n^{slope:.2f}" for slope in slopes.values())
    return f"d = {d}: time {warm}, cold {cold}, memory {memory}"


def section(result: dict) -> str:
    """The section of RESULTS.md."""
    lines = [
        "| n | d | s (median) | goal | s (cold) | goal | MB | goal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for c in result["cells"]:
        cold = "" if c["cold_goal"] is None else f"{c['cold_goal']:g}"
        lines.append(
            f"| {c['n']:,} | {c['d']} | {c['median']:.2f} | {c['goal']:g} | {c['cold']:.2f} "
            f"| {cold} | {c['memory']:.0f} | {MEMORY} |"
        )
    goals = {(c["n"], c["d"]): (c["goal"], c["cold_goal"]) for c in result["cells"]}
    for c in result.get("studies", ()):
        goal, cold = goals[c["n"], 6]
        cold = "" if cold is None else f"{STUDY_SHARE * cold:g}"
        lines.append(
            f"| {c['n']:,} in Optuna | 6 | {c['median']:.2f} | {STUDY_SHARE * goal:g} "
            f"| {c['cold']:.2f} | {cold} | {c['memory']:.0f} | {MEMORY} |"
        )
    n, d, q, goal = BATCH
    growth = "; ".join(exponents(result["cells"], d) for d in (6, 20))
    batch = (
        f"{q} proposals in one ask at n = {n}, d = {d}: {result['batch']:.1f} s (goal {goal:g})."
    )
    return "\n".join([*lines, "", f"Growth between 1,000 and 10,000: {growth}.", "", batch])


def quality() -> str:
    """What the subset costs: `edge` beside the exact models on tuning problems."""
    records = {(r.run.problem, r.run.seed, r.run.label): r for r in read(LONG).records}
    pairs = sorted(
        key[:2] for key in records if key[2] == "exact" and (*key[:2], "edge") in records
    )
    lines = [
        "| problem | seed | log10 regret @450 | subset @1,000 | exact @1,000 |",
        "|---|---|---|---|---|",
    ]
    differences = []
    for problem, seed in pairs:
        subset, exact = (regret_curve(records[problem, seed, k]) for k in ("edge", "exact"))
        differences.append(max(subset[-1], CAP) - max(exact[-1], CAP))
        lines.append(
            f"| {problem} | {seed} | {subset[449]:.2f} | {subset[-1]:.2f} | {exact[-1]:.2f} |"
        )
    return "\n".join(
        [
            *lines,
            "",
            f"Subset minus exact, both capped at {CAP:g}: {np.mean(differences):+.2f} +- "
            f"{np.std(differences, ddof=1) / np.sqrt(len(differences)):.2f} (standard error).",
            "Both are the same up to 450 experiments. `python benchmarks/ablation.py --variants "
            "edge,exact\n--seeds 3 --budget 1000 --out benchmarks/results/long` adds pairs.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="also save the cells there as JSON")
    args = parser.parse_args()
    cells = [
        {"n": n, "d": d, **alone(measure, n, d), "goal": goal, "cold_goal": cold_goal}
        for n, d, goal, cold_goal in CELLS
    ]
    studies = [{"n": n, **alone(measure_study, n)} for n in STUDY_SIZES]
    result = {"cells": cells, "studies": studies, "batch": measure_batch(*BATCH[:3])}
    print(section(result))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
