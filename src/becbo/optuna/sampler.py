"""The sampler: an Optuna study proposes with becbo, one changed line.

Nothing is remembered between two proposals: every one is made from what the storage holds, because
trials end in ways no sampler hears of (a dead worker, the dashboard, another process).
"""

from __future__ import annotations

import copy
import logging
import math
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import BecboError, InvalidInput
from becbo.optuna.beliefs import PROPOSAL, StoredProposal, proposal_of
from becbo.optuna.designs import Design, enqueued, read_designs
from becbo.optuna.failure_budget import has_to_wait, within
from becbo.optuna.guard import end_without_proposal, guarded
from becbo.optuna.history import Rules, read_history
from becbo.optuna.internals import (
    is_in_optimize,
    set_system_attr,
    store_constraints,
    whole_study,
)
from becbo.optuna.measured import without_sides
from becbo.optuna.outcomes import Pruned, design_of, mark_of
from becbo.optuna.proposal import Plan, beside_what_is_not_modelled, optimizer_of, propose
from becbo.optuna.repeats import requeue_lost
from becbo.optuna.spaces import Distributions, StudySpace, all_distributions, refusal
from becbo.optuna.study_data import StudyData
from becbo.outputs import Output, Outputs
from becbo.search.choice import AGAIN, REPEAT
from becbo.settings import Settings
from becbo.space import Space
from becbo.trial import Trial

if TYPE_CHECKING:
    from becbo.optimizer import Optimizer

# How often to look for a design that nobody else has just proposed.
_ATTEMPTS = 3
# Seconds between two looks at a study in which a trial has to wait for others.
_POLL = 0.1

_logger = logging.getLogger(__name__)


