"""Where a study lives, so that several processes can work on it at once."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import sqlalchemy
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage, get_storage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from becbo.errors import InvalidInput
from becbo.optuna.outcomes import requeue_lost

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# How often a worker reports that it is alive, in seconds, and after how many reports that did not
# come its trial is taken for lost.
HEARTBEAT = 30
MISSED = 3

SQLITE = (".db", ".sqlite", ".sqlite3")
JOURNAL = (".journal", ".log")

# Servers: the name in the URL -> dialect and driver, and the extra that installs the driver. To
# use another driver, name it in the URL: postgresql+psycopg2://...
SERVERS = {
    "postgresql": ("postgresql+psycopg", "postgres"),
    "postgres": ("postgresql+psycopg", "postgres"),
    "mysql": ("mysql+pymysql", "mysql"),
}

# What a storage raises when its file or server does not answer any more.
BREAKAGE = (StorageInternalError, SQLAlchemyError)

# What the value of an option in a URL is called if it is a secret.
_SECRET = re.compile("password|passwd|pwd|secret|token", re.IGNORECASE)

# A write waits so long, in seconds, for the writes of other processes.
_PATIENCE = 60
# How often to try when other processes create the tables of a new database at the same moment.
_ATTEMPTS = 10


class StorageUnavailable(InvalidInput):
    """The file or server that keeps a study does not answer, now or at all."""


def open_storage(where: str | Path, *, heartbeat: int | None = HEARTBEAT) -> BaseStorage:
    """Opens the storage of Optuna studies, for one process or for many at once.

    Args:
        where: one of
            - a file `study.db` (or .sqlite, .sqlite3, or `sqlite:///study.db`): SQLite, for any
              number of processes on one machine. It is created if it does not exist.
            - a file `study.journal` (or .log): Optuna's journal, for a folder that machines share.
              It has no heartbeat, so a trial whose worker died keeps running.
            - a URL `postgresql://user:password@host/name` or `mysql://...`: any number of machines.
        heartbeat: seconds between two reports of `study.optimize` that a trial is alive. A trial
            that has missed three reports is taken for lost: it teaches nothing about its design,
            and the design is tried again. None is for studies that use `ask` and `tell`, which do
            not report.

    Returns:
        A storage for `optuna.create_study` and `optuna.load_study`.

    Raises:
        InvalidInput: the place cannot be a storage, or has a driver that is not installed.
        StorageUnavailable: the place does not answer.

    Examples:
        >>> storage = open_storage("study.db")
        >>> study = optuna.create_study(storage=storage, study_name="wing", load_if_exists=True)
    """
    _check_heartbeat(heartbeat)
    place = _locate(where)
    if isinstance(place, URL):
        return _open_database(RDBStorage, place, {"pool_pre_ping": True}, heartbeat)
    if not place.parent.is_dir():
        raise InvalidInput(f"there is no folder {place.parent} for {place.name}; make it first")
    if place.suffix in JOURNAL:
        return _open_journal(place)
    _check_sqlite(place)
    url = URL.create("sqlite", database=str(place))
    options = {"connect_args": {"timeout": _PATIENCE}}
    return _open_database(_SharedSQLite, url, options, heartbeat)


def study_lock(where: str | Path) -> Callable[[], AbstractContextManager[None]]:
    """A lock shared by all processes that use a storage.

    Whoever holds it can look at a study and act on what was seen before anybody else does.

    Args:
        where: the place of the storage, as for `open_storage`, which has opened it once.

    Returns:
        A function that gives a new context manager, which holds the lock.

    Raises:
        InvalidInput: the place cannot be a storage, or cannot be written.
    """
    place = _locate(where)
    if isinstance(place, Path):
        return lambda: _file_lock(place)
    engine = sqlalchemy.create_engine(place, poolclass=sqlalchemy.NullPool)
    return lambda: _row_lock(engine)


class _SharedSQLite(RDBStorage):
    """SQLite whose transactions take the write lock when they begin.

    Optuna reads that a trial is waiting and then writes that it runs. By default SQLite locks with
    the write, so that several processes read the same and all run the trial.
    """

    def __init__(self, url: str, engine_kwargs: dict[str, Any], **heartbeat: Any) -> None:
        # Only now, because creating the tables opens one transaction within another.
        super().__init__(url, engine_kwargs, **heartbeat)
        _lock_early(self.engine)

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        _lock_early(self.engine)


def _lock_early(engine: sqlalchemy.Engine) -> None:
    @sqlalchemy.event.listens_for(engine, "connect")
    def leave_transactions_to_us(connection: Any, record: object) -> None:
        connection.isolation_level = None

    @sqlalchemy.event.listens_for(engine, "begin")
    def begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    engine.dispose()  # the connections that were made without this


def _check_heartbeat(heartbeat: object) -> None:
    is_whole = isinstance(heartbeat, int) and not isinstance(heartbeat, bool)
    if heartbeat is not None and not (is_whole and heartbeat >= 1):  # type: ignore[operator]
        raise InvalidInput(f"heartbeat {heartbeat!r} must be whole seconds, at least 1, or None")


def _locate(where: str | Path) -> URL | Path:
    """The file or the server that is meant."""
    text = str(where)
    if "://" not in text:
        return _file(Path(text).expanduser())
    url = _parsed(text)
    if url is None:
        raise InvalidInput(
            "the storage URL cannot be read; write it as postgresql://user:password@host/name, "
            "with %40 for an @ in the password"
        )
    dialect = url.get_backend_name()
    if dialect == "sqlite":
        return _file(Path(url.database or ""))
    if dialect not in SERVERS:
        raise InvalidInput(
            f"{_shown(url)}: no storage is called {dialect!r}; use postgresql:// or mysql://, "
            "or a file such as study.db"
        )
    return url.set(drivername=SERVERS[dialect][0]) if url.drivername in SERVERS else url


def _file(path: Path) -> Path:
    if path.name in ("", ":memory:"):
        raise InvalidInput(f"{str(path)!r} is not a file; give one such as study.db")
    if path.suffix not in SQLITE + JOURNAL:
        raise InvalidInput(
            f"{path}: a file name must end in {', '.join(SQLITE)} (SQLite) "
            f"or {', '.join(JOURNAL)} (journal)"
        )
    return path


def without_password(where: str | Path) -> str:
    """The place of a storage as it may be shown to users and written to logs.

    Args:
        where: as for `open_storage`.

    Returns:
        The place, with `***` or `hidden` for every password in a URL.
    """
    text = str(where)
    if "://" not in text:
        return text
    url = _parsed(text)
    return f"{text.partition('://')[0]}://***" if url is None else _shown(url)


def _parsed(text: str) -> URL | None:
    """The URL; None if it cannot be read, or has an @ in its password, which ends up elsewhere."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return None
    return None if "@" in (url.host or "") + (url.database or "") else url


