import numpy as np
import pytest
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from becbo.surrogates.gp import (
    GaussianProcess,
    condition,
    informative_subset,
    merge_repeats,
    negative_log_likelihood,
    standardise,
)
from becbo.surrogates.hyper import Range
from becbo.surrogates.kernels import matern52, rbf

NOISY = GaussianProcess(noise=Range(1e-2, 1e-6, 1.0, spread=3.0))
EXACT = 1e-8  # agreement with GPyTorch, relative to the size of the numbers
steady = settings(deadline=None, derandomize=True, max_examples=30)


def wave(X):
    return np.sin(5 * X[:, 0]) + 0.3 * (X**2).sum(1)


def sample(n, d, seed=0, noise=0.0):
    """Designs, and a smooth function of them."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    return X, wave(X) + noise * rng.normal(size=n)


def log_theta(d, variance, noise, seed=0):
    scales = np.random.default_rng(seed).uniform(0.2, 1.5, d)
    return np.log([*scales, variance, noise])


@pytest.fixture(scope="module")
def exact_gp():
    """(theta, X, z, mean) -> GPyTorch's exact GP, its raw parameters being logarithms."""
    torch, gpytorch = pytest.importorskip("torch"), pytest.importorskip("gpytorch")

    def positive():
        return gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, X, z, likelihood, d):
            super().__init__(X, z, likelihood)
            self.mean = gpytorch.means.ConstantMean()
            base = gpytorch.kernels.MaternKernel(
                nu=2.5, ard_num_dims=d, lengthscale_constraint=positive()
            )
            self.kernel = gpytorch.kernels.ScaleKernel(base, outputscale_constraint=positive())

        def forward(self, X):
            return gpytorch.distributions.MultivariateNormal(self.mean(X), self.kernel(X))

    def build(theta, X, z, mean):
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=positive())
        model = Model(torch.tensor(X), torch.tensor(z), likelihood, X.shape[1]).double()
        scales, variance, noise = np.exp(theta[:-2]), np.exp(theta[-2]), np.exp(theta[-1])
        model.kernel.base_kernel.lengthscale = torch.tensor(scales)
        model.kernel.outputscale = variance
        likelihood.noise = noise
        model.mean.constant.data.fill_(mean)
        return model

    return build


@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("d", [1, 4])
def test_likelihood_and_gradient_match_gpytorch(exact_gp, d, noise) -> None:
    torch, gpytorch = pytest.importorskip("torch"), pytest.importorskip("gpytorch")
    X, y = sample(12, d)
    z, _, _ = standardise(y)
    theta = log_theta(d, 2.5, noise)
    value, gradient = negative_log_likelihood(theta, X, z, matern52, nugget=0.0)
    oracle = exact_gp(theta, X, z, condition(theta, X, z, matern52, 0.0, 0.0, 1.0).mean).train()
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(oracle.likelihood, oracle)
    loss = -len(z) * likelihood(oracle(torch.tensor(X)), torch.tensor(z))
    raw = oracle.kernel.base_kernel.raw_lengthscale, oracle.kernel.raw_outputscale
    parameters = [*raw, oracle.likelihood.noise_covar.raw_noise, oracle.mean.constant]
    grads = [g.numpy().ravel() for g in torch.autograd.grad(loss, parameters)]
    size = abs(gradient).max()
    np.testing.assert_allclose(value, loss.item(), rtol=EXACT)
    np.testing.assert_allclose(gradient, np.concatenate(grads[:3]), rtol=EXACT, atol=EXACT * size)
    np.testing.assert_allclose(grads[3], 0.0, atol=EXACT / noise)  # ours is the best mean


@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("d", [1, 4])
def test_posterior_and_gradients_match_gpytorch(exact_gp, d, noise) -> None:
    torch = pytest.importorskip("torch")
    X, y = sample(12, d)
    z, shift, unit = standardise(y)
    theta = log_theta(d, 2.5, noise)
    model = condition(theta, X, z, matern52, 0.0, shift, unit)
    P = np.random.default_rng(1).random((6, d))
    at = torch.tensor(P, requires_grad=True)
    oracle = exact_gp(theta, X, z, model.mean).eval()(at)
    mean, std = shift + unit * oracle.mean, unit * oracle.variance.sqrt()
    slopes = [torch.autograd.grad(v.sum(), at, retain_graph=True)[0] for v in (mean, std)]
    for ours, theirs in zip(model.predict_grad(P), [mean, std, *slopes], strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-7, atol=1e-8 * unit)
    for ours, same in zip(model.predict(P), model.predict_grad(P), strict=False):
        np.testing.assert_allclose(ours, same, rtol=1e-12)


