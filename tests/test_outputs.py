"""What an experiment returns: objectives, limits, recorded numbers, and what is refused."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import InvalidInput, Limit, Objective, Recorded
from becbo.outputs import Outputs

steady = settings(deadline=None, derandomize=True)

BAD = {
    "empty name": (lambda: Objective(""), "an output needs a non-empty name, got ''"),
    "blank name": (lambda: Limit("  ", upper=1), "an output needs a non-empty name, got '  '"),
    "no name": (lambda: Recorded(None), "an output needs a non-empty name, got None"),
    "number as a name": (lambda: Objective(3), "an output needs a non-empty name, got 3"),
    "direction": (
        lambda: Objective("cost", "min"),
        "direction 'min' of 'cost' must be 'minimize' or 'maximize'",
    ),
    "direction and target": (
        lambda: Objective("ph", "minimize", target=7),
        "objective 'ph' has direction 'minimize' and target 7; give one of them",
    ),
    "target": (lambda: Objective("ph", target="7"), "target of 'ph' '7' is not a number; give a"),
    "infinite target": (
        lambda: Objective("ph", target=math.inf),
        "target of 'ph' inf is not finite; give a finite number, or leave it out",
    ),
    "reference": (
        lambda: Objective("cost", reference=math.nan),
        "reference of 'cost' nan is not finite; give a finite number, or leave it out",
    ),
    "no bound": (lambda: Limit("stress"), "limit 'stress' needs `lower` or `upper`, or both"),
    "infinite bound": (
        lambda: Limit("stress", upper=math.inf),
        "upper of 'stress' inf is not finite; give a finite number, or leave it out",
    ),
    "bound": (lambda: Limit("stress", lower=[1]), "lower of 'stress' [1] is not a number"),
    "true bound": (lambda: Limit("stress", lower=True), "lower of 'stress' True is not a number"),
    "bounds": (
        lambda: Limit("stress", 3, 2),
        "limit 'stress': lower 3.0 must be below upper 2.0",
    ),
    "equal bounds": (lambda: Limit("stress", 2, 2), "lower 2.0 must be below upper 2.0"),
    "word": (
        lambda: Outputs.of("max"),
        "direction 'max' of 'value' must be 'minimize' or 'maximize'",
    ),
    "no objective": (lambda: Outputs.of([Limit("a", 1)]), "have no Objective; add what to optimi"),
    "nothing": (lambda: Outputs.of([]), "outputs [] have no Objective"),
    "twice": (
        lambda: Outputs.of([Objective("a"), Limit("a", 1), Recorded("b")]),
        "outputs: a stands more than once",
    ),
    "alien": (
        lambda: Outputs.of([Objective("a"), "b"]),
        "output 'b' must be an Objective, a Limit or Recorded, as in [Objective(",
    ),
    "alone": (lambda: Outputs.of(3), "output 3 must be an Objective, a Limit or Recorded"),
    "a dict": (lambda: Outputs.of({"a": "min"}), "output {'a': 'min'} must be an Objective"),
    "the class": (lambda: Outputs.of(Objective), "must be an Objective"),
}


@pytest.mark.parametrize("make, message", BAD.values(), ids=BAD)
def test_bad_outputs_are_refused(make, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make()


# -- the collection ----------------------------------------------------------------------------

COST, PH = Objective("cost", unit="EUR"), Objective("ph", target=7)
STRESS, COLOUR = Limit("stress", upper=200), Recorded("colour")


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_direction_is_one_objective_without_a_name(direction: str) -> None:
    outputs = Outputs.of(direction)
    assert outputs.objectives == (Objective("value", direction),)
    assert outputs.names == ("value",) and outputs.is_single


def test_objectives_come_first_then_limits_then_the_rest() -> None:
    outputs = Outputs.of([COLOUR, STRESS, PH, COST])
    assert outputs.names == ("ph", "cost", "stress", "colour")
    assert list(outputs) == [PH, COST, STRESS, COLOUR]
    assert (outputs.objectives, outputs.limits, outputs.recorded) == (
        (PH, COST),
        (STRESS,),
        (COLOUR,),
    )
    assert Outputs.of(outputs) is outputs
    assert Outputs.of((COLOUR, STRESS, PH, COST)) == outputs


@pytest.mark.parametrize(
    "spec, single",
    [
        (COST, True),
        (Objective(), True),
        ([COST], True),
        (PH, False),
        ([COST, PH], False),
        ([COST, STRESS], False),
        ([COST, COLOUR], False),
    ],
)
def test_what_every_method_can_do(spec, single: bool) -> None:
    assert Outputs.of(spec).is_single == single


def test_an_objective_is_minimised_unless_it_has_a_target() -> None:
    assert Objective("a").direction == "minimize"
    assert PH.direction is None and PH.target == 7.0 and type(PH.target) is float


def test_bounds_are_open_where_there_is_none() -> None:
    assert STRESS.bounds == (-math.inf, 200.0)
    assert Limit("a", lower=np.float32(0.5)).bounds == (0.5, math.inf)
    assert Limit("a", Fraction(1, 4), 2).bounds == (0.25, 2.0)
    assert COST.bounds == PH.bounds == COLOUR.bounds == (-math.inf, math.inf)


# -- values ------------------------------------------------------------------------------------

ALL = Outputs.of([COST, PH, STRESS, COLOUR])
NOTHING = {"cost": None, "ph": None, "stress": None, "colour": None}


@pytest.mark.parametrize(
    "given, want",
    [
        ({}, NOTHING),
        ({"ph": 3}, NOTHING | {"ph": 3.0}),
        ({"stress": np.float32(2), "cost": None}, NOTHING | {"stress": 2.0}),
        ({"colour": 0.0, "cost": -1}, NOTHING | {"colour": 0.0, "cost": -1.0}),
    ],
)
def test_there_is_a_number_or_none_for_every_output(given: dict, want: dict) -> None:
    found = ALL.values(given)
    assert found == want and list(found) == list(ALL.names)
    assert all(v is None or type(v) is float for v in found.values())


def test_a_single_output_takes_a_number() -> None:
    assert Outputs.of("minimize").values(3) == {"value": 3.0}
    assert Outputs.of(COST).values({"cost": 3}) == {"cost": 3.0}


@pytest.mark.parametrize(
    "outputs, given, message",
    [
        (ALL, 3.0, "value 3.0: there are several outputs; give a dict of cost, ph, stress, colour"),
        (ALL, {"price": 1}, "output 'price' does not exist; there are cost, ph, stress, colour"),
        (ALL, {"price": None}, "output 'price' does not exist"),
        (ALL, {"ph": math.nan}, "ph nan is not finite; leave it out if it was not measured"),
        (ALL, {"ph": math.inf}, "ph inf is not finite"),
        (ALL, {"ph": "7"}, "ph '7' is not a number; leave it out if it was not measured"),
        (ALL, {"ph": True}, "ph True is not a number"),
        (Outputs.of(COST), math.nan, "value nan is not finite; use fail(trial)"),
        (Outputs.of(COST), "3", "value '3' is not a number; use fail(trial)"),
        (Outputs.of(COST), None, "value None is not a number"),
    ],
)
def test_what_is_no_result_is_refused(outputs: Outputs, given, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        outputs.values(given)


@pytest.mark.parametrize(
    "values, kept",
    [
        ({}, True),
        ({"stress": None}, True),
        ({"stress": 200.0}, True),
        ({"stress": 200.00001}, False),
        ({"stress": -1e9}, True),
        ({"cost": 1e9, "colour": 1e9}, True),
    ],
)
def test_a_limit_that_was_not_measured_is_not_broken(values: dict, kept: bool) -> None:
    assert ALL.are_kept(values) == kept


@pytest.mark.parametrize("value, kept", [(0.9, False), (1.0, True), (2.0, True), (2.1, False)])
def test_both_bounds_count(value: float, kept: bool) -> None:
    assert Outputs.of([COST, Limit("a", 1, 2)]).are_kept({"a": value}) == kept


# -- orientation -------------------------------------------------------------------------------

FLOATS = st.floats(-1e6, 1e6)


@steady
@given(FLOATS, FLOATS)
def test_gains_order_values_as_the_user_does(a: float, b: float) -> None:
    down, up, target = Objective("a"), Objective("a", "maximize"), Objective("a", target=7)
    assert (down.gain(a) >= down.gain(b)) == (a <= b)
    assert (up.gain(a) >= up.gain(b)) == (a >= b)
    assert (target.gain(a) >= target.gain(b)) == (abs(a - 7) <= abs(b - 7))
    assert target.gain(7.0) == 0 >= target.gain(a)


@steady
@given(FLOATS, FLOATS)
def test_models_see_values_that_can_be_restored(value: float, target: float) -> None:
    for output in (COST, Objective("a", "maximize"), STRESS, COLOUR):
        assert output.restore(output.orient(value)) == value
    aimed = Objective("a", target=target)
    assert aimed.restore(aimed.orient(value)) == pytest.approx(value, abs=1e-9)
    assert aimed.orient(value) == value - target  # which side of the target is not lost
    assert Objective("a").orient(value) == Objective("a").gain(value) == -value
    assert Objective("a", "maximize").orient(value) == value


# -- the best ----------------------------------------------------------------------------------


def test_only_one_objective_has_a_best() -> None:
    assert Outputs.of([COST, STRESS]).best_of([]) is None
    assert Outputs.of([COST, STRESS]).best_of(["first"]) == "first"
    for front in ([], ["first"], ["first", "second"]):
        with pytest.raises(InvalidInput, match=r"no best of several objectives \(cost, ph\); see"):
            ALL.best_of(front)
