"""Expected hypervolume improvement, and improvement towards a target, against independent oracles.

BoTorch's EHVI maximises, ours has boxes in costs: a cost is minus a gain.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

from becbo.acquisition import (
    LogExpectedHypervolume,
    LogExpectedImprovement,
    log_expected_improvement,
    log_target_improvement,
)
from becbo.pareto import boxes, hypervolume
from becbo.surrogates.gp import GaussianProcess


@dataclass(frozen=True)
class Given:
    """A regressor whose mean and standard deviation are two of the inputs."""

    k: int

    def predict(self, X):
        return X[:, 2 * self.k], X[:, 2 * self.k + 1]

    def predict_grad(self, X):
        slopes = np.zeros((2, len(X), X.shape[1]))
        slopes[0, :, 2 * self.k] = slopes[1, :, 2 * self.k + 1] = 1.0
        return *self.predict(X), *slopes


def ehvi(front, reference, log_gain=log_expected_improvement) -> LogExpectedHypervolume:
    """Log EHVI over gains (n, m), of regressors that are the inputs: mean, std, mean, ..."""
    m = len(reference)
    corners = boxes(-np.asarray(front, dtype=float).reshape(-1, m), -np.asarray(reference))
    return LogExpectedHypervolume([Given(k) for k in range(m)], [log_gain] * m, *corners)


def front_of(m: int, n: int, seed: int = 0):
    F = np.abs(np.random.default_rng(seed).normal(size=(n, m)))
    return F / np.linalg.norm(F, axis=1, keepdims=True)


def beliefs(m: int, n: int, seed: int = 1):  # (n, 2 m)
    rng = np.random.default_rng(seed)
    stds = np.exp(rng.uniform(-3, 1, (n, m)))
    return np.stack([rng.uniform(-0.5, 1.5, (n, m)), stds], axis=-1).reshape(n, -1)


# -- EHVI --------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("n", [0, 1, 12])
def test_ehvi_is_botorchs(m: int, n: int) -> None:
    torch = pytest.importorskip("torch")
    analytic = pytest.importorskip("botorch.acquisition.multi_objective.analytic")
    from botorch.models.model import Model
    from botorch.utils.multi_objective.box_decompositions.non_dominated import (
        FastNondominatedPartitioning,
    )

    class Posterior:
        def __init__(self, X):
            self.mean, self.variance = X[..., 0::2], X[..., 1::2] ** 2

    class Stated(Model):
        num_outputs = m

        def posterior(self, X, *args, **kwargs):
            return Posterior(X)

    front, reference, X = front_of(m, n), np.full(m, -0.1), beliefs(m, 40)
    partitioning = FastNondominatedPartitioning(torch.tensor(reference), torch.tensor(front))
    theirs = analytic.ExpectedHypervolumeImprovement(Stated(), reference.tolist(), partitioning)
    inputs = torch.tensor(X[:, None], requires_grad=True)
    values = theirs(inputs)
    (slopes,) = torch.autograd.grad(values.log().sum(), inputs)
    value, gradient = ehvi(front, reference).values_grad(X)
    # Plain EHVI loses digits where there is little to gain; ours, a logarithm, does not.
    is_likely = values.detach().numpy() > 1e-6
    assert is_likely.sum() > 15
    want = np.log(values.detach().numpy()[is_likely])
    np.testing.assert_allclose(value[is_likely], want, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        gradient[is_likely], slopes[is_likely, 0].numpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("m", [2, 3])
def test_ehvi_is_the_mean_of_what_is_gained(m: int) -> None:
    front, reference, X = front_of(m, 6), np.full(m, -0.1), beliefs(m, 30, seed=5)
    X = X[ehvi(front, reference).values(X) > np.log(1e-2)][:4]  # rare gains need more draws
    assert len(X) == 4
    before = hypervolume(-front, -reference)
    rng = np.random.default_rng(0)
    for row, value in zip(X, ehvi(front, reference).values(X), strict=True):
        drawn = rng.normal(row[0::2], row[1::2], (4000, m))
        gains = [hypervolume(-np.vstack([front, d]), -reference) - before for d in drawn]
        error = np.std(gains) / np.sqrt(len(gains))
        assert np.exp(value) == pytest.approx(np.mean(gains), abs=4 * error)


@pytest.mark.parametrize("log_gain", [log_expected_improvement, log_target_improvement])
def test_ehvi_of_one_objective_is_expected_improvement(log_gain) -> None:
    X = beliefs(1, 30)
    best, reference = -0.3, -50.0
    value, gradient = ehvi([[best], [-0.9]], [reference], log_gain).values_grad(X)
    want, slopes = LogExpectedImprovement(Given(0), best, log_gain).values_grad(X)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("offset", [0.0, -3.0, 2.0])
@pytest.mark.parametrize("log_gain", [log_expected_improvement, log_target_improvement])
def test_the_gradient_is_the_derivative(m: int, offset: float, log_gain) -> None:
    X = beliefs(m, 20)
    X[:, 0::2] += offset
    X[:, 1::2] = np.maximum(X[:, 1::2], 0.1)
    acquisition = ehvi(front_of(m, 7) - 1.2, np.full(m, -1.3), log_gain)
    value, gradient = acquisition.values_grad(X)
    np.testing.assert_allclose(value, acquisition.values(X), rtol=1e-12)
    expected = numeric_gradient(acquisition.values, X, 1e-6)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_the_gradient_goes_through_the_models() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((14, 2))
    Y = np.column_stack([np.sin(4 * X[:, 0]) + X[:, 1], X[:, 0] - X[:, 1] ** 2])
    models = [GaussianProcess().fit(X, y) for y in Y.T]
    corners = boxes(-Y, -Y.min(axis=0) + 0.1)
    for log_gain in (log_expected_improvement, log_target_improvement):
        acquisition = LogExpectedHypervolume(models, [log_expected_improvement, log_gain], *corners)
        P = rng.random((15, 2))
        value, gradient = acquisition.values_grad(P)
        np.testing.assert_allclose(value, acquisition.values(P), rtol=1e-12)
        expected = numeric_gradient(acquisition.values, P, 1e-6)
        np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("std", [1e-9, 1e-4, 1.0, 1e9])
@pytest.mark.parametrize("log_gain", [log_expected_improvement, log_target_improvement])
def test_ehvi_is_finite_far_away(m: int, std: float, log_gain) -> None:
    means = np.concatenate([-np.geomspace(1e6, 1e-6, 25), np.geomspace(1e-6, 1e6, 25)])
    X = np.stack([*[np.column_stack([means, np.full(50, std)])] * m], axis=1).reshape(50, -1)
    acquisition = ehvi(front_of(m, 9) - 1.2, np.full(m, -1.3), log_gain)
    value, gradient = acquisition.values_grad(X)
    assert np.isfinite(value).all() and np.isfinite(gradient).all()


@pytest.mark.parametrize("m", [2, 3])
def test_ehvi_keeps_a_slope_where_there_is_nothing_to_gain(m: int) -> None:
    X = np.tile([-30.0, 0.1] * m, (1, 1))
    value, gradient = ehvi(front_of(m, 9), np.full(m, -0.1)).values_grad(X)
    assert value[0] < -1000 and (gradient[0] > 1.0).all()  # better and wider are both better


def test_duplicates_and_dominated_points_change_nothing() -> None:
    front, X = front_of(2, 6), beliefs(2, 20)
    more = np.vstack([front, front[2:4], front - 0.05, [[-9.0, 9.0]]])
    want = ehvi(front, [-0.1, -0.1]).values(X)
    np.testing.assert_allclose(ehvi(more, [-0.1, -0.1]).values(X), want, rtol=1e-12)


def test_nearly_equal_points_change_nearly_nothing() -> None:
    front, X = front_of(2, 6), beliefs(2, 20)
    step = 1e-14 * np.array([1.0, -1.0])
    value, gradient = ehvi(np.vstack([front, front + step]), [-0.1, -0.1]).values_grad(X)
    want, slopes = ehvi(front, [-0.1, -0.1]).values_grad(X)
    np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6 * np.abs(slopes).max())


# -- a target ----------------------------------------------------------------------------------


def integral(mean: float, std: float, nearest: float) -> float:
    """E[max(0, nearest - |f|)] by numerical integration."""
    cuts = sorted({-nearest, 0.0, nearest, float(np.clip(mean, -nearest, nearest))})
    parts = [
        quad(lambda f: (nearest - abs(f)) * norm.pdf(f, mean, std), a, b, epsabs=0, epsrel=1e-11)[0]
        for a, b in zip(cuts, cuts[1:], strict=False)
    ]
    return sum(parts)


@pytest.mark.parametrize("std", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("nearest", [1e-5, 1e-3, 0.02, 0.5, 3.0])
@pytest.mark.parametrize("z", [-8.0, -2.0, -0.1, 0.0, 0.7, 3.0])
def test_target_improvement_is_the_integral(std: float, nearest: float, z: float) -> None:
    mean = z * std
    value, _, _ = log_target_improvement(np.array([mean]), np.array([std]), -nearest)
    assert value[0] == pytest.approx(np.log(integral(mean, std, nearest)), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("std", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("nearest", [1e-5, 1e-3, 0.02, 0.5, 3.0])
@pytest.mark.parametrize("z", [-30.0, -2.0, -0.1, 0.7, 3.0])
def test_target_derivatives_are_the_derivatives(std: float, nearest: float, z: float) -> None:
    point = np.array([[z * std, std]])
    _, by_mean, by_std = log_target_improvement(*point.T, -nearest)

    def value(p):
        return log_target_improvement(*p.T, -nearest)[0]

    expected = numeric_gradient(value, point, 1e-5 * std)[0] * std
    found = np.array([by_mean[0], by_std[0]])
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("z", [-1.0, -10.0, -100.0, -1e3, -1e4, -1e5])
@pytest.mark.parametrize("step", [1e-4, 2e-3, 1e-2, 0.1, 1.0, 10.0])
def test_little_to_gain_far_away_is_accurate_too(z: float, step: float) -> None:
    """In 120 digits, beside each change of formula."""
    mp = pytest.importorskip("mpmath")
    t = step / (1 + abs(z))

    def log_gain(z):
        def h(z):
            return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) + z * mp.erfc(-z / mp.sqrt(2)) / 2

        return mp.log(h(z + t) - 2 * h(z) + h(z - t))

    with mp.workdps(120):
        want = float(log_gain(mp.mpf(z)))
        slope = float(mp.diff(log_gain, mp.mpf(z), h=mp.mpf(10) ** -30))
    value, by_mean, _ = log_target_improvement(np.array([z]), np.ones(1), -t)
    assert value[0] == pytest.approx(want, rel=1e-9, abs=2e-4)
    assert by_mean[0] == pytest.approx(slope, rel=2e-4)


def test_both_sides_of_a_target_are_alike() -> None:
    mean, std = np.linspace(0.01, 5, 30), np.full(30, 0.7)
    above = log_target_improvement(mean, std, -0.4)
    below = log_target_improvement(-mean, std, -0.4)
    np.testing.assert_allclose(above[0], below[0])
    np.testing.assert_allclose(above[1], -below[1])
    np.testing.assert_allclose(above[2], below[2])
    assert (above[1] < 0).all()  # towards the target is better


def test_far_from_the_target_the_nearer_side_is_all_that_counts() -> None:
    # With the target many deviations away, E[max(0, b - |f|)] is that of one side alone.
    mean, std, nearest = np.array([30.0]), np.array([1.0]), 4.0
    one_sided = log_expected_improvement(-mean, std, -nearest)
    for ours, theirs in zip(
        log_target_improvement(mean, std, -nearest),
        (1, -1, 1) * np.array(one_sided).T[0],
        strict=True,
    ):
        np.testing.assert_allclose(ours[0], theirs, rtol=1e-9)


@pytest.mark.parametrize("std", [1e-9, 1e-4, 1.0, 1e9])
@pytest.mark.parametrize("nearest", [0.0, 1e-300, 1e-12, 1e-3, 1.0, 1e6])
def test_target_improvement_is_finite_everywhere(std: float, nearest: float) -> None:
    mean = np.concatenate([-np.geomspace(1e6, 1e-6, 40), [0.0], np.geomspace(1e-6, 1e6, 40)])
    found = log_target_improvement(mean, np.full(81, std), -nearest)
    assert np.isfinite(found).all()
    value, by_mean, _ = found
    rounding = 1e-8 * (1.0 + np.abs(value[1:]))
    assert (np.diff(value[:41]) >= -rounding[:40]).all()
    assert (np.diff(value[40:]) <= rounding[40:]).all()
    assert (by_mean[:40] >= -1e-8).all() and (by_mean[41:] <= 1e-8).all()


def test_a_target_that_was_hit_leaves_nothing_to_gain() -> None:
    value, _, _ = log_target_improvement(np.zeros(2), np.array([0.1, 1.0]), 0.0)
    assert (value < log_ndtr(-30.0)).all()
