"""Balls around failures."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.special import gamma

from becbo.surrogates.balls import FAILED, STEEP, BallsModel, radius


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("n", [1, 10, 200])
def test_half_of_the_experiments_fill_the_space_as_failures(n: int, d: int) -> None:
    """Iwazaki et al. 2023: the number of successes grows linearly."""
    volume = FAILED * n * np.pi ** (d / 2) / gamma(d / 2 + 1) * (radius(n, d) / 2) ** d
    assert volume == pytest.approx(1.0)


def test_the_radius_shrinks_with_every_experiment() -> None:
    """Iwazaki et al. 2023 assume a ball that works around the optimum: in the end it is free."""
    radii = [radius(n, 3) for n in (1, 10, 100, 10_000, 10_000_000)]
    assert np.all(np.diff(radii) < 0) and radii[-1] < 0.02


def test_the_score_is_zero_on_the_surface() -> None:
    model = BallsModel(np.array([[0.2, 0.2], [0.8, 0.7]]), 0.1)
    u, w = model.score(np.array([[0.1, 0.2], [0.2, 0.2], [0.2, 0.4]]))
    np.testing.assert_allclose(u, [0.0, -STEEP, STEEP], atol=1e-12)
    assert not w.any()


def test_some_success_stays_outside() -> None:
    X = np.array([[0.5, 0.5], [0.5, 0.53], [0.5, 0.51]])
    model = BallsModel.of(X, np.array([False, True, True]))
    assert 0.015 <= model.radius <= 0.03
    assert model.score(X)[0][1] >= 0 > model.score(X)[0][2]
    same = BallsModel.of(X[[0, 0]], np.array([False, True]))  # nothing can be outside
    assert 0 < same.radius < 1e-5


def test_without_failures_nothing_is_ruled_out() -> None:
    model = BallsModel.of(np.array([[0.5, 0.5]]), np.array([True]))
    u, w, du, _ = model.score_grad(np.random.default_rng(0).random((5, 2)))
    assert np.all(u > 2) and not w.any() and not du.any()


def test_gradients_are_the_derivatives() -> None:
    rng = np.random.default_rng(0)
    model = BallsModel(rng.random((6, 3)), 0.2)
    P = rng.random((10, 3))
    u, _, du, dw = model.score_grad(P)
    np.testing.assert_allclose(u, model.score(P)[0])
    np.testing.assert_allclose(du, numeric_gradient(lambda x: model.score(x)[0], P), atol=1e-6)
    assert not dw.any()
