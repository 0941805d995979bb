"""Databases of Optuna for many processes at once: nothing is taken twice, nobody waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

import sqlalchemy
from optuna.storages import RDBStorage

from becbo.optuna.internals import quick_version_check
from becbo.optuna.liveness import Watches
from becbo.optuna.locks import bound_waits

# Seconds after which a statement on a server fails, such as one that waits for a lock.
_LONGEST_STATEMENT = 60

_SIGNS = sqlalchemy.text(
    "SELECT trials.trial_id, heartbeat FROM trials "
    "LEFT JOIN trial_heartbeats ON trial_heartbeats.trial_id = trials.trial_id "
    "WHERE study_id = :study AND state = 'RUNNING'"
)


class SharedDatabase(RDBStorage):
    """A database that knows of a lost trial before it is ended as failed.

    Optuna ends a trial whose worker died as failed and then says that it was lost. A process that
    is killed in between would leave a failure. It also waits for ever for a trial whose worker
    died before its first sign of life.
    """

    def __init__(self, url: str, engine_kwargs: dict[str, Any], **heartbeat: Any) -> None:
        with quick_version_check():
            super().__init__(url, engine_kwargs, **heartbeat)
        self._share()

    def __setstate__(self, state: dict[Any, Any]) -> None:
        with quick_version_check():
            super().__setstate__(state)
        self._share()

    def _share(self) -> None:
        """Prepares the connections for other processes; earlier ones, of this one, are closed."""
        self._watches = Watches(self._grace)

    @property
    def _grace(self) -> int:
        assert self.grace_period is not None, "becbo sets one"
        return self.grace_period

    def _get_stale_trial_ids(self, study_id: int) -> list[int]:
        with self.engine.connect() as connection:
            rows = connection.execute(_SIGNS, {"study": study_id}).all()
        signs = {trial_id: sign for trial_id, sign in rows}
        return self._watches.note_silent(self, study_id, signs)


class SharedServer(SharedDatabase):
    """A database server that ends the sessions of processes that are suspended."""

    def _share(self) -> None:
        super()._share()
        bound_waits(self.engine, idle=self._grace, statement=_LONGEST_STATEMENT)


_only_reads: ContextVar[bool] = ContextVar("only_reads", default=False)


def _reading(name: str) -> Callable[..., Any]:
    """A method of Optuna that only reads, so that it need not wait for those who write."""
    original = getattr(RDBStorage, name)

    @wraps(original)
    def method(self: RDBStorage, *args: Any, **kwargs: Any) -> Any:
        token = _only_reads.set(True)
        try:
            return original(self, *args, **kwargs)
        finally:
            _only_reads.reset(token)

    return method


class SharedSQLite(SharedDatabase):
    """SQLite whose transactions take the write lock when they begin, unless they only read.

    Optuna reads that a trial is waiting and then writes that it runs. By default SQLite locks with
    the write, so that several processes read the same and all run the trial.
    """

    _get_trials = _reading("_get_trials")
    _get_best_trial_id = _reading("_get_best_trial_id")
    get_trial = _reading("get_trial")
    get_trial_id_from_study_id_trial_number = _reading("get_trial_id_from_study_id_trial_number")
    get_all_studies = _reading("get_all_studies")
    get_study_directions = _reading("get_study_directions")
    get_study_id_from_name = _reading("get_study_id_from_name")
    get_study_name_from_id = _reading("get_study_name_from_id")
    get_study_system_attrs = _reading("get_study_system_attrs")
    get_study_user_attrs = _reading("get_study_user_attrs")

    def _share(self) -> None:
        # Only now, because creating the tables opens one transaction within another.
        super()._share()

        @sqlalchemy.event.listens_for(self.engine, "connect")
        def leave_transactions_to_us(connection: Any, record: object) -> None:
            connection.isolation_level = None

        @sqlalchemy.event.listens_for(self.engine, "begin")
        def begin(connection: sqlalchemy.Connection) -> None:
            connection.exec_driver_sql("BEGIN" if _only_reads.get() else "BEGIN IMMEDIATE")

        self.engine.dispose()
