"""Failed is not lost: what a finished Optuna trial says about its design.

Optuna has one state, FAIL, for a design that does not work and for a worker that died. The
difference is kept in attributes of the trial (set before it is told, because a told trial is
frozen) or, for a trial that is told already, in attributes of its study:

* `becbo:outcome` of the trial is "failed" or "lost", `becbo:reason` says why;
* `becbo:lost:7` of the study says that trial 7 was lost, and why;
* Optuna's own `retry_history` names trials whose worker died;
* `becbo:replaces` names a trial that this one corrects: the old one counts for nothing.

The last two name trials by number, which means another trial when they come with trials added from
another study. So a number is believed only if the trial it names can be the one that is meant.
"""

from __future__ import annotations

import functools
import logging
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal

import optuna
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import InvalidInput, in_words, reason_text
from becbo.trial import MAX_LOSSES, Outcome

OUTCOME = "becbo:outcome"
REASON = "becbo:reason"
LOST = "becbo:lost:"  # and the number of the trial
REPLACES = "becbo:replaces"  # system attribute of a trial: the number of one it corrects
RETRIES = "retry_history"  # Optuna's own name: numbers of the lost trials this one repeats
FIXED = "fixed_params"  # Optuna's own name: what enqueue_trial has set

# A design that kills whoever runs it is not offered for ever.
MAX_RETRIES = MAX_LOSSES - 1

# What a pruned trial counts as: its last reported value, a failure, or nothing at all.
Pruned = Literal["value", "failed", "ignore"]

_MARKS = {mark.value: mark for mark in (Outcome.FAILED, Outcome.LOST)}

_logger = logging.getLogger(__name__)


def mark_failed(trial: optuna.Trial, reason: str = "") -> None:
    """Notes that this design does not work; call it before the trial is told.

    Commas separate several reasons, which are taken to be all there are.
    """
    _mark(trial, Outcome.FAILED, reason)


def mark_lost(trial: optuna.Trial, reason: str = "") -> None:
    """Notes that the trial says nothing about its design; call it before the trial is told."""
    _mark(trial, Outcome.LOST, reason)


def _mark(trial: optuna.Trial, mark: Outcome, reason: str) -> None:
    if isinstance(trial, FrozenTrial):  # it would keep the mark to itself
        raise InvalidInput(
            f"trial {trial.number} is a frozen copy and cannot be marked {mark.value}; mark it "
            "before it is told, or use requeue_lost(study, trial) for one that was lost"
        )
    text = reason_text(reason)
    trial.set_user_attr(OUTCOME, mark.value)
    trial.set_user_attr(REASON, text)


def marking(
    objective: Callable[[optuna.Trial], Any], lost: tuple[type[BaseException], ...] = ()
) -> Callable[[optuna.Trial], Any]:
    """The objective, marking its trial when an exception leaves it.

    Exceptions of the types in `lost`, Ctrl-C and the end of the program mean lost, `TrialPruned`
    stays what it is, and every other exception means failed. The exception goes on its way. A
    frozen trial, given to run a design again, cannot be marked and is not.
    """
    check_exceptions(lost)

    @functools.wraps(objective)
    def marked(trial: optuna.Trial) -> Any:
        try:
            return objective(trial)
        except optuna.TrialPruned:
            raise
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            if not isinstance(trial, FrozenTrial):
                is_lost = isinstance(error, lost) or not isinstance(error, Exception)
                (mark_lost if is_lost else mark_failed)(trial, in_words(error))
            raise

    return marked


def check_exceptions(lost: object) -> None:
    """An error now: Python looks at such a tuple only when an exception is on its way."""
    if not isinstance(lost, tuple) or not all(
        isinstance(kind, type) and issubclass(kind, BaseException) for kind in lost
    ):
        raise InvalidInput(
            f"lost {lost!r} must be a tuple of exception types, as in (ConnectionError,)"
        )


def outcome(trial: FrozenTrial, lost: Collection[int] = (), pruned: Pruned = "value") -> Outcome:
    """How the trial ended, given the numbers of the lost ones: see `lost_numbers`.

    Lost beats failed, because the repeat will tell, and a mark beats the state. An infinite value
    and a violated constraint (`Trial.set_constraint`) count as failed. A pruned trial that is to
    be ignored counts as lost: it says nothing about its design.
    """
    if trial.number in lost:
        return Outcome.LOST
    if trial.state is TrialState.WAITING:
        return Outcome.PENDING
    if (mark := _MARKS.get(trial.user_attrs.get(OUTCOME, ""))) is not None:
        return mark
    if trial.state is TrialState.RUNNING:
        return Outcome.PENDING
    if trial.state is TrialState.PRUNED and pruned == "ignore":
        return Outcome.LOST
    if trial.state is TrialState.PRUNED and pruned == "failed":
        return Outcome.FAILED
    has_worked = final_value(trial) is not None
    return Outcome.OK if has_worked and not _violated(trial) else Outcome.FAILED


