"""Errors while a proposal is made: they say nothing about the design and are no failures."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from becbo.optuna.internals import is_in_optimize, whole_study
from becbo.optuna.outcomes import LOST

_logger = logging.getLogger(__name__)


class ProposalFailed(BaseException):
    """No proposal could be made, for a reason that lies in becbo and not in the objective.

    Not an `Exception`, because `optimize(catch=(Exception,))` is for designs that fail: it would
    take this for one more of them, go on, and never come to a proposal again.

    Examples:
        >>> try:
        ...     study.optimize(objective, n_trials=1, catch=(Exception,))
        ... except ProposalFailed as error:
        ...     print("please report this:", error)
    """


@contextmanager
def guarded(study: optuna.Study, trial: FrozenTrial) -> Iterator[optuna.Study]:
    """Gives the whole study; an error inside marks the trial as lost.

    Args:
        study: the study, perhaps as Hyperband shows it.
        trial: the trial that gets a proposal.

    Raises:
        ProposalFailed: something went wrong inside `study.optimize`. Under `study.ask` the error
            itself is raised.
        UpdateFinishedTrialError: somebody has ended the trial meanwhile.
    """
    study = whole_study(study)
    try:
        yield study
    except UpdateFinishedTrialError:  # somebody has ended the trial: nobody needs a proposal
        raise
    except Exception as error:
        if not is_in_optimize(study):
            _mark_lost(study, trial, error)
            raise
        end_without_proposal(study, trial, error)
        raise ProposalFailed(f"trial {trial.number} got no proposal: {error!r}") from error
    except KeyboardInterrupt as error:  # Optuna ends the trial
        _mark_lost(study, trial, error)
        raise


def end_without_proposal(study: optuna.Study, trial: FrozenTrial, error: BaseException) -> None:
    """Ends a trial that got no proposal and that nobody else is going to end.

    Args:
        study: the study, perhaps as Hyperband shows it.
        trial: the trial to end.
        error: why it got no proposal.
    """
    study = whole_study(study)
    # For optimize(n_jobs=2), which does not raise the errors of its last trials.
    _logger.error(f"trial {trial.number} got no proposal: {error!r}")
    _mark_lost(study, trial, error)
    study.tell(trial.number, state=TrialState.FAIL)


def _mark_lost(study: optuna.Study, trial: FrozenTrial, error: BaseException) -> None:
    study.set_user_attr(f"{LOST}{trial.number}", f"no proposal: {error!r}")
