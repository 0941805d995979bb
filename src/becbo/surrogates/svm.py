"""Support vector machine as a model of feasibility: a boundary, not a probability.

Cortes and Vapnik, "Support-vector networks", Machine Learning 20, 1995. The machine is fitted by
scikit-learn; the decision function and its gradient are evaluated here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from becbo.arrays import Array, Mask
from becbo.extras import needed_extras
from becbo.surrogates.kernels import input_gradient, rbf, squared_distance

# The chance to work that a decision of 1, the margin, stands for. A machine knows no
# probabilities: the map C = Phi(slope * decision) is a convention, right only in that it grows
# and is 0.5 at the boundary.
MARGIN_PROBABILITY = 0.9
_SLOPE = float(ndtri(MARGIN_PROBABILITY))
_MIN_SPREAD = 1e-4  # variance of inputs that all but coincide


@dataclass(frozen=True)
class SupportVectorClassifier:
    """Settings: the penalty of a label on the wrong side; the kernel's width follows the data."""

    penalty: float = 1.0

    def fit(self, X: Array, feasible: Mask) -> SvmModel:
        """Model of the labels (n,) at X (n, d); of a single class, the same decision anywhere."""
        variance = spread(X)
        scales = np.full(X.shape[1], np.sqrt(variance))
        if feasible.all() or not feasible.any():
            return SvmModel(X[:0], np.zeros(0), 1.0 if feasible.all() else -1.0, scales)
        machine = _svc()(C=self.penalty, kernel="rbf", gamma=1.0 / (2.0 * variance))
        machine.fit(X, feasible)
        weights, offset = machine.dual_coef_[0], float(machine.intercept_[0])
        return SvmModel(np.asarray(machine.support_vectors_), weights, offset, scales)


@dataclass(frozen=True)
class SvmModel:
    """A fitted machine: predicted feasible where the decision is positive."""

    X: Array  # (n, d) support vectors
    weights: Array  # (n,) label times dual coefficient
    offset: float
    scales: Array  # (d,) width of the kernel, the same for all inputs

    doubt: ClassVar[float] = 0.0
    optimism: ClassVar[float] = 0.0
    lapse: ClassVar[float] = 0.0
    is_sharp: ClassVar[bool] = False

    def decision(self, X: Array) -> Array:  # (m, d) -> (m,)
        """Signed distance to the boundary in units of the margin."""
        k = rbf(squared_distance(X, self.X, self.scales))[0]
        return np.asarray(k @ self.weights + self.offset)

    def decision_grad(self, X: Array) -> tuple[Array, Array]:  # (m,), (m, d)
        """Decision and its input gradient."""
        k, dk = rbf(squared_distance(X, self.X, self.scales))
        gradient = input_gradient(X, self.X, self.scales, dk * self.weights)
        return k @ self.weights + self.offset, gradient

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u with C = Phi(u), and spread w = 0: a machine does not know what it ignores."""
        return _SLOPE * self.decision(X), np.zeros(len(X))

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """u (m,), w (m,) and their input gradients (m, d), (m, d)."""
        decision, gradient = self.decision_grad(X)
        return _SLOPE * decision, np.zeros(len(X)), _SLOPE * gradient, np.zeros_like(X)

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m,), (m,)
        """C twice: the band has no width."""
        C = ndtr(self.score(X)[0])
        return C, C

    def believe(self, X: Array) -> SvmModel:
        """The same model: its own label at a pending point tells a machine nothing."""
        del X
        return self


def spread(X: Array) -> float:  # (n, d)
    """Variance over all entries of X: the squared width of the kernel."""
    return max(float(X.var()), _MIN_SPREAD)


def _svc() -> type:
    with needed_extras():
        from sklearn.svm import SVC
    return SVC  # type: ignore[no-any-return]
