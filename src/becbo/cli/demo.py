"""`becbo demo`: one run on a known problem, explained to newcomers."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from becbo import METHODS, Campaign, Infeasible, InvalidInput, Outcome
from becbo.campaign.description import Description, LabParameter
from becbo.campaign.formatting import number, plural
from becbo.campaign.runs import Run
from becbo.campaign.store import FILE, campaign_names
from becbo.cli.common import writing_to
from becbo.cli.options import storage_errors
from becbo.extras import MissingExtra, needed_extras
from becbo.problems import Problem, get_single
from becbo.progress import ProgressBar
from becbo.settings import Settings
from becbo.tables import export_table

# For the announcement only: seconds per proposal of methods that train networks, and of others.
_TRAINED_PACE, _PACE = 3.0, 0.2

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
    """Runs the demo.

    Args:
        problem_name: A name from `becbo problems`.
        method: A name from `becbo methods`.
        evaluations: How many experiments.
        seed: The seed of the run.
        out: The folder for the files it writes.
        console: Where to print.

    Returns:
        Whether Ctrl-C ended it early.
    """
    problem = get_single(problem_name)
    if method not in METHODS:
        raise InvalidInput(f"method {method!r} is unknown; known: {', '.join(METHODS)}")
    with writing_to(out):  # before the run: nobody wants to wait for this message
        out.mkdir(parents=True, exist_ok=True)
    pace = _PACE if METHODS[method].ensemble is None else _TRAINED_PACE
    console.print(
        f"Looking for the best {problem_name} design ({problem.dim} parameters) with {evaluations} "
        f"experiments, each of which returns a value or fails and returns nothing; "
        f"this takes {_duration(evaluations * pace)}.\n",
        highlight=False,
    )
    with storage_errors(out / FILE):
        campaign = _campaign(problem, method, evaluations, seed, out / FILE)
        interrupted = _run(campaign, problem, evaluations)
        _report(campaign.runs, problem, interrupted, console)
        with writing_to(out):
            _write_files(campaign, problem, out, console)
    python, path = os.path.relpath(sys.executable), out / "my_problem.py"
    console.print("\nYour own problem (more in README.md). Edit this file and run it with")
    command = escape(f"{shlex.quote(python)} {shlex.quote(str(path))}")
    console.print(f"[bold]{command}[/]\n", soft_wrap=True, highlight=False)
    console.print(Syntax(SNIPPET, "python", theme="ansi_light", background_color="default"))
    return interrupted


def becbo_command() -> str:
    """How this program is called from here: `make demo` does not put it on the path."""
    beside = Path(sys.executable).with_name("becbo")
    found = shutil.which("becbo")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "becbo"
    if beside.exists():
        return shlex.quote(os.path.relpath(beside))
    return f"{shlex.quote(os.path.relpath(sys.executable))} -m becbo"


def _campaign(problem: Problem, method: str, budget: int, seed: int, file: Path) -> Campaign:
    """Creates a campaign in the file, beside those of earlier demos."""
    taken = campaign_names(file)
    names = (f"{problem.name} {i}" if i > 1 else problem.name for i in itertools.count(1))
    described = Description(
        next(name for name in names if name not in taken),
        tuple(LabParameter(parameter) for parameter in problem.space.parameters),
        budget=budget,
        settings=Settings(method=method, seed=seed),
        note="A problem from the literature, to try things on.",
    )
    return Campaign.create(described, file)


def _run(campaign: Campaign, problem: Problem, evaluations: int) -> bool:
    """Runs all experiments; returns whether Ctrl-C ended it early."""
    try:
        with ProgressBar(evaluations) as bar:
            for _ in range(evaluations):
                (run,) = campaign.suggest()
                try:
                    campaign.record(run.number, problem(run.params))
                except Infeasible as failure:
                    campaign.record(run.number, failed=failure.reason)
                status = campaign.status
                best = "nothing yet" if status.best is None else f"best {status.best.value:.6g}"
                bar.advance(status.counts[Outcome.FAILED], best)
    except KeyboardInterrupt:
        for run in campaign.runs:
            if run.outcome is Outcome.PENDING:
                campaign.record(run.number, lost="stopped")
        return True
    return False


def _report(runs: Sequence[Run], problem: Problem, interrupted: bool, console: Console) -> None:
    done = [run for run in runs if run.outcome.is_answer]
    worked = [(run.value, run) for run in done if run.value is not None]
    console.print()
    if interrupted:
        console.print(
            f"[yellow]Stopped early, after {plural(len(done), 'experiment')}.[/]\n", highlight=False
        )
    if not worked:
        if done:
            console.print(f"None of the {len(done)} designs worked; try more --evaluations.")
        return
    value, best = min(worked, key=lambda pair: pair[0])
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("[bold]best design", f"run {best.number}")
    for name, setting in best.params.items():
        table.add_row(f"  {name}", number(setting))
    table.add_row("[bold]its value", f"[bold]{number(value)}")
    table.add_row("best possible", number(problem.optimum))
    table.add_row("distance to it", _distance(value, problem.optimum))
    table.add_row("designs that failed", f"{len(done) - len(worked)} of {len(done)}")
    console.print(table, highlight=False)


def _write_files(campaign: Campaign, problem: Problem, out: Path, console: Console) -> None:
    """Writes the table, and the picture and the report if their packages are installed."""
    export_table(campaign, out / "runs.csv", overwrite=True)
    if not (out / "my_problem.py").exists():  # somebody may have edited it
        (out / "my_problem.py").write_text(SNIPPET, encoding="utf-8")
    lines = [f"The study: {out / FILE}", f"Every design tried: {out / 'runs.csv'}"]
    for name, write in (("progress.png", _picture), ("report.html", _report_file)):
        try:
            with needed_extras():
                write(campaign, problem, out / name)
            lines.append(f"{name.partition('.')[0].capitalize()}: {out / name}")
        except MissingExtra as error:
            lines.append(f"No {name}: {error}")
    console.print()
    for line in lines:
        console.print(escape(line), soft_wrap=True, highlight=False)
    named = f" -c {shlex.quote(campaign.name)}" if len(campaign_names(out / FILE)) > 1 else ""
    place, becbo = f"--file {shlex.quote(str(out / FILE))}", becbo_command()
    console.print("\nLook around:")
    for what in (f"serve {place}", f"status {place}{named}", f"suggest {place}{named}"):
        console.print(f"[bold]{escape(f'{becbo} {what}')}[/]", soft_wrap=True, highlight=False)


def _report_file(campaign: Campaign, problem: Problem, path: Path) -> None:
    from becbo.report import write_report

    write_report(campaign, path, overwrite=True)


def _picture(campaign: Campaign, problem: Problem, path: Path) -> None:
    from becbo.plots.progress import progress_figure

    done = [run for run in campaign.runs if run.outcome.is_answer]
    n_failed = sum(run.outcome is Outcome.FAILED for run in done)
    figure = progress_figure(
        [run.value for run in done],
        optimum=problem.optimum,
        title=f"{problem.name}: {plural(len(done), 'experiment')}, {n_failed} failed",
    )
    figure.savefig(path, dpi=150)


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
