"""`becbo demo`: one run on a known problem, told to someone who has never seen the package."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from becbo import METHODS, InvalidInput, Result, minimize
from becbo.problems import Problem, get

# For the announcement only: methods that train networks, and seconds per proposal.
_TRAINED = ("be-cbo", "be-cbo-c", "be-cbo-m", "be-cbo-mle", "be-cbo-ucb")
_TRAINED_PACE, _PACE = 3.0, 0.06

SNIPPET = """\
import becbo
from becbo import Real, Space

space = Space([Real("temperature", 20, 200), Real("pressure", 1, 50, log=True)])


def experiment(params):  # your simulation, your machine, your lab
    t, p = params["temperature"], params["pressure"]
    if t + 4 * p > 250:
        raise becbo.Infeasible("it melted")  # failed: there is no value
    return (t - 180) ** 2 / 1000 - p


result = becbo.minimize(experiment, space, budget=40, seed=0)
print(result.best.params, result.best.value, result.n_failed)
"""


def run_demo(
    problem_name: str, method: str, evaluations: int, seed: int, out: Path, console: Console
) -> bool:
    """Announce, run, report, write files. Returns whether Ctrl-C ended it early."""
    problem = get(problem_name)
    if method not in METHODS:
        raise InvalidInput(f"method {method!r} is unknown; known: {', '.join(METHODS)}")
    with _writing_to(out):  # before the run: nobody wants to wait for this message
        out.mkdir(parents=True, exist_ok=True)
    pace = _TRAINED_PACE if method in _TRAINED else _PACE
    console.print(
        f"Looking for the best {problem_name} design ({problem.dim} parameters) with {evaluations} "
        f"experiments, each of which returns a value or fails and returns nothing; "
        f"this takes {_duration(evaluations * pace)}.\n",
        highlight=False,
    )
    started = time.perf_counter()
    result = minimize(problem, problem.space, evaluations, method=method, seed=seed, progress=True)
    seconds = time.perf_counter() - started  # a problem answers in microseconds
    _report(result, problem, seconds, console)
    with _writing_to(out):
        _write_files(result, problem, out, console)
    python = escape(os.path.relpath(sys.executable))
    console.print("\nYour own problem, in a file of your own (more in README.md). Run it with")
    console.print(f"[bold]{python} my_problem.py[/]\n", soft_wrap=True, highlight=False)
    console.print(Syntax(SNIPPET, "python", theme="ansi_light", background_color="default"))
    return result.interrupted


def _report(result: Result, problem: Problem, seconds: float, console: Console) -> None:
    n = len(result.trials)
    console.print()
    if result.interrupted:
        console.print(f"[yellow]Stopped early, after {n} experiments.[/]\n", highlight=False)
    best = result.best
    if n == 0:
        return
    if best is None or best.value is None:
        console.print(f"None of the {n} designs worked; try more --evaluations.", highlight=False)
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("[bold]best design", f"number {best.number} in trials.csv")
    for name, value in best.params.items():
        table.add_row(f"  {name}", _number(value))
    table.add_row("[bold]its value", f"[bold]{_number(best.value)}")
    table.add_row("best possible", _number(problem.optimum))
    table.add_row("distance to it", _distance(best.value, problem.optimum))
    table.add_row("designs that failed", f"{result.n_failed} of {n}")
    table.add_row("time per proposal", f"{seconds / n:.2g} s on average")
    console.print(table, highlight=False)


def _write_files(result: Result, problem: Problem, out: Path, console: Console) -> None:
    _write_trials(result, problem.space.names, out / "trials.csv")
    console.print(f"\nEvery design tried: {out / 'trials.csv'}", soft_wrap=True)
    try:
        from becbo.plots.progress import progress_figure
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("matplotlib"):
            raise
        console.print("No picture: matplotlib is missing (pip install 'becbo\\[plots]').")
        return
    figure = progress_figure(
        [t.value for t in result.trials],
        optimum=problem.optimum,
        title=f"{problem.name}: {len(result.trials)} experiments, {result.n_failed} failed",
    )
    figure.savefig(out / "progress.png", dpi=150)
    console.print(f"Picture of the run: {out / 'progress.png'}", soft_wrap=True)


def _write_trials(result: Result, names: tuple[str, ...], path: Path) -> None:
    believed = ["chance_to_work", "predicted_value"]  # before the experiment ran
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["number", *names, "outcome", "value", "reason", *believed])
        for t in result.trials:
            guess = [t.believed.p_feasible, t.believed.mean] if t.believed else [None, None]
            params = [t.params[name] for name in names]
            rows.writerow([t.number, *params, t.outcome.value, t.value, t.reason, *guess])


@contextmanager
def _writing_to(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"cannot write to --out {out}: {error.strerror}") from error


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _distance(value: float, optimum: float) -> str:
    if abs(optimum) < 1e-9:  # a share of (almost) nothing would say nothing
        return f"{value - optimum:.3g}"
    percent = 100 * (value - optimum) / abs(optimum)
    digits = ".0f" if percent > 10 else ".2g"
    return f"{value - optimum:.3g} ({percent:{digits}} %)"


def _duration(seconds: float) -> str:
    if seconds < 10:
        return "a few seconds"
    return f"about {seconds:.0f} seconds" if seconds < 90 else f"about {seconds / 60:.0f} minutes"
