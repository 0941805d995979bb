"""10,000 odd histories through every method: nothing breaks, nothing is out of place.

    python benchmarks/robustness.py --jobs 2                     # about an hour of one core
    python benchmarks/robustness.py --histories 200 --methods edge,scbo
    python benchmarks/robustness.py --number 1234 --methods edge # one history, in detail

A history is a function of its number alone: a space of 1 to 30 parameters, 1 to 60 experiments (a
few have up to 200), some of them pending or lost, some failed for a reason. Kinds take turns, see
`KINDS`: clustered, duplicated and degenerate designs, values and bounds of extreme scales, random
labels, one class, mixed, nearly exhausted and constrained spaces. What a kind does not fix is drawn
from everything.

Every method is asked for one or more designs after each history. Counted are

* exceptions and warnings;
* outside: designs that cannot be set, or break a known constraint;
* repeated: designs taken already, although there were others;
* unsound: beliefs that are not finite, or no probabilities;
* slow: asks that were stopped after 30 s of processor time.

The networks of the ensemble methods are small and briefly trained, and SLSQP starts from fewer
points, or the run would take days: the same code with less effort, see `LIGHTER`. All other
methods run as they are.

Finished blocks are kept in a file beside the result. Ctrl-C loses only the blocks under way, and a
second start continues, unless the code has changed meanwhile.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import hashlib
import json
import math
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import becbo
from becbo import (
    METHODS,
    Categorical,
    Integer,
    LinearConstraint,
    Optimizer,
    Outcome,
    Real,
    Space,
    Trial,
)
from becbo.bench.records import FORMAT, append_line, read_lines
from becbo.bench.run import need, versions, watch_parent
from becbo.methods import build
from becbo.models.feasibility import Networks
from becbo.proposers.base import Proposer, region_of
from becbo.proposers.boundary import Boundary
from becbo.search.choice import ENUMERATE, EXHAUSTED
from becbo.search.region import SAME
from becbo.search.slsqp import SlsqpSearch
from becbo.settings import Settings
from becbo.space import Array, Constraint, Parameter
from becbo.trial import PENDING, Result

OUT = Path(__file__).parent / "results" / "robustness.json"
SALT = 20  # other histories with another
BLOCK = 100  # histories per unit of work
LIMIT = 30.0  # seconds of processor time per ask
MAX_EXAMPLES = 20  # problems of a kind and method that the result tells in full
LIGHTER: Mapping[str, Mapping[str, Any]] = {
    "ensemble": {"n_networks": 2, "width_factor": 4, "n_steps": 10},
    "SLSQP": {"n_space": 100, "n_edge": 1, "n_best": 1},
}
# What the first proposal of a process would import, and be charged for.
LATE = "scipy.optimize", "scipy.spatial.distance", "scipy.stats", "sklearn.svm", "threadpoolctl"

Rng = np.random.Generator


# -- spaces ------------------------------------------------------------------------------------


def plain_space(d: int, rng: Rng) -> Space:
    """Reals as anybody would have them."""
    ends = [(0, 1), (-5, 5), (20, 1500), (-0.1, 0.3)]
    return Space([Real(f"x{i}", *ends[rng.integers(len(ends))]) for i in range(d)])


def extreme_space(d: int, rng: Rng) -> Space:
    """Bounds of all magnitudes, far apart or close together."""
    makers: list[Callable[[str, float], Parameter]] = [
        lambda name, size: Real(name, -size, size),
        lambda name, size: Real(name, 0, size),
        lambda name, size: Real(name, size, size * (1 + 10 ** rng.uniform(-11, -1))),
        lambda name, size: Real(name, size, size * 10 ** rng.uniform(0.01, 24), log=True),
        lambda name, size: Real(name, -size, size, step=2 * size / rng.integers(1, 10**6)),
        lambda name, size: Real(name, -1e300, 1e300),
        lambda name, size: Real(name, 1e-300, 1e300, log=True),
        lambda name, size: Integer(name, -(10**13), 10**13),
        lambda name, size: Integer(name, 1, 10**13, log=True),
    ]
    chosen = rng.integers(len(makers), size=d)
    return Space([makers[k](f"x{i}", 10 ** rng.uniform(-12, 12)) for i, k in enumerate(chosen)])


def mixed_space(d: int, rng: Rng) -> Space:
    """All sorts of parameters; up to 15, because a categorical has several columns."""
    makers: list[Callable[[str], Parameter]] = [
        lambda name: Real(name, 0, 1),
        lambda name: Real(name, 1e-6, 1e3, log=True),
        lambda name: Real(name, -1, 1, step=0.125),
        lambda name: Integer(name, 0, 1),
        lambda name: Integer(name, 1, 5000, log=True),
        lambda name: Integer(name, -40, 40, step=2),
        lambda name: Categorical(name, ["a", True, 1, None]),
        lambda name: Categorical(name, ["yes", "no"]),
    ]
    chosen = rng.integers(len(makers), size=min(d, 15))
    return Space([makers[k](f"x{i}") for i, k in enumerate(chosen)])


def tiny_space(d: int, rng: Rng) -> Space:
    """From 2 to 64 designs; sometimes some of them are forbidden."""
    makers: list[Callable[[str], Parameter]] = [
        lambda name: Integer(name, -1, int(rng.integers(3))),
        lambda name: Real(name, 0, 0.3, step=0.1),
        lambda name: Categorical(name, "abc"[: rng.integers(2, 4)]),
        lambda name: Integer(name, 1, 4, log=True),
    ]
    d = min(d, 3)
    parameters = [makers[k](f"x{i}") for i, k in enumerate(rng.integers(len(makers), size=d))]
    first = parameters[0]
    if d == 1 or isinstance(first, Categorical) or rng.random() < 0.5:
        return Space(parameters)
    return Space(parameters, [lambda params: params["x0"] > first.low])


def constrained_space(d: int, rng: Rng) -> Space:
    """Numbers in a slab, thin or thick, often with another condition; or whole ones that add up."""
    if d > 1 and rng.random() < 0.2:
        counts = [Integer(f"x{i}", 0, 40) for i in range(min(d, 5))]
        return Space(counts, [LinearConstraint({p.name: 1 for p in counts}, upper=20, lower=20)])
    parameters: list[Parameter] = [
        Integer(f"x{i}", 0, 60) if rng.random() < 0.3 else Real(f"x{i}", -1, 2) for i in range(d)
    ]
    inside = Space(parameters).decode(rng.random((1, d)))[0]
    weights = {p.name: float(rng.normal() / (p.high - p.low)) for p in parameters}  # type: ignore[union-attr]
    level = math.fsum(weights[name] * value for name, value in inside.items())
    room = 10 ** rng.uniform(-2, 0)
    lower = level - room if rng.random() < 0.5 else -math.inf
    constraints: list[Constraint] = [LinearConstraint(weights, level + room, lower)]
    if d >= 2 and rng.random() < 0.5:
        middle = inside["x0"] + inside["x1"]
        constraints.append(lambda params: params["x0"] + params["x1"] <= middle + 1)
    return Space(parameters, constraints)


SPACES = {
    "plain": plain_space,
    "extreme": extreme_space,
    "mixed": mixed_space,
    "tiny": tiny_space,
    "constrained": constrained_space,
}


# -- designs, values, labels -------------------------------------------------------------------


def scattered(n: int, space: Space, rng: Rng) -> Array:  # (n, dim)
    return rng.random((n, space.dim))


def clustered(n: int, space: Space, rng: Rng) -> Array:
    """Crowds around one to three centres, some of them at a bound, down to 1e-10."""
    centres = np.clip(rng.uniform(-0.2, 1.2, (rng.integers(1, 4), space.dim)), 0, 1)
    spread = 10.0 ** rng.uniform(-10, -3, (n, 1)) * rng.standard_normal((n, space.dim))
    return np.clip(centres[rng.integers(len(centres), size=n)] + spread, 0, 1)


def duplicated(n: int, space: Space, rng: Rng) -> Array:
    few = rng.random((1 + n // 3, space.dim))
    return few[rng.integers(len(few), size=n)]


def one_point(n: int, space: Space, rng: Rng) -> Array:
    return np.repeat(rng.random((1, space.dim)), n, axis=0)


def on_a_line(n: int, space: Space, rng: Rng) -> Array:
    return np.outer(np.linspace(0, 1, n), rng.choice([0.5, 1.0], space.dim))


def on_a_face(n: int, space: Space, rng: Rng) -> Array:
    return rng.random((n, space.dim)) * (rng.random(space.dim) < 0.3)


def in_corners(n: int, space: Space, rng: Rng) -> Array:
    return rng.integers(2, size=(n, space.dim)).astype(float)


def nearly_all(n: int, space: Space, rng: Rng) -> Array:
    """All but up to three designs of a tiny space, in any order."""
    del n
    everything = region_of(space, np.empty((0, space.dim))).enumerate(ENUMERATE)
    assert everything is not None
    left: Array = rng.permutation(everything)[rng.integers(4) :]
    return left if len(left) else everything


DESIGNS = {
    f.__name__.replace("_", " "): f
    for f in (scattered, clustered, duplicated, one_point, on_a_line, on_a_face, in_corners)
}

# (X, rng) -> values (n,)
VALUES: dict[str, Callable[[Array, Rng], Array]] = {
    "smooth": lambda X, rng: ((X - 0.4) ** 2).sum(axis=1),
    "random": lambda X, rng: rng.standard_normal(len(X)),
    "constant": lambda X, rng: np.full(len(X), rng.choice([0.0, -3.7, 1e100, 1e-100])),
    "almost constant": lambda X, rng: 1 + 10 ** rng.uniform(-16, -8) * rng.standard_normal(len(X)),
    "far from zero": lambda X, rng: 1e9 + X.sum(axis=1),
    "one outlier": lambda X, rng: X.sum(axis=1) + 1e12 * (np.arange(len(X)) == len(X) // 2),
    "heavy-tailed": lambda X, rng: np.exp(8 * rng.standard_normal(len(X))),
    "all magnitudes": lambda X, rng: (
        rng.choice([-1, 1], len(X)) * 10.0 ** rng.uniform(-300, 300, len(X))
    ),
    "huge": lambda X, rng: 1e300 * rng.uniform(-1, 1, len(X)),
    "minute": lambda X, rng: 1e-300 * X.sum(axis=1),
}

# (X, rng) -> which worked (n,)
LABELS: dict[str, Callable[[Array, Rng], Array]] = {
    "edge": lambda X, rng: X.mean(axis=1) < np.median(X.mean(axis=1)) + 0.05,
    "random": lambda X, rng: rng.random(len(X)) < rng.choice([0.1, 0.5, 0.9]),
    "all": lambda X, rng: np.ones(len(X), dtype=bool),
    "none": lambda X, rng: np.zeros(len(X), dtype=bool),
    "one": lambda X, rng: np.arange(len(X)) == rng.integers(len(X)),
    "all but one": lambda X, rng: np.arange(len(X)) != rng.integers(len(X)),
}


# -- histories ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a kind of history chooses from; None: everything."""

    spaces: Sequence[str] = ("plain", "extreme", "mixed", "tiny")  # constraints cost most
    designs: Sequence[str] | None = None
    values: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    open_share: float = 0.03  # of the experiments, pending or lost
    asks: Sequence[tuple[int, ...]] = ((1,),) * 10 + ((2,), (1, 1))


