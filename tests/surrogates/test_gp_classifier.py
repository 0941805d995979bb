import itertools
from dataclasses import replace

import numpy as np
import pytest
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_normal, norm

from becbo.surrogates import gp_classifier
from becbo.surrogates.base import log_lapsed
from becbo.surrogates.gp_classifier import (
    Evidence,
    GPClassifier,
    condition,
    expectation_propagation,
    prior_covariance,
    site_posterior,
    tilted_sites,
)
from becbo.surrogates.hyper import Range, fixed
from becbo.surrogates.kernels import matern52, rbf

SHARP, MILD = GPClassifier(), GPClassifier(scale=fixed(4.0))
ISOTROPIC = GPClassifier(
    kernel=rbf, ard=False, bias=0.0, scale=Range(5.0, 0.01, 1e4, spread=2.0), scale_with_dim=False
)
# EP is exact for one label; what its Gaussian makes of more of them is this far from the truth.
SLACK = {1.0: (0.01, 0.005), 100.0: (0.1, 0.06), 1e8: (0.15, 0.06)}  # log Z in nats, probability


def disc(n, d, seed=0):
    """Designs, and whether they lie in a ball around the middle."""
    X = np.random.default_rng(seed).random((n, d))
    distance = np.linalg.norm(X - 0.5, axis=1)
    return X, distance < np.median(distance)


def signs(feasible):
    return np.where(feasible, 1.0, -1.0)


def log_theta(d, scale, ard=True, seed=0):
    scales = np.random.default_rng(seed).uniform(0.2, 0.8, d if ard else 1)
    return np.log([*scales, scale])


def model_at(theta, X, feasible, settings_=SHARP):
    """The model with given hyperparameters, by EP from no sites at all."""
    K = prior_covariance(theta, X, settings_.kernel, settings_.bias)[0]
    sites = expectation_propagation(K, signs(feasible), np.zeros((len(X), 2)))
    return condition(theta, X, sites, K, settings_)


def evidence_at(theta, X, feasible, settings_=SHARP):
    return Evidence(X, signs(feasible), settings_, np.zeros((len(X), 2)), settings_.lapse)(theta)


def probability(model, X):
    return ndtr(model.score(X)[0])


@pytest.fixture
def converged(monkeypatch):
    """EP run to the end."""
    monkeypatch.setattr(gp_classifier, "_TOLERANCE", 1e-13)
    monkeypatch.setattr(gp_classifier, "_MAX_SWEEPS", 1000)


def orthant(covariance, labels):
    """Probability that labels * g + noise > 0 for g ~ N(0, covariance), noise ~ N(0, 1)."""
    C = np.eye(len(labels)) + labels[:, None] * covariance * labels
    root = np.sqrt(np.diagonal(C))
    correlation = C / np.outer(root, root)
    accuracy = {"abseps": 1e-6, "releps": 1e-6, "allow_singular": True, "rng": 0}
    return multivariate_normal.cdf(np.zeros(len(C)), cov=correlation, **accuracy)


def tilted_moments(label, mean, std):
    """Mass, mean and variance of g ~ N(mean, std^2) times Phi(label * g), by quadrature."""
    mass, first, second = (
        quad(lambda t, k=k: t**k * ndtr(label * (mean + std * t)) * norm.pdf(t), -12, 12)[0]
        for k in range(3)
    )
    return mass, mean + std * first / mass, std**2 * (second / mass - (first / mass) ** 2)


@pytest.mark.parametrize("scale", SLACK)
@pytest.mark.parametrize("labels", [[1], [1, 1], [1, -1], [-1, -1, -1], [1, -1, 1]], ids=str)
def test_evidence_and_probabilities_match_exact_integration(labels, scale) -> None:
    feasible = np.array(labels) > 0
    n = len(labels)
    X, P = np.random.default_rng(n).random((2, 3, 2))
    X, theta = X[:n], log_theta(2, scale)
    K = prior_covariance(theta, np.vstack([X, P]), matern52, SHARP.bias)[0]
    exact = orthant(K[:n, :n], signs(feasible))
    slack_evidence, slack_probability = SLACK[scale]
    assert evidence_at(theta, X, feasible)[0] == pytest.approx(-np.log(exact), abs=slack_evidence)
    for i, p in enumerate(probability(model_at(theta, X, feasible), P)):
        keep = [*range(n), n + i]
        joint = orthant(K[np.ix_(keep, keep)], np.append(signs(feasible), 1.0))
        assert p == pytest.approx(joint / exact, abs=slack_probability)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e8])
