"""Points worth a look: space-filling, near the best, between successes and failures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from becbo.search.region import Array, Region

# Rounds of draws, and points in each, before rejection gives up on a tight constraint.
_PATIENCE, _MIN_DRAWS = 32, 256
_WALK_STEPS = 32  # hit-and-run moves from the centre to a point


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:  # (n, d)
    """Scrambled Sobol points."""
    from scipy.stats import qmc  # takes most of a second to import, so only when needed

    exponent = int(np.ceil(np.log2(max(n, 1))))
    return np.asarray(qmc.Sobol(d, rng=rng).random_base2(exponent)[:n])


def space_filling(region: Region, n: int, rng: np.random.Generator) -> Array:  # (<= n, dim)
    """Sobol points that can be set and satisfy the known constraints.

    Where the constraints leave too little for rejection, a random walk inside the linear ones
    makes up the rest; fewer points come back if even that is not enough.
    """
    found = np.empty((0, region.dim))
    for _ in range(_PATIENCE):
        X = region.snap(sobol(max(n, _MIN_DRAWS), region.dim, rng))
        found = np.vstack([found, X[region.allowed(X)]])
        if len(found) >= n:
            break
    if len(found) < n and len(region.polytope[0]):
        # Rounding to whole numbers may lead out of it again, hence twice as many.
        X = region.snap(walk_in_polytope(*region.polytope, 2 * n, rng))
        found = np.vstack([found, X[region.allowed(X)]])
    return found[:n]


def walk_in_polytope(A: Array, b: Array, n: int, rng: np.random.Generator) -> Array:  # (n, d)
    """Points of {A u <= b} in the unit cube by hit-and-run from its Chebyshev centre."""
    from scipy.optimize import linprog

    d = A.shape[1]
    A = np.vstack([A, np.eye(d), -np.eye(d)])
    b = np.concatenate([b, np.ones(d), np.zeros(d)])
    norms = np.linalg.norm(A, axis=1)
    centre = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([A, norms]),
        b_ub=b,
        bounds=[(None, None)] * d + [(0, None)],
    )
    if not centre.success:
        return np.empty((0, d))
    X = np.repeat(centre.x[None, :d], n, axis=0)
    for _ in range(_WALK_STEPS):  # all walks at once
        direction = rng.standard_normal((n, d))
        rate, room = direction @ A.T, np.maximum(b - X @ A.T, 0.0)
        limit = room / np.where(rate == 0, np.nan, rate)
        up = np.nanmin(np.where(rate > 0, limit, np.inf), axis=1)
        down = np.nanmax(np.where(rate < 0, limit, -np.inf), axis=1)
        X += rng.uniform(down, up)[:, None] * direction
    return np.asarray(np.clip(X, 0.0, 1.0))


def near(
    centres: Array, n: int, region: Region, rng: np.random.Generator
) -> Array:  # (k, d) -> (n, d)
    """Perturbations of some coordinates of the centres, on all length scales.

    In many dimensions most candidates move only a part of the coordinates: a random step in
    all of them at once hardly ever improves anything.
    """
    d = centres.shape[1]
    base = centres[rng.integers(len(centres), size=n)]
    steps = 10.0 ** rng.uniform(-3.5, -0.5, (n, 1)) * rng.standard_normal((n, d))
    keep = np.ones(n) if d <= 2 else np.full(n, min(1.0, max(20 / d, 0.3)))
    if d >= 5:
        keep = keep * rng.choice([0.3, 0.6, 1.0], n)
    mask = rng.random((n, d)) < keep[:, None]
    mask[np.arange(n), rng.integers(d, size=n)] = True  # never a copy of the centre
    return mutate_grids(np.clip(base + mask * steps, 0.0, 1.0), region, rng)


def mutate_grids(X: Array, region: Region, rng: np.random.Generator) -> Array:
    """X with, in half of the rows, one parameter of few values drawn anew.

    Small steps never change a grid or categorical column after rounding.
    """
    groups = [(columns, values) for columns, values in region.options if values is not None]
    if not groups:
        return X
    chosen = rng.integers(2 * len(groups), size=len(X))
    for index, (columns, values) in enumerate(groups):
        rows = np.flatnonzero(chosen == index)
        X[rows, columns] = values[rng.integers(len(values), size=len(rows))]
    return X


def between(
    successes: Array, failures: Array, n: int, rng: np.random.Generator
) -> Array:  # (k, d), (l, d) -> (n, d)
    """Points on the segments from successes to failures, where the edge must cross.

    Along such a segment every evaluation halves the uncertainty about the edge.
    """
    a = successes[rng.integers(len(successes), size=n)]
    b = failures[rng.integers(len(failures), size=n)]
    return np.asarray(a + rng.beta(2.0, 2.0, (n, 1)) * (b - a))


def spaced(
    X: Array, order: NDArray[np.intp], n: int, gap: float, scales: Array
) -> list[int]:  # indices
    """The first n points in `order` that keep a distance from each other."""
    Z = X / scales
    kept: list[int] = []
    for i in order:
        if all(np.linalg.norm(Z[i] - Z[j]) > gap for j in kept):
            kept.append(int(i))
            if len(kept) == n:
                break
    return kept
