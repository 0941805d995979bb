"""Boundary exploration: maximise an acquisition where the design may well work.

Yunsheng Tian, Ane Zuniga, Xinwei Zhang, Johannes P. Duerholt, Payel Das, Jie Chen, Wojciech
Matusik and Mina Konakovic Lukovic, "Boundary exploration for Bayesian optimization with unknown
physical constraints", ICML 2024. Every part is an argument: the paper's parts make `be-cbo`,
better ones make `edge`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from scipy.special import ndtr

from becbo.acquisition import Acquisition, LogFeasibility
from becbo.arrays import Array, Indices
from becbo.band import Band, BandRule, Both, MinimumChance, MinimumProbability
from becbo.care import Care, first_choice, tolerable
from becbo.data import Dataset
from becbo.failures import Failures
from becbo.improvement import Improvement, acceptable_gains
from becbo.models.base import Models
from becbo.models.feasibility import Classifier
from becbo.models.subset import local_subset
from becbo.outputs import Outputs
from becbo.pareto import nondominated
from becbo.proposers.base import Proposer, Searcher
from becbo.search.choice import REPEAT, SPENT
from becbo.search.first import FirstSuccess
from becbo.search.goal import Found, Goal, Hints, Search
from becbo.search.region import Region
from becbo.search.repeats import can_be_set, repeat_to_tell
from becbo.surrogates.base import FeasibilityModel, normal_pdf
from becbo.surrogates.gp import GaussianProcess

Weighting = Callable[[Acquisition, FeasibilityModel], Acquisition]

# Points evaluated at once: few enough for the processor's cache, twice as fast. Measured limits are
# evaluated together.
_CHUNK, _CHUNK_LIMITS = 224, 112
_N_SUCCESSES, _N_FAILURES = 3, 8  # that hint where to look


@dataclass(frozen=True)
class Boundary(Proposer):
    """Maximise `improvement` over the region that `band` keeps of the space."""

    regressor: GaussianProcess
    classifier: Classifier
    improvement: Improvement
    band: BandRule
    search: Search
    steep: Search | None = None  # where measured limits make the bound steep; None: `search`
    first: Search = FirstSuccess()  # while nothing has worked
    blind: Search | None = None  # the same if failures do not tell why; None: `first`
    weighting: Weighting | None = None  # by C(x), instead of a band
    subset: int | None = None  # how many experiments of a long history count; None: all
    care: Care = Care()

    def supports(self, outputs: Outputs) -> bool:
        """Several outputs if its improvement takes them."""
        return self.improvement.several_outputs or super().supports(outputs)

    def relevant(self, data: Dataset) -> Dataset:
        """All experiments of a short history, those around the best designs of a long one."""
        return data if self.subset is None else local_subset(data, self.subset)

    def limited_to(self, risk: float) -> Boundary:
        """The method with the band C(x) >= 1 - risk, or that of a smaller risk that it has."""
        risk = float(risk) if self.care.risk is None else min(float(risk), self.care.risk)
        band, care = MinimumProbability(1 - risk), replace(self.care, risk=risk)
        return replace(self, band=band, classifier=self.classifier.cautious(), care=care)

    def expecting(self, failures: Failures) -> Boundary | None:
        """The method with failures by chance, at a price and on a budget.

        None if its classifier takes failures for facts.
        """
        classifier = self.classifier.expecting(failures.chance)
        if classifier is None:
            return self if failures.are_facts else None
        care = replace(self.care, budget=failures.budget)
        method = replace(self, classifier=classifier, care=care)
        return method.limited_to(tolerable(failures.price)) if failures.price else method

    def planned(self, n_initial: int, budget: int | None) -> Boundary:
        """The method that makes a budget of failures last for a budget of experiments."""
        del n_initial
        if self.care.budget is None:
            return self
        return replace(self, care=replace(self.care, n_planned=budget))

    def after(self, data: Dataset) -> Boundary:
        """The method as careful as the failures of a history leave it."""
        needed = cache(partial(self.care.least_chance, data))
        return replace(self, band=Both(self.band, MinimumChance(needed))) if needed() > 0 else self

    @property
    def has_budget(self) -> bool:
        """Whether the number of failures is limited."""
        return self.care.budget is not None

    def n_risky(self, data: Dataset, pending: Array) -> int:
        """How many designs the budget of failures allows that are not known to work."""
        return self.care.n_risky(data, pending)

    def repeat(self, data: Dataset, models: Models, region: Region, pending: Array) -> Found | None:
        """A design that worked if the budget is spent; a failed one that looks like bad luck."""
        if self.has_budget and self.n_risky(data, pending) == 0:
            known = data.take(np.flatnonzero(can_be_set(data.X, region) & data.acceptable))
            if not len(known.X):
                return None
            gains = acceptable_gains(known, models, self.improvement.is_noisy)
            return Found(first_choice(known.X, gains, pending), 0.0, 0.0, True, REPEAT, SPENT)
        if self.care.least_chance(data) > 0:  # a design that failed has too small a chance
            return None
        x = self.classifier.suspect(self.relevant(data), models.chance_to_keep)
        return None if x is None else repeat_to_tell(x, region, pending)

    def fit_failures(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """What the classifier makes of a history."""
        return self.classifier.fit(data, rng)

    def searcher(self, models: Models, data: Dataset, rng: np.random.Generator) -> Searcher:
        """The search inside the band; anywhere for feasibility while nothing is acceptable."""

        def search(region: Region, pending: Array) -> Found:
            believed = models.believe(pending)
            climb = self.steep if self.steep and models.feasibility.is_sharp else self.search
            clues = hints(data, models, rng)
            if not data.acceptable.any():
                goal = feasibility_goal(believed.feasibility)
                if data.worked.any():  # a limit that was measured shows the way
                    return climb.maximise(goal, region, clues, rng)
                return self._first(data).maximise(goal, region, clues, rng)
            band = self.band.draw(region.n_parameters, rng)
            n_parameters = region.n_parameters
            acquisition = self.improvement.over(data, believed, pending, n_parameters, rng)
            if self.weighting is not None:
                acquisition = self.weighting(acquisition, believed.feasibility)
            # What pending designs are believed to show is no ground for a promise.
            known = models if self.care != Care() else believed
            goal = banded_goal(acquisition, band, known.feasibility)
            return climb.maximise(goal, region, clues, rng)

        return search

    def _first(self, data: Dataset) -> Search:
        """The search while nothing has worked.

        Failures that list what they broke, or name measured limits, show the way.
        """
        is_told = data.causes.complete.any() or not data.unexplained.any()
        return self.first if self.blind is None or is_told else self.blind


def hints(data: Dataset, models: Models, rng: np.random.Generator) -> Hints:
    """Where to look, and how far is far.

    Args:
        data: the history.
        models: its models.
        rng: draws among the points of a front.

    Returns:
        The best designs, the failures next to the first of them, and the length scales of the
        first objective.
    """
    regressor = models.objectives[0]
    scales = np.ones(data.X.shape[1]) if regressor is None else regressor.scales
    best = data.X[_best_rows(data, rng)]
    failures = data.X[~data.worked]
    if len(best) and len(failures):
        distance = (((failures - best[0]) / models.feasibility.scales) ** 2).sum(axis=1)
        failures = failures[np.argsort(distance, kind="stable")[:_N_FAILURES]]
    return Hints(best, failures, scales)


def _best_rows(data: Dataset, rng: np.random.Generator) -> Indices:  # (k,)
    """The best acceptable designs; with several objectives, random ones of the front."""
    rows = np.flatnonzero(data.acceptable)
    gains = data.gains[rows]
    if gains.shape[1] == 1:
        return rows[np.argsort(-gains[:, 0], kind="stable")[:_N_SUCCESSES]]
    front = rows[nondominated(-gains)]
    return front[rng.permutation(len(front))[:_N_SUCCESSES]]


def banded_goal(acquisition: Acquisition, band: Band, classifier: FeasibilityModel) -> Goal:
    """Maximise the acquisition inside the band, as deep inside as there is doubt."""
    doubt = classifier.doubt
    size = _CHUNK_LIMITS if classifier.is_sharp else _CHUNK

    def values(X: Array) -> tuple[Array, Array]:
        chunks = [X[i : i + size] for i in range(0, len(X), size)]
        a = np.concatenate([acquisition.values(x) for x in chunks])
        return a, np.concatenate([band.slack(classifier, x) - doubt for x in chunks])

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        a, da = acquisition.values_grad(X)
        g, dg = band.slack_grad(classifier, X)
        return a, g - doubt, da, dg

    return Goal(values, values_grad, lambda X: _boundary(classifier, X))


def feasibility_goal(classifier: FeasibilityModel) -> Goal:
    """Maximise the chance to work, anywhere: nothing has worked yet."""
    acquisition = LogFeasibility(classifier)

    def values(X: Array) -> tuple[Array, Array]:
        return acquisition.values(X), np.ones(len(X))

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        a, da = acquisition.values_grad(X)
        return a, np.ones(len(X)), da, np.zeros_like(X)

    return Goal(values, values_grad, lambda X: _boundary(classifier, X))


def _boundary(classifier: FeasibilityModel, X: Array) -> tuple[Array, Array]:
    """C - 0.5 (m,) and its gradient (m, d)."""
    u, _, du, _ = classifier.score_grad(X)
    return ndtr(u) - 0.5, normal_pdf(u)[:, None] * du
