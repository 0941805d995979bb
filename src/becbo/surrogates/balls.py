"""A ball of no return around each failure: the model of failures of F-GP-UCB.

Shogo Iwazaki, Shion Takeno, Tomohiko Tanabe and Mitsuru Irie, "Failure-aware Gaussian process
optimization with regret bounds", NeurIPS 2023. The method maximises the upper confidence bound of a
GP of the successes and keeps away from the neighbourhoods of failures, whatever causes them. It
assumes that failures are deterministic and that the optimum is an interior point of what works, so
that a ball around it works too. The regret bound needs that assumption; the problems of Tian et al.
(ICML 2024) break it, because their optima lie at the edge.

This follows the published abstract and its assumptions: neither the algorithm's listing nor a
program was at hand. How the radius shrinks is our choice, after the abstract's result that the
number of successes grows linearly: failures keep a distance of one radius from each other, so the
radius is the one at which no more than half of all experiments fit into the space as failures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, ndtr

from becbo.arrays import Array, Mask

FAILED = 0.5  # of the experiments, about, at most
_SMALLEST = 1e-6  # distance of a success from a failure: the same design
STEEP = 3.0  # minus the score at a failure, where C = 0.001; the score while nothing has failed


def radius(n: int, d: int) -> float:
    """After n experiments in d dimensions.

    Balls of half the radius around failures do not overlap. Those of `FAILED` * n failures have the
    volume of the unit cube.
    """
    log_unit_ball = 0.5 * d * np.log(np.pi) - float(gammaln(0.5 * d + 1.0))
    return 2.0 * float(np.exp(-(np.log(FAILED * n) + log_unit_ball) / d))


@dataclass(frozen=True)
class BallsModel:
    """C(x) = Phi(3 (distance to the nearest failure / radius - 1)): 0.5 on the balls' surface.

    That map is a convention, right only in that it grows with the distance.
    """

    failures: Array  # (n, d)
    radius: float

    doubt: ClassVar[float] = 0.0
    optimism: ClassVar[float] = 0.0
    lapse: ClassVar[float] = 0.0
    is_sharp: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Array, feasible: Mask) -> BallsModel:
        """The balls of a history X (n, d) with labels (n,).

        The radius is halved until some design that worked lies outside of all balls.
        """
        r, failures = radius(*X.shape), X[~feasible]
        if feasible.any() and len(failures):
            furthest = float(_distances(X[feasible], failures).min(axis=1).max())
            r /= 2.0 ** max(0.0, np.ceil(np.log2(r / max(furthest, _SMALLEST))))
        return cls(failures, r)

    @property
    def scales(self) -> Array:  # (d,)
        """Ones: balls have no length scales."""
        return np.ones(self.failures.shape[1])

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u, and spread w = 0: balls do not know what they ignore."""
        u, w, _, _ = self.score_grad(X)
        return u, w

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        none = np.zeros_like(X)
        if not len(self.failures):
            return np.full(len(X), STEEP), none[:, 0], none, none
        distances = _distances(X, self.failures)
        nearest = np.argmin(distances, axis=1)
        distance = distances[np.arange(len(X)), nearest]
        away = X - self.failures[nearest]
        du = STEEP * away / np.maximum(distance * self.radius, 1e-300)[:, None]
        return STEEP * (distance / self.radius - 1.0), none[:, 0], du, none

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C twice: the band has no width."""
        C = ndtr(self.score(X)[0])
        return C, C

    def believe(self, X: Array) -> BallsModel:
        """The same: a pending point has not failed."""
        del X
        return self


def _distances(A: Array, B: Array) -> Array:  # (m, d), (n, d) -> (m, n)
    from scipy.spatial.distance import cdist  # late, as in surrogates/kernels.py

    return np.asarray(cdist(A, B))
