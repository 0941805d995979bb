"""What to propose for a trial, given what its study holds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optuna.trial import FrozenTrial, TrialState

from becbo.errors import BecboError
from becbo.optuna.designs import Design, PartialDesigns, enqueued, partial_designs
from becbo.optuna.history import History, Rules, age, read_history
from becbo.optuna.spaces import PinnedSpace, StudySpace
from becbo.optuna.study_data import StudyData
from becbo.search.choice import REPEAT, SPENT
from becbo.settings import Settings
from becbo.space import Space
from becbo.trial import Trial

if TYPE_CHECKING:
    from becbo.optimizer import Optimizer

# Seconds after which a running trial without a proposal is not about to get one.
_SOON = 60.0

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """How a study is continued.

    Args:
        space: the parameters to propose.
        settings: how to optimise.
        rules: how pruned and lost trials count.
    """

    space: StudySpace
    settings: Settings
    rules: Rules = Rules()


def optimizer_of(study: StudyData, plan: Plan) -> Optimizer:
    """An optimizer that knows a study; what it is asked and told changes nothing there.

    Args:
        study: what the study holds.
        plan: how to continue it.
    """
    history = read_history(study, plan.space, plan.rules)
    return _optimizer(plan.space.space, study, history, plan)


def _optimizer(space: Space, study: StudyData, history: History, plan: Plan) -> Optimizer:
    from becbo.optimizer import Optimizer  # the engine, which recording a result does not need

    return Optimizer(space, study.outputs, trials=history.trials, **vars(plan.settings))


def next_proposal(study: StudyData, plan: Plan) -> Trial:
    """What would be proposed if somebody asked now; an enqueued trial comes first, as in Optuna.

    Args:
        study: what the study holds.
        plan: how to continue it.

    Returns:
        The proposal, with values as users see them. Nothing becomes pending.
    """
    pinned: Design = {}
    number = len(study.trials)
    if waiting := [t for t in study.trials if t.state is TrialState.WAITING]:
        number = waiting[0].number
        pinned = enqueued(waiting[0], plan.space)
        study = study.without(number)
    if len(pinned) == len(plan.space.distributions):
        asked = Trial(0, pinned)
    else:
        asked = propose(study, read_history(study, plan.space, plan.rules), plan, number, pinned)
    return replace(asked, params=plan.space.decode(asked.params))


def propose(study: StudyData, history: History, plan: Plan, number: int, pinned: Design) -> Trial:
    """What to propose for a trial.

    Args:
        study: what the study holds besides that trial.
        history: that of `study`.
        plan: how to continue the study.
        number: the number of the trial.
        pinned: values that the trial has in any case.

    Returns:
        The proposal, with values of the engine's space.
    """
    # Workers that compute a proposal at this moment and asked first: their proposals are computed
    # as well, so that this one differs from them.
    known = history.lost.union(history.designs)
    n_before = sum(
        t.number < number and t.number not in known and _is_starting(t) for t in study.trials
    )

    def ask(space: Space) -> Trial:
        return _optimizer(space, study, history, plan).ask(n_before + 1)[-1]

    space = plan.space.space
    counted = [trial for trial in study.trials if trial.number not in history.lost]
    tried = partial_designs(counted, history.designs)
    return _ask_new(ask, space, pinned, tried, number)


def _is_starting(trial: FrozenTrial) -> bool:
    return trial.state is TrialState.RUNNING and age(trial) < _SOON


def _ask_new(
    ask: Callable[[Space], Trial],
    space: Space,
    pinned: Design,
    tried: PartialDesigns,
    number: int,
) -> Trial:
    """The answer for the space without designs whose results are known from partial ones."""
    if not tried:
        return _ask_around(ask, space, pinned, number)

    def is_new(params: Mapping[str, Any]) -> bool:
        return not any(
            tuple(params[name] for name in names) in values for names, values in tried.items()
        )

    with suppress(BecboError):
        return ask(_around(Space(space.parameters, [*space.constraints, is_new]), pinned))
    why = "no design was found that differs from earlier ones in what those trials asked for"
    return replace(_ask_around(ask, space, pinned, number), origin=REPEAT, note=why)


def _ask_around(ask: Callable[[Space], Trial], space: Space, pinned: Design, number: int) -> Trial:
    """The answer for the space around what was enqueued."""
    if not pinned or not space.constraints:
        return ask(_around(space, pinned))
    try:
        return ask(_around(space, pinned))
    except BecboError:
        _logger.warning(
            f"trial {number}: no design with what was enqueued for it satisfies the known "
            "constraints; the rest is proposed as if it was not there"
        )
        return ask(space)


def _around(space: Space, pinned: Design) -> Space:
    return PinnedSpace(space, pinned) if pinned else space


def not_modelled(trials: Sequence[FrozenTrial], modelled: Container[str]) -> set[str]:
    """The names of parameters in which trials differ besides those that are modelled."""
    named = {n for t in trials for n, d in t.distributions.items() if not d.single()}
    return {name for name in named if name not in modelled}


def beside_what_is_not_modelled(
    asked: Trial, trials: Sequence[FrozenTrial], space: StudySpace
) -> Trial:
    """What becomes of a repeat where trials differ in more than what is modelled.

    One that is made because no more trials may fail stays, and its note names the rest. Any other
    would be in vain: then all parameters had better be drawn at random.

    Args:
        asked: a proposal.
        trials: those of the study.
        space: the parameters of the proposal.

    Returns:
        The proposal, without params if all parameters are to be drawn at random.
    """
    if asked.origin != REPEAT:
        return asked
    more = not_modelled(trials, space.distributions)
    if not more:
        return asked
    modelled, others = ", ".join(space.distributions), ", ".join(sorted(more))
    if asked.note == SPENT:
        why = f"{SPENT}, in {modelled}; drawn at random, since it is not modelled: {others}"
        return replace(asked, note=why)
    if space.space.constraints:
        return asked
    why = (
        f"every design of {modelled} has been tried: all parameters are drawn at random, since "
        f"trials also differ in {others}, which is not modelled"
    )
    return replace(asked, params={}, note=why)