def test_one_label_is_exact(scale) -> None:
    X = np.array([[0.4]])
    theta = np.log([0.3, scale])
    value, _ = evidence_at(theta, X, [True])
    assert value == pytest.approx(np.log(2))
    mean, std = model_at(theta, X, [True]).latent(X)
    # Moments of N(0, K) cut by Phi: R&W eq. 3.58 with a mean of 0.
    K = scale * (2 + 1e-9)
    exact = K * np.sqrt(2 / np.pi) / np.sqrt(1 + K)
    np.testing.assert_allclose(mean, exact, rtol=1e-6)
    np.testing.assert_allclose(std, np.sqrt(K - exact**2), rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_sites_match_the_tilted_moments_and_log_z_its_definition(converged, scale) -> None:
    X, feasible = disc(7, 2)
    theta, labels = log_theta(2, scale), signs(feasible)
    K = prior_covariance(theta, X, matern52, 1.0)[0]
    tau, nu = model_at(theta, X, feasible).sites.T
    S = np.linalg.inv(np.linalg.inv(K) + np.diag(tau))
    mean, variance = S @ nu, np.diagonal(S)
    cavity_var = 1 / (1 / variance - tau)  # R&W eq. 3.56
    cavity_mean = cavity_var * (mean / variance - nu)
    log_z = multivariate_normal.logpdf(nu / tau, cov=K + np.diag(1 / tau))
    for i, y in enumerate(labels):
        m, s = cavity_mean[i], np.sqrt(cavity_var[i])
        mass, tilted_mean, tilted_var = tilted_moments(y, m, s)
        assert tilted_mean == pytest.approx(mean[i], abs=1e-5 * np.sqrt(variance[i]))
        assert tilted_var == pytest.approx(variance[i], rel=1e-5)
        # The site's own constant, so that it has the tilted mass: R&W eq. 3.59.
        spread = cavity_var[i] + 1 / tau[i]
        log_z += np.log(mass) - norm.logpdf(nu[i] / tau[i], m, np.sqrt(spread))
    assert -evidence_at(theta, X, feasible)[0] == pytest.approx(log_z, rel=1e-7)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e8])
@pytest.mark.parametrize("settings_", [SHARP, ISOTROPIC], ids=["ard matern", "isotropic rbf"])
@pytest.mark.parametrize("d", [1, 3])
def test_evidence_gradient_is_the_derivative(converged, d, settings_, scale) -> None:
    X, feasible = disc(10, d)
    theta = log_theta(d, scale, settings_.ard)
    _, gradient = evidence_at(theta, X, feasible, settings_)

    def value(t):
        return evidence_at(t, X, feasible, settings_)[0]

    np.testing.assert_allclose(gradient, numeric_gradient(value, theta, 1e-4), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("settings_", [MILD, ISOTROPIC], ids=["ard matern", "isotropic rbf"])
def test_input_gradients_are_the_derivatives(settings_) -> None:
    model = settings_.fit(*disc(20, 3))
    P = np.random.default_rng(1).random((8, 3))
    for values, values_grad in [(model.latent, model.latent_grad), (model.score, model.score_grad)]:
        first, second, dfirst, dsecond = values_grad(P)
        np.testing.assert_allclose(values(P), [first, second], rtol=1e-12)
        for i, slope in enumerate([dfirst, dsecond]):
            expected = numeric_gradient(lambda x, i=i, f=values: f(x)[i], P)
            assert abs(expected).max() > 1e-2  # there is a slope to get wrong
            np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-7)


