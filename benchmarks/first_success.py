"""Experiments until the first success of `edge`, where less than one design in a hundred works.

    python benchmarks/first_success.py                    # the five problems, 100 seeds: minutes
    python benchmarks/first_success.py --suite tuning     # others that are rare
    python benchmarks/first_success.py --table

Every run begins with ten Sobol points, whatever they return, and ends with the first success or
after 200 experiments. A second start continues. Other labels of the records are other rules: "five
turns" and "equal shares" (four ways in turn), "spread" (two thirds random designs and draws that
ignore failures at bounds), "half random" (hopeful or random by lot), and random designs.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from goals import RARE

from becbo import Optimizer
from becbo.bench.experiment import perform
from becbo.bench.plan import N_INITIAL
from becbo.bench.run import initial_design
from becbo.bench.table import Table
from becbo.files import write_file
from becbo.problems import get
from becbo.threads import one_thread

RESULTS = Path(__file__).parent / "results" / "first_success.json"
LABEL, BUDGET, SEEDS, FACTOR = "edge", 200, 100, 1.5
SUITES = {
    "rare": RARE,
    "tuning": ("gardner", "i_beam", "thrust_bearing", "tilted_rosenbrock_7d", "g18", "g01"),
}

Firsts = dict[str, dict[str, list[int | None]]]  # by problem and label, one per seed; None: none


def first_success(name: str, seed: int) -> int | None:
    """The number of the first experiment that works, counted from 1."""
    problem = get(name)
    optimizer = Optimizer(problem.space, seed=seed, n_initial=N_INITIAL)
    for params in initial_design(problem, seed, "honest").params:
        if perform(problem, params).values is not None:
            return len(optimizer.trials) + 1
        optimizer.add(params, failed=True)
    while len(optimizer.trials) < BUDGET:
        trial = optimizer.ask()
        if perform(problem, trial.params).values is not None:
            return len(optimizer.trials)
        optimizer.fail(trial)
    return None


def run(problems: Sequence[str], seeds: int, minutes: float) -> None:
    """Adds what is missing, until the time is over."""
    begin = time.monotonic()
    for seed in range(seeds):
        for problem in problems:
            found: Firsts = json.loads(RESULTS.read_text())
            firsts = found.setdefault(problem, {}).setdefault(LABEL, [])
            if len(firsts) > seed:
                continue
            if time.monotonic() - begin > 60 * minutes:
                print("not complete; a second start continues")
                return
            with one_thread():
                firsts.append(first_success(problem, seed))
            write_file(RESULTS, (json.dumps(found) + "\n").encode(), overwrite=True)
            print(f"{problem}, seed {seed}: {firsts[-1]}", flush=True)


def median(firsts: Sequence[int | None]) -> float:
    """Infinite if half of the runs or more found nothing."""
    return float(np.median([math.inf if n is None else n for n in firsts]))


def near_random(firsts: Sequence[int | None], random: float) -> bool:
    """Whether the median is at most 1.5 times that of random designs.

    If most runs found nothing, whether as many found something as random designs in 200 / 1.5.
    """
    middle = median(firsts)
    if math.isfinite(middle):
        return middle <= FACTOR * random
    n_found = sum(n is not None for n in firsts)
    return n_found >= len(firsts) * (1 - 0.5 ** (BUDGET / FACTOR / random))


def table(found: Mapping[str, Mapping[str, Sequence[int | None]]]) -> str:
    """Medians and, in brackets, runs with a success; random designs as their share tells."""
    labels = list(dict.fromkeys(label for name in RARE for label in found[name]))
    rows = []
    for name in RARE:
        share = get(name).feasibility_ratio
        random = math.log(2) / share if share else math.inf
        cells = [
            f"{median(firsts):.0f} ({sum(n is not None for n in firsts)} of {len(firsts)})"
            for firsts in (found[name].get(label, []) for label in labels)
        ]
        is_near = near_random(found[name][LABEL], random)
        rows.append((name, *cells, f"{random:.0f}", "yes" if is_near else "**no**"))
    header = ("problem", *labels, "share", f"edge at most {FACTOR} times random")
    return Table(header, tuple(rows), ()).markdown()


def section() -> str:
    """The table of the records."""
    return table(json.loads(RESULTS.read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--suite", choices=SUITES, default="rare")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--table", action="store_true", help="only show the records")
    args = parser.parse_args()
    if args.table:
        print(section())
    else:
        run(SUITES[args.suite], args.seeds, args.minutes)


if __name__ == "__main__":
    main()
