import numpy as np
import pytest
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo.surrogates.hyper import Range
from becbo.surrogates.kernels import squared_distance
from becbo.surrogates.metric import Metric, metric_ranges, warp, warp_by_shape, warp_slope

steady = settings(deadline=None, derandomize=True, max_examples=60)
one_shape = st.floats(-7.0, 7.0) | st.sampled_from([0.0, 1e-9, -1e-7, 1e-4, -1e-3])


@steady
@given(c=one_shape)
def test_a_warp_maps_the_unit_interval_onto_itself_and_keeps_the_order(c) -> None:
    z = warp(np.linspace(0.0, 1.0, 101)[:, None], np.array([c])).ravel()
    np.testing.assert_allclose(z[[0, -1]], [0.0, 1.0], atol=1e-12)
    assert (np.diff(z) > 0).all()


def test_a_warp_is_the_logarithmic_scale_its_shape_says() -> None:
    values = np.geomspace(2.0, 200.0, 9)  # two decades
    x = (values - 2.0) / 198.0
    z = warp(x[:, None], np.log([100.0])).ravel()
    np.testing.assert_allclose(z, np.linspace(0, 1, 9), atol=1e-12)
    np.testing.assert_allclose(warp(1 - x[:, None], -np.log([100.0])).ravel(), 1 - z, atol=1e-12)


@pytest.mark.parametrize("c", [0.0, 1e-12, -1e-9])
def test_no_shape_is_no_warp(c) -> None:
    X = np.random.default_rng(0).random((20, 1))
    np.testing.assert_allclose(warp(X, np.array([c])), X, atol=1e-6)
    np.testing.assert_allclose(warp_slope(X, np.array([c])), 1.0, atol=1e-5)


@steady
@given(c=one_shape, x=st.floats(0.01, 0.99))
def test_the_slopes_of_a_warp_are_its_derivatives(c, x) -> None:
    X, shape, h = np.array([[x]]), np.array([c]), 1e-4
    by_x = (warp(X + 1e-6, shape) - warp(X - 1e-6, shape)) / 2e-6
    by_c = (warp(X, shape + h) - warp(X, shape - h)) / (2 * h)
    np.testing.assert_allclose(warp_slope(X, shape), by_x, rtol=1e-4)
    np.testing.assert_allclose(warp_by_shape(X, shape), by_c, rtol=1e-5, atol=1e-6)


@steady
@given(n=st.integers(1, 6), d=st.integers(1, 5), is_warped=st.booleans(), seed=st.integers(0))
def test_the_gradients_of_a_metric_are_the_derivatives(n, d, is_warped, seed) -> None:
    rng = np.random.default_rng(seed)
    X, Y, M = rng.random((n, d)), rng.random((4, d)), rng.normal(size=(n, n))
    M += M.T
    theta = rng.uniform(-2, 1, 2 * d if is_warped else d)
    metric = Metric.of(theta, d)

    def total(t):
        other = Metric.of(t, d)
        Z = other.warped(X)
        return (M * other.squared_distance(Z, Z)).sum()

    V = rng.normal(size=(4, n))

    def at(y):
        Z = metric.warped(X)
        return (V * metric.squared_distance(metric.warped(y.reshape(4, d)), Z)).sum()

    expected = numeric_gradient(total, theta)
    np.testing.assert_allclose(metric.theta_gradient(X, M), expected, rtol=1e-5, atol=1e-4)
    gradient = metric.input_gradient(Y, metric.warped(X), V)
    expected = numeric_gradient(at, Y.ravel()).reshape(4, d)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-4)


def test_one_length_scale_serves_all_inputs() -> None:
    X = np.random.default_rng(0).random((5, 3))
    metric = Metric.of(np.log([0.5]), 3)
    expected = squared_distance(X, X, np.full(3, 0.5))
    np.testing.assert_allclose(metric.squared_distance(X, X), expected)
    assert metric.warped(X) is X


def test_ranges_match_what_a_metric_reads() -> None:
    scale, shape = Range(0.5, 0.1, 1.0), Range(1.0, 0.1, 10.0)
    for warp_range in (None, shape):
        ranges = metric_ranges(scale, warp_range, 3)
        metric = Metric.of(np.log([r.typical for r in ranges]), 3)
        np.testing.assert_allclose(metric.scales, 0.5)
        assert metric.shape.size == (0 if warp_range is None else 3)


def test_many_inputs_are_warped_less_each() -> None:
    scale, shape = Range(0.5, 0.1, 1.0), Range(1.0, 0.1, 10.0, spread=4.0)
    assert [metric_ranges(scale, shape, d)[-1].spread for d in (1, 4, 16)] == [4.0, 2.0, 1.0]