def final_value(trial: FrozenTrial) -> float | None:
    """What came out, if it is a number; of a pruned trial the last report."""
    told = trial.values[0] if trial.values else None
    if told is None and trial.state is TrialState.PRUNED and trial.last_step is not None:
        told = trial.intermediate_values[trial.last_step]  # added with `add_trial`, not told
    return told if told is not None and math.isfinite(told) else None


def reason(trial: FrozenTrial) -> str | None:
    """Why the trial failed or was lost, if somebody said so.

    If nobody did, a failed trial has the names of the constraints that it violates.
    """
    if (said := _said(trial)) is not None or outcome(trial) is not Outcome.FAILED:
        return said
    return ", ".join(map(_in_one_word, _violated(trial))) or None


def _said(trial: FrozenTrial) -> str | None:
    said = trial.user_attrs.get(REASON)
    return str(said) if said else None  # anybody can set an attribute, to anything


def _violated(trial: FrozenTrial) -> list[str]:
    """The names of the violated constraints; `constraints_func` gives numbers as names."""
    return [name for name, excess in trial.constraints.items() if not excess <= 0]


def _in_one_word(name: str) -> str:
    """The name as one reason.

    Commas and colons would divide it, and a number by itself would be taken for a reading.
    """
    word = "_".join(re.findall(r"\w+", name))
    return word if word[:1].isalpha() else f"constraint_{word}"


def lost_numbers(study: optuna.Study) -> frozenset[int]:
    """The numbers of all trials that were lost."""
    return lost_among(study.get_trials(deepcopy=False), study.user_attrs)


def lost_among(trials: Iterable[FrozenTrial], study_attrs: Iterable[str]) -> frozenset[int]:
    """The numbers of lost trials, from all trials and the attributes of their study."""
    known = {trial.number: trial for trial in trials}
    lost = {int(key.removeprefix(LOST)) for key in study_attrs if key.startswith(LOST)}
    lost.update(corrections(known.values()).values())
    for trial in known.values():
        repeated = [known[n] for n in _retries(trial) if n in known]
        lost.update(
            old.number
            for old in repeated
            if old.state is not TrialState.COMPLETE and _is_same(trial, old)
        )
        if trial.user_attrs.get(OUTCOME) == Outcome.LOST.value:
            lost.add(trial.number)
    return frozenset(lost)


def corrections(trials: Iterable[FrozenTrial]) -> dict[int, int]:
    """Number of each trial that corrects another one -> the number of that other trial."""
    known = {trial.number: trial for trial in trials}
    pairs = [(t, known.get(t.system_attrs.get(REPLACES, -1))) for t in known.values()]
    return {new.number: old.number for new, old in pairs if old and _is_same(new, old)}


def requeue_lost(study: optuna.Study, trial: FrozenTrial) -> None:
    """Marks a trial as lost and puts its design back into the queue, once.

    This is a `heartbeat_stale_trial_callback` for `RDBStorage`, and the way to correct a finished
    trial that should not count: one whose worker was killed, or that Ctrl-C ended. A design that
    was lost again after `MAX_RETRIES` repeats is given up; a message in the log says so. The
    attributes of the trial stay with it: they tell how it ended.
    """
    key = f"{LOST}{trial.number}"
    if key not in study.user_attrs:
        study.set_user_attr(key, _said(trial) or "the worker gave no answer")
    fixed = trial.system_attrs.get(FIXED, {})
    design = design_of(trial)
    trials = study.get_trials(deepcopy=False)
    history = [n for n in _retries(trial) if n < trial.number and _is_same(trial, trials[n])]
    history.append(trial.number)
    if not design or any(trial.number in _retries(t) and _is_same(t, trial) for t in trials):
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


def design_of(trial: FrozenTrial) -> dict[str, Any]:
    """What has been set in a trial, or will be as soon as it is suggested."""
    return {**trial.system_attrs.get(FIXED, {}), **trial.params}


def _is_same(trial: FrozenTrial, old: FrozenTrial) -> bool:
    """Whether a trial can repeat, or correct, an old one: it has all that the old one came to."""
    design = design_of(trial)
    return old.number < trial.number and all(
        name in design and design[name] == value for name, value in old.params.items()
    )


def _retries(trial: FrozenTrial) -> Sequence[int]:
    retries: Sequence[int] = trial.system_attrs.get(RETRIES, ())
    return retries
