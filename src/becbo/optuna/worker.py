"""A worker: runs trials of a study that any number of workers share, until it has enough."""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

import optuna
from optuna.exceptions import ExperimentalWarning, OptunaError
from optuna.storages import BaseStorage, fail_stale_trials
from optuna.trial import FrozenTrial, TrialState

from becbo.checks import finite_numbers
from becbo.errors import Infeasible, InvalidInput
from becbo.front import front_rows
from becbo.optuna.internals import has_heartbeat, record_heartbeat
from becbo.optuna.outcomes import (
    OUTCOME,
    Pruned,
    lost_among,
    mark_failed,
    mark_lost,
    result_of,
)
from becbo.optuna.returned import measured_in, tell_measured
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.trial import Outcome

TrialFunction = Callable[[optuna.Trial], Any]

# Seconds between two looks at a study in which only the trials of other workers are left.
_POLL = 1.0


class BrokenObjective(Exception):
    """The objective is broken; the message is what to show to the user."""


@dataclass(frozen=True)
class TrialCounts:
    """How far a study is. Lost trials do not count.

    Attributes:
        finished: trials that worked or failed.
        running: trials under way.
        failed: those of the finished trials that failed.
    """

    finished: int
    running: int
    failed: int


class Listener(Protocol):
    """Whoever shows what a worker does."""

    def trial(self, study: optuna.Study, trial: FrozenTrial, counts: TrialCounts) -> None:
        """A trial of this worker has ended."""

    def waiting(self, counts: TrialCounts) -> None:
        """Only trials of other workers are left."""

    def note(self, text: str) -> None:
        """Something happened that users should know, besides the end of a trial."""


@dataclass
class Worker:
    """Runs trials of a study until it has enough of them or somebody stops it.

    Args:
        storage: where the study is stored.
        study: the study, with its sampler.
        objective: the function to optimise.
        outputs: what it returns; the objectives are the values of the study, in their order.
        catch: exceptions of the objective that mean that the design failed.
        pruned: what a pruned trial counts as.
        budget: how many trials the study is to have, of all workers together.
        lock: that of the storage, see `study_lock`.
        is_stopping: whether somebody asked to stop after the trial under way.
        report: who shows what happens.
        ending: why the study should end early, asked before every trial; None: go on.
    """

    storage: BaseStorage
    study: optuna.Study
    objective: TrialFunction
    outputs: Outputs
    catch: tuple[type[Exception], ...]
    pruned: Pruned
    budget: int
    lock: Callable[[], AbstractContextManager[None]]
    is_stopping: Callable[[], bool]
    report: Listener
    ending: Callable[[optuna.Study], str | None] = lambda study: None

    def run(self) -> None:
        """Starts a trial whenever one is missing; waits for those of others, which may get lost.

        Raises:
            BrokenObjective: the objective raised an unexpected exception or returned no numbers.
        """
        while not self.is_stopping():
            if why := self.ending(self.study):
                self.report.note(why)
                return
            # One worker at a time looks and starts a trial, so that together they never start
            # more than are missing.
            with ExitStack() as locked:
                locked.enter_context(self.lock())
                counts = _sweep_and_count(self.study, self.pruned, self.outputs)
                if counts.finished >= self.budget:
                    return
                if counts.finished + counts.running < self.budget:
                    self._run_one(locked)
                    continue
            self.report.waiting(counts)
            if not has_heartbeat(self.storage):  # nobody can tell whether they will ever end
                return
            time.sleep(_POLL)

    def _run_one(self, locked: ExitStack) -> None:
        """Runs one trial; gives the lock back once the trial exists and is known to be alive."""
        started: list[optuna.Trial] = []

        def evaluate(trial: optuna.Trial) -> list[float]:
            started.append(trial)
            record_heartbeat(self.storage, trial)
            locked.close()
            # Values that are not numbers end a trial as failed; `None` would be a value too few.
            return self._evaluate(trial) or [math.nan] * len(self.outputs.objectives)

        try:
            self.study.optimize(evaluate, n_trials=1)
        except Exception as error:
            if isinstance(error, BrokenObjective) or not any(map(self._was_given_away, started)):
                raise
            self.report.note(
                f"trial {started[0].number} gave no sign of life for too long and was given to "
                "another worker; its result here does not count"
            )
        else:
            ended = self.study.get_trials(deepcopy=False)[started[0].number]
            counts = count_trials(self.study, self.pruned, self.outputs)
            self.report.trial(self.study, ended, counts)

    def _was_given_away(self, trial: optuna.Trial) -> bool:
        """Whether another worker took this one for dead."""
        with self.lock():  # under which it also writes that down
            return trial.number in lost_among((), self.study.user_attrs)

    def _evaluate(self, trial: optuna.Trial) -> list[float] | None:
        """The values; None, and the trial marked, if there is not one for every objective.

        The sampler puts the design of a lost trial back into the queue.
        """
        try:
            returned = self.objective(trial)
        except OptunaError:  # pruned, or the storage is gone
            raise
        except Infeasible as error:
            self._mark_failed(trial, error, error.measured)
            return None
        except self.catch as error:
            self._mark_failed(trial, error)
            return None
        except KeyboardInterrupt:
            mark_lost(trial, "stopped")
            raise
        except (Exception, SystemExit) as error:
            mark_lost(trial, error)
            if self.is_stopping():
                return None
            raise BrokenObjective(f"{trace(error)}\n{_advice(trial, error)}") from error
        if returned is None:
            self._mark_failed(trial, "returned None")
            return None
        try:
            measured = measured_in(returned, self.outputs)
        except InvalidInput as error:
            mark_lost(trial, f"returned {returned!r}")
            raise BrokenObjective(
                f"the objective returned {returned!r} for {trial.params}: {error}. It must return "
                f"{_wanted(self.outputs)}, or None if the experiment failed"
            ) from error
        if all(number is None for number in measured.values()):
            text = "no finite number" if isinstance(returned, Mapping) else returned
            self._mark_failed(trial, f"returned {text}")
            return None
        return tell_measured(trial, measured, self.outputs)

    def _mark_failed(
        self,
        trial: optuna.Trial,
        reason: str | BaseException,
        measured: Mapping[str, Any] | None = None,
    ) -> None:
        """Marks a trial as failed, unless the objective or a signal knows better."""
        if trial.user_attrs.get(OUTCOME) == Outcome.LOST.value:
            pass  # the objective has said so
        elif self.is_stopping():
            # Ctrl-C also reaches the programs that the objective has started: what fails after it
            # says nothing about the design.
            mark_lost(trial, reason)
        else:
            mark_failed(trial, reason, finite_numbers(measured or {}))


