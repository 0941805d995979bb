"""The chance that measured values keep their bounds, one by one and all together."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.special import ndtr
from scipy.stats import norm

from becbo.surrogates.gp import GaussianProcess, GPModel
from becbo.surrogates.product import Product
from becbo.surrogates.stacked import stack
from becbo.surrogates.thresholds import Threshold, Thresholds
from becbo.surrogates.warped import Bilog, Plain, WarpedModel

WARPS = [Plain(), Bilog(0.0, 1.0), Bilog(-3.0, 0.2), Bilog(200.0, 1e4)]
warps = pytest.mark.parametrize("warp", WARPS, ids=str)


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).random((15, 2))
    return X, 50.0 * np.exp(4 * X[:, 0]) * (0.5 + X[:, 1])


# -- several models at once --------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(data) -> list[GPModel]:
    """Of different values, some of which were not measured everywhere."""
    X, y = data
    values = [(X, y), (X[3:], np.log(y[3:])), (X[::2], 1e-9 * y[::2] ** 2)]
    return [GaussianProcess().fit(*part) for part in values]


@pytest.mark.parametrize("chosen", [[0], [0, 0], [0, 1, 2]])
def test_models_say_together_what_each_says_alone(models: list[GPModel], chosen) -> None:
    parts = [models[i] for i in chosen]
    P = np.random.default_rng(1).random((40, 2))
    together = stack(parts).predict_grad(P)
    for i, part in enumerate(parts):
        mean, std, dmean, dstd = part.predict_grad(P)
        alone = mean, std, dmean / std[:, None], dstd / std[:, None]
        for own, others in zip(alone, together, strict=True):
            np.testing.assert_allclose(others[i], own, rtol=1e-6, atol=1e-9 * np.abs(own).max())
    np.testing.assert_array_equal(stack(parts).predict(P), together[:2])


def test_pending_points_are_known_to_all(models: list[GPModel]) -> None:
    P = np.array([[0.4, 0.7]])
    mean, std = stack([model.believe(P) for model in models]).predict(P)
    before = stack(models).predict(P)
    np.testing.assert_allclose(mean, before[0], rtol=1e-6)
    assert (std < 0.05 * before[1]).all()


def test_bounds_are_kept_together_as_a_product_of_each(models: list[GPModel]) -> None:
    bounds = [(-np.inf, 300.0), (4.0, 6.0), (1e-6, np.inf)]
    parts = [
        Threshold(WarpedModel(model, Plain()), *pair)
        for model, pair in zip(models, bounds, strict=True)
    ]
    together = Thresholds(tuple(parts), doubt=0.3)
    each = tuple(Thresholds((part,)) for part in parts)
    P = np.random.default_rng(1).random((40, 2))
    product = Product(each, np.ones(2))
    for own, other in zip(together.score_grad(P), product.score_grad(P), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6 * np.abs(other).max())
    np.testing.assert_allclose(together.interval(P), product.interval(P), rtol=1e-6)
    scores = [part.score(P)[0] for part in each]
    near = np.abs(scores) < 8
    np.testing.assert_allclose(together.scores(P)[near], np.array(scores)[near], rtol=1e-5)


# -- the chance to keep a bound ----------------------------------------------------------------


class Stated:
    """A model whose mean and standard deviation are the inputs."""

    def predict(self, X):
        return X[None, :, 0], X[None, :, 1]

    def predict_grad(self, X):
        return *self.predict(X), *(np.eye(2)[:, None, None] / X[:, 1:])  # in units of the std


BOUNDS = [(-np.inf, 2.0), (-1.0, np.inf), (-1.0, 2.0), (-0.05, 0.02)]
bounds = pytest.mark.parametrize("low, high", BOUNDS)


def threshold(low: float, high: float, warp=WARPS[0]) -> Thresholds:
    model = keeping(WarpedModel(None, warp), low, high)  # type: ignore[arg-type]
    vars(model)["_stacked"] = Stated()
    return model


def keeping(model: WarpedModel, low: float, high: float, doubt: float = 0.0) -> Thresholds:
    return Thresholds((Threshold(model, low, high),), doubt)


def beliefs(n: int = 60, seed: int = 0):  # (n, 2)
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-4, 5, n), np.exp(rng.uniform(-1.5, 2, n))])


@bounds
@warps
def test_the_score_is_the_probit_of_the_probability(low: float, high: float, warp) -> None:
    X = beliefs()
    u, w = threshold(low, high, warp).score(X)
    ends = warp.forward(np.array([low, high]))
    prob = norm.cdf(ends[1], X[:, 0], X[:, 1]) - norm.cdf(ends[0], X[:, 0], X[:, 1])
    np.testing.assert_allclose(ndtr(u), prob, rtol=1e-7, atol=1e-12)
    is_moderate = (prob > 1e-4) & (prob < 1 - 1e-4)
    np.testing.assert_allclose(u[is_moderate], norm.ppf(prob[is_moderate]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(w, (norm.cdf(u + 1) - norm.cdf(u - 1)) / 2, atol=1e-8)


@bounds
def test_gradients_are_the_derivatives(low: float, high: float) -> None:
    model, X = threshold(low, high), beliefs()
    u, w, du, dw = model.score_grad(X)
    np.testing.assert_allclose((u, w), model.score(X), rtol=1e-12)
    numeric = numeric_gradient(lambda P: np.array(model.score(P)), X, 1e-6)
    np.testing.assert_allclose(du, numeric[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dw, numeric[1], rtol=1e-5, atol=2e-5)  # w cancels where C is 1


@pytest.mark.parametrize("warp", [Plain(), Bilog(100.0, 30.0)], ids=str)
@pytest.mark.parametrize("low, high", [(-np.inf, 200.0), (100.0, np.inf), (100.0, 200.0)])
def test_gradients_go_through_the_model(data, warp, low: float, high: float) -> None:
    X, y = data
    inner = GaussianProcess().fit(X, warp.forward(y))
    model = keeping(WarpedModel(inner, warp), low, high)
    P = np.random.default_rng(1).random((60, 2))
    u, w, du, dw = model.score_grad(P)
    near = np.abs(u) < 6
    assert near.sum() >= 5
    numeric = numeric_gradient(lambda Q: np.array(model.score(Q)), P, 1e-6)
    np.testing.assert_allclose(du[near], numeric[0][near], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(dw[near], numeric[1][near], rtol=1e-3, atol=1e-3)


@bounds
@pytest.mark.parametrize("std", [1e-9, 1e-4, 1.0, 1e6])
def test_the_score_is_finite_far_away(low: float, high: float, std: float) -> None:
    mean = np.concatenate([-np.geomspace(1e6, 1e-3, 40), np.geomspace(1e-3, 1e6, 40)])
    model = threshold(low, high)
    u, w, du, dw = model.score_grad(np.column_stack([mean, np.full(80, std)]))
    assert np.isfinite(u).all() and np.isfinite(w).all()
    assert np.isfinite(du).all() and np.isfinite(dw).all()
    # Towards the bounds is better.
    middle = np.mean([end for end in (low, high) if np.isfinite(end)])
    far = np.abs(mean - middle) > 10
    is_outside = (mean < low) | (mean > high)
    toward = np.sign(middle - mean)
    assert (toward * du[:, 0] >= 0)[far & is_outside].all()
    assert (toward * du[:, 0] > 0)[far & is_outside & (std < 1e3)].all()


@pytest.mark.parametrize("std", [1e-9, 1e-6, 1e-3])
def test_far_outside_two_bounds_count_as_one(std: float) -> None:
    X = np.column_stack([np.linspace(2.5, 60, 30), np.full(30, std)])
    two, one = threshold(-1.0, 2.0).score_grad(X), threshold(-np.inf, 2.0).score_grad(X)
    np.testing.assert_allclose(two[0], one[0], rtol=1e-6)
    np.testing.assert_allclose(two[2], one[2], rtol=1e-4, atol=1e-9)


def test_the_band_is_one_score_wide() -> None:
    model, X = threshold(-1.0, 2.0), beliefs()
    low, high = model.interval(X)
    u = model.score(X)[0]
    np.testing.assert_allclose(low, ndtr(u - 1))
    np.testing.assert_allclose(high, ndtr(u + 1))


def test_the_chance_is_that_of_the_value_and_not_of_the_warped_one(data) -> None:
    X, y = data
    P = np.random.default_rng(1).random((40, 2))
    chances = {}
    for warp in (Plain(), Bilog(150.0, 60.0)):
        model = WarpedModel(GaussianProcess().fit(X, warp.forward(y)), warp)
        keeps = keeping(model, -np.inf, 150.0)
        chances[str(warp)] = ndtr(keeps.score(P)[0])
        measured = ndtr(keeps.score(X)[0])
        np.testing.assert_array_equal(measured > 0.5, y < 150.0)
    plain, warped = chances.values()
    truth = 50.0 * np.exp(4 * P[:, 0]) * (0.5 + P[:, 1]) < 150.0
    assert ((plain > 0.5) == truth).mean() > 0.8 and ((warped > 0.5) == truth).mean() > 0.8


def test_believing_makes_sure() -> None:
    X = np.random.default_rng(0).random((6, 1))
    inner = GaussianProcess().fit(X, 4 * X[:, 0])
    model = keeping(WarpedModel(inner, Plain()), -np.inf, 2.0, doubt=1.0)
    P = np.array([[0.02], [0.98]])
    before, after = model.scores(P)[0], model.believe(P).scores(P)[0]
    assert after[0] > before[0] > 0 > before[1] > after[1]
    assert model.believe(P).doubt == 1.0
