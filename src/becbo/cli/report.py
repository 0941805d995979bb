"""`becbo report`: what a campaign has taught, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from becbo.cli.lab import FILE, File, Name, opened_campaign
from becbo.errors import InvalidInput

EXAMPLE = "Example: [bold]becbo report --out coating.html[/bold]"


def report(
    file: File = FILE,
    campaign: Name = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write a report: the best design, what next and why, and what drives failure.

    It is one HTML file with everything in it, which any browser shows, offline
    too.
    """
    with opened_campaign(file, campaign) as opened:
        try:
            from becbo.campaign.report import write_report
        except ModuleNotFoundError as error:
            raise InvalidInput(
                f"a report needs the package {error.name}: pip install 'becbo[web]'"
            ) from error
        with Console(stderr=True).status("fitting the models"):
            path = write_report(opened, out)
    Console().print(f"Written: {escape(str(path))}", soft_wrap=True, highlight=False)
