import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.stats import norm

from becbo.acquisition import (
    AsymmetricEntropy,
    ExpectedImprovement,
    LogExpectedImprovement,
    LogFeasibility,
    LogWeighted,
    UpperConfidenceBound,
    Weighted,
    expected_improvement,
    log_expected_improvement,
)
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import fixed

# From hopeless to certain, with points right beside each change of formula.
Z = np.unique(
    np.concatenate(
        [
            -np.geomspace(1e5, 1e-5, 60),
            np.linspace(-10, 50, 121),
            [np.nextafter(-1e3, -np.inf), -1e3, np.nextafter(-1e3, 0), -0.0, 1e-300, -1e-300],
        ]
    )
)


def log_ei(mean, std, best):
    """Log EI and its derivatives, which come without a division by std."""
    value, by_mean, by_std = log_expected_improvement(mean, std, best)
    return value, by_mean / std, by_std / std


STDS = pytest.mark.parametrize("std", [1e-3, 1.0, 50.0])


@pytest.fixture(scope="module")
def botorch_values():
    """(name, mean, std, best) -> BoTorch's value, d/dmean, d/dstd (m,) at a model we choose."""
    torch = pytest.importorskip("torch")
    analytic = pytest.importorskip("botorch.acquisition.analytic")
    from botorch.models.model import Model
    from botorch.posteriors import GPyTorchPosterior
    from gpytorch.distributions import MultivariateNormal

    class Given(Model):
        """Mean and standard deviation are the two inputs."""

        num_outputs = 1

        def posterior(self, X, *args, **kwargs):
            mean, std = X.unbind(-1)
            return GPyTorchPosterior(MultivariateNormal(mean, torch.diag_embed(std**2)))

    def values(name, mean, std, best):
        X = torch.tensor(np.stack([mean, std], -1)[:, None], requires_grad=True)
        out = getattr(analytic, name)(Given(), best_f=torch.tensor(best).double())(X)
        (slope,) = torch.autograd.grad(out.sum(), X)
        return out.detach().numpy(), *slope[:, 0].numpy().T

    return values


# BoTorch's own warning that plain EI has no slope far below the best value.
@pytest.mark.filterwarnings("ignore:ExpectedImprovement has known numerical issues")
@STDS
@pytest.mark.parametrize(
    ("ours", "name"),
    [
        (expected_improvement, "ExpectedImprovement"),
        (log_ei, "LogExpectedImprovement"),
    ],
)
def test_matches_botorch(botorch_values, ours, name, std) -> None:
    best = 0.25
    mean, stds = best + std * Z, np.full(len(Z), std)
    found, theirs = ours(mean, stds, best), botorch_values(name, mean, stds, best)
    np.testing.assert_allclose(found[0], theirs[0], rtol=1e-8, atol=1e-15 * std)
    for ours_slope, their_slope in zip(found[1:], theirs[1:], strict=True):
        # Their automatic differentiation loses this much to cancellation, ours does not.
        np.testing.assert_allclose(ours_slope, their_slope, rtol=1e-5, atol=1e-12)


@STDS
def test_log_ei_is_the_logarithm_where_ei_does_not_underflow(std) -> None:
    z = Z[Z > -5]
    mean, stds = 1.0 + std * z, np.full(len(z), std)
    value, by_mean, by_std = expected_improvement(mean, stds, 1.0)
    log_value, log_by_mean, log_by_std = log_ei(mean, stds, 1.0)
    np.testing.assert_allclose(log_value, np.log(value), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(log_by_mean, by_mean / value, rtol=1e-8)
    np.testing.assert_allclose(log_by_std, by_std / value, rtol=1e-8, atol=1e-300)


def test_log_ei_follows_its_asymptote_far_below_the_best() -> None:
    z = -np.geomspace(500, 1e12, 40)
    value, by_mean, by_std = log_ei(z, np.ones(len(z)), 0.0)
    # phi(z) / z^2 * (1 - 3 / z^2 + 15 / z^4)
    correction = np.log1p(-3 / z**2 + 15 / z**4)
    expected = -0.5 * z**2 - 0.5 * np.log(2 * np.pi) - 2 * np.log(-z) + correction
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-8)
    np.testing.assert_allclose(by_mean, -z * (1 + 2 / z**2), rtol=1e-7)
    np.testing.assert_allclose(by_std, z**2 * (1 + 3 / z**2), rtol=1e-7)


