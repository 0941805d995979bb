"""Attribution: formulas against integrals, differences and one classifier; what is found."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

from becbo.surrogates import attribution
from becbo.surrogates.gp_classifier import (
    GPClassifier,
    expectation_propagation,
    prior_covariance,
    site_posterior,
)
from becbo.surrogates.hyper import Range, fixed
from becbo.surrogates.per_constraint import fit_attributed
from becbo.surrogates.product import Product

SETTINGS = GPClassifier(lengthscale=Range(1.0, 0.02, 30.0, spread=1.0))
MILD = GPClassifier(scale=fixed(4.0))


def corner(n=60, d=4, seed=0):
    """Designs that work where the first two coordinates are small, and which limits they break."""
    X = np.random.default_rng(seed).random((n, d))
    broken = X[:, :2] > [0.6, 0.7]
    return X, ~broken.any(axis=1), broken


def covariances(X, scales, settings=SETTINGS):
    d = X.shape[1]
    thetas = [np.log([*[scale] * d, settings.scale.typical]) for scale in scales]
    return np.array([prior_covariance(t, X, settings.kernel, settings.bias)[0] for t in thetas])


def test_the_slope_of_flat_limits_is_the_derivative_of_their_loss():
    feasible = np.array([True, False, False])
    margins = np.random.default_rng(0).normal(0, 3, (2, 4, 3))
    slope = attribution._slope(margins, feasible)
    for start in range(2):
        flat = margins[start].ravel()
        numeric = numeric_gradient(
            lambda m: attribution._loss(m.reshape(1, 4, 3), feasible)[0], flat, h=1e-6
        )
        np.testing.assert_allclose(slope[start].ravel(), numeric, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("z", [-3.0, -0.5, 0.4])
@pytest.mark.parametrize("other", [-1.0, 0.5, 3.0])
@pytest.mark.parametrize("lapse", [0.0, 0.15])
def test_a_shared_site_has_the_moments_of_the_factor(z, other, lapse):
    """One failure, two limits: the site of the first against integrals of 1 - P Phi(g)."""
    variance = np.array([[4.0], [9.0]])
    mean = np.array([[z], [other]]) * np.sqrt(1 + variance)
    nothing = np.zeros((2, 1, 2))
    sites = attribution.shared_sites(np.array([False]), mean, variance, nothing, None, lapse)
    held = (1 - lapse) * norm.cdf(other)

    def factor(g, power):
        return g**power * (1 - held * norm.cdf(g)) * norm.pdf(g, mean[0, 0], 2.0)

    mass, first, second = (quad(factor, -40, 40, args=(i,), points=[0.0])[0] for i in range(3))
    exact_mean, exact_var = first / mass, second / mass - (first / mass) ** 2
    precision = 1 / variance[0, 0] + sites[0, 0, 0]
    new_mean = (mean[0, 0] / variance[0, 0] + sites[0, 0, 1]) / precision
    assert new_mean == pytest.approx(exact_mean, abs=1e-6)
    # A factor that widens the distribution would need a negative precision; it gets none.
    assert 1 / precision == pytest.approx(min(exact_var, variance[0, 0]), rel=1e-6)


def test_one_limit_alone_is_the_classifier(monkeypatch):
    monkeypatch.setattr(attribution, "_TOLERANCE", 1e-9)
    monkeypatch.setattr(attribution, "_MAX_SWEEPS", 400)
    monkeypatch.setattr("becbo.surrogates.gp_classifier._TOLERANCE", 1e-12)
    X, feasible, _ = corner(25)
    K = covariances(X, [0.8], MILD)
    none = np.zeros((1, len(X), 2))
    for kinds in (None, ~feasible[None]):
        shared = attribution.joint_ep(K, feasible, none, kinds)[0]
        alone = expectation_propagation(K[0], np.where(feasible, 1.0, -1.0), none[0])
        for ours, exact in zip(
            site_posterior(K[0], shared)[:2], site_posterior(K[0], alone)[:2], strict=True
        ):
            np.testing.assert_allclose(ours, exact, rtol=1e-5, atol=1e-5)


def test_hard_blame_leaves_the_other_limits_alone():
    X, feasible, broken = corner()
    kinds = broken.T & ~(broken[:, 0] & broken[:, 1])
    sites = attribution.joint_ep(
        covariances(X, [1.0, 1.0]), feasible, np.zeros((2, len(X), 2)), kinds
    )
    for limit, own in zip(sites, kinds, strict=True):
        assert (limit[~feasible & ~own] == 0).all()
        assert (limit[feasible | own, 0] > 0).all()


def test_hyperparameter_gradient_is_the_derivative():
    X, feasible, _ = corner(30)
    K = covariances(X, [1.0], MILD)
    sites = attribution.joint_ep(K, feasible, np.zeros((1, len(X), 2)))[0]
    theta = np.log([1.0, 0.7, 1.2, 2.0, 4.0])
    loss = partial(attribution._loss_of_limit, MILD, X, sites)
    numeric = numeric_gradient(lambda t: loss(t)[0], theta, 1e-5)
    np.testing.assert_allclose(loss(theta)[1], numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_flat_limits_find_which_of_two_was_broken(seed):
    X, feasible, broken = corner(80, seed=seed)
    kinds = attribution.linear_constraints(X, feasible)
    assert (kinds.sum(axis=1) == ~feasible).all()
    clear = broken.sum(axis=1) == 1  # where both are broken, either may be blamed
    for kind in kinds.T:
        of_kind = broken[clear & kind]
        if len(of_kind):
            assert of_kind.mean(axis=0).max() > 0.8


@pytest.mark.parametrize("seed", range(3))
def test_a_corner_is_known_better_than_by_one_classifier(seed):
    X, feasible, _ = corner(120, seed=seed)
    single = GPClassifier().fit(X, feasible)
    limits = fit_attributed(SETTINGS, X, feasible)
    assert len(limits) > 1
    model = Product(limits, single.scales)
    P = np.random.default_rng(5).random((4000, 4))
    P[:, :2] = [0.6, 0.7] + 0.15 * (2 * P[:, :2] - 1)
    works = np.where((P[:, :2] <= [0.6, 0.7]).all(axis=1), 1.0, -1.0)
    log_loss = [-log_ndtr(works * m.score(P)[0]).mean() for m in (single, model)]
    assert log_loss[1] < 0.8 * log_loss[0]


def test_successes_are_believed_and_failures_explained_by_some_limit():
    X, feasible, _ = corner(80)
    means = np.array(
        [limit.latent(X)[0] for limit in attribution.attribute_failures(SETTINGS, X, feasible)]
    )
    assert (means[:, feasible] > 0).all()
    assert (means[:, ~feasible].min(axis=0) < 0).mean() > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_one_limit_needs_one_classifier(seed):
    X = np.random.default_rng(seed).random((60, 4))
    feasible = X[:, 0] < 0.6
    assert fit_attributed(SETTINGS, X, feasible) == ()


def test_a_label_against_all_odds_moves_the_mean_to_its_side():
    mean, variance = np.array([[500.0]]), np.array([[24.0]])
    sites = attribution.shared_sites(np.array([False]), mean, variance, np.zeros((1, 1, 2)), None)
    precision = 1 / variance[0, 0] + sites[0, 0, 0]
    new_mean = (mean[0, 0] / variance[0, 0] + sites[0, 0, 1]) / precision
    assert new_mean < mean[0, 0] / 2


def test_contradicting_and_repeated_experiments_are_endured():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((15, 4)), 4, axis=0)
    X[::2] += 1e-9
    feasible = rng.random(60) < 0.5
    limits = attribution.attribute_failures(SETTINGS, X, feasible)
    assert limits
    for limit in limits:
        assert np.isfinite(limit.score(rng.random((100, 4)))).all()


def test_failures_of_designs_that_also_worked_are_nobodys_fault():
    X = np.random.default_rng(0).random((12, 4))
    X = np.vstack([X, X[:3]])
    feasible = np.arange(15) < 12  # three worked, and failed when they were repeated
    assert fit_attributed(GPClassifier(lapse=0.1), X, feasible) == ()
