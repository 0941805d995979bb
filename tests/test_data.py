"""The history as arrays: order, sign, feasibility."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from becbo import Categorical, Outcome, Real, Space, Trial
from becbo.data import Dataset, dataset, kinds, pending_points, sign

SPACE = Space([Real("x", 0, 10), Categorical("c", "ab")])
TRIALS = [
    Trial(0, {"x": 1.0, "c": "a"}, Outcome.OK, 3.0),
    Trial(1, {"x": 2.0, "c": "b"}, Outcome.FAILED, reason="melted"),
    Trial(2, {"x": 3.0, "c": "a"}),
    Trial(3, {"x": 4.0, "c": "b"}, Outcome.LOST),
    Trial(4, {"x": 5.0, "c": "b"}, Outcome.OK, -7.0),
    Trial(5, {"x": 6.0, "c": "b"}),
]


@pytest.mark.parametrize("direction, factor", [("minimize", -1.0), ("maximize", 1.0)])
def test_values_are_to_be_maximised(direction: str, factor: float) -> None:
    data = dataset(TRIALS, SPACE, direction)
    np.testing.assert_array_equal(data.y, [3.0 * factor, np.nan, -7.0 * factor])
    assert sign(direction) == factor


def test_only_answers_count_and_in_order() -> None:
    data = dataset(TRIALS, SPACE, "minimize")
    np.testing.assert_allclose(data.X, [[0.1, 1, 0], [0.2, 0, 1], [0.5, 0, 1]])
    assert data.feasible.tolist() == [True, False, True] and data.n_feasible == 2


def test_successes_leave_failures_out() -> None:
    X, y = dataset(TRIALS, SPACE, "maximize").successes()
    np.testing.assert_allclose(X, [[0.1, 1, 0], [0.5, 0, 1]])
    np.testing.assert_array_equal(y, [3.0, -7.0])


def test_pending_points_are_the_unanswered_ones() -> None:
    np.testing.assert_allclose(pending_points(TRIALS, SPACE), [[0.3, 1, 0], [0.6, 0, 1]])


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_head_is_the_first_experiments(n: int) -> None:
    data = dataset(TRIALS, SPACE, "minimize")
    np.testing.assert_array_equal(data.head(n).X, data.X[:n])
    np.testing.assert_array_equal(data.head(n).y, data.y[:n])


def test_no_trials_give_empty_arrays_of_the_right_width() -> None:
    data = dataset([], SPACE, "minimize")
    assert (data.X.shape, data.y.shape, data.n_feasible) == ((0, 3), (0,), 0)
    assert pending_points([], SPACE).shape == (0, 3)


def test_a_dataset_cannot_be_reassigned() -> None:
    with pytest.raises(AttributeError):
        Dataset(np.zeros((1, 1)), np.zeros(1)).y = np.ones(1)


@pytest.mark.parametrize(
    "reasons, told",
    [
        (["melted", "Melted ", "cracked", "cracked"], ["aabb"]),
        (["stress 312 > 300", "stress 305 > 300", None, None], ["aa--"]),
        (["melted", "cracked", "bent", None], ["----"]),  # each once
        (["a; b", "a", "b", None], ["xab-"]),  # x: both
        (["violated: a", "violated: b", "violated: a, b", None], ["abx-"]),
        (["RuntimeError: melted", "RuntimeError: melted", "OSError", "OSError"], ["aabb"]),
        (["E: melted at 310", "E: melted at 300.5", "E: bent", "E: 7"], ["aabb"]),  # b: E
        (["melted: 300 C", "melted: 310 C", "bent: 5 C", "bent: 6 C"], ["aabb"]),
        (["limit 1", "limit 1", "limit 2", "limit 2"], ["aabb"]),
        (["exit 139", "exit 139", "139", "139"], ["aabb"]),
        (["312 MPa", "305MPa", "MPa", None], ["a-a-"]),
        (["", "  ", "12", None], ["----"]),
        (["E: stuck at 3, aborting", "E: stuck at 5, aborting", "bent", "bent"], ["aabb"]),
        (['"a, b"', '"a, b"', "a", "b"], ["aaa-"]),
        (["E: \"(2, 'full')\"", "E: \"(3, 'full')\"", "E: bent", "E: bent"], ["aabb"]),
        (['E: "full. 2 GiB, so"', 'E: "full. 3 MiB, or"', "E: bent", "E: bent"], ["aabb"]),
        (['E: "at 3 C, x"', 'E: "at 4 C; y"', '3" pipe', '4" pipe'], ["aabb"]),
    ],
)
def test_reasons_tell_failures_apart(reasons: list[str | None], told: list[str]) -> None:
    groups = [[c in ("x", name) for c in told[0]] for name in sorted(set(told[0]) - set("-x"))]
    found = kinds(reasons)
    assert found.shape == (4, len(groups)) and found.dtype == bool
    assert sorted(found.T.tolist()) == sorted(groups)


def test_there_are_at_most_eight_kinds() -> None:
    words = ["melted", "cracked", "bent", "broke", "stuck", "burnt", "leaked", "fell", "froze"]
    found = kinds([w for w in words for _ in range(2)] + ["froze"])
    assert found.shape == (19, 8)
    assert found[:, 0].tolist() == [False] * 16 + [True] * 3  # the most frequent first


def test_reasons_come_with_the_experiments() -> None:
    failed = [Trial(i, {"x": 1.0, "c": "a"}, Outcome.FAILED, reason="bent") for i in (0, 2)]
    worked = Trial(1, {"x": 1.0, "c": "a"}, Outcome.OK, 1.0)
    lost = Trial(3, {"x": 1.0, "c": "a"}, Outcome.LOST, reason="power cut")
    data = dataset([failed[0], worked, failed[1], lost], SPACE, "minimize")
    assert data.kinds is not None and data.kinds.tolist() == [[True], [False], [True]]
    assert data.head(2).kinds is not None and data.head(2).kinds.tolist() == [[True], [False]]


@given(st.lists(st.none() | st.text(alphabet='ab ,;:1"(.', max_size=9), max_size=12))
def test_every_kind_was_seen_more_than_once(reasons: list[str | None]) -> None:
    found = kinds(reasons)
    counts = found.sum(axis=0)
    assert len(found) == len(reasons)
    assert (counts > 1).all() and (np.diff(counts) <= 0).all()
    assert len(np.unique(found, axis=1).T) == len(found.T)


@given(st.lists(st.sampled_from(["melted", "bent", "cracked"]), max_size=9))
def test_repeated_reasons_are_the_kinds(reasons: list[str]) -> None:
    wanted = sorted(
        [r == kind for r in reasons] for kind in set(reasons) if reasons.count(kind) > 1
    )
    assert sorted(kinds(reasons).T.tolist()) == wanted
