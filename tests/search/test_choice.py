"""The last step: what is given up, in which order, and what is said about it."""

import numpy as np
import pytest
from goals import cube, make_goal, plane, region

from becbo import BecboError
from becbo.search.choice import CRAMPED, EXHAUSTED, TOLERANCE, UNSAFE, choose
from becbo.space import Integer, LinearConstraint, Real, Space

POOL = np.array([[0.1, 0.2], [0.4, 0.2], [0.6, 0.2], [0.9, 0.2]])
ORIGINS = ["first", "second", "third", "fourth"]
# Larger a is better; inside the band up to a = 0.5.
GOAL = make_goal(plane([1.0, 0.0]), plane([-1.0, 0.0], 0.5))
NOWHERE = make_goal(plane([1.0, 0.0]), plane([-1.0, 0.0], -1.0))


def pick(goal=GOAL, space=None, taken=None):
    where = region(space or cube(2), taken)
    return choose(POOL, ORIGINS, goal, where, np.random.default_rng(0))


def test_the_best_inside_the_band_wins() -> None:
    found = pick()
    np.testing.assert_array_equal(found.x, POOL[1])
    assert (found.value, found.slack) == (0.4, pytest.approx(0.1))
    assert (found.winner, found.fallback) == ("second", None)
    assert found.bound_holds


def test_a_taken_point_gives_way_to_the_next_best() -> None:
    assert pick(taken=POOL[1:2] + 5e-7).winner == "first"
    assert pick(taken=POOL[1:2] + 2e-6).winner == "second"


def test_a_forbidden_point_gives_way_to_the_next_best() -> None:
    assert pick(space=cube(2, (lambda p: p["a"] != 0.4,))).winner == "first"


def test_outside_the_band_the_closest_to_it_is_taken_and_said() -> None:
    found = pick(NOWHERE)
    assert found.winner == "first" and not found.bound_holds
    assert found.slack == pytest.approx(-1.1)
    assert found.fallback == UNSAFE


@pytest.mark.parametrize("share, holds", [(0.9, True), (1.1, False)])
def test_the_bound_holds_up_to_the_tolerance(share: float, holds: bool) -> None:
    goal = make_goal(plane([0.0, 0.0]), plane([0.0, 0.0], -share * TOLERANCE))
    assert pick(goal).bound_holds is holds


def test_a_pool_without_news_is_replaced_by_fresh_points() -> None:
    found = pick(taken=POOL)
    assert found.winner == "fresh" and found.bound_holds
    assert found.fallback is not None and "tried already" in found.fallback
    assert 0.4 < found.value <= 0.5 + TOLERANCE  # the best of many


def grid_pick(n_left: int, constraints: tuple = ()):
    """A choice in a 41 x 41 grid where all but n_left designs are taken."""
    space = Space([Integer("a", 0, 40), Integer("b", 0, 40)], constraints)
    everything = region(space).enumerate(4096)
    assert everything is not None
    keep = np.random.default_rng(1).permutation(len(everything))[: len(everything) - n_left]
    goal = make_goal(plane([1.0, 0.0]), plane([0.0, 0.0], 1.0))
    where = region(space, everything[keep])
    found = choose(everything[keep][:5], ["pool"] * 5, goal, where, np.random.default_rng(0))
    return found, bool(where.is_new(found.x[None])[0])


@pytest.mark.parametrize("n_left", [1, 3])
def test_the_last_design_of_a_grid_is_found(n_left: int) -> None:
    found, is_new = grid_pick(n_left)
    assert is_new and found.winner == "fresh" and found.fallback != EXHAUSTED


def test_an_exhausted_space_is_said_to_be() -> None:
    found, is_new = grid_pick(0)
    assert not is_new
    assert (found.winner, found.fallback, found.bound_holds) == ("repeat", EXHAUSTED, True)


def test_a_forbidden_rest_counts_as_exhausted() -> None:
    space = Space([Integer("a", 0, 3), Real("b", 0, 1, step=0.5)], [lambda p: p["a"] < 2])
    taken = space.encode([{"a": a, "b": b} for a in (0, 1) for b in (0.0, 0.5, 1.0)])
    found = choose(taken, ["pool"] * 6, GOAL, region(space, taken), np.random.default_rng(0))
    assert found.fallback == EXHAUSTED


def test_a_pool_without_any_allowed_point_leads_to_a_repeat() -> None:
    limits = LinearConstraint({"a": 1}, lower=6, upper=7)
    space = Space([Integer("a", 0, 60), Integer("b", 0, 1)], [limits])
    taken = space.encode([{"a": a, "b": b} for a in (6, 7) for b in (0, 1)])
    forbidden = space.encode([{"a": 40, "b": 0}, {"a": 50, "b": 1}])
    found = choose(forbidden, ["pool"] * 2, GOAL, region(space, taken), np.random.default_rng(0))
    assert (found.winner, found.fallback) == ("repeat", EXHAUSTED)
    assert space.decode(found.x[None])[0]["a"] in (6, 7)


def test_a_space_too_large_to_list_is_not_called_exhausted() -> None:
    total = LinearConstraint({"a": 1, "b": 1}, upper=1)
    space = Space([Integer("a", 0, 99), Integer("b", 0, 99)], [total])
    taken = space.encode([{"a": 0, "b": 0}, {"a": 0, "b": 1}, {"a": 1, "b": 0}])
    found = choose(taken, ["pool"] * 3, GOAL, region(space, taken), np.random.default_rng(0))
    assert (found.winner, found.fallback) == ("repeat", CRAMPED)


def test_a_narrow_range_gives_no_repeat() -> None:
    space = Space([Real("a", 1, 1 + 1e-11), Real("b", 0, 1, step=0.5)])
    taken = space.encode(space.decode(POOL[1:2]))
    found = pick(space=space, taken=taken)
    np.testing.assert_array_equal(space.encode(space.decode(found.x[None]))[0], found.x)
    aside = choose(taken + 1e-5, ["aside"], GOAL, region(space, taken), np.random.default_rng(0))
    assert aside.winner == "fresh"  # 1e-5 of the range rounds to the taken value


def test_the_point_can_be_set() -> None:
    space = Space([Integer("a", 0, 4), Integer("b", 0, 4)])
    found = pick(space=space)
    np.testing.assert_allclose(found.x, [0.5, 0.3])  # centres of the cells of 0.4 and 0.2


def test_no_allowed_design_is_an_error() -> None:
    with pytest.raises(BecboError, match="no design that satisfies the known constraints"):
        pick(space=cube(2, (lambda p: False,)))
