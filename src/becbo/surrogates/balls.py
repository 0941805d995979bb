"""A ball of no return around each failure: the model of failures of F-GP-UCB.

Shogo Iwazaki, Shion Takeno, Tomohiko Tanabe and Mitsuru Irie, "Failure-aware Gaussian process
optimization with regret bounds", NeurIPS 2023. The method maximises the upper confidence bound of a
GP of the successes and keeps away from the neighbourhoods of failures, whatever causes them. It
assumes that failures are deterministic and that the optimum is an interior point of what works, so
that a ball around it works too. The regret bound needs that assumption; the problems of Tian et al.
(ICML 2024) break it, because their optima lie at the edge.

This follows the published abstract and its assumptions: neither the algorithm's listing nor a
program was at hand. How the radius shrinks is our choice, made so that the balls can never cover
more than half of the space and the radius still goes to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, ndtr

from becbo.arrays import Array, Mask

COVERED = 0.5  # of the unit cube, by all balls together at most
STEEP = 3.0  # minus the score at a failure, where C = 0.001; the score while nothing has failed


def radius(n: int, d: int) -> float:
    """Of n balls in d dimensions whose volumes add up to `COVERED`."""
    log_unit_ball = 0.5 * d * np.log(np.pi) - float(gammaln(0.5 * d + 1.0))
    return float(np.exp((np.log(COVERED) - np.log(max(n, 1)) - log_unit_ball) / d))


@dataclass(frozen=True)
class BallsModel:
    """C(x) = Phi(3 (distance to the nearest failure / radius - 1)): 0.5 on the balls' surface.

    That map is a convention, right only in that it grows with the distance.
    """

    failures: Array  # (n, d)

    doubt: ClassVar[float] = 0.0
    lapse: ClassVar[float] = 0.0
    is_sharp: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Array, feasible: Mask) -> BallsModel:
        """The balls of a history X (n, d) with labels (n,)."""
        return cls(X[~feasible])

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
        from scipy.spatial.distance import cdist  # late, as in surrogates/kernels.py

        none = np.zeros_like(X)
        if not len(self.failures):
            return np.full(len(X), STEEP), none[:, 0], none, none
        distances = cdist(X, self.failures)
        nearest = np.argmin(distances, axis=1)
        distance = distances[np.arange(len(X)), nearest]
        r = radius(*self.failures.shape)
        away = X - self.failures[nearest]
        du = STEEP * away / np.maximum(distance * r, 1e-300)[:, None]
        return STEEP * (distance / r - 1.0), none[:, 0], du, none

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C twice: the band has no width."""
        C = ndtr(self.score(X)[0])
        return C, C

    def believe(self, X: Array) -> BallsModel:
        """The same: a pending point has not failed."""
        del X
        return self
