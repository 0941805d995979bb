"""Fronts, hypervolumes and boxes, against definitions and against pymoo."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from becbo.pareto import boxes, hypervolume, nondominated

steady = settings(deadline=None, derandomize=True)


def points(m: int, max_size: int = 12):
    """Values on a grid, so that ties are common."""
    grid = st.integers(-3, 5).map(float)
    return st.integers(0, max_size).flatmap(lambda n: arrays(float, (n, m), elements=grid))


def dominates(a, b) -> bool:
    return bool((a <= b).all() and (a < b).any())


ANY = st.integers(1, 5).flatmap(points)
UP_TO_THREE = st.integers(1, 3).flatmap(points)


# -- fronts ------------------------------------------------------------------------------------


@steady
@given(ANY)
def test_the_front_is_what_nothing_dominates(F) -> None:
    on_front = nondominated(F)
    assert on_front.shape == (len(F),) and on_front.dtype == bool
    for i, row in enumerate(F):
        is_dominated = any(dominates(other, row) for other in F)
        is_first = not any((F[j] == row).all() for j in range(i))
        assert on_front[i] == (not is_dominated and is_first)


@steady
@given(ANY)
def test_every_point_is_matched_by_the_front(F) -> None:
    front = F[nondominated(F)]
    assert len(front) > 0 or len(F) == 0
    assert all((front <= row).all(axis=1).any() for row in F)
    assert nondominated(front).all()


def test_of_one_objective_the_first_best_is_the_front() -> None:
    F = np.array([[3.0], [1.0], [2.0], [1.0]])
    assert nondominated(F).tolist() == [False, True, False, False]


# -- hypervolume -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pymoo_hypervolume():
    HV = pytest.importorskip("pymoo.indicators.hv").HV

    def measure(F, reference) -> float:
        return float(HV(ref_point=reference).do(F)) if len(F) else 0.0

    return measure


@steady
@given(F=ANY)
@example(F=np.array([[1.0, 2, 3], [1, 2, 3], [3, 2, 1], [4, 4, 4]]))
def test_hypervolume_is_pymoos(pymoo_hypervolume, F) -> None:
    reference = np.linspace(3.0, 4.0, F.shape[1])
    inside = F[(F < reference).all(axis=1)]  # theirs counts what ends at the reference, as nothing
    want = pymoo_hypervolume(inside, reference)
    assert hypervolume(F, reference) == pytest.approx(want, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_hypervolume_of_random_fronts_is_pymoos(pymoo_hypervolume, m: int, seed: int) -> None:
    F = np.random.default_rng(seed).normal(size=(25, m))
    reference = np.full(m, 1.5)
    want = pymoo_hypervolume(F, reference)
    assert want > 0 and hypervolume(F, reference) == pytest.approx(want, rel=1e-10)


@steady
@given(st.integers(1, 4).flatmap(lambda m: points(m, 5)))
def test_hypervolume_by_inclusion_and_exclusion(F) -> None:
    reference = np.full(F.shape[1], 4.0)
    inside = F[(F < reference).all(axis=1)]
    volume = 0.0
    for k in range(1, len(inside) + 1):
        for some in combinations(inside, k):
            volume -= (-1) ** k * np.prod(reference - np.max(some, axis=0))
    assert hypervolume(F, reference) == pytest.approx(volume, abs=1e-9)


@steady
@given(ANY)
def test_hypervolume_counts_only_what_is_below_the_reference(F) -> None:
    reference = np.full(F.shape[1], 2.0)
    beside = np.full((1, F.shape[1]), 2.0)
    volume = hypervolume(F, reference)
    assert hypervolume(np.vstack([F, beside]), reference) == volume >= 0
    assert hypervolume(F[::-1], reference) == pytest.approx(volume)
    assert hypervolume(F + 10.0, reference) == 0.0


# -- boxes -------------------------------------------------------------------------------------


def in_boxes(P, lower, upper):  # (p, m) -> (p,): how many boxes hold each point
    inside = (P[:, None] >= lower[None]) & (P[:, None] < upper[None])
    return inside.all(axis=2).sum(axis=1)


def volumes(lower, upper, floor: float):
    return np.prod(upper - np.maximum(lower, floor), axis=1)


@steady
@given(UP_TO_THREE)
def test_boxes_hold_every_improvement_once(F) -> None:
    reference = np.linspace(3.0, 4.0, F.shape[1])
    lower, upper = boxes(F, reference)
    assert lower.shape == upper.shape == (len(lower), F.shape[1])
    assert (lower < upper).all() and (upper <= reference).all()
    # Half steps lie beside every value, never on one.
    axis = np.arange(-5.25, 5, 0.5)
    P = np.array(np.meshgrid(*[axis] * F.shape[1])).reshape(F.shape[1], -1).T
    is_dominated = np.array([(F <= p).all(axis=1).any() for p in P])
    improves = (P < reference).all(axis=1) & ~is_dominated
    np.testing.assert_array_equal(in_boxes(P, lower, upper), improves.astype(int))


@steady
@given(UP_TO_THREE)
def test_boxes_and_hypervolume_fill_the_space_below_the_reference(F) -> None:
    reference, floor = np.full(F.shape[1], 4.0), -4.0
    lower, upper = boxes(F, reference)
    total = volumes(lower, upper, floor).sum() + hypervolume(F, reference)
    assert total == pytest.approx((4.0 - floor) ** F.shape[1])


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 10, 60])
def test_boxes_of_random_fronts_fill_the_space(m: int, n: int) -> None:
    rng = np.random.default_rng(n)
    F = rng.normal(size=(n, m))
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    F = -np.abs(F)  # all on the front
    reference, floor = np.full(m, 0.1), -2.0
    lower, upper = boxes(F, reference)
    total = volumes(lower, upper, floor).sum() + hypervolume(F, reference)
    assert total == pytest.approx((0.1 - floor) ** m, rel=1e-10)
    assert len(lower) <= 2 * n + 1  # as few as the theory of three objectives allows


@pytest.mark.parametrize("m", [1, 2, 3])
def test_without_a_front_everything_below_the_reference_improves(m: int) -> None:
    reference = np.arange(1.0, m + 1)
    for F in (np.empty((0, m)), np.full((2, m), 9.0)):
        lower, upper = boxes(F, reference)
        np.testing.assert_array_equal(lower, np.full((1, m), -np.inf))
        np.testing.assert_array_equal(upper, [reference])
