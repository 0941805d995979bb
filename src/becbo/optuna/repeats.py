"""Lost trials are repeated, and what came of one after all is kept."""

from __future__ import annotations

import logging
from collections.abc import Collection

import optuna
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import InvalidInput
from becbo.optuna.internals import end_trial, running_trial, set_user_attr
from becbo.optuna.outcomes import (
    FIXED,
    LOST,
    OUTCOME,
    REASON,
    REPLACES,
    RETRIES,
    SILENT,
    corrections,
    design_of,
    is_same,
    is_silent,
    reasons_given,
    retries_of,
)
from becbo.trial import MAX_LOSSES, Outcome

# A design that kills whoever runs it is not offered again and again.
MAX_RETRIES = MAX_LOSSES - 1

_logger = logging.getLogger(__name__)


def requeue_lost(study: optuna.Study, trial: FrozenTrial) -> None:
    """Marks a trial as lost and puts its design back into the queue, once.

    This is a `heartbeat_stale_trial_callback` for `RDBStorage`, and the way to correct a finished
    trial that should not count: one whose worker was killed, or that Ctrl-C ended. A design that
    was lost again after `MAX_RETRIES` repeats is given up; a message in the log says so. The
    attributes of the trial stay with it: they tell how it ended.

    Args:
        study: the study of the trial.
        trial: a trial that has ended.

    Raises:
        InvalidInput: the trial has not ended.

    Examples:
        >>> requeue_lost(study, study.trials[0])
        >>> lost_numbers(study)
        frozenset({0})
    """
    if not trial.state.is_finished():
        raise InvalidInput(
            f"trial {trial.number} is {trial.state.name}; end it first, as in "
            f"study.tell({trial.number}, state=TrialState.FAIL)"
        )
    key = f"{LOST}{trial.number}"
    if key not in study.user_attrs:
        study.set_user_attr(key, reasons_given(trial).text or "the worker gave no answer")
    fixed = trial.system_attrs.get(FIXED, {})
    design = design_of(trial)
    trials = study.get_trials(deepcopy=False)
    history = [n for n in retries_of(trial) if n < trial.number and is_same(trial, trials[n])]
    history.append(trial.number)
    if not design or any(trial.number in retries_of(t) and is_same(t, trial) for t in trials):
        return
    if len(history) > MAX_RETRIES:
        _logger.warning(
            f"trial {trial.number} was lost {len(history)} times, as trials {history}; it is not "
            f"offered again. If the design itself is the cause, add it to the study as failed: "
            f"{design}"
        )
        return
    study.add_trial(
        optuna.create_trial(
            state=TrialState.WAITING,
            params=trial.params,
            distributions=trial.distributions,
            system_attrs={FIXED: fixed, RETRIES: history},
        )
    )


def requeue_silent(study: optuna.Study) -> None:
    """Requeues trials that somebody took for dead who then died before he could requeue them.

    Args:
        study: a study whose lock is held.
    """
    trials = study.get_trials(deepcopy=False)
    settled = {n for trial in trials for n in retries_of(trial)} | set(corrections(trials).values())
    for trial in filter(is_silent, trials):
        is_given_up = len(retries_of(trial)) >= MAX_RETRIES
        if trial.number not in settled and not is_given_up and design_of(trial):
            requeue_lost(study, trial)


def in_place_of(study: optuna.Study, old: FrozenTrial) -> optuna.Trial:
    """A new trial for the result of one that was taken for lost; tell it at once.

    A repeat of the old one that nobody has begun is withdrawn.

    Args:
        study: a study whose lock is held.
        old: the old trial as it is stored.

    Returns:
        The new trial, with the design and the attributes of the old one.
    """
    replaced = old
    for trial in study.get_trials(deepcopy=False):
        is_repeat = old.number in retries_of(trial) and is_same(trial, old)
        if is_repeat and trial.state is TrialState.WAITING:
            set_user_attr(study, trial, OUTCOME, Outcome.LOST.value)
            set_user_attr(study, trial, REASON, f"trial {old.number} has ended after all")
            end_trial(study, trial, TrialState.FAIL)
            replaced = trial
    system_attrs = {k: v for k, v in old.system_attrs.items() if k != SILENT}
    new = optuna.create_trial(
        state=TrialState.RUNNING,
        params=old.params,
        distributions=old.distributions,
        user_attrs=old.user_attrs,
        system_attrs={**system_attrs, REPLACES: replaced.number},
        intermediate_values=old.intermediate_values,
    )
    return running_trial(study, new)


def second_results(trials: Collection[FrozenTrial], lost: Collection[int]) -> set[int]:
    """The numbers of late results whose trial was repeated meanwhile: they tell, but do not count.

    Args:
        trials: all trials of a study.
        lost: the numbers of those that were lost.
    """
    repeated = {n for trial in trials if trial.number not in lost for n in retries_of(trial)}
    return {new for new, old in corrections(trials).items() if old in repeated}