@pytest.mark.parametrize("kernel", [matern52, rbf])
@pytest.mark.parametrize(
    ("noise", "nugget"), [(1.0, 0.0), (1e-2, 1e-8), (1e-5, 1e-3), (1e-10, 1e-6), (1e-10, 1e-8)]
)
def test_likelihood_gradient_is_the_derivative(noise, nugget, kernel) -> None:
    X, y = sample(10, 2)
    z, _, _ = standardise(y)
    theta = log_theta(2, 3.0, noise)
    _, gradient = negative_log_likelihood(theta, X, z, kernel, nugget)

    def value(t):
        return negative_log_likelihood(t, X, z, kernel, nugget)[0]

    expected = numeric_gradient(value, theta, h=1e-4)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("settings_", [GaussianProcess(), NOISY, GaussianProcess(kernel=rbf)])
def test_input_gradients_are_the_derivatives(settings_) -> None:
    model = settings_.fit(*sample(25, 3, noise=0.01))
    P = np.random.default_rng(2).random((8, 3))
    mean, std, dmean, dstd = model.predict_grad(P)
    for i, slope in enumerate([dmean, dstd]):
        expected = numeric_gradient(lambda x, i=i: model.predict(x)[i], P)
        np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("d", "n", "seed"), [(1, 8, 0), (2, 20, 1), (2, 40, 2), (5, 30, 3)])
@pytest.mark.parametrize("settings_", [GaussianProcess(), NOISY], ids=["deterministic", "noisy"])
def test_fit_is_as_good_as_many_starts(settings_, d, n, seed) -> None:
    X, y = sample(n, d, seed, noise=0.05)
    z, _, _ = standardise(y)
    ranges = settings_._ranges(d)
    bounds = np.log([(r.low, r.high) for r in ranges])

    def penalised(theta):
        value, gradient = negative_log_likelihood(theta, X, z, matern52, settings_.nugget)
        centre = np.log([r.typical for r in ranges])
        precision = np.array([r.spread for r in ranges]) ** -2.0
        gap = theta - centre
        return value + 0.5 * precision @ gap**2, gradient + precision * gap

    starts = np.random.default_rng(seed).uniform(*np.clip(bounds, -3, 3).T, (8, d + 2))
    starts = np.clip(starts, *bounds.T)
    best = min(
        minimize(penalised, s, jac=True, method="L-BFGS-B", bounds=bounds).fun for s in starts
    )
    assert penalised(settings_.fit(X, y).theta)[0] <= best + 0.05  # nats


def test_fit_recovers_the_hyperparameters_of_a_drawn_function() -> None:
    rng = np.random.default_rng(5)
    scales, noise = np.array([0.25, 1.5]), 0.01
    X = rng.random((120, 2))
    K = matern52((((X[:, None] - X) / scales) ** 2).sum(-1))[0]
    y = 7.0 + 3.0 * np.linalg.cholesky(K + noise * np.eye(120)) @ rng.normal(size=120)
    model = NOISY.fit(X, y)
    np.testing.assert_allclose(np.log(model.scales / scales), 0.0, atol=0.5)
    spread = model.unit**2 * np.exp(model.theta[-2:])  # kernel variance and noise of y
    np.testing.assert_allclose(np.log(spread / [9.0, 9.0 * noise]), 0.0, atol=0.9)


@pytest.mark.parametrize("level", [0.03, 0.3])
def test_noisy_setting_estimates_the_noise_and_smooths_it_out(level) -> None:
    X, y = sample(100, 2, seed=1, noise=level)
    model = NOISY.fit(X, y)
    estimate = model.unit * np.exp(0.5 * model.theta[-1])
    assert 0.7 * level < estimate < 1.4 * level
    P, truth = sample(200, 2, seed=2)
    assert np.sqrt(np.mean((model.predict(P)[0] - truth) ** 2)) < 0.8 * level


@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 1), (30, 2), (60, 8)])
@pytest.mark.parametrize("kernel", [matern52, rbf])
def test_deterministic_setting_interpolates(n, d, kernel) -> None:
    X, y = sample(n, d)
    model = GaussianProcess(kernel=kernel).fit(X, y)
    mean, std = model.predict(X)
    np.testing.assert_allclose(mean, y, atol=3e-4 * model.unit)
    away = model.predict(np.full((1, d), 9.0))[1]
    assert (std < 1e-3 * away).all()


def test_predicts_held_out_values_within_its_band() -> None:
    X, y = sample(40, 2)
    P, truth = sample(300, 2, seed=1)
    mean, std = GaussianProcess().fit(X, y).predict(P)
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.02 * truth.std()
    assert np.mean(abs(mean - truth) < 3 * std) > 0.95


