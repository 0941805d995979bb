"""Looking after the place of studies: is it sound, and a copy of it while it is in use."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from becbo.errors import InvalidInput
from becbo.files import check_free
from becbo.optuna.storage import JOURNAL, locate, without_password


def find_damage(where: str | Path) -> list[str]:
    """What is wrong with the file of a storage.

    Args:
        where: as for `open_storage`.

    Returns:
        One line for each kind of damage; none for a server, which looks after itself.

    Raises:
        InvalidInput: there is no such file.
    """
    place = locate(where)
    if not isinstance(place, Path):
        return []
    _check_exists(place)
    return _damage(place, place.suffix in JOURNAL)


def _damage(path: Path, is_journal: bool) -> list[str]:
    if is_journal:
        return _journal_damage(path)
    try:
        with _read_only(path) as database:
            found = [text for (text,) in database.execute("PRAGMA integrity_check")]
            broken = list(database.execute("PRAGMA foreign_key_check"))
    except sqlite3.Error as error:
        return [str(error)]
    damage = [] if found == ["ok"] else found
    return damage + ([f"{len(broken)} rows belong to rows that are gone"] if broken else [])


def back_up(where: str | Path, path: Path, *, overwrite: bool = False) -> None:
    """Copies a storage as it is at one moment, while others go on using it.

    Args:
        where: the file, as for `open_storage`.
        path: the copy.
        overwrite: whether it may replace a file.

    Raises:
        InvalidInput: it is not a file or is damaged, or the copy cannot be written.
    """
    place = locate(where)
    if not isinstance(place, Path):
        shown = without_password(where).replace(":***@", "@")
        tool = {"postgresql": "pg_dump --format=custom --file", "mysql": "mysqldump --result-file"}
        command = tool[place.get_backend_name()]
        raise InvalidInput(
            f"{without_password(where)} is a server, which has a command of its own for this: "
            f"{command}={path} {shown if 'pg_dump' in command else place.database}"
        )
    _check_exists(place)
    check_free(path, overwrite)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _copy(place, beside)
        if damage := _damage(beside, place.suffix in JOURNAL):
            raise InvalidInput(f"{place} is damaged: {damage[0]}; nothing was written")
        beside.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise InvalidInput(f"cannot copy {place} to {path}: {error}") from error
    finally:
        beside.unlink(missing_ok=True)


def _copy(place: Path, path: Path) -> None:
    if place.suffix in JOURNAL:  # it only grows: what is there now, up to the last whole line
        content = place.read_bytes()
        path.write_bytes(content[: content.rfind(b"\n") + 1])
        return
    with _read_only(place) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    address = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=60)) as database:
        yield database


def _journal_damage(path: Path) -> list[str]:
    damage = []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                json.loads(line)["op_code"]
                is_whole = line.endswith(b"\n")
            except (ValueError, KeyError, TypeError):
                is_whole = False
            if not is_whole:
                damage.append(f"line {number} is not a whole record")
    return damage


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise InvalidInput(f"there is no file {path}")
