"""The paper's Gaussian process classifier: variational, RBF, one length scale, a constant mean.

Hensman, Matthews and Ghahramani, "Scalable variational Gaussian process classification", AISTATS
2015, with an inducing point at each design. GPyTorch's `ApproximateGP` in the program that Tian et
al. (ICML 2024) released begins with the same and moves them, but no others reach a larger bound. A
Gaussian q is chosen to maximise the evidence lower bound

    ELBO = sum_i E_q[log Phi(y_i f_i)] - KL(q, prior).

The best one adds a diagonal to the precision of the prior (Opper and Archambeau, "The variational
Gaussian approximation revisited", 2009). So it is a Gaussian site for each label, as in expectation
propagation, and the model in `gp_classifier` serves both. Natural gradient steps find the sites
(Khan and Lin, "Conjugate-computation variational inference", AISTATS 2017), instead of a descent on
the n (n + 3) / 2 parameters of q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr

from becbo.arrays import Array, Mask
from becbo.surrogates.base import MOMENTS, NODES, WEIGHTS, mills
from becbo.surrogates.gp_classifier import (
    GPClassifier,
    GPClassifierModel,
    condition,
    evidence_gradient,
    prior_covariance,
    site_posterior,
)
from becbo.surrogates.kernels import rbf

PRIOR = GPClassifier(kernel=rbf, ard=False, bias=0.0)

# The search moves three free numbers, as in GPyTorch: length scale and variance are their soft
# plus, the third is the mean. It begins at zero. The bounds only keep numbers finite.
_BOUNDS = ((-7.0, 1e3), (-16.0, 1e6), (-1e3, 1e3))

_MAX_STEPS = 100  # of the sites
_TOLERANCE = 1e-8  # of the bound, in nats
_MIN_STEP = 1e-3


@dataclass(frozen=True)
class VariationalClassifier:
    """Settings: how many steps the search for length scale, variance and mean may take."""

    n_iterations: int = 200

    def fit(self, X: Array, feasible: Mask) -> GPClassifierModel:
        """Model of the labels (n,) at X (n, d), always from GPyTorch's initial values."""
        from scipy.optimize import minimize  # late, as in surrogates/hyper.py

        bound = Bound(X, np.where(feasible, 1.0, -1.0))

        def loss(free: Array) -> tuple[float, Array]:  # per label, as in GPyTorch
            theta, slope = hyperparameters(free)
            value, gradient = bound(theta)
            return value / len(X), gradient * slope / len(X)

        free = np.zeros(3)
        if feasible.any() and not feasible.all():  # one class says nothing about length scales
            options = {"maxiter": self.n_iterations}
            free = minimize(loss, free, jac=True, bounds=_BOUNDS, options=options).x
        return bound.model(hyperparameters(free)[0])


def hyperparameters(free: Array) -> tuple[Array, Array]:  # (3,) -> (3,), (3,)
    """Log length scale, log variance and mean of free numbers, and the derivative of each."""
    positive = np.logaddexp(0.0, free[:2])
    slope = expit(free[:2]) / positive
    return np.append(np.log(positive), free[2]), np.append(slope, 1.0)


class Bound:
    """theta -> (-ELBO, gradient) with the best q; its sites are where the next call begins."""

    def __init__(self, X: Array, labels: Array) -> None:
        self.X, self.labels, self.sites = X, labels, np.zeros((len(X), 2))

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """At the best q only the explicit dependence on theta counts."""
        K, dk = prior_covariance(theta[:2], self.X, rbf, 0.0)
        self.sites, elbo = best_sites(K, self.labels, theta[2], self.sites)
        mean, _, L = site_posterior(K, self.sites)
        # The KL divergence depends on the kernel as -log Z of EP does, the sites held.
        by_kernel = evidence_gradient(theta[:2], self.X, self.sites, K, dk, L, PRIOR)
        tau, nu = self.sites.T
        return -elbo, np.append(by_kernel, -(nu - tau * mean).sum())

    def model(self, theta: Array) -> GPClassifierModel:
        """The classifier with these hyperparameters."""
        K, _ = prior_covariance(theta[:2], self.X, rbf, 0.0)
        self.sites, _ = best_sites(K, self.labels, theta[2], self.sites)
        return condition(theta[:2], self.X, self.sites, K, PRIOR, float(theta[2]))


def best_sites(K: Array, labels: Array, mean: float, sites: Array) -> tuple[Array, float]:
    """Sites (n, 2) of the best q for a prior with mean and covariance K (n, n), and its ELBO.

    Steps are halved until the bound rises. It is concave in q, so there is one maximum.
    """
    target, elbo = natural_step(K, labels, mean, sites)
    step = 1.0
    for _ in range(_MAX_STEPS):
        trial = sites + step * (target - sites)
        next_target, next_elbo = natural_step(K, labels, mean, trial)
        if next_elbo < elbo and step > _MIN_STEP:
            step /= 2
            continue
        gain = next_elbo - elbo
        sites, target, elbo = trial, next_target, next_elbo
        if gain < _TOLERANCE:
            break
    return sites, elbo


def natural_step(K: Array, labels: Array, mean: float, sites: Array) -> tuple[Array, float]:
    """The sites (n, 2) that a natural gradient step of length 1 leads to, and the present ELBO."""
    centred, variance, L = site_posterior(K, sites)
    tau, nu = sites.T
    std = np.sqrt(variance)
    z = labels * (mean + centred) + std * NODES  # (20, n); the nodes are symmetric
    by_mean, by_std = MOMENTS @ mills(z)
    precision = -by_std / std  # -2 d/dvariance of the expected log likelihood
    target = np.column_stack([precision, labels * by_mean + precision * centred])
    kl = 0.5 * (centred @ (nu - tau * centred) - tau @ variance) + np.log(np.diagonal(L)).sum()
    return target, float((WEIGHTS @ log_ndtr(z)).sum() - kl)
