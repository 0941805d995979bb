"""What Optuna does not document: its private names are used here and in `bulk` only.

Optuna's own samplers publish what they need to share in system attributes in the same way.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    distribution_to_json,
    json_to_distribution,
)
from optuna.samplers._base import _process_constraints_after_trial
from optuna.storages import BaseStorage, RDBStorage
from optuna.storages._cached_storage import _CachedStorage
from optuna.storages._heartbeat import BaseHeartbeat
from optuna.storages._rdb import models
from optuna.storages._rdb import storage as rdb
from optuna.storages._rdb.storage import _create_scoped_session, _VersionManager
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import func, inspect, select, text

from becbo.errors import InvalidInput

Heartbeat = BaseHeartbeat


class _QuickVersionManager(_VersionManager):
    """Asks alembic, which takes 0.15 s to import, only about the tables of other versions."""

    def _init_alembic(self) -> None:
        if not self._is_of_this_version():
            super()._init_alembic()

    def check_table_schema_compatibility(self) -> None:
        if not self._is_of_this_version():
            super().check_table_schema_compatibility()

    def _is_of_this_version(self) -> bool:
        """Whether this version of Optuna made, or upgraded, the tables and came to an end."""
        if not inspect(self.engine).has_table("alembic_version"):
            return False
        with self.engine.connect() as connection:
            made_by = connection.scalar(select(models.VersionInfoModel.library_version))
            revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
        return made_by == optuna.__version__ and revision is not None


_opening = threading.Lock()


@contextmanager
def quick_version_check() -> Iterator[None]:
    """Within it, `RDBStorage` checks the version of a database as always, but sooner."""
    with _opening:
        usual, rdb._VersionManager = rdb._VersionManager, _QuickVersionManager  # type: ignore[misc]
        try:
            yield
        finally:
            rdb._VersionManager = usual  # type: ignore[misc]


def storage_of(study: optuna.Study) -> BaseStorage:
    """The storage of a study."""
    return study._storage


def close_connections(storage: BaseStorage) -> None:
    """Closes the connections to a database; the next use opens new ones."""
    backend = storage._backend if isinstance(storage, _CachedStorage) else storage
    if isinstance(backend, RDBStorage):
        backend.engine.dispose()


def forget_distributions(study: optuna.Study) -> None:
    """Lets the study accept choices that another process has added since it was opened."""
    storage = study._storage
    if isinstance(storage, _CachedStorage) and study._study_id in storage._studies:
        storage._studies[study._study_id].param_distribution.clear()


def replace_choices(
    study: optuna.Study,
    distributions: Mapping[str, BaseDistribution],
    user_attrs: Mapping[str, Any],
) -> None:
    """Gives all trials other choices of some parameters, and the study attributes, or neither.

    Optuna fixes the choices of a parameter with its first trial and stores their positions.

    Args:
        study: the study.
        distributions: the new choices, among them every one that a trial has.
        user_attrs: attributes of the study to write in the same transaction.

    Raises:
        InvalidInput: a journal keeps the study, which cannot be rewritten.
        ValueError: a trial has a choice that is no longer there.
    """
    storage = study._storage
    backend = storage._backend if isinstance(storage, _CachedStorage) else storage
    if not isinstance(backend, RDBStorage):
        raise InvalidInput(
            f"the choices of {', '.join(distributions)} cannot change in a journal; keep the "
            "campaign in a database"
        )
    with _create_scoped_session(backend.scoped_session) as session:
        for name, distribution in distributions.items():
            rows: Any = session.query(models.TrialParamModel).join(models.TrialModel)
            rows = rows.filter(models.TrialModel.study_id == study._study_id)
            for row in rows.filter(models.TrialParamModel.param_name == name):
                before = json_to_distribution(row.distribution_json)
                value = before.to_external_repr(row.param_value)
                row.param_value = distribution.to_internal_repr(value)
                row.distribution_json = distribution_to_json(distribution)
        owner = models.StudyModel.find_or_raise_by_id(study._study_id, session)
        for key, value in user_attrs.items():
            found = models.StudyUserAttributeModel.find_by_study_and_key(owner, key, session)
            if found is None:
                raise AssertionError(f"study {study.study_name} has no attribute {key}")
            found.value_json = json.dumps(value)
    forget_distributions(study)


def whole_study(study: optuna.Study) -> optuna.Study:
    """The study itself where Hyperband hands out one that shows only some of the trials."""
    whole: optuna.Study = getattr(study, "_study", study)
    return whole


def is_in_optimize(study: optuna.Study) -> bool:
    """Whether this thread runs `study.optimize`."""
    return bool(study._thread_local.in_optimize_loop)


def set_system_attr(study: optuna.Study, trial: FrozenTrial, key: str, value: Any) -> None:
    """Sets a system attribute of a stored trial that has not ended."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def set_user_attr(study: optuna.Study, trial: FrozenTrial, key: str, value: Any) -> None:
    """Sets a user attribute of a stored trial that has not ended."""
    study._storage.set_trial_user_attr(trial._trial_id, key, value)


