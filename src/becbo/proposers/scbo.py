"""SCBO: constrained Thompson sampling in a trust region, with binary constraints.

David Eriksson and Matthias Poloczek, "Scalable constrained Bayesian optimization", AISTATS 2021,
in the version that Tian et al. (ICML 2024) compare with: one GP classifier instead of a GP per
constraint, success by strict improvement, models of all data, also after a restart.

Deviations: functions are drawn by pathwise conditioning (Wilson et al., ICML 2020), because an
exact joint draw at thousands of candidates takes seconds; the experiments of the initial design
count as the best so far; every dimension can be the one that a candidate moves; the copula takes
quantiles at (rank - 1/2) / n, there at rank / (n + 1).
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.special import ndtri

from becbo.arrays import Array, Mask
from becbo.data import Dataset
from becbo.errors import InvalidInput
from becbo.models.base import Models
from becbo.models.feasibility import OneGP, OneVariationalGP
from becbo.models.warm import fit_regressor
from becbo.proposers.base import Proposer, Searcher
from becbo.search.candidates import mutate_grids, space_filling
from becbo.search.choice import choose
from becbo.search.goal import INDIFFERENT, Found, ranking
from becbo.search.region import Region
from becbo.search.sobol import sobol
from becbo.surrogates.gp import GaussianProcess, GPModel
from becbo.surrogates.gp_classifier import GPClassifierModel

LENGTH_INIT, LENGTH_MIN, LENGTH_MAX = 0.8, 0.5**7, 1.6
SUCCESS_TOLERANCE = 10  # successes in a row that double the region
MIN_FAILURE_TOLERANCE = 4  # failures in a row that halve it, or d if that is more
N_RESTART = 10  # experiments of a new design, repeated until one works
MOVED = 20  # dimensions that a candidate moves, on average
_SEQUENCE = 256  # points of the sequence that new designs come from


@dataclass(frozen=True)
class TrustRegion:
    """What the history says about the region that the next candidates come from."""

    n_design: int  # experiments of the design still to come
    begin: int = 0  # the first experiment since the last restart
    best: float = -math.inf  # value since then
    length: float = LENGTH_INIT
    n_successes: int = 0  # in a row
    n_failures: int = 0  # in a row

    @property
    def is_restarting(self) -> bool:
        """Whether a new design is due; the first one is somebody else's."""
        return self.begin > 0 and self.n_design > 0

    def after(self, value: float, failure_tolerance: int) -> TrustRegion:
        """The region after one more experiment; its value is NaN if it failed."""
        is_better = value > self.best
        best = value if is_better else self.best
        if self.n_design:
            again = 0 if math.isfinite(best) else N_RESTART if self.begin else 1
            return replace(self, best=best, n_design=self.n_design - 1 or again)
        successes = self.n_successes + 1 if is_better else 0
        failures = 0 if is_better else self.n_failures + 1
        if successes == SUCCESS_TOLERANCE:
            return self._resized(best, min(2.0 * self.length, LENGTH_MAX))
        if failures == failure_tolerance:
            return self._resized(best, self.length / 2.0)
        return replace(self, best=best, n_successes=successes, n_failures=failures)

    def _resized(self, best: float, length: float) -> TrustRegion:
        return replace(self, best=best, length=length, n_successes=0, n_failures=0)


def replay(y: Array, d: int, n_initial: int) -> TrustRegion:  # (n,)
    """The trust region after the experiments of a history, NaN for those that failed."""
    failure_tolerance = max(MIN_FAILURE_TOLERANCE, d)
    state = TrustRegion(n_initial)
    for i, value in enumerate(y.tolist()):
        state = state.after(value, failure_tolerance)
        if state.length < LENGTH_MIN:
            state = TrustRegion(N_RESTART, begin=i + 1)
    return state


def copula(y: Array) -> Array:  # (n,) -> (n,)
    """Gaussian copula: the normal quantiles of the values' mean ranks (section 3 of the paper)."""
    _, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2  # 1 is the smallest
    return np.asarray(ndtri((rank[index] - 0.5) / len(y)))


