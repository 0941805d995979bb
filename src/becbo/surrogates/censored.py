"""Values that are only known to lie beyond a bound, in the regression of those that were measured.

A failure that names a limit without a number says that the value was beyond it. Expectation
propagation turns each such statement into a Gaussian observation of its own precision, by the
probit sites of `gp_classifier`.
"""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array
from becbo.surrogates.gp import GPModel, condition
from becbo.surrogates.gp_classifier import tilted_sites

_SHARPNESS = 0.05  # width of the step at the bound, in standard deviations of the values
_N_SWEEPS, _DAMPING = 20, 0.7
_TOLERANCE = 1e-3
_MIN_PRECISION = 1e-6  # of a site, relative to the step
_FAR = 1e50  # standard deviations of the values: a bound further away makes no difference


def add_censored(model: GPModel, y: Array, X: Array, bound: float, side: float) -> GPModel:
    """Adds values beyond a bound to a regression.

    Args:
        model: the regression of the measured values.
        y: the measured values (n,), in the order of `model.X`.
        X: designs (c, d) whose value is beyond the bound.
        bound: the bound, in the units of y.
        side: 1 if the values lie above the bound, -1 if below.

    Returns:
        The regression of both.
    """
    z, b = (y - model.shift) / model.unit, (bound - model.shift) / model.unit
    b = float(np.clip(b, -_FAR, _FAR))
    noise = float(np.exp(model.theta[-1]))
    step = np.sqrt(_SHARPNESS**2 + noise)  # what would have been measured is noisy
    shared = noise + model.nugget * model.variance  # of every observation; sites have their own
    sites, joint = np.zeros((len(X), 2)), model
    for _ in range(_N_SWEEPS):
        mean, std = joint.predict(X)
        latent = side * ((mean - model.shift) / model.unit - b) / step
        variance = (std / model.unit / step) ** 2
        new, _ = tilted_sites(np.ones(len(X)), latent, variance, sites, np.eye(len(X)))
        change = _DAMPING * (new - sites)
        sites = sites + change
        tau = np.maximum(sites[:, 0], _MIN_PRECISION)
        told = b + side * step * sites[:, 1] / tau
        joint = condition(
            model.theta,
            np.vstack([model.X, X]),
            np.concatenate([z, told]),
            model.kernel,
            model.nugget,
            model.shift,
            model.unit,
            np.concatenate([np.zeros(len(z)), step**2 / tau - shared]),
        )
        if np.abs(change).max() < _TOLERANCE * (1.0 + np.abs(sites).max()):
            break
    return joint
