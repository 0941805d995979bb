"""The batched ascent: maxima of concave functions, bounds and fixed columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from becbo.search.ascent import ascend


def concave(d: int, seed: int):
    """-(x - c)' A (x - c) / 2 with condition number 100 and a centre that may lie outside."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    A = Q @ np.diag(np.geomspace(1, 100, d)) @ Q.T
    centre = rng.uniform(-0.5, 1.5, d)

    def fun(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gap = X - centre
        return -0.5 * np.einsum("mi,ij,mj->m", gap, A, gap), -gap @ A

    return fun


def wavy(d: int, seed: int):
    """A sum of waves: many maxima, slopes of all sizes."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((5, d)) * 10.0 ** rng.uniform(-1, 1.5, (5, 1))
    phase = rng.uniform(0, 6, 5)

    def fun(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = X @ W.T + phase
        return np.sin(angle).sum(axis=1), np.cos(angle) @ W

    return fun


def box_maximum(fun, d: int) -> float:
    """By bounded least squares: the gradient at 0 and the slopes give A and A c."""
    Ac = fun(np.zeros((1, d)))[1][0]
    root = np.linalg.cholesky(Ac - fun(np.eye(d))[1])
    x = lsq_linear(root.T, np.linalg.solve(root, Ac), bounds=(0, 1), tol=1e-14).x
    return float(fun(x[None])[0][0])


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(5))
def test_every_start_reaches_the_maximum_of_a_concave_function(d: int, seed: int) -> None:
    fun = concave(d, seed)
    starts = np.random.default_rng(seed).random((8, d))
    X, f = ascend(fun, starts, np.ones(d, dtype=bool), 300)
    assert np.all((X >= 0) & (X <= 1))
    np.testing.assert_allclose(f, box_maximum(fun, d), rtol=1e-3, atol=1e-3)


def test_a_corner_is_reached_exactly() -> None:
    slope = np.array([1.0, -2.0, 0.5])
    X, _ = ascend(
        lambda X: (X @ slope, np.tile(slope, (len(X), 1))),
        np.full((2, 3), 0.4),
        np.ones(3, dtype=bool),
        50,
    )
    np.testing.assert_array_equal(X, [[1.0, 0.0, 1.0]] * 2)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(d=st.integers(1, 6), seed=st.integers(0, 10**6), n_steps=st.integers(0, 25))
def test_no_row_gets_worse_and_values_are_true(d: int, seed: int, n_steps: int) -> None:
    fun = wavy(d, seed)
    rng = np.random.default_rng(seed)
    starts = np.clip(rng.uniform(-0.3, 1.3, (6, d)), 0, 1)  # some on the bounds
    before = starts.copy()
    X, f = ascend(fun, starts, np.ones(d, dtype=bool), n_steps)
    np.testing.assert_array_equal(starts, before)
    assert np.all((X >= 0) & (X <= 1))
    assert np.all(f >= fun(starts)[0])
    np.testing.assert_allclose(f, fun(X)[0], rtol=1e-12, atol=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), fixed=st.sets(st.integers(0, 3)))
def test_fixed_columns_stay(seed: int, fixed: set[int]) -> None:
    free = np.array([i not in fixed for i in range(4)])
    starts = np.random.default_rng(seed).random((3, 4))
    X, f = ascend(wavy(4, seed), starts, free, 20)
    np.testing.assert_array_equal(X[:, ~free], starts[:, ~free])
    if free.any():
        assert np.any(X[:, free] != starts[:, free])


def test_rows_do_not_disturb_each_other() -> None:
    fun, free = wavy(3, 7), np.ones(3, dtype=bool)
    starts = np.random.default_rng(7).random((5, 3))
    together, _ = ascend(fun, starts, free, 15)
    alone = np.vstack([ascend(fun, x[None], free, 15)[0] for x in starts])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-9)


def test_no_starts_is_no_problem() -> None:
    X, f = ascend(wavy(2, 0), np.empty((0, 2)), np.ones(2, dtype=bool), 5)
    assert X.shape == (0, 2) and f.shape == (0,)


def test_several_lengths_at_once_get_along_a_curved_valley_in_fewer_steps() -> None:
    def valley(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bend = X[:, 1] - X[:, 0] ** 2
        value = -((1 - X[:, 0]) ** 2) - 1e4 * bend**2
        slope = np.column_stack([2 * (1 - X[:, 0]) + 4e4 * bend * X[:, 0], -2e4 * bend])
        return value, slope

    start, free = np.array([[0.1, 0.9]]), np.ones(2, dtype=bool)
    _, one = ascend(valley, start, free, 20)
    _, several = ascend(valley, start, free, 20, np.array([1.0, 0.4, 0.15, 0.05]))
    assert several[0] > one[0]


def test_starts_that_lag_behind_are_given_up() -> None:
    """The climb from the best start is the same; the others cost no evaluations in the end."""
    sizes: list[int] = []

    def hills(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(X))
        centre = np.where(X[:, :1] < 0.5, 0.2, 0.8)
        gap = X - centre
        height = np.where(X[:, 0] < 0.5, -100.0, 0.0)
        return height - 10 * (gap**4).sum(axis=1), -40 * gap**3

    starts, free = np.array([[0.1, 0.4], [0.9, 0.4], [0.3, 0.1]]), np.ones(2, dtype=bool)
    X, f = ascend(hills, starts, free, 20)
    everything = list(sizes)
    sizes.clear()
    Y, g = ascend(hills, starts, free, 20, gap=6.0)
    np.testing.assert_array_equal(X[1], Y[1])
    assert f[1] == g[1]
    assert sizes[:2] == [3, 3] and sizes[2] == 1 and sum(sizes) < sum(everything)
    assert (g >= hills(starts)[0]).all()
