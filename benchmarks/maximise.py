"""How much of its acquisition does the paper's search attain?

    python benchmarks/maximise.py        # some minutes; writes results/maximise.json

The models of `be-cbo` learn from the first 50 and 100 experiments of a recorded run on each of the
paper's problems. EI is maximised inside the paper's bound by the paper's SLSQP, by SLSQP as the
released program calls it (EI as it is, not divided by its spread), and by the search of `edge`,
which climbs log EI. Compared is log10 EI at what each of them found.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from becbo.acquisition import LogExpectedImprovement
from becbo.bench.records import Record, read
from becbo.bench.replay import generator, history, problem_of
from becbo.bench.table import Table
from becbo.methods import METHODS
from becbo.problems import PAPER
from becbo.proposers.base import region_of
from becbo.proposers.boundary import Boundary
from becbo.threads import one_thread

RESULTS = Path(__file__).parent / "results"
OUT = RESULTS / "maximise.json"
RUNS, SEED = "be-cbo-v1", 0
SIZES = 50, 100
SEARCHES = {"paper": "be-cbo", "released": "be-cbo-code", "edge": "be-cbo-search"}
FAR = 99
HALF = float(np.log10(2))


def runs() -> list[Record]:
    records = read(RESULTS / "paper").records
    mine = {r.run.problem: r for r in records if r.run.label == RUNS and r.run.seed == SEED}
    return [mine[problem] for problem in PAPER]


def examine(record: Record) -> Iterator[dict[str, Any]]:
    """What every search attains, in log10 EI, for each size of history."""
    methods = {name: _method(label) for name, label in SEARCHES.items()}
    space = problem_of(record).space
    for n in SIZES:
        data = history(record, n)
        models = methods["paper"].fit(data, generator(record, n))
        region, nothing = region_of(space, data.X), np.empty((0, space.dim))
        log_ei = LogExpectedImprovement(models.objectives[0], data.y[data.worked].max())
        attained = {}
        for name, method in methods.items():
            same_bound = replace(method, band=methods["paper"].band)
            found = same_bound.searcher(models, data, generator(record, n))(region, nothing)
            attained[name] = float(log_ei.values(found.x[None])[0] / np.log(10))
        yield {"problem": record.run.problem, "n": n, "log10_ei": attained}


def _method(label: str) -> Boundary:
    method = METHODS[label]
    proposer = method.build(False, method.ensemble)
    assert isinstance(proposer, Boundary)
    return proposer


def table(answers: list[dict[str, Any]]) -> str:
    """Per problem, how far below the search of `edge` the two others ended, in powers of ten."""
    header = ("problem", *(f"{name}, n = {n}" for name in ("paper", "released") for n in SIZES))
    rows = [
        (
            problem,
            *(
                _shown(_behind(answer, name))
                for name in ("paper", "released")
                for answer in answers
                if answer["problem"] == problem
            ),
        )
        for problem in PAPER
    ]
    return Table(header, tuple(rows), ()).markdown()


def sentence(answers: list[dict[str, Any]]) -> str:
    """In how many cases the searches attain less than half of the EI there is."""
    less = {
        name: sum(_behind(answer, name) > HALF for answer in answers)
        for name in ("paper", "released")
    }
    return (
        f"Less than half of what the search of `edge` attains: SLSQP of the paper {less['paper']}, "
        f"of the released program {less['released']} of {len(answers)} times; median factor "
        f"{_median(answers, 'paper')} and {_median(answers, 'released')}."
    )


def _behind(answer: dict[str, Any], name: str) -> float:
    return float(answer["log10_ei"]["edge"] - answer["log10_ei"][name])


def _shown(powers: float) -> str:
    return f"{powers:.1f}" if powers < FAR else f"> {FAR}"  # EI is zero to machine precision


def _median(answers: list[dict[str, Any]], name: str) -> str:
    return f"{10 ** np.median([_behind(answer, name) for answer in answers]):.3g}"


def main() -> None:
    with one_thread():
        answers = [answer for record in track(runs()) for answer in examine(record)]
    OUT.write_text(json.dumps(answers, indent=1) + "\n")
    print(table(answers))
    print(sentence(answers))


if __name__ == "__main__":
    main()
