"""Histories as DataFrames and back."""

import math

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Categorical, InvalidInput, Limit, Objective, Optimizer, Outcome, Real, Space

SPACE = Space([Real("x", 0, 1), Categorical("alloy", ["A", "B"])])
OUTPUTS = [Objective("strength", "maximize"), Limit("stress", upper=200)]
numbers = st.none() | st.floats(-1e6, 1e6)
answers = st.tuples(
    st.sampled_from(["ok", "failed", "lost", "pending"]),
    st.floats(0, 1),
    st.sampled_from("AB"),
    numbers,
    numbers,
    st.none() | st.sampled_from(["gel", "stress", "gel, cracked"]),
)


def history(rows: list[tuple]) -> Optimizer:
    optimizer = Optimizer(SPACE, OUTPUTS, seed=0, n_initial=max(1, len(rows)))
    for outcome, _, _, strength, stress, reason in rows:
        trial, values = optimizer.ask(), {"strength": strength, "stress": stress}
        if outcome == "ok" and (strength, stress) != (None, None):
            optimizer.tell(trial, values)
        elif outcome == "failed":
            optimizer.fail(trial, reason, values)
        elif outcome == "lost":
            optimizer.lose(trial, reason)
    return optimizer


@settings(max_examples=40, deadline=None)
@given(st.lists(answers, max_size=6))
def test_there_and_back(rows: list[tuple]) -> None:
    optimizer = history(rows)
    again = Optimizer.from_frame(SPACE, OUTPUTS, optimizer.to_frame(), seed=0)
    assert [(t.params, t.outcome, t.reason) for t in again.trials] == [
        (t.params, t.outcome, t.reason) for t in optimizer.trials
    ]
    answered = [t for t in optimizer.trials if t.outcome.is_answer]
    assert [again.trials[t.number].values for t in answered] == [t.values for t in answered]


def test_the_same_proposals_continue() -> None:
    optimizer = Optimizer(SPACE, "minimize", seed=3, n_initial=3)
    for value in (3.0, 1.0, 2.0):
        optimizer.tell(optimizer.ask(), value)
    again = Optimizer.from_frame(SPACE, "minimize", optimizer.to_frame(), seed=3, n_initial=3)
    assert again.ask().params == optimizer.ask().params


def test_a_plain_table() -> None:
    frame = pandas.DataFrame(
        {"x": [0.1, 0.5], "alloy": ["A", "B"], "value": [3.0, math.nan], "who": ["ann", "bob"]}
    )
    optimizer = Optimizer.from_frame(SPACE, "minimize", frame)
    assert [t.outcome for t in optimizer.trials] == [Outcome.OK, Outcome.FAILED]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [0.1, 7.0]}, r"row 1 of the frame: x = 7\.0 is outside"),
        ({"outcome": ["ok", "fine"]}, r"row 1 .* outcome 'fine' must be one of ok, failed"),
        ({"value": [math.inf, 1.0]}, r"row 0 of the frame: value"),
        ({"reason": [None, 3]}, r"row 1 of the frame: reason"),
    ],
)
def test_bad_cells_are_named(change: dict, message: str) -> None:
    cells = {"x": [0.1, 0.5], "alloy": ["A", "B"], "value": [3.0, None]}
    with pytest.raises(InvalidInput, match=message):
        Optimizer.from_frame(SPACE, "minimize", pandas.DataFrame({**cells, **change}))


def test_missing_columns_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"no column \['alloy', 'value'\]; it has \['x'\]"):
        Optimizer.from_frame(SPACE, "minimize", pandas.DataFrame({"x": [1]}))


def test_a_name_for_two_columns_is_refused() -> None:
    optimizer = Optimizer(Space([Real("value", 0, 1)]), "minimize")
    with pytest.raises(InvalidInput, match=r"\['value'\] would stand twice"):
        optimizer.to_frame()
