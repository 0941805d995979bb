"""The sampler: an Optuna study proposes with becbo, one changed line.

Nothing is remembered between two proposals: every one is made from what the storage holds, because
trials end in ways no sampler hears of (a dead worker, the dashboard, another process).
"""

from __future__ import annotations

import copy
import logging
import statistics
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import BecboError, InvalidInput
from becbo.optimizer import Optimizer, whole_number
from becbo.optuna.beliefs import PROPOSAL, written
from becbo.optuna.designs import Design, Read, Tried, enqueued, read_designs, tried_in_part
from becbo.optuna.outcomes import (
    LOST,
    Pruned,
    final_value,
    lost_among,
    outcome,
    reason,
    requeue_lost,
)
from becbo.optuna.spaces import (
    Distributions,
    PinnedSpace,
    all_distributions,
    decode,
    distributions_of,
    parameter_of,
    space_of,
)
from becbo.proposers import Proposer, build
from becbo.search.choice import REPEAT
from becbo.space import Constraint, Space
from becbo.trial import Outcome, Trial

# Seconds after which a running trial without a proposal is not about to get one.
_SOON = 60.0
# How often to look for a design that nobody else has just proposed.
_ATTEMPTS = 3

_logger = logging.getLogger(__name__)


class ProposalFailed(BaseException):
    """Something went wrong here, and not in the objective.

    Not an `Exception`, because `optimize(catch=(Exception,))` is to catch designs that fail: it
    would take ours for one more, go on, and never come to a proposal again.
    """


