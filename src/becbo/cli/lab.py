"""The commands for people who run experiments: translate, call the campaign, translate back.

What `--json` prints, for programs: a run is

    {number, params: {name: value}, outcome: "pending" | "ok" | "failed" | "lost", value, reason,
     note, origin, believed: {mean, std, p_feasible, band} | null, suggested, recorded,
     history: [{outcome, value, reason, note, recorded}]}

with times in ISO 8601, and

    suggest      {runs: [run]}
    record, correct, undo NUMBER, withdraw, add
                 run
    undo         {runs: [run]}, of an import several
    import       {added: [number], recorded: [number], corrected: [number], blank: [number],
                  differing: [number], known: count, pending: count, noted: [column]},
                 see `becbo.campaign.campaign.Imported`
    status       {campaign, objective: {name, unit, direction}, budget, left,
                  counts: {pending, ok, failed, lost}, best: run | null, pending: [run],
                  reasons: {reason: count}}, with --all: runs: [run]
"""

from __future__ import annotations

import json
import logging
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand

from becbo.errors import InvalidInput

if TYPE_CHECKING:
    from becbo.campaign.campaign import Campaign
    from becbo.campaign.description import Description
    from becbo.campaign.runs import Run

FILE = "becbo.db"

File = Annotated[
    str,
    typer.Option(
        "--file", "-f", envvar="BECBO_FILE", help="Where campaigns are kept, or a database URL."
    ),
]
Name = Annotated[
    str | None,
    typer.Option("--campaign", "-c", help="Its name; not needed where there is only one."),
]
Json = Annotated[bool, typer.Option("--json", help="For programs: nothing but JSON.")]
Number = Annotated[str, typer.Argument(help="Of the run.", show_default=False)]
Value = Annotated[
    str | None, typer.Argument(help="What came out, if it worked.", show_default=False)
]
Failed = Annotated[bool, typer.Option("--failed", help="This design does not work.")]
Lost = Annotated[bool, typer.Option("--lost", help="Power cut, broken sensor: says nothing.")]
Reason = Annotated[
    str,
    typer.Option(
        help="Why it failed (all reasons, separated by commas) or was lost.", show_default=False
    ),
]
Note = Annotated[str | None, typer.Option(help="Anything worth keeping.", show_default=False)]


class _Command(TyperCommand):
    """Takes -1.5 for a value, where others take it for an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {a}" if _is_negative(a) else a for a in args])


def _is_negative(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return text.startswith("-")


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command, name, example in (
        (new, "new", "becbo new coating.yaml"),
        (change, "change", "becbo change coating.yaml"),
        (suggest, "suggest", "becbo suggest -n 3"),
        (record, "record", "becbo record 17 812.5 --note 'slight haze'"),
        (correct, "correct", "becbo correct 17 --failed --reason cracked"),
        (undo, "undo", "becbo undo 17"),
        (withdraw, "withdraw", "becbo withdraw 17"),
        (add, "add", "becbo add temperature=320 gas=argon 790"),
        (import_, "import", "becbo import old_experiments.xlsx"),
        (export, "export", "becbo export runs.csv"),
        (status, "status", "becbo status --all"),
    ):
        app.command(
            name,
            epilog=f"Example: [bold]{example}[/bold]",
            cls=_Command,
            rich_help_panel="Your experiments",
        )(command)


def new(
    description: Annotated[
        Path | None,
        typer.Argument(
            help="A .yaml, .toml or .json file. Without it, you are asked.", show_default=False
        ),
    ] = None,
    file: File = FILE,
) -> None:
    """Begin a campaign: from a description, or by answering questions.

    The answers are also written to a .yaml file, from which others can begin
    the same campaign. examples/coating.yaml shows everything it can say.
    """
    console = Console()
    with using(file):
        from becbo.campaign.campaign import Campaign, campaigns
        from becbo.cli.display import hint, overview
        from becbo.cli.questions import ask

        if description is None:
            asked = ask(file, console)
            if asked is None:
                console.print("Nothing was created.")
                return
            begun, path = asked
            console.print(f"\nThe description, to share: {escape(str(path))}", soft_wrap=True)
        else:
            begun = Campaign.create(description, file)
            console.print(overview(begun.description), highlight=False)
        console.print(f"\nCreated {escape(begun.name)} in {escape(file)}.", soft_wrap=True)
        name = begun.name if len(campaigns(file)) > 1 else None
        hint(console, "The first experiment", f"suggest{_options(file, name)}")


def change(
    description: Annotated[
        Path | None,
        typer.Argument(
            help="A .yaml, .toml or .json file. Without it, the present description is printed.",
            show_default=False,
        ),
    ] = None,
    file: File = FILE,
    campaign: Name = None,
) -> None:
    """Change ranges, constraints, the budget or any setting of a campaign.

    `becbo change > coating.yaml` writes the description as it is; edit it, then
    `becbo change coating.yaml`. All runs stay. What a parameter is cannot change.
    """
    with opened_campaign(file, campaign) as opened:
        if description is None:
            typer.echo(opened.description.to_yaml(), nl=False)
            return
        for line in opened.change(description) or ["nothing is different"]:
            typer.echo(line)


def suggest(
    count: Annotated[int, typer.Option("-n", min=1, help="How many at once.")] = 1,
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Say which experiment to do next.

    The suggestion is pending until you record what came out. Several can be
    pending at once: they keep apart from each other. `becbo withdraw` takes
    back one that nobody will do.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.campaign.tables import run_dict
        from becbo.cli.display import print_suggestions

        runs: list[Run] = []
        is_stopped = False
        try:
            with Console(stderr=True).status("working out what to try next") as shown:
                while len(runs) < count:
                    shown.update(f"working out what to try next: {len(runs)} of {count}")
                    runs += opened.suggest()
        except KeyboardInterrupt:
            is_stopped = True
        if as_json:
            _print_json({"runs": [run_dict(run) for run in runs]})
        elif runs:
            print_suggestions(Console(), opened, runs, _options(file, campaign))
        if is_stopped:
            # One more may be pending already, written down just before.
            message = f"stopped: {len(runs)} of {count} suggestions were made"
            typer.echo(f"{message}; `becbo status` shows all that are pending", err=True)
            raise typer.Exit(130)


def record(
    number: Number,
    value: Value = None,
    failed: Failed = False,
    lost: Lost = False,
    reason: Reason = "",
    note: Note = None,
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Write down what came out of a suggested experiment.

    Give the value if it worked, --failed if this design does not work, or
    --lost if the experiment says nothing about the design: it is then
    suggested again.
    """
    entry = _entry(value, failed, lost, reason)
    with opened_campaign(file, campaign) as opened:
        run = opened.record(_number(number), **entry, note=note)
        _answer(opened, run, "Recorded", as_json, _options(file, campaign))