def test_score_spread_and_band_follow_from_the_latent() -> None:
    model = MILD.fit(*disc(20, 2))
    P = np.random.default_rng(1).random((30, 2))
    mean, std = model.latent(P)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    expected = ndtr(mean[:, None] + std[:, None] * nodes) @ weights / weights.sum()
    np.testing.assert_allclose(probability(model, P), expected, atol=1e-8)
    spread = (norm.cdf(mean + std) - norm.cdf(mean - std)) / 2
    np.testing.assert_allclose(model.score(P)[1], spread)


@pytest.mark.parametrize("settings_", [SHARP, MILD])
def test_the_band_is_what_one_deviation_of_the_latent_does_to_the_probability(settings_) -> None:
    model = settings_.fit(*disc(20, 2))
    P = np.random.default_rng(1).random((30, 2))
    mean, std = model.latent(P)
    lower, upper = model.interval(P)
    for end, shifted in ((lower, mean - std), (upper, mean + std)):
        np.testing.assert_allclose(end, norm.cdf(shifted / np.sqrt(1 + std**2)))
    assert np.all(lower < probability(model, P)) and np.all(probability(model, P) < upper)


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
@pytest.mark.parametrize("n_pending", [0, 3])
def test_latent_is_the_regression_on_the_sites(settings_, n_pending) -> None:
    X, feasible = disc(12, 2)
    P, Q = np.random.default_rng(1).random((2, 3, 2))
    model = settings_.fit(X, feasible)
    model = model.believe(P[:n_pending]) if n_pending else model
    tau, nu = model.sites.T
    n = len(tau)
    joint = np.vstack([X, P[:n_pending], Q])
    K = prior_covariance(model.theta, joint, settings_.kernel, settings_.bias)[0]
    solved = np.linalg.solve(K[:n, :n] + np.diag(1 / tau), K[:n, n:])
    mean, std = model.latent(Q)
    np.testing.assert_allclose(mean, solved.T @ (nu / tau), rtol=1e-4, atol=1e-4 * abs(mean).max())
    expected = np.sqrt(np.diagonal(K[n:, n:] - K[n:, :n] @ solved))
    np.testing.assert_allclose(std, expected, rtol=1e-4)


@pytest.fixture(scope="module")
def variational():
    """(theta, X, feasible, bias) -> probabilities by GPyTorch, inducing points at the data."""
    torch, gpytorch = pytest.importorskip("torch"), pytest.importorskip("gpytorch")
    kernels, variation = gpytorch.kernels, gpytorch.variational

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self, X, kernel):
            q = variation.CholeskyVariationalDistribution(len(X))
            super().__init__(
                variation.VariationalStrategy(self, X, q, learn_inducing_locations=False)
            )
            self.mean, self.kernel = gpytorch.means.ZeroMean(), kernel

        def forward(self, X):
            return gpytorch.distributions.MultivariateNormal(self.mean(X), self.kernel(X))

    def train(theta, X, feasible, bias):
        stationary = kernels.ScaleKernel(kernels.MaternKernel(nu=2.5, ard_num_dims=X.shape[1]))
        constant = kernels.ConstantKernel()
        model = Model(torch.tensor(X), stationary + constant).double()
        stationary.base_kernel.lengthscale = torch.tensor(np.exp(theta[:-1]))
        stationary.outputscale = np.exp(theta[-1])
        constant.constant = torch.tensor(bias * np.exp(theta[-1]))
        likelihood = gpytorch.likelihoods.BernoulliLikelihood()
        bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(X))
        at, labels = torch.tensor(X), torch.tensor(feasible, dtype=torch.float64)
        optimizer = torch.optim.LBFGS(
            model.variational_parameters(), max_iter=300, line_search_fn="strong_wolfe"
        )

        def closure():
            optimizer.zero_grad()
            loss = -bound(model(at), labels)
            loss.backward()
            return loss

        optimizer.step(closure)
        model.eval()
        return lambda P: likelihood(model(torch.tensor(P))).mean.detach().numpy()

    return train


