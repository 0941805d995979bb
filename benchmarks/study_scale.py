"""How long a sampler takes for `study.ask` as a study grows, beside Optuna's own.

    python benchmarks/study_scale.py --out benchmarks/results/study_scale.json

Studies in memory, six parameters, the histories of `speed.py`, failures told as FAIL. Seconds are
processor time of one core: the first `ask` of a new sampler, and the median of the next ones. Each
cell runs in a process of its own, whose largest memory is measured; an Optuna sampler that has
taken more than a minute is not run on larger studies.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import resource
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState
from speed import history, one_value

from becbo.optuna import BECBOSampler

RESULTS = Path(__file__).parent / "results" / "study_scale.json"
SIZES = (100, 500, 1000, 3000)
D = 6
GOALS = {1000: 1.0, 3000: 3.0}  # trials -> seconds at most
MEMORY = 500  # MB at most
REPEATS = 5
PATIENCE = 60.0
SAMPLERS = {
    "becbo": lambda: BECBOSampler(seed=0),
    "TPE": lambda: optuna.samplers.TPESampler(seed=0),
    "GP": lambda: optuna.samplers.GPSampler(seed=0),
}


def study_of(n: int, sampler: optuna.samplers.BaseSampler) -> optuna.Study:
    """A study with n trials."""
    space = {f"x{i}": FloatDistribution(0, 1) for i in range(D)}
    study = optuna.create_study(sampler=sampler)
    for x in history(n, D):
        value = one_value(x)
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        params = dict(zip(space, map(float, x), strict=True))
        study.add_trial(
            optuna.create_trial(state=state, value=value, params=params, distributions=space)
        )
    return study


def measure(name: str, n: int) -> dict:
    """Times of asks, each of which is answered, and memory."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    study = study_of(n, SAMPLERS[name]())
    seconds: list[float] = []
    while len(seconds) <= REPEATS and sum(seconds) < PATIENCE:
        begin = time.process_time()
        trial = study.ask({f"x{i}": FloatDistribution(0, 1) for i in range(D)})
        seconds.append(time.process_time() - begin)
        value = one_value(np.array(list(trial.params.values())))
        study.tell(trial, value, state=TrialState.FAIL if value is None else None)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    warm = seconds[1:] or seconds
    return {
        "sampler": name,
        "n": n,
        "cold": seconds[0],
        "median": float(np.median(warm)),
        "memory": memory,
    }


def section(cells: list[dict]) -> str:
    """The section of RESULTS.md."""
    lines = [
        "| trials | sampler | s (median) | s (first) | MB | goal |",
        "|---|---|---|---|---|---|",
    ]
    for c in cells:
        goal = ""
        if c["sampler"] == "becbo" and c["n"] in GOALS:
            is_met = c["median"] <= GOALS[c["n"]] and c["memory"] <= MEMORY
            met = "yes" if is_met else "**no**"
            goal = f"{GOALS[c['n']]:g} s, {MEMORY} MB ({met})"
        lines.append(
            f"| {c['n']:,} | {c['sampler']} | {c['median']:.3f} | {c['cold']:.2f} "
            f"| {c['memory']:.0f} | {goal} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="also save the cells there as JSON")
    args = parser.parse_args()
    cells, slow = [], set()
    for n in SIZES:
        for name in SAMPLERS:
            if name in slow:
                continue
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                cells.append(alone.submit(measure, name, n).result())
            if cells[-1]["cold"] > PATIENCE:
                slow.add(name)
    print(section(cells))
    if args.out:
        args.out.write_text(json.dumps(cells, indent=1) + "\n")


if __name__ == "__main__":
    main()
