"""Failed is not lost: what a finished Optuna trial says about its design.

Optuna has one state, FAIL, for a design that does not work and for a worker that died. The
difference is kept in attributes of the trial (set before it is told, because a told trial is
frozen) or, for a trial that is told already, in attributes of its study:

* `becbo:outcome` of the trial is "failed", "lost" or "ok", `becbo:reason` says why;
* `becbo:silent` and `becbo:worker` are system attributes of a trial that was taken for dead, or
  that a worker has begun: if such a trial ended as failed and nobody said why, it was lost;
* `becbo:lost:7` of the study says that trial 7 was lost, and why;
* Optuna's own `retry_history` names trials whose worker died;
* `becbo:replaces` names a trial that this one corrects: the old one counts for nothing.

The last two name trials by number, which means another trial when they come with trials added from
another study. So a number is believed only if the trial it names can be the one that is meant.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import optuna
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import Infeasible, InvalidInput
from becbo.optuna.measured import (
    VALUES,
    excesses,
    noted,
    set_values,
    told,
    with_constraints,
    without_sides,
)
from becbo.outputs import Outputs
from becbo.reasons import Reasons
from becbo.trial import Outcome, Result

OUTCOME = "becbo:outcome"
REASON = "becbo:reason"
LOST = "becbo:lost:"  # and the number of the trial
SILENT = "becbo:silent"  # system attribute of a trial: true if it gave no sign of life for too long
WORKER = "becbo:worker"  # system attribute of a trial: the worker that runs it
REPLACES = "becbo:replaces"  # system attribute of a trial: the number of one it corrects
RETRIES = "retry_history"  # Optuna's own name: numbers of the lost trials this one repeats
FIXED = "fixed_params"  # Optuna's own name: what enqueue_trial has set

# What a pruned trial counts as: its last reported value, a failure, or nothing at all.
Pruned = Literal["value", "failed", "ignore"]

_ONE_VALUE = Outputs.of("minimize")  # the direction says nothing about a result
_MARKS = {mark.value: mark for mark in (Outcome.FAILED, Outcome.LOST, Outcome.OK)}


def mark_failed(
    trial: optuna.Trial,
    reason: str | BaseException = "",
    measured: Mapping[str, float | None] | None = None,
) -> None:
    """Marks a trial as failed: its design does not work. Call it before the trial is told.

    Args:
        trial: the trial as the objective gets it.
        reason: why it failed. Commas separate several reasons, which are taken to be all there
            are. An exception is one reason.
        measured: the outputs that were measured all the same, see `set_values`; of `Infeasible`
            those that it has, if they are left out.

    Raises:
        InvalidInput: the trial is a frozen copy, or an argument cannot be used.
        UpdateFinishedTrialError: Optuna's; the trial has been told.

    Examples:
        >>> trial = study.ask()
        >>> mark_failed(trial, "gel", measured={"cost": 3.1})
    """
    if measured is None and isinstance(reason, Infeasible):
        measured = reason.measured
    _mark(trial, Outcome.FAILED, reason, measured)


def mark_worked(trial: optuna.Trial, measured: Mapping[str, float | None]) -> None:
    """Marks a trial as worked although it cannot return a value for every objective.

    Then end it as you like, with `TrialPruned` or as failed: the mark counts. Call it before the
    trial is told.

    Args:
        trial: the trial as the objective gets it.
        measured: the outputs that were measured, see `set_values`.

    Raises:
        InvalidInput: the trial is a frozen copy, or nothing was measured.
        UpdateFinishedTrialError: Optuna's; the trial has been told.

    Examples:
        >>> trial = study.ask()
        >>> mark_worked(trial, {"cost": 3.1})
    """
    if not isinstance(measured, Mapping) or all(value is None for value in measured.values()):
        raise InvalidInput(
            f"measured {measured!r}: a trial that worked has a value of at least one output; use "
            "mark_failed if it failed"
        )
    _mark(trial, Outcome.OK, "", measured)


def mark_lost(trial: optuna.Trial, reason: str | BaseException = "") -> None:
    """Marks a trial as lost: it says nothing about its design. Call it before the trial is told.

    Args:
        trial: the trial as the objective gets it.
        reason: why it was lost.

    Raises:
        InvalidInput: the trial is a frozen copy, or the reason is not a string.
        UpdateFinishedTrialError: Optuna's; the trial has been told.

    Examples:
        >>> trial = study.ask()
        >>> mark_lost(trial, "the licence server is away")
    """
    _mark(trial, Outcome.LOST, reason)


def _mark(
    trial: optuna.Trial,
    mark: Outcome,
    reason: str | BaseException,
    measured: Mapping[str, float | None] | None = None,
) -> None:
    if isinstance(trial, FrozenTrial):  # it would keep the mark to itself
        raise InvalidInput(
            f"trial {trial.number} is a frozen copy and cannot be marked {mark.value}; mark it "
            "before it is told, or use requeue_lost(study, trial) for one that was lost"
        )
    text = Reasons.parse(reason).text
    set_values(trial, measured or {})
    trial.set_user_attr(REASON, text)
    trial.set_user_attr(OUTCOME, mark.value)  # last: a trial that has it has all of its mark


def mark_of(trial: optuna.Trial | FrozenTrial) -> Outcome | None:
    """What a trial is marked as: failed, lost or worked; None: it has no mark that can be used.

    Args:
        trial: a trial in any state.
    """
    mark = _MARKS.get(str(trial.user_attrs.get(OUTCOME)))  # anybody can write attributes
    if mark is Outcome.OK and VALUES not in trial.user_attrs:
        return None  # there is no telling what was measured
    return mark


def marking(
    objective: Callable[[optuna.Trial], Any], lost: tuple[type[BaseException], ...] = ()
) -> Callable[[optuna.Trial], Any]:
    """Wraps an objective so that an exception marks its trial as failed or lost.

    `TrialPruned` stays what it is, Ctrl-C and the end of the program mean lost, and other
    exceptions mean failed unless they are named in `lost`. Every exception is raised again. A mark
    that the objective has set itself stays. A frozen trial, given to run a design again, is not
    marked.

    Args:
        objective: the function to optimise.
        lost: exceptions that say nothing about the design, as in `(ConnectionError,)`.

    Returns:
        The wrapped objective.

    Raises:
        InvalidInput: `lost` is not a tuple of exception types.

    Examples:
        >>> marked = marking(objective, lost=(ConnectionError,))
        >>> study.optimize(marked, n_trials=5, catch=(Exception,))
    """
    check_exceptions(lost)

    @functools.wraps(objective)
    def marked(trial: optuna.Trial) -> Any:
        try:
            return objective(trial)
        except optuna.TrialPruned:
            raise
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            if not isinstance(trial, FrozenTrial) and mark_of(trial) is None:
                is_lost = isinstance(error, lost) or not isinstance(error, Exception)
                (mark_lost if is_lost else mark_failed)(trial, error)
            raise

    return marked


def check_exceptions(lost: object) -> None:
    """Checks a tuple of exception types, which Python does only when an exception is raised."""
    if not isinstance(lost, tuple) or not all(
        isinstance(kind, type) and issubclass(kind, BaseException) for kind in lost
    ):
        raise InvalidInput(
            f"lost {lost!r} must be a tuple of exception types, as in (ConnectionError,)"
        )


def result_of(
    trial: FrozenTrial,
    lost: Collection[int] = (),
    pruned: Pruned = "value",
    outputs: Outputs | None = None,
) -> Result:
    """Reads what came of a trial.

    Lost beats failed, because the repeat will tell, and a mark beats the state. A trial that
    violates a constraint worked: its values say which limit it is beyond. An infinite value counts
    as failed. A pruned trial that is to be ignored counts as lost: it says nothing of its design.
    So does one that returned the distance from a target and has not noted what was measured.

    Args:
        trial: a trial of a study.
        lost: the numbers of lost trials, see `lost_numbers`.
        pruned: what a pruned trial counts as: "value", "failed" or "ignore".
        outputs: what the trials of the study measure, see `outputs_of`; None: a value without a
            name, and the constraints of this trial.

    Returns:
        The result. A failed trial has the reason that somebody gave or, without one, the names of
        the constraints that it violates.

    Examples:
        >>> result = result_of(study.trials[0], lost_numbers(study))
        >>> result.outcome, result.reason
    """
    outputs = with_constraints(_ONE_VALUE, [trial]) if outputs is None else outputs
    returned, beside = told(trial, outputs), noted(trial, outputs)
    values = {name: {**returned, **beside}.get(name) for name in outputs.names}
    ended = _outcome(trial, lost, pruned, values, outputs)
    reasons = reasons_given(trial)
    if ended is Outcome.OK:
        return Result.ok(values)
    if ended is Outcome.FAILED:
        violated = [name for name, excess in excesses(trial, outputs).items() if excess > 0]
        # What a trial returned that was marked may be a penalty, and a report is not a value.
        is_told = trial.state is TrialState.COMPLETE and OUTCOME not in trial.user_attrs
        measured: dict[str, float | None] = {**(returned if is_told else {}), **beside}
        measured = {name: measured.get(name) for name in outputs.names} if measured else {}
        return Result.failed(reasons or _as_list(violated), measured)
    return Result(ended, reasons=reasons)


def _outcome(
    trial: FrozenTrial,
    lost: Collection[int],
    pruned: Pruned,
    values: Mapping[str, float | None],
    outputs: Outputs,
) -> Outcome:
    if trial.number in lost:
        return Outcome.LOST
    if trial.state is TrialState.WAITING:
        return Outcome.PENDING
    mark = mark_of(trial)
    if mark is not None:
        # One that worked, with values of unknown outputs only, says nothing.
        return Outcome.LOST if mark is Outcome.OK and set(values.values()) == {None} else mark
    if trial.state is TrialState.RUNNING:
        return Outcome.PENDING
    if is_silent(trial):
        return Outcome.LOST
    if trial.state is TrialState.PRUNED and pruned != "value":
        return Outcome.LOST if pruned == "ignore" else Outcome.FAILED
    is_finite = all(excess < math.inf for excess in trial.constraints.values())
    if trial.state is TrialState.FAIL or not is_finite:
        return Outcome.FAILED
    if without_sides(trial, outputs):
        return Outcome.LOST
    has_objectives = all(values[objective.name] is not None for objective in outputs.objectives)
    return Outcome.OK if has_objectives else Outcome.FAILED


def reasons_given(trial: FrozenTrial) -> Reasons:
    """Why a trial failed or was lost, if somebody has said so."""
    said = trial.user_attrs.get(REASON)
    return Reasons.parse(str(said) if said else None)  # anybody can set it, to anything


def _as_list(names: Sequence[str]) -> str:
    """Names as a list of reasons."""
    return ", ".join(
        '"{}"'.format(name.replace('"', "'")) if re.search("[,;]", name) else name for name in names
    )


def lost_numbers(study: optuna.Study) -> frozenset[int]:
    """The numbers of all trials of a study that were lost or corrected.

    Args:
        study: any study.

    Returns:
        The numbers.

    Examples:
        >>> lost_numbers(study)
        frozenset()
    """
    return lost_among(study.get_trials(deepcopy=False), study.user_attrs)


def lost_among(trials: Iterable[FrozenTrial], study_attrs: Iterable[str]) -> frozenset[int]:
    """The numbers of lost trials.

    Args:
        trials: all trials of a study.
        study_attrs: the user attributes of the study.
    """
    known = {trial.number: trial for trial in trials}
    lost = {int(key.removeprefix(LOST)) for key in study_attrs if key.startswith(LOST)}
    lost.update(corrections(known.values()).values())
    for trial in known.values():
        repeated = [known[n] for n in retries_of(trial) if n in known]
        lost.update(
            old.number
            for old in repeated
            if old.state is not TrialState.COMPLETE and is_same(trial, old)
        )
        if trial.user_attrs.get(OUTCOME) == Outcome.LOST.value or is_silent(trial):
            lost.add(trial.number)
    return frozenset(lost)


def is_silent(trial: FrozenTrial) -> bool:
    """Whether a trial was ended by somebody who took its worker for dead.

    A worker says why a trial failed before it ends it.
    """
    is_watched = WORKER in trial.system_attrs or SILENT in trial.system_attrs
    return trial.state is TrialState.FAIL and is_watched and OUTCOME not in trial.user_attrs


def corrections(trials: Iterable[FrozenTrial]) -> dict[int, int]:
    """Number of each trial that corrects another one -> the number of that other trial."""
    known = {trial.number: trial for trial in trials}
    pairs = [(t, known.get(t.system_attrs.get(REPLACES, -1))) for t in known.values()]
    return {new.number: old.number for new, old in pairs if old and is_same(new, old)}


def design_of(trial: FrozenTrial) -> dict[str, Any]:
    """What has been set in a trial, or will be as soon as it is suggested."""
    return {**trial.system_attrs.get(FIXED, {}), **trial.params}


def is_same(trial: FrozenTrial, old: FrozenTrial) -> bool:
    """Whether a trial can repeat, or correct, an old one: it has all that the old one came to."""
    design = design_of(trial)
    return old.number < trial.number and all(
        name in design and design[name] == value for name, value in old.params.items()
    )


def retries_of(trial: FrozenTrial) -> Sequence[int]:
    """The numbers of the lost trials that a trial says it repeats."""
    retries: Sequence[int] = trial.system_attrs.get(RETRIES, ())
    return retries
