"""A product of classifiers: gradients, agreement with its factors, what each learns from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.special import ndtr

from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import fixed
from becbo.surrogates.per_constraint import fit_by_reason
from becbo.surrogates.product import Product

SHARP = GPClassifier()
MILD = GPClassifier(scale=fixed(4.0))


def told(single, X, feasible, kinds):
    """The classifiers by reason; several reasons are all there are."""
    return fit_by_reason(single, X, feasible, kinds, kinds.sum(axis=1) > 1)


def corner(n=40, seed=0):
    """Designs that work where both coordinates are small, and which of the limits they break."""
    X = np.random.default_rng(seed).random((n, 2))
    broken = X > [0.6, 0.7]
    return X, ~broken.any(axis=1), broken


def limits_of(settings=SHARP, n=40):
    X, feasible, broken = corner(n)
    return told(settings.fit(X, feasible), X, feasible, broken)


def test_the_probability_is_the_product():
    model = limits_of(MILD)
    P = np.random.default_rng(1).random((20, 2))
    expected = np.prod([ndtr(factor.score(P)[0]) for factor in model.factors], axis=0)
    np.testing.assert_allclose(ndtr(model.score(P)[0]), expected, rtol=1e-9)


def test_the_spread_is_that_of_a_product_of_independent_probabilities():
    model = limits_of(MILD)
    P = np.random.default_rng(1).random((5, 2))
    rng = np.random.default_rng(2)
    draws = [
        ndtr(u)[:, None] + w[:, None] * rng.standard_normal((5, 400_000))
        for u, w in (factor.score(P) for factor in model.factors)
    ]
    np.testing.assert_allclose(model.score(P)[1], np.prod(draws, axis=0).std(axis=1), rtol=0.01)


@pytest.mark.parametrize("settings", [MILD, SHARP])
def test_gradients_agree_with_differences(settings):
    model = limits_of(settings)
    P = np.random.default_rng(3).random((30, 2))
    u, w, du, dw = model.score_grad(P)
    np.testing.assert_allclose((u, w), model.score(P), rtol=1e-12)
    # Where C is 0 or 1 to the last digit, differences are rounding.
    near = np.abs(u) < 5
    assert near.sum() >= 5
    numeric = numeric_gradient(lambda X: np.array(model.score(X)), P, h=1e-6)
    np.testing.assert_allclose(du[near], numeric[0][near], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(dw[near], numeric[1][near], rtol=1e-3, atol=1e-4)


def test_the_band_contains_the_probability():
    model = limits_of(MILD)
    P = np.random.default_rng(4).random((50, 2))
    low, high = model.interval(P)
    C = ndtr(model.score(P)[0])
    assert ((low <= C) & (C <= high)).all()


def test_every_label_is_kept():
    X, feasible, broken = corner()
    model = told(SHARP.fit(X, feasible), X, feasible, broken)
    np.testing.assert_array_equal(model.score(X)[0] > 0, feasible)


def first_only(broken):
    """Which limit each design breaks first."""
    return broken & (broken.cumsum(axis=1) == 1)


def test_of_a_single_reason_the_other_limits_learn_nothing():
    X, feasible, broken = corner()
    kinds = first_only(broken)
    model = told(SHARP.fit(X, feasible), X, feasible, kinds)
    for factor, own in zip(model.factors, kinds.T, strict=True):
        np.testing.assert_array_equal(factor.X, X[feasible | own])


def test_several_reasons_are_a_complete_list():
    X = np.random.default_rng(0).random((60, 3))
    broken = X > [0.5, 0.6, 0.7]
    feasible, is_list = ~broken.any(axis=1), broken.sum(axis=1) > 1
    model = told(SHARP.fit(X, feasible), X, feasible, broken)
    for factor, own in zip(model.factors, broken.T, strict=True):
        rows = feasible | own | is_list
        np.testing.assert_array_equal(factor.X, X[rows])
        np.testing.assert_array_equal(factor.latent(X[rows])[0] < 0, own[rows])


@pytest.mark.parametrize("anything_works", [True, False])
def test_failures_without_a_reason_say_nothing_of_other_limits(anything_works):
    X = np.random.default_rng(0).random((60, 4))
    broken = X > [0.5, 0.6, 0.7, 0.8]
    feasible = ~broken.any(axis=1)
    if not anything_works:
        X, broken, feasible = X[~feasible], broken[~feasible], feasible[~feasible]
    silent = np.arange(len(X)) % 4 == 0
    kinds = broken[:, :3] & ~silent[:, None]
    others = ~feasible & ~kinds.any(axis=1)
    model = told(SHARP.fit(X, feasible), X, feasible, kinds)
    *named, unnamed = model.factors
    for factor, own in zip(named, kinds.T, strict=True):
        kept = feasible | (kinds.sum(axis=1) > 1) if anything_works else kinds.any(axis=1)
        np.testing.assert_array_equal(factor.X, X[kept | own])
    np.testing.assert_array_equal(unnamed.X, X[feasible | others])


def test_only_the_latest_lists_count():
    X = np.random.default_rng(0).random((300, 3))
    broken = X > [0.5, 0.5, 0.5]
    feasible, is_list = ~broken.any(axis=1), broken.sum(axis=1) > 1
    assert is_list.sum() > 100
    latest = np.flatnonzero(is_list)[-100:]
    model = told(SHARP.fit(X, feasible), X, feasible, broken)
    for factor, own in zip(model.factors, broken.T, strict=True):
        rows = feasible | own | np.isin(np.arange(len(X)), latest)
        np.testing.assert_array_equal(factor.X, X[rows])


def test_before_the_first_success_lists_tell_where_to_look():
    X, feasible, broken = corner(60)
    X, feasible, broken = X[~feasible], feasible[~feasible], broken[~feasible]
    single = SHARP.fit(X, feasible)
    P = np.random.default_rng(1).random((500, 2))
    works = (P <= [0.6, 0.7]).all(axis=1)
    model = told(single, X, feasible, broken)
    assert model.score(P)[0][works].min() > np.median(model.score(P)[0][~works])
    assert single.score(P)[0][works].min() < np.median(single.score(P)[0][~works])


def test_failures_of_no_kind_are_one_more():
    X, feasible, broken = corner()
    model = told(SHARP.fit(X, feasible), X, feasible, broken[:, :1])
    assert len(model.factors) == 2
    np.testing.assert_array_equal(model.factors[1].X, X[feasible | ~broken[:, 0]])


@pytest.mark.parametrize(
    "case", ["nothing said", "one kind", "nothing worked", "nothing kept", "nothing failed"]
)
def test_without_kinds_to_tell_apart_nothing_changes(case):
    X, feasible, broken = corner()
    if case in ("nothing worked", "nothing kept"):
        X, feasible, broken = X[~feasible], feasible[~feasible], first_only(broken[~feasible])
    if case == "nothing failed":
        X, feasible, broken = X[feasible], feasible[feasible], broken[feasible]
    kinds = {
        "one kind": ~feasible[:, None],
        "nothing worked": broken,
        "nothing kept": np.ones((len(X), 2), dtype=bool),
    }
    single = SHARP.fit(X, feasible)
    given = kinds.get(case, np.zeros((len(X), 0), dtype=bool))
    assert told(single, X, feasible, given) is None


def test_a_corner_is_known_better_than_by_one_classifier():
    X, feasible, broken = corner(60)
    single = SHARP.fit(X, feasible)
    P = [0.6, 0.7] + 0.15 * (2 * np.random.default_rng(5).random((2000, 2)) - 1)
    works = (P <= [0.6, 0.7]).all(axis=1)
    right = [
        np.mean((model.score(P)[0] > 0) == works)
        for model in (single, told(single, X, feasible, broken))
    ]
    assert right[1] > right[0]


def test_pending_points_reduce_the_uncertainty_and_not_the_mean():
    model = limits_of(MILD)
    P = np.random.default_rng(6).random((3, 2))
    after = model.believe(P)
    assert isinstance(after, Product)
    for old, new in zip(model.factors, after.factors, strict=True):
        np.testing.assert_allclose(new.latent(P)[0], old.latent(P)[0], rtol=1e-6, atol=1e-6)
        assert (new.latent(P)[1] < old.latent(P)[1]).all()


def test_points_assumed_to_fail_are_avoided():
    model = limits_of(MILD)
    P = np.array([[0.2, 0.2]])
    after = replace(model, pessimist=MILD).believe(P)
    far = np.array([[0.55, 0.05]])
    assert after.score(P)[0] < 0 < model.score(P)[0]
    fall = [ndtr(model.score(x)[0]) - ndtr(after.score(x)[0]) for x in (P, far)]
    assert fall[0] > fall[1]


def test_far_inside_and_far_outside_scores_stay_finite():
    X = np.linspace(0, 1, 21)[:, None]
    feasible = (X[:, 0] > 0.3) & (X[:, 0] < 0.7)
    broken = np.column_stack([X[:, 0] <= 0.3, X[:, 0] >= 0.7])
    model = told(SHARP.fit(X, feasible), X, feasible, broken)
    sure = replace(model, factors=model.factors * 20)
    for tried in (model, sure):
        for column in tried.score_grad(np.linspace(0, 1, 101)[:, None]):
            assert np.isfinite(column).all()


@pytest.mark.parametrize(("rates", "total"), [(None, 0.3), ((0.1, 0.2), 0.28), ((0.25, 0.0), 0.25)])
def test_the_chance_of_bad_luck_is_that_of_any_reason(rates, total):
    """A known rate is that of all failures; learned ones are those of each reason."""
    X, feasible, broken = corner()
    single = GPClassifier(lapse=0.3).fit(X, feasible)
    drawn = iter(rates or ())
    lapse_of = None if rates is None else lambda X, spared: next(drawn)
    model = fit_by_reason(single, X, feasible, broken, broken.sum(axis=1) > 1, lapse_of)
    assert model.lapse == pytest.approx(total)
