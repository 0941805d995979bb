"""Regions: what is new, what a gradient may move, and every design of a small space."""

import numpy as np
import pytest
from goals import cube, region

from becbo.search.region import SAME
from becbo.space import Categorical, Integer, Real, Space

GRIDS = [
    Space([Integer("a", 0, 1)]),
    Space([Categorical("a", "xyz"), Integer("b", 1, 4), Real("c", 0, 1, step=0.5)]),
    Space([Integer("a", 0, 100), Categorical("b", "xy")]),
    Space([Integer("a", 1, 4096, log=True)]),
    Space([Real("a", 0, 1, step=1 / 4095)]),
    Space([Integer("a", 1, 40, log=True), Integer("b", -50, 50)]),
]


def test_a_point_is_new_beyond_the_tolerance_in_any_column() -> None:
    where = region(cube(2), np.array([[0.5, 0.5], [0.1, 0.9]]))
    moves = np.array([[0, 0], [0, 0.9], [0, 1.1], [-1.1, 0], [-0.9, 0.9]]) * SAME
    assert where.is_new(0.5 + moves).tolist() == [False, False, True, True, False]
    assert where.is_new(np.array([[0.1, 0.9]])).tolist() == [False]


def test_everything_is_new_at_first() -> None:
    assert region(cube(2)).is_new(np.zeros((3, 2))).tolist() == [True] * 3


def test_with_taken_adds_and_leaves_the_original_alone() -> None:
    before = region(cube(2), np.zeros((1, 2)))
    after = before.with_taken(np.ones((1, 2)))
    corners = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert before.is_new(corners).tolist() == [False, True]
    assert after.is_new(corners).tolist() == [False, False]


def test_only_columns_of_many_values_are_free() -> None:
    parameters = [
        Real("a", 0, 1),
        Integer("b", 0, 5),
        Integer("c", 0, 500),
        Categorical("d", "xyz"),
        Real("e", 0, 1, step=0.1),
        Real("f", 0, 1, step=1e-3),
    ]
    free = [True, False, True, False, False, False, False, True]
    assert region(Space(parameters)).free.tolist() == free


@pytest.mark.parametrize("space", GRIDS, ids=repr)
def test_enumerate_lists_every_design_once(space: Space) -> None:
    X = region(space).enumerate(4096)
    assert X is not None and X.shape == (space.size, space.dim)
    designs = {tuple(params.values()) for params in space.decode(X)}
    assert len(designs) == space.size
    np.testing.assert_allclose(space.snap(X), X, rtol=0, atol=1e-12)


@pytest.mark.parametrize("space", [cube(1), GRIDS[1]], ids=repr)
def test_enumerate_gives_up_beyond_the_limit(space: Space) -> None:
    assert region(space).enumerate(35) is None
