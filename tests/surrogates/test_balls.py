"""Balls around failures."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.special import gamma

from becbo.surrogates.balls import COVERED, STEEP, BallsModel, radius


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("n", [1, 10, 200])
def test_all_balls_together_cover_at_most_half(n: int, d: int) -> None:
    volume = n * np.pi ** (d / 2) / gamma(d / 2 + 1) * radius(n, d) ** d
    assert volume == pytest.approx(COVERED)


def test_the_radius_shrinks_with_every_failure() -> None:
    """Iwazaki et al. 2023 assume a ball that works around the optimum: in the end it is free."""
    radii = [radius(n, 3) for n in (1, 10, 100, 1e4, 1e7)]
    assert np.all(np.diff(radii) < 0) and radii[-1] < 0.01


def test_the_score_is_zero_on_the_surface() -> None:
    X = np.array([[0.2, 0.2], [0.8, 0.7], [0.5, 0.5]])
    model = BallsModel.of(X, np.array([False, False, True]))
    r = radius(2, 2)
    u, w = model.score(np.array([[0.2 - r, 0.2], [0.2, 0.2], [0.2, 0.2 - 2 * r]]))
    np.testing.assert_allclose(u, [0.0, -STEEP, STEEP], atol=1e-12)
    assert not w.any()


def test_without_failures_nothing_is_ruled_out() -> None:
    model = BallsModel.of(np.array([[0.5, 0.5]]), np.array([True]))
    u, w, du, _ = model.score_grad(np.random.default_rng(0).random((5, 2)))
    assert np.all(u > 2) and not w.any() and not du.any()


def test_gradients_are_the_derivatives() -> None:
    rng = np.random.default_rng(0)
    model = BallsModel(rng.random((6, 3)))
    P = rng.random((10, 3))
    u, _, du, dw = model.score_grad(P)
    np.testing.assert_allclose(u, model.score(P)[0])
    np.testing.assert_allclose(du, numeric_gradient(lambda x: model.score(x)[0], P), atol=1e-6)
    assert not dw.any()
