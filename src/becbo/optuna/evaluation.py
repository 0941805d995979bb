"""One evaluation of an objective: what it returned or raised, and what that means for the trial."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError, TrialPruned, UpdateFinishedTrialError
from optuna.trial import TrialState

from becbo.checks import finite_numbers
from becbo.errors import Infeasible, InvalidInput
from becbo.optuna.outcomes import mark_failed, mark_lost, mark_of
from becbo.optuna.returned import measured_in, tell_measured
from becbo.outputs import Outputs
from becbo.trial import Outcome

TrialFunction = Callable[[optuna.Trial], Any]


class BrokenObjective(Exception):
    """The objective is broken; the message is what to show to the user."""


@dataclass(frozen=True)
class Ending:
    """How a trial ended. It can be written down at any time, as often as needed.

    A trial that the objective has marked keeps its mark: the objective knows best.

    Args:
        outcome: worked, failed or lost; None: it was pruned.
        measured: by the name of the output, a number or None.
        reason: why it failed or was lost.
        error: what is wrong with the objective, or that somebody stopped it.
    """

    outcome: Outcome | None = None
    measured: Mapping[str, float | None] = field(default_factory=dict)
    reason: str | BaseException = ""
    error: BrokenObjective | KeyboardInterrupt | None = None

    def tell(self, study: optuna.Study, trial: optuna.Trial, outputs: Outputs) -> None:
        """Writes it down.

        Args:
            study: the study of the trial.
            trial: a trial that has not ended.
            outputs: what there is to measure.
        """
        values = None
        if self.outcome is Outcome.OK:
            values = tell_measured(trial, self.measured, outputs)
        elif mark_of(trial) is None:
            if self.outcome is Outcome.FAILED:
                mark_failed(trial, self.reason, self.measured)
            elif self.outcome is Outcome.LOST:
                mark_lost(trial, self.reason)
        without = TrialState.PRUNED if self.outcome is None else TrialState.FAIL
        study.tell(trial, values, without if values is None else TrialState.COMPLETE)


@dataclass(frozen=True)
class Evaluation:
    """How objectives are called and what they may do.

    Args:
        objective: the function to optimise.
        outputs: what it returns.
        catch: exceptions that mean that the design failed.
        is_stopping: whether somebody asked to stop.
    """

    objective: TrialFunction
    outputs: Outputs
    catch: tuple[type[Exception], ...]
    is_stopping: Callable[[], bool]

    def run(self, trial: optuna.Trial) -> Ending | None:
        """Calls the objective.

        Args:
            trial: what it gets.

        Returns:
            How the trial ended; None if it was taken from the objective before it had a result.

        Raises:
            StorageInternalError: the storage does not answer.
        """
        try:
            returned = self.objective(trial)
        except TrialPruned:
            return Ending()
        except StorageInternalError:
            raise
        except UpdateFinishedTrialError:  # somebody has ended the trial
            return None
        except Infeasible as error:
            return self._failed(trial, error, error.measured)
        except self.catch as error:
            return self._failed(trial, error)
        except KeyboardInterrupt as error:
            return Ending(Outcome.LOST, reason="stopped", error=error)
        except (Exception, SystemExit) as error:
            if self.is_stopping():
                return Ending(Outcome.LOST, reason=error)
            return _broken(error, f"{trace(error)}\n{_advice(trial, error)}")
        if returned is None:
            return self._failed(trial, "returned None")
        try:
            measured = measured_in(returned, self.outputs)
        except InvalidInput as error:
            text = f"the objective returned {returned!r} for {trial.params}: {error}. It must "
            text += f"return {_wanted(self.outputs)}, or None if the experiment failed"
            return _broken(f"returned {returned!r}", text)
        if all(number is None for number in measured.values()):
            text = "no finite number" if isinstance(returned, Mapping) else returned
            return self._failed(trial, f"returned {text}")
        return Ending(Outcome.OK, measured)

    def _failed(
        self,
        trial: optuna.Trial,
        reason: str | BaseException,
        measured: Mapping[str, Any] | None = None,
    ) -> Ending:
        """The design failed, unless somebody asked to stop."""
        if self.is_stopping():
            # Ctrl-C also reaches the programs that the objective has started: what fails after it
            # says nothing about the design.
            return Ending(Outcome.LOST, reason=reason)
        try:
            return Ending(Outcome.FAILED, finite_numbers(measured or {}), reason)
        except InvalidInput as error:
            return _broken(
                reason, f"the objective measured {measured!r} for {trial.params}: {error}"
            )


def _broken(reason: str | BaseException, message: str) -> Ending:
    return Ending(Outcome.LOST, reason=reason, error=BrokenObjective(message))


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
    mark = mark_of(trial)
    is_lost = mark in (None, Outcome.LOST)
    counts = "as lost and its design is offered again" if is_lost else "as the objective marked it"
    return (
        f"The objective raised {type(error).__name__} for {trial.params}. Trial {trial.number} "
        f"counts {counts}.\nIf such designs just fail, name the "
        "exception in `catch` or raise becbo.Infeasible; otherwise mend the objective and start "
        "the worker again."
    )
