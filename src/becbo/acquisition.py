"""How much a design promises: EI, log EI, UCB, and the chance to work, with gradients.

Every acquisition is a frozen object with `values(X)` (m,) and `values_grad(X)` (m,), (m, d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from becbo.surrogates.base import Array, FeasibilityModel, Regressor, mills, normal_pdf

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_SERIES_BELOW = -1e3  # where 1 + z M(z) has lost too many digits to cancellation


class Acquisition(Protocol):
    """What a search maximises."""

    def values(self, X: Array) -> Array:  # (m, d) -> (m,)
        """Acquisition values."""
        ...

    def values_grad(self, X: Array) -> tuple[Array, Array]:  # (m,), (m, d)
        """Acquisition values and their input gradients."""
        ...


def expected_improvement(mean: Array, std: Array, best: float) -> tuple[Array, Array, Array]:
    """EI = std * (phi(z) + z Phi(z)), z = (mean - best) / std, and d/dmean, d/dstd (m,)."""
    z = (mean - best) / std
    pdf, cdf = normal_pdf(z), ndtr(z)
    return std * np.maximum(pdf + z * cdf, 0.0), cdf, pdf


def log_expected_improvement(mean: Array, std: Array, best: float) -> tuple[Array, Array, Array]:
    """Logarithm of EI, and std * d/dmean, std * d/dstd of it (m,), finite for any z.

    Ament et al., "Unexpected improvements to expected improvement", 2023. With the ratio
    M(z) = Phi(z) / phi(z), EI / std = phi(z) (1 + z M(z)), and the derivatives of log EI are
    M / (1 + z M) / std and 1 / (1 + z M) / std. They come without the division, which overflows
    for values around 1e-300.
    """
    z = (mean - best) / std
    below = np.minimum(z, 0.0)  # M overflows for large positive z, where the plain form is exact
    ratio = np.sqrt(np.pi / 2) * erfcx(-below / np.sqrt(2))
    inverse_square = 1.0 / np.minimum(below, _SERIES_BELOW) ** 2
    head = np.where(
        below < _SERIES_BELOW, inverse_square * (1 - 3 * inverse_square), 1 + below * ratio
    )
    pdf, cdf = normal_pdf(np.maximum(z, 0.0)), ndtr(z)
    plain = pdf + np.maximum(z, 0.0) * cdf
    is_below = z < 0
    log_h = np.where(is_below, np.log(head) - 0.5 * below**2 - _LOG_SQRT_2PI, np.log(plain))
    by_mean = np.where(is_below, ratio / head, cdf / plain)
    by_std = np.where(is_below, 1.0 / head, pdf / plain)
    return np.log(std) + log_h, by_mean, by_std


@dataclass(frozen=True)
class ExpectedImprovement:
    """E[max(0, f(x) - best)]."""

    regressor: Regressor
    best: float

    def values(self, X: Array) -> Array:
        """EI (m,)."""
        return expected_improvement(*self.regressor.predict(X), self.best)[0]

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """EI (m,) and its gradient (m, d)."""
        mean, std, dmean, dstd = self.regressor.predict_grad(X)
        value, by_mean, by_std = expected_improvement(mean, std, self.best)
        return value, by_mean[:, None] * dmean + by_std[:, None] * dstd


@dataclass(frozen=True)
class LogExpectedImprovement:
    """log E[max(0, f(x) - best)]: same maximiser as EI, with a slope everywhere."""

    regressor: Regressor
    best: float

    def values(self, X: Array) -> Array:
        """Log EI (m,)."""
        return log_expected_improvement(*self.regressor.predict(X), self.best)[0]

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """Log EI (m,) and its gradient (m, d)."""
        mean, std, dmean, dstd = self.regressor.predict_grad(X)
        value, by_mean, by_std = log_expected_improvement(mean, std, self.best)
        unit = std[:, None]
        return value, by_mean[:, None] * (dmean / unit) + by_std[:, None] * (dstd / unit)


@dataclass(frozen=True)
class UpperConfidenceBound:
    """mean + sqrt(beta) * std; the paper's ablation uses beta = 0.1."""

    regressor: Regressor
    best: float  # not used; the acquisitions of a value share one signature
    beta: float = 0.1

    def values(self, X: Array) -> Array:
        """UCB (m,)."""
        mean, std = self.regressor.predict(X)
        return np.asarray(mean + np.sqrt(self.beta) * std)

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """UCB (m,) and its gradient (m, d)."""
        mean, std, dmean, dstd = self.regressor.predict_grad(X)
        return mean + np.sqrt(self.beta) * std, dmean + np.sqrt(self.beta) * dstd


@dataclass(frozen=True)
class Weighted:
    """log(C(x) q(x)) for an acquisition that is log q(x): CEI, and the paper's BE-CBO-M."""

    log_acquisition: Acquisition
    model: FeasibilityModel

    def values(self, X: Array) -> Array:
        """Log acquisition plus log probability of working (m,)."""
        return self.log_acquisition.values(X) + LogFeasibility(self.model).values(X)

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """The same (m,) and its gradient (m, d)."""
        q, dq = self.log_acquisition.values_grad(X)
        c, dc = LogFeasibility(self.model).values_grad(X)
        return q + c, dq + dc


@dataclass(frozen=True)
class LogFeasibility:
    """log C(x): what to maximise while no design has worked yet."""

    model: FeasibilityModel

    def values(self, X: Array) -> Array:
        """Log probability of working (m,)."""
        return np.asarray(log_ndtr(self.model.score(X)[0]))

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """Log probability of working (m,) and its gradient (m, d)."""
        u, _, du, _ = self.model.score_grad(X)
        return np.asarray(log_ndtr(u)), mills(u)[:, None] * du
