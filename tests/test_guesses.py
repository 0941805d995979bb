"""Guesses while every design has failed."""

import numpy as np
from goals import unexplained

from becbo.methods import build
from becbo.models.guesses import DrawnLatent
from becbo.settings import Settings

GUESSES = build(Settings()).guesses
DRAWN = next(guess for guess in GUESSES if isinstance(guess, DrawnLatent))
POINTS = np.random.default_rng(1).random((50, 3))


def failures(X):
    return unexplained(np.asarray(X, dtype=float), np.full(len(X), np.nan))


def scores(guess, X):
    return guess.score(failures(X), np.random.default_rng(0))(POINTS)


def test_draws_ignore_failures_at_bounds() -> None:
    inside = np.random.default_rng(2).random((12, 3))
    at_bounds = [[0.0, 0.4, 0.7], [0.3, 1.0, 0.5]]
    both = scores(DRAWN, [*inside, *at_bounds])
    np.testing.assert_array_equal(both, scores(DRAWN, inside))
    assert not np.allclose(both, scores(DRAWN, [*inside, [0.5, 0.5, 0.5]]))


def test_choices_are_not_bounds() -> None:
    X = np.random.default_rng(2).random((12, 3))
    X[:, 1:] = np.eye(2)[np.arange(12) % 2]  # a choice of two
    np.testing.assert_array_equal(scores(DRAWN, X), DRAWN.classifier.fit(
        failures(X), np.random.default_rng(0)).path(np.random.default_rng(0))(POINTS))  # fmt: skip


def test_where_all_failures_are_at_bounds_all_count() -> None:
    corners = np.array([[0, 0, 0.5], [1, 0, 0.5], [0, 0.5, 1.0], [0.5, 1, 1.0]])
    fitted = DRAWN.classifier.fit(failures(corners), np.random.default_rng(0))
    np.testing.assert_array_equal(
        scores(DRAWN, corners), fitted.path(np.random.default_rng(0))(POINTS)
    )


def test_every_guess_is_another_one_each_time() -> None:
    data, rng = failures(np.random.default_rng(2).random((12, 3))), np.random.default_rng(0)
    for guess in GUESSES:
        one, other = (guess.score(data, rng)(POINTS) for _ in range(2))
        assert one.shape == (50,) and np.isfinite(one).all()
        assert np.argmax(one) != np.argmax(other) or not np.allclose(one, other)
