"""SVM-CBO: learn the boundary with a support vector machine, then optimise inside it.

Antonio Candelieri, "Sequential model based optimization of partially defined functions under
unknown constraints", Journal of Global Optimization 79, 2021. Phase 1 looks for places that are
far from all experiments or near the estimated boundary; phase 2 minimises the lower confidence
bound of a GP where the machine predicts success (here: maximises the upper one).

Without the slips of the public code: the boundary term is the decision function itself, with its
intercept and kernel width. The GP is this library's, with a length scale per input. Starts and
candidates are Sobol points; phase 1 refines its starts by this library's quasi-Newton ascent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from becbo.arrays import Array, Mask
from becbo.data import Dataset
from becbo.errors import InvalidInput
from becbo.models.base import Models
from becbo.proposers.base import Proposer, Searcher
from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.constrained import BandSearch
from becbo.search.goal import Found, Goal, Hints, ranking
from becbo.search.region import Region
from becbo.surrogates.base import Regressor
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.kernels import input_gradient, rbf, squared_distance
from becbo.surrogates.svm import SupportVectorClassifier, SvmModel, spread

PHASES = 60, 30  # evaluations of the paper in phase 1 and phase 2: their ratio counts
BETA = 1.96  # standard deviations above the mean
N_STARTS = 30  # of phase 1
N_CANDIDATES = 10_000  # of phase 2


def n_boundary(budget: int, n_initial: int) -> int:
    """How many evaluations phase 1 gets: 127 of the 190 after the initial design."""
    return round((budget - n_initial) * PHASES[0] / sum(PHASES))


def training_size(feasible: Mask, n_switch: int) -> int:  # (n,)
    """How many of the first experiments the machine has seen: in phase 2 a success adds nothing.

    All of them up to the switch of phases; then up to the last failure.
    """
    last_failure = int(np.flatnonzero(np.append(True, ~feasible))[-1])  # counted from 1, or 0
    return min(len(feasible), max(n_switch, last_failure))


def coverage_grad(X: Array, known: Array, width: float) -> tuple[Array, Array]:
    """C(x) = sum_i exp(-|x - x_i|^2 / 2 w^2) (m,) over known points (n, d); gradient (m, d)."""
    scales = np.full(X.shape[1], width)
    k, dk = rbf(squared_distance(X, known, scales))
    return k.sum(axis=1), input_gradient(X, known, scales, dk)


def boundness_grad(X: Array, machine: SvmModel) -> tuple[Array, Array]:  # (m,), (m, d)
    """B(x) = |decision|, the distance from the boundary, and its gradient."""
    decision, gradient = machine.decision_grad(X)
    return np.abs(decision), np.sign(decision)[:, None] * gradient


def boundary_goal(known: Array, machine: SvmModel) -> Goal:
    """Phase 1: minimise C(x) + B(x), anywhere."""
    width = spread(known)  # the variance serves as a width, as published

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        coverage, by_coverage = coverage_grad(X, known, width)
        boundness, by_boundness = boundness_grad(X, machine)
        a, da = -coverage - boundness, -by_coverage - by_boundness
        return a, np.ones(len(X)), da, np.zeros_like(X)

    return replace(ranking(lambda X: values_grad(X)[:2]), values_grad=values_grad)


def optimum_goal(regressor: Regressor, machine: SvmModel) -> Goal:
    """Phase 2: maximise the confidence bound where the machine predicts success."""

    def values(X: Array) -> tuple[Array, Array]:
        mean, std = regressor.predict(X)
        return mean + BETA * std, machine.decision(X)

    return ranking(values)


@dataclass(frozen=True)
class SvmCbo(Proposer):
    """Two phases, switched by the number of experiments out of `budget`."""

    regressor: GaussianProcess = GaussianProcess(kernel=rbf)
    classifier: SupportVectorClassifier = SupportVectorClassifier()
    budget: int = 200
    n_initial: int = 10

    def __post_init__(self) -> None:
        if not 0 <= self.n_initial <= self.budget:
            raise InvalidInput(f"budget {self.budget} is less than n_initial {self.n_initial}")

    @property
    def n_switch(self) -> int:
        """How many experiments come before phase 2."""
        return self.n_initial + n_boundary(self.budget, self.n_initial)

    def planned(self, n_initial: int, budget: int | None) -> SvmCbo:
        """The method told when its phases change."""
        return replace(self, n_initial=n_initial, budget=max(budget or self.budget, n_initial))

    def fit_failures(self, data: Dataset, rng: np.random.Generator) -> SvmModel:
        """The machine as of its last training."""
        seen = data.head(training_size(data.worked, self.n_switch))
        return self.classifier.fit(seen.X, seen.worked)

    def searcher(self, models: Models, data: Dataset, rng: np.random.Generator) -> Searcher:
        """The search of the phase; pending points are covered, and believed by the GP."""
        model = models.objectives[0]
        regressor = None if model is None else model.inner
        machine = cast(SvmModel, models.feasibility)  # there are no limits

        def search(region: Region, pending: Array) -> Found:
            known = np.vstack([data.X, pending])
            if len(known) < self.n_switch or regressor is None:
                return explore(boundary_goal(known, machine), region, rng)
            believed = regressor.believe(pending) if len(pending) else regressor
            return exploit(optimum_goal(believed, machine), region, rng)

        return search


def explore(goal: Goal, region: Region, rng: np.random.Generator) -> Found:
    """The next point of phase 1: many starts, refined."""
    nothing = np.empty((0, region.dim))
    hints = Hints(nothing, nothing, np.ones(region.dim))
    return BandSearch(n_starts=N_STARTS).maximise(goal, region, hints, rng)


def exploit(goal: Goal, region: Region, rng: np.random.Generator) -> Found:
    """The next point of phase 2: the best of many candidates, as it is."""
    X = space_filling(region, N_CANDIDATES, rng)
    return choose(X, ["phase 2"] * len(X), goal, region, rng)
