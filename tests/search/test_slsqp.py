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


def test_what_is_pulled_to_the_edge() -> None:
    """Released: of 1000 Sobol points the 5 nearest to C = 0.5, and the 5 of the largest EI; of
    what the pull makes of them, those in the band are starts."""
    sampled, pulled = [], []

    class Spied(SlsqpSearch):
        def _pull(self, goal, X, region):
            pulled.append(X)
            return X

    def values(X):
        sampled.append(X)
        return X[:, 0], X[:, 1] - 0.5

    def boundary(X):
        return X[:, 1] - 0.7, np.tile([0.0, 1.0], (len(X), 1))

    goal = replace(CASES[0].goal, values=values, boundary=boundary)
    starts, _ = Spied()._starts(goal, region(cube(2)), np.random.default_rng(0))
    X = sampled[0]
    near = X[np.argsort(np.abs(X[:, 1] - 0.7))[:5]]
    best = X[np.argsort(-X[:, 0])[:5]]
    assert len(X) == 1000
    np.testing.assert_array_equal(pulled, [np.vstack([near, best])])
    assert 0 < np.sum(best[:, 1] < 0.5) < 5  # some lie outside of the band
    np.testing.assert_array_equal(starts, pulled[0][pulled[0][:, 1] >= 0.5])


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
    lonely = {"n_space": 8, "n_edge": 1, "n_best": 1, "n_empty": 1}
    assert search(goal, cube(2), **lonely).winner == "random"
    assert search(goal, cube(2), **{**lonely, "n_empty": 200}).winner != "random"


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


@pytest.mark.parametrize(
    ("found", "n_starts"),
    [
        ([1] * 10, 10),  # one a round is enough
        ([0, 0, 0, 0, 3] * 4, 10),  # empty rounds count in a row only
        ([2, 0, 0, 0, 0, 0, 9], 2),  # five in a row: those that were found have to do
        ([7, 7], 10),
    ],
)
def test_rounds_go_on_until_five_in_a_row_are_empty(found: list[int], n_starts: int) -> None:
    """Released: `iter_count` returns to zero whenever a round has brought a start."""
    rounds, climbed = iter(found), []

    class Told(SlsqpSearch):
        def _starts(self, goal, region, rng):
            return rng.random((next(rounds), 2)), 1.0

        def _climb(self, goal, x, region, unit):
            climbed.append(x)
            return x

    everywhere = make_goal(plane([1.0, 0.0]), plane([0.0, 0.0], 1.0))
    Told().maximise(everywhere, region(cube(2)), no_hints(2), np.random.default_rng(0))
    assert len(climbed) == n_starts


def test_a_start_is_proposed_where_slsqp_ends_outside_of_the_bound() -> None:
    """Ours, in the table of differences: released, the best end counts in any case."""

    class Lost(SlsqpSearch):
        def _climb(self, goal, x, region, unit):
            return np.array([1.0, 0.0])

    half = make_goal(plane([1.0, 0.0]), plane([-1.0, 0.0], 0.5))
    found = Lost().maximise(half, region(cube(2)), no_hints(2), np.random.default_rng(0))
    assert found.winner == "start" and found.bound_holds


@pytest.mark.parametrize(
    ("losses", "n_steps"),
    [
        ([0.5] * 50, 12),  # the first counts as a gain, then eleven stalls
        ([0.5 - 2e-4 * (i // 2) for i in range(50)], 22),  # stalls add up, gains do not undo them
        ([0.5 - 0.6e-4 * i for i in range(50)], 22),  # two small steps together are a gain
        ([0.5, 0.4, 0.01, 0.0], 3),  # near enough after the step that began there
        ([0.01, 0.0], 1),
    ],
)
def test_the_pull_ends_by_the_released_rules(losses: list[float], n_steps: int) -> None:
    """Released: until the loss is below 0.02 or has gained less than 1e-4 more than ten times."""
    met = iter(losses)
    asked: list[float] = []

    def boundary(X):
        asked.append(next(met))
        gap = np.sqrt(asked[-1])
        return np.full(len(X), gap), np.ones_like(X) / gap  # a step is the same for every loss

    goal = replace(CASES[1].goal, boundary=boundary)
    start = np.full((3, 2), 0.5)
    pulled = SlsqpSearch()._pull(goal, start, region(cube(2)))
    assert len(asked) == n_steps
    np.testing.assert_allclose(pulled, 0.5 - 1e-2 * n_steps, atol=1e-6)  # Adam at a constant slope


def test_in_a_fixed_unit_the_scale_of_the_goal_decides_when_slsqp_stops() -> None:
    """Released: EI as it is, and SLSQP ends when it changes by less than 1e-6."""
    target, x = np.array([0.8, 0.3]), np.array([0.5, 0.5])
    tiny = make_goal(quadratic(target, 1e-9), plane([0.0, 0.0], 1.0))
    where = region(cube(2))
    np.testing.assert_allclose(SlsqpSearch()._climb(tiny, x, where, 1.0), x, atol=1e-6)
    np.testing.assert_allclose(SlsqpSearch()._climb(tiny, x, where, 1e-9), target, atol=1e-3)
    far = search(tiny, cube(2), unit=1.0).x
    near = search(tiny, cube(2)).x
    assert np.abs(near - target).max() < 1e-3 < np.abs(far - target).max()


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
