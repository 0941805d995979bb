"""Warped values: which warp the evidence prefers, and the chance to keep a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import multivariate_normal, norm

from becbo.surrogates.gp import GaussianProcess, covariance
from becbo.surrogates.warped import Bilog, Plain, Threshold, WarpedModel, evidence

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


# -- the chance to keep a bound ----------------------------------------------------------------


@dataclass(frozen=True)
class Stated:
    """A Gaussian process whose mean and standard deviation are the inputs."""

    scales = np.ones(2)

    def predict(self, X):
        return X[:, 0], X[:, 1]

    def predict_grad(self, X):
        return *self.predict(X), *np.broadcast_to(np.eye(2)[:, None], (2, len(X), 2)).copy()


BOUNDS = [(-np.inf, 2.0), (-1.0, np.inf), (-1.0, 2.0), (-0.05, 0.02)]
bounds = pytest.mark.parametrize("low, high", BOUNDS)


def threshold(low: float, high: float, warp=WARPS[0]) -> Threshold:
    return Threshold(WarpedModel(Stated(), warp), low, high)  # type: ignore[arg-type]


def beliefs(n: int = 60, seed: int = 0):  # (n, 2)
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-4, 5, n), np.exp(rng.uniform(-1.5, 2, n))])


@bounds
@warps
def test_the_score_is_the_probit_of_the_probability(low: float, high: float, warp) -> None:
    X = beliefs()
    u, w = threshold(low, high, warp).score(X)
    ends = warp.forward(np.array([low, high]))
    prob = norm.cdf(ends[1], X[:, 0], X[:, 1]) - norm.cdf(ends[0], X[:, 0], X[:, 1])
    np.testing.assert_allclose(ndtr(u), prob, rtol=1e-7, atol=1e-12)
    is_moderate = (prob > 1e-4) & (prob < 1 - 1e-4)
    np.testing.assert_allclose(u[is_moderate], norm.ppf(prob[is_moderate]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(w, (norm.cdf(u + 1) - norm.cdf(u - 1)) / 2)


@bounds
def test_gradients_are_the_derivatives(low: float, high: float) -> None:
    model, X = threshold(low, high), beliefs()
    u, w, du, dw = model.score_grad(X)
    np.testing.assert_allclose((u, w), model.score(X), rtol=1e-12)
    numeric = numeric_gradient(lambda P: np.array(model.score(P)), X, 1e-6)
    np.testing.assert_allclose(du, numeric[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dw, numeric[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("warp", [Plain(), Bilog(100.0, 30.0)], ids=str)
@pytest.mark.parametrize("low, high", [(-np.inf, 200.0), (100.0, np.inf), (100.0, 200.0)])
def test_gradients_go_through_the_model(data, warp, low: float, high: float) -> None:
    X, y = data
    inner = GaussianProcess().fit(X, warp.forward(y))
    model = Threshold(WarpedModel(inner, warp), low, high)
    P = np.random.default_rng(1).random((60, 2))
    u, w, du, dw = model.score_grad(P)
    near = np.abs(u) < 6
    assert near.sum() >= 5
    numeric = numeric_gradient(lambda Q: np.array(model.score(Q)), P, 1e-6)
    np.testing.assert_allclose(du[near], numeric[0][near], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(dw[near], numeric[1][near], rtol=1e-3, atol=1e-3)


@bounds
@pytest.mark.parametrize("std", [1e-9, 1e-4, 1.0, 1e6])
def test_the_score_is_finite_far_away(low: float, high: float, std: float) -> None:
    mean = np.concatenate([-np.geomspace(1e6, 1e-3, 40), np.geomspace(1e-3, 1e6, 40)])
    model = threshold(low, high)
    u, w, du, dw = model.score_grad(np.column_stack([mean, np.full(80, std)]))
    assert np.isfinite(u).all() and np.isfinite(w).all()
    assert np.isfinite(du).all() and np.isfinite(dw).all()
    # Towards the bounds is better.
    middle = np.mean([end for end in (low, high) if np.isfinite(end)])
    far = np.abs(mean - middle) > 10
    is_outside = (mean < low) | (mean > high)
    toward = np.sign(middle - mean)
    assert (toward * du[:, 0] >= 0)[far & is_outside].all()
    assert (toward * du[:, 0] > 0)[far & is_outside & (std < 1e3)].all()


@pytest.mark.parametrize("std", [1e-9, 1e-6, 1e-3])
def test_far_outside_two_bounds_count_as_one(std: float) -> None:
    X = np.column_stack([np.linspace(2.5, 60, 30), np.full(30, std)])
    two, one = threshold(-1.0, 2.0).score_grad(X), threshold(-np.inf, 2.0).score_grad(X)
    np.testing.assert_allclose(two[0], one[0], rtol=1e-6)
    np.testing.assert_allclose(two[2], one[2], rtol=1e-4, atol=1e-9)


def test_the_band_is_one_score_wide() -> None:
    model, X = threshold(-1.0, 2.0), beliefs()
    low, high = model.interval(X)
    u = model.score(X)[0]
    np.testing.assert_allclose(low, ndtr(u - 1))
    np.testing.assert_allclose(high, ndtr(u + 1))


def test_the_chance_is_that_of_the_value_and_not_of_the_warped_one(data) -> None:
    X, y = data
    P = np.random.default_rng(1).random((40, 2))
    chances = {}
    for warp in (Plain(), Bilog(150.0, 60.0)):
        model = WarpedModel(GaussianProcess().fit(X, warp.forward(y)), warp)
        keeps = Threshold(model, -np.inf, 150.0)
        chances[str(warp)] = ndtr(keeps.score(P)[0])
        measured = ndtr(keeps.score(X)[0])
        np.testing.assert_array_equal(measured > 0.5, y < 150.0)
    plain, warped = chances.values()
    truth = 50.0 * np.exp(4 * P[:, 0]) * (0.5 + P[:, 1]) < 150.0
    assert ((plain > 0.5) == truth).mean() > 0.8 and ((warped > 0.5) == truth).mean() > 0.8


def test_believing_makes_sure() -> None:
    X = np.random.default_rng(0).random((6, 1))
    inner = GaussianProcess().fit(X, 4 * X[:, 0])
    model = Threshold(WarpedModel(inner, Plain()), -np.inf, 2.0, doubt=1.0)
    P = np.array([[0.02], [0.98]])
    before, after = model.score(P)[0], model.believe(P).score(P)[0]
    assert after[0] > before[0] > 0 > before[1] > after[1]
    assert model.believe(P).doubt == 1.0
