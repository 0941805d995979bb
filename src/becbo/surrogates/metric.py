"""How far apart two designs are: length scales and, for each input, a learned scale.

Many quantities act by ratios: twice the thickness matters, not one millimetre more. The map
z = log(1 + (e^c - 1) x) / c takes the unit interval onto itself; c = 0 is the linear scale, c > 0 a
logarithmic one on which the upper end is e^c times the lower, c < 0 its mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from becbo.surrogates.base import Array
from becbo.surrogates.hyper import Range
from becbo.surrogates.kernels import (
    input_gradient,
    motion_gradient,
    scale_gradient,
    squared_distance,
)

_LINEAR = 1e-12  # shapes nearer to 0 count as this, which avoids 0 / 0
_SERIES = 1e-3  # shapes nearer to 0 have a dz / dc that is taken from its series


@dataclass(frozen=True)
class Metric:
    """Distances between designs, given as the part of the hyperparameters they depend on."""

    scales: Array  # (d,)
    shape: Array  # (d,) the c of each input, or (0,): inputs as they are

    @classmethod
    def of(cls, theta: Array, d: int) -> Metric:
        """From log length scales, d or one for all, followed by d shapes or none."""
        shape = theta[d:] if len(theta) == 2 * d else theta[:0]
        scales = np.exp(theta[: len(theta) - len(shape)])
        return cls(np.broadcast_to(scales, (d,)), shape)

    def warped(self, X: Array) -> Array:  # (m, d) -> (m, d)
        """The inputs on their learned scales."""
        return warp(X, self.shape) if self.shape.size else X

    def squared_distance(self, Z: Array, W: Array) -> Array:  # (m, d), (n, d) -> (m, n)
        """Of warped inputs, in units of the length scales."""
        return squared_distance(Z, W, self.scales)

    def input_gradient(self, X: Array, Z: Array, V: Array) -> Array:  # (m, d), (n, d), (m, n)
        """sum_j V_ij dr2_ij / dx_i (m, d), for inputs X and warped ones Z."""
        gradient = input_gradient(self.warped(X), Z, self.scales, V)
        return gradient * warp_slope(X, self.shape) if self.shape.size else gradient

    def theta_gradient(self, X: Array, M: Array) -> Array:  # (n, d), (n, n) -> (d,) or (2 d,)
        """sum_ij M_ij dr2_ij / dtheta, for symmetric M."""
        Z = self.warped(X)
        by_scale = scale_gradient(Z, self.scales, M)
        if not self.shape.size:
            return by_scale
        motion = warp_by_shape(X, self.shape) / self.scales
        return np.concatenate([by_scale, motion_gradient(Z / self.scales, motion, M)])


def metric_ranges(lengthscale: Range, warp: Range | None, d: int) -> list[Range]:
    """Ranges of the hyperparameters of a metric; `warp` is that of e^c in one dimension, or None.

    The spread of the shapes shrinks with sqrt(d): all of them together warp as much as one would.
    """
    if warp is None:
        return [lengthscale] * d
    return [lengthscale] * d + [replace(warp, spread=warp.spread / np.sqrt(d))] * d


def warp(X: Array, shape: Array) -> Array:  # (m, d), (d,) -> (m, d)
    """z."""
    c = _not_zero(shape)
    return np.asarray(np.log1p(np.expm1(c) * X) / c)


def warp_slope(X: Array, shape: Array) -> Array:  # (m, d)
    """dz / dx."""
    c = _not_zero(shape)
    return np.asarray(np.expm1(c) / (c * (1.0 + np.expm1(c) * X)))


def warp_by_shape(X: Array, shape: Array) -> Array:  # (m, d)
    """dz / dc."""
    c = _not_zero(shape)
    exact = (np.exp(c) * X / (1.0 + np.expm1(c) * X) - warp(X, shape)) / c
    spread = X * (1.0 - X)
    series = spread * (1 / 2 + shape * (1.0 - 2.0 * X) / 3)
    return np.where(np.abs(shape) < _SERIES, series, exact)


def _not_zero(shape: Array) -> Array:
    return np.where(np.abs(shape) < _LINEAR, _LINEAR, shape)
