"""Values known only to lie beyond a bound, against integration and rejection sampling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr

from becbo.surrogates.censored import _SHARPNESS, add_censored
from becbo.surrogates.gp import GaussianProcess, GPModel
from becbo.surrogates.kernels import squared_distance

X = np.linspace(0.0, 0.6, 6)[:, None]
VALUES = 10.0 * np.sin(4 * X[:, 0]) + 3.0
MEASURED = GaussianProcess().fit(X, VALUES)
GRID = np.linspace(0, 1, 41)[:, None]


def prior_with_mean(model: GPModel, mean: float, P):
    """Posterior mean and covariance at P given the measured values, for a prior mean we choose."""
    everything = np.vstack([X, P])
    K = model.variance * model.kernel(squared_distance(everything, everything, model.scales))[0]
    n = len(X)
    noise = (np.exp(model.theta[-1]) + model.nugget * model.variance) * np.eye(n)
    solved = np.linalg.solve(K[:n, :n] + noise, K[:n])
    z = (VALUES - model.shift) / model.unit
    means = mean + solved.T @ (z - mean)
    return means[n:], (K - K[:, :n] @ solved)[n:, n:]


def _moments(v, weight) -> tuple[float, float]:
    mean = np.average(v, weights=weight)
    return mean, np.average((v - mean) ** 2, weights=weight)


@pytest.mark.parametrize("at", [0.7, 0.85, 1.0])
@pytest.mark.parametrize("bound", [-10.0, 0.0, 8.0, 14.0, 40.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_one_censored_value_is_integrated_exactly(at: float, bound: float, side: float) -> None:
    joint = add_censored(MEASURED, VALUES, np.array([[at]]), bound, side)
    # Moments of the value there under its prior, times a step of the known sharpness.
    P = np.vstack([[[at]], GRID])
    means, cov = prior_with_mean(MEASURED, joint.mean, P)
    b = (bound - MEASURED.shift) / MEASURED.unit
    m, s = means[0], np.sqrt(cov[0, 0])
    v = np.linspace(min(m, b) - 10 * s, max(m, b) + 10 * s, 400_001)
    log_density = -0.5 * ((v - m) / s) ** 2 + log_ndtr(side * (v - b) / _SHARPNESS)
    weight = np.exp(log_density - log_density.max())
    mean, variance = _moments(v, weight)
    # Everything else follows by conditioning on the one value.
    gain = cov[:, 0] / cov[0, 0]
    want_mean = means + gain * (mean - m)
    want_var = np.diagonal(cov) - gain**2 * (cov[0, 0] - variance)
    found_mean, found_std = joint.predict(P)
    unit = MEASURED.unit
    np.testing.assert_allclose(
        (found_mean - MEASURED.shift) / unit, want_mean, rtol=5e-3, atol=5e-3
    )
    np.testing.assert_allclose(
        found_std / unit, np.sqrt(np.maximum(want_var, 1e-10)), rtol=2e-2, atol=1e-3
    )


def test_censored_values_agree_with_rejection_sampling() -> None:
    C, bound = np.array([[0.75], [0.9], [1.0]]), 6.0
    joint = add_censored(MEASURED, VALUES, C, bound, 1.0)
    P = np.vstack([C, GRID[::5]])
    means, cov = prior_with_mean(MEASURED, joint.mean, P)
    rng = np.random.default_rng(0)
    draws = rng.multivariate_normal(means, cov + 1e-12 * np.eye(len(P)), 400_000)
    b = (bound - MEASURED.shift) / MEASURED.unit
    kept = draws[(draws[:, :3] > b).all(axis=1)]
    assert len(kept) > 1000
    mean, std = joint.predict(P)
    np.testing.assert_allclose((mean - MEASURED.shift) / MEASURED.unit, kept.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(std / MEASURED.unit, kept.std(axis=0), atol=0.1)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_many_censored_values_lie_beyond_the_bound(side: float) -> None:
    rng = np.random.default_rng(1)
    P = rng.random((40, 2))
    y = P @ [2.0, 1.0]
    model = GaussianProcess().fit(P[:15], y[:15])
    bound = 1.6 if side > 0 else 1.2
    beyond = P[15:][side * (y[15:] - bound) > 0.1]
    assert len(beyond) >= 6
    joint = add_censored(model, y[:15], beyond, bound, side)
    mean, std = joint.predict(beyond)
    assert (side * (mean - bound) > 0).all() and np.isfinite(std).all()
    np.testing.assert_allclose(joint.predict(P[:15])[0], y[:15], atol=1e-3)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_censored_values_move_a_mean_that_knew_nothing_of_them(n: int) -> None:
    flat = GaussianProcess().fit(X, 1e-3 * VALUES)
    C = np.linspace(0.8, 1.0, n)[:, None]
    joint = add_censored(flat, 1e-3 * VALUES, C, 0.5, 1.0)  # far above all that was measured
    before, after = flat.predict(C)[0], joint.predict(C)[0]
    assert (before < 0.1).all() and (after > 0.45).all()
    np.testing.assert_allclose(joint.predict(X)[0], 1e-3 * VALUES, atol=1e-4)


def test_a_value_that_was_expected_beyond_the_bound_says_little() -> None:
    C = np.array([[0.45]])  # between measurements of about 12
    joint = add_censored(MEASURED, VALUES, C, 0.0, 1.0)
    for ours, theirs in zip(joint.predict(GRID), MEASURED.predict(GRID), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-3 * MEASURED.unit)


def test_repeated_statements_are_no_trouble() -> None:
    C = np.array([[0.9]] * 6)
    once = add_censored(MEASURED, VALUES, C[:1], 14.0, 1.0).predict(GRID)
    often = add_censored(MEASURED, VALUES, C, 14.0, 1.0).predict(GRID)
    assert np.isfinite(often).all()
    # The value is one and the same: a statement about it, made again, adds nothing but sharpness.
    np.testing.assert_allclose(often[0], once[0], atol=0.15 * MEASURED.unit)


def test_contradictions_are_no_trouble() -> None:
    # Measured at 12, and yet said to be above 40: the measurement wins, nothing overflows.
    joint = add_censored(MEASURED, VALUES, X[3:4], 40.0, 1.0)
    mean, std = joint.predict(GRID)
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    assert joint.predict(X)[0] == pytest.approx(VALUES, abs=0.2 * MEASURED.unit)
