"""The space-filling method: one sequence, no state."""

import numpy as np
from goals import cube, region, unexplained
from scipy.stats import qmc

from becbo import Categorical, Integer, Optimizer, Space
from becbo.proposers.sobol import BLOCK, Sobol, next_block


def run(space: Space, n: int, seed: int = 0) -> Optimizer:
    """n proposals after one experiment; the even ones fail."""
    optimizer = Optimizer(space, method="sobol", seed=seed, n_initial=1)
    for i in range(n + 1):
        trial = optimizer.ask()
        if i % 2:
            optimizer.tell(trial, float(i))
        else:
            optimizer.fail(trial)
    return optimizer


def test_successive_proposals_are_the_points_of_one_sequence() -> None:
    space = cube(2)
    optimizer = run(space, BLOCK)
    X = space.encode([t.params for t in optimizer.trials])
    # Every dyadic box of size 1 / 16 holds one point of a block: what makes it a net.
    for rows, columns in [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)]:
        cells = np.unique((X[1:] * [rows, columns]).astype(int), axis=0)
        assert len(cells) == BLOCK
    assert {t.origin for t in optimizer.trials[1:]} == {"sequence"}


def test_it_fills_the_space_better_than_random_points() -> None:
    space = cube(3)
    X = space.encode([t.params for t in run(space, 40).trials[1:]])
    uniform = [np.random.default_rng(seed).random(X.shape) for seed in range(20)]
    assert qmc.discrepancy(X) < min(qmc.discrepancy(points) for points in uniform)


def test_outcomes_do_not_matter() -> None:
    X = np.random.default_rng(0).random((12, 2))
    where, none = region(cube(2), X), np.empty((0, 2))
    told = [np.arange(12.0), np.full(12, np.nan)]
    points = [
        Sobol().propose(unexplained(X, y), where, none, 3, np.random.default_rng(1)).X for y in told
    ]
    np.testing.assert_array_equal(points[0], points[1])


def test_a_block_shrinks_by_what_is_taken_and_then_the_next_begins() -> None:
    X = np.array([[0.2, 0.3]])
    where = region(cube(2), X)
    first = next_block(X, where, np.random.default_rng(0))
    assert len(first) == BLOCK
    rest = next_block(X, where.with_taken(first[:10]), np.random.default_rng(1))
    assert {tuple(x) for x in rest} == {tuple(x) for x in first[10:]}
    second = next_block(X, where.with_taken(first), np.random.default_rng(1))
    assert len(second) == BLOCK
    assert not {tuple(x) for x in second} & {tuple(x) for x in first}


def test_other_first_experiments_give_other_sequences() -> None:
    where, rng = region(cube(2)), np.random.default_rng(0)
    one, other = (next_block(np.full((1, 2), x), where, rng) for x in (0.2, 0.4))
    assert not {tuple(x) for x in one} & {tuple(x) for x in other}


def test_a_small_grid_is_used_up_without_repeats() -> None:
    space = Space([Integer("a", 1, 5), Categorical("b", "xyz")])
    designs = [str(t.params) for t in run(space, 14).trials]
    assert len(set(designs)) == 15
