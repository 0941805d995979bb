"""How much a design promises: EI, log EI, EHVI, UCB, and the chance to work, with gradients.

Every acquisition is a frozen object with `values(X)` (m,) and `values_grad(X)` (m,), (m, d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import erfcx, log_ndtr, logsumexp, ndtr

from becbo.arrays import Array
from becbo.surrogates.base import FeasibilityModel, Regressor, mills, normal_pdf

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_TINY = 1e-300
_FAR = 1e100  # standard deviations: further makes no difference
_SMALL_STEP = 1e-3  # below it a second difference loses digits to cancellation
_SERIES_BELOW = -1e3  # where 1 + z M(z) has lost too many digits to cancellation


class Acquisition(Protocol):
    """What a search maximises."""

    def values(self, X: Array) -> Array:  # (m, d) -> (m,)
        """Acquisition values."""
        ...

    def values_grad(self, X: Array) -> tuple[Array, Array]:  # (m,), (m, d)
        """Acquisition values and their input gradients."""
        ...


def expected_improvement(
    mean: Array, std: Array, best: float | Array
) -> tuple[Array, Array, Array]:
    """EI = std * (phi(z) + z Phi(z)), z = (mean - best) / std, and d/dmean, d/dstd (m,)."""
    z = (mean - best) / std
    pdf, cdf = normal_pdf(z), ndtr(z)
    return std * np.maximum(pdf + z * cdf, 0.0), cdf, pdf


def log_expected_improvement(
    mean: Array, std: Array, best: float | Array
) -> tuple[Array, Array, Array]:
    """Logarithm of EI, and std * d/dmean, std * d/dstd of it (m,), finite for any z.

    Ament et al., "Unexpected improvements to expected improvement", 2023. With the ratio
    M(z) = Phi(z) / phi(z), EI / std = phi(z) (1 + z M(z)), and the derivatives of log EI are
    M / (1 + z M) / std and 1 / (1 + z M) / std. They come without the division, which overflows
    for values around 1e-300.
    """
    z = _in_stds(mean - best, std)
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


def _in_stds(distance: Array, std: Array) -> Array:
    """A distance in standard deviations; a reference may be so far away that squares overflow."""
    with np.errstate(over="ignore"):
        return np.clip(distance / std, -_FAR, _FAR)


# (mean, std, best) -> log E[max(0, gain - best)] and std * d/dmean, std * d/dstd of it, where the
# gain is the value itself or, of an objective with a target, minus its distance from there.
LogGain = Callable[[Array, Array, "float | Array"], tuple[Array, Array, Array]]


def log_target_improvement(
    mean: Array, std: Array, best: float | Array
) -> tuple[Array, Array, Array]:
    """Logarithm of E[max(0, b - |f|)], b = -best, and std * d/dmean, std * d/dstd of it.

    `mean` and `std` describe the distance f from the target, `best` is minus the smallest
    distance so far. With h(z) = phi(z) + z Phi(z), the expectation is the second difference
    std * (h(z + t) - 2 h(z) + h(z - t)) at z = -|mean| / std with t = b / std. Where t is too
    small for a difference, it is std * t^2 * phi(z) to the same accuracy.
    """
    t = np.maximum(_in_stds(-np.asarray(best), std), _TINY)
    z = -np.abs(mean) / std + 0.0 * t
    is_small = t * (1.0 + np.abs(z)) < _SMALL_STEP
    step = np.where(is_small, 1.0, t)
    one = np.ones_like(z)
    up, middle, down = (log_expected_improvement(z + s, one, 0.0) for s in (step, 0.0, -step))
    a, b = np.exp(middle[0] - up[0]), np.exp(down[0] - up[0])
    rest = np.maximum(1.0 - 2.0 * a + b, _TINY)
    # h' = Phi and h'' = phi; log h(z) comes with h' / h.
    by_z = (up[1] - 2.0 * a * middle[1] + b * down[1]) / rest
    by_t = (up[1] - b * down[1]) / rest
    value = np.where(is_small, 2 * np.log(t) - 0.5 * z**2 - _LOG_SQRT_2PI, up[0] + np.log(rest))
    by_z = np.where(is_small, -z, by_z)
    t_by_t = np.where(is_small, 2.0, t * by_t)
    return np.log(std) + value, -np.sign(mean) * by_z, 1.0 - z * by_z - t_by_t


@dataclass(frozen=True)
class ExpectedImprovement:
    """E[max(0, f(x) - best)]."""

    regressor: Regressor
    best: float
    least_std: float = 0.0  # smaller ones are taken for this, in the unit of the value

    def values(self, X: Array) -> Array:
        """EI (m,)."""
        mean, std = self.regressor.predict(X)
        return expected_improvement(mean, np.maximum(std, self.least_std), self.best)[0]

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """EI (m,) and its gradient (m, d)."""
        mean, std, dmean, dstd = self.regressor.predict_grad(X)
        floored = np.maximum(std, self.least_std)
        value, by_mean, by_std = expected_improvement(mean, floored, self.best)
        by_std = np.where(std < self.least_std, 0.0, by_std)
        return value, by_mean[:, None] * dmean + by_std[:, None] * dstd


@dataclass(frozen=True)
class LogExpectedImprovement:
    """log E[max(0, gain(x) - best)]: same maximiser as EI, with a slope everywhere."""

    regressor: Regressor
    best: float
    log_gain: LogGain = log_expected_improvement

    def values(self, X: Array) -> Array:
        """Log EI (m,)."""
        return self.log_gain(*self.regressor.predict(X), self.best)[0]

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """Log EI (m,) and its gradient (m, d)."""
        mean, std, dmean, dstd = self.regressor.predict_grad(X)
        value, by_mean, by_std = self.log_gain(mean, std, self.best)
        unit = std[:, None]
        return value, by_mean[:, None] * (dmean / unit) + by_std[:, None] * (dstd / unit)


@dataclass(frozen=True)
class LogExpectedHypervolume:
    """Logarithm of the expected hypervolume improvement (EHVI) of independent objectives, exact.

    Emmerich, Deutz and Klinkenberg, "Hypervolume-based expected improvement", CEC 2011; as the sum
    over the boxes of what is not dominated, each a product over the objectives k of
    psi_k(upper) - psi_k(lower) with psi(a) = E[max(0, a - cost)], where the cost is minus the gain.
    """

    regressors: Sequence[Regressor]
    log_gains: Sequence[LogGain]
    lower: Array  # (b, k) corners of the boxes, in costs; see `pareto.boxes`
    upper: Array  # (b, k)

    def values(self, X: Array) -> Array:
        """Log EHVI (m,)."""
        predictions = [regressor.predict(X) for regressor in self.regressors]
        terms = [self._term(k, mean, std)[0] for k, (mean, std) in enumerate(predictions)]
        return np.asarray(logsumexp(np.sum(terms, axis=0), axis=0))

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """Log EHVI (m,) and its gradient (m, d)."""
        predictions = [regressor.predict_grad(X) for regressor in self.regressors]
        terms = [self._term(k, p[0], p[1]) for k, p in enumerate(predictions)]
        sums = np.sum([term[0] for term in terms], axis=0)  # (b, m)
        value = logsumexp(sums, axis=0)
        share = np.exp(sums - np.where(np.isfinite(value), value, 0.0))
        gradient = np.zeros_like(X)
        for (_, by_mean, by_std), (_, std, dmean, dstd) in zip(terms, predictions, strict=True):
            unit = std[:, None]
            gradient += (share * by_mean).sum(axis=0)[:, None] * (dmean / unit)
            gradient += (share * by_std).sum(axis=0)[:, None] * (dstd / unit)
        return np.asarray(value), gradient

    def _term(self, k: int, mean: Array, std: Array) -> tuple[Array, Array, Array]:  # (b, m)
        """log(psi_k(upper) - psi_k(lower)) and std * d/dmean, std * d/dstd of it."""
        levels, index = np.unique([self.lower[:, k], self.upper[:, k]], return_inverse=True)
        is_open = np.isinf(levels)  # psi(-inf) is 0
        best = np.where(is_open, 0.0, -levels)[:, None]
        log_psi, by_mean, by_std = self.log_gains[k](mean[None], std[None], best)
        log_psi[is_open] = -np.inf
        low, up = index.reshape(2, -1)
        gap = log_psi[low] - log_psi[up]  # at most 0
        log_rest = np.log(np.maximum(-np.expm1(np.minimum(gap, 0.0)), _TINY))
        # Both derivatives divided by the difference, which may be tiny beside either.
        rest = np.exp(-log_rest)
        ratio = np.exp(np.minimum(gap, 0.0))
        slopes = [rest * (by[up] - ratio * by[low]) for by in (by_mean, by_std)]
        return log_psi[up] + log_rest, slopes[0], slopes[1]


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
    """C(x) q(x): constrained expected improvement, and the paper's BE-CBO-M."""

    acquisition: Acquisition
    model: FeasibilityModel

    def values(self, X: Array) -> Array:
        """Acquisition times probability of working (m,)."""
        return np.asarray(self.acquisition.values(X) * ndtr(self.model.score(X)[0]))

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """The same (m,) and its gradient (m, d)."""
        q, dq = self.acquisition.values_grad(X)
        u, _, du, _ = self.model.score_grad(X)
        C = ndtr(u)
        return q * C, C[:, None] * dq + (q * normal_pdf(u))[:, None] * du


