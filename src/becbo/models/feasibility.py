"""Models of unknown failures: one classifier for all of them, or one for each constraint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from becbo.data import Dataset
from becbo.models.warm import fit_classifier
from becbo.surrogates.balls import BallsModel
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel
from becbo.surrogates.hyper import Range
from becbo.surrogates.per_constraint import fit_attributed, fit_by_reason
from becbo.surrogates.product import Product
from becbo.surrogates.variational import VariationalClassifier


class Classifier(Protocol):
    """Settings of a model of unknown failures."""

    def fit(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """The model of a history."""
        ...

    def cautious(self) -> Classifier:
        """The settings for a search that promises to limit its risk."""
        ...

    def expecting(self, chance: float) -> Classifier | None:
        """The settings for failures by chance at a rate.

        None if the model takes every failure for the design's.
        """
        ...


@dataclass(frozen=True)
class OneGP:
    """One Gaussian process classifier for all failures."""

    settings: GPClassifier = GPClassifier()

    def fit(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel:
        """The model of a history; the fit is deterministic."""
        del rng
        rows = data.worked | data.unexplained
        return fit_classifier(self.settings, data.X[rows], data.worked[rows])

    def cautious(self) -> OneGP:
        """The same: its chances are believed."""
        return self

    def expecting(self, chance: float) -> None:
        """Not possible: published methods with one classifier take failures for facts."""
        del chance


@dataclass(frozen=True)
class OneVariationalGP:
    """The paper's Gaussian process classifier for all failures."""

    settings: VariationalClassifier = VariationalClassifier()

    def fit(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel:
        """The model of a history; the fit is deterministic."""
        del rng
        rows = data.worked | data.unexplained
        return self.settings.fit(data.X[rows], data.worked[rows])

    def cautious(self) -> OneVariationalGP:
        """The same: its chances are believed."""
        return self

    def expecting(self, chance: float) -> None:
        """Not possible: published methods with one classifier take failures for facts."""
        del chance


@dataclass(frozen=True)
class Balls:
    """A ball around each failure, whatever its cause."""

    def fit(self, data: Dataset, rng: np.random.Generator) -> BallsModel:
        """The balls of a history."""
        del rng
        return BallsModel.of(data.X, data.worked)

    def cautious(self) -> Balls:
        """The same: there is nothing to be careful about."""
        return self

    def expecting(self, chance: float) -> None:
        """Not possible: a failure rules its neighbourhood out."""
        del chance


@dataclass(frozen=True)
class Networks:
    """The paper's ensemble of networks for all failures."""

    settings: DeepEnsemble = DeepEnsemble()

    def fit(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """The ensemble trained on a history from weights drawn by `rng`."""
        return self.settings.fit(data.X, data.worked, rng)

    def cautious(self) -> Networks:
        """The same: its chances are believed."""
        return self

    def expecting(self, chance: float) -> None:
        """Not possible: networks are trained on labels that are certain."""
        del chance


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
    chance: float = 0.0  # that a feasible design fails all the same

    def fit(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel | Product:
        """The product of the constraints of a history, or the classifier of all failures."""
        settings = replace(self.single.settings, lapse=self.chance)
        single = replace(self.single, settings=settings).fit(data, rng)
        rows = data.worked | data.unexplained
        X, worked, causes = data.X[rows], data.worked[rows], data.causes
        kinds, complete = causes.kinds[rows], causes.complete[rows]
        is_told = 2 * kinds.any(axis=1).sum() >= (~worked).sum()  # of most failures
        told = fit_by_reason(single, X, worked, kinds, complete) if is_told else None
        if told is not None:
            return told
        n, d = X.shape
        is_moderate = self.min_inputs <= d <= self.max_inputs and n <= self.max_points
        if not is_moderate or worked.all() or not worked.any():
            return single
        attributed = replace(self.attributed, lapse=self.chance)
        found = fit_attributed(single, attributed, X, worked) or single
        # Also while only one constraint has been seen, because there may be others.
        return replace(found, doubt=self.doubt)

    def cautious(self) -> PerConstraint:
        """Without attribution, which is too sure of itself for a promise; reasons count."""
        return replace(self, max_points=0)

    def expecting(self, chance: float) -> PerConstraint:
        """With failures by chance at a rate."""
        return replace(self, chance=chance)