# The two approximations differ the more, the sharper the labels cut the prior.
@pytest.mark.parametrize(("scale", "slack"), [(1.0, 0.001), (10.0, 0.02), (100.0, 0.08)])
def test_agrees_with_gpytorchs_variational_classifier(variational, scale, slack) -> None:
    X, feasible = disc(20, 2)
    P = np.random.default_rng(1).random((200, 2))
    theta = np.log([0.3, 0.5, scale])
    theirs = variational(theta, X, feasible, SHARP.bias)(P)
    ours = probability(model_at(theta, X, feasible), P)
    np.testing.assert_allclose(ours, theirs, atol=slack)
    is_clear = abs(theirs - 0.5) > slack
    assert is_clear.mean() > 0.8
    np.testing.assert_array_equal(ours[is_clear] > 0.5, theirs[is_clear] > 0.5)


@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
def test_agrees_in_sign_with_scikit_learns_laplace(scale) -> None:
    sklearn = pytest.importorskip("sklearn.gaussian_process")
    kernel = sklearn.kernels.ConstantKernel(scale) * sklearn.kernels.RBF([0.3, 0.3])
    X, feasible = disc(30, 2)
    P = np.random.default_rng(1).random((200, 2))
    laplace = sklearn.GaussianProcessClassifier(kernel, optimizer=None).fit(X, feasible)
    theirs = laplace.predict_proba(P)[:, 1]
    ours = probability(model_at(np.log([0.3, scale]), X, feasible, ISOTROPIC), P)
    is_clear = abs(theirs - 0.5) > 0.05
    assert is_clear.mean() > 0.7
    np.testing.assert_array_equal(ours[is_clear] > 0.5, theirs[is_clear] > 0.5)


@pytest.mark.parametrize("seed", range(8))
def test_points_in_a_row_do_not_make_ep_swing(seed) -> None:
    X = np.unique(np.random.default_rng(seed).random((37, 1)).round(2), axis=0)
    labels = signs(abs(X[:, 0] - 0.5) < 0.35)
    K = prior_covariance(np.log([0.3, 1e8]), X, matern52, 1.0)[0]
    sites = expectation_propagation(K, labels, np.zeros((len(X), 2)))

    def update(sites):
        mean, variance, L = site_posterior(K, sites)
        return tilted_sites(labels, mean, variance, sites, L)

    new, log_z = update(sites)
    assert update(new)[1] == pytest.approx(log_z, abs=0.01)


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
@pytest.mark.parametrize(("n", "d"), [(12, 1), (40, 2), (60, 6)])
def test_fit_climbs_to_a_maximum_of_the_evidence(converged, settings_, n, d) -> None:
    X, feasible = disc(n, d)
    ranges = settings_.ranges(d)
    typical = np.log([r.typical for r in ranges])
    precision = np.array([r.spread for r in ranges]) ** -2.0
    limits = np.log([(r.low, r.high) for r in ranges])
    theta = replace(settings_, n_iterations=100).fit(X, feasible).theta
    gap = theta - typical
    slope = evidence_at(theta, X, feasible, settings_)[1] + precision * gap
    is_free = (theta > limits[:, 0]) & (theta < limits[:, 1])
    np.testing.assert_allclose(slope[is_free], 0.0, atol=1e-2)

    def loss(t):
        gap = t - typical
        return evidence_at(t, X, feasible, settings_)[0] + 0.5 * precision @ gap**2

    assert loss(theta) < loss(typical)
    quick = settings_.fit(X, feasible).theta
    assert loss(quick) < loss(theta) + 0.1  # the default effort is enough


def test_after_many_failures_the_interior_is_as_hopeful_as_the_bounds() -> None:
    grid = np.linspace(0, 1, 8)
    X = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)  # failures, bounds included
    gap = grid[:2].mean()
    inside, bound = SHARP.fit(X, np.zeros(64, dtype=bool)).score(
        np.array([[0.5, 0.5], [gap, 0.0]])
    )[0]
    assert inside > bound


