"""The chance that measured values lie within their bounds, as a factor of feasibility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from becbo.arrays import Array
from becbo.surrogates.base import mills, normal_pdf
from becbo.surrogates.product import joint, joint_grad
from becbo.surrogates.stacked import Stacked, stack
from becbo.surrogates.warped import WarpedModel

_LOG_SURE = -1e-300
_TINY = 1e-300
_FAR = 1e50  # standard deviations from a bound: further makes no difference, and squares overflow
_NARROW = 1e-15  # the least share of a tail that lies within the bounds


@dataclass(frozen=True)
class Threshold:
    """A measured value, and the bounds that it has to keep."""

    model: WarpedModel
    low: float  # -inf: no lower bound
    high: float  # inf: no upper bound

    @property
    def bounds(self) -> Array:  # (2,)
        """Lower and upper bound of the warped value."""
        return self.model.warp.forward(np.array([self.low, self.high]))


@dataclass(frozen=True)
class Thresholds:
    """The chance to keep all of several bounds, as a feasibility model."""

    parts: tuple[Threshold, ...]
    doubt: float = 0.0

    optimism: ClassVar[float] = 0.0
    lapse: ClassVar[float] = 0.0  # what was measured is a fact
    is_sharp: ClassVar[bool] = True  # a value that is well known crosses its bound at once

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales of the first value."""
        return self.parts[0].model.scales

    def scores(self, X: Array) -> Array:  # (m, d) -> (k, m)
        """The score u of each bound."""
        return bound_scores(*self._stacked.predict(X), *self._bounds)[0]

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and half the width of the interval of C."""
        U = self.scores(X)
        return joint(U, _half_width(U))

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        mean, std, dmean, dstd = self._stacked.predict_grad(X)
        U, by_mean, by_std = bound_scores(mean, std, *self._bounds)
        dU = by_mean[..., None] * dmean + by_std[..., None] * dstd
        slope = (normal_pdf(U + 1) - normal_pdf(U - 1)) / 2
        return joint_grad(U, _half_width(U), dU, slope[..., None] * dU)

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C if every score were one lower, or higher."""
        U = self.scores(X)
        return ndtr(U - 1).prod(axis=0), ndtr(U + 1).prod(axis=0)

    def believe(self, X: Array) -> Thresholds:
        """The model after seeing its own medians at pending points X."""
        parts = tuple(replace(part, model=part.model.believe(X)) for part in self.parts)
        return replace(self, parts=parts)

    @cached_property
    def _stacked(self) -> Stacked:
        return stack([part.model.inner for part in self.parts])

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:  # (k, 1), (k, 1)
        low, high = np.array([part.bounds for part in self.parts]).T
        return low[:, None], high[:, None]


def bound_scores(
    mean: Array, std: Array, low: Array, high: Array
) -> tuple[Array, Array, Array]:  # (k, m), (k, m), (k, 1), (k, 1) -> (k, m)
    """Probits of P(low <= value <= high), and std * their derivatives by mean and std."""
    with np.errstate(over="ignore"):  # infinitely many standard deviations are far as well
        a = np.clip((mean - low) / std, -_FAR, _FAR)
        b = np.clip((high - mean) / std, -_FAR, _FAR)
    is_upper = np.isinf(low)
    u = np.where(is_upper, b, a)
    by_mean, by_std = np.broadcast_to(np.where(is_upper, -1.0, 1.0), u.shape), -u
    window = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if len(window):
        by_mean = by_mean.copy()
        u[window], by_mean[window], by_std[window] = _window_scores(a[window], b[window])
    return u, by_mean, by_std


def _window_scores(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The same of windows, whose bounds are a below the mean and b above it, in stds."""
    # P = Phi(near) - Phi(-far): in the tail that is not close to 1.
    near, far = np.minimum(a, b), np.maximum(a, b)
    log_near = log_ndtr(near)
    share = np.maximum(-np.expm1(log_ndtr(-far) - log_near), _NARROW)
    u = ndtri_exp(np.minimum(log_near + np.log(share), _LOG_SURE))
    # d log P = (phi(near) dnear + phi(far) dfar) / P, and du = d log P / mills(u).
    by_near = mills(near) / share / np.maximum(mills(u), _TINY)
    by_far = np.exp(-0.5 * (far - near) * (far + near)) * by_near
    return u, np.where(a < b, 1, -1) * (by_near - by_far), -(by_near * near + by_far * far)


def _half_width(U: Array) -> Array:
    """Half the width of the interval of C."""
    return np.asarray((ndtr(U + 1) - ndtr(U - 1)) / 2)