EXTREME_VALUES = "all magnitudes", "huge", "minute", "one outlier", "heavy-tailed", "far from zero"
KINDS = {
    "uniform": Kind(["plain"], ["scattered"], ["smooth"], ["edge"]),
    "clustered": Kind(designs=["clustered"]),
    "duplicated": Kind(designs=["duplicated"], labels=["edge", "random", "all"]),
    "degenerate": Kind(designs=["one point", "on a line", "on a face", "in corners"]),
    "constant": Kind(values=["constant", "almost constant"], labels=["edge", "random", "all"]),
    "extreme values": Kind(values=EXTREME_VALUES, labels=["edge", "random", "all"]),
    "extreme bounds": Kind(["extreme"]),
    "random labels": Kind(labels=["random"]),
    "one class": Kind(labels=["all", "none"]),
    "mixed": Kind(["mixed"]),
    "nearly exhausted": Kind(["tiny"], ["nearly all"], asks=[(1,), (1,), (2,), (1, 1, 1)]),
    "constrained": Kind(["constrained"]),
    "pending": Kind(open_share=0.3, asks=[(1,), (1,), (3,), (1, 1)]),
}


@dataclass(frozen=True)
class History:
    """What a method is given, and how it is asked."""

    number: int
    kind: str
    parts: tuple[str, ...]  # space, designs, values and labels, by name
    space: Space
    trials: tuple[Trial, ...]
    direction: str
    noisy: bool
    n_initial: int
    asks: tuple[int, ...]  # how many designs at a time


