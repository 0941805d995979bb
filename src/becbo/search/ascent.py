"""Projected BFGS ascent in the unit cube from many starts at once.

A start is a row. All rows are evaluated in one call per step, which is what makes it fast: a
model answers for ten points almost as quickly as for one. SciPy's L-BFGS-B runs the rows one after
the other (measured: 3.4 times slower with 8 rows and at most 30 steps at n = 100, d = 4, and its
best row a median of 1.3 nats of log EI lower).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from becbo.arrays import Array, Mask
from becbo.search.region import Mixtures

_FIRST_MOVE, _MAX_MOVE = 0.05, 0.25  # largest change of a coordinate in one step
_ARMIJO = 1e-4
_BACKTRACK = 0.3
_MIN_STEP = 1e-4  # below this the curvature is wrong: start again from the gradient
_SMALL_GAIN = 1e-7  # a row that gains less than this twice in a row is finished
_MAX_STALLS = 2

_ONE = np.ones(1)

Function = Callable[[Array], tuple[Array, Array]]  # (m, d) -> (m,), (m, d)


def ascend(
    fun: Function,
    X: Array,
    free: Mask,
    n_steps: int,
    lengths: Array = _ONE,
    mixtures: Mixtures | None = None,
    gap: float = np.inf,
) -> tuple[Array, Array]:  # (m, d), (d,), (l,) -> (m, d), (m,)
    """Climbs from many points at once.

    Args:
        fun: what to maximise, with its gradient.
        X: where to start (m, d).
        free: columns that may change (d,).
        n_steps: at most so many steps.
        lengths: of a step, decreasing (l,). All are tried at once and the best is taken: in a
            narrow valley every second step would be too long otherwise.
        mixtures: columns that add up, and go on doing so.
        gap: a point that is further below the best when all steps are done is given up, and
            earlier if it lags behind by more: twice the gap after half of the steps.

    Returns:
        The improved points (m, d) and their values (m,).
    """
    m, d = X.shape
    X = X.copy()
    f, G = fun(X)
    H = np.broadcast_to(np.eye(d), (m, d, d)).copy()
    step, stalls, is_first = np.ones(m), np.zeros(m, dtype=int), np.ones(m, dtype=bool)
    for i in range(1, n_steps + 1):
        least = f.max(initial=-np.inf) - gap * n_steps / i
        rows = np.flatnonzero((stalls < _MAX_STALLS) & (f >= least))
        if not len(rows):
            break
        P = _direction(X[rows], G[rows], H[rows], free, is_first[rows], mixtures)
        new, f_new, G_new = _best_length(fun, X[rows], step[rows, None] * P, lengths, mixtures)
        move = new - X[rows]
        promised = np.einsum("ij,ij->i", G[rows], move)
        accepted = f_new >= f[rows] + _ARMIJO * promised
        gain = np.where(accepted, f_new - f[rows], 0.0)
        shorter = step[rows] * lengths[-1] * _BACKTRACK
        restarted = ~accepted & (shorter < _MIN_STEP)
        is_small = accepted & (gain <= _SMALL_GAIN * (1.0 + np.abs(f_new)))
        stalls[rows] = np.where(accepted & ~is_small, 0, stalls[rows] + (is_small | restarted))
        step[rows] = np.where(accepted | restarted, 1.0, shorter)
        H[rows[restarted]] = np.eye(d)
        is_first[rows[restarted]] = True
        done = rows[accepted]
        H[done] = _bfgs(H[done], move[accepted], (G[rows] - G_new)[accepted], is_first[done])
        is_first[done] = False
        X[done], f[done], G[done] = new[accepted], f_new[accepted], G_new[accepted]
    return X, f


def _best_length(
    fun: Function, X: Array, P: Array, lengths: Array, mixtures: Mixtures | None
) -> tuple[Array, Array, Array]:  # (m, d), (m, d), (l,) -> (m, d), (m,), (m, d)
    """The best of the points X + length * P in the unit cube, with value and gradient."""
    m, d = X.shape
    tried = np.clip(X[:, None] + lengths[:, None] * P[:, None], 0.0, 1.0)  # (m, l, d)
    if mixtures is not None:
        tried = mixtures.project(tried.reshape(-1, d)).reshape(tried.shape)
    f, G = fun(tried.reshape(-1, d))
    best = np.arange(m), np.argmax(f.reshape(m, -1), axis=1)
    return tried[best], f.reshape(m, -1)[best], G.reshape(tried.shape)[best]


def _direction(
    X: Array, G: Array, H: Array, free: Mask, is_first: Mask, mixtures: Mixtures | None
) -> Array:  # (m, d)
    """Quasi-Newton direction that leaves no bound and moves no coordinate too far."""
    blocked = np.broadcast_to(~free, X.shape)
    if mixtures is not None:
        normals = mixtures.normals(X)
        G = _along(G, normals, blocked)
    blocked = blocked | ((X <= 0.0) & (G < 0)) | ((X >= 1.0) & (G > 0))
    G = np.where(blocked, 0.0, G)
    if mixtures is not None:
        G = _along(G, normals, blocked)
    P = np.where(blocked, 0.0, np.einsum("mij,mj->mi", H, G))
    if mixtures is not None:
        P = _along(P, normals, blocked)
    uphill = np.einsum("ij,ij->i", P, G) > 0
    P = np.where(uphill[:, None], P, G)
    cap = np.where(is_first, _FIRST_MOVE, _MAX_MOVE)
    shrink = np.minimum(1.0, cap / np.maximum(np.abs(P).max(axis=1), 1e-300))
    return np.asarray(P * shrink[:, None])


def _along(V: Array, normals: Array, blocked: Mask) -> Array:  # (m, d), (m, q, d), (m, d)
    """The part of vectors that changes no sum and nothing that is blocked."""
    N = np.where(blocked[:, None], 0.0, normals)
    gram = N @ N.transpose(0, 2, 1)
    ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-300  # all are blocked
    share = np.linalg.solve(
        gram + ridge * np.eye(gram.shape[1]), np.einsum("mqd,md->mq", N, V)[:, :, None]
    )
    return np.asarray(np.where(blocked, 0.0, V - np.einsum("mqd,mq->md", N, share[:, :, 0])))


def _bfgs(H: Array, s: Array, y: Array, is_first: Mask) -> Array:  # (m, d, d)
    """Inverse Hessians of the negated function after steps s with gradient changes y (m, d).

    Nocedal and Wright, "Numerical Optimization", 2006, eq. 6.17 and, for the first step, 6.20.
    """
    sy = np.einsum("ij,ij->i", s, y)
    yy = np.einsum("ij,ij->i", y, y)
    is_curved = sy > 1e-12 * np.maximum(yy, 1e-300)
    rho = np.where(is_curved, 1.0 / np.where(is_curved, sy, 1.0), 0.0)
    first_scale = np.where(is_first & is_curved, sy / np.maximum(yy, 1e-300), 1.0)
    H = H * first_scale[:, None, None]
    Hy = np.einsum("mij,mj->mi", H, y)
    yHy = np.einsum("ij,ij->i", y, Hy)
    cross = s[:, :, None] * Hy[:, None, :]
    factor = rho * (1.0 + rho * yHy)
    return np.asarray(
        H
        - rho[:, None, None] * (cross + cross.transpose(0, 2, 1))
        + factor[:, None, None] * s[:, :, None] * s[:, None, :]
    )
