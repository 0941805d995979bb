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
    """A classifier for each limit instead of one for all failures.

    Limits are those that reasons name. Where they are silent on most failures, limits are worked
    out, for a moderate number of inputs: with few of them one classifier does better, with many
    nothing was gained; and not for ever, because the work grows with the third power.
    """

    classifier: GPClassifier = GPClassifier(lengthscale=Range(1.0, 0.02, 30.0, spread=1.0))
    min_inputs: int = 4  # columns of X: a choice among three has three
    max_inputs: int = 9
    max_points: int = 100
    doubt: float = 0.674  # in a score: while limits are worked out, 75 % is taken as 50 %

    def __call__(self, whole: GPClassifierModel, data: Dataset) -> GPClassifierModel | LimitsModel:
        """The limits of the data, or `whole`, the classifier of all failures, as it is."""
        if data.kinds is not None and not _are_few(data.kinds, data.feasible):
            told = tell_apart(whole, data.X, data.feasible, data.kinds)
            if told is not whole:
                return told
        if not self.can_work_out(data):
            return whole
        return all_to_blame(whole, self.classifier, data.X, data.feasible)

    def can_work_out(self, data: Dataset) -> bool:
        """Whether limits are worked out, if reasons do not tell them apart."""
        n, d = data.X.shape
        is_moderate = self.min_inputs <= d <= self.max_inputs and n <= self.max_points
        return bool(is_moderate and 0 < data.n_feasible < n)

    def doubt_of(self, classifier: FeasibilityModel, data: Dataset) -> float:
        """How much of its score a search should not believe: it looks for too much promise.

        Also while only one limit has been seen, because there may be others.
        """
        is_told = isinstance(classifier, LimitsModel) and classifier.is_told
        return self.doubt if self.can_work_out(data) and not is_told else 0.0


def _are_few(kinds: NDArray[np.bool_], feasible: NDArray[np.bool_]) -> bool:
    """Whether less than half of the failures are of any kind."""
    return bool(2 * kinds.any(axis=1).sum() < (~feasible).sum())


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
            if regressor is None and isinstance(classifier, LimitsModel):
                # Believed to work, they would attract; a further design is for when they fail.
                classifier = classifier.assume_failed(pending)
            else:
                classifier = classifier.believe(pending)
            regressor = regressor.believe(pending) if regressor else None
        clues = hints(data, models)
        if regressor is None:
            return self.first.maximise(feasibility_goal(classifier), region, clues, rng)
        band = self.band.draw(region.n_parameters, rng)
        best = incumbent(data, regressor, classifier, pending, self.is_noisy)
        target = best + self.least_gain(region.n_parameters) * regressor.resolution
        acquisition = self.acquisition(regressor, target)
        if self.is_weighted:
            acquisition = Weighted(acquisition, classifier)
        doubt = self.limits.doubt_of(classifier, data) if self.limits else 0.0
        goal = banded_goal(acquisition, band, classifier, doubt)
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


def banded_goal(
    acquisition: Acquisition, band: Band, classifier: FeasibilityModel, doubt: float = 0.0
) -> Goal:
    """Maximise the acquisition inside the band, as deep inside as there is doubt."""

    def values(X: Array) -> tuple[Array, Array]:
        chunks = [X[i : i + _CHUNK] for i in range(0, len(X), _CHUNK)]
        a = np.concatenate([acquisition.values(x) for x in chunks])
        return a, np.concatenate([band.slack(classifier, x) - doubt for x in chunks])

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        a, da = acquisition.values_grad(X)
        g, dg = band.slack_grad(classifier, X)
        return a, g - doubt, da, dg

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
