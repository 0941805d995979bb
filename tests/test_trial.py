"""Trials, results and predictions as plain data and back."""

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Estimate, Infeasible, InvalidInput, Outcome, Prediction, Result, Trial
from becbo.reasons import NO_REASONS, Reasons
from becbo.trial import PENDING

steady = settings(deadline=None, derandomize=True)

NAMES = st.text(min_size=1, max_size=5)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
RESULTS = st.builds(
    Result,
    st.sampled_from(Outcome),
    st.dictionaries(NAMES, st.none() | FLOATS, max_size=4),
    st.builds(Reasons.parse, st.none() | st.text(max_size=12)),
)
PREDICTIONS = st.builds(
    Prediction,
    st.dictionaries(NAMES, st.builds(Estimate, FLOATS, FLOATS), max_size=3),
    FLOATS,
    st.tuples(FLOATS, FLOATS),
)
TRIALS = st.builds(
    Trial,
    st.integers(0, 999),
    st.dictionaries(NAMES, FLOATS | st.integers() | NAMES | st.booleans(), max_size=3),
    RESULTS,
    st.none() | PREDICTIONS,
    NAMES,
    st.none() | NAMES,
)


@steady
@given(TRIALS)
def test_a_trial_survives_a_file(trial: Trial) -> None:
    assert Trial.from_dict(json.loads(json.dumps(trial.to_dict()))) == trial


@steady
@given(RESULTS)
def test_a_result_survives_a_file(result: Result) -> None:
    assert Result.from_dict(json.loads(json.dumps(result.to_dict()))) == result


@steady
@given(PREDICTIONS)
def test_a_prediction_survives_a_file(prediction: Prediction) -> None:
    assert Prediction.from_dict(json.loads(json.dumps(prediction.to_dict()))) == prediction


def test_partial_values_stay_partial() -> None:
    result = Result.failed("gel, thin", {"a": 1.5, "b": None})
    again = Result.from_dict(result.to_dict())
    assert again.values == {"a": 1.5, "b": None}
    assert again.reasons.names == ("gel", "thin") and again.reasons.complete


def test_outcomes_by_name() -> None:
    assert Result.ok({"a": 1.0}) == Result(Outcome.OK, {"a": 1.0})
    assert Result.failed() == Result(Outcome.FAILED)
    assert Result.failed("hot").reasons == Reasons.parse("hot")
    assert Result.failed(ValueError("hot")).reason == "ValueError: hot"
    assert Result.lost("power cut").reason == "power cut"
    assert Result.lost().reason is None and Result.lost().reasons == NO_REASONS
    assert PENDING.outcome is Outcome.PENDING and PENDING.values == {}
    assert [o.is_answer for o in Outcome] == [False, True, True, False]


def test_a_reason_may_be_given_in_words() -> None:
    assert Result(Outcome.FAILED, {}, "hot, thin").reasons.names == ("hot", "thin")  # type: ignore


@pytest.mark.parametrize(
    "wrong, message",
    [
        (("ok",), "outcome 'ok' must be an Outcome, such as Outcome.OK"),
        ((None,), "outcome None must be an Outcome"),
        ((Outcome.FAILED, {}, ("a",)), r"reason \('a',\) must be a string"),
        ((Outcome.FAILED, {}, 3), "reason 3 must be a string"),
    ],
)
def test_a_result_of_another_kind_is_refused(wrong: tuple, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Result(*wrong)
    with pytest.raises(InvalidInput, match="reason 3 must be a string"):
        Result.failed(3)  # type: ignore[arg-type]


def test_the_only_value() -> None:
    assert Result.ok({"cost": 3.0}).value == 3.0
    assert Result.failed().value is None and Trial(0, {}).value is None
    assert Trial(0, {}, Result.ok({"cost": 3.0})).value == 3.0


@pytest.mark.parametrize("values", [{"a": 1.0, "b": 2.0}, {"a": None, "b": 2.0}])
def test_several_values_have_names(values: dict) -> None:
    for told in (Result.ok(values), Trial(0, {}, Result.ok(values))):
        with pytest.raises(InvalidInput, match=r"several outputs: use values\[name\].* a, b"):
            _ = told.value
        assert told.values == values


def test_the_only_estimate() -> None:
    one = Prediction({"cost": Estimate(3.0, 0.5)}, 0.9, (0.8, 1.0))
    assert (one.mean, one.std) == (3.0, 0.5)
    nothing = Prediction({}, 0.5, (0.0, 1.0))
    assert nothing.mean is nothing.std is None
    two = Prediction({"a": Estimate(3.0, 0.5), "b": Estimate(1.0, 1.0)}, 0.9, (0.8, 1.0))
    for read in (lambda: two.mean, lambda: two.std):
        with pytest.raises(InvalidInput, match=r"use outputs\[name\] with one of a, b"):
            read()


# -- Infeasible --------------------------------------------------------------------------------


def test_infeasible_keeps_what_was_measured() -> None:
    error = Infeasible("gel", measured={"viscosity": 340.0})
    assert (error.reason, error.measured, str(error)) == ("gel", {"viscosity": 340.0}, "gel")
    assert Infeasible("gel").measured == {}
    # Workers send exceptions to each other.
    again = pickle.loads(pickle.dumps(error))
    assert (again.reason, again.measured) == (error.reason, error.measured)


def test_infeasible_copies_what_was_measured() -> None:
    measured = {"viscosity": 340.0}
    error = Infeasible("gel", measured)
    measured["viscosity"] = 0.0
    assert error.measured == {"viscosity": 340.0}


@pytest.mark.parametrize("wrong", [340.0, [("viscosity", 340.0)], "viscosity"])
def test_infeasible_refuses_numbers_without_names(wrong) -> None:
    with pytest.raises(InvalidInput, match="measured .* must be a dict of outputs"):
        Infeasible("gel", measured=wrong)
