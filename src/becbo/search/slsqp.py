"""The paper's search: starts pulled to C = 0.5 by Adam, then SLSQP from each (appendix A.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count

import numpy as np

from becbo.arrays import Array
from becbo.search.candidates import space_filling
from becbo.search.choice import REPEAT, choose
from becbo.search.goal import Found, Goal, Hints
from becbo.search.region import Region

_BETAS, _EPS = (0.9, 0.999), 1e-8  # of Adam
_GAIN = 1e-4  # of the mean squared distance: less counts as none


@dataclass(frozen=True)
class SlsqpSearch:
    """Maximise a(x) s.t. g(x) >= 0 as the paper describes and the released code details.

    From Sobol points the ones nearest to the edge and the ones with the best acquisition are
    pulled to the edge by Adam on the squared distance, and those that then satisfy the bound
    start SLSQP. Rounds with new points follow until there are enough starts.
    """

    n_space: int = 1000
    n_edge: int = 5
    n_best: int = 5
    pull_rate: float = 1e-2
    pull_enough: float = 0.02  # mean squared distance at which the pull ends
    pull_patience: int = 10  # steps that gain less than `_GAIN`, in all; one more ends the pull
    n_starts: int = 10  # in the band; the first of them are taken
    n_empty: int = 5  # rounds in a row without a start: those that were found have to do
    max_iterations: int = 200
    unit: float | None = None  # of a(x); None: how much it varies over the space

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The best point found; a random one, and a note, if no start satisfies the bound."""
        del hints  # the paper's search looks at the models only
        starts, unit, n_empty = np.empty((0, len(region.free))), 1.0, 0
        while len(starts) < self.n_starts and n_empty < self.n_empty:
            more, unit = self._starts(goal, region, rng)
            starts = np.vstack([starts, more])[: self.n_starts]
            n_empty = 0 if len(more) else n_empty + 1
        if len(starts):
            results = np.array([self._climb(goal, x, region, unit) for x in starts])
            names = ["SLSQP"] * len(results) + ["start"] * len(starts)
            return choose(np.vstack([results, starts]), names, goal, region, rng)
        point = space_filling(region, 1, rng)
        found = choose(point, ["random"], goal, region, rng)
        note = f"no start met the bound in {self.n_empty} rounds: a random point"
        return found if found.winner == REPEAT else replace(found, fallback=note)

    def _starts(
        self, goal: Goal, region: Region, rng: np.random.Generator
    ) -> tuple[Array, float]:  # (k, d)
        """Points at the edge that meet the bound, and the unit of a(x)."""
        X = space_filling(region, self.n_space, rng)
        if not len(X):  # known constraints leave no room
            return X, 1.0
        a, _ = goal.values(X)
        nearest = np.argsort(np.abs(goal.boundary(X)[0]), kind="stable")[: self.n_edge]
        best = np.argsort(-a, kind="stable")[: self.n_best]
        pulled = self._pull(goal, X[np.concatenate([nearest, best])], region)
        unit = self.unit or float(np.ptp(a)) or 1.0
        return pulled[goal.values(pulled)[1] >= 0], unit

    def _pull(self, goal: Goal, X: Array, region: Region) -> Array:
        """X moved towards C(x) = 0.5 by Adam on the mean squared error."""
        m, v, lowest, n_stalls = np.zeros_like(X), np.zeros_like(X), np.inf, 0
        for t in count(1):
            gap, gradient = goal.boundary(X)
            step = 2.0 * gap[:, None] * gradient / len(X) * region.free
            m = _BETAS[0] * m + (1 - _BETAS[0]) * step
            v = _BETAS[1] * v + (1 - _BETAS[1]) * step**2
            scale = np.sqrt(v / (1 - _BETAS[1] ** t)) + _EPS
            X = np.clip(X - self.pull_rate * m / (1 - _BETAS[0] ** t) / scale, 0.0, 1.0)
            X = X if region.mixtures is None else region.mixtures.project(X)
            loss = float(np.mean(gap**2))  # before the step, as in the released code
            if loss < lowest - _GAIN:
                lowest = loss
            else:
                n_stalls += 1
            if loss < self.pull_enough or n_stalls > self.pull_patience:
                break
        return X

    def _climb(self, goal: Goal, x: Array, region: Region, unit: float) -> Array:
        """One SLSQP run on a(x) / unit over the free columns, from x (d,).

        SLSQP stops at absolute changes: with a fixed unit, a user's choice of grams or tons counts.
        """
        from scipy.optimize import minimize  # late, as in surrogates/hyper.py

        free = region.free
        if not free.any():
            return x

        def at(z: Array) -> Array:  # (k,) -> (1, d)
            full = x.copy()
            full[free] = np.clip(z, 0.0, 1.0)
            return full[None]

        @lru_cache(maxsize=1)  # SLSQP asks for the value and for the bound separately
        def evaluate(key: bytes) -> tuple[float, float, Array, Array]:
            a, g, da, dg = goal.values_grad(at(np.frombuffer(key)))
            return -float(a[0]) / unit, float(g[0]), -da[0, free] / unit, dg[0, free]

        bound = {
            "type": "ineq",
            "fun": lambda z: evaluate(z.tobytes())[1],
            "jac": lambda z: evaluate(z.tobytes())[3],
        }
        constraints = [bound]
        if region.mixtures is not None:
            normals = region.mixtures.normals(x[None])[0][:, free]
            constraints.append({"type": "eq", "fun": lambda z: normals @ (z - x[free])})
        result = minimize(
            lambda z: evaluate(z.tobytes())[0],
            x[free],
            jac=lambda z: evaluate(z.tobytes())[2],
            method="SLSQP",
            bounds=[(0.0, 1.0)] * int(free.sum()),
            constraints=constraints,
            options={"maxiter": self.max_iterations},
        )
        return at(result.x)[0] if np.all(np.isfinite(result.x)) else x
