"""Options that the commands of a campaign share, and what they mean."""

from __future__ import annotations

import getpass
import json
import logging
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becbo.errors import InvalidInput

if TYPE_CHECKING:
    from becbo.campaign.campaign import Campaign

FILE = "becbo.db"

FileOption = Annotated[
    str,
    typer.Option(
        "--file", "-f", envvar="BECBO_FILE", help="Where campaigns are kept, or a database URL."
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option("--campaign", "-c", help="Its name; not needed where there is only one."),
]
ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        envvar="BECBO_NAME",
        help="Who makes the entry.",
        show_default="your user name",
    ),
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="If the file exists.")]
JsonOption = Annotated[bool, typer.Option("--json", help="For programs: nothing but JSON.")]


@contextmanager
def opened_campaign(file: str, name: str | None, by: str | None = None) -> Iterator[Campaign]:
    """The campaign that the common options name; errors name the command that helps.

    Args:
        file: Where it is kept.
        name: Its name; None if there is only one.
        by: Who makes entries; None is whoever is logged in.

    Yields:
        The campaign.
    """
    with storage_errors(file):
        from becbo.campaign.campaign import Campaign
        from becbo.campaign.errors import NotFound

        try:
            opened = Campaign.open(file, name)
        except NotFound as error:
            raise InvalidInput(f"{error}: {_remedy(file, name)}") from None
        try:
            yield opened.signed(_user_name() if by is None else by)
        except NotFound as error:
            raise InvalidInput(f"{error}; `becbo status --all` lists all runs") from None


def _remedy(file: str, name: str | None) -> str:
    """What helps if there is no such campaign."""
    from becbo.campaign.store import campaign_names

    if name in campaign_names(file, deleted=True):
        return f"`becbo restore {shlex.quote(str(name))}`"
    return "--campaign NAME" if campaign_names(file) else "`becbo new`"


def _user_name() -> str:
    """Who is logged in; "" if the system does not say."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # by version and system: nobody has this user id
        return ""


@contextmanager
def storage_errors(file: str | Path) -> Iterator[None]:
    """Turns storage failures into error messages, and hides the logs of Optuna and the models."""
    from becbo.optuna.breakage import BREAKAGE, StorageUnavailable, last_words
    from becbo.optuna.storage import without_password

    loggers = [logging.getLogger(name) for name in ("optuna", "becbo")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    except StorageUnavailable:  # which says what cannot be opened
        raise
    except BREAKAGE as error:
        shown = without_password(file)
        raise InvalidInput(f"cannot use {shown}: {last_words(error)}") from error
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def repeated_options(file: str, campaign: str | None) -> str:
    """The options that the next command needs too; a password is left to whoever types it."""
    from becbo.optuna.storage import without_password

    words = ["-f", without_password(file)] if file != os.environ.get("BECBO_FILE", FILE) else []
    words += ["-c", campaign] if campaign is not None else []
    return "".join(f" {shlex.quote(word)}" for word in words)


def print_json(document: Any) -> None:
    """Prints plain data for programs."""
    typer.echo(json.dumps(document, indent=1))
