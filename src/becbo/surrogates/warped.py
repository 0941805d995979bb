"""A Gaussian process of a warped value.

Measured limits often vary over orders of magnitude, while what counts is where they cross the
bound. The bilog warp sign(v) log(1 + |v| / s), with v the distance from the bound, is linear there
and logarithmic far away (Eriksson and Poloczek, AISTATS 2021). Neither the warp nor the plain value
is best everywhere; `evidence` compares them as densities of the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from becbo.arrays import Array
from becbo.surrogates.gp import GPModel, negative_log_likelihood

_LOG_LARGEST = np.log(1e307)  # of a value that is predicted


class Warp(Protocol):
    """An increasing function of the value."""

    def forward(self, y: Array) -> Array:
        """Warped values."""
        ...

    def restore(self, mean: Array, std: Array) -> tuple[Array, Array]:
        """A prediction of the value from one of the warped value."""
        ...

    def log_slope(self, y: Array) -> Array:
        """Logarithm of the derivative of `forward`."""
        ...


@dataclass(frozen=True)
class Plain:
    """The value as it is."""

    def forward(self, y: Array) -> Array:
        """The same values."""
        return y

    def restore(self, mean: Array, std: Array) -> tuple[Array, Array]:
        """The same prediction."""
        return mean, std

    def log_slope(self, y: Array) -> Array:
        """Zero."""
        return np.zeros_like(y)


@dataclass(frozen=True)
class Bilog:
    """sign(v) log(1 + |v| / scale) with v = y - centre."""

    centre: float
    scale: float

    def forward(self, y: Array) -> Array:
        """Warped values."""
        return np.asarray(np.sign(y - self.centre) * self._log_distance(y))

    def restore(self, mean: Array, std: Array) -> tuple[Array, Array]:
        """Median, and half the width of the one-sigma interval."""
        z = np.array([mean, mean - std, mean + std])
        size = np.abs(z)
        near = self.scale * np.expm1(np.minimum(size, 1.0))
        far = np.exp(np.minimum(size + np.log(self.scale), _LOG_LARGEST)) - self.scale
        middle, low, high = self.centre + np.sign(z) * np.where(size < 1.0, near, far)
        return middle, (high - low) / 2

    def log_slope(self, y: Array) -> Array:
        """Logarithm of the derivative of `forward`."""
        return np.asarray(-self._log_distance(y) - np.log(self.scale))

    def _log_distance(self, y: Array) -> Array:
        """log(1 + |v| / scale), by logarithms: the ratio may overflow."""
        with np.errstate(divide="ignore"):  # at the centre
            ratio = np.log(np.abs(y - self.centre)) - np.log(self.scale)
        return np.asarray(np.logaddexp(0.0, ratio))


def evidence(model: GPModel, warp: Warp, X: Array, y: Array) -> float:
    """Log density of the values y (n,) at X (n, d) under a model of the warped ones."""
    z = (warp.forward(y) - model.shift) / model.unit
    nll, _ = negative_log_likelihood(model.theta, X, z, model.kernel, model.nugget)
    return float(warp.log_slope(y).sum() - len(y) * np.log(model.unit) - nll)


@dataclass(frozen=True)
class WarpedModel:
    """A model of the value by one of the warped value; predictions in the units of the value."""

    inner: GPModel
    warp: Warp

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales."""
        return self.inner.scales

    def predict(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Mean and standard deviation, or what `Warp.restore` makes of them."""
        return self.warp.restore(*self.inner.predict(X))

    def believe(self, X: Array) -> WarpedModel:
        """The model after seeing its own median at pending points X."""
        return replace(self, inner=self.inner.believe(X))
