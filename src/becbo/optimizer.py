"""The optimizer: the only stateful object. It holds the trials; everything else is computed."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from becbo.arrays import Array
from becbo.checks import whole_number
from becbo.data import Dataset, dataset, given_up, pending_points
from becbo.errors import BecboError, InvalidInput
from becbo.frames import trials_from_frame, trials_to_frame
from becbo.front import front_rows, is_acceptable
from becbo.methods import build
from becbo.models.base import Models
from becbo.outlook import Outlook, outlook
from becbo.outputs import Output, Outputs
from becbo.proposers.base import Proposal, reachable, region_of
from becbo.search.candidates import space_filling
from becbo.search.choice import REPEAT, choose
from becbo.search.goal import INDIFFERENT
from becbo.settings import Settings
from becbo.space import Space
from becbo.threads import one_thread
from becbo.trial import Outcome, Prediction, Result, Trial

if TYPE_CHECKING:
    from pandas import DataFrame

INITIAL = "initial design"
# Streams of random numbers drawn from one seed.
_DESIGN, _FIT, _SEARCH, _OUTLOOK = range(4)
_UNKNOWN = Prediction({}, 0.5, (0.0, 1.0))


class Optimizer:
    """Proposes experiments that may fail, and learns from values and failures alike.

    Threads may share one: each call waits for those of others, so that every proposal knows all
    that came before. Processes share a study of Optuna instead, see `becbo.optuna`.

    Args:
        space: what can be set.
        outputs: what experiments return: "minimize" or "maximize" for a single number, or a list
            of `Objective`, `Limit` and `Recorded`.
        trials: a history to continue from, such as `other.trials`.
        **settings: method, seed, n_initial, noisy, risk, failures, n_planned: see `Settings`.

    Raises:
        InvalidInput: if an argument cannot be used, or the method cannot handle the outputs.

    Examples:
        >>> opt = Optimizer(Space([Real("x", 0, 1)]), "minimize", seed=0)
        >>> trial = opt.tell(opt.ask(), 3.2)
    """

    def __init__(
        self,
        space: Space,
        outputs: str | Output | Sequence[Output] | Outputs = "minimize",
        *,
        trials: Sequence[Trial] = (),
        **settings: Any,
    ) -> None:
        if not isinstance(space, Space):
            raise InvalidInput(
                f"space must be a becbo.Space, got {space!r}; write Space([Real('x', 0, 1), ...])"
            )
        if not isinstance(trials, Sequence):
            raise InvalidInput(f"trials {trials!r} must be those of an optimizer, in order")
        self.space = space
        self.outputs = Outputs.of(outputs)
        self.settings = Settings(**settings)
        self.proposal: Proposal | None = None  # how the last model-based ask was answered
        self._proposer = build(self.settings, self.outputs)
        self._trials: list[Trial] = []
        self._models: Models | None = None  # of the present history, if needed so far
        self._lock = threading.RLock()  # of the trials, the models and the last proposal
        for number, trial in enumerate(trials):
            try:
                self._append(trial)
            except InvalidInput as error:
                raise InvalidInput(f"trials[{number}]: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    @classmethod
    def from_frame(
        cls,
        space: Space,
        outputs: str | Output | Sequence[Output] | Outputs,
        frame: DataFrame,
        **settings: Any,
    ) -> Optimizer:
        """Continues from a pandas DataFrame.

        Args:
            space: what can be set.
            outputs: what experiments return.
            frame: a row per experiment; see `becbo.frames.trials_from_frame`.
            **settings: see `Settings`.

        Returns:
            The optimizer with these trials.

        Raises:
            InvalidInput: if a column is missing or a cell cannot be used.

        Examples:
            >>> frame = pandas.DataFrame({"x": [0.2, 0.9], "value": [3.2, None]})
            >>> Optimizer.from_frame(Space([Real("x", 0, 1)]), "minimize", frame)
        """
        checked = Outputs.of(outputs)
        return cls(space, checked, trials=trials_from_frame(frame, space, checked), **settings)

    def to_frame(self) -> DataFrame:
        """All trials as a pandas DataFrame, which `from_frame` reads.

        Returns:
            A row per trial: parameters, outputs, "outcome" and "reason".

        Raises:
            MissingExtra: if pandas is not installed.
        """
        return trials_to_frame(self._trials, self.space, self.outputs)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials so far, by number."""
        return tuple(map(_copy, self._trials))

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials that have been proposed and not answered."""
        return tuple(_copy(t) for t in self._trials if t.outcome is Outcome.PENDING)

    @property
    def front(self) -> tuple[Trial, ...]:
        """The acceptable trials that no other beats, by number.

        A trial is acceptable if it worked, keeps every limit that was measured and has a value for
        every objective. With one objective the front is the best trial. Noisy values of several
        objectives count as they were measured.
        """
        if self.settings.noisy and len(self.outputs.objectives) == 1:
            return tuple(map(_copy, self._best_believed()))
        return self._best_measured()

    @property
    def best(self) -> Trial | None:
        """The best acceptable trial of one objective, or None; of noisy ones, the best believed.

        Raises:
            InvalidInput: with several objectives, which have a `front` instead.
        """
        return self.outputs.best_of(self.front)

    @property
    def luckiest(self) -> Trial | None:
        """The acceptable trial with the best reading: of noisy values, not always the `best`.

        Raises:
            InvalidInput: with several objectives, which have a `front` instead.
        """
        return self.outputs.best_of(self._best_measured())

    def _best_measured(self) -> tuple[Trial, ...]:
        rows = front_rows([trial.result for trial in self._trials], self.outputs)
        return tuple(_copy(self._trials[row]) for row in rows)

    def _best_believed(self) -> list[Trial]:
        """The acceptable trial whose design the model of the only objective likes best."""
        acceptable = [t for t in self._trials if is_acceptable(t.result, self.outputs)]
        models = self.models() if acceptable else None
        if models is None:
            return []
        (objective,), (model,) = self.outputs.objectives, models.objectives
        assert model is not None, "acceptable trials have values of it"
        mean = model.predict(self.space.encode([t.params for t in acceptable]))[0]
        gains = mean if objective.target is None else -np.abs(mean)
        return [acceptable[int(np.argmax(gains))]]

    @overload
    def ask(self) -> Trial: ...
    @overload
    def ask(self, q: int) -> list[Trial]: ...
    def ask(self, q: int | None = None) -> Trial | list[Trial]:
        """The next experiment, or the next q as a list.

        Earlier proposals without an answer count as pending: new ones keep away from them.

        Args:
            q: how many; None for one trial instead of a list.

        Returns:
            The trials, which are pending from now on.

        Raises:
            InvalidInput: if `q` is not a whole number of at least 1.
            BecboError: if so many failures would break the budget of failures, and no design has
                worked yet that could be repeated.
        """
        if q is None:
            return self.ask(1)[0]
        q = whole_number("ask: the number of experiments", q)
        with self._lock:
            n_risky = self._n_risky(q)
            asked = self._ask_design(min(q, n_risky)) if n_risky else []
            if len(asked) < q:
                more = self._ask_models if self._answered else self._ask_any
                asked += more(q - len(asked))
            return asked

    def tell(self, trial: Trial | int, value: float | Mapping[str, float | None]) -> Trial:
        """Records that the experiment worked and what it returned.

        Args:
            trial: what was asked for, or its number.
            value: a number, or a mapping of the names of outputs to numbers. An output that is
                left out was not measured.

        Returns:
            The trial as it is now.

        Raises:
            InvalidInput: if the trial is unknown or finished, or a value cannot be used.
        """
        return self._finish(trial, self._worked(value))

    def fail(
        self,
        trial: Trial | int,
        reason: str | None = None,
        measured: Mapping[str, float | None] | None = None,
    ) -> Trial:
        """Records that the experiment failed: this design does not work.

        Failures for different reasons are different constraints to `edge`, which learns each by
        itself: use the same words for the same cause. A reason that is the name of a limit says
        that its value was beyond the limit.

        Args:
            trial: what was asked for, or its number.
            reason: why. Commas separate several reasons, which are taken to be all there are.
            measured: the outputs that were measured all the same.

        Returns:
            The trial as it is now.

        Raises:
            InvalidInput: if the trial is unknown or finished, or an argument cannot be used.
        """
        return self._finish(trial, self._failed(reason, measured))

    def lose(self, trial: Trial | int, reason: str | None = None) -> Trial:
        """Records that the experiment was lost, which says nothing about the design.

        Args:
            trial: what was asked for, or its number.
            reason: why.

        Returns:
            The trial as it is now.

        Raises:
            InvalidInput: if the trial is unknown or finished.
        """
        return self._finish(trial, Result.lost(reason))

    def add(
        self,
        params: Mapping[str, Any],
        value: float | Mapping[str, float | None] | None = None,
        failed: bool | str = False,
        measured: Mapping[str, float | None] | None = None,
    ) -> Trial:
        """Records an experiment that was not proposed here.

        Known constraints need not hold: they restrict proposals, not what has been done.

        Args:
            params: what was set.
            value: what it returned, as in `tell`.
            failed: True, or the reason, if it failed; then without a value.
            measured: what was measured although it failed.

        Returns:
            The trial.

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        if (value is None) == (not failed):
            raise InvalidInput(
                f"add(value={value!r}, failed={failed!r}): give either a value or failed=True"
            )
        if value is not None and measured is not None:
            raise InvalidInput(f"measured {measured!r} goes with failed; put it into the value")
        if value is not None:
            result = self._worked(value)
        else:
            reason = None if isinstance(failed, bool | np.bool_) else failed
            result = self._failed(reason, measured)
        design = dict(self.space.validate(params))
        with self._lock:
            return self._append(Trial(len(self._trials), design, result))

    @overload
    def predict(self, params: Mapping[str, Any]) -> Prediction: ...
    @overload
    def predict(self, params: Sequence[Mapping[str, Any]]) -> list[Prediction]: ...
    def predict(
        self, params: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Prediction | list[Prediction]:
        """What the models say about a design, or about each of a list of designs.

        Args:
            params: a design, or a list of them.

        Returns:
            An estimate of every output that was measured and the chance to be acceptable, for
            each design.

        Raises:
            InvalidInput: if a design is not one of the space.
        """
        if isinstance(params, Mapping):
            return self.predict([params])[0]
        X = self.space.encode([self.space.validate(p) for p in params])
        models = self.models()
        return [_UNKNOWN] * len(X) if models is None else models.describe(X)

    def models(self) -> Models | None:
        """The models behind `predict`, for many points of the unit cube at once.

        They see what `space.encode` returns, and outputs as `Output.orient` turns them. None while
        no experiment has been answered.
        """
        with self._lock:
            data = dataset(self._trials, self.space, self.outputs)
            if self._models is None and len(data.X):
                with one_thread():
                    rng = self._rng(_FIT, len(data.X))
                    self._models = self._proposer.fit(data, rng)
            return self._models

    def check_budget(self, q: int) -> None:
        """Raises what `ask(q)` would raise because of the budget of failures; asks no model.

        Args:
            q: how many experiments.

        Raises:
            BecboError: if so many failures would break the budget of failures, and no design has
                worked yet that could be repeated.
        """
        with self._lock:
            self._n_risky(q)

    @property
    def outlook(self) -> Outlook:
        """What more experiments may bring, and whether to go on. It takes as long as an `ask`."""
        with self._lock:
            data = dataset(self._trials, self.space, self.outputs)
            models = self.models()
            next_x = None if models is None else self._next_new(data, models)
            price = self.settings.failures.price
            return outlook(data, models, next_x, self.settings.noisy, price)

    def _next_new(self, data: Dataset, models: Models) -> Array | None:  # (d,)
        """The design to try next if nothing was pending; None if that could only be a repeat."""
        nothing = np.empty((0, self.space.dim))
        if self._proposer.has_budget and not self._proposer.n_risky(data, nothing):
            return None
        with one_thread():
            method, rng = self._proposer.after(data), self._rng(_OUTLOOK, len(data.X))
            region = reachable(region_of(self.space, data.X), data, models, nothing)
            found = method.searcher(models, data, rng)(region, nothing)
        return None if found.winner == REPEAT else found.x

    def _n_risky(self, q: int) -> int:
        """How many of q designs need not be known to work, by the budget of failures."""
        if not self._proposer.has_budget:
            return q
        data = dataset(self._trials, self.space, self.outputs)
        n_risky = self._proposer.n_risky(data, pending_points(self._trials, self.space))
        if n_risky >= q:
            return q
        if not data.acceptable.any():
            allowed = f"{n_risky} of {q} more experiments" if n_risky else "no more experiments"
            raise BecboError(
                f"the budget of failures allows {allowed} at present: nothing has worked so far "
                f"that could be repeated; {self._way_out(n_risky)}, or raise the budget"
            )
        return n_risky

    def _way_out(self, n_risky: int) -> str:
        """What helps if a budget of failures allows only so many experiments."""
        if n_risky:
            return f"ask for {n_risky}"
        if self.pending:
            return "wait for the results of what is pending"
        return "add an experiment that is known to work"

    def _ask_design(self, q: int) -> list[Trial]:
        """Up to q points of the initial design, as long as it is not complete.

        Without a single answer there is nothing to model: the design goes on.
        """
        n_known = len(self._answered) + len(self.pending)
        wanted = min(q, self.settings.n_initial - n_known) if self._answered else q
        if wanted < 1:
            return []
        region = region_of(self.space, self._taken())
        n_points = max(self.settings.n_initial, n_known + wanted)
        design = space_filling(region, n_points, self._rng(_DESIGN))
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
            rng = self._rng(_DESIGN, len(self._trials))
            region = region_of(self.space, self._taken())
            pool = space_filling(region, self.settings.n_initial, rng)
            found = choose(pool, [INITIAL] * len(pool), INDIFFERENT, region, rng)
            params = self.space.decode(found.x[None])[0]
            origin = REPEAT if found.winner == REPEAT else INITIAL
            trial = Trial(len(self._trials), params, origin=origin, note=found.fallback)
            asked.append(self._append(trial))
        return asked

    def _ask_models(self, q: int) -> list[Trial]:
        data = dataset(self._trials, self.space, self.outputs)
        pending = pending_points(self._trials, self.space)
        region = region_of(self.space, self._taken())
        rng = self._rng(_SEARCH, len(self._trials))
        with one_thread():
            self.proposal = self._proposer.propose(data, region, pending, q, rng)
        rows = zip(
            self._designs(self.proposal.X, data.X),
            self.proposal.found,
            self.proposal.believed,
            strict=True,
        )
        return [
            self._append(
                Trial(
                    len(self._trials),
                    params,
                    believed=believed,
                    origin=found.winner,
                    note=found.fallback,
                )
            )
            for params, found, believed in rows
        ]

    def _designs(self, X: Array, known: Array) -> list[dict[str, Any]]:  # (q, d), (n, d)
        """Proposed points as designs; a repeat has all digits of the design that it repeats."""
        designs = self.space.decode(X)
        for i, x in enumerate(X):
            for row in np.flatnonzero((known == x).all(axis=1))[:1]:
                designs[i] = dict(self._answered[row].params)
        return designs

    @property
    def _answered(self) -> list[Trial]:
        """Trials that say something about their designs."""
        return [t for t in self._trials if t.outcome.is_answer]

    def _rng(self, *stream: int) -> np.random.Generator:
        """Random numbers of a stream: the same for the same seed and history."""
        seed = self.settings.seed
        assert seed is not None, "settings draw one"
        return np.random.default_rng((seed, *stream))

    def _taken(self) -> Array:  # (k, d)
        """Designs evaluated, pending or given up; a lost one may be proposed again."""
        kept = [t.params for t in self._trials if t.outcome is not Outcome.LOST]
        return np.vstack([self.space.encode(kept), given_up(self._trials, self.space)])

    def _worked(self, value: Any) -> Result:
        values = self.outputs.values(value)
        if all(number is None for number in values.values()):
            raise InvalidInput(
                f"value {value!r}: an experiment that worked has a value of at least one of "
                f"{', '.join(values)}; use fail(trial), or failed=True, if it failed"
            )
        return Result.ok(values)

    def _failed(self, reason: str | None, measured: Mapping[str, float | None] | None) -> Result:
        return Result.failed(reason, self.outputs.values({} if measured is None else measured))

    def _append(self, trial: Trial) -> Trial:
        if not isinstance(trial, Trial) or not isinstance(trial.result, Result):
            raise InvalidInput(f"{trial!r} is not a becbo.Trial; make them by Trial.from_dict")
        if trial.number != len(self._trials):
            raise InvalidInput(
                f"trial number {trial.number} cannot follow {len(self._trials)} trials; "
                "give the trials of one optimizer in order"
            )
        result = trial.result
        if trial.outcome is Outcome.OK:
            result = self._worked(trial.values)
        elif trial.outcome is Outcome.FAILED:
            result = replace(result, values=self.outputs.values(trial.values))
        trial = replace(trial, params=self.space.validate(trial.params), result=result)
        self._trials.append(trial)
        if trial.outcome.is_answer:
            self._models = None
        return _copy(trial)

    def _finish(self, trial: Trial | int, result: Result) -> Trial:
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self._trials):
            raise InvalidInput(
                f"trial {trial!r} is unknown: there are {len(self._trials)} trials, from 0"
            )
        with self._lock:
            known = self._trials[number]
            if isinstance(trial, Trial) and trial.params != known.params:
                raise InvalidInput(f"trial {number} has params {known.params}, not {trial.params}")
            if known.outcome not in (Outcome.PENDING, Outcome.LOST):
                raise InvalidInput(f"trial {number} is finished already: {known.outcome.value}")
            self._trials[number] = replace(known, result=result)
            if result.outcome.is_answer:
                self._models = None
            return _copy(self._trials[number])


def _copy(trial: Trial) -> Trial:
    """The trial with dicts of its own: a caller who changes them changes nothing here."""
    result = replace(trial.result, values=dict(trial.values))
    return replace(trial, params=dict(trial.params), result=result)


def _distinct(X: Array) -> Array:
    """X without repeated rows, in order."""
    _, first = np.unique(X, axis=0, return_index=True)
    return X[np.sort(first)]