def trace(error: BaseException) -> str:
    """The traceback from the objective on."""
    inner = error.__traceback__ and error.__traceback__.tb_next
    return "".join(traceback.format_exception(type(error), error, inner))


def _wanted(outputs: Outputs) -> str:
    names = ", ".join(outputs.names)
    n_objectives = len(outputs.objectives)
    number = "a number" if n_objectives == 1 else f"{n_objectives} numbers"
    return number if outputs.is_single else f"{number}, or a dict of {names}"


def _advice(trial: optuna.Trial, error: BaseException) -> str:
    return (
        f"The objective raised {type(error).__name__} for {trial.params}. Trial {trial.number} "
        "counts as lost and its design is offered again.\nIf such designs just fail, name the "
        "exception in --catch or raise becbo.Infeasible; otherwise mend the objective and start "
        "the worker again."
    )


def _sweep_and_count(study: optuna.Study, pruned: Pruned, outputs: Outputs) -> TrialCounts:
    """Counts the trials after marking those of dead workers as lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        fail_stale_trials(study)
    return count_trials(study, pruned, outputs)


def front_trials(study: optuna.Study, outputs: Outputs) -> list[FrozenTrial]:
    """The trials that worked, keep every limit and are beaten by no other.

    Optuna's own also counts trials that are marked as failed or lost.

    Args:
        study: any study.
        outputs: what its trials measure, see `Worker`.

    Returns:
        The trials by number; with one objective the best.
    """
    data = StudyData.of(study, outputs)
    lost = lost_among(data.trials, data.user_attrs)
    complete = [trial for trial in data.trials if trial.state is TrialState.COMPLETE]
    results = [result_of(trial, lost, outputs=data.outputs) for trial in complete]
    return [complete[row] for row in front_rows(results, data.outputs)]


def count_trials(study: optuna.Study, pruned: Pruned, outputs: Outputs) -> TrialCounts:
    """Counts the trials of a study.

    Args:
        study: any study.
        pruned: what a pruned trial counts as.
        outputs: what its trials measure, see `Worker`.
    """
    data = StudyData.of(study, outputs)
    lost = lost_among(data.trials, data.user_attrs)
    kept = [trial for trial in data.trials if trial.number not in lost]
    finished = [trial for trial in kept if trial.state.is_finished()]
    outcomes = [result_of(trial, pruned=pruned, outputs=data.outputs).outcome for trial in finished]
    return TrialCounts(
        finished=len(finished),
        running=sum(trial.state is TrialState.RUNNING for trial in kept),
        failed=outcomes.count(Outcome.FAILED),
    )