REASONS = "", "melted", "bent, cracked", "cracked"


def history(number: int) -> History:
    """The history of that number."""
    rng = np.random.default_rng((SALT, number))
    name = list(KINDS)[number % len(KINDS)]
    kind = KINDS[name]
    tables: list[Mapping[str, Any]] = [SPACES, DESIGNS, VALUES, LABELS]
    choices = (kind.spaces, kind.designs, kind.values, kind.labels)
    parts = tuple(
        str(rng.choice(choice or list(table)))
        for table, choice in zip(tables, choices, strict=True)
    )
    space = SPACES[parts[0]](log_uniform(30, rng), rng)
    n = log_uniform(60, rng) if rng.random() < 0.99 else int(rng.integers(60, 200))
    designs = space.decode((DESIGNS | {"nearly all": nearly_all})[parts[1]](n, space, rng))
    X = space.encode(designs)
    values, worked = VALUES[parts[2]](X, rng), LABELS[parts[3]](X, rng)
    is_open = rng.random(len(X)) < kind.open_share
    lost = rng.random(len(X)) < 0.3
    # From a stream of their own: every third history has reasons, and the others stay as they were.
    why = np.random.default_rng((SALT, number, 1)).choice(REASONS, len(X)).tolist()
    reasons = why if number % 3 == 0 else [None] * len(X)
    trials = [
        Trial(i, params, Result.lost() if lost[i] else PENDING)
        if is_open[i]
        else Trial(i, params, Result.ok({"value": float(values[i])}))
        if worked[i]
        else Trial(i, params, Result.failed(reasons[i]))
        for i, params in enumerate(designs)
    ]
    return History(
        number,
        name,
        parts,
        space,
        tuple(trials),
        direction=str(rng.choice(["minimize", "maximize"])),
        noisy=bool(rng.random() < 0.1),
        n_initial=10 if rng.random() < 0.05 else 1,
        asks=kind.asks[int(rng.integers(len(kind.asks)))],
    )


