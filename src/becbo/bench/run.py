"""Running a plan: one run to its record, and many runs side by side."""

from __future__ import annotations

import math
import os
import platform
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from importlib import metadata
from typing import Any, cast

import numpy as np

from becbo import InvalidInput, Optimizer
from becbo.bench.accuracy import DIGITS, balanced_accuracy
from becbo.bench.experiment import Experiment, answer, outputs_of, perform, struck
from becbo.bench.plan import N_INITIAL, Run, make_proposer
from becbo.bench.records import Record, Searches
from becbo.bench.starts import working_design
from becbo.errors import BecboError
from becbo.extras import needed_extras
from becbo.problems import ConstrainedProblem, Problem, get, get_single
from becbo.proposers.base import Proposal, Proposer
from becbo.search.sobol import sobol
from becbo.threads import blas, one_thread

Task = tuple[Run, Record | None, bool]  # a run, what it is continued from, whether with accuracy

_DESIGN = 10  # the stream of random numbers that initial designs are drawn from
# Below this feasible share a redraw until something works would take hours.
HOPELESS = 1e-6
_SURE = 20.0  # redraws until exp(-20) is the chance to have missed every working point

X_DIGITS, Y_DIGITS, CHANCE_DIGITS = 7, 12, 4  # significant digits in a record


@dataclass(frozen=True)
class Start:
    """An initial design: the same for every method of a seed."""

    params: tuple[Mapping[str, Any], ...]
    redraws: int


@lru_cache(maxsize=64)  # drawn anew for every method otherwise, at up to ten seconds
def initial_design(problem: ConstrainedProblem, seed: int, protocol: str) -> Start:
    """Ten scrambled Sobol points; for the authors' protocol drawn until at least one works.

    Where that is hopeless (a share that works of less than one in a million), the last point of
    the first draw makes way for a design that works.
    """
    rng = np.random.default_rng((seed, _DESIGN))
    ratio = problem.feasibility_ratio or 0.0
    is_hopeless, is_honest = ratio <= HOPELESS, protocol == "honest"
    n_draws = 1 if is_hopeless or is_honest else math.ceil(_SURE / (N_INITIAL * ratio))
    for redraws in range(n_draws):
        design = problem.space.decode(sobol(N_INITIAL, problem.space.dim, rng))
        if is_honest or any(perform(problem, p).values for p in design):
            return Start(tuple(design), redraws)
        if is_hopeless:
            return Start((*design[:-1], working_design(problem, rng)), redraws)
    raise BecboError(
        f"{problem.name}: none of {N_INITIAL * n_draws} points worked, although {ratio:.2g} "
        "of the space should; use the protocol 'honest'"
    )


def execute(
    run: Run,
    proposer: Proposer | None = None,
    told: str = "nothing",
    before: Record | None = None,
    with_accuracy: bool = False,
) -> Record:
    """One optimisation as a record.

    Args:
        run: what decides its course.
        proposer: takes the place of the run's method.
        told: which violated constraints a failure names: "nothing", "first" or "all". Methods are
            compared on failures without a reason.
        before: a shorter record of the same run, to be continued. Its designs have seven digits,
            so a continued run is not the one that was never interrupted, digit by digit.
        with_accuracy: test the classifier behind each proposal on random designs. That takes time
            of its own, which is not counted as the proposal's.

    Returns:
        The record.
    """
    begin = time.perf_counter()
    problem = get(run.problem)
    optimizer = Optimizer(
        problem.space,
        outputs_of(problem, run.measured),
        method=proposer or make_proposer(run, budget=run.budget),
        seed=run.seed,
        n_initial=N_INITIAL,
    )
    if before is not None and can_continue(before, run):
        redraws, tried, journal = before.redraws, _tried(problem, before), _Journal.of(before)
    else:
        start = initial_design(problem, run.seed, run.protocol)
        redraws, journal, before = start.redraws, _Journal(), None
        tried = _begin(problem, run, start.params[: run.budget])
    spent = 0.0 if before is None else before.seconds_total
    for params, experiment in tried:
        answer(experiment, run.measured, told).add_to(optimizer, params)
    while len(tried) < run.budget:
        asked = time.thread_time()  # runs share the machine with others: processor time is fair
        trial = optimizer.ask()
        journal.note(trial.number, optimizer.proposal, time.thread_time() - asked)
        if with_accuracy:
            journal.test(optimizer.proposal, get_single(run.problem))
        found = _luckily(run, len(tried), perform(problem, trial.params))
        tried.append((trial.params, found))
        answer(tried[-1][1], run.measured, told).give_to(optimizer, trial)
    return Record(
        run,
        problem.variant,
        redraws,
        **evaluations(tried),
        unlucky=tuple(i for i, (_, found) in enumerate(tried) if found.is_unlucky),
        stated=tuple(journal.stated),
        bad_luck=tuple(journal.bad_luck),
        seconds=tuple(journal.seconds),
        parts={part: tuple(seconds) for part, seconds in journal.parts.items()},
        searches=journal.searches(),
        seconds_total=round(spent + time.perf_counter() - begin, 3),
        versions=versions(),
        continued_at=(*before.continued_at, len(before.y)) if before else (),
        accuracy=tuple(journal.accuracy),
    )


