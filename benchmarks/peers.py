"""Other tools on the suites' problems, all in one run: how do they take to failures?

    python benchmarks/peers.py --seeds 5 --budget 100
    python benchmarks/peers.py --suite pareto --seeds 3 --budget 100

The second command also runs the suite's own methods, so that its table has everything: for each
problem and for all of them the share of the best known hypervolume (or the regret), the share of
infeasible proposals, and seconds per proposal. `measured`, `pareto-measured` and `pareto-tuning`
are the other suites with tools that take several objectives or limits.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from peer_tools import AxPeer, BoFirePeer, HeboPeer, Params, SBArchOptPeer, SmacPeer

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


class OneValue:
    """A tool of `peer_tools`, which is told one value, or None for a failure."""

    def __init__(self, tool: Any) -> None:
        self._tool = tool

    def add(self, params: Params, answer: Answer) -> None:
        self._tool.add(params, value_of(answer))

    def ask(self) -> Params:
        return self._tool.ask()

    def tell(self, answer: Answer) -> None:
        self._tool.tell(value_of(answer))


def value_of(answer: Answer) -> float | None:
    return None if answer.values is None else answer.values["value"]


class OptunaPeer:
    """Optuna: a failure is told as FAIL, or as PRUNED without a value.

    With several objectives, where a pruned trial has no rank, PRUNED comes with a constraint that
    failures violate and others keep. Measured limits are told as constraints, whose values are at
    most 0 where they are kept.
    """

    def __init__(self, problem: ConstrainedProblem, sampler: Any, failure: str = "FAIL") -> None:
        import optuna

        from becbo.optuna.spaces import distributions_of

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._distributions = distributions_of(problem.space)
        self._objectives = problem.objective_names
        self._study = optuna.create_study(
            directions=["minimize"] * len(self._objectives), sampler=sampler
        )
        self._failure = optuna.trial.TrialState[failure]
        self._is_ranked = len(self._objectives) == 1

    def add(self, params: Params, answer: Answer) -> None:
        state = self._failure if answer.values is None else self._optuna.trial.TrialState.COMPLETE
        self._study.add_trial(
            self._optuna.create_trial(
                state=state,
                values=self._values(answer),
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
        self._study.tell(self._trial, self._values(answer), state=state)

    def _values(self, answer: Answer) -> list[float] | None:
        values = answer.values
        return None if values is None else [values[name] for name in self._objectives]

    def _constraints(self, answer: Answer) -> dict[str, float]:
        values = answer.values or {}
        slacks = {n: -slack for n, slack in values.items() if n not in self._objectives}
        if self._is_ranked or self._failure is self._optuna.trial.TrialState.FAIL:
            return slacks
        return {**slacks, "failed": 1.0 if answer.values is None else -1.0}


def becbo_sampler(problem: ConstrainedProblem, seed: int) -> Peer:
    """becbo's sampler in Optuna, default settings."""
    from becbo.optuna import BECBOSampler

    return OptunaPeer(problem, BECBOSampler(seed=seed, n_initial=N_INITIAL))


def optuna_tpe(problem: ConstrainedProblem, seed: int) -> Peer:
    """Optuna's default sampler; failures as FAIL, which it ignores."""
    from optuna.samplers import TPESampler

    return OptunaPeer(problem, TPESampler(seed=seed))


def optuna_tpe_pruned(problem: ConstrainedProblem, seed: int) -> Peer:
    """Optuna's default sampler; failures as PRUNED, which it counts among the worst."""
    from optuna.samplers import TPESampler

    return OptunaPeer(problem, TPESampler(seed=seed), "PRUNED")


def optuna_gp(problem: ConstrainedProblem, seed: int) -> Peer:
    """Optuna's Gaussian process sampler; failures as FAIL, which it ignores.

    Where limits are measured, they are constraints, and every design has its values.
    """
    from optuna.samplers import GPSampler

    return OptunaPeer(problem, GPSampler(seed=seed))


def optuna_random(problem: ConstrainedProblem, seed: int) -> Peer:
    """Optuna's random sampler."""
    from optuna.samplers import RandomSampler

    return OptunaPeer(problem, RandomSampler(seed=seed))


def optuna_nsga2(problem: ConstrainedProblem, seed: int) -> Peer:
    """Optuna's default for several objectives; failures as FAIL, which it ignores."""
    from optuna.samplers import NSGAIISampler

    return OptunaPeer(problem, NSGAIISampler(seed=seed))


