"""Other tools on the suites' problems, all in one run: how do they take to failures?

    python benchmarks/peers.py --seeds 5 --budget 100
    python benchmarks/peers.py --suite pareto --seeds 3 --budget 100

The second command also runs the suite's own methods, so that its table has everything: for each
problem and for all of them the share of the best known hypervolume (or the regret), the share of
infeasible proposals, and seconds per proposal. `measured`, `pareto-measured` and `pareto-tuning`
are the other suites with tools that take several objectives or limits.

Tools want different versions of the same packages: give each an environment of its own with
becbo[bench] in it, and start this in one after the other, on the same folder. Where torch is
needed, install the version of constraints.txt before anything else.

    ax          pip install ax-platform
    bofire      pip install "bofire[optimization]"
    smac        pip install smac
    sbarchopt   pip install "sb-arch-opt[arch-sbo]"
    hebo        pip install gpytorch pymoo catboost GPy disjoint-set
                pip install --no-deps HEBO==0.3.6 pymoo==0.6.0

Every tool gets the same initial design (10 scrambled Sobol points, drawn until one works) and then
proposes one design at a time. What it is told of a failure, and which settings it has, is in its
docstring, here, in `peer_tools.py` or in `peer_botorch.py`. Labels that end in -measured are told
the values of limits; SMAC takes none, so there is no smac-measured. A tool that is not installed is
left out, with a message; a run in which a tool raises ends as a record with the error. Records are
those of `becbo bench`, so `becbo bench table benchmarks/results/peers` reads them; a second start
continues.
"""

from __future__ import annotations

import argparse
import logging
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from peer_botorch import AxPeer, BoFirePeer
from peer_tools import HeboPeer, Params, PymooPeer, SBArchOptPeer, SmacPeer, Task

from becbo.bench import run as bench_run
from becbo.bench.experiment import Answer, answer, perform
from becbo.bench.plan import N_INITIAL, SUITES, Run, Variant
from becbo.bench.records import Record, missing, read, write
from becbo.bench.run import evaluations, initial_design, versions
from becbo.bench.table import outcome, tables
from becbo.problems import ConstrainedProblem, get

RESULTS = Path(__file__).parent / "results"


class Peer(Protocol):
    """A tool with its settings."""

    def add(self, params: Params, answer: Answer) -> None:
        """An experiment of the initial design."""

    def ask(self) -> Params:
        """The next design."""

    def tell(self, answer: Answer) -> None:
        """What came of it."""


class OptunaPeer:
    """Optuna: a failure is told as FAIL, or as PRUNED without a value.

    With several objectives, where a pruned trial has no rank, PRUNED comes with a constraint that
    failures violate and others keep. Measured limits are told as constraints, whose values are at
    most 0 where they are kept.
    """

    def __init__(self, task: Task, sampler: Any, failure: str = "FAIL") -> None:
        import optuna

        from becbo.optuna.spaces import distributions_of

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._task = task
        self._distributions = distributions_of(task.space)
        self._study = optuna.create_study(
            directions=["minimize"] * len(task.objectives), sampler=sampler
        )
        self._failure = optuna.trial.TrialState[failure]
        self._is_ranked = len(task.objectives) == 1

    def add(self, params: Params, answer: Answer) -> None:
        state = self._failure if answer.values is None else self._optuna.trial.TrialState.COMPLETE
        self._study.add_trial(
            self._optuna.create_trial(
                state=state,
                values=self._task.values(answer),
                params=params,
                distributions=self._distributions,
                constraints=self._constraints(answer),
            )
        )

    def ask(self) -> Params:
        self._trial = self._study.ask(self._distributions)
        return dict(self._trial.params)

    def tell(self, answer: Answer) -> None:
        for name, value in self._constraints(answer).items():
            self._trial.set_constraint(name, value)
        state = self._failure if answer.values is None else None
        self._study.tell(self._trial, self._task.values(answer), state=state)

    def _constraints(self, answer: Answer) -> dict[str, float]:
        violations = self._task.violations(answer)
        told = {} if violations is None else dict(zip(self._task.limits, violations, strict=True))
        if self._is_ranked or self._failure is self._optuna.trial.TrialState.FAIL:
            return told
        return {**told, "failed": 1.0 if answer.values is None else -1.0}


