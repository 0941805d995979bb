"""The search of BoTorch's `optimize_acqf`, with which the paper maximises C(x) EI(x)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array, Indices
from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.goal import Found, Goal, Hints
from becbo.search.region import Region


@dataclass(frozen=True)
class RestartSearch:
    """Maximise a(x) by L-BFGS-B from some of many Sobol points, anywhere in the space.

    A bound g(x) >= 0, which the paper's products do not have, only decides which of the points
    that were seen is proposed.
    """

    n_raw: int = 512
    n_restarts: int = 10
    n_together: int = 5  # restarts that share one L-BFGS-B run: `batch_limit`
    max_iterations: int = 200
    unit: float | None = None  # of a(x); None: how much it varies over the space

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The best point found."""
        del hints  # the paper's search looks at the models only
        X = space_filling(region, self.n_raw, rng)
        if not len(X):  # known constraints leave no room
            return choose(X, [], goal, region, rng)
        a, _ = goal.values(X)
        spread = float(np.ptp(a)) or 1.0
        unit = self.unit or spread
        starts = X[drawn_starts(a / spread, self.n_restarts, rng)]
        groups = np.split(starts, range(self.n_together, len(starts), self.n_together))
        climbed = [self._climb(goal, group, region, unit) for group in groups]
        names = ["L-BFGS-B"] * len(starts) + ["raw sample"] * len(X)
        return choose(np.vstack([*climbed, X]), names, goal, region, rng)

    def _climb(self, goal: Goal, X: Array, region: Region, unit: float) -> Array:  # (k, d)
        """One run on the sum of a(x) / unit over all points X, which move independently.

        L-BFGS-B stops at absolute slopes: with a fixed unit, a user's choice of grams or tons
        counts.
        """
        from scipy.optimize import minimize  # late, as in surrogates/hyper.py

        free = region.free
        if not free.any():
            return X

        def at(z: Array) -> Array:  # (k * n_free,) -> (k, d)
            full = X.copy()
            full[:, free] = np.clip(z.reshape(len(X), -1), 0.0, 1.0)
            return full

        def loss(z: Array) -> tuple[float, Array]:
            a, _, da, _ = goal.values_grad(at(z))
            return -float((a / unit).sum()), -da[:, free].ravel() / unit

        z = X[:, free].ravel()
        options = {"maxiter": self.max_iterations}
        result = minimize(loss, z, jac=True, bounds=[(0.0, 1.0)] * len(z), options=options)
        return at(result.x) if np.all(np.isfinite(result.x)) else X


def drawn_starts(a: Array, n: int, rng: np.random.Generator) -> Indices:  # (m,) -> (n,)
    """BoTorch's `initialize_q_batch`: drawn by exp of the standardised values, the best always."""
    n = min(n, len(a))
    spread = a.std(ddof=1) if len(a) > 1 else 0.0  # as torch has it
    if not spread > 0:
        return rng.permutation(len(a))[:n]
    scaled = (a - a.mean()) / spread
    weights = np.exp(scaled - scaled.max())
    # Where few weights are above zero, the others are as good as each other.
    weights = np.maximum(weights, 1e-300)
    drawn = rng.choice(len(a), n, replace=False, p=weights / weights.sum())
    best = int(np.argmax(a))
    if best not in drawn:
        drawn[-1] = best
    return drawn
