"""Feasibility as a product of factors: a design is feasible where every factor says so.

The best design often lies in a corner where constraints meet. A single smooth latent function has
no corners and has to learn them on every scale anew; a constraint by itself is smooth. So each has
a model of its own, and C(x) is the product of their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from becbo.arrays import Array
from becbo.surrogates.base import FeasibilityModel, mills, normal_pdf
from becbo.surrogates.gp_classifier import GPClassifier

_LOG_SURE = -1e-300  # the closest log C comes to 0, so that its probit stays finite
_TINY = 1e-300


@dataclass(frozen=True)
class Product:
    """Independent factors, all of which must hold."""

    factors: tuple[FeasibilityModel, ...]
    scales: Array  # (d,) length scales of all failures together
    doubt: float = 0.0
    optimism: float = 0.0
    lapse: float = 0.0  # the chance that a feasible design fails all the same
    # While nothing has worked, pending designs are assumed to fail, by a classifier of their own:
    # believed to work, they would attract further ones.
    pessimist: GPClassifier | None = None

    @property
    def is_sharp(self) -> bool:
        """Whether one of the factors is."""
        return any(factor.is_sharp for factor in self.factors)

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and spread w: the standard deviation of a product."""
        return joint(*np.array([factor.score(X) for factor in self.factors]).swapaxes(0, 1))

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        columns = zip(*(factor.score_grad(X) for factor in self.factors), strict=True)
        U, W, dU, dW = (np.array(column) for column in columns)
        return joint_grad(U, W, dU, dW)

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C if all factors were one standard deviation lower, or higher."""
        low, high = np.array([factor.interval(X) for factor in self.factors]).prod(axis=0)
        return low, high

    def believe(self, X: Array) -> Product:
        """The model after seeing what it expects at pending points X."""
        if self.pessimist is None:
            return replace(self, factors=tuple(factor.believe(X) for factor in self.factors))
        failed = self.pessimist.fit(X, np.zeros(len(X), dtype=bool))
        return replace(self, factors=(*self.factors, failed))


def product(unknown: FeasibilityModel, measured: FeasibilityModel) -> Product:
    """Multiplies the factor of unknown failures with that of measured limits.

    Args:
        unknown: the model of failures.
        measured: the model of limits.

    Returns:
        Their product with the larger doubt; length scales and lapse are those of failures. It has
        no optimism: measured limits are kept more often than stated.
    """
    doubt = max(unknown.doubt, measured.doubt)
    return Product((unknown, measured), unknown.scales, doubt, lapse=unknown.lapse)


def joint(U: Array, W: Array) -> tuple[Array, Array]:  # (k, m), (k, m) -> (m,), (m,)
    """Score and spread of a product of factors, from the scores U and spreads W of each."""
    return _joint_score(U), _joint_spread(ndtr(U), W)


def joint_grad(
    U: Array, W: Array, dU: Array, dW: Array
) -> tuple[Array, Array, Array, Array]:  # (k, m), (k, m, d) -> (m,), (m, d)
    """`joint` with input gradients."""
    u, C = _joint_score(U), ndtr(U)
    w = _joint_spread(C, W)
    by_log_c = (mills(U)[..., None] * dU).sum(axis=0)
    du = by_log_c / np.maximum(mills(u), _TINY)[:, None]
    # w^2 = prod(C^2 + w_k^2) - prod(C^2), differentiated by logarithms.
    squares = C**2 + W**2
    dsquares = 2 * (C * normal_pdf(U))[..., None] * dU + 2 * W[..., None] * dW
    both = (dsquares / np.maximum(squares, _TINY)[..., None]).sum(axis=0)
    growth = squares.prod(axis=0)[:, None] * both - (C**2).prod(axis=0)[:, None] * 2 * by_log_c
    dw = np.divide(growth, 2 * w[:, None], where=w[:, None] > 0, out=np.zeros_like(growth))
    return u, w, du, dw


def _joint_score(U: Array) -> Array:  # (k, m) -> (m,)
    return np.asarray(ndtri_exp(np.minimum(log_ndtr(U).sum(axis=0), _LOG_SURE)))


def _joint_spread(C: Array, W: Array) -> Array:  # (k, m), (k, m) -> (m,)
    variance = (C**2 + W**2).prod(axis=0) - (C**2).prod(axis=0)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