def becbo_sampler(task: Task, seed: int) -> Peer:
    """becbo's sampler in Optuna, default settings."""
    from becbo.optuna import BECBOSampler

    return OptunaPeer(task, BECBOSampler(seed=seed, n_initial=N_INITIAL))


def optuna_tpe(task: Task, seed: int) -> Peer:
    """Optuna's default sampler; failures as FAIL, which it ignores."""
    from optuna.samplers import TPESampler

    return OptunaPeer(task, TPESampler(seed=seed))


def optuna_tpe_pruned(task: Task, seed: int) -> Peer:
    """Optuna's default sampler; failures as PRUNED, which it counts among the worst."""
    from optuna.samplers import TPESampler

    return OptunaPeer(task, TPESampler(seed=seed), "PRUNED")


def optuna_gp(task: Task, seed: int) -> Peer:
    """Optuna's Gaussian process sampler; failures as FAIL, which it ignores.

    Where limits are measured, they are constraints, and every design has its values.
    """
    from optuna.samplers import GPSampler

    return OptunaPeer(task, GPSampler(seed=seed))


def optuna_random(task: Task, seed: int) -> Peer:
    """Optuna's random sampler."""
    from optuna.samplers import RandomSampler

    return OptunaPeer(task, RandomSampler(seed=seed))


def optuna_nsga2(task: Task, seed: int) -> Peer:
    """Optuna's default for several objectives; failures as FAIL, which it ignores."""
    from optuna.samplers import NSGAIISampler

    return OptunaPeer(task, NSGAIISampler(seed=seed))


@dataclass(frozen=True)
class Tool:
    """How a tool is made, and what it takes."""

    make: Callable[[Task, int], Peer]
    packages: tuple[str, ...]  # that decide what it does
    several: bool = True  # takes several objectives
    measured: bool = False  # is told the values of objectives and limits, whatever they are


_AX = ("ax-platform", "botorch", "torch")
_BOFIRE = ("bofire", "botorch", "torch")
_HEBO = ("HEBO", "GPy", "gpytorch", "pymoo", "torch")
_SBARCHOPT = ("sb-arch-opt", "smt", "pymoo", "scikit-learn")

TOOLS: dict[str, Tool] = {
    "becbo": Tool(becbo_sampler, ("becbo", "optuna"), several=False),
    "optuna-random": Tool(optuna_random, ("optuna",)),
    "optuna-nsga2": Tool(optuna_nsga2, ("optuna",)),
    "optuna-tpe": Tool(optuna_tpe, ("optuna",)),
    "optuna-nsga2-measured": Tool(optuna_nsga2, ("optuna",), measured=True),
    "optuna-tpe-pruned": Tool(optuna_tpe_pruned, ("optuna",)),
    "optuna-tpe-measured": Tool(optuna_tpe, ("optuna",), measured=True),
    "pymoo-nsga2": Tool(PymooPeer, ("pymoo",)),
    "pymoo-nsga2-measured": Tool(PymooPeer, ("pymoo",), measured=True),
    "optuna-gp": Tool(optuna_gp, ("optuna", "torch")),
    "optuna-gp-measured": Tool(optuna_gp, ("optuna", "torch"), measured=True),
    "smac": Tool(SmacPeer, ("smac", "scikit-learn")),
    "sbarchopt": Tool(SBArchOptPeer, _SBARCHOPT),
    "sbarchopt-measured": Tool(SBArchOptPeer, _SBARCHOPT, measured=True),
    "hebo": Tool(HeboPeer, _HEBO),
    "hebo-measured": Tool(HeboPeer, _HEBO, measured=True),
    "ax": Tool(AxPeer, _AX),
    "ax-measured": Tool(AxPeer, _AX, measured=True),
    "bofire": Tool(BoFirePeer, _BOFIRE),
    "bofire-measured": Tool(BoFirePeer, _BOFIRE, measured=True),
}


def usual_methods(suite: str) -> list[str]:
    """Tools on the paper's problems; on the other suites also the suite's own methods.

    The paper's methods have records of their own.
    """
    if suite == "paper":
        return [n for n, t in TOOLS.items() if not t.measured and "nsga2" not in n]
    variants = SUITES[suite].variants
    is_measured = any(variant.measured for variant in variants)
    tools = [n for n, t in TOOLS.items() if t.several and (is_measured or not t.measured)]
    return [*(variant.label for variant in variants), *tools]


