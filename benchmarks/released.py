"""Runs from the initial designs of recorded runs of the paper's released program.

    python benchmarks/released.py --seeds 3      # resumable; report.py shows the table

`results/released.json` has five such runs: initial designs in the unit cube, the best value so far
(null: nothing has worked yet), the share of proposals that failed, seconds per proposal. They were
recorded on one core of another machine, with the program's own defaults.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from becbo.bench.experiment import perform
from becbo.bench.plan import Run
from becbo.bench.records import Record, missing, read, write
from becbo.bench.run import evaluations, execute
from becbo.bench.summary import (
    best_so_far,
    failure_share,
    feasible,
    log_regret,
    typical_value,
    values,
)
from becbo.bench.table import Table
from becbo.problems import get_single

DATA = Path(__file__).parent / "results" / "released.json"
OUT = DATA.with_suffix("")
OURS = {"be-cbo": ("be-cbo-code", "be-cbo"), "cei": ("cei", "cei-ep"), "scbo": ("scbo", "scbo-ep")}
PROTOCOL = "designs of the released program"


def planned(seeds: int) -> list[Run]:
    """Every preset that stands for a recorded run, from its designs; the second of each later."""
    return [
        Run(theirs["problem"], label, label, {}, seed, theirs["n"], PROTOCOL)
        for seed in range(seeds)
        for rank in range(2)
        for theirs in recorded()
        for label in OURS[theirs["method"]][rank : rank + 1]
    ]


def recorded() -> list[dict[str, Any]]:
    return json.loads(DATA.read_text())["runs"]


def start(run: Run) -> Record:
    """The initial design that a recorded run of the same method began with, evaluated here."""
    theirs = next(r for r in recorded() if _is_of(r, run))
    problem = get_single(run.problem)
    design = problem.space.decode(np.array(theirs["initial"]))
    return Record(run, problem.variant, **evaluations([(p, perform(problem, p)) for p in design]))


def _is_of(theirs: dict[str, Any], run: Run) -> bool:
    return theirs["problem"] == run.problem and run.label in OURS[theirs["method"]]


def table() -> str:
    """Theirs and ours after as many evaluations from the same designs."""
    records = [record for record in read(OUT).records if record.is_finished]
    rows = []
    for theirs in recorded():
        optimum, typical = get_single(theirs["problem"]).optimum, typical_value(theirs["problem"])
        best, n = theirs["best"][-1], theirs["n"]
        regret = float(log_regret(np.array(best), optimum, typical))
        for label in OURS[theirs["method"]]:
            mine = [r for r in records if r.run.key[:2] == (theirs["problem"], label)]
            if not mine:
                continue
            ends = np.array([best_so_far(values(r))[n - 1] for r in mine])
            gaps = log_regret(ends, optimum, typical) - regret
            failed = np.mean([failure_share(feasible(r), r.n_initial) for r in mine])
            rows.append(
                (
                    theirs["problem"],
                    f"{theirs['method']} @{n}",
                    f"{best:.6g}",
                    label,
                    ", ".join(f"{end:.6g}" for end in sorted(ends)),
                    f"{gaps.mean():+.2f}",
                    f"{theirs['failed']:.0%}",
                    f"{failed:.0%}",
                )
            )
    header = (
        "problem",
        "released program",
        "best",
        "here",
        "best of each run",
        "log10 regret, here - released",
        "failed, released",
        "failed, here",
    )
    return Table(header, tuple(rows), ()).markdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    for run in missing(planned(parser.parse_args().seeds), read(OUT).records):
        record = execute(run, before=start(run))
        write(OUT, record)
        print(f"{run}: {record.seconds_total:.0f} s", flush=True)
    print(table())


if __name__ == "__main__":
    main()
