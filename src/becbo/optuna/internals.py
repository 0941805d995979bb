"""Everything here that Optuna does not document: its private names are used in this file only.

Optuna's own samplers publish what they need to share in system attributes in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import optuna
from optuna.samplers._base import _process_constraints_after_trial
from optuna.storages import BaseStorage, RDBStorage
from optuna.storages._cached_storage import _CachedStorage
from optuna.storages._heartbeat import BaseHeartbeat, is_heartbeat_enabled
from optuna.trial import FrozenTrial, TrialState


def storage_of(study: optuna.Study) -> BaseStorage:
    """The storage of a study."""
    return study._storage


def close_connections(storage: BaseStorage) -> None:
    """Closes the connections to a database; the next use opens new ones."""
    backend = storage._backend if isinstance(storage, _CachedStorage) else storage
    if isinstance(backend, RDBStorage):
        backend.engine.dispose()


def whole_study(study: optuna.Study) -> optuna.Study:
    """The study itself where Hyperband hands out one that shows only some of the trials."""
    whole: optuna.Study = getattr(study, "_study", study)
    return whole


def is_in_optimize(study: optuna.Study) -> bool:
    """Whether this thread runs `study.optimize`."""
    return bool(study._thread_local.in_optimize_loop)


def add_trial(study: optuna.Study, trial: FrozenTrial) -> int:
    """Adds a trial as `Study.add_trial` does, and returns its number."""
    storage = study._storage
    trial_id = storage.create_new_trial(study._study_id, template_trial=trial)
    return storage.get_trial_number_from_id(trial_id)


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


def has_heartbeat(storage: BaseStorage) -> bool:
    """Whether the storage notices that a worker has died."""
    return is_heartbeat_enabled(storage)


def record_heartbeat(storage: BaseStorage, trial: optuna.Trial) -> None:
    """Records the first heartbeat of a trial, where the storage has heartbeats.

    Optuna does so in a thread, a moment after the objective has begun. Nobody would miss a worker
    that is killed in that moment.
    """
    if isinstance(storage, BaseHeartbeat) and has_heartbeat(storage):
        storage.record_heartbeat(trial._trial_id)
