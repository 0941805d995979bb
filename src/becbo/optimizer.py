"""The optimizer: the only stateful object. It holds the trials; everything else is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from becbo.data import dataset, given_up, pending_points, sign
from becbo.errors import InvalidInput, reason_text
from becbo.proposers import Models, Proposal, Proposer, build, describe, region_of
from becbo.search.candidates import space_filling
from becbo.search.choice import REPEAT, choose
from becbo.search.goal import INDIFFERENT
from becbo.space import Array, Space
from becbo.threads import one_thread
from becbo.trial import Outcome, Prediction, Trial

INITIAL = "initial design"
# Streams of random numbers drawn from one seed.
_DESIGN, _FIT, _SEARCH = range(3)
_REMEDY = "use fail(trial), or failed=True, if it failed"


class Optimizer:
    """Proposes experiments that may fail, and learns from values and failures alike.

    It is for one thread at a time; several share a study of Optuna, see `becbo.optuna`.

    Args:
        space: what can be set.
        direction: "minimize" or "maximize".
        method: a name from `becbo.METHODS`, or a proposer of your own.
        seed: same seed and same history, same proposal. None draws one; see `.seed`.
        n_initial: how many experiments are spread over the space before the models take over.
        noisy: whether repeating an experiment gives a different value. A proposer of your own has
            been told already.
        risk: the largest chance of failure that a proposal may have, as far as the models know,
            between 0 and 1. None leaves it to the method, which for `edge` means about one half.
        trials: a history to continue from, such as `other.trials`.
    """

    def __init__(
        self,
        space: Space,
        direction: str = "minimize",
        method: str | Proposer = "edge",
        seed: int | None = None,
        n_initial: int = 10,
        noisy: bool = False,
        risk: float | None = None,
        trials: Sequence[Trial] = (),
    ) -> None:
        if not isinstance(space, Space):
            raise InvalidInput(f"space must be a becbo.Space, got {space!r}")
        if direction not in ("minimize", "maximize"):
            raise InvalidInput(f"direction {direction!r} must be 'minimize' or 'maximize'")
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        self.space = space
        self.direction = direction
        self.seed = whole_number("seed", seed, at_least=0)
        self.n_initial = whole_number("n_initial", n_initial)
        self.noisy = noisy
        self.proposal: Proposal | None = None  # how the last model-based ask was answered
        self._proposer = build(method, noisy, n_initial=n_initial, risk=risk)
        if not isinstance(trials, Sequence):
            raise InvalidInput(f"trials {trials!r} must be those of an optimizer, in order")
        self._trials: list[Trial] = []
        self._models: Models | None = None  # of the present history, if needed so far
        for trial in trials:
            self._append(trial)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials so far, by number."""
        return tuple(map(_copy, self._trials))

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials that have been proposed and not answered."""
        return tuple(_copy(t) for t in self._trials if t.outcome is Outcome.PENDING)

    @property
    def best(self) -> Trial | None:
        """The best trial that worked, or None; of noisy values, the luckiest one."""
        worked = [_copy(t) for t in self._trials if t.outcome is Outcome.OK]
        factor = sign(self.direction)
        return max(worked, key=lambda t: factor * (t.value or 0.0), default=None)

    @overload
    def ask(self) -> Trial: ...
    @overload
    def ask(self, q: int) -> list[Trial]: ...
    def ask(self, q: int | None = None) -> Trial | list[Trial]:
        """The next experiment, or the next q as a list.

        Earlier proposals without an answer count as pending: new ones keep away from them.
        """
        if q is None:
            return self.ask(1)[0]
        q = whole_number("ask: the number of experiments", q)
        asked = self._ask_design(q)
        if len(asked) < q:
            more = self._ask_models if self._answered else self._ask_any
            asked += more(q - len(asked))
        return asked

    def tell(self, trial: Trial | int, value: float) -> Trial:
        """Records that the experiment worked and what it returned."""
        return self._finish(trial, outcome=Outcome.OK, value=finite_value(value), reason=None)

    def fail(self, trial: Trial | int, reason: str | None = None) -> Trial:
        """Records that the experiment failed: this design does not work.

        Failures for different reasons are different limits to `edge`, which learns each by itself:
        use the same words for the same cause. Commas separate several, which are taken to be all
        there are.
        """
        return self._finish(trial, outcome=Outcome.FAILED, value=None, reason=_checked(reason))

    def lose(self, trial: Trial | int, reason: str | None = None) -> Trial:
        """Records that the experiment was lost, which says nothing about the design."""
        return self._finish(trial, outcome=Outcome.LOST, value=None, reason=_checked(reason))

    def add(
        self, params: Mapping[str, Any], value: float | None = None, failed: bool | str = False
    ) -> Trial:
        """Records an experiment that was not proposed here.

        Give `value`, or `failed=True` or `failed="the reason"`. Known constraints need not
        hold: they restrict proposals, not what has been done.
        """
        if (value is None) == (not failed):
            raise InvalidInput(
                f"add(value={value!r}, failed={failed!r}): give either a value or failed=True"
            )
        trial = Trial(len(self._trials), dict(self.space.validate(params)))
        if value is not None:
            return self._append(replace(trial, outcome=Outcome.OK, value=finite_value(value)))
        return self._append(replace(trial, outcome=Outcome.FAILED, reason=reason_in(failed)))

    @overload
    def predict(self, params: Mapping[str, Any]) -> Prediction: ...
    @overload
    def predict(self, params: Sequence[Mapping[str, Any]]) -> list[Prediction]: ...
    def predict(
        self, params: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Prediction | list[Prediction]:
        """What the models say about a design, or about each of a list of designs."""
        if isinstance(params, Mapping):
            return self.predict([params])[0]
        X = self.space.encode([self.space.validate(p) for p in params])
        models = self.models()
        if models is None:
            return [Prediction(None, None, 0.5, (0.0, 1.0))] * len(X)
        return [self._in_user_units(p) for p in describe(models, X)]

    def models(self) -> Models | None:
        """The models behind `predict`, for many points of the unit cube at once.

        They see what `space.encode` returns, and values to be maximised. None while no experiment
        has been answered.
        """
        data = dataset(self._trials, self.space, self.direction)
        if self._models is None and len(data.X):
            with one_thread():
                rng = np.random.default_rng((self.seed, _FIT, len(data.X)))
                self._models = self._proposer.fit(data, rng)
        return self._models

    def _ask_design(self, q: int) -> list[Trial]:
        """Up to q points of the initial design, as long as it is not complete.

        Without a single answer there is nothing to model: the design goes on.
        """
        n_known = len(self._answered) + len(self.pending)
        wanted = min(q, self.n_initial - n_known) if self._answered else q
        if wanted < 1:
            return []
        region = region_of(self.space, self._taken())
        n_points = max(self.n_initial, n_known + wanted)
        design = space_filling(region, n_points, np.random.default_rng((self.seed, _DESIGN)))
        if not len(design):
            raise InvalidInput(
                "no design that satisfies the known constraints was found among thousands; "
                "loosen them, or leave out a parameter that follows from the others"
            )
        return [
            self._append(Trial(len(self._trials), self.space.decode(x[None])[0], origin=INITIAL))
            for x in _distinct(design[region.is_new(design)])[:wanted]
        ]

    def _ask_any(self, q: int) -> list[Trial]:
        """Any new designs, or repeats: the initial design is used up, nothing is known yet."""
        asked = []
        for _ in range(q):
            rng = self._rng(_DESIGN)
            region = region_of(self.space, self._taken())
            pool = space_filling(region, self.n_initial, rng)
            found = choose(pool, [INITIAL] * len(pool), INDIFFERENT, region, rng)
            params = self.space.decode(found.x[None])[0]
            origin = REPEAT if found.winner == REPEAT else INITIAL
            trial = Trial(len(self._trials), params, origin=origin, note=found.fallback)
            asked.append(self._append(trial))
        return asked

    def _ask_models(self, q: int) -> list[Trial]:
        data = dataset(self._trials, self.space, self.direction)
        pending = pending_points(self._trials, self.space)
        region = region_of(self.space, self._taken())
        with one_thread():
            self.proposal = self._proposer.propose(data, region, pending, q, self._rng(_SEARCH))
        rows = zip(
            self.space.decode(self.proposal.X),
            self.proposal.found,
            self.proposal.believed,
            strict=True,
        )
        return [
            self._append(
                Trial(
                    len(self._trials),
                    params,
                    believed=self._in_user_units(believed),
                    origin=found.winner,
                    note=found.fallback,
                )
            )
            for params, found, believed in rows
        ]

    @property
    def _answered(self) -> list[Trial]:
        """Trials that say something about their designs."""
        return [t for t in self._trials if t.outcome.is_answer]

    def _rng(self, stream: int) -> np.random.Generator:
        """Random numbers for the next trial."""
        return np.random.default_rng((self.seed, stream, len(self._trials)))

    def _taken(self) -> Array:  # (k, d)
        """Designs evaluated, pending or given up; a lost one may be proposed again."""
        kept = [t.params for t in self._trials if t.outcome is not Outcome.LOST]
        return np.vstack([self.space.encode(kept), given_up(self._trials, self.space)])

    def _in_user_units(self, prediction: Prediction) -> Prediction:
        if prediction.mean is None:
            return prediction
        return replace(prediction, mean=sign(self.direction) * prediction.mean)

    def _append(self, trial: Trial) -> Trial:
        if not isinstance(trial, Trial) or not isinstance(trial.outcome, Outcome):
            raise InvalidInput(
                f"trials: {trial!r} is not a becbo.Trial; make them by Trial.from_dict"
            )
        if trial.number != len(self._trials):
            raise InvalidInput(
                f"trial number {trial.number} cannot follow {len(self._trials)} trials; "
                "give the trials of one optimizer in order"
            )
        if (trial.outcome is Outcome.OK) != (trial.value is not None):
            raise InvalidInput(f"{trial} is {trial.outcome.value} with value {trial.value}")
        if trial.value is not None:
            finite_value(trial.value)
        _checked(trial.reason)
        trial = replace(trial, params=self.space.validate(trial.params))
        self._trials.append(trial)
        if trial.outcome.is_answer:
            self._models = None
        return _copy(trial)

    def _finish(self, trial: Trial | int, **changes: Any) -> Trial:
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self._trials):
            raise InvalidInput(
                f"trial {trial!r} is unknown: there are {len(self._trials)} trials, from 0"
            )
        known = self._trials[number]
        if isinstance(trial, Trial) and trial.params != known.params:
            raise InvalidInput(f"trial {number} has params {known.params}, not {trial.params}")
        if known.outcome not in (Outcome.PENDING, Outcome.LOST):
            raise InvalidInput(f"trial {number} is finished already: {known.outcome.value}")
        self._trials[number] = replace(known, **changes)
        if self._trials[number].outcome.is_answer:
            self._models = None
        return _copy(self._trials[number])


def _copy(trial: Trial) -> Trial:
    """The trial with params of its own, so that a caller who changes them changes nothing here."""
    return replace(trial, params=dict(trial.params))


def whole_number(what: str, value: Any, at_least: int = 1) -> int:
    """`value` as an int, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InvalidInput(f"{what} {value!r} must be a whole number of at least {at_least}")
    return int(value)


def number_in(value: Any) -> float:
    """What an experiment returned as a float, which may be NaN, or an error that names it."""
    try:
        if isinstance(value, bool | np.bool_ | str | bytes):
            raise TypeError("float would take True and the text '3' for numbers")
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"value {value!r} is not a number; {_REMEDY}") from None


def finite_value(value: Any) -> float:
    """What an experiment returned as a float, or an error that names it."""
    number = number_in(value)
    if not math.isfinite(number):
        raise InvalidInput(f"value {value!r} is not finite; {_REMEDY}")
    return number


def reason_in(flag: Any) -> str | None:
    """The reason in an argument, such as `failed`, that is either true or a reason."""
    return None if isinstance(flag, bool | np.bool_) else reason_text(flag)


def _checked(reason: Any) -> str | None:
    return None if reason is None else reason_text(reason)


def _distinct(X: Array) -> Array:
    """X without repeated rows, in order."""
    _, first = np.unique(X, axis=0, return_index=True)
    return X[np.sort(first)]