@pytest.mark.parametrize("settings_", [GaussianProcess(), NOISY], ids=["deterministic", "noisy"])
def test_repeats_with_different_values_meet_at_their_mean(settings_) -> None:
    X, y = sample(15, 2)
    X, y = np.vstack([X, X[3], X[3]]), np.append(y, [y[3] + 0.3, y[3] - 0.6])
    model = settings_.fit(X, y)
    # The noisy model keeps all of them, and learns from the points around as well.
    assert len(model.X) == (17 if settings_ is NOISY else 15)
    slack = 0.15 if settings_ is NOISY else 1e-3
    assert model.predict(X[3:4])[0][0] == pytest.approx(y[3] - 0.1, abs=slack)


def test_merge_repeats_keeps_each_design_once() -> None:
    X = np.array([[2.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    distinct, y = merge_repeats(X, np.array([1e308, 5.0, 1.2e308, 7.0]))
    np.testing.assert_array_equal(distinct, [[1, 0], [2, 0], [2, 1]])
    np.testing.assert_allclose(y, [5.0, 1.1e308, 7.0])


@pytest.mark.parametrize("value", [0.0, 0.1, -3e300, 1e-300])
@pytest.mark.parametrize("settings_", [GaussianProcess(), NOISY], ids=["deterministic", "noisy"])
def test_a_constant_objective_is_predicted_everywhere(settings_, value) -> None:
    X, _ = sample(12, 2)
    model = settings_.fit(X, np.full(12, value))
    mean, std, dmean, dstd = model.predict_grad(np.random.default_rng(1).random((20, 2)))
    np.testing.assert_allclose(mean, value, rtol=1e-12)
    assert np.isfinite(std).all() and (std > 0).all()
    assert np.isfinite(dstd).all() and abs(dmean).max() <= 1e-9 * abs(value)


@pytest.mark.parametrize("factor", [1e-300, 1e-6, -1.0, 1e300])
def test_the_unit_of_the_values_does_not_matter(factor) -> None:
    X, y = sample(15, 2)
    P = np.random.default_rng(1).random((9, 2))
    plain, scaled = (GaussianProcess().fit(X, f * y).predict(P) for f in (1.0, factor))
    np.testing.assert_allclose(scaled[0] / factor, plain[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scaled[1] / abs(factor), plain[1], rtol=1e-3)


def test_an_offset_of_the_values_does_not_matter() -> None:
    X, y = sample(15, 2)
    P = np.random.default_rng(1).random((9, 2))
    plain, moved = (GaussianProcess().fit(X, y + offset).predict(P) for offset in (0.0, 1e5))
    np.testing.assert_allclose(moved[0] - 1e5, plain[0], atol=1e-5)


@pytest.mark.parametrize("settings_", [GaussianProcess(), NOISY], ids=["deterministic", "noisy"])
def test_values_over_twelve_orders_of_magnitude(settings_) -> None:
    X, _ = sample(20, 2)
    y = 10.0 ** np.linspace(-6, 6, 20)
    model = settings_.fit(X, y)
    mean, std, dmean, dstd = model.predict_grad(X + 1e-3)
    assert all(np.isfinite(v).all() for v in (mean, std, dmean, dstd))
    if settings_ is not NOISY:
        np.testing.assert_allclose(model.predict(X)[0], y, atol=1e-4 * y.std())


@pytest.mark.parametrize("value", [0.0, 4.2, -1e300])
def test_one_point(value) -> None:
    model = GaussianProcess().fit(np.array([[0.3, 0.3]]), np.array([value]))
    mean, std = model.predict(np.array([[0.3, 0.3], [0.9, 0.1]]))
    np.testing.assert_allclose(mean, value)
    assert 0 < std[0] < 1e-3 * std[1]


@settings(deadline=None, derandomize=True, max_examples=20)
@given(n=st.integers(1, 12), d=st.integers(1, 4), digits=st.integers(0, 2), seed=st.integers(0))
def test_any_data_give_a_finite_model(n, d, digits, seed) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n, d)), digits)  # few digits: repeats and points in a row
    y = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n)
    model = GaussianProcess().fit(X, y)
    for part in model.predict_grad(rng.random((5, d))):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("settings_", [GaussianProcess(), NOISY], ids=["deterministic", "noisy"])
