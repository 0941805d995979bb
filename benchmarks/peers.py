"""Other tools on the paper's problems, all in one run: how do they take to failures?

    python benchmarks/peers.py --seeds 5 --budget 100

Tools want different versions of the same packages: give each an environment of its own with
becbo[dev] in it, and start this in one after the other, on the same folder.

    ax          pip install ax-platform
    bofire      pip install "bofire[optimization]"
    smac        pip install smac
    sbarchopt   pip install "sb-arch-opt[arch-sbo]"
    hebo        pip install pymoo catboost GPy disjoint-set
                pip install --no-deps HEBO==0.3.6 pymoo==0.6.0

Every tool gets the same initial design (10 scrambled Sobol points, drawn until one works) and then
proposes one design at a time. What it is told of a failure, and which settings it has, is in its
docstring, here or in `peer_tools.py`. A tool that is not installed is left out, with a message; a
run in which a tool raises ends as a record with the error. Records are those of `becbo bench`, so
`becbo bench table benchmarks/results/peers` reads them; a second start continues.
"""

from __future__ import annotations

import argparse
import logging
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from peer_tools import AxPeer, BoFirePeer, HeboPeer, Params, SBArchOptPeer, SmacPeer

from becbo.bench.plan import N_INITIAL, Run
from becbo.bench.records import Record, missing, read, write
from becbo.bench.run import X_DIGITS, Y_DIGITS, initial_design, versions
from becbo.errors import Infeasible
from becbo.problems import PAPER, Problem, get

OUT = Path(__file__).parent / "results" / "peers"


class Peer(Protocol):
    """A tool with its settings."""

    def add(self, params: Params, value: float | None) -> None:
        """An experiment of the initial design; None: it failed."""

    def ask(self) -> Params:
        """The next design."""

    def tell(self, value: float | None) -> None:
        """What came of it."""


class OptunaPeer:
    """Optuna: a failure is told as FAIL, or as PRUNED without a value."""

    def __init__(self, problem: Problem, sampler: Any, failure: str = "FAIL") -> None:
        import optuna

        from becbo.optuna.spaces import distributions_of

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._distributions = distributions_of(problem.space)
        self._study = optuna.create_study(sampler=sampler)
        self._failure = optuna.trial.TrialState[failure]

    def add(self, params: Params, value: float | None) -> None:
        state = self._failure if value is None else self._optuna.trial.TrialState.COMPLETE
        self._study.add_trial(
            self._optuna.create_trial(
                state=state, value=value, params=params, distributions=self._distributions
            )
        )

    def ask(self) -> Params:
        self._trial = self._study.ask(self._distributions)
        return dict(self._trial.params)

    def tell(self, value: float | None) -> None:
        if value is None:
            self._study.tell(self._trial, state=self._failure)
        else:
            self._study.tell(self._trial, value)


def becbo_sampler(problem: Problem, seed: int) -> Peer:
    """becbo's sampler in Optuna, default settings."""
    from becbo.optuna import BECBOSampler

    return OptunaPeer(problem, BECBOSampler(seed=seed, n_initial=N_INITIAL))


def optuna_tpe(problem: Problem, seed: int) -> Peer:
    """Optuna's default sampler; failures as FAIL, which it ignores."""
    from optuna.samplers import TPESampler

    return OptunaPeer(problem, TPESampler(seed=seed))


def optuna_tpe_pruned(problem: Problem, seed: int) -> Peer:
    """Optuna's default sampler; failures as PRUNED, which it counts among the worst."""
    from optuna.samplers import TPESampler

    return OptunaPeer(problem, TPESampler(seed=seed), "PRUNED")


def optuna_gp(problem: Problem, seed: int) -> Peer:
    """Optuna's Gaussian process sampler; failures as FAIL, which it ignores."""
    from optuna.samplers import GPSampler

    return OptunaPeer(problem, GPSampler(seed=seed))


def optuna_random(problem: Problem, seed: int) -> Peer:
    """Optuna's random sampler."""
    from optuna.samplers import RandomSampler

    return OptunaPeer(problem, RandomSampler(seed=seed))