@dataclass(frozen=True)
class LogWeighted:
    """log(C(x) q(x)) for an acquisition that is log q(x)."""

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
class AsymmetricEntropy:
    """q(x) S(x)^5 with the asymmetric entropy S = 2 p (1 - p) / (p - 2 w p + w^2) of p = C(x).

    David Lindberg and Herbert Lee, "Optimization under constraints by applying an asymmetric
    entropy measure", Journal of Computational and Graphical Statistics 24, 2015, with their
    w = 2/3 and exponents 1 and 5. S is largest at p = w: the search is drawn to the edge, a little
    inside. It assumes that the optimum lies there, and a classifier whose chances can be believed.
    """

    acquisition: Acquisition
    model: FeasibilityModel
    w: float = 2 / 3
    power: float = 5.0

    def values(self, X: Array) -> Array:
        """Acquisition times weight (m,)."""
        weight, _ = self._weight(self.model.score(X)[0])
        return np.asarray(self.acquisition.values(X) * weight)

    def values_grad(self, X: Array) -> tuple[Array, Array]:
        """The same (m,) and its gradient (m, d)."""
        q, dq = self.acquisition.values_grad(X)
        u, _, du, _ = self.model.score_grad(X)
        weight, slope = self._weight(u)
        return q * weight, weight[:, None] * dq + (q * slope)[:, None] * du

    def _weight(self, u: Array) -> tuple[Array, Array]:  # (m,) -> (m,), (m,)
        """S^power and its derivative by the score u."""
        p, failure = ndtr(u), ndtr(-u)
        mixed = p * (1 - 2 * self.w) + self.w**2
        S = 2 * p * failure / mixed
        by_p = (2 * (failure - p) - S * (1 - 2 * self.w)) / mixed
        return S**self.power, self.power * S ** (self.power - 1) * by_p * normal_pdf(u)


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
