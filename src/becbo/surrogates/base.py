"""What every model of the value and every model of feasibility can do."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from becbo.arrays import Array

# Gauss-Hermite quadrature with as many nodes as GPyTorch's likelihoods: for t ~ N(0, 1),
# E h(t) = WEIGHTS @ h(NODES), and MOMENTS @ h(NODES) is E h and E t h at once.
_nodes, _weights = np.polynomial.hermite_e.hermegauss(20)
NODES = _nodes[:, None]  # (20, 1)
WEIGHTS = _weights / _weights.sum()  # (20,)
MOMENTS = np.stack([WEIGHTS, WEIGHTS * _nodes])  # (2, 20)


class Regressor(Protocol):
    """A fitted model of the value (to be maximised)."""

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales."""
        ...

    @property
    def resolution(self) -> float:
        """The smallest difference between values that the model can tell from zero."""
        ...

    def predict(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Posterior mean and standard deviation."""
        ...

    def predict_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Mean (m,), std (m,) and their input gradients (m, d), (m, d)."""
        ...

    def believe(self, X: Array) -> Regressor:
        """The model after seeing its own mean at pending points X."""
        ...


class FeasibilityModel(Protocol):
    """A fitted model of C(x), the probability that a design is feasible.

    The score u(x) is the probit of C(x): C = Phi(u). It keeps a usable slope where C itself
    is 0 or 1 to machine precision. The spread w(x) is sigma_E, half the width of the
    one-sigma interval in probability.
    """

    @property
    def scales(self) -> Array:  # (d,)
        """Length scales; ones if the model has none."""
        ...

    @property
    def doubt(self) -> float:
        """What a search subtracts from the score, because it ends where models overestimate."""
        ...

    @property
    def optimism(self) -> float:
        """By how much the score of a point that a search has refined is too high."""
        ...

    @property
    def is_sharp(self) -> bool:
        """Whether the score is steep where C = 0.5, so that a search takes more steps there."""
        ...

    @property
    def lapse(self) -> float:
        """The chance that a feasible design fails all the same, by bad luck."""
        ...

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u and spread w."""
        ...

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        ...

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """Lower and upper end of the one-sigma interval of C."""
        ...

    def believe(self, X: Array) -> FeasibilityModel:
        """The model after seeing what it expects at pending points X."""
        ...


class LatentModel(FeasibilityModel, Protocol):
    """A feasibility model with a Gaussian latent g(x): feasible where g >= 0."""

    def latent(self, X: Array) -> tuple[Array, Array]:
        """Latent mean and standard deviation."""
        ...

    def latent_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Latent mean, std and their input gradients."""
        ...


def normal_pdf(z: Array) -> Array:
    """Density of the standard normal."""
    return np.asarray(np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi))


def mills(z: Array) -> Array:
    """phi(z) / Phi(z), the derivative of log Phi, accurate for very negative z."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2)))


def log_lapsed(z: Array, lapse: Array | float) -> tuple[Array, Array]:
    """log P of P = e + (1 - e) Phi(z), and its derivative by z, for a lapse rate e below 1."""
    with np.errstate(divide="ignore"):
        log_e = np.log(lapse)
    by_merit = np.log1p(-np.asarray(lapse)) + log_ndtr(z)
    log_p = np.logaddexp(log_e, by_merit)
    return log_p, mills(z) * np.exp(by_merit - log_p)


def probit_score(mean: Array, std: Array) -> tuple[Array, Array]:
    """(u, w) of a Gaussian latent under the probit likelihood.

    C = E[Phi(g)] = Phi(mean / sqrt(1 + std^2)), and the paper's
    sigma_E = (Phi(mean + std) - Phi(mean - std)) / 2 (appendix A.1.2).
    """
    return mean / np.sqrt(1 + std**2), (ndtr(mean + std) - ndtr(mean - std)) / 2


def probit_score_grad(
    mean: Array, std: Array, dmean: Array, dstd: Array
) -> tuple[Array, Array, Array, Array]:
    """`probit_score` with input gradients (m, d)."""
    u, w = probit_score(mean, std)
    norm = np.sqrt(1 + std**2)
    du = dmean / norm[:, None] - (u * std / norm**2)[:, None] * dstd
    up, down = normal_pdf(mean + std), normal_pdf(mean - std)
    dw = ((up - down)[:, None] * dmean + (up + down)[:, None] * dstd) / 2
    return u, w, du, dw


def probit_interval(mean: Array, std: Array) -> tuple[Array, Array]:
    """C if the latent mean were one standard deviation lower, or higher.

    The paper's [Phi(mean - std), Phi(mean + std)] need not contain C: with a latent variance of
    1e8 both ends may be 1 where C is 0.9.
    """
    norm = np.sqrt(1 + std**2)
    return ndtr((mean - std) / norm), ndtr((mean + std) / norm)
