"""`edge` with one part changed at a time, on the tuning problems: what is each part worth?

    python benchmarks/ablation.py --seeds 2 --budget 100 --jobs 2     # 15 minutes on two cores
    python benchmarks/ablation.py --variants edge,reasons --seeds 4 --budget 100 --jobs 2

What reasons are worth while nothing has worked, on other problems
(a quarter of an hour on two cores):

    python benchmarks/ablation.py --variants all-reasons --seeds 10 --budget 200 --jobs 2 \
        --protocol honest --out benchmarks/results/reasons \
        --problems spring,speed_reducer,rolling_bearing,planetary_gear,batch_plant

What the subset of a long history costs (`scale.py` shows it; ten hours on one core):

    python benchmarks/ablation.py --variants edge,exact --seeds 3 --budget 1000 --jobs 2 \
        --out benchmarks/results/long

Records are those of `becbo bench`, under benchmarks/results/ablation unless said otherwise; a
second start continues, and `benchmarks/report.py` makes tables of them.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from becbo import Settings
from becbo.acquisition import (
    Acquisition,
    ExpectedImprovement,
    LogExpectedImprovement,
    LogWeighted,
)
from becbo.band import EdgeProbability, Everywhere
from becbo.bench.plan import N_INITIAL, PROTOCOLS, Run
from becbo.bench.records import Record, missing, read, write
from becbo.bench.run import execute
from becbo.bench.summary import (
    CAP,
    bootstrap_interval,
    failure_share,
    feasible,
    regret_curve,
    with_interval,
)
from becbo.bench.table import Table
from becbo.extras import needed_extras
from becbo.improvement import OverTheFront
from becbo.methods import EP_CLASSIFIER, build
from becbo.models.feasibility import OneGP
from becbo.problems import TUNING
from becbo.proposers.boundary import Boundary
from becbo.search.constrained import BandSearch
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import fixed

OUT = Path(__file__).parent / "results" / "ablation"


def edge(**changes: Any) -> Boundary:
    """The default method with other parts."""
    proposer = build(Settings(method="edge"))
    assert isinstance(proposer, Boundary)
    return replace(proposer, **changes)


def single(classifier: GPClassifier | None = None, **changes: Any) -> Boundary:
    """One classifier for all failures."""
    return edge(classifier=OneGP(classifier or GPClassifier()), **changes)


class PlainEI(OverTheFront):
    """EI instead of log EI, with the same least gain."""

    def over(self, *history: Any) -> Acquisition:
        log = super().over(*history)
        assert isinstance(log, LogExpectedImprovement)
        return ExpectedImprovement(log.regressor, log.best)


def plain_priors() -> Boundary:
    """Length scales that are not expected to grow with sqrt(d)."""
    return single(
        regressor=replace(edge().regressor, scale_with_dim=False),
        classifier=GPClassifier(scale_with_dim=False),
    )


# label: (what is changed, the method). The first rows are compared with `edge`. "cautious" tells
# what limits are worth apart from the higher threshold that goes with them. The other parts are
# changed one at a time in "single", which they have been measured in.
VARIANTS: dict[str, tuple[str, Callable[[], Boundary]]] = {
    "edge": ("nothing", edge),
    "reasons": ("nothing, but failures come with the first limit they broke", edge),
    "all-reasons": ("nothing, but failures come with every limit they broke", edge),
    "single": ("one classifier for all failures in four to nine dimensions too", single),
    "cautious": (
        "one classifier for all failures, and C(x) >= 0.75 from four dimensions on",
        lambda: single(band=EdgeProbability(p=0.75)),
    ),
    "forgiving": (
        "the classifier may overrule labels (latent variance 100 instead of 1e8)",
        lambda: single(classifier=GPClassifier(scale=fixed(1e2))),
    ),
    "isotropic": (
        "RBF, one length scale, no priors, as the GP classifier of the paper; by EP",
        lambda: single(classifier=EP_CLASSIFIER),
    ),
    "weighted": (
        "maximise C(x) EI(x) instead of EI(x) where C(x) is large enough",
        lambda: single(band=Everywhere(), weighting=LogWeighted),
    ),
    "one-threshold": (
        "C(x) >= 0.5 in few dimensions too, instead of a threshold drawn anew",
        lambda: single(band=EdgeProbability(max_dim=0)),
    ),
    "every-gain": (
        "improvements below the model's resolution count in few dimensions too",
        lambda: single(improvement=replace(edge().improvement, least_gain=0.0)),
    ),
    "plain-ei": (
        "EI instead of log EI",
        lambda: single(improvement=PlainEI(edge().regressor)),
    ),
    "no-segments": (
        "no candidates between the best designs and the failures next to them",
        lambda: single(search=BandSearch(n_between=0)),
    ),
    "plain-priors": ("length scales not expected to grow with sqrt(d)", plain_priors),
    "exact": ("all experiments of a history beyond 450 count", lambda: edge(subset=None)),
}
COMPARED_WITH = {
    "edge": "",
    "reasons": "edge",
    "all-reasons": "edge",
    "single": "edge",
    "cautious": "edge",
    "exact": "edge",
}  # the others: with "single"
TOLD = {"reasons": "first", "all-reasons": "all"}  # of the limits that failures broke


def work(run: Run) -> Record:
    return execute(run, VARIANTS[run.label][1](), TOLD.get(run.label, "nothing"))


def table(records: Sequence[Record]) -> str:
    """One row per changed part."""
    found = {(r.run.label, r.run.problem, r.run.seed): r for r in records}
    rows = []
    for label, (what, _) in VARIANTS.items():
        base = COMPARED_WITH.get(label, "single")
        mine = {key[1:]: r for key, r in found.items() if key[0] == label}
        shared = [key for key in mine if (base or label, *key) in found]
        if not shared:
            continue
        pairs = [(mine[key], found[(base or label, *key)]) for key in shared]
        cells = [_difference(pairs, n) if base else "" for n in (50, 100)]
        failures = np.mean([failure_share(feasible(mine[key]), N_INITIAL) for key in shared])
        rows.append((label, what, base, *cells, f"{failures:.0%}", str(len(shared))))
    header = ("variant", "changed", "minus", "regret @50", "regret @100", "failures", "runs")
    return Table(header, tuple(rows), ()).markdown()


def _difference(pairs: Sequence[tuple[Record, Record]], n: int) -> str:
    """Mean difference in log10 regret after n evaluations, with an interval over runs."""
    ends = np.array([[max(regret_curve(r)[n - 1], CAP) for r in pair] for pair in pairs])
    gaps = ends[:, 0] - ends[:, 1]
    return with_interval(gaps.mean(), *bootstrap_interval([gaps]), "+.2f")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--variants", default=",".join(VARIANTS), help="a,b,c")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--problems", default=",".join(TUNING), help="a,b,c")
    parser.add_argument("--protocol", default="authors", choices=PROTOCOLS)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    runs = [
        Run(problem, label, "edge", {}, seed, options.budget, options.protocol)
        for seed in range(options.seeds)
        for label in options.variants.split(",")
        for problem in options.problems.split(",")
    ]
    left = missing(runs, read(options.out).records)
    print(f"{len(runs)} runs, {len(runs) - len(left)} of them in {options.out.name} already")
    with needed_extras():
        import joblib
    parallel = joblib.Parallel(options.jobs, return_as="generator_unordered", batch_size=1)
    done = parallel(joblib.delayed(work)(run) for run in left)
    for record in track(done, "runs", total=len(left)):
        write(options.out, record)


if __name__ == "__main__":
    main()
