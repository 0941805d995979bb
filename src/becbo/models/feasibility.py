"""Models of unknown failures: one classifier for all of them, or one for each constraint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from becbo.arrays import Array, Mask
from becbo.data import Dataset
from becbo.models.luck import ASSUMED, LIKELY, is_open, is_proven, learned_rate, look, suspect
from becbo.models.warm import fit_classifier
from becbo.surrogates.balls import BallsModel
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel, tally
from becbo.surrogates.hyper import Range
from becbo.surrogates.per_constraint import fit_attributed, fit_by_reason
from becbo.surrogates.product import Product
from becbo.surrogates.variational import VariationalClassifier

Chances = Callable[[Array], Array]  # (m, d) -> (m,)

_ROUNDS = 2  # of learning a rate
_N_ITERATIONS = 6  # of the hyperparameters where failures may be bad luck


class Classifier(Protocol):
    """Settings of a model of unknown failures."""

    def fit(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """The model of a history."""
        ...

    def cautious(self) -> Classifier:
        """The settings for a search that promises to limit its risk."""
        ...

    def expecting(self, chance: float | None) -> Classifier | None:
        """The settings for failures by chance at a rate; a rate of None is learned.

        None if the model takes every failure for the design's.
        """
        ...

    def suspect(self, data: Dataset, kept: Chances) -> Array | None:  # (d,)
        """A failed design that is worth a repeat, because its failure looks like bad luck.

        It has to keep the limits that are measured too, by their chance `kept`: of others, even a
        success is worth nothing.
        """
        ...


class _Certain:
    """Settings of a model that takes every failure for the design's, and whose chances count."""

    def cautious(self) -> Any:
        """The same: its chances are believed."""
        return self

    def expecting(self, chance: float | None) -> None:
        """Not possible: published methods take failures for facts."""
        del chance

    def suspect(self, data: Dataset, kept: Chances) -> None:
        """None: every failure is the design's."""
        del data, kept


