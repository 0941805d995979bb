"""Several limits at once: a design works where it keeps all of them.

The best design often lies in a corner where limits meet. A single smooth latent function has no
corners and has to learn them on every scale anew; a limit by itself is smooth. So each limit has a
Gaussian process classifier of its own, and C(x) is the product of their probabilities. Which limit
a failure broke is either known (`tell_apart`) or worked out (`all_to_blame`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri_exp

from becbo.surrogates.base import Array, mills, normal_pdf
from becbo.surrogates.blame import work_out
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel

Labels = NDArray[np.bool_]

_N_ITERATIONS = 6  # of each limit's hyperparameters, from those of all failures together
_MAX_LISTS = 100  # that limits learn from besides their own failures: the work grows with them
_NO_SITES = np.zeros((0, 2))
_LOG_SURE = -1e-300  # the closest log C comes to 0, so that its probit stays finite
_TINY = 1e-300


def tell_apart(
    whole: GPClassifierModel, X: Array, feasible: Labels, kinds: Labels
) -> GPClassifierModel | LimitsModel:
    """A classifier for each kind of failure, given the one that makes no difference.

    X (n, d), feasible (n,), kinds (n, k): which failures were of which kind. Failures of no kind
    are one more. With one kind only, or nothing that kept a limit, `whole` is the answer.
    """
    kept = _kept_the_rest(feasible, kinds)
    groups = [(kind, kept) for kind in kinds.T]
    others = ~feasible & ~kinds.any(axis=1)
    if others.any():
        groups.append((others, feasible))
    if len(groups) < 2 or not any((keepers & ~group).any() for group, keepers in groups):
        return whole
    settings = replace(whole.settings, n_warm_iterations=_N_ITERATIONS)
    start = replace(whole, sites=_NO_SITES)
    seen = [(keepers | group, group) for group, keepers in groups]
    parts = [settings.fit(X[rows], ~group[rows], start=start) for rows, group in seen]
    return LimitsModel(tuple(parts), whole.scales)


def _kept_the_rest(feasible: Labels, kinds: Labels) -> Labels:  # (n,), (n, k) -> (n,)
    """Which experiments count as having kept every limit that they do not name.

    Several reasons for one failure are a list of what was wrong, and taken to be complete; the
    latest are enough. Of a single reason nobody knows: an experiment often ends with the first
    limit that breaks. While nothing has worked, one list is a sign that single reasons are complete
    too; otherwise there may be no design known to have kept a limit, and all failures look alike.
    """
    is_list = kinds.sum(axis=1) > 1
    if is_list.any() and not feasible.any():
        return np.asarray(kinds.any(axis=1))
    n_since = is_list[::-1].cumsum()[::-1]
    return np.asarray(feasible | (is_list & (n_since <= _MAX_LISTS)))


def all_to_blame(
    whole: GPClassifierModel, settings: GPClassifier, X: Array, feasible: Labels
) -> GPClassifierModel | LimitsModel:
    """The limits that explain the failures if nobody said why; needs both successes and failures.

    With fewer than two that explain any, `whole`, the classifier of all failures, is the answer.
    """
    limits = work_out(settings, X, feasible)
    parts = [limit for limit in limits if limit.latent(X[~feasible])[0].min() < 0]
    return LimitsModel(tuple(parts), whole.scales, is_told=False) if len(parts) > 1 else whole


@dataclass(frozen=True)
class LimitsModel:
    """Classifiers of limits that are independent of each other, all of which must hold."""

    parts: tuple[GPClassifierModel, ...]
    scales: Array  # (d,) length scales of all failures together
    is_told: bool = True  # whether reasons told the limits apart

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and spread w: the standard deviation of a product."""
        U, W = np.array([part.score(X) for part in self.parts]).swapaxes(0, 1)
        return _joint_score(U), _joint_spread(ndtr(U), W)

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        columns = zip(*(part.score_grad(X) for part in self.parts), strict=True)
        U, W, dU, dW = (np.array(column) for column in columns)  # (k, m), (k, m, d)
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

    def band(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C if the latents of all limits were one standard deviation lower, or higher."""
        low, high = np.array([part.band(X) for part in self.parts]).prod(axis=0)
        return low, high

    def believe(self, X: Array) -> LimitsModel:
        """The model after seeing what it expects at pending points X."""
        return replace(self, parts=tuple(part.believe(X) for part in self.parts))

    def assume_failed(self, X: Array) -> LimitsModel:
        """The model if the points X broke a limit of their own."""
        failed = self.parts[0].settings.fit(X, np.zeros(len(X), dtype=bool))
        return replace(self, parts=(*self.parts, failed))


def _joint_score(U: Array) -> Array:  # (k, m) -> (m,)
    return np.asarray(ndtri_exp(np.minimum(log_ndtr(U).sum(axis=0), _LOG_SURE)))


def _joint_spread(C: Array, W: Array) -> Array:  # (k, m), (k, m) -> (m,)
    variance = (C**2 + W**2).prod(axis=0) - (C**2).prod(axis=0)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