def _begin(
    problem: ConstrainedProblem, run: Run, design: Iterable[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Experiment]]:
    """The experiments of the initial design.

    The authors' protocol promises one that works. Where bad luck would strike all of them, it
    spares the first.
    """
    truths = [(params, perform(problem, params)) for params in design]
    tried = [(params, _luckily(run, i, truth)) for i, (params, truth) in enumerate(truths)]
    feasible = [i for i, (_, truth) in enumerate(truths) if truth.values]
    if run.protocol == "authors" and feasible and not any(found.values for _, found in tried):
        tried[feasible[0]] = truths[feasible[0]]
    return tried


def _luckily(run: Run, number: int, experiment: Experiment) -> Experiment:
    if not run.bad_luck:
        return experiment
    return struck(experiment, run.bad_luck, run.problem, run.seed, number)


def can_continue(record: Record, run: Run) -> bool:
    """Whether a longer run begins as the record does, and the record says all that was told.

    It has to hold designs, one objective and no measured limits. Methods that plan for their
    budget begin otherwise.
    """
    is_plain = not run.measured and len(get(run.problem).objective_names) == 1
    same = make_proposer(run, budget=run.budget) == make_proposer(run, budget=record.run.budget)
    return is_plain and same and len(record.x) == len(record.y)


def _tried(
    problem: ConstrainedProblem, record: Record
) -> list[tuple[Mapping[str, Any], Experiment]]:
    """The experiments of a record, with its outcomes: rounding may move a design across a limit."""
    names, (objective,) = problem.space.names, problem.objective_names
    met = dict.fromkeys(problem.constraints, 0.0)
    return [
        (
            dict(zip(names, x, strict=True)),
            Experiment(
                problem.objective_names,
                problem.constraints,
                {} if y is None else {objective: cast(float, y), **met},
                is_unlucky=i in record.unlucky,
            ),
        )
        for i, (x, y) in enumerate(zip(record.x, record.y, strict=True))
    ]


def evaluations(tried: Iterable[tuple[Mapping[str, Any], Experiment]]) -> dict[str, Any]:
    """Designs and what came of them, rounded, as the fields x and y of a record."""
    x, y = [], []
    for params, experiment in tried:
        x.append(tuple(_rounded(value, X_DIGITS) for value in params.values()))
        values = experiment.values and tuple(_rounded(v, Y_DIGITS) for v in experiment.values)
        y.append(values[0] if values and len(values) == 1 else values)
    return {"x": tuple(x), "y": tuple(y)}


def attempt(run: Run, before: Record | None = None, with_accuracy: bool = False) -> Record:
    """A run whose error becomes its record, so that the others go on."""
    begin = time.perf_counter()
    try:
        with one_thread():
            return execute(run, before=before, with_accuracy=with_accuracy)
    except Exception:
        return Record(
            run,
            seconds_total=round(time.perf_counter() - begin, 3),
            versions=versions(),
            error=traceback.format_exc(),
        )


def work(parent: int, run: Run, before: Record | None, with_accuracy: bool) -> Record:
    """`attempt` in a process of its own, which does not outlive its parent.

    Ctrl-C reaches every process of a terminal; it is for the first to say what happens then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_parent(parent)
    return attempt(run, before, with_accuracy)


@cache  # once per process
def watch_parent(parent: int) -> None:
    """Ends this process when the one that started it has ended, perhaps before this call."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def versions() -> dict[str, str]:
    """What the numbers depend on."""
    packages = {name: metadata.version(name) for name in ("becbo", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages, "blas": blas()}


def fan_out(
    runs: Iterable[Run],
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    known: Iterable[Record] = (),
    with_accuracy: bool = False,
) -> Iterator[Record]:
    """The records of many runs, each as soon as it is there.

    `backend` is "loky" for processes on this machine, or "ray" or "dask" for the cluster at
    `address` (None: one started here). `jobs` -1 means as many as there are processors. Runs that
    have a shorter record among `known` are continued; without its accuracies, if they are wanted,
    they begin anew.
    """
    if backend not in BACKENDS:
        raise InvalidInput(f"unknown backend {backend!r}; there are {', '.join(BACKENDS)}")
    if jobs < 1 and jobs != -1:
        raise InvalidInput(f"jobs {jobs}: give at least 1, or -1 for all processors")
    shorter = {
        record.run.key: record
        for record in known
        if record.is_finished and (record.has_accuracy or not with_accuracy)
    }
    tasks = [(run, shorter.get(run.key), with_accuracy) for run in runs]
    yield from BACKENDS[backend](tasks, jobs, address)


def _on_this_machine(tasks: list[Task], jobs: int, address: str | None) -> Iterator[Record]:
    if address is not None:
        raise InvalidInput(f"address {address!r} needs the backend 'ray' or 'dask'")
    with needed_extras():
        import joblib
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1)
    task = joblib.delayed(attempt if jobs == 1 else partial(work, os.getpid()))
    try:
        yield from parallel(task(*of_run) for of_run in tasks)
    except joblib.externals.loky.process_executor.BrokenProcessPool as error:
        raise BecboError(
            "a worker process was killed, perhaps for lack of memory; finished runs are kept: "
            "start again to continue, with fewer jobs if memory is short"
        ) from error