def test_believing_equals_refitting_with_the_mean_as_data(settings_) -> None:
    X, y = sample(15, 2, noise=0.05)
    model = settings_.fit(X, y)
    P, Q = np.random.default_rng(1).random((2, 4, 2))
    z = (np.append(y, model.predict(P)[0]) - model.shift) / model.unit
    refitted = condition(
        model.theta, np.vstack([X, P]), z, matern52, model.nugget, model.shift, model.unit
    )
    for ours, theirs in zip(
        model.believe(P).predict_grad(Q), refitted.predict_grad(Q), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_pending", [2, 5])
def test_believing_keeps_the_mean_and_removes_the_doubt(n_pending) -> None:
    model = GaussianProcess().fit(*sample(15, 2))
    P, Q = np.random.default_rng(1).random((n_pending, 2)), np.random.default_rng(2).random((50, 2))
    believed = model.believe(P)
    np.testing.assert_allclose(believed.predict(Q)[0], model.predict(Q)[0], atol=1e-12)
    assert (believed.predict(Q)[1] <= model.predict(Q)[1] * (1 + 1e-6)).all()
    assert (believed.predict(P)[1] < 1e-3 * model.predict(np.full((1, 2), 9.0))[1]).all()
    stepwise = model.believe(P[:1]).believe(P[1:])
    np.testing.assert_allclose(stepwise.predict(Q)[1], believed.predict(Q)[1], rtol=1e-6)


def test_believing_at_a_known_point_is_harmless() -> None:
    X, y = sample(15, 2)
    model = GaussianProcess().fit(X, y)
    believed = model.believe(X[[2, 2, 7]])
    Q = np.random.default_rng(2).random((20, 2))
    np.testing.assert_allclose(believed.predict(Q)[1], model.predict(Q)[1], rtol=1e-3, atol=1e-6)


def test_hyperparameters_come_from_a_subset_but_the_model_from_all_points() -> None:
    X, y = sample(150, 2)
    all_points, few = (GaussianProcess(max_points=m).fit(X, y) for m in (150, 40))
    assert not np.allclose(all_points.theta, few.theta, rtol=1e-6)
    np.testing.assert_allclose(few.theta[:2], all_points.theta[:2], atol=1.0)
    np.testing.assert_allclose(few.predict(X)[0], y, atol=1e-4)
    P, truth = sample(200, 2, seed=1)
    np.testing.assert_allclose(few.predict(P)[0], truth, atol=0.02)


@steady
@given(n=st.integers(1, 60), max_points=st.integers(2, 40), seed=st.integers(0))
def test_informative_subset_has_the_best_and_a_spread_of_the_rest(n, max_points, seed) -> None:
    z = np.random.default_rng(seed).normal(size=n).round(1)
    chosen = np.arange(n)[informative_subset(z, max_points)]
    assert len(np.unique(chosen)) == len(chosen) == min(n, max_points)
    ranks = np.argsort(np.argsort(-z, kind="stable"))[chosen]
    assert set(range(min(n, max_points // 2))) <= set(ranks)
    if max_points - max_points // 2 >= 2:
        assert n - 1 in ranks  # the worst one too


def test_warm_start_continues_from_the_earlier_fit() -> None:
    X, y = sample(40, 2)
    earlier = GaussianProcess().fit(X[:30], y[:30])
    kept = GaussianProcess(n_warm_iterations=0).fit(X, y, start=earlier)
    np.testing.assert_array_equal(kept.theta, earlier.theta)
    np.testing.assert_allclose(kept.predict(X)[0], y, atol=1e-4)
    z, _, _ = standardise(y)

    def loss(model):
        ranges = GaussianProcess()._ranges(2)
        gaps = (model.theta - np.log([r.typical for r in ranges])) / [r.spread for r in ranges]
        likelihood = negative_log_likelihood(model.theta, X, z, matern52, model.nugget)[0]
        return likelihood + 0.5 * (gaps**2).sum()

    warm, cold = GaussianProcess().fit(X, y, start=earlier), GaussianProcess().fit(X, y)
    assert loss(warm) < loss(kept)
    assert loss(warm) < loss(cold) + 1.0


def test_length_scales_grow_with_the_dimension_on_request() -> None:
    for grows, expected in [(True, 0.5 * 3.0), (False, 0.5)]:
        settings_ = GaussianProcess(n_iterations=0, scale_with_dim=grows)
        model = settings_.fit(*sample(5, 9))
        np.testing.assert_allclose(model.scales, expected)


@steady
@given(seed=st.integers(0), size=st.sampled_from([1e-300, 1.0, 1e307]))
def test_standardise_and_back(seed, size) -> None:
    y = size * np.random.default_rng(seed).normal(size=6)
    z, shift, unit = standardise(y)
    np.testing.assert_allclose([z.mean(), z.std()], [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(shift + unit * z, y, atol=1e-14 * size)


def test_rounding_errors_are_not_a_signal() -> None:
    z, shift, unit = standardise(np.array([7.0, np.nextafter(7.0, 8.0), 7.0]))
    np.testing.assert_allclose([shift, unit], 7.0)
    np.testing.assert_allclose(z, 0.0, atol=1e-15)


def test_the_fit_is_deterministic() -> None:
    X, y = sample(30, 3)
    np.testing.assert_array_equal(*(GaussianProcess().fit(X, y).theta for _ in range(2)))
