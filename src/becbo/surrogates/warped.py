"""A Gaussian process of a warped value, and the chance that the value lies within bounds.

Measured limits often vary over orders of magnitude, while what counts is where they cross the
bound. The bilog warp sign(v) log(1 + |v| / s), with v the distance from the bound, is linear there
and logarithmic far away (Eriksson and Poloczek, AISTATS 2021). Neither the warp nor the plain value
is best everywhere; `evidence` compares them as densities of the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from becbo.surrogates.base import Array, mills
from becbo.surrogates.gp import GPModel, negative_log_likelihood

_LOG_SURE = -1e-300
_MAX_LOG = 600.0  # beyond it values would overflow
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


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
        v = (y - self.centre) / self.scale
        return np.asarray(np.sign(v) * np.log1p(np.abs(v)))

    def restore(self, mean: Array, std: Array) -> tuple[Array, Array]:
        """Median, and half the width of the one-sigma interval."""
        z = np.array([mean, mean - std, mean + std])
        v = np.sign(z) * np.expm1(np.minimum(np.abs(z), _MAX_LOG))
        middle, low, high = self.centre + self.scale * v
        return middle, (high - low) / 2

    def log_slope(self, y: Array) -> Array:
        """Logarithm of the derivative of `forward`."""
        v = np.abs(y - self.centre) / self.scale
        return np.asarray(-np.log1p(v) - np.log(self.scale))


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


@dataclass(frozen=True)
class Threshold:
    """The chance that a measured value lies within bounds, as a feasibility model."""

    model: WarpedModel
    low: float  # -inf: no lower bound
    high: float  # inf: no upper bound
    doubt: float = 0.0

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales."""
        return self.model.scales

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and half the width of the band of C."""
        u = self._score(*self.model.inner.predict(X))[0]
        return u, (ndtr(u + 1) - ndtr(u - 1)) / 2

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        mean, std, dmean, dstd = self.model.inner.predict_grad(X)
        u, by_mean, by_std = self._score(mean, std)
        du = by_mean[:, None] * dmean + by_std[:, None] * dstd
        up, down = (np.exp(-0.5 * (u + s) ** 2 - _LOG_SQRT_2PI) for s in (1, -1))
        return u, (ndtr(u + 1) - ndtr(u - 1)) / 2, du, ((up - down) / 2)[:, None] * du

    def band(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C if the score were one lower, or higher."""
        u, _ = self.score(X)
        return ndtr(u - 1), ndtr(u + 1)

    def believe(self, X: Array) -> Threshold:
        """The model after seeing its own median at pending points X."""
        return replace(self, model=self.model.believe(X))

    def _score(self, mean: Array, std: Array) -> tuple[Array, Array, Array]:  # (m,) each
        """Probit of P(low <= value <= high), and its derivatives by mean and std."""
        low, high = self.model.warp.forward(np.array([self.low, self.high]))
        a, b = (mean - low) / std, (high - mean) / std
        if np.isinf(low):
            return b, -1 / std, -b / std
        if np.isinf(high):
            return a, 1 / std, -a / std
        # P = Phi(b) - Phi(-a), taken in the tail that is not close to 1.
        near, width = np.minimum(a, b), a + b
        far = width - near
        log_near = log_ndtr(near)
        rest = np.maximum(-np.expm1(log_ndtr(-far) - log_near), 1e-300)
        u = ndtri_exp(np.minimum(log_near + np.log(rest), _LOG_SURE))
        # d log P = (phi(a) da + phi(b) db) / P, and du = d log P / mills(u).
        by_near = mills(near) / rest
        by_far = by_near * np.exp(-0.5 * width * (far - near))
        by_a, by_b = np.where(a < b, (by_near, by_far), (by_far, by_near))
        norm = np.maximum(mills(u), 1e-300) * std
        return u, (by_a - by_b) / norm, -(by_a * a + by_b * b) / norm
