"""Where a study lives, so that several processes can work on it at once."""

from __future__ import annotations

import itertools
import random
import re
import sqlite3
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import sqlalchemy
from optuna.exceptions import ExperimentalWarning
from optuna.storages import BaseStorage, RDBStorage, get_storage
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError

from becbo.errors import InvalidInput
from becbo.optuna.breakage import BREAKAGE, last_words, unavailable
from becbo.optuna.databases import SharedDatabase, SharedServer, SharedSQLite
from becbo.optuna.journal import JournalFile, SharedJournal
from becbo.optuna.locks import IsHeld, bound_waits, file_lock, row_lock
from becbo.optuna.repeats import requeue_lost

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

# What the value of an option in a URL is called if it is a secret.
_SECRET = re.compile("password|passwd|pwd|secret|token", re.IGNORECASE)

# A statement waits so long, in seconds, for those of other processes, and a turn for other turns.
_LONGEST_WAIT = 60
_LONGEST_QUEUE = 600
# Of a connection to PostgreSQL: it ends, within a minute, with a server that vanished.
_POSTGRES = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
# How often to try when other processes create the tables of a new database at the same moment.
_ATTEMPTS = 10


def open_storage(where: str | Path, *, heartbeat: int | None = HEARTBEAT) -> BaseStorage:
    """Opens the storage of Optuna studies, for one process or for many at once.

    Args:
        where: one of
            - a file `study.db` (or .sqlite, .sqlite3, or `sqlite:///study.db`): SQLite, for any
              number of processes on one machine. It is created if it does not exist.
            - a file `study.journal` (or .log): Optuna's journal, for a folder that machines share.
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
    place = locate(where)
    if isinstance(place, URL):
        options = {"pool_pre_ping": True, "connect_args": _connect_args(place)}
        return _open_database(SharedServer, place, options, heartbeat)
    if not place.parent.is_dir():
        raise InvalidInput(f"there is no folder {place.parent} for {place.name}; make it first")
    if place.suffix in JOURNAL:
        return _open_journal(place, heartbeat)
    _check_sqlite(place)
    url = URL.create("sqlite", database=str(place))
    options = {"connect_args": {"timeout": _grace(heartbeat)}}
    return _open_database(SharedSQLite, url, options, heartbeat)


def study_lock(
    where: str | Path, heartbeat: int = HEARTBEAT
) -> Callable[[], AbstractContextManager[IsHeld]]:
    """A lock shared by all processes that use a storage.

    Whoever holds it can look at a study and act on what was seen before anybody else does.

    Args:
        where: the place of the storage, as for `open_storage`, which has opened it once.
        heartbeat: as for `open_storage`: after three of them others go on without a holder.

    Returns:
        A function that gives a new context manager, which holds the lock and gives a function that
        tells whether it still does.

    Raises:
        InvalidInput: the place cannot be a storage, or cannot be written.
    """
    place = locate(where)
    lease = _grace(heartbeat)
    if isinstance(place, Path):
        return lambda: file_lock(place, lease)
    engine = sqlalchemy.create_engine(
        place, poolclass=sqlalchemy.NullPool, connect_args=_connect_args(place)
    )
    bound_waits(engine, idle=lease, statement=_LONGEST_QUEUE)
    return lambda: row_lock(engine)


def _check_heartbeat(heartbeat: object) -> None:
    is_whole = isinstance(heartbeat, int) and not isinstance(heartbeat, bool)
    if heartbeat is not None and not (is_whole and heartbeat >= 1):  # type: ignore[operator]
        raise InvalidInput(f"heartbeat {heartbeat!r} must be whole seconds, at least 1, or None")


def _grace(heartbeat: int | None) -> int:
    """Seconds after which nobody waits any more for a process that gives no sign of life."""
    return _LONGEST_WAIT if heartbeat is None else MISSED * heartbeat


def _connect_args(url: URL) -> dict[str, Any]:
    if url.get_driver_name() not in ("psycopg", "psycopg2"):
        return {}
    return {name: value for name, value in _POSTGRES.items() if name not in url.query}


def locate(where: str | Path) -> URL | Path:
    """The file or the server that is meant, or InvalidInput."""
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
    kind: type[SharedDatabase], url: URL, options: dict[str, Any], heartbeat: int | None
) -> BaseStorage:
    deadline = time.monotonic() + _LONGEST_WAIT
    for attempt in itertools.count(1):
        try:
            return get_storage(_database(kind, url, options, heartbeat))
        except ImportError as error:
            raise InvalidInput(_missing_driver(url)) from error
        except RuntimeError as error:  # made by another version of Optuna: it says what to do
            raise InvalidInput(f"{_shown(url)}: {error}") from error
        except BREAKAGE as error:
            is_new = attempt < _ATTEMPTS and _is_made_by_others(error)
            is_busy = time.monotonic() < deadline and "database is locked" in last_words(error)
            if not (is_new or is_busy):
                raise unavailable(f"cannot open {_shown(url)}", error) from error
            time.sleep(random.uniform(0.05, 0.2))
    raise AssertionError("an attempt returns or raises")


def _database(
    kind: type[SharedDatabase], url: URL, options: dict[str, Any], heartbeat: int | None
) -> RDBStorage:
    # Optuna fills in a template, and so would take a brace in a path for its own.
    text = url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # the heartbeat
        return kind(
            text,
            engine_kwargs=options,
            heartbeat_interval=heartbeat,
            grace_period=_grace(heartbeat),
            heartbeat_stale_trial_callback=requeue_lost,
        )


def _is_made_by_others(error: BaseException) -> bool:
    """Whether another process has just created the same table, type or row."""
    return isinstance(error, IntegrityError) or "already exists" in last_words(error)


def _missing_driver(url: URL) -> str:
    driver, extra = SERVERS[url.get_backend_name()]
    return (
        f"{_shown(url)} needs the Python package {url.get_driver_name()}, which is not installed; "
        f"pip install 'becbo[{extra}]' installs {driver.partition('+')[2]}"
    )


def _open_journal(path: Path, heartbeat: int | None) -> BaseStorage:
    try:
        return SharedJournal(JournalFile(path.resolve()), heartbeat, _grace(heartbeat))
    except BREAKAGE as error:
        raise InvalidInput(f"cannot open {path}: {last_words(error)}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} is not a journal of Optuna, or it is damaged") from error


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
