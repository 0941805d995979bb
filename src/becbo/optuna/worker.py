"""A worker: runs trials of a study that any number of workers share, until it has enough."""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

import optuna
from optuna.exceptions import ExperimentalWarning, OptunaError
from optuna.storages import BaseStorage, fail_stale_trials
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import Infeasible, InvalidInput, in_words
from becbo.optimizer import number_in
from becbo.optuna.internals import has_heartbeat, record_heartbeat
from becbo.optuna.outcomes import (
    OUTCOME,
    Pruned,
    lost_among,
    lost_numbers,
    mark_failed,
    mark_lost,
    outcome,
)
from becbo.trial import Outcome

Objective = Callable[[optuna.Trial], Any]

# Seconds between two looks at a study in which only the trials of other workers are left.
_POLL = 1.0


class Broken(Exception):
    """The objective is broken; the text is what to show."""


@dataclass(frozen=True)
class Count:
    """How far a study is; lost trials do not count."""

    finished: int
    running: int
    failed: int


class Listener(Protocol):
    """Hears how it goes."""

    def trial(self, study: optuna.Study, trial: FrozenTrial, count: Count) -> None:
        """One more trial of this worker has ended."""

    def waiting(self, count: Count) -> None:
        """Only trials of other workers are left."""

    def note(self, text: str) -> None:
        """Something to know that is not the end of a trial."""


@dataclass
class Job:
    """What a worker does until the study has enough trials or somebody stops it."""

    storage: BaseStorage
    study: optuna.Study
    objective: Objective
    catch: tuple[type[Exception], ...]
    pruned: Pruned
    budget: int
    turns: Callable[[], AbstractContextManager[None]]
    is_stopping: Callable[[], bool]  # asked for, after the trial under way
    report: Listener

    def run(self) -> None:
        """Start a trial whenever one is missing; wait for those of others, which may get lost."""
        while not self.is_stopping():
            # One worker at a time looks and starts a trial, so that together they never start
            # more than are missing.
            with ExitStack() as turn:
                turn.enter_context(self.turns())
                count = _sweep_and_count(self.study, self.pruned)
                if count.finished >= self.budget:
                    return
                if count.finished + count.running < self.budget:
                    self._run_one(turn)
                    continue
            self.report.waiting(count)
            if not has_heartbeat(self.storage):  # nobody can tell whether they will ever end
                return
            time.sleep(_POLL)

    def _run_one(self, turn: ExitStack) -> None:
        """Run one trial; `turn` ends as soon as the trial is there and known to be alive."""
        started: list[optuna.Trial] = []

        def evaluate(trial: optuna.Trial) -> float:
            started.append(trial)
            record_heartbeat(self.storage, trial)
            turn.close()
            return _evaluate(self.objective, trial, self.catch, self.is_stopping)

        try:
            self.study.optimize(evaluate, n_trials=1)
        except Exception as error:
            if isinstance(error, Broken) or not any(map(self._was_given_away, started)):
                raise
            self.report.note(
                f"trial {started[0].number} gave no sign of life for too long and was given to "
                "another worker; its result here does not count"
            )
        else:
            ended = self.study.get_trials(deepcopy=False)[started[0].number]
            self.report.trial(self.study, ended, count_trials(self.study, self.pruned))

    def _was_given_away(self, trial: optuna.Trial) -> bool:
        """Whether another worker took this one for dead."""
        with self.turns():  # in which it also writes that down
            return trial.number in lost_among((), self.study.user_attrs)


def _evaluate(
    objective: Objective,
    trial: optuna.Trial,
    catch: tuple[type[Exception], ...],
    is_stopping: Callable[[], bool],
) -> float:
    """The value; NaN, and the trial marked as failed or lost, if there is none.

    The sampler puts the design of a lost trial back into the queue.
    """

    def without_value(reason: str) -> float:
        if trial.user_attrs.get(OUTCOME) == Outcome.LOST.value:
            return math.nan  # the objective knows better
        # Ctrl-C also reaches the programs that the objective has started: what fails after it
        # says nothing about the design.
        (mark_lost if is_stopping() else mark_failed)(trial, reason)
        return math.nan

    try:
        value = objective(trial)
    except OptunaError:  # pruned, or the storage is gone
        raise
    except Infeasible as error:
        return without_value(error.reason)
    except catch as error:
        return without_value(in_words(error))
    except KeyboardInterrupt:
        mark_lost(trial, "stopped")
        raise
    except (Exception, SystemExit) as error:
        mark_lost(trial, in_words(error))
        if is_stopping():
            return math.nan
        raise Broken(f"{trace(error)}\n{_advice(trial, error)}") from error
    if value is None:
        return without_value("returned None")
    try:
        number = number_in(value)
    except InvalidInput as error:
        mark_lost(trial, f"returned {value!r}")
        raise Broken(
            f"the objective returned {value!r} for {trial.params}; it must return a number, "
            "or None if the experiment failed"
        ) from error
    return number if math.isfinite(number) else without_value(f"returned {number}")


def trace(error: BaseException) -> str:
    """The traceback from the objective on."""
    inner = error.__traceback__ and error.__traceback__.tb_next
    return "".join(traceback.format_exception(type(error), error, inner))


def _advice(trial: optuna.Trial, error: BaseException) -> str:
    return (
        f"The objective raised {type(error).__name__} for {trial.params}. Trial {trial.number} "
        "counts as lost and its design is offered again.\nIf such designs just fail, name the "
        "exception in --catch or raise becbo.Infeasible; otherwise mend the objective and start "
        "the worker again."
    )


def _sweep_and_count(study: optuna.Study, pruned: Pruned) -> Count:
    """Count after taking the trials of dead workers for lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        fail_stale_trials(study)
    return count_trials(study, pruned)


def best_trial(study: optuna.Study) -> FrozenTrial | None:
    """The best of those that worked; Optuna's also counts marked ones and lost ones."""
    trials = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    lost = lost_numbers(study)
    worked = [trial for trial in trials if outcome(trial, lost) is Outcome.OK]
    better = min if study.direction is StudyDirection.MINIMIZE else max
    return better(worked, key=lambda trial: trial.values[0], default=None)


def count_trials(study: optuna.Study, pruned: Pruned) -> Count:
    """How far the study is."""
    trials = study.get_trials(deepcopy=False)
    lost = lost_among(trials, study.user_attrs)
    kept = [trial for trial in trials if trial.number not in lost]
    finished = [trial for trial in kept if trial.state.is_finished()]
    return Count(
        finished=len(finished),
        running=sum(trial.state is TrialState.RUNNING for trial in kept),
        failed=sum(outcome(trial, pruned=pruned) is Outcome.FAILED for trial in finished),
    )
