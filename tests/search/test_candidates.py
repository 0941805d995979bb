"""Candidates stay where they may, and are where their names say."""

import numpy as np
import pytest
from goals import cube, region

from becbo.search.candidates import (
    between,
    into_polytope,
    mutate_grids,
    near,
    sobol,
    space_filling,
    spaced,
    walk_in_polytope,
)
from becbo.space import Categorical, Integer, LinearConstraint, Real, Space


def total_below(limit: float, d: int) -> LinearConstraint:
    return LinearConstraint({p.name: 1.0 for p in cube(d).parameters}, upper=limit)


def add_up(names: str, total: float) -> LinearConstraint:
    return LinearConstraint(dict.fromkeys(names, 1), upper=total, lower=total)


def whole_numbers(d: int, high: int, total: int) -> Space:
    """d of them that add up to a total."""
    names = "abcdefghijklmnopqrstuvwxyz"[:d]
    return Space([Integer(name, 0, high) for name in names], [add_up(names, total)])


MIXED = [
    Real("a", 0, 1),
    Integer("b", 0, 7),
    Categorical("c", "xyz"),
    Real("d", 0, 1, step=0.1),
    Integer("e", 1, 1000, log=True),
]
SPACES = {
    "box": cube(3),
    "mixed": Space(MIXED),
    "callable": cube(2, (lambda p: p["a"] > p["b"],)),
    "sum in 3": cube(3, (total_below(1, 3),)),
    "sum in 10": cube(10, (total_below(1, 10),)),
    "thin": cube(2, (LinearConstraint({"a": 1, "b": -1}, upper=1e-3, lower=-1e-3),)),
    "whole numbers": Space(
        [Integer("a", 0, 50), Integer("b", 0, 50), Real("c", 0, 1)],
        [LinearConstraint({"a": 1, "b": 2}, upper=6)],
    ),
    "numbers that add up": whole_numbers(5, 40, 20),
    "many that add up": whole_numbers(20, 3, 6),
    "steps that add up": Space(
        [Real(name, 0, 1, step=0.01) for name in "abcd"], [add_up("abcd", 1.0)]
    ),
    "mixed and both": Space(
        MIXED, [LinearConstraint({"a": 7, "b": 1}, upper=3), lambda p: p["c"] != "x"]
    ),
}


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("n", [1, 10, 64])
def test_space_filling_points_can_be_set_and_are_allowed(space: Space, n: int) -> None:
    X = space_filling(region(space), n, rng())
    assert X.shape == (n, space.dim)
    assert np.all((X >= 0) & (X <= 1))
    np.testing.assert_allclose(space.snap(X), X, rtol=0, atol=1e-12)
    assert space.allowed(X).all()


def test_a_walk_keeps_the_other_constraints() -> None:
    space = cube(10, (total_below(1, 10), lambda p: p["a"] > p["b"]))
    X = space_filling(region(space), 40, rng())
    assert 5 < len(X) < 40 and space.allowed(X).all()


def test_space_filling_depends_on_the_generator_alone() -> None:
    where = region(SPACES["sum in 10"])
    np.testing.assert_array_equal(space_filling(where, 20, rng()), space_filling(where, 20, rng()))
    other = np.random.default_rng(4)
    assert np.any(space_filling(where, 20, rng()) != space_filling(where, 20, other))


@pytest.mark.parametrize(
    "constraint", [lambda p: False, LinearConstraint({"a": 1, "b": 1}, upper=-1)]
)
def test_space_filling_finds_nothing_where_nothing_is(constraint) -> None:
    assert space_filling(region(cube(2, (constraint,))), 5, rng()).shape == (0, 2)


@pytest.mark.parametrize("n, d", [(1, 1), (8, 1), (16, 3), (10, 2)])
def test_sobol_points_are_balanced(n: int, d: int) -> None:
    X = sobol(n, d, rng())
    assert X.shape == (n, d) and np.all((X >= 0) & (X < 1))
    if n in (8, 16):  # one point in each of n equal intervals, in every column
        np.testing.assert_array_equal(np.sort(np.floor(X * n), axis=0)[:, 0], np.arange(n))


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_walk_stays_inside_and_moves(d: int) -> None:
    X = walk_in_polytope(*cube(d, (total_below(1, d),)).polytope(), 400, rng())
    assert X.shape == (400, d)
    assert np.all((X >= 0) & (X <= 1)) and np.all(X.sum(axis=1) <= 1 + 1e-9)
    # The mean of a simplex is 1 / (d + 1) in every coordinate, its spread of that size too.
    np.testing.assert_allclose(X.mean(axis=0), 1 / (d + 1), atol=0.4 / (d + 1))
    assert np.all(X.std(axis=0) > 0.4 / (d + 1))


@pytest.mark.parametrize("d", [2, 4, 10])
@pytest.mark.parametrize("width", [0.0, 1e-9, 1e-3, 0.05])
def test_the_walk_goes_everywhere_in_a_thin_slab(d: int, width: float) -> None:
    A, b = np.array([[1.0] * d, [-1.0] * d]), np.array([1.0 + width, -1.0])
    X = walk_in_polytope(A, b, 400, rng())
    assert np.all((X >= 0) & (X <= 1)) and np.all(X @ A.T <= b + 1e-12)
    spread = np.sqrt((d - 1) / (d + 1)) / d  # of the points that add up to 1
    np.testing.assert_allclose(X.mean(axis=0), 1 / d, atol=0.2 * spread + width)
    np.testing.assert_allclose(X.std(axis=0), spread, rtol=0.25)
    if width:
        np.testing.assert_allclose(X.sum(axis=1).mean(), 1 + width / 2, atol=0.1 * width)


