"""Two questions about the paper's method, asked of the experiments that `edge` made.

    python benchmarks/explain.py        # some minutes

Is the dynamic bound dynamic? It admits designs with C(x) >= 0.5 - sigma_E(x). Where sigma_E is
the same everywhere, a fixed threshold would do. Counted are the designs it admits, those that
C(x) >= 0.5 admits, and how much sigma_E varies.

Does the deep ensemble know the edge better than a Gaussian process? Three classifiers learn from
the same experiments, the first 50, 100 and 200 of a run, and are tested on 10,000 random designs
and on 10,000 designs around the best one, where it matters.

Writes results/explain.jsonl, of which `benchmarks/report.py` makes a table, and
docs/images/why-classifiers.png.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from scipy.special import ndtr

from becbo.bench.accuracy import mean_class_accuracy
from becbo.bench.records import Record, read
from becbo.bench.replay import fit, problem_of, snapshot
from becbo.bench.summary import values
from becbo.bench.table import Table
from becbo.plots.landscape import landscape_figure

HERE = Path(__file__).parent
OUT = HERE / "results" / "explain.jsonl"
FIGURE = HERE.parent / "docs" / "images" / "why-classifiers.png"
PROBLEMS = "townsend", "simionescu", "lsq", "three_bar_truss", "spring", "welded_beam"
SEEDS = 0, 1
SIZES = 50, 100, 200
SHOWN = "lsq", 0, 50  # problem, seed, experiments in the figure
N_TEST = 10_000
NEAR = 0.05  # standard deviation of the designs around the best one, as a share of the box
CLASSIFIERS = {
    "be-cbo": "deep ensemble",
    "be-cbo-gp-ep": "GP with one length scale",
    "edge": "GP of edge",
}


def runs() -> list[Record]:
    records = read(HERE / "results" / "paper").records
    return [
        r
        for r in records
        if r.run.label == "edge" and r.run.seed in SEEDS and r.run.problem in PROBLEMS
    ]


def seen_by(method: str, record: Record) -> Record:
    """The same experiments, as if another method had made them."""
    return replace(record, run=replace(record.run, method=method, label=method))


def examine(record: Record) -> Iterator[dict[str, Any]]:
    """A line per size and classifier."""
    problem, y = problem_of(record), values(record)
    X = problem.space.encode([dict(zip(problem.space.names, row, strict=True)) for row in record.x])
    for n in SIZES:
        rng = np.random.default_rng(n)
        anywhere = rng.random((N_TEST, problem.dim))
        best = X[np.nanargmin(y[:n])]
        close = np.clip(best + NEAR * rng.standard_normal(anywhere.shape), 0, 1)
        for method in CLASSIFIERS:
            model = fit(seen_by(method, record), n)[1].feasibility
            line = {"problem": problem.name, "seed": record.run.seed, "n": n, "method": method}
            for where, points in (("anywhere", anywhere), ("close", close)):
                truth = problem.feasible(problem.from_unit(points))
                right = mean_class_accuracy(model.score(points)[0] > 0, truth)
                line[where] = right if np.isfinite(right) else None  # all work, or none
            score, sigma = model.score(anywhere)
            line["sigma"] = np.quantile(sigma, [0.1, 0.5, 0.9]).tolist()
            line["bound"] = float(np.mean(ndtr(score) >= 0.5 - sigma))
            line["half"] = float(np.mean(score >= 0))
            yield line


def figure(record: Record, n: int) -> None:
    """What the classifiers make of the same experiments."""
    panels = [
        replace(snapshot(seen_by(method, record), n), title=name, objective=None, bound=None)
        for method, name in CLASSIFIERS.items()
    ]
    title = f"{record.run.problem}: the same {n} experiments, three classifiers"
    landscape_figure(panels, x_label="x1", y_label="x2", title=title).savefig(FIGURE, dpi=110)


def table(lines: Sequence[dict[str, Any]]) -> str:
    """One row per classifier."""
    rows = []
    for method, name in CLASSIFIERS.items():
        mine = [line for line in lines if line["method"] == method]
        sigma = np.mean([line["sigma"] for line in mine], axis=0)
        shares = [
            f"{np.mean([line[key] for line in mine if line[key] is not None]):.1%}"
            for key in ("anywhere", "close", "bound", "half")
        ]
        rows.append((name, *shares[:2], f"{sigma[1]:.3f}, {sigma[2]:.3f}", *shares[2:]))
    header = ("classifier", "right anywhere", "right near the best", "sigma_E: 50 %, 90 %")
    return Table((*header, "bound admits", "C >= 0.5 admits"), tuple(rows), ()).markdown()


def main() -> None:
    records = runs()
    problem, seed, n = SHOWN
    figure(next(r for r in records if (r.run.problem, r.run.seed) == (problem, seed)), n)
    lines = [line for record in track(records, "runs") for line in examine(record)]
    OUT.write_text("\n".join(map(json.dumps, lines)) + "\n")


if __name__ == "__main__":
    main()
