"""Probit Gaussian process classifier by expectation propagation (EP).

Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006 (R&W), section 3.6 and
algorithms 3.5, 3.6 and 5.2, with all sites updated at once and the cavity formulas rewritten
so that they stay accurate for a latent variance of 1e8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from becbo.arrays import Array, Indices, Mask
from becbo.surrogates.base import (
    log_lapsed,
    probit_interval,
    probit_score,
    probit_score_grad,
)
from becbo.surrogates.gp import Path, prior_path, update_weights
from becbo.surrogates.hyper import Range, fixed, map_estimate, typical_theta
from becbo.surrogates.kernels import (
    Kernel,
    input_gradient,
    matern52,
    scale_gradient,
    squared_distance,
)
from becbo.surrogates.linalg import cholesky, extend, forward, inverse, whitener

_MAX_SWEEPS = 40
_TOLERANCE = 1e-3  # of log Z, in nats: a hundredth in the score of a prediction
_MIN_DAMPING = 0.3
_FAR_OUT = -1e6  # standard deviations
_NUGGET = 1e-9  # share of the kernel variance on the diagonal
_BELIEF_NOISE = 1e-4  # share of the kernel variance left at a pending point


@dataclass(frozen=True)
class GPClassifier:
    """Settings of the classifier: kernel, hyperparameter ranges, effort.

    The prior of the latent is `scale` times (kernel + bias), `bias` standing for an unknown
    constant mean. With a large fixed `scale` the probit likelihood is almost noise-free and
    the classifier interpolates its labels; that is what a search at the edge needs, because
    otherwise failures beside the best design outvote its success.
    `ard=False` uses one length scale for all inputs, as the paper's GP classifier does.
    A design that works fails all the same with probability `lapse`. The likelihood is one-sided:
    P(works) = (1 - lapse) Phi(g), so a success proves what a failure only suggests.
    """

    kernel: Kernel = matern52
    ard: bool = True
    lengthscale: Range = Range(0.3, 0.02, 30.0, spread=1.0)
    scale: Range = fixed(1e8)
    bias: float = 1.0
    lapse: float = 0.0
    scale_with_dim: bool = True
    n_iterations: int = 20
    n_warm_iterations: int = 0
    max_points: int = 256  # hyperparameters are learned from at most this many points

    def fit(
        self, X: Array, feasible: Mask, start: GPClassifierModel | None = None
    ) -> GPClassifierModel:
        """Model of the labels (n,) at X (n, d); `start` is a fit to the first of these points."""
        X, feasible, lapses = merge_runs(X, feasible, self.lapse)
        labels = np.where(feasible, 1.0, -1.0)
        theta, sites = self._start(X, labels, start)
        if not len(X):  # measured limits explain every failure
            return GPClassifierModel(self, theta, X, sites, np.zeros((0, 0)), np.zeros(0))
        is_one_class = abs(labels.sum()) == len(labels)
        n_iterations = self.n_iterations if start is None else self.n_warm_iterations
        if not feasible.any():
            theta = self._failures_only(*X.shape)
        elif n_iterations and not is_one_class:  # one class says nothing about length scales
            subset = balanced_subset(labels, self.max_points)
            evidence = Evidence(X[subset], labels[subset], self, sites[subset], lapses[subset])
            theta = map_estimate(evidence, self.ranges(X.shape[1]), theta, n_iterations)
        K = prior_covariance(theta, X, self.kernel, self.bias)[0]
        sites = expectation_propagation(K, labels, sites, lapses)
        return condition(theta, X, sites, K, self)

    def _start(
        self, X: Array, labels: Array, start: GPClassifierModel | None
    ) -> tuple[Array, Array]:
        """Hyperparameters (p,) and sites (n, 2) to begin from; new points start without a site.

        With lapses, failures that lie together can all be systematic or all be random, and EP
        stays with the explanation that it starts from. So it starts without sites.
        """
        sites = np.zeros((len(X), 2))
        if start is None:
            return typical_theta(self.ranges(X.shape[1])), sites
        if not self.lapse:
            sites[: len(start.sites)] = start.sites
        return start.theta, sites

    def _failures_only(self, n: int, d: int) -> Array:  # (p,)
        """Hyperparameters after n failures and no success.

        What works is then smaller than the gaps between failures, so length scales shrink as the
        gaps do. Otherwise the model soon rules out the interior and keeps looking at the bounds.
        """
        ranges = self.ranges(d)
        lengthscales = [r.scaled(n ** (-1 / d)) for r in ranges[:-1]]
        return typical_theta([*lengthscales, ranges[-1]])

    def ranges(self, d: int) -> list[Range]:
        """Of the hyperparameters: length scales and variance, in d dimensions."""
        factor = np.sqrt(d) if self.scale_with_dim else 1.0
        return [self.lengthscale.scaled(factor)] * (d if self.ard else 1) + [self.scale]


@dataclass(frozen=True)
class GPClassifierModel:
    """A fitted classifier: Gaussian latent g(x), C(x) = E[Phi(g(x))]."""

    settings: GPClassifier
    theta: Array  # (d + 1,) or (2,): logarithms of length scales and kernel variance
    X: Array  # (n, d)
    sites: Array  # (n, 2) precision tau and precision-mean nu of the Gaussian sites
    W: Array  # (n, n) whitener of K + 1 / tau, the covariance of the sites' means
    weights: Array  # (n,) the latent mean is k(x) @ weights
    doubt: float = 0.0  # in a score
    optimism: float = 0.0  # in a score
    mean: float = 0.0  # of the prior

    is_sharp: ClassVar[bool] = False

    @property
    def lapse(self) -> float:
        """The chance that a feasible design fails all the same."""
        return self.settings.lapse

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales."""
        return np.broadcast_to(np.exp(self.theta[:-1]), self.X.shape[1:])

    @property
    def variance(self) -> float:
        """Kernel variance of the latent."""
        return float(np.exp(self.theta[-1]))

    def latent(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Latent mean and standard deviation (R&W eq. 3.60 and 3.61)."""
        k, _ = self._cross(X)
        V = k @ self.W.T
        return self.mean + k @ self.weights, self._std(V)

    def latent_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Latent mean (m,), std (m,) and their input gradients (m, d), (m, d)."""
        k, dk = self._cross(X)
        V = k @ self.W.T
        std = self._std(V)
        dmean = input_gradient(X, self.X, self.scales, dk * self.weights)
        dstd = -input_gradient(X, self.X, self.scales, dk * (V @ self.W)) / std[:, None]
        return self.mean + k @ self.weights, std, dmean, dstd

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and spread w = sigma_E."""
        return probit_score(*self.latent(X))

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        return probit_score_grad(*self.latent_grad(X))

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C if the latent were one standard deviation lower, or higher."""
        return probit_interval(*self.latent(X))

    def left_out(self) -> Array:  # (n,)
        """C at each design of the data if its own label was not known: the cavity of EP."""
        mean, std = self.latent(self.X)
        tau, nu = self.sites.T
        variance = 1.0 / np.maximum(1.0 / std**2 - tau, 1e-300)
        return ndtr(variance * (mean / std**2 - nu) / np.sqrt(1 + variance))  # type: ignore[no-any-return]

    def path(self, rng: np.random.Generator) -> Path:
        """A latent function drawn from the posterior."""
        smooth = prior_path(self.settings.kernel, self.scales, self.variance, rng)
        constant = np.sqrt(self.variance * self.settings.bias) * rng.standard_normal()

        def prior(X: Array, dtype: Any = np.float32) -> Array:
            return np.asarray(smooth(X, dtype) + constant)

        # A site of no precision has infinite noise, but also no column in W.
        noise = 1.0 / np.maximum(self.sites[:, 0], 1e-300) + _NUGGET * self.variance
        weights = self.weights + update_weights(prior, self.X, self.W, noise, rng)
        return lambda X: self.mean + prior(X) + self._cross(X)[0] @ weights

    def believe(self, X: Array) -> GPClassifierModel:
        """The model after seeing its own latent mean at X: same mean, less uncertainty."""
        # A Gaussian site at the latent mean has no innovation, so its weight is zero.
        noise = _BELIEF_NOISE * self.variance
        mean, _ = self.latent(X)
        new_sites = np.column_stack([np.full(len(X), 1 / noise), mean / noise])
        return replace(
            self,
            X=np.vstack([self.X, X]),
            sites=np.vstack([self.sites, new_sites]),
            W=extend(self.W, self._cross(X)[0].T, self._prior(X) + noise * np.eye(len(X))),
            weights=np.append(self.weights, np.zeros(len(X))),
        )

    def _cross(self, X: Array) -> tuple[Array, Array]:  # (m, n), (m, n)
        """Covariance of the latent at X and at the data, and its slope d/dr2."""
        k, dk = self.settings.kernel(squared_distance(X, self.X, self.scales))
        return self.variance * (k + self.settings.bias), self.variance * dk

    def _prior(self, X: Array) -> Array:
        return prior_covariance(self.theta, X, self.settings.kernel, self.settings.bias)[0]

    def _std(self, V: Array) -> Array:
        total = self.variance * (1.0 + self.settings.bias)
        variance = total - np.einsum("ij,ij->i", V, V)
        return np.asarray(np.sqrt(np.maximum(variance, _NUGGET * self.variance)))


@dataclass(frozen=True)
class Tally:
    """The runs of each of m designs, in the order of their first runs."""

    first: Indices  # (m,) row of the first run
    n_worked: Indices  # (m,)
    n_failed: Indices  # (m,)


def tally(X: Array, feasible: Mask) -> Tally:  # (n, d), (n,)
    """Counts the runs of each design."""
    _, first, index = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    counts = [
        np.bincount(index.ravel()[rows], minlength=len(first)) for rows in (feasible, ~feasible)
    ]
    return Tally(first[order], counts[0][order], counts[1][order])


def merge_runs(
    X: Array, feasible: Mask, lapse: float
) -> tuple[Array, Mask, Array]:  # (n, d), (n,) -> (m, d), (m,), (m,)
    """Each design once: whether it ever worked, and the chance that all its failures were luck.

    A success proves a design, so its failures say nothing more. Designs keep their order. Without
    lapses the labels are taken as they are, and contradictory ones leave a design undecided.
    """
    if not lapse:
        return X, feasible, np.zeros(len(X))
    runs = tally(X, feasible)
    return X[runs.first], runs.n_worked > 0, np.power(lapse, runs.n_worked + runs.n_failed)


def balanced_subset(labels: Array, max_points: int) -> Array | slice:
    """Indices of at most `max_points`, half of each class if it has so many, evenly spread."""
    if len(labels) <= max_points:
        return slice(None)
    classes = [np.flatnonzero(labels > 0), np.flatnonzero(labels < 0)]
    quota = max(max_points // 2, max_points - min(map(len, classes)))
    kept = [c[np.linspace(0, len(c) - 1, min(len(c), quota)).astype(int)] for c in classes]
    return np.sort(np.concatenate(kept))


def prior_covariance(
    theta: Array, X: Array, kernel: Kernel, bias: float
) -> tuple[Array, Array]:  # (n, n), (n, n)
    """Prior covariance of the latent at X and its slope d/dr2."""
    variance = np.exp(theta[-1])
    scales = np.broadcast_to(np.exp(theta[:-1]), X.shape[1:])
    k, dk = kernel(squared_distance(X, X, scales))
    K = variance * (k + bias)
    K.flat[:: len(X) + 1] += _NUGGET * variance
    return K, variance * dk


def expectation_propagation(
    K: Array, labels: Array, sites: Array, lapse: Array | float = 0.0
) -> Array:
    """Converged sites (n, 2) for prior covariance K (n, n), labels -1/+1 and lapse rates (n,).

    Parallel updates at full step; the step shrinks whenever log Z turns around, because
    neighbouring sites that react to each other at once can otherwise swing for ever.
    """
    damping, last, last_change = 1.0, -np.inf, 0.0
    for _ in range(_MAX_SWEEPS):
        mean, variance, L = site_posterior(K, sites)
        new, log_z = tilted_sites(labels, mean, variance, sites, L, lapse)
        change = log_z - last
        if abs(change) < _TOLERANCE:
            return sites
        if change * last_change < 0:
            damping = max(_MIN_DAMPING, 0.7 * damping)
        last, last_change = log_z, change
        sites = sites + damping * (new - sites)
    return sites


def site_posterior(K: Array, sites: Array) -> tuple[Array, Array, Array]:
    """Marginal posterior mean (n,), variance (n,) and factor L of B (R&W eq. 3.67, 3.68)."""
    root = np.sqrt(sites[:, 0])
    scaled = root[:, None] * K
    B = scaled * root
    B.flat[:: len(K) + 1] += 1.0
    L = cholesky(B)
    V = forward(L, scaled)
    nu = sites[:, 1]
    return K @ nu - V.T @ (V @ nu), np.diagonal(K) - np.einsum("ij,ij->j", V, V), L


def tilted_sites(
    labels: Array,
    mean: Array,
    variance: Array,
    sites: Array,
    L: Array,
    lapse: Array | float = 0.0,
) -> tuple[Array, float]:
    """Sites (n, 2) that match the tilted moments, and log Z of the present ones.

    Cavity: R&W eq. 3.56; moments: eq. 3.58, solved for the new site so that no difference of
    nearly equal precisions is taken; log Z: eq. 3.65 (as in eq. 3.73 and 3.74). With a lapse rate
    e the factor of a failure is e + (1 - e) Phi(z), which is convex in log where luck is the
    likelier explanation: such a site shifts the mean and has no precision.
    """
    tau, nu = sites.T
    cavity_precision = np.maximum(1.0 / variance - tau, 1e-300)
    cavity_var = 1.0 / cavity_precision
    cavity_mean = cavity_var * (mean / variance - nu)
    norm = np.sqrt(1.0 + cavity_var)
    z = labels * cavity_mean / norm
    log_p, ratio = log_lapsed(z, np.where(labels < 0, lapse, 0.0))
    # Between 0 and 1; far out it is 1 unless luck explains it, and the difference has no digits.
    far_out = (z < _FAR_OUT) & (ratio > 0)
    fall = np.where(far_out, 1.0, np.maximum(ratio * (z + ratio), 0.0))
    curvature = fall / (1.0 + cavity_var)
    shrink = np.maximum(1.0 - cavity_var * curvature, 1e-12)
    new = np.column_stack(
        [curvature / shrink, (labels * ratio / norm + cavity_mean * curvature) / shrink]
    )
    total = cavity_precision + tau
    log_z = (
        log_p.sum()
        + np.where(labels > 0, np.log1p(-np.asarray(lapse)), 0.0).sum()
        + 0.5 * np.log1p(tau * cavity_var).sum()
        - np.log(np.diagonal(L)).sum()
        + 0.5 * (nu @ mean - (nu**2 / total).sum())
        + 0.5 * (cavity_mean * cavity_precision * (tau * cavity_mean - 2 * nu) / total).sum()
    )
    return new, float(log_z)


class Evidence:
    """theta -> (-log Z, gradient), warm-starting EP from the sites of the last call."""

    def __init__(
        self,
        X: Array,
        labels: Array,
        settings: GPClassifier,
        sites: Array,
        lapses: Array | float = 0.0,
    ) -> None:
        self.X, self.labels, self.settings, self.sites = X, labels, settings, sites
        self.lapses = lapses

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """R&W eq. 5.27: at EP's fixed point only the explicit dependence on theta counts."""
        K, dk = prior_covariance(theta, self.X, self.settings.kernel, self.settings.bias)
        self.sites = expectation_propagation(K, self.labels, self.sites, self.lapses)
        mean, variance, L = site_posterior(K, self.sites)
        log_z = tilted_sites(self.labels, mean, variance, self.sites, L, self.lapses)[1]
        return -log_z, evidence_gradient(theta, self.X, self.sites, K, dk, L, self.settings)


def evidence_gradient(
    theta: Array, X: Array, sites: Array, K: Array, dk: Array, L: Array, settings: GPClassifier
) -> Array:  # (p,)
    """d(-log Z) / dtheta, the sites held; K, dk of `prior_covariance`, L of `site_posterior`."""
    root = np.sqrt(sites[:, 0])
    W = root[:, None] * inverse(L) * root
    weights = sites[:, 1] - W @ (K @ sites[:, 1])
    W -= np.outer(weights, weights)
    scales = np.broadcast_to(np.exp(theta[:-1]), X.shape[1:])
    by_scale = 0.5 * scale_gradient(X, scales, W * dk)
    by_scale = by_scale if settings.ard else by_scale.sum(keepdims=True)
    return np.append(by_scale, 0.5 * np.vdot(W, K))


def condition(
    theta: Array, X: Array, sites: Array, K: Array, settings: GPClassifier, mean: float = 0.0
) -> GPClassifierModel:
    """The model with hyperparameters theta and converged sites (n, 2)."""
    root = np.sqrt(sites[:, 0])
    B = root[:, None] * K * root
    B.flat[:: len(K) + 1] += 1.0
    W = whitener(cholesky(B)) * root
    nu = sites[:, 1]
    weights = nu - W.T @ (W @ (K @ nu))
    return GPClassifierModel(settings, theta, X, sites, W, weights, mean=mean)
