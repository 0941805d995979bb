"""The commands that look after the file or database of campaigns: check and backup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from becbo.cli.options import (
    FILE,
    FileOption,
    JsonOption,
    OverwriteOption,
    print_json,
    storage_errors,
)

if TYPE_CHECKING:
    from becbo.campaign.upkeep import StudyState


def check(file: FileOption = FILE, as_json: JsonOption = False) -> None:
    """Is the file sound, and what is pending, stale or lost in it?

    A stale trial belongs to a worker that has given no sign of life for too
    long. The exit code is 1 if the file is damaged.
    """
    from becbo.campaign.upkeep import study_states
    from becbo.optuna.storage import without_password
    from becbo.optuna.upkeep import find_damage

    with storage_errors(file):
        damage = find_damage(file)
        states = [] if damage else study_states(file)
    if as_json:
        print_json({"damage": damage, "studies": [vars(state) for state in states]})
    else:
        console, shown = Console(highlight=False, soft_wrap=True), escape(without_password(file))
        verdict = "[bold red]is damaged[/]; go back to a backup" if damage else "is sound"
        console.print(f"{shown} {verdict}.")
        for line in [*damage, *map(_line, states)]:
            console.print(escape(line))
    if damage:
        raise typer.Exit(1)


def _line(state: StudyState) -> str:
    counts = ", ".join(f"{count} {what}" for what, count in state.counts.items() if count)
    named = [
        f"{what}: {', '.join(map(str, numbers))}"
        for what, numbers in (("pending", state.pending), ("stale", state.stale))
        if numbers
    ]
    name = f"{state.name} (deleted)" if state.is_deleted else state.name
    return "; ".join([f"{name}: {counts or 'nothing yet'}", *named])


def backup(
    copy: Annotated[Path, typer.Argument(help="The file to write.", show_default=False)],
    file: FileOption = FILE,
    overwrite: OverwriteOption = False,
) -> None:
    """Copy the file of the campaigns while others go on using it.

    The copy is what the file was at one moment. To return to it, stop all
    programs and put it in the place of the file. Of a database on a server,
    this command prints the one that makes the copy.
    """
    from becbo.optuna.upkeep import back_up

    with storage_errors(file):
        back_up(file, copy, overwrite=overwrite)
    Console(highlight=False, soft_wrap=True).print(f"Written: {escape(str(copy))}")
