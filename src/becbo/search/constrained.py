"""The default search: many candidates, a few refined together, repaired into the band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from becbo.arrays import Array, Indices, Mask
from becbo.search.ascent import ascend
from becbo.search.candidates import between, into_polytope, near, space_filling, spaced
from becbo.search.choice import ENUMERATE, TOLERANCE, choose
from becbo.search.goal import REFINED, Found, Goal, Hints
from becbo.search.mixed import best_neighbours
from becbo.search.region import Region

_START_GAP = 0.05  # between starts, in length scales
_REPAIR_POINTS = 12


@dataclass(frozen=True)
class BandSearch:
    """Maximise a(x) s.t. g(x) >= 0 by batched ascent on a(x) - w softplus(-g(x) / t).

    The gate is soft only while climbing. The choice among the results is hard: near the optimum
    log EI varies by thousands of nats, and any soft penalty would simply be outvoted.
    """

    n_space: int = 384
    n_near: int = 192
    n_between: int = 96
    n_starts: int = 6
    n_outside: int = 2  # starts that may lie outside the band
    n_kept: int = 20  # raw candidates that compete with the refined points
    stages: tuple[tuple[float, float, int], ...] = ((5.0, 0.3, 10), (20.0, 0.02, 20))  # w, t, steps
    lengths: tuple[float, ...] = (1.0,)  # of a step, all tried at once
    gap: float = np.inf  # how far a start may lag behind the best; see `ascend`

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The best point found."""
        X, origins = self.candidates(region, hints, rng)
        if not len(X):  # known constraints leave no room
            return choose(X, origins, goal, region, rng)
        a, g = goal.values(X)
        ranked = np.lexsort((np.where(g >= 0, -a, -g), g < 0))  # inside by a, then outside by g
        starts = self._starts(X, a, g, ranked, hints.scales)
        kept = ranked[region.is_new(X[ranked])][: self.n_kept]
        pool, names = [X[kept]], [origins[i] for i in kept]
        points, labels = X[starts], [origins[i] for i in starts]
        allowed_points = points
        for weight, softness, n_steps in self.stages:
            climb = gated(goal, weight, softness)
            points, _ = ascend(
                climb,
                points,
                region.free,
                n_steps,
                np.array(self.lengths),
                region.mixtures,
                self.gap,
            )
            if len(region.options):
                points = best_neighbours(region.snap(points), goal, region)
            points = allowed_points = repair(points, allowed_points, region.allowed)
            pool.append(points)
            names += [f"{label}{REFINED}" for label in labels]
        if len(hints.successes):
            best = np.repeat(hints.successes[:1], len(points), axis=0)
            pool.append(repair(points, best, lambda X: goal.values(X)[1] >= -TOLERANCE))
            names += [f"{label}{REFINED} and repaired" for label in labels]
        return choose(np.vstack(pool), names, goal, region, rng)

    def candidates(
        self, region: Region, hints: Hints, rng: np.random.Generator
    ) -> tuple[Array, list[str]]:
        """Allowed points (m, d) and where each came from."""
        everything = region.enumerate(ENUMERATE)
        if everything is not None:
            groups = {"all designs": everything}
        else:
            groups = {"space": space_filling(region, self.n_space, rng)}
            if len(hints.successes):
                close = region.snap(near(hints.successes, self.n_near, region, rng))
                groups["near the best"] = into_polytope(close, region, rng)
            if len(hints.successes) and len(hints.failures):
                groups["towards a failure"] = between(
                    hints.successes, hints.failures, self.n_between, rng
                )
        X = region.snap(np.vstack(list(groups.values())))
        origins = [name for name, points in groups.items() for _ in points]
        keep = region.allowed(X)
        return X[keep], [origin for origin, kept in zip(origins, keep, strict=True) if kept]

    def _starts(self, X: Array, a: Array, g: Array, ranked: Indices, scales: Array) -> list[int]:
        """Spaced best points inside the band, and some by the soft gate from anywhere."""
        inside = spaced(X, ranked, self.n_starts, _START_GAP, scales)
        weight, softness, _ = self.stages[0]
        soft = np.argsort(-(a - weight * np.logaddexp(0.0, -g / softness)), kind="stable")
        outside = spaced(X, soft, self.n_outside, _START_GAP, scales)
        return list(dict.fromkeys(inside + outside))


def gated(goal: Goal, weight: float, softness: float) -> Callable[[Array], tuple[Array, Array]]:
    """X -> a - weight * softplus(-g / softness) and its gradient."""

    def fun(X: Array) -> tuple[Array, Array]:
        a, g, da, dg = goal.values_grad(X)
        value = a - weight * np.logaddexp(0.0, -g / softness)
        pull = weight / softness * expit(-g / softness)
        return value, da + pull[:, None] * dg

    return fun


def repair(
    X: Array, anchors: Array, inside: Callable[[Array], Mask]
) -> Array:  # (m, d), (m, d) -> (m, d)
    """Points outside moved along the line to their anchors, to the last place inside."""
    X = X.copy()
    rows = np.flatnonzero(~inside(X))
    if not len(rows):
        return X
    origin, way = anchors[rows], X[rows] - anchors[rows]
    low, high = np.zeros(len(rows)), np.ones(len(rows))  # fractions of the way
    for _ in range(2):
        t = np.linspace(low, high, _REPAIR_POINTS + 1, axis=1)  # (m, k)
        path = origin[:, None, :] + t[:, :, None] * way[:, None, :]
        good = inside(path.reshape(-1, X.shape[1])).reshape(t.shape)
        last = np.where(good.any(axis=1), _REPAIR_POINTS - np.argmax(good[:, ::-1], axis=1), 0)
        index = np.arange(len(rows))
        low, high = t[index, last], t[index, np.minimum(last + 1, _REPAIR_POINTS)]
    X[rows] = origin + low[:, None] * way
    return X
