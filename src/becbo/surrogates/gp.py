"""Exact Gaussian process regression with analytic gradients.

Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006 (R&W), chapters 2 and 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from becbo.arrays import Array
from becbo.surrogates.hyper import Range, fixed, map_estimate, typical_theta
from becbo.surrogates.kernels import (
    Kernel,
    input_gradient,
    matern52,
    rbf,
    scale_gradient,
    squared_distance,
)
from becbo.surrogates.linalg import backward, cholesky, extend, forward, inverse, whitener

# Standard deviations below this share of the prior one are rounding errors.
MIN_STD = 1e-9

Path = Callable[[Array], Array]  # (m, d) -> (m,): one function drawn from a Gaussian process
N_FEATURES = 1024
# A kernel's spectral density is a multivariate t distribution with so many degrees of freedom.
_SPECTRAL_FREEDOM: dict[Kernel, float] = {matern52: 5.0, rbf: np.inf}


@dataclass(frozen=True)
class GaussianProcess:
    """Settings of the regression: kernel, hyperparameter ranges, effort.

    Values are standardised first, so `scale` and `noise` are variances relative to the
    variance of the data. `nugget` is a share of the kernel variance that keeps the covariance
    well-conditioned. The typical length scale grows with sqrt(d) when `scale_with_dim`.
    """

    kernel: Kernel = matern52
    lengthscale: Range = Range(0.5, 0.01, 30.0, spread=1.0)
    scale: Range = Range(1.0, np.exp(-4.0), np.exp(7.0), spread=1.5)
    noise: Range = fixed(1e-10)
    nugget: float = 1e-8
    scale_with_dim: bool = True
    n_iterations: int = 30
    n_warm_iterations: int = 6
    max_points: int = 256  # hyperparameters are learned from at most this many points

    def fit(self, X: Array, y: Array, start: GPModel | None = None) -> GPModel:
        """Model of y (n,) at X (n, d); `start` is an earlier fit to begin from."""
        X, y = self.distinct(X, y)
        z, shift, unit = standardise(y)
        ranges = self._ranges(X.shape[1])
        theta = typical_theta(ranges) if start is None else start.theta
        subset = informative_subset(z, self.max_points)
        theta = map_estimate(
            lambda t: negative_log_likelihood(t, X[subset], z[subset], self.kernel, self.nugget),
            ranges,
            theta,
            self.n_iterations if start is None else self.n_warm_iterations,
        )
        return condition(theta, X, z, self.kernel, self.nugget, shift, unit)

    def distinct(self, X: Array, y: Array) -> tuple[Array, Array]:
        """The data as they are fitted: without noise, each design once."""
        return merge_repeats(X, y) if self.noise.high <= 1e-6 else (X, y)

    def _ranges(self, d: int) -> list[Range]:
        factor = np.sqrt(d) if self.scale_with_dim else 1.0
        return [self.lengthscale.scaled(factor)] * d + [self.scale, self.noise]


@dataclass(frozen=True)
class GPModel:
    """A Gaussian process posterior, in the units of y."""

    kernel: Kernel
    theta: Array  # (d + 2,) logarithms of length scales, kernel variance, noise
    nugget: float
    X: Array  # (n, d)
    W: Array  # (n, n) whitener of the data: W K W^T = I for their covariance K
    weights: Array  # (n,) covariance^-1 (z - mean)
    mean: float  # of the prior, in standardised units
    shift: float
    unit: float  # y = shift + unit * z

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales."""
        return np.asarray(np.exp(self.theta[:-2]))

    @property
    def variance(self) -> float:
        """Kernel variance, in standardised units."""
        return float(np.exp(self.theta[-2]))

    @property
    def resolution(self) -> float:
        """The standard deviation that the nugget stands for, in the units of y."""
        return self.unit * float(np.sqrt(self.nugget * self.variance))

    def predict(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Posterior mean and standard deviation of the noise-free value."""
        k = self.variance * self.kernel(squared_distance(X, self.X, self.scales))[0]
        V = k @ self.W.T
        std = self._std(self.variance - np.einsum("ij,ij->i", V, V))
        return self.shift + self.unit * (self.mean + k @ self.weights), self.unit * std

    def predict_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (m,), std (m,) and their input gradients (m, d), (m, d)."""
        k, dk = self.kernel(squared_distance(X, self.X, self.scales))
        k, dk = self.variance * k, self.variance * dk
        V = k @ self.W.T
        std = self._std(self.variance - np.einsum("ij,ij->i", V, V))
        dmean = input_gradient(X, self.X, self.scales, dk * self.weights)
        dvar = -2.0 * input_gradient(X, self.X, self.scales, dk * (V @ self.W))
        mean = self.shift + self.unit * (self.mean + k @ self.weights)
        return mean, self.unit * std, self.unit * dmean, self.unit * dvar / (2 * std[:, None])

    def path(self, rng: np.random.Generator) -> Path:
        """A function drawn from the posterior."""
        prior = prior_path(self.kernel, self.scales, self.variance, rng)
        noise = np.full(len(self.X), self.variance * self.nugget + np.exp(self.theta[-1]))
        weights = self.weights + update_weights(prior, self.X, self.W, noise, rng)

        def path(X: Array) -> Array:
            k = self.variance * self.kernel(squared_distance(X, self.X, self.scales))[0]
            return self.shift + self.unit * (self.mean + prior(X) + k @ weights)

        return path

    def believe(self, X: Array) -> GPModel:
        """The posterior after observing its own mean at X: same mean, less uncertainty."""
        # An observation equal to the prediction has no innovation, so its weight is zero.
        cross = self.variance * self.kernel(squared_distance(self.X, X, self.scales))[0]
        block = covariance(self.theta, X, self.kernel, self.nugget)[0]
        return replace(
            self,
            X=np.vstack([self.X, X]),
            W=extend(self.W, cross, block),
            weights=np.append(self.weights, np.zeros(len(X))),
        )

    def _std(self, variance: Array) -> Array:
        return np.asarray(np.sqrt(np.maximum(variance, MIN_STD**2 * self.variance)))


def covariance(
    theta: Array, X: Array, kernel: Kernel, nugget: float
) -> tuple[Array, Array, Array]:  # (n, n) each
    """Covariance of the observations, the kernel part of it, and its slope d/dr2."""
    variance, noise = np.exp(theta[-2:])
    k, dk = kernel(squared_distance(X, X, np.exp(theta[:-2])))
    k *= variance
    k.flat[:: len(X) + 1] += variance * nugget
    K = k.copy()
    K.flat[:: len(X) + 1] += noise
    return K, k, variance * dk


def negative_log_likelihood(
    theta: Array, X: Array, z: Array, kernel: Kernel, nugget: float
) -> tuple[float, Array]:
    """-log p(z | X, theta) with the constant mean at its optimum, and its gradient (p,).

    R&W eq. 5.8 and 5.9. The mean is the generalised least squares estimate, which is also
    the maximiser of the likelihood, so its own gradient vanishes.
    """
    K, k, dk = covariance(theta, X, kernel, nugget)
    L = cholesky(K)
    mean, weights = _mean_and_weights(L, z)
    value = 0.5 * (z - mean) @ weights + np.log(np.diagonal(L)).sum()
    value += 0.5 * len(z) * np.log(2 * np.pi)
    W = inverse(L)
    W -= np.outer(weights, weights)
    gradient = np.concatenate(
        [
            0.5 * scale_gradient(X, np.exp(theta[:-2]), W * dk),
            [0.5 * np.vdot(W, k), 0.5 * np.exp(theta[-1]) * np.trace(W)],
        ]
    )
    return float(value), gradient


def condition(
    theta: Array,
    X: Array,
    z: Array,
    kernel: Kernel,
    nugget: float,
    shift: float,
    unit: float,
    extra_noise: Array | None = None,
) -> GPModel:
    """The posterior with hyperparameters theta, given standardised values z (n,).

    `extra_noise` (n,) are variances in addition to the noise that all values share.
    """
    K = covariance(theta, X, kernel, nugget)[0]
    if extra_noise is not None:
        K.flat[:: len(X) + 1] += extra_noise
    L = cholesky(K)
    mean, weights = _mean_and_weights(L, z)
    return GPModel(kernel, theta, nugget, X, whitener(L), weights, mean, shift, unit)


def _mean_and_weights(L: Array, z: Array) -> tuple[float, Array]:
    """Generalised least squares mean, and covariance^-1 (z - mean)."""
    solved = backward(L, forward(L, np.column_stack([z, np.ones_like(z)])))
    mean = float(solved[:, 0].sum() / solved[:, 1].sum())
    return mean, solved[:, 0] - mean * solved[:, 1]


def frequencies(kernel: Kernel, n: int, d: int, rng: np.random.Generator) -> Array:  # (n, d)
    """Draws from the spectral density of a kernel with length scale 1."""
    freedom = _SPECTRAL_FREEDOM[kernel]
    normal = rng.standard_normal((n, d))
    if np.isinf(freedom):
        return normal
    return np.asarray(normal / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom))