def test_a_walk_to_a_single_point() -> None:
    A, b = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, -1.0], [-3.0, 1.0]]), [1.0, -1.0, 0.5, -0.5]
    X = walk_in_polytope(A, np.array(b), 5, rng())
    np.testing.assert_allclose(X, [[2 / 7, 2.5 / 7]] * 5)


def test_all_numbers_that_add_up_are_found() -> None:
    X = space_filling(region(whole_numbers(3, 60, 5)), 512, rng())
    assert len(np.unique(X.round(9), axis=0)) == 21


def test_several_sums_are_met_at_once() -> None:
    sums = add_up("abcdef", 50), LinearConstraint({"a": 1, "b": 2, "c": -1}, 3, 3)
    space = Space(whole_numbers(6, 40, 50).parameters, sums)
    X = space_filling(region(space), 64, rng())
    assert len(X) > 30 and space.allowed(X).all()


def test_settled_points_can_be_set_and_add_up() -> None:
    space = whole_numbers(8, 9, 30)
    start = space.snap(rng().random((200, 8)))  # the sums are around 36
    X = into_polytope(start, region(space), rng())
    np.testing.assert_allclose(space.snap(X), X, rtol=0, atol=1e-12)
    assert space.allowed(X).all()
    fine = space.allowed(start)
    np.testing.assert_array_equal(X[fine], start[fine])


def test_what_cannot_settle_stays_in_the_space() -> None:
    parity = LinearConstraint({"a": 2}, 3.5, 2.5)  # between two steps
    space = Space([Integer("a", 0, 9), Real("b", 0, 1)], [parity])
    X = into_polytope(space.snap(rng().random((20, 2))), region(space), rng())
    assert not space.allowed(X).any() and np.all((X >= 0) & (X <= 1))


@pytest.mark.parametrize("name", ["mixed", "sum in 3"])
def test_without_grids_under_constraint_nothing_settles(name: str) -> None:
    space = SPACES[name]
    X = space.snap(rng().random((20, space.dim)))
    np.testing.assert_array_equal(into_polytope(X, region(space), rng()), X)


def test_there_is_no_walk_in_an_empty_polytope() -> None:
    assert len(walk_in_polytope(np.array([[1.0, 1.0]]), np.array([-1.0]), 5, rng())) == 0


@pytest.mark.parametrize("name", ["box", "mixed"])
@pytest.mark.parametrize("edge", [0.0, 0.5, 1.0])
def test_near_stays_in_the_cube_and_moves_on_all_scales(name: str, edge: float) -> None:
    space = SPACES[name]
    centres = space.snap(np.full((1, space.dim), edge))
    X = near(centres, 300, region(space), rng())
    assert X.shape == (300, space.dim) and np.all((X >= 0) & (X <= 1))
    moved = np.abs(X - centres).max(axis=1)
    assert np.mean(moved > 0) > 0.4  # at a bound half of the steps are clipped
    if edge == 0.5:
        assert np.mean(moved > 0) > 0.95  # a grid may change and change back
        assert np.quantile(moved, 0.1) < 0.01 < np.quantile(moved, 0.9)


def test_mutated_rows_take_other_settable_values() -> None:
    space = SPACES["mixed"]
    start = space.snap(np.full((400, space.dim), 0.5))
    X = mutate_grids(start.copy(), region(space), rng())
    np.testing.assert_allclose(space.snap(X), X, rtol=0, atol=1e-12)
    changed = [np.any(X[:, columns] != start[:, columns], axis=1) for columns, _ in space.options()]
    assert np.all(np.sum(changed, axis=0) <= 1)
    assert [c.any() for c in changed] == [True, True, True, False]  # "e" has many values


def test_between_lies_on_the_segments() -> None:
    successes, failures = rng().random((2, 3)), np.random.default_rng(4).random((4, 3))
    X = between(successes, failures, 200, rng())
    a, b = successes[:, None, None], failures[None, :, None]
    length = np.linalg.norm(a - b, axis=-1)
    detour = np.linalg.norm(X - a, axis=-1) + np.linalg.norm(X - b, axis=-1) - length
    assert X.shape == (200, 3) and np.all((X >= 0) & (X <= 1))
    assert np.all(detour.min(axis=(0, 1)) < 1e-12)
    used = detour.reshape(8, 200).argmin(axis=0)
    assert len(set(used.tolist())) == 8  # every pair gets its turn


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_between_points_of_a_face_stays_on_it(end: float) -> None:
    X = between(np.full((1, 2), end), np.full((1, 2), end), 50, rng())
    assert np.all(X == end)


def test_spaced_keeps_the_order_and_the_distance() -> None:
    X = np.array([[0.0, 0.0], [0.01, 0.0], [0.5, 0.0], [0.5, 0.09], [1.0, 1.0]])
    order = np.array([3, 0, 1, 2, 4])
    assert spaced(X, order, 9, 0.1, np.ones(2)) == [3, 0, 4]
    assert spaced(X, order, 2, 0.1, np.ones(2)) == [3, 0]
    assert spaced(X, order, 9, 0.1, np.array([1.0, 0.1])) == [3, 0, 2, 4]
