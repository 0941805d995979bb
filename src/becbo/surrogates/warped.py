"""A Gaussian process of a warped value, and the chance that the value lies within bounds.

Measured limits often vary over orders of magnitude, while what counts is where they cross the
bound. The bilog warp sign(v) log(1 + |v| / s), with v the distance from the bound, is linear there
and logarithmic far away (Eriksson and Poloczek, AISTATS 2021). Neither the warp nor the plain value
is best everywhere; `evidence` compares them as densities of the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from becbo.arrays import Array
from becbo.surrogates.base import mills
from becbo.surrogates.gp import GPModel, negative_log_likelihood

_LOG_SURE = -1e-300
_TINY = 1e-300
_FAR = 1e50  # standard deviations from a bound: further makes no difference, and squares overflow
_NARROW = 1e-15  # the least share of a tail that lies within the bounds
_LOG_LARGEST = np.log(1e307)  # of a value that is predicted
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


@dataclass(frozen=True)
class Threshold:
    """The chance that a measured value lies within bounds, as a feasibility model."""

    model: WarpedModel
    low: float  # -inf: no lower bound
    high: float  # inf: no upper bound
    doubt: float = 0.0

    lapse: ClassVar[float] = 0.0  # what was measured is a fact
    is_sharp: ClassVar[bool] = True  # a value that is well known crosses its bound at once

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales."""
        return self.model.scales

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and half the width of the interval of C."""
        u = self._score(*self.model.inner.predict(X))[0]
        return u, (ndtr(u + 1) - ndtr(u - 1)) / 2

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        mean, std, dmean, dstd = self.model.inner.predict_grad(X)
        u, by_mean, by_std = self._score(mean, std)
        unit = std[:, None]
        du = by_mean[:, None] * (dmean / unit) + by_std[:, None] * (dstd / unit)
        up, down = (np.exp(-0.5 * (u + s) ** 2 - _LOG_SQRT_2PI) for s in (1, -1))
        return u, (ndtr(u + 1) - ndtr(u - 1)) / 2, du, ((up - down) / 2)[:, None] * du

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C if the score were one lower, or higher."""
        u, _ = self.score(X)
        return ndtr(u - 1), ndtr(u + 1)

    def believe(self, X: Array) -> Threshold:
        """The model after seeing its own median at pending points X."""
        return replace(self, model=self.model.believe(X))

    def _score(self, mean: Array, std: Array) -> tuple[Array, Array, Array]:  # (m,) each
        """Probit of P(low <= value <= high), and std * its derivatives by mean and std."""
        low, high = self.model.warp.forward(np.array([self.low, self.high]))
        with np.errstate(over="ignore"):  # infinitely many standard deviations are far as well
            a = np.clip((mean - low) / std, -_FAR, _FAR)
            b = np.clip((high - mean) / std, -_FAR, _FAR)
        if np.isinf(low):
            return b, -np.ones_like(b), -b
        if np.isinf(high):
            return a, np.ones_like(a), -a
        # P = Phi(near) - Phi(-far): in the tail that is not close to 1.
        near, far = np.minimum(a, b), np.maximum(a, b)
        log_near = log_ndtr(near)
        share = np.maximum(-np.expm1(log_ndtr(-far) - log_near), _NARROW)
        u = ndtri_exp(np.minimum(log_near + np.log(share), _LOG_SURE))
        # d log P = (phi(near) dnear + phi(far) dfar) / P, and du = d log P / mills(u).
        by_near = mills(near) / share / np.maximum(mills(u), _TINY)
        by_far = np.exp(-0.5 * (far - near) * (far + near)) * by_near
        return u, np.where(a < b, 1, -1) * (by_near - by_far), -(by_near * near + by_far * far)
