"""10,000 odd histories through every method: nothing breaks, nothing is out of place.

    python benchmarks/robustness.py --jobs 2                     # about an hour of one core
    python benchmarks/robustness.py --histories 200 --methods edge,scbo
    python benchmarks/robustness.py --number 1234 --methods edge # one history, in detail
    python benchmarks/robustness.py --outputs several            # several outputs, through edge

What the histories are is said in `odd_histories.py`. Every method is asked for one or more designs
after each of them. Counted are

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
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
import odd_histories
from odd_histories import KINDS, History, history, several
from rich.progress import track

import becbo
from becbo import METHODS, Optimizer, Outcome, Settings, Space, Trial
from becbo.bench.lines import append_line, read_lines
from becbo.bench.run import versions, watch_parent
from becbo.extras import needed_extras
from becbo.failures import DEFAULT
from becbo.methods import build
from becbo.proposers.base import Proposer, region_of
from becbo.proposers.boundary import Boundary
from becbo.search.choice import AGAIN, ENUMERATE, EXHAUSTED
from becbo.search.region import SAME
from becbo.search.slsqp import SlsqpSearch

FOLDER = Path(__file__).parent / "results"
OUT = FOLDER / "robustness.json"
FAMILIES = {"one": history, "several": several}  # by outputs
DEFAULTS = {
    "one": (OUT, tuple(METHODS)),
    "several": (FOLDER / "robustness_outputs.json", ("edge",)),
}
BLOCK = 100  # histories per unit of work
LIMIT = 30.0  # seconds of processor time per ask
MAX_EXAMPLES = 20  # problems of a kind and method that the result tells in full
LIGHTER: Mapping[str, Mapping[str, Any]] = {
    "ensemble": {"n_networks": 2, "width_factor": 4, "n_steps": 10},
    "SLSQP": {"n_space": 100, "n_edge": 1, "n_best": 1},
}
# What the first proposal of a process would import, and be charged for.
LATE = "scipy.optimize", "scipy.spatial.distance", "scipy.stats", "sklearn.svm", "threadpoolctl"

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


def lighter(settings: Settings) -> Proposer:
    """The method, with less effort where `LIGHTER` says so."""
    method = METHODS[str(settings.method)]
    proposer = build(settings, **({} if method.ensemble is None else LIGHTER["ensemble"]))
    if isinstance(proposer, Boundary) and isinstance(proposer.search, SlsqpSearch):
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
    failures = given.failures if method == "edge" else DEFAULT
    settings = Settings(method, given.number, given.n_initial, given.noisy, given.risk, failures)
    told = {**vars(settings), "method": lighter(settings), "risk": None, "failures": DEFAULT}
    optimizer = Optimizer(given.space, given.outputs, trials=given.trials, **told)
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
    measured = {name for t in taken for name, value in t.values.items() if value is not None}
    failed = [trial.params for trial in taken if trial.outcome is Outcome.FAILED]
    for trial in asked:
        if reason := misfit(space, trial.params):
            yield "outside", reason
            continue
        if trial.origin == AGAIN:
            if not is_repeat(space, trial.params, failed):
                yield "repeated", f"{trial.params} has not failed, note: {trial.note}"
        elif is_repeat(space, trial.params, known) and has_more(space, known):
            yield "repeated", f"{trial.params}, note: {trial.note}"
        elif trial.note == EXHAUSTED and has_more(space, known):
            yield "repeated", f"{trial.params} is new, and called a repeat"
        if trial.believed is not None and not is_sound(trial.believed, measured):
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


def is_sound(believed: becbo.Prediction, measured: Set[str]) -> bool:
    """Whether beliefs are probabilities, and numbers for every output that was measured."""
    low, high = believed.band
    estimates = [(e.mean, e.std) for e in believed.outputs.values()]
    return (
        0 <= low <= high <= 1
        and 0 <= believed.p_feasible <= 1
        and believed.outputs.keys() == measured
        and bool(np.isfinite(estimates).all())
        and all(std >= 0 for _, std in estimates)
    )


# -- many --------------------------------------------------------------------------------------

Task = tuple[str, str, int, int]  # family, method, first history, and the one after the last


def work(task: Task, source: str) -> dict[str, Any]:
    """A block of histories as a line of the journal."""
    for name in LATE:
        import_module(name)
    family, method, begin, end = task
    problems: list[Problem] = []
    seconds: list[float] = []
    for number in range(begin, end):
        found, spent = examine(FAMILIES[family](number), method)
        problems += found
        seconds += spent
    return {
        "source": source,
        "task": task,
        "problems": [asdict(problem) for problem in problems],
        "seconds": [round(s, 4) for s in seconds],
    }


def work_apart(parent: int, task: Task, source: str) -> dict[str, Any]:
    """`work` in a process of its own: Ctrl-C is for the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_parent(parent)
    return work(task, source)


