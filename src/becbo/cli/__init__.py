"""The command `becbo`.

Heavy imports live inside the commands, so that `becbo --help` answers at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from becbo.cli.bench import bench
from becbo.cli.commands import register
from becbo.cli.serve import EXAMPLE as SERVE_EXAMPLE
from becbo.cli.serve import serve
from becbo.cli.worker import EXAMPLE, worker
from becbo.errors import BecboError
from becbo.extras import needed_extras

# Proposals are many small matrix products: threads only get in each other's way (measured: one
# thread is up to four times as fast on a busy machine). NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Find the best design when experiments can fail and then return nothing.\n\n"
    "Start with: [bold]becbo demo[/bold]",
)
app.add_typer(bench, name="bench")
app.command(epilog=EXAMPLE)(worker)
register(app)
app.command(epilog=SERVE_EXAMPLE)(serve)


def main() -> None:
    """Run the command line; an expected error is one red line and exit code 2."""
    try:
        with needed_extras():
            app()
    except BecboError as error:
        message = f"[bold red]error:[/] {escape(str(error))}"
        Console(stderr=True).print(message, highlight=False, soft_wrap=True)
        raise SystemExit(2) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        from becbo import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None: ...


@app.command(epilog="Example: [bold]becbo demo --problem townsend --evaluations 100[/bold]")
def demo(
    evaluations: Annotated[int, typer.Option(min=1, help="How many experiments to run.")] = 60,
    # Of the seeds 0 to 8 the one with the median result: neither luck nor bad luck.
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives another run.")] = 7,
    problem: Annotated[
        str, typer.Option(help="The problem: a name from `becbo problems`.")
    ] = "speed_reducer",
    method: Annotated[str, typer.Option(help="The method: a name from `becbo methods`.")] = "edge",
    out: Annotated[Path, typer.Option(help="The folder for the files it writes.")] = Path(
        "becbo-demo"
    ),
) -> None:
    """Optimise a problem whose bad designs return nothing, and show what was found.

    Keeps the study in a file (becbo.db) and writes every design tried (runs.csv), a
    picture of the run (progress.png), a report (report.html) and a program to start
    from (my_problem.py). Ctrl-C stops early and still reports.
    """
    from becbo.cli.demo import run_demo

    interrupted = run_demo(problem, method, evaluations, seed, out, Console())
    if interrupted:
        raise typer.Exit(130)


@app.command(epilog="Example: [bold]becbo demo --problem spring[/bold] runs one of them.")
def problems() -> None:
    """List the test problems: size, share of the box that works, best known value."""
    from becbo.problems import PROBLEMS

    table = _table("problem", "parameters", "works", "best known", "note")
    for name, problem in PROBLEMS.items():
        table.add_row(
            name,
            str(problem.dim),
            _share(problem.feasibility_ratio),
            problem.best_known,
            escape(problem.notes.partition(". ")[0].rstrip(".")),
        )
    Console().print(table)


@app.command(epilog="Example: [bold]becbo demo --method be-cbo[/bold] runs one of them.")
def methods() -> None:
    """List the methods: what each does and where it comes from."""
    from becbo import METHODS

    table = _table("method", "what it does", "reference")
    for name, method in METHODS.items():
        table.add_row(name, escape(method.summary), escape(method.reference))
    Console().print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), expand="note" in columns)
    for column in columns:
        ratio = 1 if column == "note" else None  # what is left of the line, cut short
        whole = column in ("problem", "method", "best possible", "note")
        table.add_column(column, no_wrap=whole, ratio=ratio)
    return table


def _share(ratio: float | None) -> str:
    return "almost nothing" if ratio is None else f"{100 * ratio:.3g} %"