def execute(run: Run) -> Record:
    """One run of a tool as a record."""
    problem = get(run.problem)
    start = initial_design(problem, run.seed, run.protocol)
    peer = TOOLS[run.label].make(Task.of(problem, run.measured), run.seed)
    begin = time.perf_counter()
    tried = []
    for params in start.params[: run.budget]:
        tried.append((params, perform(problem, params)))
        peer.add(dict(params), answer(tried[-1][1], run.measured))
    seconds = []
    while len(tried) < run.budget:
        asked = time.process_time()  # all threads of the process
        params = settable(problem, peer.ask())
        seconds.append(round(time.process_time() - asked, 4))
        tried.append((params, perform(problem, params)))
        peer.tell(answer(tried[-1][1], run.measured))
    return Record(
        run,
        problem.variant,
        start.redraws,
        **evaluations(tried),
        seconds=tuple(seconds),
        seconds_total=round(time.perf_counter() - begin, 3),
        versions=peer_versions(run.label),
    )


def settable(problem: ConstrainedProblem, params: Mapping[str, Any]) -> Params:
    """The design in the problem's order, without what rounding has added beyond a bound.

    HEBO computes in single precision. More than rounding stays, and is an error.
    """
    result = {name: params[name] for name in problem.space.names}
    for p in problem.space.parameters:
        inside = min(max(params[p.name], p.low), p.high)
        if abs(inside - params[p.name]) <= 1e-6 * (p.high - p.low):
            result[p.name] = inside
    return result


def peer_versions(name: str) -> dict[str, str]:
    return versions() | {package: metadata.version(package) for package in TOOLS[name].packages}


def attempt(run: Run) -> Record:
    """A run whose error becomes its record, so that the others go on."""
    if run.label not in TOOLS:
        return bench_run.attempt(run)
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of the tools
            return execute(run)
    except Exception:
        return Record(
            run,
            seconds_total=round(time.perf_counter() - begin, 3),
            versions=peer_versions(run.label),
            error=traceback.format_exc(),
        )


def installed(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        packages = TOOLS[name].packages if name in TOOLS else ()
        lacking = [package for package in packages if not is_installed(package)]
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


def plan(
    suite: str, methods: Sequence[str], problems: Sequence[str], seeds: int, budget: int
) -> list[Run]:
    """Seed by seed; methods are tools, or labels of the suite."""
    own = {variant.label: variant for variant in SUITES[suite].variants}
    tools = {name: Variant(name, name, {}, tool.measured) for name, tool in TOOLS.items()}
    chosen = [(own | tools)[name] for name in methods]
    return [
        Run(problem, v.label, v.method, v.options, seed, budget, "authors", v.measured)
        for seed in range(seeds)
        for v in chosen
        for problem in problems
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="paper", choices=SUITES)
    parser.add_argument("--methods", default="", help="tools and the suite's own labels, a,b,c")
    parser.add_argument("--problems", default="", help="instead of the suite's, a,b,c")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--out", type=Path, help="a folder; otherwise one per suite in results")
    options = parser.parse_args(arguments)
    suite = options.suite
    out = options.out or RESULTS / ("peers" if suite == "paper" else suite)
    names = options.methods.split(",") if options.methods else usual_methods(suite)
    problems = options.problems.split(",") if options.problems else SUITES[suite].problems
    runs = plan(suite, list(installed(names)), problems, options.seeds, options.budget)
    left = missing(runs, read(out).records)
    print(f"{len(runs)} runs, {len(runs) - len(left)} of them there already")
    for i, run in enumerate(left, start=1):
        record = attempt(run)
        write(out, record)
        ended = outcome(record) if record.is_finished else record.error.strip().splitlines()[-1]
        print(f"{i}/{len(left)} {run}: {ended} in {record.seconds_total:.0f} s", flush=True)
    wanted = {run.key for run in runs}
    for table in tables([record for record in read(out).records if record.run.key in wanted]):
        print(f"\n{table.markdown()}")


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # of the tools
    main()
