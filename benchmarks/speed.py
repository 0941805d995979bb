"""How long a proposal takes, next to a yardstick measured in the same run.

    python benchmarks/speed.py                       # edge and be-cbo, about five minutes
    python benchmarks/speed.py --methods edge --sizes 100,200 --dims 2,10
    python benchmarks/speed.py --several --out benchmarks/results/speed.json

The yardstick is plain NumPy: 1000 Adam steps (float32) of five d-64-64-64-1 networks on 100
points with d = 2, about what the paper's classifier alone needs once. Machines are noisy, so
ratios are what counts; the yardstick is measured before and after every cell.

A cell is one history of n experiments in d dimensions, a third of them spread over the space and
the rest crowding around a point on the edge, as in a real run. "s" is the median time of `ask`
over the next proposals, each told before the next is asked for; "cold" is the first `ask` of an
optimizer that was just rebuilt from its trials. One core.

Several outputs are measured beside a single one: the same designs, the first objective, and a
failure instead of a measured limit that is broken. Both are asked in turn.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import platform
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.progress import track

import becbo

RESULTS = Path(__file__).parent / "results" / "speed.json"
SIZES, DIMS = (10, 50, 100, 200, 500, 1000), (2, 4, 10, 30)
# The networks of be-cbo grow with the dimension and the history; larger cells take minutes.
# What is measured beside a single value: outputs, n, d, and how many times as long it may take.
SEVERAL = (
    ("two objectives", 100, 4, 2.0),
    ("three objectives", 100, 4, 5.0),
    ("six limits", 100, 7, 4.0),
)
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
    begin = time.process_time()
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
    return (time.process_time() - begin) * 1000 / n_steps


def history(n: int, d: int) -> np.ndarray:  # (n, d)
    """Designs: a third spread over the space, the rest around a point on the edge."""
    rng = np.random.default_rng((n, d))
    X = rng.random((n, d))
    centre = np.full(d, 0.35)
    spread = 10.0 ** rng.uniform(-3, -1, (n, 1)) * rng.standard_normal((n, d))
    crowd = np.arange(n) >= n // 3
    X[crowd] = np.clip(centre + spread[crowd], 0, 1)
    return X


Returned = float | Mapping[str, float] | None


def one_value(x: np.ndarray) -> float | None:  # (d,)
    """A bowl whose minimum lies beyond the edge; None: it failed."""
    value = ((x - 0.2) ** 2).sum() + 0.1 * np.sin(5 * x[0])
    return float(value) if x.sum() >= 0.35 * len(x) else None


def objectives(x: np.ndarray, m: int) -> Mapping[str, float] | None:  # (d,)
    """The same bowl and others, each with its minimum elsewhere."""
    value = one_value(x)
    if value is None:
        return None
    others = [float(((x - 0.9 / i) ** 2).sum()) for i in range(1, m)]
    return {f"f{i}": v for i, v in enumerate([value, *others])}


def limits(x: np.ndarray) -> dict[str, float]:  # (d,)
    """The bowl without its edge, and six limits that meet around the point of the crowd."""
    value = float(((x - 0.2) ** 2).sum() + 0.1 * np.sin(5 * x[0]))
    kept = {f"g{i}": float(x[i] + 0.3 * np.sin(3 * x[i + 1])) for i in range(6)}
    return {"f0": value, **kept}


LEVEL = float(0.35 + 0.3 * np.sin(3 * 0.35)) - 0.01
EXPERIMENTS = {
    "one value": ("minimize", one_value),
    "two objectives": (
        [becbo.Objective(f"f{i}") for i in range(2)],
        lambda x: objectives(x, 2),
    ),
    "three objectives": (
        [becbo.Objective(f"f{i}") for i in range(3)],
        lambda x: objectives(x, 3),
    ),
    "six limits": (
        [becbo.Objective("f0"), *(becbo.Limit(f"g{i}", lower=LEVEL) for i in range(6))],
        limits,
    ),
}


def as_one(returned: Returned) -> float | None:
    """What somebody tells who knows of one value only: a broken limit is a failure."""
    if not isinstance(returned, Mapping):
        return returned
    is_broken = any(v < LEVEL for name, v in returned.items() if name.startswith("g"))
    return None if is_broken else returned["f0"]


class Lab:
    """An optimizer, its experiment, and how long each `ask` took."""

    def __init__(self, outputs: object, run: object, X: np.ndarray, method: str) -> None:
        space = becbo.Space([becbo.Real(f"x{i}", 0, 1) for i in range(X.shape[1])])
        self.run = run
        self.optimizer = becbo.Optimizer(space, outputs, method=method, seed=0)
        self.times: list[float] = []
        self.parts: list[Mapping[str, float]] = []
        for params in space.decode(X):
            returned = self.returned(params)
            self.optimizer.add(params, returned, failed=returned is None)

    def returned(self, params: Mapping[str, float]) -> Returned:
        return self.run(np.array(list(params.values())))

    def ask(self) -> None:
        begin = time.process_time()
        trial = self.optimizer.ask()
        self.times.append(time.process_time() - begin)
        self.parts.append(self.optimizer.proposal.seconds)
        returned = self.returned(trial.params)
        if returned is None:
            self.optimizer.fail(trial)
        else:
            self.optimizer.tell(trial, returned)


def measure(method: str, n: int, d: int, repeats: int) -> dict:
    """Times of `ask` after n experiments."""
    lab = Lab(*EXPERIMENTS["one value"], history(n, d), method)
    unit = [yardstick(200)]
    for _ in range(repeats + 1):
        lab.ask()
    unit.append(yardstick(200))
    cold, times, parts = lab.times[0], lab.times[1:], lab.parts[1:]
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


def beside(outputs: str, n: int, d: int, goal: float, repeats: int = 20) -> dict:
    """Times of `ask` with several outputs and with one, after the same n experiments."""
    spec, run = EXPERIMENTS[outputs]
    X = history(n, d)
    several = Lab(spec, run, X, "edge")
    one = Lab("minimize", lambda x: as_one(run(x)), X, "edge")
    for _ in range(repeats + 1):
        several.ask()
        one.ask()
    long, short = (float(np.median(lab.times[1:])) for lab in (several, one))
    return {
        "outputs": outputs,
        "n": n,
        "d": d,
        "median": long,
        "one": short,
        "ratio": long / short,
        "goal": goal,
        **{key: float(np.median([p[key] for p in several.parts[1:]])) for key in several.parts[0]},
    }


def several_table(cells: list[dict]) -> str:
    """Markdown, one row per cell."""
    lines = [
        "| outputs | n | d | s (median) | regressor | classifier | search | s (one value) | ratio "
        "| goal |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for c in cells:
        columns = ("median", "regressor", "classifier", "search", "one")
        numbers = " | ".join(f"{c[key]:.3f}" for key in columns)
        goal = f"{c['goal']:g} ({'yes' if c['ratio'] <= c['goal'] else '**no**'})"
        lines.append(
            f"| {c['outputs']} | {c['n']} | {c['d']} | {numbers} | {c['ratio']:.1f} | {goal} |"
        )
    return "\n".join(lines)


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
    parser.add_argument("--several", action="store_true", help="only several outputs beside one")
    args = parser.parse_args()
    methods = [] if args.several else args.methods.split(",")
    plan = [
        (method, n, d)
        for method in methods
        for n in map(int, args.sizes.split(","))
        for d in map(int, args.dims.split(","))
        if method != "be-cbo" or (n, d) in BE_CBO_CELLS
    ]
    cells = [
        measure(method, n, d, 3 if method == "be-cbo" else 20 if n < 500 else 6)
        for method, n, d in track(plan, "cells")
    ]
    several = [beside(*cell) for cell in SEVERAL] if args.several or "edge" in methods else []
    print(table(cells))
    print(several_table(several))
    if args.out:
        versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
        if args.several and args.out.exists():  # the rest stays
            cells = json.loads(args.out.read_text())["cells"]
        result = {"versions": versions, "cells": cells, "several": several}
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
