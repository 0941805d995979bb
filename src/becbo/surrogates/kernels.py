"""Stationary kernels of scaled distances, and the three gradients the models need.

With r2 the squared distance after division by the length scales, a kernel here is a function
r2 -> (k, dk/dr2). All gradients follow from that pair by matrix products, so that no
(n, n, d) array is ever built.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from becbo.arrays import Array

Kernel = Callable[[Array], tuple[Array, Array]]


def matern52(r2: Array) -> tuple[Array, Array]:
    """Matern-5/2: (1 + sqrt5 r + 5/3 r^2) exp(-sqrt5 r)."""
    # In place: on large arrays every temporary costs as much as the arithmetic.
    s = np.sqrt(r2)
    s *= np.sqrt(5.0)
    decay = np.exp(-s)
    k = s * s
    k *= 1.0 / 3.0
    s += 1.0
    k += s
    k *= decay
    s *= decay
    s *= -5.0 / 6.0
    return k, s


def rbf(r2: Array) -> tuple[Array, Array]:
    """Squared exponential: exp(-r^2 / 2)."""
    k = np.exp(-0.5 * r2)
    return k, -0.5 * k


def squared_distance(A: Array, B: Array, scales: Array) -> Array:  # (m, d), (n, d) -> (m, n)
    """Squared distances in units of the length scales."""
    from scipy.spatial.distance import cdist  # late: a quarter of the package's import time

    return np.asarray(cdist(A / scales, B / scales, "sqeuclidean"))


def scale_gradient(X: Array, scales: Array, M: Array) -> Array:  # (n, d), (d,), (n, n) -> (d,)
    """sum_ij M_ij dr2_ij / dlog(scale_k), for symmetric M."""
    Z = X / scales
    # sum_ij M_ij (z_ik - z_jk)^2 without the (n, n, d) differences.
    squares = 2.0 * (M.sum(1) @ Z**2 - np.einsum("ik,ik->k", Z, M @ Z))
    return np.asarray(-2.0 * squares)


def input_gradient(A: Array, B: Array, scales: Array, V: Array) -> Array:  # V (m, n) -> (m, d)
    """sum_j V_ij dr2(a_i, b_j) / da_i."""
    return np.asarray(2.0 * (A * V.sum(1)[:, None] - V @ B) / scales**2)
