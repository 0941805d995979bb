"""Several Gaussian processes of the same designs, evaluated in one pass.

A search asks for all limits at a few points again and again. One by one, most of the time goes to
calls of small arrays. Distances are taken once per column, and scaled for all models together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array, Indices
from becbo.surrogates.gp import MIN_STD, GPModel
from becbo.surrogates.kernels import Kernel


@dataclass(frozen=True)
class Stacked:
    """The posteriors of k models with one kernel."""

    kernel: Kernel
    X: Array  # (n, d) the designs of all models
    precisions: Array  # (k, d) of the length scales: their squares' inverses
    W: Array  # (k, n, n) whiteners; zero for designs that a model has not seen
    weights: Array  # (k, n) zero for those too
    variance: Array  # (k, 1) of the kernels, in standardised units
    mean: Array  # (k, 1) of the priors
    shift: Array  # (k, 1)
    unit: Array  # (k, 1)

    def predict(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (k, m), (k, m)
        """Posterior means and standard deviations of the noise-free values."""
        k, _ = self._cross(X)
        mean, std = self._moments(k, k @ self.W.transpose(0, 2, 1))
        return self.shift + self.unit * mean, self.unit * std

    def predict_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Means (k, m), stds (k, m) and their input gradients (k, m, d), divided by the stds.

        Gradients of values of any magnitude would overflow.
        """
        k, dk = self._cross(X)
        V = k @ self.W.transpose(0, 2, 1)
        mean, std = self._moments(k, V)
        dmean = self._input_gradient(X, dk * self.weights[:, None]) / std[..., None]
        dstd = -self._input_gradient(X, dk * (V @ self.W)) / std[..., None] ** 2
        return self.shift + self.unit * mean, self.unit * std, dmean, dstd

    def _cross(self, X: Array) -> tuple[Array, Array]:  # (k, m, n) each
        """Covariances of the values at X and at the data, and their slopes d/dr2."""
        squares = (X.T[:, :, None] - self.X.T[:, None]) ** 2  # (d, m, n)
        r2 = self.precisions @ squares.reshape(len(squares), -1)
        k, dk = self.kernel(r2.reshape(-1, len(X), len(self.X)))
        k *= self.variance[..., None]
        dk *= self.variance[..., None]
        return k, dk

    def _moments(self, k: Array, V: Array) -> tuple[Array, Array]:  # (k, m, n) -> (k, m)
        """Means and standard deviations in standardised units."""
        variance = self.variance - np.einsum("kij,kij->ki", V, V)
        std = np.sqrt(np.maximum(variance, MIN_STD**2 * self.variance))
        return self.mean + (k @ self.weights[..., None])[..., 0], std

    def _input_gradient(self, X: Array, V: Array) -> Array:  # (k, m, n) -> (k, m, d)
        """sum_j V_ij dr2(x_i, x_j) / dx_i, as `kernels.input_gradient`."""
        towards = X * V.sum(axis=2)[..., None] - V @ self.X
        return np.asarray(2.0 * towards * self.precisions[:, None])


def stack(models: Sequence[GPModel]) -> Stacked:
    """Puts models together that are asked about the same points.

    Args:
        models: at least one, with the same kernel; their designs may differ.

    Returns:
        The models over all their designs.
    """
    X, rows = _union([model.X for model in models])
    k, n = len(models), len(X)
    W, weights = np.zeros((k, n, n)), np.zeros((k, n))
    for i, (model, own) in enumerate(zip(models, rows, strict=True)):
        W[i][np.ix_(own, own)] = model.W
        weights[i, own] = model.weights
    numbers = np.array([(m.variance, m.mean, m.shift, m.unit) for m in models])
    scales = np.array([model.scales for model in models])
    return Stacked(models[0].kernel, X, scales**-2.0, W, weights, *numbers.T[..., None])


def _union(parts: Sequence[Array]) -> tuple[Array, list[Indices]]:  # (n_i, d) -> (n, d), (n_i,)
    """Every design once, and for each part which of them it has."""
    first = parts[0]
    if all(np.array_equal(first, part) for part in parts[1:]):
        return first, [np.arange(len(first))] * len(parts)
    X, index = np.unique(np.vstack(parts), axis=0, return_inverse=True)
    return X, np.split(index.ravel(), np.cumsum([len(part) for part in parts])[:-1])
