"""`becbo bench`: compare methods on problems, with records that survive interruptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from becbo.cli.common import split_names, writing_to
from becbo.errors import InvalidInput

if TYPE_CHECKING:
    from becbo.bench.plan import Plan, Run
    from becbo.bench.records import Record
    from becbo.bench.table import Table as Cells

# Columns of the table that a terminal narrower than this leaves out; --markdown has them all.
_WIDE = 130
_ONLY_WIDE = ("seeds", "optimum", "best: median (worst)", "first feasible")

bench = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Compare methods on test problems: run, look, tabulate, report.\n\n"
    "Start with: [bold]becbo bench run --suite interior --methods edge --seeds 2 --budget 40 "
    "--out try[/bold]",
)

Folder = Annotated[Path, typer.Argument(help="The folder given to `becbo bench run --out`.")]


@bench.command(
    epilog="Example: [bold]becbo bench run --suite paper --methods edge,cei,scbo --seeds 10 "
    "--budget 200 --jobs 2 --out records[/bold]"
)
def run(
    out: Annotated[Path, typer.Option(help="Folder for the records.")],
    suite: Annotated[
        str, typer.Option(help="Which problems and methods: see `becbo bench suites`.")
    ] = "paper",
    methods: Annotated[
        str, typer.Option(help="Instead of the suite's: names from `becbo methods`, a,b,c.")
    ] = "",
    problems: Annotated[
        str, typer.Option(help="Instead of the suite's: names from `becbo problems`, a,b,c.")
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="How often, with different starts.")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, help="Number of the first start.")] = 0,
    budget: Annotated[int, typer.Option(min=1, help="Evaluations per run, all included.")] = 200,
    protocol: Annotated[
        str,
        typer.Option(
            help="authors: the 10 initial points are drawn again, free of charge, until one "
            "works. honest: they are what they are."
        ),
    ] = "authors",
    jobs: Annotated[
        int, typer.Option(help="Runs side by side; -1: one per processor, or the whole cluster.")
    ] = 1,
    backend: Annotated[
        str, typer.Option(help="loky: this machine. ray, dask: the cluster at --address.")
    ] = "loky",
    address: Annotated[
        str | None, typer.Option(help="Of the cluster; without it one is started here.")
    ] = None,
    accuracy: Annotated[
        bool,
        typer.Option(
            "--accuracy",
            help="After every evaluation test the classifier on 10,000 random designs; runs that "
            "have not measured it are repeated.",
        ),
    ] = False,
) -> None:
    """Run every method on every problem, one record per run.

    Stop it whenever you like and give the same command to continue:
    finished runs are kept and not repeated. More seeds or methods can be
    added later the same way.
    """
    from becbo.bench.plan import make_plan

    chosen = range(first_seed, first_seed + seeds)
    plan = make_plan(suite, split_names(methods), split_names(problems), chosen, budget, protocol)
    if accuracy:
        _check_accuracy(plan)
    _run_plan(plan, out, jobs, backend, address, accuracy, Console())


@bench.command(epilog="Example: [bold]becbo bench status records[/bold]")
def status(folder: Folder) -> None:
    """Show which runs are there, which failed and which are missing."""
    from becbo.bench.records import missing, read_plans

    console = Console()
    records = read_records(folder, console)
    complaints: list[str] = []
    planned = {run.key: run for plan in read_plans(folder, complaints) for run in plan.runs()}
    _print_complaints(complaints, console)
    left = missing(planned.values(), records)
    _print_status(records, list(planned.values()), left, console)
    _print_errors(records, console)
    if left:
        noun = "run is" if len(left) == 1 else "runs are"
        console.print(f"\n{len(left)} {noun} missing: give the same command again to continue.")


@bench.command(
    epilog="Example: [bold]becbo bench table records --markdown > table.md[/bold]",
)
def table(
    folder: Folder,
    markdown: Annotated[bool, typer.Option("--markdown", help="For a page.")] = False,
) -> None:
    """Print the numbers: best designs, distance to the optimum, failures, time.

    Regret is (best - optimum) / (typical - optimum), where typical is the
    median over random designs that work. On the log10 scale, 0 is no better
    than a random working design and -2 a hundred times closer to the optimum.
    With several objectives, the share of the best known hypervolume counts.
    """
    from becbo.bench.table import tables

    records = finished_records(folder, Console(stderr=True))
    found = tables(records)
    if not found:
        raise InvalidInput(f"no finished run in {folder}; make some with `becbo bench run`")
    if markdown:
        typer.echo("\n\n".join(cells.markdown() for cells in found))
    else:
        console = Console()
        for cells in found:
            console.print(_rich(cells, console.width))


@bench.command(epilog="Example: [bold]becbo bench report records[/bold]")
def report(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option(help="Where to; otherwise `report` inside the folder.")
    ] = None,
) -> None:
    """Draw the figures and write a page with the numbers.

    One section per suite: best values, distance to the optimum, designs
    that worked, time, targets reached, ranks and tests. Figures are PNG
    and SVG; the page is Markdown. Problems in the plane also get pictures
    of what the methods tried and believed. Takes about a minute per suite.
    """
    from becbo.bench.report import write_report

    console = Console()
    records = finished_records(folder, console)
    target = out or folder / "report"
    with writing_to(target), console.status("reading") as status:
        page = write_report(records, target, lambda step: status.update(f"drawing: {step}"))
    console.print(f"Done: {page}", soft_wrap=True, highlight=False)


@bench.command(epilog="Example: [bold]becbo bench run --suite ackley --out records[/bold]")
def suites() -> None:
    """List the suites: problems and methods that belong together."""
    from becbo.bench.plan import SUITES

    lines = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("suite", "problems", "methods", "what it shows"):
        lines.add_column(column, no_wrap=column == "suite")
    for name, suite in SUITES.items():
        labels = ", ".join(variant.label for variant in suite.variants)
        lines.add_row(name, str(len(suite.problems)), labels, suite.summary)
    Console().print(lines)


def _check_accuracy(plan: Plan) -> None:
    """Refuses problems on which it cannot be measured, before the first run."""
    from becbo.bench.accuracy import probes
    from becbo.problems import get_single

    for problem in plan.problems:
        probes(get_single(problem))


def _run_plan(
    plan: Plan,
    out: Path,
    jobs: int,
    backend: str,
    address: str | None,
    accuracy: bool,
    console: Console,
) -> None:
    from becbo.bench.records import missing, read, write, write_plan
    from becbo.bench.run import fan_out

    with writing_to(out):
        out.mkdir(parents=True, exist_ok=True)
        before = read(out)
        left = missing(plan.runs(), before.records, accuracy)
        write_plan(out, plan)
    _print_complaints(before.complaints, console)
    n_runs = len(plan.runs())
    console.print(f"{n_runs} runs, {n_runs - len(left)} of them in {out} already", soft_wrap=True)
    new: list[Record] = []
    try:
        with _Progress(left, before.records, jobs, console) as progress:
            for record in fan_out(left, jobs, backend, address, before.records, accuracy):
                with writing_to(out):
                    write(out, record)
                new.append(record)
                progress.advance(record)
    except KeyboardInterrupt:
        console.print(
            f"Stopped; finished runs (new: {len(new)}) are kept. The same command continues."
        )
        raise typer.Exit(130) from None
    _print_errors(new, console)
    if any(not record.is_finished for record in new):
        raise typer.Exit(1)
    if new:
        console.print(
            f"Done. See the numbers with: becbo bench table {out}\n"
            f"and the figures with: becbo bench report {out}",
            soft_wrap=True,
        )


class _Progress:
    """A bar per method with the time left; one line per run where the output is no terminal."""

    def __init__(
        self, runs: Sequence[Run], known: Iterable[Record], jobs: int, console: Console
    ) -> None:
        self._left = {run.key: run for run in runs}
        self._known, self._jobs, self._console = list(known), jobs, console
        self._n_runs = len(runs)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        counts = Counter(run.label for run in runs)
        self._tasks: dict[str, TaskID] = {
            label: self._bars.add_task(label, total=n, state="") for label, n in counts.items()
        }

    def __enter__(self) -> _Progress:
        self._bars.start()
        self._show_time_left()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def advance(self, record: Record) -> None:
        """One more run has ended."""
        self._known.append(record)
        del self._left[record.run.key]
        self._bars.advance(self._tasks[record.run.label])
        self._show_time_left()
        if not self._console.is_terminal:
            from becbo.bench.table import outcome

            n_done = self._n_runs - len(self._left)
            self._console.print(
                f"{n_done}/{self._n_runs} {record.run}: {outcome(record)} "
                f"in {duration(record.seconds_total)}; {self._time_left(self._left.values())}",
                soft_wrap=True,
                highlight=False,
            )

    def _show_time_left(self) -> None:
        for label, task in self._tasks.items():
            mine = [run for run in self._left.values() if run.label == label]
            self._bars.update(task, state=self._time_left(mine))

    def _time_left(self, runs: Iterable[Run]) -> str:
        from becbo.bench.run import seconds_left

        seconds = seconds_left(runs, self._known, self._jobs)
        return "time left: not known yet" if seconds is None else f"{duration(seconds)} left"


def duration(seconds: float) -> str:
    """A time as people say it."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def read_records(folder: Path, console: Console) -> tuple[Record, ...]:
    """The records of a folder; lines that cannot be read are complained about."""
    from becbo.bench.records import read

    if not folder.is_dir():
        raise InvalidInput(f"there is no folder {folder}; make one with `becbo bench run --out`")
    reading = read(folder)
    _print_complaints(reading.complaints, console)
    return reading.records