def log_uniform(high: int, rng: Rng) -> int:
    """A whole number from 1 to `high`, mostly a small one."""
    return int((high + 1) ** rng.random())


# -- one history through one method ------------------------------------------------------------

PROBLEMS = "exceptions", "warnings", "outside", "repeated", "unsound", "slow"


@dataclass(frozen=True)
class Problem:
    """What went wrong, and where."""

    what: str  # one of PROBLEMS
    method: str
    number: int
    kind: str
    message: str


class TooSlow(Exception):
    """An ask that was stopped."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stops what is inside after that much processor time, which no busy machine uses up."""

    def stop(signum: int, frame: object) -> None:
        raise TooSlow(f"no answer after {seconds:.0f} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def lighter(method: str, noisy: bool, n_initial: int) -> Proposer:
    """The method, with less effort where `LIGHTER` says so."""
    proposer = build(Settings(method=method, noisy=noisy, n_initial=n_initial))
    if not isinstance(proposer, Boundary):
        return proposer
    if isinstance(proposer.classifier, Networks):
        ensemble = replace(proposer.classifier.settings, **LIGHTER["ensemble"])
        proposer = replace(proposer, classifier=Networks(ensemble))
    if isinstance(proposer.search, SlsqpSearch):
        proposer = replace(proposer, search=replace(proposer.search, **LIGHTER["SLSQP"]))
    return proposer


def examine(given: History, method: str) -> tuple[list[Problem], list[float]]:
    """What is wrong with the answers, and the seconds that each design took."""
    found: list[tuple[str, str]] = []
    seconds: list[float] = []
    # Recorded and not raised, so that what comes after a warning is looked at as well.
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            for asked, taken, spent in answers(given, method):
                seconds += [spent / len(asked)] * len(asked)
                found += check(given.space, asked, taken)
        except TooSlow as error:
            found.append(("slow", str(error)))
        except Exception:
            # Without the folder of this machine, which is nobody's business in a record.
            trace = traceback.format_exc().replace(f"{Path(__file__).parents[1]}{os.sep}", "")
            found.append(("exceptions", trace))
    where = [f"{w.category.__name__}: {w.message} ({w.filename}:{w.lineno})" for w in heard]
    found += [("warnings", message) for message in dict.fromkeys(where)]
    problems = [Problem(what, method, given.number, given.kind, m) for what, m in found]
    return problems, seconds


def answers(given: History, method: str) -> Iterator[tuple[list[Trial], list[Trial], float]]:
    """Designs asked for together, the trials before them, and the processor time."""
    optimizer = Optimizer(
        given.space,
        given.direction,
        method=lighter(method, given.noisy, given.n_initial),
        seed=given.number,
        n_initial=given.n_initial,
        noisy=given.noisy,
        trials=given.trials,
    )
    for q in given.asks:
        taken = list(optimizer.trials)
        begin = time.process_time()
        with limited(LIMIT):
            asked = optimizer.ask(q)
        yield asked, taken, time.process_time() - begin


def check(
    space: Space, asked: Sequence[Trial], taken: Sequence[Trial]
) -> Iterator[tuple[str, str]]:
    """What is wrong with designs that were asked for after the trials `taken`: what, message."""
    # A lost experiment says nothing, so its design may come again.
    known = [trial.params for trial in taken if trial.outcome is not Outcome.LOST]
    for trial in asked:
        if reason := misfit(space, trial.params):
            yield "outside", reason
            continue
        if is_repeat(space, trial.params, known) and has_more(space, known):
            yield "repeated", f"{trial.params}, note: {trial.note}"
        elif trial.note == EXHAUSTED and has_more(space, known):
            yield "repeated", f"{trial.params} is new, and called a repeat"
        if trial.believed is not None and not is_sound(trial.believed):
            yield "unsound", f"{trial.believed}"
        known.append(trial.params)


def misfit(space: Space, params: Mapping[str, Any]) -> str | None:
    """Why a design cannot be set, or None."""
    try:
        same = space.validate(params)
    except becbo.InvalidInput as error:
        return str(error)
    if repr(same) != repr(dict(params)):  # tells 1 from 1.0 and from True
        return f"{params} is not exactly {same}"
    return None if space.is_allowed(params) else f"{params} breaks a known constraint"


def is_repeat(space: Space, params: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> bool:
    if not known:
        return False
    gaps = np.abs(space.encode(known) - space.encode([params])).max(axis=1)
    return bool(gaps.min() <= SAME)


def has_more(space: Space, known: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a design is left that is allowed and not known."""
    region = region_of(space, space.encode(known))
    everything = region.enumerate(ENUMERATE)
    if everything is None:  # more than any history here tries
        return True
    return bool(np.any(region.allowed(everything) & region.is_new(everything)))


def is_sound(believed: becbo.Prediction) -> bool:
    low, high = believed.band
    value = [v for v in (believed.mean, believed.std) if v is not None]
    return (
        0 <= low <= high <= 1 and 0 <= believed.p_feasible <= 1 and bool(np.isfinite(value).all())
    )


# -- many --------------------------------------------------------------------------------------

Task = tuple[str, int, int]  # a method, and the first and the last but one of its histories


def work(task: Task, source: str) -> dict[str, Any]:
    """A block of histories as a line of the journal."""
    for name in LATE:
        import_module(name)
    method, begin, end = task
    problems: list[Problem] = []
    seconds: list[float] = []
    for number in range(begin, end):
        found, spent = examine(history(number), method)
        problems += found
        seconds += spent
    return {
        "format": FORMAT,
        "source": source,
        "task": task,
        "problems": [asdict(problem) for problem in problems],
        "seconds": [round(s, 4) for s in seconds],
    }


def work_apart(task: Task, source: str) -> dict[str, Any]:
    """`work` in a process of its own: Ctrl-C is for the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_parent()
    return work(task, source)


def tasks(methods: Sequence[str], n: int) -> list[Task]:
    """Blocks of all methods in turn, so that an end before the end leaves none behind."""
    return [(m, i, min(i + BLOCK, n)) for i in range(0, n, BLOCK) for m in methods]


def results(todo: Sequence[Task], source: str, jobs: int) -> Iterator[dict[str, Any]]:
    """Lines of the journal, in any order."""
    if jobs == 1:
        yield from (work(task, source) for task in todo)
        return
    joblib = need("joblib", "bench")
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(work_apart)(task, source) for task in todo)


def source_hash() -> str:
    """Of everything that decides about a proposal, and of this script."""
    package = Path(becbo.__file__).parent
    folders = (package, package / "proposers", package / "search", package / "surrogates")
    files = [Path(__file__), *(path for folder in folders for path in sorted(folder.glob("*.py")))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def journal_of(out: Path) -> Path:
    return out.with_suffix(".unfinished.jsonl")


def read_journal(path: Path, source: str) -> dict[Task, dict[str, Any]]:
    """What has been done with this code."""
    lines = read_lines(path, []) if path.exists() else ()
    return {tuple(line["task"]): line for line in lines if line["source"] == source}


def summary(done: Mapping[Task, Mapping[str, Any]]) -> dict[str, Any]:
    """Counts and times per method, and examples of what went wrong."""
    methods, examples = {}, []
    for method in dict.fromkeys(task[0] for task in done):
        mine = sorted((task, line) for task, line in done.items() if task[0] == method)
        problems = [problem for _, line in mine for problem in line["problems"]]
        seconds = np.array([s for _, line in mine for s in line["seconds"]])
        counts = Counter(problem["what"] for problem in problems)
        methods[method] = {
            "histories": sum(end - begin for (_, begin, end), _ in mine),
            "proposals": len(seconds),
            **{what: counts[what] for what in PROBLEMS},
            "seconds": {
                key: round(float(np.quantile(seconds, q)), 3) if len(seconds) else None
                for key, q in (("median", 0.5), ("p99", 0.99), ("max", 1.0))
            },
            "hours": round(float(seconds.sum()) / 3600, 3),
        }
        for what in PROBLEMS:
            examples += [p for p in problems if p["what"] == what][:MAX_EXAMPLES]
    return {"methods": methods, "problems": examples}


def table(methods: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown, one row per method."""
    counts = ["histories", "proposals", *PROBLEMS]
    lines = [
        f"| method | {' | '.join(counts)} | s (median) | s (99 %) | s (maximum) |",
        "|---" * (len(counts) + 4) + "|",
    ]
    for name, row in methods.items():
        cells = [name, *(row[key] for key in counts), *row["seconds"].values()]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def show(number: int, methods: Sequence[str]) -> None:
    """One history in detail, and what each method makes of it."""
    given = history(number)
    print(f"history {number}, {given.kind} ({', '.join(given.parts)}), asks {given.asks}")
    print(f"{given.direction}, noisy {given.noisy}, n_initial {given.n_initial}\n{given.space}")
    for trial in given.trials:
        print(trial.number, trial.outcome.value, trial.value, trial.params)
    for method in methods:
        problems, seconds = examine(given, method)
        print(f"{method}: {len(seconds)} designs in {sum(seconds):.2f} s")
        for problem in problems:
            print(f"{problem.what}: {problem.message}")


def run(methods: Sequence[str], n: int, jobs: int, out: Path) -> None:
    """Does what is left to do; writes the result when nothing is."""
    source, journal = source_hash(), journal_of(out)
    done = read_journal(journal, source)
    wanted = tasks(methods, n)
    todo = [task for task in wanted if task not in done]
    print(f"{len(wanted)} blocks, {len(wanted) - len(todo)} of them there already")
    try:
        for line in track(results(todo, source, jobs), "blocks", total=len(todo)):
            append_line(journal, line)
            done[tuple(line["task"])] = line
    except KeyboardInterrupt:
        print("stopped; start again to continue")
    result = summary({task: done[task] for task in wanted if task in done})
    print(table(result["methods"]))
    for problem in result["problems"]:
        print(" ".join(str(problem[key]) for key in ("method", "number", "kind", "what")))
        print("   ", problem["message"].strip().splitlines()[-1])
    if all(task in done for task in wanted):
        about = {
            "versions": versions() | {"scikit-learn": metadata.version("scikit-learn")},
            "source": source,
            "lighter": LIGHTER,
            "kinds": list(KINDS),
        }
        out.write_text(json.dumps(about | result, indent=1) + "\n")
        journal.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--methods", default=",".join(METHODS), help="a,b,c")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--number", type=int, help="only this history, in detail")
    options = parser.parse_args()
    methods = options.methods.split(",")
    if options.number is not None:
        show(options.number, methods)
    else:
        run(methods, options.histories, options.jobs, options.out)


if __name__ == "__main__":
    main()