class BECBOSampler(BaseSampler):
    """Proposes trials that may fail, and learns from values and failures alike.

    Args:
        space: what is modelled: a dict of Optuna distributions, or a becbo `Space`, whose
            constraints then hold for every proposal. None takes the parameters that finished
            trials have had, always with the same range. Others are drawn at random.
        method: a name from `becbo.METHODS`, or a proposer of your own.
        seed: same seed and same history, same proposal. None draws one.
        n_startup: how many trials are spread over the space before the models take over.
        noisy: whether repeating a trial gives a different value.
        risk: the largest chance of failure that a proposal may have, as far as the models know,
            between 0 and 1. None leaves it to the method, which for `edge` means about one half.
        pruned: what a pruned trial counts as. "value": with the value it reported last, or the
            median of the complete trials if that is worse, and as failed if it reported none;
            "failed"; or "ignore", as if it had not been.
        is_lost: tells, given a finished trial, whether it was lost for a reason of your own, such
            as `lambda trial: trial.user_attrs.get("exit_code") == 137`.
        stale_after: seconds after which a trial that is still running counts as lost. None waits
            for ever, or for the heartbeat of the storage.
    """

    def __init__(
        self,
        *,
        space: Space | Mapping[str, BaseDistribution] | None = None,
        method: str | Proposer = "edge",
        seed: int | None = None,
        n_startup: int = 10,
        noisy: bool = False,
        risk: float | None = None,
        pruned: Pruned = "value",
        is_lost: Callable[[FrozenTrial], bool] | None = None,
        stale_after: float | None = None,
    ) -> None:
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        if pruned not in get_args(Pruned):
            raise InvalidInput(f"pruned {pruned!r} must be one of {', '.join(get_args(Pruned))}")
        if stale_after is not None and not (
            isinstance(stale_after, int | float) and stale_after > 0
        ):
            raise InvalidInput(f"stale_after {stale_after!r} must be a number of seconds above 0")
        if is_lost is not None and not callable(is_lost):
            raise InvalidInput(f"is_lost {is_lost!r} must be a function of a trial")
        build(method, noisy, risk=risk)  # an unknown name is an error now, not in the first trial
        self._constraints: Sequence[Constraint] = ()
        self._distributions: Distributions | None = None
        if isinstance(space, Space):
            self._constraints = space.constraints
            self._distributions = distributions_of(space)
        elif space is not None:
            if not isinstance(space, Mapping) or not all(
                isinstance(d, BaseDistribution) for d in space.values()
            ):
                raise InvalidInput(
                    f"space {space!r} must be a becbo Space or a dict of Optuna distributions, "
                    'as in {"x": FloatDistribution(0, 1)}'
                )
            self._distributions = {n: d for n, d in space.items() if not d.single()}
            if not self._distributions:
                raise InvalidInput(
                    f"space: each of {', '.join(space) or 'no parameters'} has one value only; "
                    "there is nothing to propose"
                )
            space_of(self._distributions)
        self._method = method
        self._seed = whole_number("seed", seed, at_least=0)
        self._n_startup = whole_number("n_startup", n_startup)
        self._noisy = noisy
        self._risk = risk
        self._pruned = pruned
        self._is_lost = is_lost
        self._stale_after = stale_after
        self._told: set[str] = set()  # what was said in the log
        self._left_out: set[int] = set()  # trials that were named there, since they are not used
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Refuses several objectives, out of reach of `optimize(catch=...)`."""
        try:
            _check_single_objective(study)
        except InvalidInput as error:
            _give_up(_whole(study), trial, error)
            raise

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that are proposed together."""
        with _not_the_design(study, trial) as study:
            _check_single_objective(study)
            if self._distributions is not None:
                return dict(self._distributions)
            seen = all_distributions(study.get_trials(deepcopy=False))
            return {n: d for n, d in seen.items() if not d.single() and self._has_parameter(n, d)}

    def _has_parameter(self, name: str, distribution: BaseDistribution) -> bool:
        try:
            parameter_of(name, distribution)
        except InvalidInput as error:
            self._say_once(name, f"{error}; until then {name!r} is drawn at random")
            return False
        return True

    def _say_once(self, about: str, text: str) -> None:
        if about not in self._told:
            self._told.add(about)
            _logger.warning(text)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The proposal."""
        with _not_the_design(study, trial) as study:
            _check_single_objective(study)
            if not search_space:
                return {}
            return decode(search_space, self._propose(study, trial, search_space))

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A random value for a parameter that is not among the proposed ones."""
        with _not_the_design(study, trial) as study:
            _check_single_objective(study)
            self._say_why_random(study, trial, param_name, param_distribution)
            # Not one stream of numbers, which workers with the same seed would share.
            entropy = (self._seed, trial.number, zlib.crc32(param_name.encode()))
            sampler = RandomSampler(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
            return sampler.sample_independent(study, trial, param_name, param_distribution)

    def _say_why_random(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        name: str,
        distribution: BaseDistribution,
    ) -> None:
        """Warns of values that are random although somebody may expect proposals."""
        if name in self._told or _proposed_nothing(trial):
            return
        why = None
        if self._distributions is not None and name in self._distributions:
            why = f"what was proposed for it is not in {distribution}; make `space` say the same"
        elif self._distributions is not None:
            why = f"it is not in `space`, which names {', '.join(self._distributions)}"
        elif _has_changed(study, name, distribution):
            why = "its range or choices differ between trials; give `space` the widest"
        if why:
            self._say_once(name, f"trial {trial.number}: {name!r} is drawn at random, {why}")

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Puts the design of a lost trial back into the queue."""
        study = _whole(study)
        told = copy.copy(trial)
        told.state = state
        if told.number in self._lost(study, [told]):
            requeue_lost(study, told)

    def _propose(
        self, study: optuna.Study, trial: FrozenTrial, distributions: Distributions
    ) -> Design:
        """A new proposal, which other workers can see from now on."""
        space = space_of(distributions, self._constraints_on(distributions))
        pinned = enqueued(trial, distributions, space)
        if len(pinned) == len(distributions):
            return {}  # all is there
        with self._lock:  # until it is published, another thread would propose the same
            for _ in range(_ATTEMPTS):
                asked = self._ask(study, trial, distributions, space, pinned)
                _publish(study, trial, asked)
                # Another worker, who knew other results, may have come to the same design, such
                # as a corner of the space. Whoever publishes later sees it and asks again.
                designs = read_designs(_others(study, trial), distributions, space).designs
                if asked.origin == REPEAT or asked.params not in designs.values():
                    break
        if asked.note:
            self._say_once(asked.note, f"trial {trial.number}: {asked.note}")
        return asked.params

    def _ask(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        distributions: Distributions,
        space: Space,
        pinned: Design,
    ) -> Trial:
        """What to propose, given what the storage holds now."""
        others = _others(study, trial)
        lost = self._lost(study, others)
        read = read_designs(others, distributions, space)
        self._say_what_is_missing(read, lost)
        history = self._history(study, others, read.designs, lost)
        # Workers that compute a proposal at this moment and asked first: their proposals are
        # worked out as well, so that this one differs from them.
        known = lost.union(read.designs)
        n_before = sum(
            t.number < trial.number and t.number not in known and _is_starting(t) for t in others
        )

        def ask(space: Space) -> Trial:
            optimizer = Optimizer(
                space,
                study.direction.name.lower(),
                self._method,
                self._seed,
                self._n_startup,
                self._noisy,
                self._risk,
                history,
            )
            return optimizer.ask(n_before + 1)[-1]

        tried = tried_in_part([t for t in others if t.number not in lost], read.designs)
        asked = _ask_new(ask, space, pinned, tried, trial)
        if asked.origin == REPEAT and not space.constraints:
            return _not_the_same_again(asked, others, distributions)
        return asked

    def _say_what_is_missing(self, read: Read, lost: Collection[int]) -> None:
        """Names, once, the trials that are not used, and what was made up for those that are."""
        unused = read.unknown.difference(lost)
        if not unused <= self._left_out:
            self._left_out |= unused
            _logger.warning(
                f"trials {sorted(unused)} lie outside the space, or have none of its parameters, "
                "and are not used"
            )
        for name, numbers in read.lacking.items():
            self._say_once(
                f"{name} is lacking",
                f"{len(numbers)} trials, such as {numbers[0]}, do not have {name!r}; each of them "
                "counts with a value of it drawn at random",
            )

    def _constraints_on(self, distributions: Distributions) -> Sequence[Constraint]:
        if self._constraints and distributions.keys() != (self._distributions or {}).keys():
            raise InvalidInput(
                f"the constraints of the space need all of {list(self._distributions or ())}, but "
                f"only {list(distributions)} are to be proposed; leave the constraints out"
            )
        return self._constraints

    def _history(
        self,
        study: optuna.Study,
        trials: Sequence[FrozenTrial],
        designs: Mapping[int, Design],
        lost: Collection[int],
    ) -> list[Trial]:
        """The trials whose designs are known, in the order in which they ended.

        That order never changes, whereas numbers are answered in any order when several workers
        run: models fitted to the first trials can be continued.
        """
        usable = [trial for trial in sorted(trials, key=_end) if trial.number in designs]
        ends = [outcome(trial, lost, self._pruned) for trial in usable]
        ended_well = [t for t, ended in zip(usable, ends, strict=True) if ended is Outcome.OK]
        complete = [t.values[0] for t in ended_well if t.state is TrialState.COMPLETE]
        typical = statistics.median(complete) if complete else None
        return [
            Trial(
                number,
                designs[trial.number],
                ended,
                self._value(study, trial, typical) if ended is Outcome.OK else None,
                reason(trial),
            )
            for number, (trial, ended) in enumerate(zip(usable, ends, strict=True))
        ]

    def _value(
        self, study: optuna.Study, trial: FrozenTrial, typical: float | None
    ) -> float | None:
        """What came out of a trial that worked, given the median of the complete ones.

        A pruned trial was given up because others did better, whatever its last report: early
        ones are often better than the final value would be. So it counts as no better than half
        of the complete trials. Not than the worst, which may be out of all proportion.
        """
        value = final_value(trial)
        if value is None or typical is None or trial.state is not TrialState.PRUNED:
            return value
        worse = max if study.direction is StudyDirection.MINIMIZE else min
        counted = worse(value, typical)
        if counted != value:
            self._say_once(
                "pruned",
                f"trial {trial.number} was pruned at {value:g}, which is better than the median of "
                f"the complete trials; it, and others like it, count with the median, {typical:g}",
            )
        return counted

    def _lost(self, study: optuna.Study, trials: Sequence[FrozenTrial]) -> set[int]:
        """The numbers of lost trials."""
        lost = set(lost_among(trials, study.user_attrs))
        for trial in trials:
            if trial.state.is_finished():
                is_lost = self._is_lost is not None and _said_by(self._is_lost, trial)
            else:
                is_lost = self._stale_after is not None and _age(trial) > self._stale_after
            if is_lost:
                lost.add(trial.number)
        return lost


def _said_by(is_lost: Callable[[FrozenTrial], bool], trial: FrozenTrial) -> bool:
    try:
        return is_lost(trial)
    except Exception as error:
        error.add_note(f"raised by is_lost of the sampler, {is_lost!r}, for trial {trial.number}")
        raise


def _others(study: optuna.Study, trial: FrozenTrial) -> list[FrozenTrial]:
    return [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]


def _ask_new(
    ask: Callable[[Space], Trial], space: Space, pinned: Design, tried: Tried, trial: FrozenTrial
) -> Trial:
    """The answer for the space without what has been tried."""
    if not tried:
        return _ask_around(ask, space, pinned, trial)

    def is_new(params: Mapping[str, Any]) -> bool:
        return not any(
            tuple(params[name] for name in names) in values for names, values in tried.items()
        )

    with suppress(BecboError):
        return ask(_around(Space(space.parameters, [*space.constraints, is_new]), pinned))
    why = "no design was found that differs from earlier ones in what those trials asked for"
    return replace(_ask_around(ask, space, pinned, trial), origin=REPEAT, note=why)


def _ask_around(
    ask: Callable[[Space], Trial], space: Space, pinned: Design, trial: FrozenTrial
) -> Trial:
    """The answer for the space around what was enqueued."""
    if not pinned or not space.constraints:
        return ask(_around(space, pinned))
    try:
        return ask(_around(space, pinned))
    except BecboError:
        _logger.warning(
            f"trial {trial.number}: no design with what was enqueued for it satisfies the known "
            "constraints; the rest is proposed as if it was not there"
        )
        return ask(space)


def _around(space: Space, pinned: Design) -> Space:
    return PinnedSpace(space, pinned) if pinned else space


def _not_the_same_again(
    asked: Trial, trials: Sequence[FrozenTrial], distributions: Distributions
) -> Trial:
    """No proposal instead of a repeat, where trials differ in more than what is modelled."""
    more = {n for t in trials for n, d in t.distributions.items() if not d.single()}
    more -= distributions.keys()
    if not more:
        return asked
    why = (
        f"every design of {', '.join(distributions)} has been tried: all parameters are drawn at "
        f"random, since trials also differ in {', '.join(sorted(more))}, which is not modelled"
    )
    return replace(asked, params={}, note=why)


def _proposed_nothing(trial: FrozenTrial) -> bool:
    return PROPOSAL in trial.system_attrs and not trial.system_attrs[PROPOSAL]["params"]


def _has_changed(study: optuna.Study, name: str, distribution: BaseDistribution) -> bool:
    """Whether earlier trials had other ranges or choices for the parameter."""
    known = [trial.distributions.get(name) for trial in study.get_trials(deepcopy=False)]
    return any(other not in (None, distribution) for other in known)


def _check_single_objective(study: optuna.Study) -> None:
    if len(study.directions) > 1:
        raise InvalidInput(
            f"BECBOSampler optimises one objective, the study has {len(study.directions)}; "
            "combine them into one value, or use another sampler"
        )


def _end(trial: FrozenTrial) -> tuple[datetime, int]:
    return trial.datetime_complete or datetime.max, trial.number


def _age(trial: FrozenTrial) -> float:
    """Seconds since the trial was started; 0 if it waits."""
    started = trial.datetime_start
    return 0.0 if started is None else (datetime.now() - started).total_seconds()


def _is_starting(trial: FrozenTrial) -> bool:
    return trial.state is TrialState.RUNNING and _age(trial) < _SOON


@contextmanager
def _not_the_design(study: optuna.Study, trial: FrozenTrial) -> Iterator[optuna.Study]:
    """What goes wrong inside, where the whole study is at hand, does not count as a failure."""
    study = _whole(study)
    try:
        yield study
    except Exception as error:
        if not _is_in_optimize(study):
            _disown(study, trial, error)
            raise
        _give_up(study, trial, error)
        message = f"trial {trial.number} got no proposal: {error!r}"
        _logger.error(message)  # of the last trials, optimize(n_jobs=2) raises nothing
        raise ProposalFailed(message) from error
    except KeyboardInterrupt as error:  # Optuna ends the trial
        _disown(study, trial, error)
        raise


def _disown(study: optuna.Study, trial: FrozenTrial, error: BaseException) -> None:
    """Notes that the trial says nothing about any design: what went wrong was the proposal."""
    study.set_user_attr(f"{LOST}{trial.number}", f"no proposal: {error!r}")


def _give_up(study: optuna.Study, trial: FrozenTrial, error: Exception) -> None:
    """Ends a trial that nobody else is going to end."""
    _disown(study, trial, error)
    study.tell(trial.number, state=TrialState.FAIL)


# All that is not public in Optuna is below. Its own samplers share proposals in the same way.


def _publish(study: optuna.Study, trial: FrozenTrial, asked: Trial) -> None:
    study._storage.set_trial_system_attr(trial._trial_id, PROPOSAL, written(asked))


def _is_in_optimize(study: optuna.Study) -> bool:
    return bool(study._thread_local.in_optimize_loop)


def _whole(study: optuna.Study) -> optuna.Study:
    """The study itself where Hyperband hands out one that shows a part of the trials."""
    whole: optuna.Study = getattr(study, "_study", study)
    return whole
