"""The paper's search: known constrained maxima, the pull to the edge, the fallback."""

from dataclasses import replace

import numpy as np
import pytest
from goals import CASES, Case, cube, make_goal, no_hints, plane, quadratic, region
from scipy.optimize import minimize

from becbo.search.choice import CRAMPED, TOLERANCE
from becbo.search.slsqp import SlsqpSearch
from becbo.space import Categorical, Integer, LinearConstraint, Real, Space

by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
NOWHERE = make_goal(plane([1.0, 0.0]), plane([0.0, -1.0], -0.5))


def search(goal, space, seed=0, **settings):
    return SlsqpSearch(**settings).maximise(
        goal, region(space), no_hints(space.dim), np.random.default_rng(seed)
    )


@by_name
@pytest.mark.parametrize("seed", range(3))
def test_the_constrained_maximum_is_found(case: Case, seed: int) -> None:
    found = search(case.goal, cube(len(case.best)), seed)
    assert found.value == pytest.approx(case.value, abs=1e-3)
    assert found.slack >= -TOLERANCE and found.bound_holds
    np.testing.assert_allclose(found.x, case.best, atol=0.01)


@by_name
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_unit_of_the_goal_does_not_matter(case: Case, unit: float) -> None:
    goal = make_goal(lambda X: tuple(unit * part for part in case.a(X)), case.g)
    found = search(goal, cube(len(case.best)))
    assert found.value / unit == pytest.approx(case.value, abs=1e-3)


@by_name
def test_the_report_is_true(case: Case) -> None:
    found = search(case.goal, cube(len(case.best)))
    a, g = case.goal.values(found.x[None])
    assert (found.value, found.slack) == (pytest.approx(a[0]), pytest.approx(g[0]))
    assert found.winner in {"SLSQP", "start"} and found.fallback is None


def test_without_a_start_in_the_band_a_random_point_is_given_and_said() -> None:
    found = search(NOWHERE, cube(2))
    a, g = NOWHERE.values(found.x[None])
    assert (found.value, found.slack) == (pytest.approx(a[0]), pytest.approx(g[0]))
    assert (found.winner, found.bound_holds) == ("random", False)
    assert found.fallback == "no start met the bound in 5 rounds: a random point"
    assert np.any(found.x != search(NOWHERE, cube(2), seed=1).x)


def test_a_repeat_is_not_called_a_random_point() -> None:
    where = replace(region(cube(2)), snap=np.zeros_like, taken=np.zeros((1, 2)))
    found = SlsqpSearch().maximise(NOWHERE, where, no_hints(2), np.random.default_rng(0))
    assert (found.winner, found.fallback) == ("repeat", CRAMPED)


def test_rounds_are_repeated_until_a_start_meets_the_bound() -> None:
    goal = make_goal(plane([1.0, 0.0]), lambda X: (1e-2 - X[:, 0], np.zeros_like(X)))
    lonely = {"n_space": 8, "n_edge": 1, "n_best": 1, "n_rounds": 1}
    assert search(goal, cube(2), **lonely).winner == "random"
    assert search(goal, cube(2), **{**lonely, "n_rounds": 200}).winner != "random"


def test_starts_accumulate_until_there_are_ten() -> None:
    climbed: list[object] = []

    class Counted(SlsqpSearch):
        def _climb(self, goal, x, region, unit):
            climbed.append(x)
            return x

    half = make_goal(plane([1.0, 0.0]), plane([-1.0, 0.0], 0.5))  # a round leaves five or fewer
    where, rng = region(cube(2)), np.random.default_rng(0)
    assert 0 < len(SlsqpSearch()._starts(half, where, np.random.default_rng(0))[0]) < 10
    Counted().maximise(half, where, no_hints(2), rng)
    assert len(climbed) == 10  # released: rounds go on until ten are in the band


def test_starts_are_pulled_to_the_edge() -> None:
    goal = CASES[1].goal
    X = np.random.default_rng(0).random((50, 2))
    pulled = SlsqpSearch(pull_enough=1e-4)._pull(goal, X, region(cube(2)))
    gap = np.mean(goal.boundary(X)[0] ** 2), np.mean(goal.boundary(pulled)[0] ** 2)
    assert gap[1] < 0.1 * gap[0]
    assert np.all((pulled >= 0) & (pulled <= 1))


def test_the_pull_leaves_grids_alone() -> None:
    space = Space([Real("a", 0, 1), Integer("b", 0, 3)])
    X = region(space).snap(np.random.default_rng(0).random((10, 2)))
    pulled = SlsqpSearch()._pull(CASES[1].goal, X, region(space))
    np.testing.assert_array_equal(pulled[:, 1], X[:, 1])
    assert np.any(pulled[:, 0] != X[:, 0])


def test_known_constraints_hold() -> None:
    space = cube(3, (LinearConstraint({"a": 1, "b": 1, "c": 1}, upper=1),))
    goal = make_goal(plane([3.0, 2.0, 1.0]), plane([0.0, 0.0, 0.0], 1.0))
    found = search(goal, space)
    assert space.allowed(found.x[None])[0]


@pytest.mark.parametrize(
    "parameters", [[Categorical("c", "abc")], [Integer("n", 0, 3), Real("r", 0, 1)]]
)
def test_grids_are_searched_too(parameters: list) -> None:
    space = Space(parameters)
    target = space.snap(np.full((1, space.dim), 0.6))[0]
    goal = make_goal(quadratic(target), plane(np.zeros(space.dim), 1.0))
    np.testing.assert_allclose(search(goal, space).x, target, atol=1e-3)


def test_same_generator_same_point() -> None:
    one, two = (search(CASES[1].goal, cube(2), seed=1).x for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n", [7, 200])
def test_every_climb_has_its_iterations(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Released: maxiter=200 for each of the ten starts."""
    given: list[object] = []

    def noted(*args, options, **kwargs):  # type: ignore[no-untyped-def]
        given.append(options["maxiter"])
        return minimize(*args, options=options, **kwargs)

    monkeypatch.setattr("scipy.optimize.minimize", noted)
    SlsqpSearch(max_iterations=n).maximise(
        make_goal(plane([1.0, 0.0]), plane([-1.0, 0.0], 0.5)),
        region(cube(2)),
        no_hints(2),
        np.random.default_rng(0),
    )
    assert given == [n] * 10
