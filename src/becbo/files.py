"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from becbo.errors import InvalidInput


def check_free(path: Path, overwrite: bool) -> None:
    """Refuses a file that exists, unless it may be replaced."""
    if path.exists() and not overwrite:
        raise InvalidInput(f"{path} exists already; choose another name, or allow it (--overwrite)")


def write_file(
    path: Path, content: bytes, *, overwrite: bool = False, permissions: int = 0o666
) -> None:
    """Writes a file beside its place and then moves it there.

    A full disk, or a program that is killed, leaves what was there before.

    Args:
        path: The file.
        content: What it shall contain.
        overwrite: Whether it may replace a file.
        permissions: Of a new file, less those that the system takes away from every new file.

    Raises:
        InvalidInput: There is such a file already, or it cannot be written.
    """
    check_free(path, overwrite)
    place = path.resolve()  # a link remains one
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        try:
            _write(beside, content, permissions)
            if place.exists():
                beside.chmod(place.stat().st_mode & 0o7777)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"cannot write {path}: {error.strerror or error}; nothing was changed"
        ) from error


def _write(path: Path, content: bytes, permissions: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # otherwise a full disk may show up after the move