def finished_records(folder: Path, console: Console) -> list[Record]:
    """The records to compare; those that ended in an error are left out, which is said."""
    records = read_records(folder, console)
    finished = [record for record in records if record.is_finished]
    if n := len(records) - len(finished):
        console.print(
            f"[yellow]note:[/] {n} runs ended in an error and are left out; `becbo bench status "
            f"{escape(str(folder))}` shows them",
            soft_wrap=True,
            highlight=False,
        )
    return finished


def _print_status(
    records: Sequence[Record], planned: Sequence[Run], left: Sequence[Run], console: Console
) -> None:
    """One line per problem and method."""
    there, failed, absent = (
        Counter((run.problem, run.label) for run in runs)
        for runs in (
            [r.run for r in records if r.is_finished],
            [r.run for r in records if not r.is_finished],
            left,
        )
    )
    lines = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("problem", "method", "finished", "failed", "missing"):
        lines.add_column(column)
    groups = dict.fromkeys(
        (run.problem, run.label) for run in [*planned, *(r.run for r in records)]
    )
    for group in sorted(groups):
        lines.add_row(*group, *(str(n[group]) for n in (there, failed, absent)))
    console.print(lines)
    console.print(f"\n{sum(there.values())} runs finished, {len(left)} missing")


def _print_complaints(complaints: Iterable[str], console: Console) -> None:
    for complaint in complaints:
        console.print(f"[yellow]note:[/] {escape(complaint)}", soft_wrap=True, highlight=False)


def _print_errors(records: Sequence[Record], console: Console) -> None:
    """The last line of each error; the whole of the first."""
    failed = [record for record in records if not record.is_finished]
    if not failed:
        return
    console.print(f"\n[bold red]{len(failed)} runs ended in an error[/] (repeated next time):")
    for record in failed:
        last = (record.error or "").strip().splitlines()[-1]
        console.print(f"  {record.run}: {escape(last)}", soft_wrap=True, highlight=False)
    console.print(f"\nThe first in full:\n{escape(failed[0].error or '')}", highlight=False)


def _rich(cells: Cells, width: int) -> Table:
    """The table, without what a narrow terminal has no room for."""
    hidden = _ONLY_WIDE if width < _WIDE else ()
    kept = [i for i, column in enumerate(cells.header) if column not in hidden]
    lines = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for i in kept:
        column = cells.header[i]
        lines.add_column(column, no_wrap=column in ("problem", "method"))
    for row in cells.rows:
        lines.add_row(*(escape(row[i]) for i in kept))
    lines.add_section()
    for row in cells.means:
        lines.add_row(*(escape(row[i]) for i in kept), style="bold")
    return lines
