"""Points worth a look: space-filling, near the best, between successes and failures."""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array, Indices
from becbo.search.region import Region
from becbo.search.sobol import sobol

# Rounds of draws, and points in each, before rejection gives up on a tight constraint.
_PATIENCE, _MIN_DRAWS = 32, 256
_WALK_STEPS = 32  # hit-and-run moves from the centre to a point
_THIN = 0.1  # a slab narrower than this, in the unit cube
_SETTLE_STEPS = 32  # along the grids, after rounding
_SAME_EXCESS = 1e-6  # of a step: less is rounding noise
# Points of a mixture that are spread out, and how many compete for each of them.
_SPREAD, _CONTESTANTS = 32, 16
_SPARE = 1.5


def space_filling(region: Region, n: int, rng: np.random.Generator) -> Array:  # (<= n, dim)
    """Sobol points that can be set and satisfy the known constraints.

    The choices of a categorical come equally often. Where the constraints leave too little for
    rejection, and in mixtures, a random walk inside the linear ones makes up the rest; fewer points
    come back if even that is not enough.
    """
    if region.mixtures is not None:
        return _mixture_filling(region, n, rng)
    found = np.empty((0, region.dim))
    for _ in range(_PATIENCE):
        X = region.snap(_sobol_designs(region, max(n, _MIN_DRAWS), rng))
        found = np.vstack([found, X[region.allowed(X)]])
        if len(found) >= n:
            break
    if len(found) < n and len(region.polytope[0]):
        # Rounding to whole numbers may lead out of it for good, hence twice as many.
        X = into_polytope(region.snap(walk_in_polytope(*region.polytope, 2 * n, rng)), region, rng)
        found = np.vstack([found, X[region.allowed(X)]])
    return found[:n]


def _sobol_designs(region: Region, n: int, rng: np.random.Generator) -> Array:  # (n, dim)
    """Sobol points, in which the choices of each categorical come in random turns."""
    X = np.empty((n, region.dim))
    if (plain := region.is_plain).any():
        X[:, plain] = sobol(n, int(plain.sum()), rng)
    for columns, values in region.choices:
        X[:, columns] = values[_turns(len(values), n, rng)]
    return X


