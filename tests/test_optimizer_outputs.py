"""The optimizer with several outputs: mappings, fronts, limits, targets, predictions."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import (
    METHODS,
    InvalidInput,
    Limit,
    Objective,
    Optimizer,
    Outcome,
    Real,
    Recorded,
    Space,
    Trial,
)
from becbo.outputs import Outputs
from becbo.pareto import nondominated

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])
COST, POWER = Objective("cost"), Objective("power", "maximize")
PH, HEAT, COLOUR = Objective("ph", target=7.0), Limit("heat", upper=2.0), Recorded("colour")
ALL = [COST, POWER, HEAT, COLOUR]


def at(x: float, y: float = 0.5) -> dict:
    return {"x": x, "y": y}


# -- recording ---------------------------------------------------------------------------------


def test_a_mapping_is_recorded_by_name() -> None:
    optimizer = Optimizer(SPACE, ALL, seed=0)
    told = optimizer.tell(optimizer.ask(), {"heat": 1, "cost": np.float32(3), "power": 4})
    assert told.values == {"cost": 3.0, "power": 4.0, "heat": 1.0, "colour": None}
    assert all(v is None or type(v) is float for v in told.values.values())
    assert told.outcome is Outcome.OK and optimizer.trials == (told,)


def test_an_experiment_may_return_a_part() -> None:
    optimizer = Optimizer(SPACE, ALL, seed=0)
    told = optimizer.tell(optimizer.ask(), {"heat": 1.5, "cost": None})
    assert told.values == {"cost": None, "power": None, "heat": 1.5, "colour": None}
    assert told.is_feasible and optimizer.front == ()


def test_a_failure_may_have_been_measured() -> None:
    optimizer = Optimizer(SPACE, ALL, seed=0)
    failed = optimizer.fail(optimizer.ask(), "gel, heat", measured={"heat": 3})
    assert (failed.outcome, failed.reason) == (Outcome.FAILED, "gel, heat")
    assert failed.values == {"cost": None, "power": None, "heat": 3.0, "colour": None}
    assert failed.result.reasons.names == ("gel", "heat")


def test_add_takes_mappings_and_measurements() -> None:
    optimizer = Optimizer(SPACE, ALL, seed=0)
    added = optimizer.add(at(0.5), {"cost": 1.0})
    assert added.outcome is Outcome.OK and added.values["cost"] == 1.0
    failed = optimizer.add(at(0.6), failed="gel", measured={"heat": 3})
    assert (failed.outcome, failed.reason, failed.values["heat"]) == (Outcome.FAILED, "gel", 3.0)
    bare = optimizer.add(at(0.7), failed=True)
    assert bare.values == dict.fromkeys(Outputs.of(ALL).names) and bare.reason is None


def test_one_output_may_be_measured_although_it_failed() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    assert optimizer.fail(optimizer.ask(), measured={"value": 0.0}).value == 0.0
    assert optimizer.add(at(0.1), failed=True, measured={"value": 3}).value == 3.0
    assert optimizer.best is None


BAD = {
    "a number": (lambda o: o.tell(0, 3.0), "value 3.0: there are several outputs; give a dict of"),
    "no number": (lambda o: o.tell(0, None), "value None: there are several outputs"),
    "unknown": (lambda o: o.tell(0, {"price": 3.0}), "output 'price' does not exist; there are"),
    "nan": (
        lambda o: o.tell(0, {"cost": np.nan}),
        "cost nan is not finite; leave it out if it was",
    ),
    "nothing": (
        lambda o: o.tell(0, {}),
        "value {}: an experiment that worked has a value of at least one of cost, power, heat, col",
    ),
    "all None": (lambda o: o.tell(0, {"cost": None}), "has a value of at least one of cost"),
    "fail unknown": (lambda o: o.fail(0, measured={"price": 3.0}), "output 'price' does not exist"),
    "fail number": (lambda o: o.fail(0, measured=0.0), "value 0.0: there are several outputs"),
    "fail nan": (
        lambda o: o.fail(0, measured={"heat": np.nan}),
        "heat nan is not finite; leave it",
    ),
    "add number": (lambda o: o.add(at(0), 3.0), "there are several outputs; give a dict of cost"),
    "add both": (
        lambda o: o.add(at(0), {"cost": 1.0}, measured={"heat": 1.0}),
        "measured {'heat': 1.0} goes with failed; put it into the value",
    ),
    "add neither": (
        lambda o: o.add(at(0), measured={"heat": 1.0}),
        "give either a value or failed",
    ),
    "best": (lambda o: o.best, "no best of several objectives (cost, power); see `front`"),
}


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD)
def test_a_refused_call_names_the_problem_and_changes_nothing(call, message: str) -> None:
    optimizer = Optimizer(SPACE, ALL, seed=0)
    optimizer.ask()
    before = optimizer.trials
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call(optimizer)
    assert optimizer.trials == before


def test_measured_without_names_is_not_dropped() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    assert optimizer.fail(optimizer.ask(), measured=0.0).value == 0.0  # one output needs no name


def test_a_caller_cannot_change_what_was_measured() -> None:
    optimizer = Optimizer(SPACE, [COST, HEAT], seed=0)
    told = optimizer.tell(optimizer.ask(), {"cost": 1.0, "heat": 1.0})
    for trial in (told, optimizer.trials[0], optimizer.front[0], optimizer.best):
        trial.values["cost"] = -99.0
    assert optimizer.trials[0].values == {"cost": 1.0, "heat": 1.0}


@pytest.mark.parametrize(
    "outputs, message",
    [
        ([HEAT], "have no Objective; add what to optimise"),
        ([COST, Limit("cost", 1)], "cost stands more than once"),
        (["cost"], "output 'cost' must be an Objective"),
        ("best", "direction 'best'"),
    ],
)
def test_bad_outputs_are_refused(outputs, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Optimizer(SPACE, outputs)


# -- the front ---------------------------------------------------------------------------------


def told(outputs, rows: list[dict]) -> Optimizer:
    optimizer = Optimizer(SPACE, outputs, seed=0)
    for i, row in enumerate(rows):
        optimizer.add(at(i / 100), row)
    return optimizer


def front(outputs, rows: list[dict]) -> list[int]:
    return [t.number for t in told(outputs, rows).front]


def test_the_front_of_one_objective_is_the_best() -> None:
    rows = [{"cost": c} for c in (3.0, 1.0, 2.0, 1.0)]
    optimizer = told(COST, rows)
    assert [t.number for t in optimizer.front] == [1]  # of equals the first
    assert optimizer.best == optimizer.trials[1] == optimizer.front[0]


def test_the_front_of_two_objectives() -> None:
    rows = [(1, 1), (2, 3), (2, 2), (0, 0), (3, 3), (2, 3)]
    pairs = [{"cost": c, "power": p} for c, p in rows]
    assert front([COST, POWER], pairs) == [0, 1, 3]
    assert front([POWER, COST], pairs) == [0, 1, 3]
    assert front([COST, Objective("power")], pairs) == [3]


def test_the_front_of_three_objectives() -> None:
    names = ("cost", "power", "ph")
    rows = [(1, 1, 7.5), (1, 1, 6.6), (2, 1, 7.0), (2, 1, 7.3), (0, 0, 0)]
    triples = [dict(zip(names, map(float, row), strict=True)) for row in rows]
    assert front([COST, POWER, PH], triples) == [1, 2, 4]


def test_a_target_is_hit_from_both_sides() -> None:
    optimizer = told(PH, [{"ph": p} for p in (5.0, 7.6, 6.5, 7.5)])
    assert optimizer.best is not None and optimizer.best.number == 2  # of equals the first


def test_limits_decide_what_is_on_the_front() -> None:
    rows = [
        {"cost": 0.0, "heat": 2.1},  # too hot
        {"cost": 1.0, "heat": 2.0},
        {"cost": 2.0},  # never measured: nothing was found broken
        {"heat": 0.0},  # no cost
    ]
    assert front([COST, HEAT], rows) == [1]
    assert front([COST, HEAT], rows[2:]) == [0]
    assert front([COST, HEAT], rows[:1]) == [] == front([COST, HEAT], rows[3:])
    assert told([COST, HEAT], rows[:1]).best is None


def test_failures_are_never_on_the_front() -> None:
    optimizer = told([COST, POWER], [{"cost": 1.0, "power": 1.0}])
    optimizer.add(at(0.9), failed=True, measured={"cost": 0.0, "power": 9.0})
    optimizer.lose(optimizer.ask())
    optimizer.ask()
    assert [t.number for t in optimizer.front] == [0]


def test_zero_is_a_value() -> None:
    assert front([COST, POWER], [{"cost": 0.0, "power": 0.0}]) == [0]


NUMBERS = st.none() | st.integers(-2, 2).map(float)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, st.booleans()), max_size=8))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_the_front_is_what_no_acceptable_trial_beats(rows) -> None:
    optimizer = Optimizer(SPACE, [COST, POWER, Limit("heat", upper=1)], seed=0)
    acceptable = []
    for cost, power, heat, works in rows:
        values = {"cost": cost, "power": power, "heat": heat}
        if not works or values == dict.fromkeys(values):
            optimizer.add(at(0.5), failed=True, measured=values)
        elif optimizer.add(at(0.5), values) and None not in (cost, power) and (heat or 0) <= 1:
            acceptable.append((optimizer.trials[-1].number, cost, -power))
    costs = np.array([c[1:] for c in acceptable]).reshape(-1, 2)
    want = [c[0] for c, on in zip(acceptable, nondominated(costs), strict=True) if on]
    assert [t.number for t in optimizer.front] == want


# -- predictions -------------------------------------------------------------------------------


def test_every_output_that_was_measured_is_predicted() -> None:
    optimizer = Optimizer(SPACE, [COST, POWER, PH, HEAT, COLOUR], seed=0)
    rows = {0.1: (1.0, 5.0, 6.5, 0.4), 0.5: (2.0, 1.0, 7.5, 2.0), 0.9: (0.5, 9.0, 9.0, 3.6)}
    for x, numbers in rows.items():
        optimizer.add(at(x), dict(zip(("cost", "power", "ph", "heat"), numbers, strict=True)))
    for x, numbers in rows.items():
        said = optimizer.predict(at(x))
        assert list(said.outputs) == ["cost", "power", "ph", "heat"]  # no colour yet
        found = [estimate.mean for estimate in said.outputs.values()]
        assert found == pytest.approx(numbers, abs=0.05)
        assert all(estimate.std < 0.1 for estimate in said.outputs.values())
        with pytest.raises(InvalidInput, match="several outputs: use outputs"):
            _ = said.mean
    assert optimizer.predict(at(0.1)).p_feasible > 0.8 > 0.2 > optimizer.predict(at(0.9)).p_feasible
    optimizer.add(at(0.3), {"colour": 4.0})
    assert optimizer.predict(at(0.3)).outputs["colour"].mean == pytest.approx(4.0)


def test_partial_values_and_failures_are_learned_from() -> None:
    optimizer = Optimizer(SPACE, [COST, HEAT], seed=0)
    optimizer.add(at(0.1), {"heat": 1.0})
    assert list(optimizer.predict(at(0.1)).outputs) == ["heat"]
    optimizer.add(at(0.9), failed="heat", measured={"heat": 3.0})
    assert optimizer.predict(at(0.9)).outputs["heat"].mean == pytest.approx(3.0, abs=0.1)
    assert optimizer.predict(at(0.9)).p_feasible < 0.3


# -- proposals ---------------------------------------------------------------------------------


def run(optimizer: Optimizer, n: int) -> None:
    for _ in range(n):
        trial = optimizer.ask()
        x, y = trial.params["x"], trial.params["y"]
        if x + y > 1.5:
            optimizer.fail(trial, "leaked", measured={"heat": 4 * x})
        else:
            optimizer.tell(trial, {"cost": x, "power": x - (y - 0.3) ** 2, "heat": 4 * x})


def test_a_run_with_two_objectives_and_a_limit_finds_the_front() -> None:
    optimizer = Optimizer(SPACE, [COST, POWER, HEAT], seed=0)
    run(optimizer, 28)
    # The front is y = 0.3, x up to the 0.5 that the heat allows.
    found = np.array([[t.params["x"], t.params["y"]] for t in optimizer.front])
    late = [t for t in optimizer.trials if t.believed is not None]
    assert len(late) == 18 and all("cost" in t.believed.outputs for t in late)
    assert len(found) >= 8 and (found[:, 0] <= 0.5).all()
    assert np.abs(found[:, 1] - 0.3).mean() < 0.1
    assert found[:, 0].max() > 0.4 and found[:, 0].min() < 0.1


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4])
def test_any_number_of_objectives_is_proposed_for(n_objectives: int) -> None:
    outputs = [COST, POWER, PH, Objective("time")][:n_objectives]
    optimizer = Optimizer(SPACE, [*outputs, HEAT], seed=0, n_initial=4)
    for _ in range(7):
        trial = optimizer.ask()
        x, y = trial.params["x"], trial.params["y"]
        row = {"cost": x, "power": y, "ph": 6 + 2 * x, "time": x * y}
        optimizer.tell(trial, {o.name: row[o.name] for o in outputs} | {"heat": 4 * x})
    batch = optimizer.ask(3)
    assert len({str(t.params) for t in batch}) == 3
    assert all(t.believed is not None and "heat" in t.believed.outputs for t in batch)


def test_a_history_survives_a_file_and_proposes_the_same() -> None:
    optimizer = Optimizer(SPACE, ALL[:3], seed=3, n_initial=5)
    run(optimizer, 9)
    optimizer.ask()
    stored = json.dumps([t.to_dict() for t in optimizer.trials])
    trials = [Trial.from_dict(data) for data in json.loads(stored)]
    twin = Optimizer(SPACE, ALL[:3], seed=3, n_initial=5, trials=trials)
    assert twin.trials == optimizer.trials == tuple(trials)
    assert twin.front == optimizer.front
    assert twin.ask(2) == optimizer.ask(2)


def test_a_history_of_other_outputs_is_refused() -> None:
    optimizer = told([COST, HEAT], [{"cost": 1.0, "heat": 1.0}])
    with pytest.raises(InvalidInput, match="output 'heat' does not exist; there are cost"):
        Optimizer(SPACE, [COST], trials=optimizer.trials)


@pytest.mark.parametrize(
    "outputs",
    [[COST, POWER], [COST, HEAT], PH, [COST, COLOUR]],
    ids=["two", "limit", "target", "rec"],
)
def test_methods_that_cannot_say_so_and_who_can(outputs) -> None:
    able = set()
    for method in METHODS:
        try:
            Optimizer(SPACE, outputs, method=method, seed=0)
            able.add(method)
        except InvalidInput as error:
            names = ", ".join(Outputs.of(outputs).names)
            assert f"method '{method}' takes one objective with a direction and no" in str(error)
            assert f"not {names}; these can: " in str(error)
            assert "edge" in str(error).rpartition("these can: ")[2].split(", ")
    assert "edge" in able and not able & {"be-cbo", "cei", "scbo", "svm-cbo"}


def test_every_method_takes_one_objective_with_a_name() -> None:
    for method in METHODS:
        assert Optimizer(SPACE, POWER, method=method, seed=0).outputs.names == ("power",)


def test_risk_counts_for_limits_too() -> None:
    optimizer = Optimizer(SPACE, [POWER, HEAT], seed=0, risk=0.1)
    for _ in range(20):
        trial = optimizer.ask()
        x, y = trial.params["x"], trial.params["y"]
        optimizer.tell(trial, {"power": x + 0.1 * y, "heat": 4 * x})
    late = [t for t in optimizer.trials if t.believed is not None]
    assert min(t.believed.p_feasible for t in late) >= 0.9 - 1e-6
    assert sum(t.values["heat"] > 2 for t in late) <= 2
    assert optimizer.best is not None and optimizer.best.values["heat"] > 1.8