def correct(
    number: Number,
    value: Value = None,
    failed: Failed = False,
    lost: Lost = False,
    reason: Reason = "",
    note: Note = None,
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Write something else about a recorded experiment; the old entry is kept as history."""
    entry = _entry(value, failed, lost, reason)
    with opened_campaign(file, campaign) as opened:
        run = opened.correct(_number(number), **entry, note=note)
        _answer(opened, run, "Corrected", as_json, _options(file, campaign))


def undo(
    number: Annotated[
        str | None,
        typer.Argument(
            help="Of the run; without it, the last entry or import of all.", show_default=False
        ),
    ] = None,
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Take the last entry back: the run is what it was before.

    Again and again without a number, it walks back through all entries; an
    import is taken back as a whole. With a number, doing it twice to a
    corrected run brings the correction back.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.campaign.tables import run_dict
        from becbo.cli.display import print_undone

        options = _options(file, campaign)
        if number is not None:
            _answer(opened, opened.undo(_number(number)), "Taken back", as_json, options)
            return
        with Console(stderr=True).status("taking back"):
            runs = opened.undo_last()
        if as_json:
            _print_json({"runs": [run_dict(run) for run in runs]})
        else:
            print_undone(Console(), opened, runs, options)


def withdraw(
    number: Number,
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Take a suggestion back, as if it had not been made.

    Unlike a lost run it is not repeated, though the models may come to the
    same design again. They avoid it as long as it is pending.
    """
    with opened_campaign(file, campaign) as opened:
        run = opened.withdraw(_number(number))
        _answer(opened, run, "Withdrawn", as_json, _options(file, campaign))


def add(
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE... [VALUE]",
            help="All parameters, then the result.",
            show_default=False,
        ),
    ],
    failed: Failed = False,
    reason: Reason = "",
    note: Annotated[str, typer.Option(help="Anything worth keeping.", show_default=False)] = "",
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Record an experiment that was not suggested here."""
    with opened_campaign(file, campaign) as opened:
        params, value = _settings(settings, opened.description)
        entry = _entry(value, failed, False, reason)
        run = opened.add(params, entry["value"], failed=entry["failed"], note=note)
        _answer(opened, run, "Added", as_json, _options(file, campaign))


def import_(
    table: Annotated[Path, typer.Argument(help="A .csv or .xlsx file.", show_default=False)],
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    r"""Take over experiments from a spreadsheet, all of its rows or none.

    One row is one experiment. The columns are headed by the names of the
    parameters and of the objective, with or without the unit: temperature
    or temperature \[°C]. An empty or `failed` cell of the objective means
    that the experiment failed. More columns, if you like: number (of a
    pending run that the row records, or that stays pending if the row has
    no result), outcome, reason, note; any others, such as a date, are added
    to the note. Rows that are here already are skipped, but a reason or note
    that was missing is taken over. Of an Excel file, the first sheet is
    read. `becbo export` writes such a table, `becbo undo` takes an import
    back.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.cli.display import print_imported

        with Console(stderr=True).status(f"importing {escape(str(table))}"):
            done = opened.import_table(table)
        if as_json:
            _print_json(
                {
                    "added": [run.number for run in done.added],
                    "recorded": [run.number for run in done.recorded],
                    "corrected": [run.number for run in done.corrected],
                    "blank": [run.number for run in done.blank],
                    "differing": [run.number for run in done.differing],
                    "known": done.n_known,
                    "pending": done.n_pending,
                    "noted": done.noted,
                }
            )
        else:
            print_imported(Console(), done, _options(file, campaign))