class PymooPeer:
    """pymoo's NSGA-II: a failure violates a constraint, so that its values do not count.

    Measured limits are its constraints. Populations of 10, the size of the initial design, instead
    of 100: with 100 evaluations the default would be random search.
    """

    def __init__(self, problem: ConstrainedProblem, seed: int) -> None:
        from pymoo.core.problem import Problem

        self._seed = seed
        self._objectives, self._limits = problem.objective_names, problem.constraints
        self._names = problem.space.names
        self._problem = Problem(
            n_var=len(self._names),
            n_obj=len(self._objectives),
            n_ieq_constr=len(self._limits) + 1,
            xl=np.array([p.low for p in problem.space.parameters]),
            xu=np.array([p.high for p in problem.space.parameters]),
        )
        self._start: list[Params] = []
        self._answers: list[Answer] = []
        self._algorithm: Any = None

    def add(self, params: Params, answer: Answer) -> None:
        self._start.append(params)
        self._answers.append(answer)

    def ask(self) -> Params:
        if self._algorithm is None:
            self._begin()
        if len(self._answers) == len(self._asked):
            self._report()
        x = self._asked[len(self._answers)].X
        return dict(zip(self._names, map(float, x), strict=True))

    def tell(self, answer: Answer) -> None:
        self._answers.append(answer)

    def _begin(self) -> None:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.termination import NoTermination

        X = np.array([[params[name] for name in self._names] for params in self._start])
        self._algorithm = NSGA2(pop_size=len(X), sampling=X)
        self._algorithm.setup(self._problem, seed=self._seed, termination=NoTermination())
        self._asked = self._algorithm.ask()

    def _report(self) -> None:
        """The answers to a whole population, and the next one."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        told = [answer.values or {} for answer in self._answers]
        F = np.array([[values.get(name, 0.0) for name in self._objectives] for values in told])
        slacks = np.array([[values.get(name, 0.0) for name in self._limits] for values in told])
        failed = np.array([[0.0 if values else 1.0] for values in told])
        G = np.hstack([-slacks, failed])
        Evaluator().eval(StaticProblem(self._problem, F=F, G=G), self._asked)
        self._algorithm.tell(infills=self._asked)
        self._asked, self._answers = self._algorithm.ask(), []


def one_value(tool: Callable[[Any, int], Any]) -> Callable[[ConstrainedProblem, int], Peer]:
    return lambda problem, seed: OneValue(tool(problem, seed))


@dataclass(frozen=True)
class Tool:
    """How a tool is made, and what it takes."""

    make: Callable[[ConstrainedProblem, int], Peer]
    packages: tuple[str, ...]  # that decide what it does
    several: bool = False  # objectives
    measured: bool = False  # is told the values of objectives and limits, whatever they are


TOOLS: dict[str, Tool] = {
    "becbo": Tool(becbo_sampler, ("becbo", "optuna")),
    "optuna-random": Tool(optuna_random, ("optuna",), several=True),
    "optuna-nsga2": Tool(optuna_nsga2, ("optuna",), several=True),
    "optuna-tpe": Tool(optuna_tpe, ("optuna",), several=True),
    "optuna-nsga2-measured": Tool(optuna_nsga2, ("optuna",), several=True, measured=True),
    "optuna-tpe-pruned": Tool(optuna_tpe_pruned, ("optuna",), several=True),
    "optuna-tpe-measured": Tool(optuna_tpe, ("optuna",), several=True, measured=True),
    "pymoo-nsga2": Tool(PymooPeer, ("pymoo",), several=True),
    "pymoo-nsga2-measured": Tool(PymooPeer, ("pymoo",), several=True, measured=True),
    "optuna-gp": Tool(optuna_gp, ("optuna", "torch"), several=True),
    "optuna-gp-measured": Tool(optuna_gp, ("optuna", "torch"), several=True, measured=True),
    "ax": Tool(one_value(AxPeer), ("ax-platform", "botorch", "torch")),
    "bofire": Tool(one_value(BoFirePeer), ("bofire", "botorch", "torch")),
    "smac": Tool(one_value(SmacPeer), ("smac", "scikit-learn")),
    "hebo": Tool(one_value(HeboPeer), ("HEBO", "GPy", "pymoo", "torch")),
    "sbarchopt": Tool(one_value(SBArchOptPeer), ("sb-arch-opt", "smt", "pymoo", "scikit-learn")),
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
    peer = TOOLS[run.label].make(problem, run.seed)
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
