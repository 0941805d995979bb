"""Cholesky factors and triangular solves, without the checks of the general routines."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dtrtri

from becbo.arrays import Array
from becbo.errors import BecboError

_FIRST_JITTER, _JITTER_FACTOR, _N_JITTERS = 1e-10, 100.0, 6


def cholesky(K: Array) -> Array:  # (n, n) -> (n, n) lower
    """Lower factor of K, with as little jitter on the diagonal as it takes."""
    jitter = 0.0
    for _ in range(_N_JITTERS + 1):
        noisy = K + jitter * np.mean(np.diagonal(K)) * np.eye(len(K)) if jitter else K
        L, info = dpotrf(noisy, lower=1, clean=1)
        if info == 0:
            return np.asarray(L)
        jitter = jitter * _JITTER_FACTOR or _FIRST_JITTER
    raise BecboError(f"a {K.shape} covariance is not positive definite; please report the data")


def forward(L: Array, B: Array) -> Array:  # (n, n), (n, m) -> (n, m)
    """L^-1 B."""
    return np.asarray(dtrsm(1.0, L, B, lower=1))


def backward(L: Array, B: Array) -> Array:  # (n, n), (n, m) -> (n, m)
    """L^-T B."""
    return np.asarray(dtrsm(1.0, L, B, lower=1, trans_a=1))


def inverse(L: Array) -> Array:  # (n, n) -> (n, n)
    """(L L^T)^-1, symmetric; above its diagonal, L holds zeros."""
    half, _ = dpotri(L, lower=1)
    full = half + half.T
    full.flat[:: len(L) + 1] = np.diagonal(half)
    return np.asarray(full)


def whitener(L: Array) -> Array:  # (n, n) -> (n, n)
    """L^-1. Models keep it because products with it are twice as fast as triangular solves."""
    out, _ = dtrtri(L, lower=1)
    return np.ascontiguousarray(out)


def extend(W: Array, cross: Array, block: Array) -> Array:  # -> (n + p, n + p)
    """Whitener of [[A, cross], [cross^T, block]] from that of A; cross (n, p), block (p, p)."""
    n, p = cross.shape
    V = W @ cross
    corner = whitener(cholesky(block - V.T @ V))
    out = np.zeros((n + p, n + p))
    out[:n, :n] = W
    out[n:, :n] = -corner @ V.T @ W
    out[n:, n:] = corner
    return out
