"""Outputs of odd magnitudes, and limits that explain everything: numbers stay numbers."""

import numpy as np
import pytest
from gradients import numeric_gradient

from becbo.acquisition import log_expected_improvement, log_target_improvement
from becbo.models.values import _scale
from becbo.surrogates.censored import add_censored
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import Range, fixed
from becbo.surrogates.thresholds import Threshold, Thresholds
from becbo.surrogates.warped import Bilog, Plain, WarpedModel

FIVE = np.linspace(0, 1, 5)[:, None]


@pytest.mark.parametrize("std", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("best", [0.0, -1e-300, -1.0, -1e300])
@pytest.mark.parametrize("log_gain", [log_expected_improvement, log_target_improvement])
def test_an_improvement_is_a_number_whatever_the_scale(log_gain, std: float, best: float) -> None:
    mean = std * np.array([-3.0, 0.0, 3.0])
    for part in log_gain(mean, np.full(3, std), best):
        assert np.isfinite(part).all()


def test_a_target_that_was_hit_can_be_approached_on_any_scale() -> None:
    mean = np.array([2.0, 1.0, 0.1])
    for unit in (1e-200, 1.0, 1e300):
        value = log_target_improvement(unit * mean, np.full(3, unit), 0.0)[0]
        assert (np.diff(value) > 0).all()


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_what_is_unwarped_is_finite(scale: float) -> None:
    warp = Bilog(0.0, scale)
    middle, half = warp.restore(np.array([-1e4, -1.0, 1.0, 1e4]), np.array([1.0, 0.1, 1e4, 1.0]))
    assert np.isfinite(middle).all() and np.isfinite(half).all() and (half >= 0).all()
    np.testing.assert_allclose(warp.forward(middle[1:3]), [-1.0, 1.0])


def test_the_warp_has_the_unit_of_the_values_also_where_most_are_at_the_bound() -> None:
    distances = np.array([0.0, 0.0, 0.0, 0.5, 1.0])
    for unit in (2.0**-40, 1.0, 2.0**40):
        assert _scale(unit * distances) == 0.75 * unit
    assert _scale(np.zeros(3)) == 1.0


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1.0, 1e300])
def test_the_warp_of_all_magnitudes_can_be_undone(scale: float) -> None:
    y = np.array([1e-300, 1e-299, -1e-298, 0.0, 1e-3, -7.0, 1e300, -1e300])
    warp = Bilog(0.0, scale)
    z = warp.forward(y)
    assert np.isfinite(z).all() and np.isfinite(warp.log_slope(y)).all()
    np.testing.assert_allclose(warp.restore(z, np.zeros(8))[0], y, rtol=1e-9, atol=1e-20 * scale)
    np.testing.assert_array_equal(warp.forward(np.array([-np.inf, np.inf])), [-np.inf, np.inf])


def threshold(low: float, high: float, unit: float = 1.0) -> Thresholds:
    model = GaussianProcess().fit(FIVE, unit * np.sin(9 * FIVE[:, 0]))
    return Thresholds((Threshold(WarpedModel(model, Plain()), unit * low, unit * high),))


@pytest.mark.parametrize("unit", [1e-308, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("bounds", [(-np.inf, 0.3), (0.3, np.inf), (-0.2, 0.3), (4.0, 5.0)])
def test_the_chance_to_keep_a_limit_does_not_depend_on_the_unit(bounds, unit: float) -> None:
    X = np.vstack([np.linspace(0.02, 0.98, 9)[:, None], FIVE + 1e-9])
    plain, scaled = threshold(*bounds).score_grad(X), threshold(*bounds, unit).score_grad(X)
    np.testing.assert_allclose(scaled[0], plain[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(scaled[2], plain[2], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("distance", [1.0, 1e3, 1e8, 1e12, 1e30])
def test_the_slope_is_right_however_far_the_window_is(distance: float) -> None:
    """Where a value is known well, a window beside it is millions of deviations away."""
    model = threshold(distance, 2 * distance)
    X = np.array([[0.13], [0.4], [0.77]])
    u, _, du, _ = model.score_grad(X)
    if distance > 10:  # the other bound does not matter
        one_sided = threshold(distance, np.inf).score_grad(X)
        np.testing.assert_allclose(u, one_sided[0], rtol=1e-3)
        np.testing.assert_allclose(du, one_sided[2], rtol=1e-3)
    numeric = numeric_gradient(lambda x: model.score(x)[0], X)
    np.testing.assert_allclose(du, numeric, rtol=1e-3)


def test_bounds_far_beyond_a_value_that_hardly_varies() -> None:
    model = GaussianProcess().fit(FIVE, 1e-300 * np.sin(9 * FIVE[:, 0]))
    for bounds in ((-1e300, 1e300), (-np.inf, 1e300), (1e300, np.inf), (1e299, 1e300)):
        keeps = Thresholds((Threshold(WarpedModel(model, Plain()), *bounds),))
        for part in keeps.score_grad(FIVE + 0.01):
            assert np.isfinite(part).all()


@pytest.mark.parametrize("noise", [fixed(1e-10), fixed(0.5), Range(1e-2, 1e-6, 1.0, spread=2.0)])
@pytest.mark.parametrize("copies", [1, 8])
@pytest.mark.parametrize("distance", [0.5, 1e3, 1e12])
def test_values_beyond_a_bound_are_believed_to_be_there(noise, copies, distance) -> None:
    y = np.sin(9 * FIVE[:, 0])
    model = GaussianProcess(noise=noise).fit(FIVE, y)
    X = np.repeat([[0.6]], copies, axis=0)
    bound = float(y.max()) + distance
    joint = add_censored(model, y, X, bound, 1.0)
    before, after = model.predict(X[:1])[0][0], joint.predict(X[:1])[0][0]
    assert np.isfinite(joint.predict(FIVE)).all()
    # The step at the bound is as soft as the values are noisy.
    assert (after - before) / (bound - before) > (0.99 if noise.high < 1e-6 else 0.4)
    if noise.high < 1e-6:
        np.testing.assert_allclose(joint.predict(FIVE)[0], y, atol=1e-3 * (1 + distance))


def test_a_failure_at_a_design_that_measured_less_is_a_contradiction_and_no_error() -> None:
    y = np.sin(9 * FIVE[:, 0])
    for noise in (1e-10, 0.1):
        model = GaussianProcess(noise=fixed(noise)).fit(FIVE, y)
        joint = add_censored(model, y, FIVE[[2, 2, 3]], 5.0, 1.0)
        assert np.isfinite(joint.predict(FIVE)).all()


def test_a_classifier_of_nothing_is_undecided() -> None:
    model = GPClassifier().fit(np.empty((0, 2)), np.empty(0, dtype=bool))
    X = np.random.default_rng(0).random((3, 2))
    np.testing.assert_array_equal(model.score(X)[0], 0.0)
    for part in model.believe(X[:2]).score_grad(X):
        assert np.isfinite(part).all()
