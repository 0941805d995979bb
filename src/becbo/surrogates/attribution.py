"""Attributes failures to constraints if nobody said which one was violated.

A design works where it keeps all limits, so a failure is the factor 1 - prod_k Phi(g_k(x)) of k
latent functions: it is enough that one of them explains it. Expectation propagation shares the
blame among them (R&W section 3.6 with this factor in place of Phi). Limits are interchangeable at
first, so they start from flat ones, which cost so little that the best of many trials is taken:
"each of six linear limits on x and log x holds".
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import expit, log_ndtr

from becbo.arrays import Array, Mask
from becbo.surrogates.adam import adam
from becbo.surrogates.base import mills, normal_pdf
from becbo.surrogates.gp_classifier import (
    GPClassifier,
    GPClassifierModel,
    condition,
    evidence_gradient,
    merge_runs,
    prior_covariance,
    site_posterior,
)
from becbo.surrogates.hyper import map_estimate, typical_theta

_N_LIMITS = 6
_N_STARTS, _N_STEPS, _RATE = 24, 150, 0.2  # of the flat limits, and their training by Adam
_DECAY = 0.01  # of their weights: nats per half squared weight, against the whole likelihood
# Limits are linear in log(x + offset) too: quantities that act by ratios do so from a bound on.
_LOG_OFFSET = 0.05
_N_ITERATIONS = 6  # of the hyperparameters
_MAX_SWEEPS, _DAMPING = 25, 0.5  # a budget: scores seldom change sides in later sweeps
_TOLERANCE = 2e-2  # of a score
_FAR = 8.0  # scores beyond it are as good as certain
_MAX_Z = 30.0  # of a cavity, so that a label against all odds does not overflow
_MIN_VARIANCE = 1e-12


def attribute_failures(settings: GPClassifier, X: Array, feasible: Mask) -> list[GPClassifierModel]:
    """A classifier for each limit that may explain failures; X (n, d), feasible (n,)."""
    X, feasible, lapse = merge_runs(X, feasible, settings.lapse)
    if feasible.all():  # every design that failed has also worked
        return []
    kinds = linear_constraints(X, feasible)
    ranges = settings.ranges(X.shape[1])
    thetas = np.tile(typical_theta(ranges), (kinds.shape[1], 1))
    nothing = np.zeros((len(thetas), len(X), 2))
    K = _covariances(settings, thetas, X)
    blamed = joint_ep(K, feasible, nothing, kinds.T, lapse)
    sites = joint_ep(K, feasible, blamed, lapse=lapse)
    losses = [partial(_loss_of_limit, settings, X, limit) for limit in sites]
    limits = zip(losses, thetas, strict=True)
    thetas = np.array([map_estimate(loss, ranges, t, _N_ITERATIONS) for loss, t in limits])
    K = _covariances(settings, thetas, X)
    learned = zip(thetas, joint_ep(K, feasible, sites, lapse=lapse), K, strict=True)
    return [condition(theta, X, limit, prior, settings) for theta, limit, prior in learned]


def linear_constraints(X: Array, feasible: Mask) -> Mask:  # (n, d), (n,) -> (n, k)
    """Which failures were of which kind, by linear limits on x and log x.

    C(x) is the product of logistic functions. All starts are trained at once; they are always the
    same ones, so that the result depends on the experiments alone.
    """
    F = np.vstack(
        [np.ones(len(X)), 2 * X.T - 1, np.log(X.T + _LOG_OFFSET) - np.log(_LOG_OFFSET) - 1.5]
    )
    shape = (_N_STARTS, _N_LIMITS, len(F))
    weights = np.random.default_rng(0).standard_normal(shape) * 2.0 / np.sqrt(len(F))
    weights[..., 0] = 1.0 + np.abs(weights[..., 0])  # most designs keep most limits
    theta = weights.ravel()
    weights, grad = theta.reshape(shape), np.empty_like(theta)

    def fill() -> bool:
        slope = _slope(weights @ F, feasible) @ F.T
        grad[:] = (slope + _DECAY * weights).ravel() / len(X)
        return True

    adam(theta, grad, fill, _RATE, _N_STEPS)
    margins = weights @ F  # (starts, k, n)
    loss = _loss(margins, feasible) + 0.5 * _DECAY * (weights**2).sum(axis=(1, 2))
    best = margins[np.argmin(loss)]  # (k, n)
    kinds = ~feasible[:, None] & (best.argmin(axis=0)[:, None] == np.arange(_N_LIMITS))
    return np.asarray(kinds[:, kinds.any(axis=0)])


def _loss(margins: Array, feasible: Mask) -> Array:  # (s, k, n) -> (s,)
    """-log likelihood, with log C = -sum softplus(-margin)."""
    log_c = -np.logaddexp(0.0, -margins).sum(axis=1)
    fails = np.log(np.maximum(-np.expm1(log_c), 1e-300))
    return np.asarray(-np.where(feasible, log_c, fails).sum(axis=1))


def _slope(margins: Array, feasible: Mask) -> Array:  # (s, k, n) -> (s, k, n)
    """d loss / d margin."""
    log_c = -np.logaddexp(0.0, -margins).sum(axis=1)
    odds = 1.0 / np.maximum(np.expm1(-log_c), 1e-9)
    return np.asarray(expit(-margins) * np.where(feasible, -1.0, odds)[:, None])


def joint_ep(
    K: Array, feasible: Mask, sites: Array, kinds: Mask | None = None, lapse: Array | float = 0.0
) -> Array:
    """Sites (k, n, 2) of expectation propagation, from `sites`; K (k, n, n) prior covariances.

    `kinds` (k, n) says which failures each limit is to blame for; without it they share the blame.
    `lapse` (n,) is the chance that a feasible design fails as each of them did.
    """
    last = np.full(sites.shape[:2], np.inf)
    for _ in range(_MAX_SWEEPS):
        moments = [site_posterior(*limit)[:2] for limit in zip(K, sites, strict=True)]
        mean, variance = np.array(moments).swapaxes(0, 1)
        variance = np.maximum(variance, _MIN_VARIANCE)
        score = np.clip(mean / np.sqrt(1 + variance), -_FAR, _FAR)
        if np.abs(score - last).max() < _TOLERANCE:
            break
        last = score
        new = shared_sites(feasible, mean, variance, sites, kinds, lapse)
        sites = sites + _DAMPING * (new - sites)
    return sites


def shared_sites(
    feasible: Mask,
    mean: Array,
    variance: Array,
    sites: Array,
    kinds: Mask | None,
    lapse: Array | float = 0.0,
) -> Array:
    """Sites (k, n, 2) that match the moments of Phi(g_k), or of 1 - P Phi(g_k) for a failure.

    P is the probability that the other limits hold and that it is not bad luck. As in
    `tilted_sites`, the moments follow from the slope and curvature of log Z, here of
    Z = 1 - P Phi(z).
    """
    tau, nu = sites[..., 0], sites[..., 1]
    cavity_var = 1.0 / np.maximum(1.0 / variance - tau, 1e-300)
    cavity_mean = cavity_var * (mean / variance - nu)
    norm = np.sqrt(1.0 + cavity_var)
    z = np.clip(cavity_mean / norm, -_MAX_Z, _MAX_Z)
    cavity_mean = z * norm
    log_p = log_ndtr(z)
    if kinds is None:
        others = log_p.sum(axis=0) - log_p
    else:
        others = np.where(kinds, 0.0, -np.inf)
    others = others + np.log1p(-np.asarray(lapse))
    works = mills(z)
    fails = -np.exp(others) * normal_pdf(z) / np.maximum(-np.expm1(others + log_p), 1e-300)
    slope = np.where(feasible, works, fails)  # d log Z / dz
    # Where the other limits may explain a failure, log Z can be convex: then no precision.
    curvature = np.maximum(slope * (slope + z), 0.0) / (1.0 + cavity_var)
    shrink = np.maximum(1.0 - cavity_var * curvature, 1e-12)
    new_nu = (slope / norm + cavity_mean * curvature) / shrink
    return np.stack([curvature / shrink, new_nu], axis=-1)


def _loss_of_limit(
    settings: GPClassifier, X: Array, sites: Array, theta: Array
) -> tuple[float, Array]:
    """-log Z of one limit up to a constant, its sites held, and the gradient by theta."""
    K, dk = prior_covariance(theta, X, settings.kernel, settings.bias)
    mean, _, L = site_posterior(K, sites)
    value = float(np.log(np.diagonal(L)).sum() - 0.5 * sites[:, 1] @ mean)
    return value, evidence_gradient(theta, X, sites, K, dk, L, settings)


def _covariances(settings: GPClassifier, thetas: Array, X: Array) -> Array:  # (k, n, n)
    return np.array([prior_covariance(t, X, settings.kernel, settings.bias)[0] for t in thetas])
