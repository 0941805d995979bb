"""Warped values: what they predict, and which warp the evidence prefers."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from becbo.surrogates.gp import GaussianProcess, covariance
from becbo.surrogates.warped import Bilog, Plain, WarpedModel, evidence

steady = settings(deadline=None, derandomize=True)

WARPS = [Plain(), Bilog(0.0, 1.0), Bilog(-3.0, 0.2), Bilog(200.0, 1e4)]
warps = pytest.mark.parametrize("warp", WARPS, ids=str)


# -- warps -------------------------------------------------------------------------------------


@warps
@steady
@given(y=st.floats(-1e6, 1e6))
def test_a_value_that_is_known_is_restored(warp, y: float) -> None:
    mean, std = warp.restore(warp.forward(np.array([y])), np.zeros(1))
    assert (mean[0], std[0]) == (pytest.approx(y, rel=1e-9, abs=1e-9), 0.0)


@warps
def test_warps_increase_and_know_their_slope(warp) -> None:
    y = np.linspace(-700, 700, 400)[:, None]
    assert (np.diff(warp.forward(y[:, 0])) > 0).all()
    slope = numeric_gradient(lambda v: warp.forward(v[:, 0]), y, 1e-4)[:, 0]
    np.testing.assert_allclose(np.exp(warp.log_slope(y[:, 0])), slope, rtol=1e-3)


def test_bilog_is_linear_at_its_centre_and_logarithmic_far_away() -> None:
    warp = Bilog(centre=5.0, scale=2.0)
    small = np.array([-1e-6, 0.0, 1e-6])
    np.testing.assert_allclose(warp.forward(5.0 + small), small / 2.0, rtol=1e-5, atol=1e-15)
    far = 5.0 + np.array([-2e8, 2e8, 2e9])
    np.testing.assert_allclose(warp.forward(far), np.log(1e8) * np.array([-1, 1, 9 / 8]), rtol=1e-6)
    assert (np.abs(warp.forward(np.array([-np.inf, np.inf]))) == np.inf).all()
    assert np.isfinite(warp.restore(np.array([-1e9, 1e9]), np.array([1.0, 1e9]))).all()


# -- evidence ----------------------------------------------------------------------------------


@warps
def test_evidence_is_the_density_of_the_values(warp) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((8, 2)), rng.normal(size=8) * 3
    model = GaussianProcess().fit(X, warp.forward(y))
    K = model.unit**2 * covariance(model.theta, X, model.kernel, model.nugget)[0]
    mean = model.shift + model.unit * model.mean
    density = multivariate_normal(np.full(8, mean), K, allow_singular=True)
    want = density.logpdf(warp.forward(y)) + warp.log_slope(y).sum()
    assert evidence(model, warp, X, y) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_evidence_compares_warps_in_any_unit(unit: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((20, 2))
    straight, steep = X @ [3.0, -2.0], np.exp(9 * X[:, 0]) - np.exp(6 * X[:, 1])

    def gain(y) -> float:  # of the warp
        plain, bilog = Plain(), Bilog(0.0, float(np.median(np.abs(y))))
        fits = [GaussianProcess().fit(X, warp.forward(y)) for warp in (plain, bilog)]
        return evidence(fits[1], bilog, X, y) - evidence(fits[0], plain, X, y)

    assert gain(unit * steep) > 5 > -5 > gain(unit * straight)
    assert gain(unit * steep) == pytest.approx(gain(steep), rel=1e-3)


# -- predictions -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).random((15, 2))
    return X, 50.0 * np.exp(4 * X[:, 0]) * (0.5 + X[:, 1])


@warps
def test_predictions_are_in_the_units_of_the_value(data, warp) -> None:
    X, y = data
    model = WarpedModel(GaussianProcess().fit(X, warp.forward(y)), warp)
    mean, std = model.predict(X)
    np.testing.assert_allclose(mean, y, rtol=0.02)
    assert (std > 0).all() and (std < 0.1 * y).all()
    assert (model.scales == model.inner.scales).all()


def test_the_prediction_is_the_median_and_the_one_sigma_interval(data) -> None:
    X, y = data
    warp = Bilog(100.0, 30.0)
    model = WarpedModel(GaussianProcess().fit(X, warp.forward(y)), warp)
    P = np.random.default_rng(1).random((6, 2))
    inner_mean, inner_std = model.inner.predict(P)
    draws = np.random.default_rng(2).normal(inner_mean, inner_std, (200_000, 6))
    values = warp.restore(draws, np.zeros_like(draws))[0]
    mean, std = model.predict(P)
    np.testing.assert_allclose(mean, np.median(values, axis=0), rtol=0.02)
    low, high = np.quantile(values, ndtr([-1.0, 1.0]), axis=0)
    np.testing.assert_allclose(std, (high - low) / 2, rtol=0.02)


def test_believing_keeps_the_median_and_narrows_the_interval(data) -> None:
    X, y = data
    warp = Bilog(100.0, 30.0)
    model = WarpedModel(GaussianProcess().fit(X, warp.forward(y)), warp)
    P = np.random.default_rng(1).random((3, 2))
    before, after = model.predict(P), model.believe(P).predict(P)
    np.testing.assert_allclose(after[0], before[0], rtol=1e-6)
    assert (after[1] < 0.25 * before[1]).all()