def _shown(url: URL) -> str:
    secret = {key: "hidden" for key in url.query if _SECRET.search(key)}
    return url.update_query_dict(secret).render_as_string(hide_password=True)


def _open_database(
    kind: type[RDBStorage], url: URL, options: dict[str, Any], heartbeat: int | None
) -> BaseStorage:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return get_storage(_database(kind, url, options, heartbeat))
        except ImportError as error:
            raise InvalidInput(_missing_driver(url)) from error
        except RuntimeError as error:  # made by another version of Optuna: it says what to do
            raise InvalidInput(f"{_shown(url)}: {error}") from error
        except BREAKAGE as error:
            if attempt == _ATTEMPTS or not _is_made_by_others(error):
                words = f"cannot open {_shown(url)}: {last_words(error)}"
                raise StorageUnavailable(words) from error
            time.sleep(random.uniform(0.05, 0.2))
    raise AssertionError("the last attempt returns or raises")


def _database(
    kind: type[RDBStorage], url: URL, options: dict[str, Any], heartbeat: int | None
) -> RDBStorage:
    # Optuna fills in a template, and so would take a brace in a path for its own.
    text = url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # the heartbeat
        return kind(
            text,
            engine_kwargs=options,
            heartbeat_interval=heartbeat,
            grace_period=None if heartbeat is None else MISSED * heartbeat,
            heartbeat_stale_trial_callback=requeue_lost,
        )


def _is_made_by_others(error: BaseException) -> bool:
    """Whether another process has just created the same table, type or row."""
    return isinstance(error, IntegrityError) or "already exists" in last_words(error)


def last_words(error: BaseException) -> str:
    """What the database said, in one line, without the statement and a link to a manual."""
    cause = error.__cause__ if isinstance(error, StorageInternalError) else error
    return " ".join(str(getattr(cause, "orig", None) or cause).split())


def _missing_driver(url: URL) -> str:
    driver, extra = SERVERS[url.get_backend_name()]
    return (
        f"{_shown(url)} needs the Python package {url.get_driver_name()}, which is not installed; "
        f"pip install 'becbo[{extra}]' installs {driver.partition('+')[2]}"
    )


def _open_journal(path: Path) -> BaseStorage:
    try:
        _check_journal(path)
        return JournalStorage(JournalFileBackend(str(path), JournalFileOpenLock(str(path))))
    except OSError as error:
        raise InvalidInput(f"cannot open {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} is not a journal of Optuna, or it is damaged") from error


def _check_journal(path: Path) -> None:
    """Look at the first line: Optuna would append to any file."""
    if path.exists():
        with path.open("rb") as file:
            if first := file.readline():
                json.loads(first)["op_code"]


def _check_sqlite(path: Path) -> None:
    """Look which tables there are: Optuna would add its own to any database."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {name for (name,) in rows}
    except sqlite3.Error:
        return  # Optuna says what is wrong
    if tables and not tables & {"studies", "version_info"}:
        raise InvalidInput(
            f"{path} is a database of another program, with {', '.join(sorted(tables))}; "
            "choose another file"
        )


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    """A lock that the system takes back from a process that dies, where it can (not on Windows)."""
    beside = path.with_name(f".{path.name}.lock")  # not the database: SQLite's locks would go
    if fcntl is None:
        lock = JournalFileOpenLock(str(beside))
        lock.acquire()
        try:
            yield
        finally:
            # Whoever is held up inside for half a minute is taken for dead and has lost the lock.
            with suppress(RuntimeError):
                lock.release()
    else:
        with _lock_file(beside) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _lock_file(path: Path) -> BinaryIO:
    try:
        # Reading is enough for a lock, where the file belongs to somebody else.
        return path.open("ab") if os.access(path, os.W_OK) or not path.exists() else path.open("rb")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def _row_lock(engine: sqlalchemy.Engine) -> Iterator[None]:
    with engine.begin() as connection:
        # A row that Optuna writes once, when it creates the tables. The lock ends with the
        # transaction, and so also with a worker that dies.
        connection.execute(sqlalchemy.text("SELECT * FROM version_info FOR UPDATE"))
        yield
