"""`becbo bench accuracy`: how well the classifiers of recorded runs knew the edge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from becbo.cli.bench import Folder, duration, read_records
from becbo.cli.common import split_names, writing_to
from becbo.errors import InvalidInput

if TYPE_CHECKING:
    from becbo.bench.accuracy import Task

EPILOG = "Example: [bold]becbo bench accuracy records --every 20 --jobs 2[/bold]"


def accuracy(
    folder: Folder,
    every: Annotated[int, typer.Option(min=1, help="Evaluations from one fit to the next.")] = 10,
    methods: Annotated[
        str, typer.Option(help="Of runs in the folder, a,b,c.")
    ] = "be-cbo,be-cbo-gp,edge",
    problems: Annotated[str, typer.Option(help="Only these, a,b,c.")] = "",
    jobs: Annotated[int, typer.Option(help="Runs side by side; -1: one per processor.")] = 1,
) -> None:
    """Fit the classifiers of finished runs again and test them on random points.

    The balanced accuracy counts designs that work as much as designs that
    fail: a guess has 50 %. It goes to accuracy.jsonl in the folder, from
    where `becbo bench report` draws it. Stop whenever you like and give the
    same command to continue; a smaller --every adds to what is there.
    """
    from becbo.bench.accuracy import CURVES, read_curves, unmeasured

    console = Console()
    if jobs < 1 and jobs != -1:
        raise InvalidInput(f"jobs {jobs}: give at least 1, or -1 for all processors")
    records = [
        record
        for record in read_records(folder, console)
        if record.run.label in split_names(methods)
        and record.run.problem in (split_names(problems) or [record.run.problem])
    ]
    if not records:
        where = f" on {problems}" if problems else ""
        raise InvalidInput(f"there is no run of {methods}{where} in {folder}")
    _measure(folder, unmeasured(records, read_curves(folder), every), jobs, console)
    console.print(f"Done: {folder / CURVES}", soft_wrap=True, highlight=False)


def _measure(folder: Path, tasks: Sequence[Task], jobs: int, console: Console) -> None:
    """Runs the tasks; a bar with the time left, or one line per run if this is no terminal."""
    from becbo.bench.accuracy import measure_all, write_curve

    n_fits = sum(len(counts) for _, counts in tasks)
    console.print(f"{n_fits} classifiers to fit, in {len(tasks)} runs", highlight=False)
    columns = "classifiers", BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    bars = Progress(*columns, console=console, disable=not console.is_terminal)
    bar = bars.add_task("time left: not known yet", total=n_fits)
    n_done, begin = 0, time.perf_counter()
    try:
        with bars:
            for curve in measure_all(tasks, jobs):
                with writing_to(folder):
                    write_curve(folder, curve)
                n_done += len(curve.accuracy)
                pace = (time.perf_counter() - begin) / n_done
                left = f"{duration(pace * (n_fits - n_done))} left"
                bars.update(bar, completed=n_done, description=left)
                if not console.is_terminal:
                    problem, label, seed = curve.key
                    final = curve.accuracy[max(curve.accuracy)]
                    console.print(
                        f"{n_done}/{n_fits} {problem}, {label}, seed {seed}: "
                        f"{final:.1%} in the end; {left}",
                        soft_wrap=True,
                        highlight=False,
                    )
    except KeyboardInterrupt:
        console.print("Stopped; what was measured is kept. The same command continues.")
        raise typer.Exit(130) from None
