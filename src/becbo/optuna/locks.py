"""Locks that processes share, each with a lease: whoever is held up inside loses it.

A holder that dies gives its lock back at once. One that was suspended cannot: after the lease the
others go on without it. So a lock comes with a function that tells whether it is still held. What
was written down before a `True` was seen by everybody who has had the lock since.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import sqlalchemy
from optuna.storages.journal import JournalFileOpenLock
from sqlalchemy.exc import SQLAlchemyError

from becbo.errors import InvalidInput

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

IsHeld = Callable[[], bool]

# Seconds between two attempts to get a lock on a file.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05

# What keeps a session of a server from waiting, or being waited for, without end.
_BOUNDS = {
    "postgresql": (
        "SET idle_in_transaction_session_timeout = '{idle}s'",
        "SET statement_timeout = '{statement}s'",
    ),
    "mysql": (
        "SET SESSION wait_timeout = {idle}",
        "SET SESSION innodb_lock_wait_timeout = {statement}",
    ),
}


@contextmanager
def file_lock(path: Path, lease: float) -> Iterator[IsHeld]:
    """A lock beside a file, the same for every name that the file has by symbolic links.

    Args:
        path: the file.
        lease: seconds after which others go on without the holder.

    Returns:
        A context that gives a function: whether the lock is still held.

    Raises:
        InvalidInput: the lock cannot be written.
    """
    real = path.resolve()
    beside = real.with_name(f".{real.name}.lock")  # not the database: SQLite's locks would go
    if fcntl is None:
        lock = JournalFileOpenLock(str(beside), grace_period=math.ceil(lease))
        lock.acquire()
        end = time.monotonic() + lease
        try:
            yield lambda: time.monotonic() < end
        finally:
            with suppress(RuntimeError):  # somebody has taken it over
                lock.release()
    else:
        with _locked_file(beside, lease) as file:
            yield lambda: _is_at(file, beside)


def _locked_file(path: Path, lease: float) -> BinaryIO:
    """The file at the path, locked. The system takes the lock back from a process that dies."""
    holder: object = None
    since, pause = time.monotonic(), _FIRST_PAUSE
    while True:
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            if _is_at(file, path):
                with suppress(PermissionError):  # it belongs to somebody else
                    os.utime(file.fileno())  # shows those who wait that the holder is a new one
                return file
            file.close()  # somebody has taken it away meanwhile
            continue
        if (seen := _signature(path)) != holder:
            holder, since = seen, time.monotonic()
        elif time.monotonic() - since > lease:
            # Two who do this at once may both go on: the first finds out that its lock is gone.
            with suppress(FileNotFoundError):
                path.unlink()
        time.sleep(random.uniform(0.5, 1.0) * pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _opened(path: Path) -> BinaryIO:
    try:
        # Reading is enough for a lock, where the file belongs to somebody else.
        return path.open("ab") if os.access(path, os.W_OK) or not path.exists() else path.open("rb")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from error


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is the one that the path names now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _signature(path: Path) -> object:
    """Differs from one holder of a lock to the next."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def row_lock(engine: sqlalchemy.Engine) -> Iterator[IsHeld]:
    """A lock in a database. It ends with its transaction, and so with a holder that dies.

    Args:
        engine: with bounded waits, see `bound_waits`.

    Returns:
        A context that gives a function: whether the lock is still held.
    """
    with engine.connect() as connection:
        # A row that Optuna writes once, when it creates the tables.
        connection.execute(sqlalchemy.text("SELECT * FROM version_info FOR UPDATE"))
        try:
            yield lambda: _answers(connection)
        finally:
            with suppress(SQLAlchemyError):  # the server may have ended the session
                connection.rollback()


def _answers(connection: sqlalchemy.Connection) -> bool:
    try:
        connection.execute(sqlalchemy.text("SELECT 1"))
    except SQLAlchemyError:
        return False
    return True


def bound_waits(engine: sqlalchemy.Engine, *, idle: int, statement: int) -> None:
    """Bounds how long the sessions of an engine hold up others, or are held up, on a server.

    Args:
        engine: of a new database connection; those that it has are closed.
        idle: seconds after which the server ends a session that does nothing inside a transaction.
        statement: seconds after which a statement fails, such as one that waits for a lock.
    """
    statements = [s.format(idle=idle, statement=statement) for s in _BOUNDS.get(engine.name, ())]

    @sqlalchemy.event.listens_for(engine, "connect")
    def bound(connection: Any, record: object) -> None:
        with connection.cursor() as cursor:
            for text in statements:
                cursor.execute(text)
        connection.commit()

    engine.dispose()
