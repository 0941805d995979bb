"""Hyperparameters in log units: ranges, log-normal priors, and their MAP estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array
from becbo.errors import InvalidInput


@dataclass(frozen=True)
class Range:
    """One positive hyperparameter: where it may lie and what is likely.

    `typical` is the starting value and, with a finite `spread` (standard deviation of the
    logarithm), the median of a log-normal prior. `low == high` keeps it fixed.
    """

    typical: float
    low: float
    high: float
    spread: float = np.inf

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.typical <= self.high and self.spread > 0):
            raise InvalidInput(f"{self}: needs 0 < low <= typical <= high and spread > 0")

    def scaled(self, factor: float) -> Range:
        """The same range with its typical value moved by `factor`, limits unchanged."""
        typical = min(max(self.typical * factor, self.low), self.high)
        return Range(typical, self.low, self.high, self.spread)


def fixed(value: float) -> Range:
    """A hyperparameter that is not estimated."""
    return Range(value, value, value)


def typical_theta(ranges: list[Range]) -> Array:  # (p,)
    """Logarithms of the typical values."""
    return np.log([r.typical for r in ranges])


def map_estimate(
    loss: Callable[[Array], tuple[float, Array]],
    ranges: list[Range],
    start: Array,
    n_iterations: int,
) -> Array:  # (p,) -> (p,)
    """argmin of loss(theta) + prior over the box, by L-BFGS from `start`.

    `loss` returns its value and gradient at theta = log(hyperparameters). The number of
    evaluations is capped too: late in a run the likelihood of nearly noise-free data is so
    ill-conditioned that line searches would take most of the time for no gain.
    """
    from scipy.optimize import minimize  # a fifth of the time that `import becbo` may take

    if n_iterations == 0:
        return start
    centre = typical_theta(ranges)
    precision = np.array([r.spread**-2.0 for r in ranges])
    bounds = np.log([(r.low, r.high) for r in ranges])
    best = (np.inf, start)

    def penalised(theta: Array) -> tuple[float, Array]:
        nonlocal best
        value, gradient = loss(theta)
        gap = theta - centre
        value += 0.5 * float(precision @ gap**2)
        if value < best[0]:
            best = (value, theta.copy())
        return value, gradient + precision * gap

    minimize(
        penalised,
        np.clip(start, bounds[:, 0], bounds[:, 1]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": n_iterations, "maxfun": int(1.5 * n_iterations)},
    )
    return best[1]
