"""How long a proposal takes, next to a yardstick measured in the same run.

    python benchmarks/speed.py                       # edge and be-cbo, about five minutes
    python benchmarks/speed.py --methods edge --sizes 100,200 --dims 2,10

The yardstick is plain NumPy: 1000 Adam steps (float32) of five d-64-64-64-1 networks on 100
points with d = 2, about what the paper's classifier alone needs once. Machines are noisy, so
ratios are what counts; the yardstick is measured before and after every cell.

A cell is one history of n experiments in d dimensions, a third of them spread over the space and
the rest crowding around a point on the edge, as in a real run. "s" is the median time of `ask`
over the next proposals, each told before the next is asked for; "cold" is the first `ask` of an
optimizer that was just rebuilt from its trials. One core.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
from rich.progress import track

import becbo

RESULTS = Path(__file__).parent / "results" / "speed.json"
SIZES, DIMS = (10, 50, 100, 200, 500, 1000), (2, 4, 10, 30)
# The networks of be-cbo grow with the dimension and the history; larger cells take minutes.
BE_CBO_CELLS = {(n, d) for n in (10, 50, 100, 200) for d in (2, 4, 10)} | {(100, 30)}


def yardstick(n_steps: int = 1000) -> float:
    """Seconds of 1000 Adam steps of five 2-64-64-64-1 networks on 100 points."""
    rng = np.random.default_rng(0)
    sizes = [2, 64, 64, 64, 1]
    pairs = list(zip(sizes[:-1], sizes[1:], strict=True))
    weights = [rng.normal(size=(5, a, b)).astype("f4") / np.float32(np.sqrt(a)) for a, b in pairs]
    biases = [np.zeros((5, 1, b), "f4") for _, b in pairs]
    X = np.repeat(rng.random((1, 100, 2)).astype("f4"), 5, axis=0)
    y = np.sign(rng.random((100, 1)) - 0.5).astype("f4")
    theta = weights + biases
    m, v = [np.zeros_like(p) for p in theta], [np.zeros_like(p) for p in theta]
    begin = time.perf_counter()
    for t in range(1, n_steps + 1):
        a = [X]
        for i in range(4):
            z = a[-1] @ weights[i] + biases[i]
            a.append(np.maximum(z, 0) if i < 3 else z)
        g = -y / (1 + np.exp(y * a[-1])) / len(y)
        gradient = [g] * 8
        for i in range(3, -1, -1):
            gradient[i] = a[i].transpose(0, 2, 1) @ g
            gradient[4 + i] = g.sum(1, keepdims=True)
            if i:
                g = (g @ weights[i].transpose(0, 2, 1)) * (a[i] > 0)
        for p, g, m_, v_ in zip(theta, gradient, m, v, strict=True):
            m_ *= 0.9
            m_ += 0.1 * g
            v_ *= 0.999
            v_ += 0.001 * g * g
            p -= 3e-4 * (m_ / (1 - 0.9**t)) / (np.sqrt(v_ / (1 - 0.999**t)) + 1e-8)
    return (time.perf_counter() - begin) * 1000 / n_steps


def history(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Designs (n, d), values (n,) and which of them worked (n,)."""
    rng = np.random.default_rng((n, d))
    X = rng.random((n, d))
    centre = np.full(d, 0.35)
    spread = 10.0 ** rng.uniform(-3, -1, (n, 1)) * rng.standard_normal((n, d))
    crowd = np.arange(n) >= n // 3
    X[crowd] = np.clip(centre + spread[crowd], 0, 1)
    values = ((X - 0.2) ** 2).sum(axis=1) + 0.1 * np.sin(5 * X[:, 0])
    return X, values, X.sum(axis=1) >= centre.sum()


def evaluate(optimizer: becbo.Optimizer, trial: becbo.Trial) -> None:
    x = np.array(list(trial.params.values()))
    if x.sum() >= 0.35 * len(x):
        optimizer.tell(trial, ((x - 0.2) ** 2).sum() + 0.1 * np.sin(5 * x[0]))
    else:
        optimizer.fail(trial)


def measure(method: str, n: int, d: int, repeats: int) -> dict:
    """Times of `ask` after n experiments."""
    space = becbo.Space([becbo.Real(f"x{i}", 0, 1) for i in range(d)])
    optimizer = becbo.Optimizer(space, method=method, seed=0)
    X, values, worked = history(n, d)
    for params, value, works in zip(space.decode(X), values, worked, strict=True):
        optimizer.add(params, value) if works else optimizer.add(params, failed=True)
    unit, times, parts = [yardstick(200)], [], []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        trial = optimizer.ask()
        times.append(time.perf_counter() - begin)
        parts.append(optimizer.proposal.seconds)
        evaluate(optimizer, trial)
    unit.append(yardstick(200))
    cold, times, parts = times[0], times[1:], parts[1:]
    return {
        "method": method,
        "n": n,
        "d": d,
        "yardstick": float(np.mean(unit)),
        "cold": cold,
        "median": float(np.median(times)),
        "p95": float(np.quantile(times, 0.95)),
        **{key: float(np.median([p[key] for p in parts])) for key in parts[0]},
    }


def table(cells: list[dict]) -> str:
    """Markdown, one row per cell."""
    lines = [
        "| method | n | d | s (median) | s (p95) | s (cold) | regressor | classifier | search "
        "| yardstick | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for c in cells:
        columns = ("median", "p95", "cold", "regressor", "classifier", "search", "yardstick")
        numbers = " | ".join(f"{c[key]:.3f}" for key in columns)
        ratio = c["median"] / c["yardstick"]
        lines.append(f"| {c['method']} | {c['n']} | {c['d']} | {numbers} | {ratio:.3f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default="edge,be-cbo")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--dims", default=",".join(map(str, DIMS)))
    parser.add_argument("--out", type=Path, help="also save the cells there as JSON")
    args = parser.parse_args()
    plan = [
        (method, n, d)
        for method in args.methods.split(",")
        for n in map(int, args.sizes.split(","))
        for d in map(int, args.dims.split(","))
        if method != "be-cbo" or (n, d) in BE_CBO_CELLS
    ]
    cells = [
        measure(method, n, d, 3 if method == "be-cbo" else 20 if n < 500 else 6)
        for method, n, d in track(plan, "cells")
    ]
    print(table(cells))
    if args.out:
        versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
        args.out.write_text(json.dumps({"versions": versions, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
