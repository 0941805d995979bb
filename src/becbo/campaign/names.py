"""Names, units and notes that people give: which of them can head a column and be printed."""

from __future__ import annotations

from typing import Any

from becbo.campaign.bounds import MAX_NAME, MAX_NOTE, check_count
from becbo.errors import InvalidInput

# Columns of every table of runs, hence not names of parameters or outputs.
RESERVED_COLUMNS = ("number", "outcome", "reason", "note")
BELIEVED = "believed "  # columns of predictions begin like this


def heading(name: str, unit: str) -> str:
    """Name and unit as people write them above a column."""
    return f"{name} [{unit}]" if unit else name


def check_name(what: str, name: Any) -> None:
    """Refuses a name that cannot be used."""
    if not isinstance(name, str):
        raise InvalidInput(f"{what}: {name!r} must be a name; put it in quotes")
    if not name.strip():
        raise InvalidInput(f"{what}: give a name")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"{what}: {name[:20]!r}... is longer than {MAX_NAME} characters")
    if name != name.strip() or not name.isprintable() or any(c in name for c in "[]`"):
        raise InvalidInput(
            f"{what}: {name!r} must not contain [ ] ` or line breaks, or have spaces around it"
        )


def check_column(what: str, name: Any) -> None:
    """Refuses a name that cannot be the heading of a column."""
    check_name(what, name)
    if name.lower() in RESERVED_COLUMNS or name.lower().startswith(BELIEVED):
        raise InvalidInput(
            f"{what}: {name!r} is a column of every table; choose another name for it"
        )


def check_unit_and_note(what: str, unit: Any, note: Any = "") -> None:
    """Refuses a unit or a note that cannot be printed."""
    check_text(f"{what}: unit", unit, MAX_NAME)
    check_text(f"{what}: note", note)
    if unit != unit.strip() or not unit.isprintable():
        raise InvalidInput(
            f"{what}: unit {unit!r} must not contain line breaks or have spaces around it"
        )


def check_text(what: str, text: Any, most: int = MAX_NOTE) -> None:
    """Refuses what is not text, is too long, or cannot be printed."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} {text!r} must be text; put it in quotes")
    check_count(what, len(text), most, "characters")
    if not all(c.isprintable() or c in "\n\t" for c in text):
        raise InvalidInput(f"{what} {text!r} has characters that cannot be printed")
