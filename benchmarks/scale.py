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
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from speed import EXPERIMENTS, Lab, history

RESULTS = Path(__file__).parent / "results" / "scale.json"
# n, d, and at most so many seconds warm and cold.
CELLS = (
    *(
        (n, d, warm, cold)
        for d in (6, 20)
        for n, warm, cold in ((1000, 0.3, None), (4000, 1.0, 5.0), (10000, 3.0, 15.0))
    ),
    (500, 100, 0.5, None),
)
BATCH = (200, 6, 64, 4.0)  # n, d, proposals in one ask, at most so many seconds
MEMORY = 600  # MB at most
REPEATS = 7


def measure(n: int, d: int) -> dict:
    """Times and memory of proposals after n experiments."""
    lab = Lab(*EXPERIMENTS["one value"], history(n, d), "edge")
    for _ in range(REPEATS + 1):
        lab.ask()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cold": lab.times[0], "median": float(np.median(lab.times[1:])), "memory": memory}


def measure_batch(n: int, d: int, q: int) -> float:
    """Seconds of one ask for q proposals."""
    lab = Lab(*EXPERIMENTS["one value"], history(n, d), "edge")
    begin = time.process_time()
    lab.optimizer.ask(q)
    return time.process_time() - begin


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
    n, d, q, goal = BATCH
    growth = "; ".join(exponents(result["cells"], d) for d in (6, 20))
    batch = (
        f"{q} proposals in one ask at n = {n}, d = {d}: {result['batch']:.1f} s (goal {goal:g})."
    )
    return "\n".join([*lines, "", f"Growth between 1,000 and 10,000: {growth}.", "", batch])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="also save the cells there as JSON")
    args = parser.parse_args()
    cells = []
    for n, d, goal, cold_goal in CELLS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            cell = alone.submit(measure, n, d).result()
        cells.append({"n": n, "d": d, **cell, "goal": goal, "cold_goal": cold_goal})
    result = {"cells": cells, "batch": measure_batch(*BATCH[:3])}
    print(section(result))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
