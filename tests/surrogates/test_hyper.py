import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo.errors import InvalidInput
from becbo.surrogates.hyper import Range, fixed, map_estimate, typical_theta

WIDE = Range(1.0, 1e-9, 1e9)


def quadratic(A, b):
    """0.5 (theta - b)^T A (theta - b) with its gradient."""
    return lambda theta: (float(0.5 * (theta - b) @ A @ (theta - b)), A @ (theta - b))


@pytest.mark.parametrize(
    "numbers",
    [
        (1.0, 0.0, 2.0),
        (1.0, -1.0, 2.0),
        (1.0, 1.5, 2.0),
        (3.0, 1.0, 2.0),
        (np.nan, 1.0, 2.0),
        (1.0, 0.5, np.nan),
        (1.0, 0.5, 2.0, 0.0),
        (1.0, 0.5, 2.0, -1.0),
        (1.0, 0.5, 2.0, np.nan),
    ],
)
def test_an_impossible_range_is_refused_with_its_numbers(numbers) -> None:
    with pytest.raises(InvalidInput, match=f"typical={numbers[0]}.*0 < low <= typical <= high"):
        Range(*numbers)


@pytest.mark.parametrize(("factor", "typical"), [(2.0, 1.0), (100.0, 4.0), (0.01, 0.1)])
def test_scaled_moves_the_typical_value_within_the_limits(factor, typical) -> None:
    assert Range(0.5, 0.1, 4.0, 0.7).scaled(factor) == Range(typical, 0.1, 4.0, 0.7)


def test_typical_theta_is_logarithmic() -> None:
    ranges = [Range(0.5, 0.1, 4.0), fixed(1e-10)]
    np.testing.assert_allclose(typical_theta(ranges), np.log([0.5, 1e-10]))


def test_reaches_the_optimum_of_a_quadratic_with_priors() -> None:
    A = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 0.2], [0.5, 0.2, 1.0]])
    b = np.array([1.0, -2.0, 0.5])
    spreads, centres = np.array([0.5, 2.0, np.inf]), np.array([0.3, 1.0, 5.0])
    ranges = [Range(c, 1e-9, 1e9, s) for c, s in zip(centres, spreads, strict=True)]
    P = np.diag(spreads**-2.0)
    optimum = np.linalg.solve(A + P, A @ b + P @ np.log(centres))
    theta = map_estimate(quadratic(A, b), ranges, np.array([2.0, 2.0, -2.0]), 50)
    np.testing.assert_allclose(theta, optimum, atol=1e-4)


@pytest.mark.parametrize("start", [0.0, 7.0, -7.0])
@pytest.mark.parametrize(("target", "reached"), [(5.0, 2.0), (-5.0, -1.0), (0.5, 0.5)])
def test_stays_within_the_limits(start, target, reached) -> None:
    ranges = [Range(1.0, np.exp(-1.0), np.exp(2.0))]
    theta = map_estimate(quadratic(np.eye(1), np.array([target])), ranges, np.array([start]), 30)
    np.testing.assert_allclose(theta, reached, atol=1e-5)


def test_a_fixed_value_is_not_estimated() -> None:
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    theta = map_estimate(quadratic(A, np.array([1.0, 1.0])), [fixed(1e8), WIDE], np.zeros(2), 30)
    assert theta[0] == np.log(1e8)
    np.testing.assert_allclose(theta[1], 1.0 - (np.log(1e8) - 1.0) / 2, rtol=1e-4)


def test_zero_iterations_return_the_start_without_a_look_at_the_loss() -> None:
    def never(theta):
        raise AssertionError("the loss was evaluated")

    start = np.array([0.1, 50.0])  # kept even where the range would not allow it
    np.testing.assert_array_equal(map_estimate(never, [WIDE, Range(1, 0.5, 2)], start, 0), start)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["true gradient", "wrong gradient"])
@settings(deadline=None, derandomize=True, max_examples=30)
@given(seed=st.integers(0), n_iterations=st.integers(1, 5))
def test_is_never_worse_than_the_start(sign, seed, n_iterations) -> None:
    rng = np.random.default_rng(seed)
    ranges = [Range(1.0, 0.1, 10.0, spread=1.0)] * 3
    start, waves = rng.uniform(-2.3, 2.3, 3), rng.uniform(1, 20, 3)

    def loss(theta):
        return float(np.cos(waves * theta).sum()), -sign * waves * np.sin(waves * theta)

    def penalised(theta):
        return loss(theta)[0] + 0.5 * (theta**2).sum()

    theta = map_estimate(loss, ranges, start, n_iterations)
    assert penalised(theta) <= penalised(start) + 1e-12


def test_an_undefined_loss_is_never_the_best() -> None:
    def loss(theta):  # defined up to 1, and the slope leads beyond
        return (-theta[0], -np.ones(1)) if theta[0] <= 1.0 else (np.nan, np.full(1, np.nan))

    theta = map_estimate(loss, [Range(1.0, 0.1, 1e3)], np.array([0.5]), 20)
    assert 0.5 <= theta[0] <= 1.0


def test_evaluations_are_capped() -> None:
    A = np.array([[1.0, 2.0, 3.0], [3.0, -1.0, 2.0], [5.0, 4.0, -9.0]])
    n_calls = 0

    def kinks(theta):  # each line search takes many evaluations
        nonlocal n_calls
        n_calls += 1
        return abs(theta @ A).sum(), A @ np.sign(theta @ A)

    map_estimate(kinks, [WIDE] * 3, np.array([1.3, -2.1, 0.7]), 30)
    assert n_calls <= 45 + 20  # a line search that has begun may end