@pytest.mark.parametrize("function", [expected_improvement, log_ei])
@pytest.mark.parametrize("std", [1e-9, 1e-3, 1.0, 1e9])
def test_everything_is_finite(function, std) -> None:
    value, by_mean, by_std = function(std * Z, np.full(len(Z), std), 0.0)
    assert np.isfinite([value, by_mean, by_std]).all()
    assert (by_mean >= 0).all() and (by_std >= 0).all()  # more is better, so is more spread
    if function is log_ei:
        assert (np.diff(value)[np.diff(Z) > 1e-6] > 0).all()
        assert (by_mean > 0).all()  # a slope everywhere


@pytest.mark.parametrize("branch", [0.0, -1e3])
def test_log_ei_is_continuous_where_its_formula_changes(branch) -> None:
    z = np.array([np.nextafter(branch, -np.inf), branch, np.nextafter(branch, np.inf)])
    for part in log_ei(z, np.ones(3), 0.0):
        np.testing.assert_allclose(part, part[1], rtol=1e-9)


@pytest.mark.parametrize("function", [expected_improvement, log_ei])
@pytest.mark.parametrize("z", [-2e3, -999.0, -20.0, -1.0, 0.3, 8.0])
def test_derivatives_are_the_derivatives(function, z) -> None:
    std = 0.7
    point = np.array([[z * std, std]])  # mean and standard deviation
    _, by_mean, by_std = function(*point.T, 0.0)
    expected = numeric_gradient(lambda p: function(*p.T, 0.0)[0], point, 1e-6)
    np.testing.assert_allclose([[by_mean[0], by_std[0]]], expected, rtol=1e-5, atol=1e-9)


@pytest.fixture(scope="module")
def regressor():
    X = np.random.default_rng(0).random((12, 2))
    return GaussianProcess().fit(X, np.sin(5 * X[:, 0]) + X[:, 1])


def test_values_are_those_of_the_regressor(regressor) -> None:
    P = np.random.default_rng(1).random((20, 2))
    mean, std = regressor.predict(P)
    best = 1.2
    z = (mean - best) / std
    expected = (mean - best) * norm.cdf(z) + std * norm.pdf(z)
    np.testing.assert_allclose(ExpectedImprovement(regressor, best).values(P), expected, atol=1e-12)
    is_likely = z > -5
    assert is_likely.sum() > 5
    log_ei = LogExpectedImprovement(regressor, best).values(P)
    np.testing.assert_allclose(log_ei[is_likely], np.log(expected[is_likely]), rtol=1e-6, atol=1e-6)
    for beta in (0.1, 4.0):
        ucb = UpperConfidenceBound(regressor, best, beta).values(P)
        np.testing.assert_allclose(ucb, mean + beta**0.5 * std)
    np.testing.assert_allclose(
        UpperConfidenceBound(regressor, best).values(P), mean + 0.1**0.5 * std
    )


def test_small_standard_deviations_can_be_taken_for_a_larger_one(regressor) -> None:
    """Released: BoTorch's EI, which clamps the variance at 1e-9."""
    P = np.vstack([regressor.X, np.random.default_rng(1).random((20, 2))])
    mean, std = regressor.predict(P)
    floor = float(np.median(std))
    expected = expected_improvement(mean, np.maximum(std, floor), 1.2)[0]
    floored = ExpectedImprovement(regressor, 1.2, floor)
    np.testing.assert_array_equal(floored.values(P), expected)
    assert (floored.values(P) > ExpectedImprovement(regressor, 1.2).values(P)).any()


def test_log_feasibility_is_the_logarithm_of_the_probability() -> None:
    X = np.random.default_rng(0).random((12, 2))
    model = GPClassifier(scale=fixed(4.0)).fit(X, X[:, 0] > 0.4)
    P = np.random.default_rng(1).random((20, 2))
    mean, std = model.latent(P)
    expected = norm.logcdf(mean / np.sqrt(1 + std**2))
    np.testing.assert_allclose(LogFeasibility(model).values(P), expected)


class Ramp:
    """A feasibility model whose score is 1000 times the first input."""

    def score(self, X):
        return 1e3 * X[:, 0], np.zeros(len(X))

    def score_grad(self, X):
        return *self.score(X), np.tile([1e3, 0.0], (len(X), 1)), np.zeros_like(X)