def test_length_scales_tell_which_input_matters() -> None:
    X = np.random.default_rng(0).random((80, 2))
    feasible = np.sin(8 * X[:, 0]) > 0
    scales = SHARP.fit(X, feasible).scales
    assert scales[1] > 5 * scales[0]
    isotropic = ISOTROPIC.fit(X, feasible)
    assert len(isotropic.theta) == 2
    assert isotropic.scales[0] == isotropic.scales[1]


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
def test_predicts_held_out_labels(settings_) -> None:
    X, feasible = disc(80, 2)
    P = np.random.default_rng(1).random((400, 2))
    truth = np.linalg.norm(P - 0.5, axis=1) < np.median(np.linalg.norm(X - 0.5, axis=1))
    assert np.mean((probability(settings_.fit(X, feasible), P) > 0.5) == truth) > 0.9


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
@pytest.mark.parametrize("label", [True, False])
@pytest.mark.parametrize("n", [1, 9])
def test_one_class_only_is_believed_nearby_and_doubted_far_away(settings_, label, n) -> None:
    X, _ = disc(n, 2)
    model = settings_.fit(X, np.full(n, label))
    assert ((model.score(X)[0] > 0) == label).all()
    typical = np.log([r.typical for r in settings_.ranges(2)])
    typical[:-1] -= 0 if label else np.log(n) / 2  # failures alone: as the gaps between them
    np.testing.assert_allclose(model.theta, typical)
    near, far = probability(model, np.vstack([X[:1], X[:1] + 30.0]))
    assert abs(near - 0.5) > abs(far - 0.5)


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
def test_swapping_the_labels_swaps_the_sign(settings_) -> None:
    X, feasible = disc(20, 2)
    P = np.random.default_rng(1).random((30, 2))
    (u, w), (v, x) = (settings_.fit(X, f).score(P) for f in (feasible, ~feasible))
    np.testing.assert_allclose(u, -v, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(w, x, rtol=1e-6)


@pytest.mark.parametrize(("settings_", "slack"), [(SHARP, 0.02), (MILD, 0.15), (ISOTROPIC, 0.15)])
@pytest.mark.parametrize("n_others", [0, 10])
def test_contradictory_labels_at_one_point_leave_it_undecided(settings_, slack, n_others) -> None:
    X, feasible = disc(n_others, 2) if n_others else (np.empty((0, 2)), np.empty(0, bool))
    here = np.full((1, 2), 0.05)
    twice = settings_.fit(np.vstack([X, here, here]), np.append(feasible, [True, False]))
    assert probability(twice, here)[0] == pytest.approx(0.5, abs=slack)
    repeats = [True, False, True, True]
    outvoted = settings_.fit(np.vstack([X, *[here] * 4]), np.append(feasible, repeats))
    assert probability(twice, here)[0] < probability(outvoted, here)[0] < 0.95


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    st.integers(1, 3).flatmap(
        lambda d: st.dictionaries(
            st.tuples(*[st.integers(0, 40)] * d), st.booleans(), min_size=1, max_size=25
        )
    )
)
def test_a_large_scale_interpolates_any_labels(grid) -> None:
    X, feasible = np.array(list(grid)) / 40, np.array(list(grid.values()))
    model = SHARP.fit(X, feasible)
    np.testing.assert_array_equal(model.score(X)[0] > 0, feasible)
    for part in model.score_grad(np.random.default_rng(0).random((5, X.shape[1]))):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
@pytest.mark.parametrize("n_first", [1, 20, 30])
def test_warm_start_agrees_with_a_cold_one(converged, settings_, n_first) -> None:
    X, feasible = disc(30, 2)
    P = np.random.default_rng(1).random((50, 2))
    earlier = settings_.fit(X[:n_first], feasible[:n_first])
    warm = settings_.fit(X, feasible, start=earlier)
    np.testing.assert_array_equal(warm.theta, earlier.theta)
    cold = model_at(earlier.theta, X, feasible, settings_)
    np.testing.assert_allclose(warm.score(P), cold.score(P), rtol=1e-4, atol=1e-5)


def test_warm_start_saves_sweeps(monkeypatch) -> None:
    X, feasible = disc(31, 2)
    theta = np.log([0.3, 0.3, 1e8])
    earlier = model_at(theta, X[:30], feasible[:30])
    n_sweeps = 0

    def counted(*args):
        nonlocal n_sweeps
        n_sweeps += 1
        return site_posterior(*args)

    monkeypatch.setattr(gp_classifier, "site_posterior", counted)
    SHARP.fit(X, feasible, start=earlier)
    warm, n_sweeps = n_sweeps, 0
    model_at(theta, X, feasible)
    assert warm < n_sweeps