@dataclass(frozen=True)
class OneGP(_Certain):
    """One Gaussian process classifier for all failures."""

    settings: GPClassifier = GPClassifier()

    def fit(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel:
        """The model of a history; the fit is deterministic."""
        del rng
        rows = data.worked | data.unexplained
        return fit_classifier(self.settings, data.X[rows], data.worked[rows])


@dataclass(frozen=True)
class OneVariationalGP(_Certain):
    """The paper's Gaussian process classifier for all failures."""

    settings: VariationalClassifier = VariationalClassifier()

    def fit(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel:
        """The model of a history; the fit is deterministic."""
        del rng
        rows = data.worked | data.unexplained
        return self.settings.fit(data.X[rows], data.worked[rows])


@dataclass(frozen=True)
class Balls(_Certain):
    """A ball around each failure, whatever its cause."""

    def fit(self, data: Dataset, rng: np.random.Generator) -> BallsModel:
        """The balls of a history."""
        del rng
        return BallsModel.of(data.X, data.worked)


@dataclass(frozen=True)
class Networks(_Certain):
    """The paper's ensemble of networks for all failures."""

    settings: DeepEnsemble = DeepEnsemble()

    def fit(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """The ensemble trained on a history from weights drawn by `rng`."""
        return self.settings.fit(data.X, data.worked, rng)


@dataclass(frozen=True)
class PerConstraint:
    """A classifier for each constraint instead of one for all failures.

    Constraints are those that reasons name. Where they are silent on most failures, failures are
    attributed to constraints, for a moderate number of inputs: with few of them one classifier does
    better, with many nothing was gained; and up to a number of experiments, because the work grows
    with the third power.
    """

    single: OneGP = OneGP()
    attributed: GPClassifier = GPClassifier(lengthscale=Range(1.0, 0.02, 30.0, spread=1.0))
    min_inputs: int = 4  # columns of X: a choice among three has three
    max_inputs: int = 9
    max_points: int = 100
    doubt: float = 0.674  # in a score: 75 % is taken as 50 % where failures are attributed
    optimism: float = 0.6  # in a score: what stated chances lose where nobody says why designs fail
    chance: float | None = 0.0  # that a feasible design fails all the same; None: learned

    def fit(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel | Product:
        """The product of the constraints of a history, or the classifier of all failures."""
        del rng  # the fit is deterministic
        rows = data.worked | data.unexplained
        X, worked = data.X[rows], data.worked[rows]
        rate = self._rate(X, worked)
        single = self._fit_single(X, worked, rate)
        kinds, complete = data.causes.kinds[rows], data.causes.complete[rows]
        is_told = 2 * kinds.any(axis=1).sum() >= (~worked).sum()  # of most failures
        rate_of = self._rate if self.chance is None else None
        told = fit_by_reason(single, X, worked, kinds, complete, rate_of) if is_told else None
        if told is not None:
            return told
        limits = self._limits(single, X, worked)
        found = Product(limits, single.scales, lapse=rate) if limits else single
        # Also while only one constraint has been seen, because there may be others.
        doubt = 0.0 if limits is None else self.doubt
        return replace(found, doubt=doubt, optimism=self.optimism)

    def cautious(self) -> PerConstraint:
        """Without attribution, which is too sure of itself for a promise; reasons count.

        The promise corrects the chances by what came of them, so they are stated as they are.
        """
        return replace(self, max_points=0, optimism=0.0)

    def expecting(self, chance: float | None) -> PerConstraint:
        """With failures by chance at a rate."""
        return replace(self, chance=chance)

    def suspect(self, data: Dataset, kept: Chances) -> Array | None:  # (d,)
        """A failed design that the other experiments say works and keeps every limit."""
        rows = data.worked | data.unexplained
        X, worked = data.X[rows], data.worked[rows]
        runs, n = tally(X, worked), look(len(X))
        if self.chance is not None or not is_open(runs):
            return None
        if worked[:n].all() or not worked[:n].any():
            return None
        left_out = _left_out(self, X[:n].tobytes(), worked[:n].tobytes(), ASSUMED)
        designs = X[runs.first]
        index = suspect(runs, left_out * kept(designs[: len(left_out)]))
        return None if index is None else designs[index]

    def left_out(self, X: Array, worked: Mask, rate: float) -> Array:  # (n, d), (n,) -> (m,)
        """The chance of each design according to the others, for a rate of bad luck.

        Reasons do not count: bad luck seldom has a name.
        """
        single = self._fit_single(X, worked, rate)
        limits = self._limits(single, X, worked) or (single,)
        return np.asarray(np.prod([limit.left_out() for limit in limits], axis=0))

    def _rate(self, X: Array, worked: Mask) -> float:
        """How often a feasible design fails by chance, as told or as the experiments tell.

        First what a likely rate makes of the failures, then what that one does. It is rounded, so
        that fits can be remembered.
        """
        if self.chance is not None:
            return self.chance
        runs = tally(X, worked)
        if not is_proven(runs):
            return 0.0
        rate, n = LIKELY, look(len(X)) or len(X)
        for _ in range(_ROUNDS):
            chances = _left_out(self, X[:n].tobytes(), worked[:n].tobytes(), rate)
            rate = round(learned_rate(runs, chances), 2)
        return rate

    def _fit_single(self, X: Array, worked: Mask, rate: float) -> GPClassifierModel:
        """The classifier of all failures; with bad luck, few iterations find as good a fit."""
        settings = self.single.settings
        if rate:
            settings = replace(settings, lapse=rate, n_iterations=_N_ITERATIONS)
        return fit_classifier(settings, X, worked)

    def _limits(
        self, single: GPClassifierModel, X: Array, worked: Mask
    ) -> tuple[GPClassifierModel, ...] | None:
        """The constraints that explain the failures; None where nobody should ask."""
        n, d = X.shape
        is_moderate = self.min_inputs <= d <= self.max_inputs and n <= self.max_points
        if not is_moderate or worked.all() or not worked.any():
            return None
        return fit_attributed(replace(self.attributed, lapse=single.lapse), X, worked)


@lru_cache(maxsize=8)  # the same for several proposals in a row
def _left_out(classifier: PerConstraint, X: bytes, worked: bytes, rate: float) -> Array:  # (k,)
    labels = np.frombuffer(worked, dtype=bool)
    designs = np.frombuffer(X).reshape(len(labels), -1)
    return classifier.left_out(designs, labels, rate)