def export(
    table: Annotated[Path, typer.Argument(help="A .csv, .xlsx or .json file.", show_default=False)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="If it exists.")] = False,
    file: File = FILE,
    campaign: Name = None,
) -> None:
    """Write all runs to a spreadsheet; .json has their history too."""
    if table.exists() and not overwrite:  # it may be the table that was to be imported
        raise InvalidInput(f"{table} exists already; choose another name, or add --overwrite")
    with opened_campaign(file, campaign) as opened:
        opened.export(table)
        n_runs = len(opened.runs)
        Console().print(f"{n_runs} runs written to {escape(str(table))}", soft_wrap=True)


def status(
    everything: Annotated[bool, typer.Option("--all", help="Also list all runs.")] = False,
    file: File = FILE,
    campaign: Name = None,
    as_json: Json = False,
) -> None:
    """Show where a campaign stands: the best design, the budget, what is pending, why it failed."""
    with opened_campaign(file, campaign) as opened:
        from becbo.cli.display import print_status, status_dict

        if as_json:
            _print_json(status_dict(opened, everything))
        else:
            print_status(Console(), opened, everything)


@contextmanager
def opened_campaign(file: str, name: str | None) -> Iterator[Campaign]:
    """The campaign that the common options name."""
    with using(file):
        from becbo.campaign.campaign import Campaign

        yield Campaign.open(file, name)


@contextmanager
def using(file: str | Path) -> Iterator[None]:
    """Storages that break are an error message; what they and the models log is not shown."""
    from becbo.optuna.storage import BREAKAGE, last_words

    loggers = [logging.getLogger(name) for name in ("optuna", "becbo")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    except BREAKAGE as error:
        raise InvalidInput(f"cannot use {file}: {last_words(error)}") from error
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _entry(value: str | None, failed: bool, lost: bool, reason: str) -> dict[str, Any]:
    """What came out, as `Campaign.record` takes it."""
    if (value is not None) + failed + lost != 1:
        given = [] if value is None else [value]
        given += ["--failed"] * failed + ["--lost"] * lost
        raise InvalidInput(
            f"got {' and '.join(given) or 'no result'}; give exactly one of VALUE, --failed and "
            "--lost"
        )
    if reason and value is not None:
        raise InvalidInput(f"--reason {reason!r} goes with --failed or --lost; use --note instead")
    return {
        "value": None if value is None else _value(value),
        "failed": failed and (reason or True),
        "lost": lost and (reason or True),
    }


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not the number of a run; `becbo status --all` lists them"
        ) from None


def _value(text: str) -> float:
    from becbo.campaign.tables import parse_number

    try:
        return parse_number(text.strip(), "VALUE")
    except InvalidInput as error:
        raise InvalidInput(f"{error}; use --failed if the experiment failed") from None


def _settings(texts: Sequence[str], description: Description) -> tuple[dict[str, Any], str | None]:
    """`temperature=320 gas=argon 790` as params and the result."""
    from becbo.campaign.tables import parameter_value

    kinds = {parameter.name: parameter for parameter in description.space.parameters}
    params: dict[str, Any] = {}
    results = []
    for text in texts:
        name = next((name for name in kinds if text.startswith(f"{name}=")), None)
        if name is None and "=" in text:
            raise InvalidInput(f"{text!r}: the parameters are {', '.join(kinds)}")
        if name is None:
            results.append(text)
        elif name in params:
            raise InvalidInput(f"{text!r}: {name} is given twice")
        else:
            params[name] = parameter_value(kinds[name], text.removeprefix(f"{name}="))
    if missing := [name for name in kinds if name not in params]:
        raise InvalidInput(f"{missing[0]} is missing: add {missing[0]}=VALUE")
    if len(results) > 1:
        raise InvalidInput(f"got {' and '.join(results)}; give one result, settings as NAME=VALUE")
    return params, results[0] if results else None


def _answer(campaign: Campaign, run: Run, verb: str, as_json: bool, options: str) -> None:
    """Says what stands in a run now."""
    from becbo.campaign.tables import run_dict
    from becbo.cli.display import print_entry

    if as_json:
        _print_json(run_dict(run))
    else:
        print_entry(Console(), campaign, run, verb, options)


def _print_json(document: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(document, indent=1))


def _options(file: str, campaign: str | None) -> str:
    """What has to be said again in the next command."""
    words = ["-f", file] if file != os.environ.get("BECBO_FILE", FILE) else []
    words += ["-c", campaign] if campaign is not None else []
    return "".join(f" {shlex.quote(word)}" for word in words)
