import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.stats import norm

from becbo.band import DynamicBound, EdgeProbability, MinimumProbability, OptimisticLatent
from becbo.errors import InvalidInput
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import fixed

RULES = [DynamicBound(), OptimisticLatent(), MinimumProbability(), MinimumProbability(0.1)]
rules = pytest.mark.parametrize("rule", RULES, ids=str)


@pytest.fixture(scope="module")
def model():
    """Designs work to the right of 0.5; a scale at which probabilities are not just 0 or 1."""
    X = np.random.default_rng(0).random((40, 2))
    return GPClassifier(scale=fixed(30.0)).fit(X, X[:, 0] > 0.5)


@pytest.fixture
def points():
    return np.random.default_rng(1).random((60, 2))


@rules
def test_slack_is_positive_where_designs_work(rule, model) -> None:
    works, fails = np.array([[0.9, 0.5]]), np.array([[0.1, 0.5]])
    assert rule.slack(model, works)[0] > 0 > rule.slack(model, fails)[0]


@rules
def test_gradient_is_the_derivative(rule, model, points) -> None:
    slack, gradient = rule.slack_grad(model, points)
    np.testing.assert_allclose(slack, rule.slack(model, points), rtol=1e-12, atol=1e-14)
    expected = numeric_gradient(lambda x: rule.slack(model, x), points)
    assert abs(expected).max() > 0.5  # there is a slope to get wrong
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_dynamic_bound_is_the_papers(model, points) -> None:
    mean, std = model.latent(points)
    prob = norm.cdf(mean / np.sqrt(1 + std**2))
    bound = 0.5 - (norm.cdf(mean + std) - norm.cdf(mean - std)) / 2
    slack = DynamicBound().slack(model, points)
    np.testing.assert_allclose(slack, prob - bound, atol=1e-12)
    is_inside = slack >= 0
    assert (is_inside & (prob < 0.5)).any()  # the bound gives way where the model is unsure
    assert (~is_inside).any()


def test_optimistic_latent_holds_where_one_deviation_more_is_likelier_to_work(
    model, points
) -> None:
    slack = OptimisticLatent().slack(model, points)
    mean, std = model.latent(points)
    np.testing.assert_array_equal(slack >= 0, norm.cdf(mean + std) >= 0.5)
    np.testing.assert_array_equal(slack >= 0, model.interval(points)[1] >= 0.5)
    assert 0 < (slack >= 0).sum() < len(points)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.75])
def test_minimum_probability_holds_where_its_slack_does(model, points, p) -> None:
    slack = MinimumProbability(p).slack(model, points)
    prob = norm.cdf(model.score(points)[0])
    np.testing.assert_array_equal(slack >= 0, prob >= p)
    np.testing.assert_allclose(norm.cdf(slack + norm.ppf(p)), prob)
    assert 0 < (slack >= 0).sum() < len(points)


def test_minimum_probability_keeps_a_slope_where_the_probability_is_flat(points) -> None:
    sharp = GPClassifier(scale=fixed(1e8)).fit(points, points[:, 0] > 0.5)
    _, gradient = MinimumProbability().slack_grad(sharp, points)
    assert (abs(gradient[:, 0]) > 1e-3).all()


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_an_impossible_probability_is_refused(p) -> None:
    with pytest.raises(InvalidInput, match=f"{p} must lie between 0 and 1"):
        MinimumProbability(p)


@rules
def test_most_rules_return_themselves(rule) -> None:
    assert rule.draw(2, np.random.default_rng(0)) is rule


def test_edge_draws_from_its_list_in_few_dimensions() -> None:
    rule = EdgeProbability(p=0.6, p_drawn=(0.2, 0.4, 0.8), max_dim=3)

    def draws(seed):
        rng = np.random.default_rng(seed)
        return [rule.draw(d, rng) for d in (1, 2, 3) * 20]

    assert {b.p for b in draws(0)} == {0.2, 0.4, 0.8}
    assert all(isinstance(b, MinimumProbability) for b in draws(0))
    assert draws(0) == draws(0) != draws(1)


@pytest.mark.parametrize("d", [4, 30])
def test_edge_is_fixed_in_many_dimensions(d) -> None:
    rule = EdgeProbability(p=0.6, max_dim=3)
    rng = np.random.default_rng(0)
    assert {rule.draw(d, rng).p for _ in range(20)} == {0.6}


def test_optimistic_latent_needs_a_latent() -> None:
    class Forest:
        """A feasibility model without one."""

    for call in (OptimisticLatent().slack, OptimisticLatent().slack_grad):
        with pytest.raises(InvalidInput, match="Forest has no latent.*DynamicBound"):
            call(Forest(), np.zeros((1, 2)))