class BECBOSampler(BaseSampler):
    """Proposes trials that may fail, and learns from values and failures alike.

    Args:
        space: what is modelled: a dict of Optuna distributions, or a becbo `Space`, whose
            constraints then hold for every proposal. None takes the parameters that finished
            trials have had, always with the same range. Others are drawn at random.
        outputs: what a trial measures: an `Objective` for each value of the study, in their order,
            then a `Limit` or `Recorded` for each number that trials note with `set_values`. None
            takes the values of the study. Constraints of trials are limits in any case. Where there
            is a target, trials return the distance from it and note what was measured.
        constraints_func: as in Optuna's samplers: the constraints of a complete or pruned trial as
            a sequence of numbers, at most 0 where they are kept. `Trial.set_constraint` needs none.
        pruned: what a pruned trial counts as. "value": with the value it reported last, or the
            median of the complete trials if that is worse, and as failed if it reported none;
            "failed"; or "ignore": it says nothing, and proposals keep away from its design.
        is_lost: tells, given a finished trial, whether it was lost for a reason of your own, such
            as `lambda trial: trial.user_attrs.get("exit_code") == 137`.
        stale_after: seconds after which a trial that is still running counts as lost. None waits
            without limit, or for the heartbeat of the storage.
        **settings: method, seed, n_initial, noisy, risk, failures, n_planned: see
            `becbo.Settings`.

    Raises:
        InvalidInput: an argument cannot be used; the message names it.

    Examples:
        >>> study = optuna.create_study(sampler=BECBOSampler(seed=0))
        >>> study.optimize(objective, n_trials=12, catch=(ArithmeticError,))
    """

    def __init__(
        self,
        *,
        space: Space | Mapping[str, BaseDistribution] | None = None,
        outputs: Output | Sequence[Output] | Outputs | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        pruned: Pruned = "value",
        is_lost: Callable[[FrozenTrial], bool] | None = None,
        stale_after: float | None = None,
        **settings: Any,
    ) -> None:
        if pruned not in get_args(Pruned):
            raise InvalidInput(f"pruned {pruned!r} must be one of {', '.join(get_args(Pruned))}")
        if stale_after is not None and not (
            isinstance(stale_after, int | float) and stale_after > 0
        ):
            raise InvalidInput(f"stale_after {stale_after!r} must be a number of seconds above 0")
        functions = {"is_lost": is_lost, "constraints_func": constraints_func}
        for name, function in functions.items():
            if function is not None and not callable(function):
                raise InvalidInput(f"{name} {function!r} must be a function of a trial")
        self._settings = Settings(**settings)
        self._outputs = None if outputs is None else Outputs.of(outputs)
        check_method(self._settings, self._outputs)  # errors now, not in the first trial
        self._space = None if space is None else _study_space(space)
        self._rules = Rules(pruned, is_lost, stale_after)
        self._constraints_func = constraints_func
        self._warned: set[str] = set()  # what the log has
        self._lock = threading.Lock()

    @property
    def outputs(self) -> Outputs | None:
        """What trials measure, if that was given."""
        return self._outputs

    def optimizer(self, study: optuna.Study) -> Optimizer | None:
        """An optimizer that knows what this sampler knows of a study.

        Args:
            study: any study.

        Returns:
            The optimizer; what it is asked and told changes nothing in the study. A choice is its
            index there, unless `space` is a becbo `Space`. None as long as there is no parameter to
            model.

        Raises:
            InvalidInput: the outputs do not fit the study.

        Examples:
            >>> optimizer = study.sampler.optimizer(study)
            >>> print(optimizer.outlook.sentence())
        """
        modelled = self._modelled(study)
        return optimizer_of(self._study_data(study), self._plan(modelled)) if modelled else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Refuses what cannot go on, out of reach of `optimize(catch=...)`; waits if it has to."""
        whole = whole_study(study)
        try:
            self._study_data(whole)
            self._wait_for_others(whole, trial)
        except (BecboError, KeyboardInterrupt) as error:
            end_without_proposal(study, trial, error)
            raise

    def _wait_for_others(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Waits while those under way may use up the budget of failures."""
        if self._settings.failures.budget is None or self._is_enqueued(study, trial):
            return
        while self.is_held_up(study, trial.number):
            why = "as many trials are under way as may still fail, and nothing has worked so far"
            if not is_in_optimize(study):
                raise BecboError(f"{why}; tell what is under way, or raise the budget of failures")
            self._warn_once("waiting", f"trial {trial.number}: {why}; it waits for one of them")
            time.sleep(_POLL)

    def is_held_up(self, study: optuna.Study, number: float = math.inf) -> bool:
        """Whether a new trial has to wait for those under way, by the budget of failures.

        Args:
            study: the study.
            number: the number of the trial, if it has one.

        Returns:
            True if they may use up the budget and nothing has worked that could be repeated.

        Raises:
            BecboError: the budget is spent, and nothing has worked that could be repeated.
        """
        budget = self._settings.failures.budget
        if budget is None:
            return False
        data = self._study_data(study)
        data = data if self._space is None else within(data, self._space)
        return has_to_wait(data, self._rules, budget, number)

    def _is_enqueued(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Whether nothing is left to propose for a trial."""
        given = design_of(trial)
        return bool(given) and self.infer_relative_search_space(study, trial).keys() <= given.keys()

    def _study_data(self, study: optuna.Study) -> StudyData:
        """What a study holds, if the method can handle it."""
        data = StudyData.of(study, self._outputs)
        check_method(self._settings, data.outputs)
        _check_targets(data, self._rules)
        return data

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that are proposed together."""
        with guarded(study, trial) as study:
            return self._modelled(study)

    def _modelled(self, study: optuna.Study) -> dict[str, BaseDistribution]:
        """The parameters that have a model, perhaps none yet."""
        if self._space is not None:
            return dict(self._space.distributions)
        seen = all_distributions(study.get_trials(deepcopy=False))
        return {n: d for n, d in seen.items() if not d.single() and refusal(n, d) is None}

    def _plan(self, distributions: Distributions) -> Plan:
        """How to continue a study in these parameters."""
        space = StudySpace.of(distributions) if self._space is None else self._space
        return Plan(space.only(distributions.keys()), self._settings, self._rules)

    def _warn_once(self, about: str, text: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            _logger.warning(text)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The proposal."""
        with guarded(study, trial) as study:
            if not search_space:
                return {}
            plan = self._plan(search_space)
            return plan.space.decode(self._propose(study, trial, plan))

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A random value for a parameter that is not among the proposed ones."""
        with guarded(study, trial) as study:
            self._warn_of_random_value(study, trial, param_name, param_distribution)
            # Not one stream of numbers, which workers with the same seed would share.
            assert self._settings.seed is not None, "settings draw one"
            entropy = (self._settings.seed, trial.number, zlib.crc32(param_name.encode()))
            sampler = RandomSampler(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
            return sampler.sample_independent(study, trial, param_name, param_distribution)

    def _warn_of_random_value(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        name: str,
        distribution: BaseDistribution,
    ) -> None:
        """Warns of values that are random although somebody may expect proposals."""
        proposal = proposal_of(trial)
        if name in self._warned or (proposal is not None and not proposal.params):
            return
        why = None
        if self._space is not None and name in self._space.distributions:
            why = f"what was proposed for it is not in {distribution}; make `space` say the same"
        elif self._space is not None:
            why = f"it is not in `space`, which names {', '.join(self._space.distributions)}"
        elif (error := refusal(name, distribution)) is not None:
            why = f"since it cannot be modelled: {error}"
        elif _has_changed(study, name, distribution):
            why = "its range or choices differ between trials; give `space` the widest"
        if why:
            self._warn_once(name, f"trial {trial.number}: {name!r} is drawn at random, {why}")

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Notes the constraints; puts the design of a lost trial back into the queue."""
        study = whole_study(study)
        if self._constraints_func is not None:
            store_constraints(self._constraints_func, study, trial, state)
        told = copy.copy(trial)  # as it will be: Optuna stores its end after this
        told.state, told.values, told.datetime_complete = state, values, datetime.now()
        if told.number in self._rules.lost([told], study.user_attrs):
            requeue_lost(study, told)

    def _propose(self, study: optuna.Study, trial: FrozenTrial, plan: Plan) -> Design:
        """A new proposal, which other workers can see from now on."""
        pinned = enqueued(trial, plan.space)
        if len(pinned) == len(plan.space.distributions):
            return {}  # nothing is left to propose
        with self._lock:  # until it is published, another thread would propose the same
            for _ in range(_ATTEMPTS):
                others = self._study_data(study).without(trial.number)
                history = read_history(others, plan.space, plan.rules)
                for about, text in history.warnings.items():
                    self._warn_once(about, text)
                asked = propose(others, history, plan, trial.number, pinned)
                asked = beside_what_is_not_modelled(asked, others.trials, plan.space)
                publish(study, trial, asked, plan.space)
                # Another worker, who knew other results, may have come to the same design, such
                # as a corner of the space. Whoever publishes later sees it and asks again.
                others = self._study_data(study).without(trial.number)
                news = [t for t in others.trials if t.number not in history.designs]
                designs = read_designs(news, plan.space).by_number
                is_repeat = asked.origin in (REPEAT, AGAIN)
                if is_repeat or asked.params not in designs.values():
                    break
        if asked.note:
            self._warn_once(asked.note, f"trial {trial.number}: {asked.note}")
        return asked.params


def declared_outputs(study: optuna.Study) -> Outputs | None:
    """What the trials of a study measure, if its sampler was told."""
    return study.sampler.outputs if isinstance(study.sampler, BECBOSampler) else None


def is_held_up(study: optuna.Study) -> bool:
    """Whether the sampler of a study lets a new trial wait, see `BECBOSampler.is_held_up`."""
    return isinstance(study.sampler, BECBOSampler) and study.sampler.is_held_up(study)


def publish(study: optuna.Study, trial: FrozenTrial, asked: Trial, space: StudySpace) -> None:
    """Writes down what is proposed for a trial, so that other workers see it.

    Args:
        study: the whole study.
        trial: the trial that gets the proposal.
        asked: the proposal, with values of the engine's space.
        space: the parameters of the proposal.
    """
    params = space.decode(asked.params)
    proposal = StoredProposal(params, asked.origin, asked.note, asked.believed)
    set_system_attr(study, trial, PROPOSAL, proposal.to_dict())


def _study_space(given: Space | Distributions) -> StudySpace:
    """The argument `space` of the sampler."""
    if isinstance(given, Space):
        return StudySpace.of(given)
    if not isinstance(given, Mapping) or not all(
        isinstance(d, BaseDistribution) for d in given.values()
    ):
        raise InvalidInput(
            f"space {given!r} must be a becbo Space or a dict of Optuna distributions, "
            'as in {"x": FloatDistribution(0, 1)}'
        )
    modelled = {n: d for n, d in given.items() if not d.single()}
    if not modelled:
        raise InvalidInput(
            f"space: each of {', '.join(given) or 'no parameters'} has one value only; "
            "there is nothing to propose"
        )
    return StudySpace.of(modelled)


def _has_changed(study: optuna.Study, name: str, distribution: BaseDistribution) -> bool:
    """Whether earlier trials had other ranges or choices for the parameter."""
    known = [trial.distributions.get(name) for trial in study.get_trials(deepcopy=False)]
    return any(other not in (None, distribution) for other in known)


def check_method(settings: Settings, outputs: Outputs | None) -> None:
    """Checks that a method can be made for outputs.

    Args:
        settings: the method, and what it has to handle besides the outputs.
        outputs: what is measured; None: not known yet.

    Raises:
        InvalidInput: it cannot.
    """
    from becbo.methods import build  # the engine, which recording a result does not need

    build(settings, outputs)


def _check_targets(data: StudyData, rules: Rules) -> None:
    """Raises InvalidInput if all that a trial says is how far from a target it was."""
    if all(objective.target is None for objective in data.outputs.objectives):
        return
    complete = [t for t in data.trials if t.state is TrialState.COMPLETE and mark_of(t) is None]
    found = [(t, o) for t in complete for o in without_sides(t, data.outputs)]
    lost = rules.lost(data.trials, data.user_attrs)
    for trial, objective in found:
        if trial.number not in lost:
            raise InvalidInput(
                f"trial {trial.number} has no measured {objective.name!r}: the value of the study "
                f"is the distance from the target {objective.target:g}, which does not tell the "
                f"side. Call set_values(trial, {{{objective.name!r}: ...}}) before a trial returns "
                f"the distance; requeue_lost(study, study.trials[{trial.number}]) repeats this one"
            )
