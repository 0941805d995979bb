"""The paper's search for C(x) EI(x), against BoTorch and on functions whose maximum is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from goals import region

from becbo.search.goal import Goal, Hints
from becbo.search.restarts import RestartSearch, drawn_starts
from becbo.space import Real, Space

SQUARE = Space([Real("x", 0, 1), Real("y", 0, 1)])
NOTHING = np.empty((0, 2))
HINTS = Hints(NOTHING, NOTHING, np.ones(2))
PEAKS = np.array([[0.2, 0.3], [0.75, 0.8]])  # the second is higher


def peaks(bound: float = -1.0) -> Goal:
    """Two narrow peaks on a plain that is flat to machine precision, and x0 >= bound."""

    def values_grad(X):
        gaps = X[:, None] - PEAKS
        heights = np.array([1.0, 1.5]) * np.exp(-(gaps**2).sum(axis=2) / 0.02)
        gradient = (heights[:, :, None] * -gaps / 0.01).sum(axis=1)
        slope = np.broadcast_to([1.0, 0.0], X.shape)
        return heights.sum(axis=1), X[:, 0] - bound, gradient, slope

    return Goal(lambda X: values_grad(X)[:2], values_grad, lambda X: (X[:, 0], X))


def test_the_highest_peak_is_found() -> None:
    found = RestartSearch().maximise(peaks(), region(SQUARE), HINTS, np.random.default_rng(0))
    np.testing.assert_allclose(found.x, PEAKS[1], atol=1e-4)
    assert found.winner == "L-BFGS-B" and found.fallback is None


def test_a_bound_is_kept() -> None:
    goal = replace(peaks(), values=lambda X: (peaks().values(X)[0], 0.5 - X[:, 0]))
    found = RestartSearch().maximise(goal, region(SQUARE), HINTS, np.random.default_rng(0))
    assert found.bound_holds and found.x[0] <= 0.501


def test_units_do_not_count() -> None:
    goal = peaks()
    tons = Goal(
        lambda X: (1e9 * goal.values(X)[0], goal.values(X)[1]),
        lambda X: tuple(
            f * part for f, part in zip((1e9, 1, 1e9, 1), goal.values_grad(X), strict=True)
        ),
        goal.boundary,
    )
    points = [
        RestartSearch().maximise(g, region(SQUARE), HINTS, np.random.default_rng(3)).x
        for g in (goal, tons)
    ]
    np.testing.assert_allclose(*points, atol=1e-6)


def test_in_a_fixed_unit_l_bfgs_b_stays_where_slopes_are_tiny() -> None:
    def tiny(X):
        a, slack, da, dslack = peaks().values_grad(X)
        return 1e-9 * a, slack, 1e-9 * da, dslack

    goal = Goal(lambda X: tiny(X)[:2], tiny, peaks().boundary)
    far, near = (
        RestartSearch(unit=unit).maximise(goal, region(SQUARE), HINTS, np.random.default_rng(0)).x
        for unit in (1.0, 1e-9)
    )
    assert np.abs(near - PEAKS[1]).max() < 1e-4 < np.abs(far - PEAKS[1]).max()


def test_starts_are_drawn_as_botorch_draws_them() -> None:
    """`initialize_q_batch`: by exp of the standardised values; compared by how often."""
    torch = pytest.importorskip("torch")
    initialize = pytest.importorskip("botorch.optim.initializers").initialize_q_batch
    a = np.array([0.0, 0.5, 1.0, 1.2, 3.0, 0.1, 0.2, 2.0])
    X = torch.arange(8.0)[:, None, None]
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    ours, theirs = np.zeros(8), np.zeros(8)
    for _ in range(4000):
        ours[drawn_starts(a, 3, rng)] += 1
        theirs[initialize(X, torch.tensor(a), 3)[0][:, 0, 0].int().numpy()] += 1
    assert ours[4] == theirs[4] == 4000  # the best is always among them
    np.testing.assert_allclose(ours / 4000, theirs / 4000, atol=0.03)


@pytest.mark.parametrize("a", [np.zeros(20), np.r_[1.0, np.zeros(19)], np.r_[1e6, np.ones(19)]])
def test_flat_acquisitions_still_give_starts(a: np.ndarray) -> None:
    drawn = drawn_starts(a, 10, np.random.default_rng(0))
    assert len(set(drawn.tolist())) == 10
    assert a[drawn].max() == a.max()
