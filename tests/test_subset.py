"""Long histories: which experiments the models are fitted to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Optimizer, Real, Space
from becbo.data import Causes, Dataset
from becbo.methods import build
from becbo.models.subset import local_subset
from becbo.models.warm import checkpoint
from becbo.outputs import Objective, Outputs
from becbo.pareto import nondominated
from becbo.settings import Settings

SIZE = 100


def history(n: int, seed: int, m: int = 1, share: float = 0.5) -> Dataset:
    """n random designs, a share of which worked."""
    rng = np.random.default_rng(seed)
    worked = rng.random(n) < share
    Y = np.where(worked[:, None], rng.random((n, m)), np.nan)
    none = Causes(np.zeros((n, 0), bool), np.zeros(n, bool), np.zeros((n, 0), bool))
    outputs = Outputs.of([Objective(f"f{i}", "maximize") for i in range(m)])
    nobody = np.full(n, np.nan), np.zeros(n, bool)
    return Dataset(rng.random((n, 3)), Y, worked, outputs, none, *nobody)


def rows_of(part: Dataset, whole: Dataset) -> list[int]:
    numbers = {x.tobytes(): i for i, x in enumerate(whole.X)}
    return [numbers[x.tobytes()] for x in part.X]


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 400), seed=st.integers(0, 99), share=st.sampled_from([0.0, 0.1, 0.9, 1.0]))
def test_a_subset_has_its_size_its_order_and_everything_new(
    n: int, seed: int, share: float
) -> None:
    data = history(n, seed, share=share)
    part = local_subset(data, SIZE)
    early = checkpoint(n)
    if early <= SIZE:
        assert part is data
        return
    rows = rows_of(part, data)
    assert rows == sorted(set(rows)) and len(rows) == SIZE + n - early
    assert rows[SIZE:] == list(range(early, n))
    np.testing.assert_array_equal(part.Y, data.Y[rows])
    if data.worked[:early].any():  # the best of all is never left out
        assert np.nanargmax(data.y[:early]) in rows


def test_the_failures_beside_the_best_design_are_kept() -> None:
    data = history(300, 1)
    best = data.X[np.nanargmax(data.y)]
    failures = np.flatnonzero(~data.worked)
    nearest = failures[np.argsort(((data.X[failures] - best) ** 2).sum(axis=1))[:5]]
    assert set(nearest) <= set(rows_of(local_subset(data, SIZE), data))


def test_of_several_objectives_the_front_is_kept() -> None:
    data = history(300, 2, m=2)
    rows = np.flatnonzero(data.acceptable)
    front = rows[nondominated(-data.gains[rows])]
    assert set(front) <= set(rows_of(local_subset(data, SIZE), data))


def test_fits_continue_from_the_same_experiments_until_the_next_checkpoint() -> None:
    data, size = history(699, 3), 400
    first, last = (local_subset(data.head(n), size) for n in (650, 699))
    np.testing.assert_array_equal(first.X, last.X[:size])
    assert checkpoint(len(last.X)) == size


def test_edge_looks_at_all_experiments_of_a_short_history_and_others_at_all() -> None:
    short, long = history(449, 4), history(450, 4)
    edge, paper = build(Settings(method="edge")), build(Settings(method="cei"))
    assert edge.relevant(short) is short
    assert len(edge.relevant(long).X) == 400
    assert paper.relevant(long) is long


@pytest.mark.parametrize("worked", [True, False])
def test_a_long_history_gets_a_new_proposal_that_is_the_same_again(worked: bool) -> None:
    space = Space([Real("a", 0, 1), Real("b", 0, 1)])
    X = np.random.default_rng(0).random((1200, 2))

    def asked() -> dict:
        optimizer = Optimizer(space, "minimize", seed=0)
        for params in space.decode(X):
            is_fine = worked and params["a"] + params["b"] > 0.7
            optimizer.add(params, params["a"] if is_fine else None, failed=not is_fine)
        return optimizer.ask().params

    first = asked()
    assert first == asked()
    assert (np.abs(X - list(first.values())).max(axis=1) > 1e-6).all()


def test_repeats_of_failed_designs_are_kept() -> None:
    data = history(600, 3)
    X, worked = data.X.copy(), data.worked.copy()
    X[300], worked[300], worked[40] = X[40], True, False
    kept = local_subset(replace(data, X=X, worked=worked), 400)
    assert sorted(kept.worked[(kept.X == X[40]).all(axis=1)]) == [False, True]
