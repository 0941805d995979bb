"""Trials written together, all of them or none, and a thousand as fast as one.

Optuna writes each trial in a transaction of its own, and each attribute of a running one. Like
`internals`, this file uses names of Optuna that it does not document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import optuna
import sqlalchemy
from optuna.distributions import distribution_to_json
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages._cached_storage import _CachedStorage
from optuna.storages._rdb import models
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.storages.journal import BaseJournalBackend
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Ending:
    """How a running trial ends.

    Attributes:
        number: The number of the trial.
        state: Its last state.
        values: Its values, if it has any.
        user_attrs: What is added to its attributes.
        system_attrs: What is added to its system attributes.
    """

    number: int
    state: TrialState
    values: Sequence[float] | None = None
    user_attrs: Mapping[str, Any] = field(default_factory=dict)
    system_attrs: Mapping[str, Any] = field(default_factory=dict)


def write_trials(
    study: optuna.Study, new: Sequence[FrozenTrial] = (), endings: Sequence[Ending] = ()
) -> list[int]:
    """Adds trials and ends others.

    In a database this is one transaction. A journal knows none: it gets everything with one
    append, of which others may see the beginning first.

    Args:
        study: The study.
        new: Trials to add, as from `optuna.create_trial`.
        endings: What becomes of running trials.

    Returns:
        The numbers of the new trials.

    Raises:
        UpdateFinishedTrialError: A trial has ended already; nothing was written.
    """
    if not new and not endings:
        return []
    storage, study_id = study._storage, study._study_id
    ids = [
        storage.get_trial_id_from_study_id_trial_number(study_id, ending.number)
        for ending in endings
    ]
    if isinstance(storage, _CachedStorage):
        return _write_rows(storage._backend, study_id, new, dict(zip(ids, endings, strict=True)))
    for trial_id in ids:
        storage.check_trial_is_updatable(trial_id, storage.get_trial(trial_id).state)
    if isinstance(storage, JournalStorage):
        draft = _Draft()
        drafting = JournalStorage(draft)
        drafting._replay_result._last_created_trial_id_by_this_process = -1  # nobody asks
        _write_each(drafting, study_id, new, ids, endings)
        added = _append(storage, draft.logs, len(new))
    else:
        added = _write_each(storage, study_id, new, ids, endings)
    return [storage.get_trial_number_from_id(trial_id) for trial_id in added]


def _write_rows(
    storage: RDBStorage, study_id: int, new: Sequence[FrozenTrial], endings: Mapping[int, Ending]
) -> list[int]:
    with _create_scoped_session(storage.scoped_session) as session:
        # Whoever adds a trial counts those that are there, and so has to be alone.
        study = models.StudyModel.find_or_raise_by_id(study_id, session, for_update=True)
        _end(session, study_id, endings)
        first = models.TrialModel.count(session, study)
        added = [
            models.TrialModel(
                study_id=study_id,
                number=number,
                state=trial.state,
                datetime_start=trial.datetime_start,
                datetime_complete=trial.datetime_complete,
            )
            for number, trial in enumerate(new, start=first)
        ]
        session.add_all(added)
        session.flush()  # which gives them their ids
        trials = {_id(row): trial for row, trial in zip(added, new, strict=True)}
        _insert(session, models.TrialParamModel, _parameters(trials))
        _insert_values(session, {trial_id: trial.values for trial_id, trial in trials.items()})
        _insert_attributes(session, trials)
        return list(range(first, first + len(new)))


def _end(session: Session, study_id: int, endings: Mapping[int, Ending]) -> None:
    if not endings:
        return
    trial = models.TrialModel
    running = (
        sqlalchemy.select(trial.trial_id)
        .where(trial.study_id == study_id, trial.state == TrialState.RUNNING)
        .with_for_update()
    )
    if ended := endings.keys() - set(session.scalars(running)):
        numbers = sorted(endings[trial_id].number for trial_id in ended)
        raise UpdateFinishedTrialError(f"trial {numbers[0]} has ended already")
    for table, attrs in (
        (models.TrialUserAttributeModel, "user_attrs"),
        (models.TrialSystemAttributeModel, "system_attrs"),
    ):
        for trial_id, ending in endings.items():
            if keys := list(getattr(ending, attrs)):
                session.execute(
                    sqlalchemy.delete(table).where(table.trial_id == trial_id, table.key.in_(keys))
                )
    _insert_values(session, {trial_id: ending.values for trial_id, ending in endings.items()})
    _insert_attributes(session, endings)
    now = datetime.now()
    for row in session.scalars(sqlalchemy.select(trial).where(trial.trial_id.in_(endings))):
        row.state, row.datetime_complete = endings[_id(row)].state, now


def _id(row: Any) -> int:
    trial_id: int = row.trial_id
    return trial_id


def _parameters(trials: Mapping[int, FrozenTrial]) -> Iterable[dict[str, Any]]:
    for trial_id, trial in trials.items():
        for name, value in trial.params.items():
            known = trial.distributions[name]
            yield {
                "trial_id": trial_id,
                "param_name": name,
                "param_value": known.to_internal_repr(value),
                "distribution_json": distribution_to_json(known),
            }


def _insert_values(session: Session, values: Mapping[int, Sequence[float] | None]) -> None:
    table = models.TrialValueModel
    rows = []
    for trial_id, numbers in values.items():
        for objective, number in enumerate(numbers or ()):
            value, kind = table.value_to_stored_repr(number)
            rows.append(
                {"trial_id": trial_id, "objective": objective, "value": value, "value_type": kind}
            )
    _insert(session, table, rows)


def _insert_attributes(session: Session, trials: Mapping[int, FrozenTrial | Ending]) -> None:
    for table, attrs in (
        (models.TrialUserAttributeModel, "user_attrs"),
        (models.TrialSystemAttributeModel, "system_attrs"),
    ):
        rows = [
            {"trial_id": trial_id, "key": key, "value_json": json.dumps(value)}
            for trial_id, trial in trials.items()
            for key, value in getattr(trial, attrs).items()
        ]
        _insert(session, table, rows)


def _insert(session: Session, table: Any, rows: Iterable[dict[str, Any]]) -> None:
    if listed := list(rows):
        session.execute(sqlalchemy.insert(table.__table__), listed)


def _write_each(
    storage: BaseStorage,
    study_id: int,
    new: Sequence[FrozenTrial],
    ids: Sequence[int],
    endings: Sequence[Ending],
) -> list[int]:
    """Writes with the calls that every storage has; returns the ids of the new trials."""
    for trial_id, ending in zip(ids, endings, strict=True):
        for key, value in ending.user_attrs.items():
            storage.set_trial_user_attr(trial_id, key, value)
        for key, value in ending.system_attrs.items():
            storage.set_trial_system_attr(trial_id, key, value)
        storage.set_trial_state_values(trial_id, ending.state, ending.values)
    return [storage.create_new_trial(study_id, trial) for trial in new]


class _Draft(BaseJournalBackend):
    """Keeps what Optuna would append to a journal."""

    def __init__(self) -> None:
        self.logs: list[dict[str, Any]] = []

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
        return []

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self.logs += logs


def _append(storage: JournalStorage, logs: list[dict[str, Any]], n_new: int) -> Sequence[int]:
    """Appends everything at once; returns the ids of the new trials."""
    with storage._thread_lock:
        own = {"worker_id": storage._replay_result.worker_id}
        storage._backend.append_logs([log | own for log in logs])
        storage._sync_with_backend()
        if not n_new:
            return []
        last = storage._replay_result._last_created_trial_id_by_this_process
    return range(last - n_new + 1, last + 1)  # nobody else writes in the middle of an append
