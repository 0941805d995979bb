"""A storage that does not answer: how that shows, and how long to wait for it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage
from sqlalchemy.exc import (
    DataError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
)

from becbo.errors import InvalidInput
from becbo.optuna.internals import Heartbeat


class StorageUnavailable(InvalidInput):
    """The file or server that keeps a study does not answer, now or at all."""


class StorageAway(StorageUnavailable):
    """The server that keeps a study cannot be reached: it may be restarting."""


# What a storage raises when its file or server does not answer any more, or not yet.
BREAKAGE = (StorageInternalError, SQLAlchemyError, StorageAway)

# What drivers say of a server that is not there. Of a wrong password the server itself tells.
_AWAY = re.compile(
    "refused|No such file|starting up|shutting down|administrator command|closed the connection"
    "|timed? ?out|unreachable|Can't connect|Lost connection"
)

# What waiting does not mend.
_HOPELESS = (DataError, IntegrityError, NotSupportedError, ProgrammingError)

# Seconds between two attempts; the pause doubles from one to the next.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0

T = TypeVar("T")


def last_words(error: BaseException) -> str:
    """What the database said, in one line, without the statement and a link to a manual."""
    cause = _cause(error)
    if isinstance(cause, OSError) and cause.strerror:
        return f"{cause.strerror}: {cause.filename}" if cause.filename else cause.strerror
    return " ".join(str(getattr(cause, "orig", None) or cause).split())


def unavailable(words: str, error: BaseException) -> StorageUnavailable:
    """The error to raise if a storage cannot be opened.

    Args:
        words: which storage that is.
        error: what the database raised.
    """
    said = last_words(error)
    kind = StorageAway if _AWAY.search(said) else StorageUnavailable
    return kind(f"{words}: {said}")


def _cause(error: BaseException) -> BaseException:
    is_wrapped = isinstance(error, StorageInternalError) and error.__cause__ is not None
    return (error.__cause__ or error) if is_wrapped else error


class Patience:
    """Repeats what a storage has refused because it is away, until it has been away too long.

    Args:
        limit: seconds that it may be away.
        say: who is told that it is away, and that it is back.
    """

    def __init__(self, limit: float, say: Callable[[str], None]) -> None:
        self.limit, self._say = limit, say
        self._since: float | None = None  # when it went away
        self._pause = _FIRST_PAUSE

    def repeat(self, operation: Callable[[], T]) -> T:
        """What the operation returns as soon as the storage answers.

        Args:
            operation: does no harm if it is done again although it has succeeded.

        Raises:
            StorageInternalError, SQLAlchemyError: the storage is away for too long, or refuses for
                another reason.
        """
        while True:
            try:
                result = operation()
            except BREAKAGE as error:
                self.wait(error)
            else:
                self.answered()
                return result

    def wait(self, error: BaseException) -> None:
        """Waits a moment before the next attempt, or raises the error if it has been too long."""
        now = time.monotonic()
        if isinstance(_cause(error), _HOPELESS):
            raise error
        if self._since is None:
            self._since = now
            self._say(
                f"the storage does not answer: {last_words(error)}; trying again for up to "
                f"{self.limit:g} seconds"
            )
        if now - self._since >= self.limit:
            raise error
        time.sleep(random.uniform(0.5, 1.0) * self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def answered(self) -> None:
        """The storage has answered."""
        if self._since is not None:
            self._say(f"the storage answers again, after {time.monotonic() - self._since:.0f} s")
        self._since, self._pause = None, _FIRST_PAUSE


def _once(name: str) -> Callable[..., Any]:
    def method(self: PatientStorage, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.storage, name)(*args, **kwargs)

    return method


def _repeated(name: str) -> Callable[..., Any]:
    def method(self: PatientStorage, *args: Any, **kwargs: Any) -> Any:
        return self.patience.repeat(partial(getattr(self.storage, name), *args, **kwargs))

    return method


class PatientStorage(BaseStorage, Heartbeat):
    """A storage that waits until the one behind it answers, also in the middle of an objective.

    Trials and studies are created once: whoever creates them knows whether to try again.

    Args:
        storage: the storage itself.
        patience: how long to wait.
    """

    def __init__(self, storage: BaseStorage, patience: Patience) -> None:
        self.storage, self.patience = storage, patience

    create_new_study = _once("create_new_study")
    delete_study = _once("delete_study")
    create_new_trial = _once("create_new_trial")
    remove_session = _once("remove_session")
    record_heartbeat = _once("record_heartbeat")
    get_heartbeat_interval = _once("get_heartbeat_interval")
    get_heartbeat_stale_trial_callback = _once("get_heartbeat_stale_trial_callback")
    _get_stale_trial_ids = _repeated("_get_stale_trial_ids")
    set_study_user_attr = _repeated("set_study_user_attr")
    set_study_system_attr = _repeated("set_study_system_attr")
    get_study_id_from_name = _repeated("get_study_id_from_name")
    get_study_name_from_id = _repeated("get_study_name_from_id")
    get_study_directions = _repeated("get_study_directions")
    get_study_user_attrs = _repeated("get_study_user_attrs")
    get_study_system_attrs = _repeated("get_study_system_attrs")
    get_all_studies = _repeated("get_all_studies")
    set_trial_param = _repeated("set_trial_param")
    set_trial_state_values = _repeated("set_trial_state_values")
    set_trial_intermediate_value = _repeated("set_trial_intermediate_value")
    set_trial_user_attr = _repeated("set_trial_user_attr")
    set_trial_system_attr = _repeated("set_trial_system_attr")
    get_trial = _repeated("get_trial")
    get_all_trials = _repeated("get_all_trials")
    get_trial_id_from_study_id_trial_number = _repeated("get_trial_id_from_study_id_trial_number")
