"""What counts as an improvement on a history: from the models to the acquisition to maximise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from becbo.acquisition import (
    Acquisition,
    LogExpectedHypervolume,
    LogExpectedImprovement,
    LogGain,
    log_expected_improvement,
    log_target_improvement,
)
from becbo.arrays import Array
from becbo.data import Dataset
from becbo.models.base import Models
from becbo.outputs import Objective
from becbo.pareto import boxes
from becbo.surrogates.base import Regressor
from becbo.surrogates.gp import GaussianProcess, GPModel

_MARGIN = 0.1  # of the range of an objective, between its worst acceptable value and the reference
_EXACT = 3  # objectives up to which the hypervolume improvement is exact
_AUGMENTED = 0.05  # weight of the sum beside the worst objective (Knowles 2006)


class Improvement(Protocol):
    """How a method judges improvements."""

    @property
    def several_outputs(self) -> bool:
        """Whether it takes several objectives, targets and measured limits."""
        ...

    @property
    def is_noisy(self) -> bool:
        """Whether believed values count instead of those seen."""
        ...

    def over(
        self,
        data: Dataset,
        models: Models,
        pending: Array,
        n_parameters: int,
        rng: np.random.Generator,
    ) -> Acquisition:
        """The acquisition to maximise, given at least one acceptable experiment.

        `models` have seen what they expect at the pending points (p, d).
        """
        ...


@dataclass(frozen=True)
class OverTheBest:
    """Improvement on the best value of one objective, by an acquisition of the literature."""

    acquisition: Callable[[Regressor, float], Acquisition]
    is_noisy: bool = False  # improve on the best believed value instead of the best seen

    several_outputs = False

    def over(
        self,
        data: Dataset,
        models: Models,
        pending: Array,
        n_parameters: int,
        rng: np.random.Generator,
    ) -> Acquisition:
        """The acquisition over the best value."""
        best = incumbent(data, models, pending, self.is_noisy)
        return self.acquisition(_regressor(models, 0), best)


@dataclass(frozen=True)
class OverTheFront:
    """Log EI over the best value, log EHVI over a front, or random weights of many objectives.

    In few dimensions an improvement of one objective below the model's resolution does not count.
    A nearly noise-free model always sees a little to gain next to an optimum it knows to the last
    digit, and would try it again and again. In few dimensions it is better to look elsewhere; in
    many, small steps are how a search gets anywhere.
    """

    scalarised: GaussianProcess  # settings of the model of randomly weighted objectives
    is_noisy: bool = False  # improve on believed values instead of those seen
    least_gain: float = 1.0  # in units of the regressor's resolution
    max_parameters: int = 3  # up to which there is a least gain

    several_outputs = True

    def over(
        self,
        data: Dataset,
        models: Models,
        pending: Array,
        n_parameters: int,
        rng: np.random.Generator,
    ) -> Acquisition:
        """The acquisition for as many objectives as there are."""
        objectives = data.outputs.objectives
        if len(objectives) > _EXACT:
            return self._weighted(data, models, pending, rng)
        regressors = [_regressor(models, i) for i in range(len(objectives))]
        log_gains = [_log_gain(objective) for objective in objectives]
        if len(objectives) == 1:
            best = incumbent(data, models, pending, self.is_noisy)
            least = self.least_gain if n_parameters <= self.max_parameters else 0.0
            target = _warped(models, best) + least * regressors[0].resolution
            return LogExpectedImprovement(regressors[0], target, log_gains[0])
        gains = _known_gains(data, models, pending, self.is_noisy)
        corners = boxes(-gains, -reference(data))
        return LogExpectedHypervolume(regressors, log_gains, *corners)

    def _weighted(
        self, data: Dataset, models: Models, pending: Array, rng: np.random.Generator
    ) -> Acquisition:
        """Log EI of a random augmented Chebyshev scalarisation.

        Knowles, "ParEGO", IEEE Transactions on Evolutionary Computation 10, 2006.
        """
        weights = rng.dirichlet(np.ones(len(data.outputs.objectives)))
        gains = _known_gains(data, models, pending, self.is_noisy)
        low, high = gains.min(axis=0), gains.max(axis=0)
        span = np.where(high > low, high - low, 1.0)

        def scalar(G: Array) -> Array:  # (n, k) -> (n,)
            terms = weights * (G - high) / span
            return np.asarray(terms.min(axis=1) + _AUGMENTED * terms.sum(axis=1))

        rows = ~np.isnan(data.gains).any(axis=1)
        regressor = self.scalarised.fit(data.X[rows], scalar(data.gains[rows]))
        if len(pending):
            regressor = regressor.believe(pending)
        return LogExpectedImprovement(regressor, float(scalar(gains).max()))


def incumbent(data: Dataset, models: Models, pending: Array, is_noisy: bool) -> float:
    """The gain to improve on: the best seen, or believed if values are noisy or pending."""
    return float(_known_gains(data, models, pending, is_noisy).max())


def acceptable_gains(data: Dataset, models: Models, is_noisy: bool) -> Array:  # (r, k)
    """The gains of acceptable experiments: seen, or believed if values are noisy."""
    rows = data.acceptable
    return believed_gains(data, models, data.X[rows]) if is_noisy else data.gains[rows]


def _known_gains(data: Dataset, models: Models, pending: Array, is_noisy: bool) -> Array:
    """Gains (n, k) of acceptable experiments, and those believed of likely pending ones."""
    gains = acceptable_gains(data, models, is_noisy)
    if len(pending):
        likely = models.feasibility.score(pending)[0] >= 0
        gains = np.vstack([gains, believed_gains(data, models, pending[likely])])
    return gains


def believed_gains(data: Dataset, models: Models, X: Array) -> Array:  # (m, d) -> (m, k)
    """The gains that the models expect of designs, once each objective was measured."""
    means = [model.predict(X)[0] for model in models.objectives if model is not None]
    targets = [objective.target is not None for objective in data.outputs.objectives]
    columns = zip(means, targets, strict=True)
    return np.column_stack([-np.abs(m) if has_target else m for m, has_target in columns])


def reference(data: Dataset) -> Array:  # (k,)
    """The gains that are just not good enough: the user's, or the worst that was measured.

    Designs beyond a limit count: while few are acceptable, those say little about the ends of the
    front. The reference lies at least a little below the worst acceptable gain; where all
    acceptable values are the same, all that were measured tell the range.
    """
    acceptable = data.gains[data.acceptable]
    span = np.ptp(acceptable, axis=0)
    worst = np.nanmin(data.gains, axis=0)
    everything = np.nanmax(data.gains, axis=0) - worst
    span = np.where(span > 0, span, np.where(everything > 0, everything, 1.0))
    chosen = np.minimum(acceptable.min(axis=0) - _MARGIN * span, worst)
    for i, objective in enumerate(data.outputs.objectives):
        if objective.reference is not None:
            chosen[i] = objective.gain(objective.reference)
    return np.asarray(chosen)


def _log_gain(objective: Objective) -> LogGain:
    return log_expected_improvement if objective.target is None else log_target_improvement


def _regressor(models: Models, index: int) -> GPModel:
    """The regressor of an objective, warped or not: an acceptable experiment has its value."""
    model = models.objectives[index]
    assert model is not None
    return model.inner


def _warped(models: Models, gain: float) -> float:
    """A gain of the first objective in the units of its regressor."""
    model = models.objectives[0]
    assert model is not None
    return float(model.warp.forward(np.array([gain]))[0])
