"""A worker: runs trials of a study that any number of workers share, until it has enough."""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

import optuna
from optuna.exceptions import ExperimentalWarning, UpdateFinishedTrialError
from optuna.storages import fail_stale_trials
from optuna.trial import FrozenTrial, TrialState

from becbo.front import front_rows
from becbo.optuna.breakage import BREAKAGE, Patience
from becbo.optuna.evaluation import Ending, Evaluation
from becbo.optuna.internals import claim, claimed_trial, storage_of, stored_trial
from becbo.optuna.liveness import alive
from becbo.optuna.locks import IsHeld
from becbo.optuna.outcomes import WORKER, Pruned, is_silent, lost_among, result_of
from becbo.optuna.repeats import in_place_of, requeue_silent, second_results
from becbo.optuna.sampler import is_held_up
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.trial import Outcome

# Seconds between two looks at a study in which there is nothing to do at present.
_POLL = 1.0


@dataclass(frozen=True)
class TrialCounts:
    """How far a study is. Lost trials do not count.

    Attributes:
        finished: trials that worked or failed.
        running: trials under way.
    """

    finished: int
    running: int


@dataclass(frozen=True)
class Standing:
    """What a study has found. Lost trials do not count.

    Attributes:
        finished: how many trials worked or failed.
        failed: how many failed.
        front: the trials that worked, keep every limit and are beaten by no other, by number; with
            one objective the best. Optuna's own also counts trials that are marked as failed.
    """

    finished: int
    failed: int
    front: Sequence[FrozenTrial]


class Listener(Protocol):
    """Whoever shows what a worker does."""

    def trial(self, trial: FrozenTrial, standing: Standing) -> None:
        """A trial of this worker has ended."""

    def waiting(self, counts: TrialCounts) -> None:
        """There is nothing to do until a trial of another worker has ended."""

    def note(self, text: str) -> None:
        """Something happened that users should know, besides the end of a trial."""


