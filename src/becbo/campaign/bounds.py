"""How large a description may be: far beyond what people use, and small enough for any server.

`becbo.settings.MAX_INITIAL` bounds the initial experiments everywhere, in programs too.
"""

from __future__ import annotations

from becbo.errors import InvalidInput

MAX_PARAMETERS = 200
MAX_CHOICES = 200  # of one parameter
MAX_COLUMNS = 1000  # of the models: one for each number, one for each choice
MAX_OUTPUTS = 50
MAX_CONSTRAINTS = 200
MAX_FORMULA = 2000  # characters of a constraint
MAX_BUDGET = 1_000_000  # experiments
MAX_NAME = 100  # characters of a name or a unit; databases and headings have their limits
MAX_NOTE = 5000  # characters of a note or a choice
MAX_DESCRIPTION = 50_000  # characters of a file
MAX_BRACKETS = 1000  # in a file: YAML takes minutes to parse deeply nested ones


def check_count(what: str, count: int, most: int, things: str) -> None:
    """Refuses too many of something.

    Args:
        what: Where they are, for the message.
        count: How many there are.
        most: How many there may be.
        things: What they are, in the plural.

    Raises:
        InvalidInput: There are more than `most`.
    """
    if count > most:
        raise InvalidInput(f"{what}: {count} {things} are too many; use at most {most}")