def test_warm_start_may_learn_on() -> None:
    X, feasible = disc(40, 2)
    earlier = SHARP.fit(X[:10], feasible[:10])
    later = replace(SHARP, n_warm_iterations=5).fit(X, feasible, start=earlier)
    before, after = (evidence_at(m.theta, X, feasible)[0] for m in (earlier, later))
    assert after < before


@pytest.mark.parametrize("settings_", [SHARP, MILD, ISOTROPIC])
def test_believing_keeps_the_latent_mean_and_removes_the_doubt(settings_) -> None:
    X, feasible = disc(20, 2)
    model = settings_.fit(X, feasible)
    P, Q = np.random.default_rng(1).random((4, 2)), np.random.default_rng(2).random((50, 2))
    believed = model.believe(P)
    (mean, std), (new_mean, new_std) = model.latent(Q), believed.latent(Q)
    np.testing.assert_allclose(new_mean, mean, atol=1e-9 * abs(mean).max())
    assert (new_std <= std * (1 + 1e-6)).all() and (new_std < 0.9 * std).any()
    assert (believed.latent(P)[1] <= 0.0101 * np.sqrt(model.variance)).all()
    assert (abs(believed.score(P)[0]) > abs(model.score(P)[0])).all()


@pytest.mark.parametrize("settings_", [SHARP, ISOTROPIC])
def test_hyperparameters_come_from_a_subset_but_the_model_from_all_points(settings_) -> None:
    X, feasible = disc(150, 2)
    few, all_points = (replace(settings_, max_points=m).fit(X, feasible) for m in (40, 150))
    assert not np.allclose(few.theta, all_points.theta, rtol=1e-6)
    assert len(few.sites) == 150
    P = np.random.default_rng(1).random((400, 2))
    assert np.mean((few.score(P)[0] > 0) == (all_points.score(P)[0] > 0)) > 0.97
    if settings_ is SHARP:
        np.testing.assert_array_equal(few.score(X)[0] > 0, feasible)


@pytest.mark.parametrize("feasible_share", [0.02, 0.98])
def test_a_rare_class_is_in_the_subset(feasible_share) -> None:
    X, _ = disc(100, 2)
    feasible = np.arange(100) < 100 * feasible_share
    model = replace(SHARP, max_points=10).fit(X, feasible)
    np.testing.assert_array_equal(model.score(X)[0] > 0, feasible)


def test_the_fit_is_deterministic() -> None:
    X, feasible = disc(30, 2)
    fits = [SHARP.fit(X, feasible) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].theta, fits[1].theta)
    np.testing.assert_array_equal(fits[0].sites, fits[1].sites)


# -- failures by chance ------------------------------------------------------------------------


@pytest.mark.parametrize("lapse", [0.0, 0.02, 0.25, 0.9])
def test_the_likelihood_with_lapses_has_the_right_slope(lapse) -> None:
    z = np.array([-40.0, -6.0, -1.0, 0.0, 2.0, 9.0])
    log_p, slope = log_lapsed(z, lapse)
    exact = np.log(lapse + (1 - lapse) * ndtr(z[1:]))
    np.testing.assert_allclose(log_p[1:], exact, rtol=1e-12, atol=1e-15)
    numeric = (log_lapsed(z + 1e-6, lapse)[0] - log_lapsed(z - 1e-6, lapse)[0]) / 2e-6
    np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("lapse", [0.02, 0.25])
@pytest.mark.parametrize("mean", [-3.0, 0.0, 2.0, 12.0])
def test_a_failure_that_may_be_luck_has_the_moments_of_its_factor(lapse, mean) -> None:
    """One failure against integrals of 1 - (1 - e) Phi(g) over a normal prior."""
    std = 2.0

    def factor(g, power):
        return g**power * (1 - (1 - lapse) * norm.cdf(g)) * norm.pdf(g, mean, std)

    mass, first, second = (
        quad(factor, mean - 30, mean + 30, args=(i,), points=[0.0, mean])[0] for i in range(3)
    )
    exact_mean, exact_var = first / mass, second / mass - (first / mass) ** 2
    moments = np.array([mean]), np.array([std**2])
    (site,), log_z = tilted_sites(np.array([-1.0]), *moments, np.zeros((1, 2)), np.eye(1), lapse)
    precision = 1 / std**2 + site[0]
    assert (mean / std**2 + site[1]) / precision == pytest.approx(exact_mean, abs=1e-6)
    # A factor that widens the distribution would need a negative precision; it gets none.
    assert 1 / precision == pytest.approx(min(exact_var, std**2), rel=1e-6)
    assert log_z == pytest.approx(np.log(mass), abs=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1e8])
