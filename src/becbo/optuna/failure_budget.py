"""The budget of failures before anything works: each trial under way may use up a part of it.

Later the engine knows designs that it can repeat instead, and nobody has to wait. The check does
without a space, because workers start trials before any parameter is known.
"""

from __future__ import annotations

import math
from dataclasses import replace

from optuna.trial import FrozenTrial, TrialState

from becbo.errors import BecboError
from becbo.front import is_acceptable
from becbo.optuna.beliefs import PROPOSAL
from becbo.optuna.designs import read_designs
from becbo.optuna.history import Rules
from becbo.optuna.outcomes import result_of
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData
from becbo.trial import Outcome


def within(study: StudyData, space: StudySpace) -> StudyData:
    """The study without the trials that lie outside a space.

    Args:
        study: what the study holds.
        space: the parameters to model.
    """
    outside = read_designs(study.trials, space).unusable
    return replace(study, trials=[t for t in study.trials if t.number not in outside])


def has_to_wait(study: StudyData, rules: Rules, budget: int, number: float = math.inf) -> bool:
    """Whether a new trial has to wait until one of those under way has ended.

    Of trials that start at the same time, those with lower numbers come first. So nobody has to
    hold a lock, and two never wait for each other.

    Args:
        study: what the study holds.
        rules: how pruned and lost trials count.
        budget: how many trials may fail.
        number: the number of the trial; without one it may be a queued design, which anybody may
            run.

    Raises:
        BecboError: the budget is spent, and nothing has worked that could be repeated.
    """
    lost = rules.lost(study.trials, study.user_attrs)
    kept = [trial for trial in study.trials if trial.number not in lost]
    results = [result_of(trial, lost, rules.pruned, study.outputs) for trial in kept]
    if any(is_acceptable(result, study.outputs) for result in results):
        return False
    n_failed = sum(result.outcome is Outcome.FAILED for result in results)
    n_out = sum(_is_out(trial, number) for trial in kept)
    is_queued = number == math.inf and any(t.state is TrialState.WAITING for t in kept)
    if n_failed >= budget and not n_out and not is_queued:
        raise BecboError(
            f"the budget of failures ({budget}) is spent, and nothing has worked so far that could "
            "be repeated; enqueue a design that is known to work, or raise the budget"
        )
    return n_out > 0 and n_failed + n_out >= budget


def _is_out(trial: FrozenTrial, number: float) -> bool:
    """Whether a trial runs that has a design already, or that has its turn before this number."""
    has_design = bool(trial.params) or PROPOSAL in trial.system_attrs
    return trial.state is TrialState.RUNNING and (has_design or trial.number < number)