# Name -> what makes it, and the packages that decide what it does.
PEERS: dict[str, tuple[Callable[[Problem, int], Peer], tuple[str, ...]]] = {
    "becbo": (becbo_sampler, ("becbo", "optuna")),
    "optuna-random": (optuna_random, ("optuna",)),
    "optuna-tpe": (optuna_tpe, ("optuna",)),
    "optuna-tpe-pruned": (optuna_tpe_pruned, ("optuna",)),
    "optuna-gp": (optuna_gp, ("optuna", "torch")),
    "ax": (AxPeer, ("ax-platform", "botorch", "torch")),
    "bofire": (BoFirePeer, ("bofire", "botorch", "torch")),
    "smac": (SmacPeer, ("smac", "scikit-learn")),
    "hebo": (HeboPeer, ("HEBO", "GPy", "pymoo", "torch")),
    "sbarchopt": (SBArchOptPeer, ("sb-arch-opt", "smt", "pymoo", "scikit-learn")),
}


def execute(run: Run) -> Record:
    """One run of a tool as a record."""
    problem = get(run.problem)
    start = initial_design(problem, run.seed, run.protocol)
    peer = PEERS[run.label][0](problem, run.seed)
    tried: list[tuple[Params, float | None]] = []
    begin = time.perf_counter()
    for params in start.params:
        value = evaluate(problem, params)
        peer.add(dict(params), value)
        tried.append((dict(params), value))
    seconds = []
    while len(tried) < run.budget:
        asked = time.process_time()  # all threads of the process
        params = settable(problem, peer.ask())
        seconds.append(round(time.process_time() - asked, 4))
        value = evaluate(problem, params)
        peer.tell(value)
        tried.append((params, value))
    return Record(
        run,
        problem.variant,
        start.redraws,
        x=tuple(
            tuple(float(f"{p[n]:.{X_DIGITS}g}") for n in problem.space.names) for p, _ in tried
        ),
        y=tuple(None if v is None else float(f"{v:.{Y_DIGITS}g}") for _, v in tried),
        seconds=tuple(seconds),
        seconds_total=round(time.perf_counter() - begin, 3),
        versions=peer_versions(run.label),
    )


def settable(problem: Problem, params: Params) -> Params:
    """The design with what rounding has added beyond a bound taken away.

    HEBO computes in single precision. More than rounding stays, and is an error.
    """
    result = dict(params)
    for p in problem.space.parameters:
        inside = min(max(params[p.name], p.low), p.high)
        if abs(inside - params[p.name]) <= 1e-6 * (p.high - p.low):
            result[p.name] = inside
    return result


def evaluate(problem: Problem, params: Params) -> float | None:
    try:
        return problem(params)
    except Infeasible:
        return None


def peer_versions(name: str) -> dict[str, str]:
    return versions() | {package: metadata.version(package) for package in PEERS[name][1]}


def attempt(run: Run) -> Record:
    """A run whose error becomes its record, so that the others go on."""
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the tools
            return execute(run)
    except Exception:
        return Record(
            run,
            seconds_total=round(time.perf_counter() - begin, 3),
            versions=peer_versions(run.label),
            error=traceback.format_exc(),
        )


def installed(names: list[str]) -> Iterator[str]:
    for name in names:
        lacking = [package for package in PEERS[name][1] if not is_installed(package)]
        if lacking:
            print(f"{name} is left out: {', '.join(lacking)} not installed")
        else:
            yield name


def is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=",".join(PEERS), help="a,b,c")
    parser.add_argument("--problems", default=",".join(PAPER), help="a,b,c")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    np.seterr(all="ignore")
    names = list(installed(options.peers.split(",")))
    runs = [
        Run(problem, name, name, {}, seed, options.budget, "authors")
        for seed in range(options.seeds)
        for name in names
        for problem in options.problems.split(",")
    ]
    left = missing(runs, read(options.out).records)
    print(f"{len(runs)} runs, {len(runs) - len(left)} of them there already")
    for i, run in enumerate(left, start=1):
        record = attempt(run)
        write(options.out, record)
        ended = "done" if record.is_finished else (record.error or "").strip().splitlines()[-1]
        print(f"{i}/{len(left)} {run}: {ended} in {record.seconds_total:.0f} s", flush=True)


if __name__ == "__main__":
    main()
