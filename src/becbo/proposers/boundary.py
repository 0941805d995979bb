"""Boundary exploration: maximise an acquisition where the design may well work.

Yunsheng Tian, Ane Zuniga, Xinwei Zhang, Johannes P. Duerholt, Payel Das, Jie Chen, Wojciech
Matusik and Mina Konakovic Lukovic, "Boundary exploration for Bayesian optimization with unknown
physical constraints", ICML 2024. Every part is an argument: the paper's parts make `be-cbo`,
better ones make `edge`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from becbo.acquisition import Acquisition, LogFeasibility, Weighted
from becbo.band import Band, BandRule
from becbo.data import Dataset
from becbo.proposers.base import Models, Proposal, clock, proposal_of, propose_in_turn
from becbo.proposers.warm import fit_classifier, fit_regressor
from becbo.search.first import FirstSuccess
from becbo.search.goal import Found, Goal, Hints, Search
from becbo.search.region import Region
from becbo.space import Array
from becbo.surrogates.base import FeasibilityModel, Regressor, normal_pdf
from becbo.surrogates.blame import work_out
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel
from becbo.surrogates.hyper import Range
from becbo.surrogates.limits import LimitsModel, all_to_blame, tell_apart

_CHUNK = 224  # points evaluated at once: few enough for the processor's cache, twice as fast
_N_SUCCESSES, _N_FAILURES = 3, 8  # that hint where to look


class Classifier(Protocol):
    """Settings of a feasibility model."""

    def fit(
        self, X: Array, feasible: NDArray[np.bool_], rng: np.random.Generator
    ) -> FeasibilityModel:
        """Model of the labels (n,) at X (n, d)."""
        ...


@dataclass(frozen=True)
class LeastGain:
    """The improvement that counts, in units of the regressor's resolution; 0 in many dimensions.

    A nearly noise-free model always sees a little to gain next to an optimum it knows to the last
    digit, and would try it for ever. In few dimensions it is better to look elsewhere; in many,
    small steps are how a search gets anywhere.
    """

    gain: float = 0.0
    max_dim: int = 3

    def __call__(self, d: int) -> float:
        """The gain in d dimensions."""
        return self.gain if d <= self.max_dim else 0.0


@dataclass(frozen=True)
class SeveralLimits:
    """A classifier for each limit instead of one for all failures, where that is known to help.

    Limits are those that the reasons name. Without reasons they are worked out, in a moderate
    number of dimensions: in few, one classifier does as well; in many, experiments are too few.
    """

    classifier: GPClassifier = GPClassifier(lengthscale=Range(1.0, 0.02, 30.0, spread=1.0))
    min_dim: int = 4
    max_dim: int = 9
    max_points: int = 256  # the work grows with the third power

    def __call__(self, whole: GPClassifierModel, data: Dataset) -> GPClassifierModel | LimitsModel:
        """The limits of the data, or `whole`, the classifier of all failures, as it is."""
        if data.kinds is not None:
            told = tell_apart(whole, data.X, data.feasible, data.kinds)
            if told is not whole:
                return told
        n, d = data.X.shape
        if n > self.max_points or not self.min_dim <= d <= self.max_dim:
            return whole
        # Anew for every proposal: blame that was worked out earlier repeats its mistakes.
        blame = work_out(self.classifier, data.X, data.feasible)
        if blame is None:
            return whole
        return all_to_blame(whole, blame, self.classifier, data.X, data.feasible)


@dataclass(frozen=True)
class Boundary:
    """Maximise `acquisition` over the region that `band` keeps of the space."""

    regressor: GaussianProcess
    classifier: Classifier | GPClassifier
    acquisition: Callable[[Regressor, float], Acquisition]
    band: BandRule
    search: Search
    first: Search = FirstSuccess()  # while nothing has worked
    least_gain: LeastGain = LeastGain()
    is_weighted: bool = False  # maximise C(x) q(x), for an acquisition that is log q(x)
    limits: SeveralLimits | None = None  # None: one classifier for all failures
    is_noisy: bool = False  # improve on the best believed value instead of the best seen

    def fit(self, data: Dataset, rng: np.random.Generator) -> Models:
        """Both models of the data."""
        return Models(fit_regressor(self.regressor, data), self._fit_classifier(data, rng))

    def propose(
        self, data: Dataset, region: Region, pending: Array, q: int, rng: np.random.Generator
    ) -> Proposal:
        """q new points, one search each."""
        seconds: dict[str, float] = {}
        with clock(seconds, "regressor"):
            regressor = fit_regressor(self.regressor, data)
        with clock(seconds, "classifier"):
            models = Models(regressor, self._fit_classifier(data, rng))
        with clock(seconds, "search"):
            found = propose_in_turn(
                q, region, pending, lambda r, p: self._search(models, data, r, p, rng)
            )
        return proposal_of(models, found, seconds)

    def _search(
        self,
        models: Models,
        data: Dataset,
        region: Region,
        pending: Array,
        rng: np.random.Generator,
    ) -> Found:
        regressor, classifier = models.regressor, models.classifier
        if len(pending):
            regressor = regressor.believe(pending) if regressor else None
            classifier = classifier.believe(pending)
        clues = hints(data, models)
        if regressor is None:
            return self.first.maximise(feasibility_goal(classifier), region, clues, rng)
        band = self.band.draw(region.n_parameters, rng)
        best = incumbent(data, regressor, classifier, pending, self.is_noisy)
        target = best + self.least_gain(region.n_parameters) * regressor.resolution
        acquisition = self.acquisition(regressor, target)
        if self.is_weighted:
            acquisition = Weighted(acquisition, classifier)
        goal = banded_goal(acquisition, band, classifier)
        return self.search.maximise(goal, region, clues, rng)

    def _fit_classifier(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        if isinstance(self.classifier, GPClassifier):  # the one that can continue from a fit
            model = fit_classifier(self.classifier, data)
            return self.limits(model, data) if self.limits else model
        return self.classifier.fit(data.X, data.feasible, rng)


def incumbent(
    data: Dataset,
    regressor: Regressor,
    classifier: FeasibilityModel,
    pending: Array,
    is_noisy: bool,
) -> float:
    """The value to improve on: the best seen, or believed if values are noisy or pending."""
    X, y = data.successes()
    best = float(regressor.predict(X)[0].max() if is_noisy else y.max())
    if len(pending):
        likely = classifier.score(pending)[0] >= 0
        best = max([best, *regressor.predict(pending)[0][likely]])
    return best


def hints(data: Dataset, models: Models) -> Hints:
    """The best designs, the failures next to the very best, and the length scales."""
    d = data.X.shape[1]
    scales = getattr(models.regressor, "scales", np.ones(d))
    X, y = data.successes()
    best = X[np.argsort(-y, kind="stable")[:_N_SUCCESSES]]
    failures = data.X[~data.feasible]
    if len(best) and len(failures):
        metric = getattr(models.classifier, "scales", np.ones(d))
        distance = (((failures - best[0]) / metric) ** 2).sum(axis=1)
        failures = failures[np.argsort(distance, kind="stable")[:_N_FAILURES]]
    return Hints(best, failures, scales)


def banded_goal(acquisition: Acquisition, band: Band, classifier: FeasibilityModel) -> Goal:
    """Maximise the acquisition inside the band."""

    def values(X: Array) -> tuple[Array, Array]:
        chunks = [X[i : i + _CHUNK] for i in range(0, len(X), _CHUNK)]
        a = np.concatenate([acquisition.values(x) for x in chunks])
        return a, np.concatenate([band.slack(classifier, x) for x in chunks])

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        a, da = acquisition.values_grad(X)
        g, dg = band.slack_grad(classifier, X)
        return a, g, da, dg

    return Goal(values, values_grad, lambda X: _edge(classifier, X))


def feasibility_goal(classifier: FeasibilityModel) -> Goal:
    """Maximise the chance to work, anywhere: nothing has worked yet."""
    acquisition = LogFeasibility(classifier)

    def values(X: Array) -> tuple[Array, Array]:
        return acquisition.values(X), np.ones(len(X))

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        a, da = acquisition.values_grad(X)
        return a, np.ones(len(X)), da, np.zeros_like(X)

    return Goal(values, values_grad, lambda X: _edge(classifier, X))


def _edge(classifier: FeasibilityModel, X: Array) -> tuple[Array, Array]:
    """C - 0.5 (m,) and its gradient (m, d)."""
    u, _, du, _ = classifier.score_grad(X)
    return ndtr(u) - 0.5, normal_pdf(u)[:, None] * du