def test_log_feasibility_keeps_a_slope_where_the_probability_underflows() -> None:
    value, slope = LogFeasibility(Ramp()).values_grad(np.array([[-1e5, 0.0], [0.0, 0.0], [1e5, 0]]))
    np.testing.assert_allclose(value, [-0.5e16, np.log(0.5), 0.0], rtol=1e-6)
    np.testing.assert_allclose(slope[:, 0], [1e11, 2e3 * norm.pdf(0.0), 0.0], rtol=1e-6)
    np.testing.assert_array_equal(slope[:, 1], 0.0)


def half(regressor):
    """A classifier of what lies on one side of a plane."""
    X = regressor.X
    return GPClassifier(scale=fixed(4.0)).fit(X, X[:, 0] > np.median(X[:, 0]))


def test_products_are_products(regressor) -> None:
    """Gelbart et al. 2014: EI times C; Lindberg and Lee 2015: EI times S^5 with w = 2/3."""
    P = np.random.default_rng(1).random((20, 2))
    ei, log_ei = ExpectedImprovement(regressor, 0.9), LogExpectedImprovement(regressor, 0.9)
    model = half(regressor)
    p = norm.cdf(model.score(P)[0])
    np.testing.assert_allclose(Weighted(ei, model).values(P), p * ei.values(P))
    logs = LogWeighted(log_ei, model).values(P)
    np.testing.assert_allclose(logs, np.log(p) + log_ei.values(P))
    S = 2 * p * (1 - p) / (p - 2 * (2 / 3) * p + (2 / 3) ** 2)
    found = AsymmetricEntropy(ei, model).values(P)
    np.testing.assert_allclose(found, S**5 * ei.values(P), rtol=1e-9)


def test_the_asymmetric_entropy_is_largest_a_little_inside() -> None:
    u = np.linspace(-3, 3, 6001)
    weight, slope = AsymmetricEntropy(None, None)._weight(u)  # type: ignore[arg-type]
    assert norm.cdf(u[np.argmax(weight)]) == pytest.approx(2 / 3, abs=1e-3)
    np.testing.assert_allclose(slope, np.gradient(weight, u, edge_order=2), atol=0.02)


@pytest.mark.parametrize(
    "build",
    [
        lambda r: ExpectedImprovement(r, 0.9),
        lambda r: ExpectedImprovement(r, 0.9, least_std=0.05),
        lambda r: LogExpectedImprovement(r, 0.9),
        lambda r: LogExpectedImprovement(r, 3.0),
        lambda r: UpperConfidenceBound(r, 0.9, beta=4.0),
        lambda r: LogFeasibility(half(r)),
        lambda r: Weighted(ExpectedImprovement(r, 0.5), half(r)),
        lambda r: LogWeighted(LogExpectedImprovement(r, 0.9), half(r)),
        lambda r: AsymmetricEntropy(ExpectedImprovement(r, 0.5), half(r)),
    ],
    ids=[
        "ei",
        "ei, floored",
        "log ei",
        "log ei, out of reach",
        "ucb",
        "log feasibility",
        "weighted",
        "log weighted",
        "asymmetric entropy",
    ],
)
def test_gradients_are_the_derivatives(regressor, build) -> None:
    acquisition = build(regressor)
    P = np.random.default_rng(2).random((10, 2))
    value, gradient = acquisition.values_grad(P)
    np.testing.assert_allclose(value, acquisition.values(P), rtol=1e-12)
    expected = numeric_gradient(acquisition.values, P)
    assert abs(expected).max() > 0.1  # there is a slope to get wrong
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


class Scaled:
    """A regressor in another unit."""

    def __init__(self, regressor, unit):
        self.regressor, self.unit = regressor, unit

    def predict_grad(self, X):
        return tuple(self.unit * part for part in self.regressor.predict_grad(X))


@pytest.mark.parametrize("unit", [1e-305, 1e300])
def test_gradients_do_not_overflow_in_any_unit(regressor, unit) -> None:
    P = np.random.default_rng(2).random((10, 2))
    best = 3.0  # out of reach: log EI is steep
    value, gradient = LogExpectedImprovement(regressor, best).values_grad(P)
    found = LogExpectedImprovement(Scaled(regressor, unit), unit * best).values_grad(P)
    np.testing.assert_allclose(found[0], value + np.log(unit), rtol=1e-10)
    np.testing.assert_allclose(found[1], gradient, rtol=1e-8)
    value, gradient = ExpectedImprovement(regressor, 0.9).values_grad(P)
    found = ExpectedImprovement(Scaled(regressor, unit), unit * 0.9).values_grad(P)
    np.testing.assert_allclose(found[0] / unit, value, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[1] / unit, gradient, rtol=1e-8, atol=1e-9)