@dataclass
class Worker:
    """Runs trials of a study until it has enough of them or somebody stops it.

    Args:
        study: the study, with its sampler.
        evaluation: how the objective is called.
        pruned: what a pruned trial counts as.
        budget: how many trials the study is to have, of all workers together.
        lock: that of the storage, see `study_lock`.
        patience: how long to wait for a storage that is away.
        report: who shows what happens.
        ending: why the study should end early, asked before every trial; None: go on.
    """

    study: optuna.Study
    evaluation: Evaluation
    pruned: Pruned
    budget: int
    lock: Callable[[], AbstractContextManager[IsHeld]]
    patience: Patience
    report: Listener
    ending: Callable[[optuna.Study], str | None] = lambda study: None

    def run(self) -> None:
        """Starts a trial whenever one is missing; waits for those of others.

        They may get lost, or use up the budget of failures.

        Raises:
            BrokenObjective: the objective raised an unexpected exception or returned no numbers.
            BecboError: the budget of failures is spent, and nothing has worked.
            StorageInternalError, SQLAlchemyError: the storage was away for too long.
        """
        while not self.evaluation.is_stopping():
            try:
                if why := self.ending(self.study):
                    self.report.note(why)
                    return
                left = self._take_turn()
            except BREAKAGE as error:
                self.patience.wait(error)
                continue
            self.patience.answered()
            if left is not None:
                if left.finished >= self.budget:
                    return
                self.report.waiting(left)
                time.sleep(_POLL)

    def _take_turn(self) -> TrialCounts | None:
        """Runs a trial if one is missing; else says what the others are at.

        One worker at a time looks and starts a trial, so that together they never start more than
        are missing. It also gets its proposal in its turn: a simultaneous one would have to compute
        those of the others as well, to differ from them.
        """
        with ExitStack() as turn:
            is_held = turn.enter_context(self.lock())
            counts = self._sweep_and_count()
            if counts.finished + counts.running >= self.budget or is_held_up(self.study):
                return counts
            trial_id = claim(self.study, {WORKER: f"{socket.gethostname()}:{os.getpid()}"})
            with (
                alive(storage_of(self.study), trial_id),
                claimed_trial(self.study, trial_id) as trial,
            ):
                if not is_held():  # others may have counted without this trial
                    self._tell(trial, Ending(Outcome.LOST, reason="held up"))
                    return None
                try:
                    trial.relative_params  # noqa: B018, the proposal
                except UpdateFinishedTrialError:
                    self.report.note(f"{_given_away(trial)}; it had no proposal yet")
                    return None
                turn.close()
                self._run(trial)
        return None

    def _sweep_and_count(self) -> TrialCounts:
        """Counts the trials after marking those of dead workers as lost."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            fail_stale_trials(self.study)
        requeue_silent(self.study)
        return count_trials(self.study)

    def _run(self, trial: optuna.Trial) -> None:
        """Evaluates a trial and keeps what came of it until it is stored."""
        ending = self.evaluation.run(trial)
        if ending is None:
            self.report.note(f"{_given_away(trial)}; it had no result yet")
            return
        stored = self.patience.repeat(lambda: self._tell(trial, ending))
        if is_silent(stored) and ending.outcome is not Outcome.LOST:
            old = stored
            stored = self.patience.repeat(lambda: self._tell_late(old, ending))
            self.report.note(f"{_given_away(trial)}; its result is kept as trial {stored.number}")
        if ending.error is not None:
            raise ending.error
        self.report.trial(stored, standing(self.study, self.pruned, self.evaluation.outputs))

    def _tell(self, trial: optuna.Trial, ending: Ending) -> FrozenTrial:
        """Ends a trial, unless it has ended, and returns it as it is stored."""
        try:
            if not stored_trial(self.study, trial).state.is_finished():
                ending.tell(self.study, trial, self.evaluation.outputs)
        except (UpdateFinishedTrialError, ValueError):  # Optuna's, if it has just ended
            if not stored_trial(self.study, trial).state.is_finished():
                raise
        return stored_trial(self.study, trial)

    def _tell_late(self, old: FrozenTrial, ending: Ending) -> FrozenTrial:
        """Keeps the result of a trial that another worker took for lost."""
        with self.lock():
            return self._tell(in_place_of(self.study, old), ending)


def _given_away(trial: optuna.Trial) -> str:
    return f"trial {trial.number} gave no sign of life for too long and was taken for lost"


def count_trials(study: optuna.Study) -> TrialCounts:
    """Counts the trials of a study.

    Args:
        study: any study.
    """
    kept = _kept(study.get_trials(deepcopy=False), study.user_attrs)
    return TrialCounts(
        finished=sum(trial.state.is_finished() for trial in kept),
        running=sum(trial.state is TrialState.RUNNING for trial in kept),
    )


def standing(study: optuna.Study, pruned: Pruned, outputs: Outputs) -> Standing:
    """What a study has found.

    Args:
        study: any study.
        pruned: what a pruned trial counts as.
        outputs: what its trials measure, see `Worker`.
    """
    data = StudyData.of(study, outputs)
    kept = _kept(data.trials, data.user_attrs)
    finished = [trial for trial in kept if trial.state.is_finished()]
    results = [result_of(trial, pruned=pruned, outputs=data.outputs) for trial in finished]
    return Standing(
        finished=len(finished),
        failed=sum(result.outcome is Outcome.FAILED for result in results),
        front=[
            finished[row]
            for row in front_rows(results, data.outputs)
            if finished[row].state is TrialState.COMPLETE
        ],
    )


def _kept(trials: Sequence[FrozenTrial], study_attrs: Iterable[str]) -> list[FrozenTrial]:
    """The trials that count."""
    lost = lost_among(trials, study_attrs)
    ignored = lost | second_results(trials, lost)
    return [trial for trial in trials if trial.number not in ignored]
