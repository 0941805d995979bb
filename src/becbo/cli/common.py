"""What several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from becbo.errors import InvalidInput


def split_names(text: str) -> list[str]:
    """The names in a,b,c."""
    return [name for name in map(str.strip, text.split(",")) if name]


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turns an error of the file system into one that names the folder."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"cannot write to {folder}: {error.strerror or error}") from error