def _on_dask(tasks: list[Task], jobs: int, address: str | None) -> Iterator[Record]:
    with needed_extras():
        import distributed
        import joblib
    with _answering(address, distributed.Client):  # joblib finds it
        with joblib.parallel_config("dask"):
            parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(attempt)(*task) for task in tasks)


def _on_ray(tasks: list[Task], jobs: int, address: str | None) -> Iterator[Record]:
    """Ray's own tasks: its joblib backend returns nothing before the last run has ended."""
    with needed_extras():
        import ray
    connect = partial(ray.init, ignore_reinit_error=True, log_to_driver=False)
    _answering(address or "local", connect)  # not any cluster that was ever here
    task = ray.remote(attempt)
    todo = tasks[::-1]
    under_way: dict[Any, Run] = {}
    while todo or under_way:
        while todo and (jobs == -1 or len(under_way) < jobs):
            run, *rest = todo.pop()
            under_way[task.remote(run, *rest)] = run
        (ready, *_), _ = ray.wait(list(under_way))
        run = under_way.pop(ready)
        try:
            yield ray.get(ready)
        except ray.exceptions.RayError as error:  # of the cluster: attempt() returns its own
            yield Record(run, error=f"{type(error).__name__}: {error}")


BACKENDS = {"loky": _on_this_machine, "ray": _on_ray, "dask": _on_dask}


def _answering(address: str | None, connect: Callable[[str | None], Any]) -> Any:
    try:
        return connect(address)
    except OSError as error:  # which includes refused connections and timeouts
        raise BecboError(f"no cluster answers at {address}: {error}") from error


@dataclass
class _Journal:
    """Times and outcomes of the searches, as they happen."""

    seconds: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)
    winners: list[str] = field(default_factory=list)
    bound_broken: list[int] = field(default_factory=list)
    fallback: list[tuple[int, str]] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    stated: list[float] = field(default_factory=list)
    bad_luck: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, record: Record) -> _Journal:
        """What a record holds."""
        searches = record.searches
        return cls(
            list(record.seconds),
            {part: list(seconds) for part, seconds in record.parts.items()},
            [searches.winners[code] for code in searches.winner],
            list(searches.bound_broken),
            list(searches.fallback),
            list(record.accuracy),
            list(record.stated),
            list(record.bad_luck),
        )

    def note(self, number: int, proposal: Proposal | None, seconds: float) -> None:
        if proposal is None:
            raise BecboError(f"evaluation {number} was not proposed by the method")
        for part, spent in proposal.seconds.items():
            column = self.parts.setdefault(part, [0.0] * len(self.seconds))
            column.append(round(spent, 4))
        self.seconds.append(round(seconds, 4))
        for column in self.parts.values():
            column += [0.0] * (len(self.seconds) - len(column))
        found = proposal.found[0]
        self.winners.append(found.winner)
        if not found.bound_holds:
            self.bound_broken.append(number)
        if found.fallback is not None:
            self.fallback.append((number, found.fallback))
        self.stated.append(_rounded(proposal.believed[0].p_feasible, CHANCE_DIGITS))
        self.bad_luck.append(_rounded(proposal.believed[0].bad_luck, CHANCE_DIGITS))

    def test(self, proposal: Proposal | None, problem: Problem) -> None:
        """Tests the classifier of a proposal."""
        if proposal is None:
            raise BecboError("without a proposal there is no classifier to test")
        right = balanced_accuracy(proposal.models.feasibility, problem)
        self.accuracy.append(round(right, DIGITS))

    def searches(self) -> Searches:
        names = tuple(dict.fromkeys(self.winners))
        codes = tuple(names.index(winner) for winner in self.winners)
        return Searches(names, codes, tuple(self.bound_broken), tuple(self.fallback))


def _rounded(value: Any, digits: int) -> Any:
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def seconds_left(runs: Iterable[Run], records: Iterable[Record], jobs: int) -> float | None:
    """How long the runs will take, from finished ones of the same method.

    Those on the same problem count where there are any. None: some method has none yet.
    """
    pace: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        if record.is_finished:
            per_evaluation = record.seconds_total / record.run.budget
            for group in ((record.run.label,), (record.run.label, record.run.problem)):
                pace.setdefault(group, []).append(per_evaluation)
    total = 0.0
    for run in runs:
        known = pace.get((run.label, run.problem)) or pace.get((run.label,))
        if known is None:
            return None
        total += run.budget * float(np.mean(known))
    return total / (jobs if jobs > 0 else os.cpu_count() or 1)
