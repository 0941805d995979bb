"""Discrete moves: one parameter of few values at a time."""

import numpy as np
import pytest
from goals import Array, make_goal, plane, region

from becbo.search.goal import Goal
from becbo.search.mixed import best_neighbours, neighbours
from becbo.space import Categorical, Integer, Real, Space

PARAMETERS = [Real("r", 0, 1), Integer("n", 0, 4), Categorical("c", "xyz"), Integer("m", 0, 99)]
SPACE = Space(PARAMETERS)
START = SPACE.encode([{"r": 0.3, "n": 2, "c": "y", "m": 50}])


def designs(X: Array) -> list[dict]:
    return SPACE.decode(X)


def goal(best_n: int, best_c: str, limit: float = 1.0) -> Goal:
    """Prefers one n and, less, one c; the bound is n <= 4 * limit."""
    weights = np.zeros(SPACE.dim)
    weights[SPACE.columns[2]] = [0.1 * (c == best_c) for c in "xyz"]
    target = (best_n + 0.5) / 5

    def a(X: Array) -> tuple[Array, Array]:
        return X @ weights - np.abs(X[:, 1] - target), np.zeros_like(X)

    slope = np.zeros(SPACE.dim)
    slope[1] = -1.0
    return make_goal(a, plane(slope, limit))


def test_neighbours_differ_in_one_parameter_of_few_values() -> None:
    found = designs(neighbours(START[0], region(SPACE)))
    here = designs(START)[0]
    changed = [{k for k in here if here[k] != other[k]} for other in found]
    assert found[0] == here
    assert all(len(c) <= 1 and c <= {"n", "c"} for c in changed)
    assert {d["n"] for d in found} == {0, 1, 2, 3, 4}
    assert {d["c"] for d in found} == {"x", "y", "z"}


@pytest.mark.parametrize(
    "best_n, best_c, want",
    [(4, "z", {"n": 4, "c": "y"}), (2, "z", {"n": 2, "c": "z"}), (2, "y", {"n": 2, "c": "y"})],
)
def test_the_best_single_change_is_made(best_n: int, best_c: str, want: dict) -> None:
    moved = designs(best_neighbours(START, goal(best_n, best_c), region(SPACE)))[0]
    assert moved == {"r": 0.3, "m": 50, **want}


def test_a_move_stays_in_the_band() -> None:
    moved = best_neighbours(START, goal(4, "y", limit=0.75), region(SPACE))
    assert designs(moved)[0]["n"] == 3


def test_a_move_keeps_the_known_constraints() -> None:
    space = Space(PARAMETERS, [lambda p: p["n"] != 4])
    moved = best_neighbours(START, goal(4, "y"), region(space))
    assert designs(moved)[0]["n"] == 3


def test_without_a_neighbour_in_the_band_a_point_stays() -> None:
    moved = best_neighbours(START, goal(4, "z", limit=-1.0), region(SPACE))
    np.testing.assert_array_equal(moved, START)


def test_rows_are_moved_one_by_one() -> None:
    rows = [{"r": r, "n": n, "c": "z", "m": 7} for r in (0.0, 1.0) for n in (0, 4)]
    moved = designs(best_neighbours(SPACE.encode(rows), goal(1, "z"), region(SPACE)))
    assert moved == [{**row, "n": 1} for row in rows]
