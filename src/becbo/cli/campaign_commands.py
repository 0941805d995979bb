"""The commands for a campaign as a whole.

Create, change, delete, restore, import, export, status, report.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from becbo.cli.options import (
    FILE,
    ByOption,
    FileOption,
    JsonOption,
    NameOption,
    OverwriteOption,
    opened_campaign,
    print_json,
    repeated_options,
    storage_errors,
)

MarginOption = Annotated[
    float | None,
    typer.Option(help="How much better is worth going on for, in units of the objective."),
]


def new(
    description: Annotated[
        Path | None,
        typer.Argument(
            help="A .yaml, .toml or .json file. Without it, you are asked.", show_default=False
        ),
    ] = None,
    file: FileOption = FILE,
) -> None:
    """Create a campaign from a description, or by answering questions.

    The answers are also written to a .yaml file, from which others can create
    the same campaign. examples/coating.yaml shows everything it can contain.
    """
    console = Console()
    with storage_errors(file):
        from becbo.campaign.campaign import Campaign
        from becbo.campaign.store import campaign_names
        from becbo.cli.display import hint, overview
        from becbo.cli.questions import ask
        from becbo.optuna.storage import without_password

        if description is None:
            asked = ask(file, console)
            if asked is None:
                console.print("Nothing was created.")
                return
            created, path = asked
            console.print(f"\nThe description, to share: {escape(str(path))}", soft_wrap=True)
        else:
            created = Campaign.create(description, file)
            console.print(overview(created.description), highlight=False)
        shown = escape(without_password(file))
        console.print(f"\nCreated {escape(created.name)} in {shown}.", soft_wrap=True)
        name = created.name if len(campaign_names(file)) > 1 else None
        hint(console, "The first experiment", f"suggest{repeated_options(file, name)}")


def change(
    description: Annotated[
        Path | None,
        typer.Argument(
            help="A .yaml, .toml or .json file. Without it, the present description is printed.",
            show_default=False,
        ),
    ] = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
) -> None:
    """Change ranges, constraints, the budget or any setting of a campaign.

    `becbo change > coating.yaml` writes the present description; edit it, then
    `becbo change coating.yaml`. All runs stay. The kind of a parameter cannot change.
    """
    with opened_campaign(file, campaign) as opened:
        if description is None:
            typer.echo(opened.description.to_yaml(), nl=False)
            return
        for line in opened.change(description) or ["nothing is different"]:
            typer.echo(line)


def delete(
    name: Annotated[str, typer.Argument(help="The name of the campaign.", show_default=False)],
    file: FileOption = FILE,
) -> None:
    """Remove a campaign from every list. `becbo restore` brings it back with all of its runs."""
    with opened_campaign(file, name) as opened:
        from becbo.campaign.formatting import plural
        from becbo.cli.display import hint

        opened.delete()
        console = Console(highlight=False, soft_wrap=True)
        console.print(f"Deleted: {escape(name)} with {plural(len(opened.runs), 'run')}.")
        hint(console, "To bring it back", f"restore {quote(name)}{repeated_options(file, None)}")


def restore(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The name of the deleted campaign; not needed where there is only one.",
            show_default=False,
        ),
    ] = None,
    file: FileOption = FILE,
) -> None:
    """Bring back a deleted campaign with all of its runs."""
    with storage_errors(file):
        from becbo.campaign.campaign import Campaign
        from becbo.campaign.formatting import plural

        deleted = Campaign.open(file, name, deleted=True)
        deleted.restore()
        shown = f"{escape(deleted.name)} with {plural(len(deleted.runs), 'run')}"
        Console(highlight=False, soft_wrap=True).print(f"Restored: {shown}.")


def import_(
    table: Annotated[Path, typer.Argument(help="A .csv or .xlsx file.", show_default=False)],
    by: ByOption = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    r"""Import experiments from a spreadsheet, all of its rows or none.

    One row is one experiment. The columns are headed by the names of the
    parameters and of the outputs, with or without the unit: temperature
    or temperature \[°C]. `failed` in the cell of an output, or no value of any
    objective, means that the experiment failed.

    Optional columns: number (of a pending run that the row records, or that
    stays pending if the row has no result), outcome, reason, note. Any others,
    such as a date, are added to the note.

    Rows that are known already are skipped, except that a missing reason or
    note is filled in. Of an Excel file, the first sheet is read. `becbo export`
    writes such a table, `becbo undo` takes an import back.
    """
    with opened_campaign(file, campaign, by) as opened:
        from becbo.cli.display import print_imported
        from becbo.tables.importing import import_table, import_to_dict

        with Console(stderr=True).status(f"importing {escape(str(table))}"):
            done = import_table(opened, table)
        if as_json:
            print_json(import_to_dict(done))
        else:
            print_imported(Console(), done, repeated_options(file, campaign))


def export(
    table: Annotated[Path, typer.Argument(help="A .csv, .xlsx or .json file.", show_default=False)],
    overwrite: OverwriteOption = False,
    file: FileOption = FILE,
    campaign: NameOption = None,
) -> None:
    """Write all runs to a spreadsheet; .json has their history too."""
    with opened_campaign(file, campaign) as opened:
        from becbo.campaign.formatting import plural
        from becbo.tables.writing import export_table

        export_table(opened, table, overwrite=overwrite)
        n_runs = plural(len(opened.runs), "run")
        Console().print(f"{n_runs} written to {escape(str(table))}", soft_wrap=True)


def status(
    everything: Annotated[bool, typer.Option("--all", help="Also list all runs.")] = False,
    margin: MarginOption = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the best design, the budget, why experiments failed, and whether to go on."""
    with opened_campaign(file, campaign) as opened:
        from becbo import Stop
        from becbo.campaign.serialization import run_to_dict, status_to_dict
        from becbo.cli.display import hint, print_outlook, print_status, repetition

        rule, now, remark, again, seen = Stop(margin=margin), opened.status, "", "", None
        if now.n_done:
            from becbo.insight.standing import believed_status, confirmation, standings

            description, known, optimizer = opened.description, opened.runs, opened.optimizer()
            seen = optimizer.outlook
            now = believed_status(description, now, known, optimizer)
            best = standings(description, now, known, optimizer)
            remark, again = confirmation(description, best), repetition(best)
        if as_json:
            runs = {"runs": [run_to_dict(run) for run in opened.runs]} if everything else {}
            ahead = None if seen is None else seen.to_dict(rule)
            print_json(status_to_dict(opened) | {"outlook": ahead} | runs)
            return
        print_status(Console(), opened, now, remark, everything)
        if seen is not None:
            print_outlook(Console(), seen, rule)
        if again:
            hint(Console(), "To repeat the best run", f"{again}{repeated_options(file, campaign)}")


def report(
    file: FileOption = FILE,
    campaign: NameOption = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path(
        "report.html"
    ),
    margin: MarginOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write a report: the best design, what next and why, and what drives failure.

    It is one HTML file with everything in it, which any browser shows, offline
    too.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.report.html import write_report

        with Console(stderr=True).status("fitting the models"):
            path = write_report(opened, out, margin=margin, overwrite=overwrite)
    Console().print(f"Written: {escape(str(path))}", soft_wrap=True, highlight=False)