def tasks(family: str, methods: Sequence[str], n: int) -> list[Task]:
    """Blocks of all methods in turn, so that an end before the end leaves none behind."""
    return [(family, m, i, min(i + BLOCK, n)) for i in range(0, n, BLOCK) for m in methods]


def results(todo: Sequence[Task], source: str, jobs: int) -> Iterator[dict[str, Any]]:
    """Lines of the journal, in any order."""
    if jobs == 1:
        yield from (work(task, source) for task in todo)
        return
    with needed_extras():
        import joblib
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(work_apart)(os.getpid(), task, source) for task in todo)


def source_hash() -> str:
    """Of everything that decides about a proposal, and of this script."""
    package = Path(becbo.__file__).parent
    folders = [
        package,
        *(package / name for name in ("models", "proposers", "search", "surrogates")),
    ]
    files = [Path(__file__), Path(odd_histories.__file__)]
    files += [path for folder in folders for path in sorted(folder.glob("*.py"))]
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
    for method in dict.fromkeys(task[1] for task in done):
        mine = sorted((task, line) for task, line in done.items() if task[1] == method)
        problems = [problem for _, line in mine for problem in line["problems"]]
        seconds = np.array([s for _, line in mine for s in line["seconds"]])
        counts = Counter(problem["what"] for problem in problems)
        methods[method] = {
            "histories": sum(end - begin for (*_, begin, end), _ in mine),
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


def show(number: int, methods: Sequence[str], family: str = "one") -> None:
    """One history in detail, and what each method makes of it."""
    given = FAMILIES[family](number)
    print(f"history {number}, {given.kind} ({', '.join(given.parts)}), asks {given.asks}")
    print(f"noisy {given.noisy}, n_initial {given.n_initial}, risk {given.risk}\n{given.space}")
    print(*given.outputs, sep="\n")
    for trial in given.trials:
        print(trial.number, trial.outcome.value, dict(trial.values), trial.reason, trial.params)
    for method in methods:
        problems, seconds = examine(given, method)
        print(f"{method}: {len(seconds)} designs in {sum(seconds):.2f} s")
        for problem in problems:
            print(f"{problem.what}: {problem.message}")


def run(methods: Sequence[str], n: int, jobs: int, out: Path, family: str = "one") -> None:
    """Does what is left to do; writes the result when nothing is."""
    source, journal = source_hash(), journal_of(out)
    done = read_journal(journal, source)
    wanted = tasks(family, methods, n)
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
    parser.add_argument("--outputs", default="one", choices=FAMILIES)
    parser.add_argument("--methods", help="a,b,c; otherwise all, or edge for several outputs")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--number", type=int, help="only this history, in detail")
    options = parser.parse_args()
    out, methods = DEFAULTS[options.outputs]
    methods = options.methods.split(",") if options.methods else methods
    if options.number is not None:
        show(options.number, methods, options.outputs)
    else:
        run(methods, options.histories, options.jobs, options.out or out, options.outputs)


if __name__ == "__main__":
    main()