def store_constraints(
    function: Callable[[FrozenTrial], Sequence[float]],
    study: optuna.Study,
    trial: FrozenTrial,
    state: TrialState,
) -> None:
    """Stores the constraints of a complete or pruned trial, as Optuna's own samplers do."""
    _process_constraints_after_trial(function, study, trial, state)


def heartbeat_of(storage: BaseStorage) -> tuple[int, Callable[[int], None]] | None:
    """Seconds between two signs of life of a trial and what records one; None: there are none."""
    if not isinstance(storage, Heartbeat) or (interval := storage.get_heartbeat_interval()) is None:
        return None
    return interval, storage.record_heartbeat


def claim(study: optuna.Study, system_attrs: Mapping[str, Any]) -> int:
    """Starts the next trial as `Study.ask` does, without a proposal, and returns its id.

    Args:
        study: the study.
        system_attrs: attributes that the trial gets.
    """
    study._thread_local.cached_all_trials = None
    trial_id = study._pop_waiting_trial_id()
    if trial_id is None:
        new = create_trial(state=TrialState.RUNNING, system_attrs=dict(system_attrs))
        return study._storage.create_new_trial(study._study_id, template_trial=new)
    for key, value in system_attrs.items():
        study._storage.set_trial_system_attr(trial_id, key, value)
    return trial_id


@contextmanager
def claimed_trial(study: optuna.Study, trial_id: int) -> Iterator[optuna.Trial]:
    """A trial as an objective gets it, as if this thread ran `study.optimize`."""
    study._thread_local.in_optimize_loop = True
    try:
        yield optuna.Trial(study, trial_id)
    finally:
        study._thread_local.in_optimize_loop = False


def running_trial(study: optuna.Study, template: FrozenTrial) -> optuna.Trial:
    """Adds a trial that is running, and returns it as an objective would get it."""
    return optuna.Trial(study, study._storage.create_new_trial(study._study_id, template))


def trial_id_of(trial: FrozenTrial | optuna.Trial) -> int:
    """The id of a trial in its storage, where numbers are not unique."""
    return trial._trial_id


def stored_trial(study: optuna.Study, trial: optuna.Trial) -> FrozenTrial:
    """A trial as the storage has it now."""
    return study._storage.get_trial(trial._trial_id)


def end_trial(study: optuna.Study, trial: FrozenTrial, state: TrialState) -> None:
    """Ends a trial that nobody runs."""
    study._storage.set_trial_state_values(trial._trial_id, state=state)


def last_signs(study: optuna.Study, running: Sequence[FrozenTrial]) -> dict[int, datetime]:
    """When the workers of running trials gave their last signs of life, by the trial's number.

    Where there is none yet, it is the time when the trial began.
    """
    signs = {trial.number: trial.datetime_start or datetime.now() for trial in running}
    storage = study._storage
    backend = storage._backend if isinstance(storage, _CachedStorage) else storage
    if isinstance(backend, RDBStorage):
        numbers = {trial._trial_id: trial.number for trial in running}
        table = models.TrialHeartbeatModel
        with _create_scoped_session(backend.scoped_session) as session:
            now = session.query(func.current_timestamp()).scalar().replace(tzinfo=None)
            rows: Any = session.query(table).filter(table.trial_id.in_(numbers))
            for row in rows:  # by the clock of the database, whose time zone may be another
                signs[numbers[row.trial_id]] = datetime.now() - (now - row.heartbeat)
    return signs