def prior_path(
    kernel: Kernel, scales: Array, variance: float, rng: np.random.Generator
) -> Callable[..., Array]:
    """(X, dtype=float32) -> (m,): a function drawn from the prior, by random Fourier features.

    Rahimi and Recht, "Random features for large-scale kernel machines", NeurIPS 2007. Cosines in
    single precision are forty times faster, and only where the function meets the inverse
    covariance of the data would their rounding be seen.
    """
    omega = frequencies(kernel, N_FEATURES, len(scales), rng) / scales
    phase = rng.uniform(0.0, 2 * np.pi, N_FEATURES)
    # a cos + b sin with normal a and b is a cosine with this amplitude and a random phase.
    amplitude = rng.rayleigh(np.sqrt(variance / N_FEATURES), N_FEATURES)

    def path(X: Array, dtype: Any = np.float32) -> Array:
        angle = (X @ omega.T + phase).astype(dtype)
        return np.asarray(np.cos(angle) @ amplitude.astype(dtype), dtype=float)

    return path


def update_weights(
    prior: Callable[..., Array], X: Array, W: Array, noise: Array, rng: np.random.Generator
) -> Array:  # (n, d), (n, n), (n,) -> (n,)
    """Kernel weights that turn a draw from the prior into one from the posterior, less its mean.

    Wilson et al., "Efficiently sampling functions from Gaussian process posteriors", ICML 2020,
    eq. 13: f + k K^-1 (z - f(X) - e), where k K^-1 z is the mean and e has the variances `noise`.
    """
    drawn = prior(X, np.float64) + np.sqrt(noise) * rng.standard_normal(len(X))
    return -W.T @ (W @ drawn)


def standardise(y: Array) -> tuple[Array, float, float]:
    """z (n,), shift and unit with y = shift + unit * z; z has mean 0 and variance 1."""
    size = float(np.abs(y).max()) or 1.0  # first, so that squares of huge values stay finite
    mean, std = float((y / size).mean()), float((y / size).std())
    if std <= 1e-14:  # a constant objective
        std = 1.0
    return (y / size - mean) / std, mean * size, std * size


def merge_repeats(X: Array, y: Array) -> tuple[Array, Array]:
    """Each distinct design once, with the mean of its values."""
    distinct, index = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) == len(X):
        return X, y
    index = index.ravel()
    size = float(np.abs(y).max()) or 1.0
    return distinct, size * (np.bincount(index, y / size) / np.bincount(index))


def informative_subset(z: Array, max_points: int) -> Array | slice:
    """Indices of at most max_points: one half the best, the other an even spread of the rest."""
    if len(z) <= max_points:
        return slice(None)
    order = np.argsort(-z, kind="stable")
    best, rest = order[: max_points // 2], order[max_points // 2 :]
    spread = rest[np.linspace(0, len(rest) - 1, max_points - len(best)).astype(int)]
    return np.sort(np.concatenate([best, spread]))