def _turns(n_choices: int, n: int, rng: np.random.Generator) -> Indices:  # (n,)
    """Which choice each of n designs has: all come once before any comes again."""
    rounds = np.tile(np.arange(n_choices), (n // n_choices + 1, 1))
    return np.asarray(rng.permuted(rounds, axis=1).ravel()[:n])


def _mixture_filling(region: Region, n: int, rng: np.random.Generator) -> Array:  # (<= n, dim)
    """Points of a mixture, the first of them spread out: each is the farthest of some.

    Mitchell, "Spectrally optimal sampling for distribution ray tracing", SIGGRAPH 1991. A Sobol
    sequence cannot be bent into the mixture without losing its evenness.
    """
    n_spread = min(n, _SPREAD)
    n_more = int(_SPARE * (n - n_spread))  # constraints and rounding exclude some
    which = np.append(np.repeat(np.arange(n_spread), _CONTESTANTS), n_spread + np.arange(n_more))
    X = walk_in_polytope(*region.polytope, len(which), rng)
    if not len(X):
        return X
    for columns, values in region.choices:
        X[:, columns] = values[_turns(len(values), n_spread + n_more, rng)[which]]
    plain = region.is_plain
    X = into_polytope(region.snap(X), region, rng)
    keep = region.allowed(X)
    X, which = X[keep], which[keep]
    found = X[:0]
    for i in range(n_spread):
        contestants = X[which == i]
        if len(contestants):
            best = _farthest(contestants[:, plain], found[:, plain])
            found = np.vstack([found, contestants[best]])
    return np.vstack([found, X[which >= n_spread]])[:n]


def _farthest(X: Array, others: Array) -> int:  # (m, d), (k, d)
    """The row whose nearest neighbour among others is farthest."""
    gaps = ((X[:, None] - others[None]) ** 2).sum(axis=2)
    return int(np.argmax(gaps.min(axis=1))) if len(others) else 0


def walk_in_polytope(A: Array, b: Array, n: int, rng: np.random.Generator) -> Array:  # (n, d)
    """Points of {A u <= b} in the unit cube by hit-and-run from its Chebyshev centre.

    In a thin slab, whose rows are opposite, moves are short unless they are parallel to it. Every
    second one is, then. A slab may be flat: an equation.
    """
    from scipy.linalg import null_space
    from scipy.optimize import linprog

    d = A.shape[1]
    A = np.vstack([A, np.eye(d), -np.eye(d)])
    b = np.concatenate([b, np.ones(d), np.zeros(d)])
    norms = np.linalg.norm(A, axis=1)
    is_opposite = (A[:, None] == -A).all(axis=2)
    widths = np.where(is_opposite, np.maximum(b[:, None] + b, 0.0), np.inf).min(axis=1)
    centre = linprog(
        np.append(np.zeros(d), -1.0),
        # From the faces of a thin slab the centre need not be further than half of its width.
        A_ub=np.column_stack([A, np.minimum(norms, widths)]),
        b_ub=b,
        bounds=[(None, None)] * d + [(0, None)],
    )
    if not centre.success:
        return np.empty((0, d))
    is_thin = widths < _THIN * norms
    parallel = null_space(A[is_thin], rcond=1e-13).T if is_thin.any() else np.empty((0, d))
    X = np.repeat(centre.x[None, :d], n, axis=0)
    for _ in range(_WALK_STEPS):  # all walks at once
        X = _hit_and_run(X, A, b, np.eye(d), rng)
        if len(parallel):
            X = _hit_and_run(X, A[~is_thin], b[~is_thin], parallel, rng)
    return np.asarray(np.clip(X, 0.0, 1.0))


def _hit_and_run(
    X: Array, A: Array, b: Array, basis: Array, rng: np.random.Generator
) -> Array:  # (n, d), (k, d) basis -> (n, d)
    """Points of {A u <= b} after a move along a random combination of the rows of `basis`."""
    direction = rng.standard_normal((len(X), len(basis))) @ basis
    rate, room = direction @ A.T, np.maximum(b - X @ A.T, 0.0)
    limit = room / np.where(rate == 0, np.nan, rate)
    up = np.nanmin(np.where(rate > 0, limit, np.inf), axis=1)
    down = np.nanmax(np.where(rate < 0, limit, -np.inf), axis=1)
    return np.asarray(X + rng.uniform(down, up)[:, None] * direction)


def into_polytope(X: Array, region: Region, rng: np.random.Generator) -> Array:  # (m, d) -> (m, d)
    """Settable points moved along their grids, step by step, until the linear constraints hold.

    Whole numbers that have to add up to a total hardly ever do so after rounding. Each step is
    drawn from those that lead closer; where none does, the point stays forbidden.
    """
    steps = 2 * region.rounded(np.zeros((1, region.dim)))[0]  # a grid begins with half a step
    A, b = region.polytope
    unit = np.abs(A * steps).max(axis=1)  # what the largest step changes
    unit[unit == 0] = np.inf  # steps change nothing: the row does not count
    A, b = A / unit[:, None], b / unit
    columns = np.flatnonzero((A * steps).any(axis=0))
    up = np.diag(steps)[columns]
    moves = np.vstack([up, -up])  # (k, d)
    X, rows = X.copy(), np.arange(len(X))
    for _ in range(_SETTLE_STEPS):
        excess = X[rows] @ A.T - b
        now = np.maximum(excess, 0.0).sum(axis=1, keepdims=True)
        then = np.maximum(excess[:, None] + moves @ A.T, 0.0).sum(axis=2)  # (m, k)
        at = X[np.ix_(rows, columns)]
        has_room = np.hstack([at + steps[columns] < 1.0, at - steps[columns] > 0.0])
        is_good = has_room & (then < now - _SAME_EXCESS)
        rows, is_good = rows[is_good.any(axis=1)], is_good[is_good.any(axis=1)]
        if not len(rows):
            break
        X[rows] += moves[np.argmax(is_good * rng.random(is_good.shape), axis=1)]
    return X


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


def spaced(X: Array, order: Indices, n: int, gap: float, scales: Array) -> list[int]:  # indices
    """The first n points in `order` that keep a distance from each other."""
    Z = X / scales
    kept: list[int] = []
    for i in order:
        if all(np.linalg.norm(Z[i] - Z[j]) > gap for j in kept):
            kept.append(int(i))
            if len(kept) == n:
                break
    return kept