def test_lapses_against_all_explanations(scale) -> None:
    """A failure is a law or luck: the posterior is a mixture over which failures were luck."""
    X, feasible = disc(5, 1, seed=2)
    P, settings_ = np.linspace(0, 1, 9)[:, None], replace(SHARP, lapse=0.2)
    theta = np.log([0.4, scale])

    def likelihood(designs, labels):
        return orthant(prior_covariance(theta, designs, matern52, settings_.bias)[0], labels)

    failures = np.flatnonzero(~feasible)
    total, works = 0.0, np.zeros(len(P))
    for lucky in itertools.product([False, True], repeat=len(failures)):
        weight = np.prod([0.2 if was_luck else 0.8 for was_luck in lucky])
        kept = np.setdiff1d(np.arange(len(X)), failures[list(lucky)])
        labels = signs(feasible)[kept]
        total += weight * likelihood(X[kept], labels)
        works += [
            weight * likelihood(np.vstack([X[kept], point]), np.append(labels, 1.0)) for point in P
        ]
    K = prior_covariance(theta, X, matern52, settings_.bias)[0]
    sites = expectation_propagation(K, signs(feasible), np.zeros((len(X), 2)), 0.2)
    ours = probability(condition(theta, X, sites, K, settings_), P)
    np.testing.assert_allclose(ours, works / total, atol=SLACK[scale][1] + 0.06)


def test_the_gradient_of_the_evidence_with_lapses(converged) -> None:
    """Where every site has a precision; sites without one are not at a stationary point."""
    X, feasible = disc(14, 2)
    settings_ = replace(MILD, lapse=0.01)
    theta = log_theta(2, 1.0)
    value, gradient = evidence_at(theta, X, feasible, settings_)
    numeric = numeric_gradient(lambda t: evidence_at(t, X, feasible, settings_)[0], theta, h=1e-4)
    np.testing.assert_allclose(gradient, numeric, rtol=2e-3, atol=1e-4)
    assert np.isfinite(value)


def test_one_unlucky_failure_among_successes_changes_little() -> None:
    grid = np.linspace(0, 1, 11)[:, None]
    feasible = np.ones(11, dtype=bool)
    feasible[5] = False
    neighbour = np.array([[0.53]])
    sure = probability(SHARP.fit(grid, feasible), neighbour)
    forgiving = probability(replace(SHARP, lapse=0.1).fit(grid, feasible), neighbour)
    assert sure < 0.6 and forgiving > 0.9


def test_a_success_proves_and_failures_suggest() -> None:
    """A design that failed three times and worked once works; one that failed four times not."""
    X = np.repeat([[0.2], [0.8]], 4, axis=0)
    feasible = np.array([False, False, True, False] + [False] * 4)
    proven, refuted = probability(replace(SHARP, lapse=0.2).fit(X, feasible), X[[0, 4]])
    assert proven > 0.85 and refuted < 0.15


@pytest.mark.parametrize("gap", [1e-1, 1e-2, 1e-3])
def test_failures_among_successes_are_luck_and_those_that_lie_apart_a_law(gap) -> None:
    """Twelve unlucky failures between twelve successes, however close, and three beyond an edge."""
    worked = np.arange(24) % 2 == 0
    x = np.concatenate([0.5 + gap * np.arange(24) / 24, [0.1, 0.2, 0.3, 0.9, 0.95, 0.99]])
    labels = np.concatenate([worked, [True] * 3, [False] * 3])
    model = GPClassifier(lapse=0.25).fit(np.column_stack([x, np.full(30, 0.5)]), labels)
    chances = model.left_out()
    assert chances[:24][~worked].min() > 0.85
    assert chances[-3:].max() < 0.2
