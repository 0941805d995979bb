"""The default search: known constrained maxima, honest reports, repair into the band."""

import numpy as np
import pytest
from goals import (
    CASES,
    Case,
    ball,
    cube,
    make_goal,
    no_hints,
    plane,
    quadratic,
    region,
)

from becbo.search.choice import TOLERANCE, UNSAFE
from becbo.search.constrained import BandSearch, gated, repair
from becbo.search.goal import Hints
from becbo.space import Categorical, Integer, LinearConstraint, Real, Space

by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


# Enough steps, and a gate that ends hard enough, for three digits.
PATIENT = BandSearch(stages=((5.0, 0.3, 40), (20.0, 0.02, 80), (20.0, 1e-3, 80)))


def search(goal, space, hints=None, taken=None, seed=0, band_search=PATIENT):
    hints = hints or no_hints(space.dim)
    return band_search.maximise(goal, region(space, taken), hints, np.random.default_rng(seed))


def data_hints(case: Case) -> Hints:
    """One success inside, failures around it."""
    X = np.random.default_rng(5).random((400, len(case.best)))
    inside = case.g(X)[0] >= 0
    return Hints(X[inside][:2], X[~inside][:5], np.ones(len(case.best)))


@by_name
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("has_data", [True, False])
def test_the_constrained_maximum_is_found(case: Case, seed: int, has_data: bool) -> None:
    hints = data_hints(case) if has_data else None
    found = search(case.steep_goal, cube(len(case.best)), hints, seed=seed)
    assert found.value == pytest.approx(case.value, abs=case.tolerance)
    assert found.slack >= -TOLERANCE and found.bound_holds
    np.testing.assert_allclose(found.x, case.best, atol=0.03)


@by_name
def test_the_default_effort_comes_close(case: Case) -> None:
    for seed in range(5):
        hints = data_hints(case)
        found = search(case.steep_goal, cube(len(case.best)), hints, None, seed, BandSearch())
        assert found.value >= case.value - 0.02 * case.span
        assert found.bound_holds


@by_name
def test_the_report_is_true(case: Case) -> None:
    found = search(case.steep_goal, cube(len(case.best)), data_hints(case))
    a, g = case.steep_goal.values(found.x[None])
    assert (found.value, found.slack) == (pytest.approx(a[0]), pytest.approx(g[0]))
    assert found.bound_holds == (g[0] >= -TOLERANCE)
    assert found.winner.split(",")[0] in {"space", "near the best", "towards a failure"}
    assert found.fallback is None


def test_without_a_point_in_the_band_the_nearest_is_given_and_said() -> None:
    goal = make_goal(plane([1.0, 0.0]), plane([0.0, -1.0], -0.5))
    found = search(goal, cube(2))
    assert not found.bound_holds and found.slack == pytest.approx(-0.5, abs=0.02)
    assert found.fallback == UNSAFE


def test_the_search_goes_round_what_is_taken() -> None:
    case = CASES[3]
    found = search(case.steep_goal, cube(2), taken=case.best[None])
    assert 1e-6 < np.abs(found.x - case.best).max() < 0.1


def test_known_constraints_hold() -> None:
    space = cube(3, (LinearConstraint({"a": 1, "b": 1, "c": 1}, upper=1), lambda p: p["a"] < 0.5))
    goal = make_goal(plane([3.0, 2.0, 1.0]), plane([0.0, 0.0, 0.0], 1.0))
    found = search(goal, space)
    assert space.allowed(found.x[None])[0]
    assert found.value > 2.3  # of 2.5, at (0.5, 0.5, 0)


def test_a_mixed_space_is_searched_to_the_best_setting() -> None:
    space = Space(
        [Real("r", 0, 1), Integer("n", 0, 9), Categorical("c", "wxyz"), Integer("m", 0, 99)]
    )
    want = {"r": 0.35, "n": 7, "c": "y", "m": 40}
    goal = make_goal(quadratic(space.encode([want])[0]), plane(np.zeros(space.dim), 1.0))
    found = space.decode(search(goal, space).x[None])[0]
    assert found["r"] == pytest.approx(0.35, abs=1e-2)
    assert {**found, "r": 0.35} == want


@pytest.mark.parametrize("space", [Space([Integer("n", 0, 60)]), Space([Categorical("c", "abc")])])
def test_a_small_discrete_space_is_searched_completely(space: Space) -> None:
    target = region(space).enumerate(4096)[1]
    goal = make_goal(quadratic(target), plane(np.zeros(space.dim), 1.0))
    found = search(goal, space)
    np.testing.assert_allclose(found.x, target)
    assert found.winner.startswith("all designs")


def test_same_generator_same_point() -> None:
    one, two, other = (search(CASES[1].steep_goal, cube(2), seed=s).x for s in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert np.any(one != other)


@pytest.mark.parametrize("weight, softness", [(5.0, 0.3), (20.0, 0.02)])
def test_the_gradient_of_the_gate_is_right(weight: float, softness: float) -> None:
    fun = gated(CASES[1].steep_goal, weight, softness)
    X = np.random.default_rng(0).random((20, 2))
    step = 1e-6 * np.eye(2)
    slopes = [(fun(X + s)[0] - fun(X - s)[0]) / 2e-6 for s in step]
    np.testing.assert_allclose(fun(X)[1], np.transpose(slopes), rtol=1e-4, atol=1e-4)


def test_repair_moves_to_the_last_place_inside() -> None:
    anchors, points = np.full((3, 2), 0.5), np.array([[1.0, 0.5], [0.6, 0.5], [0.5, 0.0]])
    repaired = repair(points, anchors, lambda X: ball(anchors[0], 0.3)(X)[0] >= 0)
    np.testing.assert_allclose(repaired, [[0.8, 0.5], [0.6, 0.5], [0.5, 0.2]], atol=4e-3)
    assert np.all(ball(anchors[0], 0.3)(repaired)[0] >= 0)
    np.testing.assert_array_equal(repaired[1], points[1])  # it was inside


def test_repair_without_an_inside_ends_at_the_anchor() -> None:
    anchor = np.array([[0.5, 0.5]])
    repaired = repair(np.ones((1, 2)), anchor, lambda X: np.zeros(len(X), dtype=bool))
    np.testing.assert_allclose(repaired, anchor, atol=0.01)


def test_a_known_constraint_that_is_active_at_the_optimum_is_reached() -> None:
    space = cube(3, (LinearConstraint({"a": 1, "b": 1, "c": 1}, upper=1.0),))
    goal = make_goal(plane([1.0, 1.2, 0.8]), plane([0.0, 0.0, 0.0], 1.0))
    found = search(goal, space, band_search=BandSearch())
    assert found.value > 1.15  # the best is 1.2, at (0, 1, 0)
    assert "refined" in found.winner