def box(centre: Array, length: float, scales: Array) -> tuple[Array, Array]:  # (d,), (d,)
    """Ends of the trust region: sides as the length scales, their geometric mean `length`."""
    sides = length * np.exp(np.log(scales) - np.log(scales).mean())
    return np.clip(centre - sides / 2, 0.0, 1.0), np.clip(centre + sides / 2, 0.0, 1.0)


def perturbation_mask(n: int, d: int, rng: np.random.Generator) -> Mask:  # (n, d)
    """Which dimensions each candidate moves: MOVED of them on average, at least one."""
    mask = rng.random((n, d)) < min(MOVED / d, 1.0)
    stuck = np.flatnonzero(~mask.any(axis=1))
    mask[stuck, rng.integers(d, size=len(stuck))] = True
    return mask


def n_candidates(d: int) -> int:
    """How many candidates share a draw."""
    return min(5000, max(2000, 200 * d))


def candidates(
    centre: Array, length: float, scales: Array, region: Region, rng: np.random.Generator
) -> Array:  # (n, d)
    """Points of the trust region that differ from its centre in some dimensions."""
    d = len(centre)
    low, high = box(centre, length, scales)
    X = low + (high - low) * sobol(n_candidates(d), d, rng)
    X = np.where(perturbation_mask(len(X), d, rng), X, centre)
    return mutate_grids(X, region, rng)


@dataclass(frozen=True)
class Scbo(Proposer):
    """Draw value and feasibility, take the best drawn value where the draw is feasible."""

    regressor: GaussianProcess = GaussianProcess()
    classifier: OneGP | OneVariationalGP = OneVariationalGP()
    n_initial: int = 10  # experiments of the initial design: they neither grow nor shrink

    def __post_init__(self) -> None:
        if self.n_initial < 1:
            raise InvalidInput(f"n_initial {self.n_initial} must be at least 1")

    def planned(self, n_initial: int, budget: int | None) -> Scbo:
        """The method told the size of the initial design."""
        return replace(self, n_initial=n_initial)

    def fit_failures(self, data: Dataset, rng: np.random.Generator) -> GPClassifierModel:
        """A classifier of all failures."""
        return self.classifier.fit(data, rng)

    def searcher(self, models: Models, data: Dataset, rng: np.random.Generator) -> Searcher:
        """Draws of the ranks of the values and of feasibility, anew for every point."""
        ranked = fit_regressor(self.regressor, data, copula)
        classifier = cast(GPClassifierModel, models.feasibility)  # there are no limits
        return lambda region, pending: self._next(data, ranked, classifier, region, pending, rng)

    def _next(
        self,
        data: Dataset,
        ranked: GPModel | None,
        classifier: GPClassifierModel,
        region: Region,
        pending: Array,
        rng: np.random.Generator,
    ) -> Found:
        state = replay(data.y, region.dim, self.n_initial)
        if state.is_restarting:
            # Seeded by what came before, so that a new design is one sequence without any state.
            scrambling = np.random.default_rng(zlib.crc32(data.X[: state.begin].tobytes()))
            X, origin = space_filling(region, _SEQUENCE, scrambling), "restart"
            return choose(X, [origin] * len(X), INDIFFERENT, region, rng)
        latent = (classifier.believe(pending) if len(pending) else classifier).path(rng)
        if ranked is None:  # nothing has worked: the largest drawn probability anywhere
            X, origin = space_filling(region, n_candidates(region.dim), rng), "space"
            goal = ranking(lambda X: (latent(X), np.ones(len(X))))
        else:
            value = (ranked.believe(pending) if len(pending) else ranked).path(rng)
            centre = data.X[state.begin + int(np.nanargmax(data.y[state.begin :]))]
            X, origin = candidates(centre, state.length, ranked.scales, region, rng), "trust region"
            # A drawn probability of 0.5 is a drawn latent of 0.
            goal = ranking(lambda X: (value(X), latent(X)))
        return choose(X, [origin] * len(X), goal, region, rng)
