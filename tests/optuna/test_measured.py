"""What trials measure: objectives, constraints as limits, and what was noted besides."""

from __future__ import annotations

import math
from typing import Any

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, TrialState

from becbo import Infeasible, InvalidInput, Limit, Objective, Recorded
from becbo.optuna import mark_failed, mark_worked, marking, result_of, set_values
from becbo.optuna.measured import VALUES
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.trial import Outcome, Result

X = {"x": FloatDistribution(0, 1)}
STATES = st.sampled_from([TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED])
EXCESSES = st.dictionaries(
    st.text(max_size=3), st.floats(allow_nan=False), max_size=3
)  # whatever a name is


def study_with(*trials: FrozenTrial, **kwargs: Any) -> optuna.Study:
    study = optuna.create_study(**kwargs)
    study.add_trials(trials)
    return study


def ended(state: TrialState = TrialState.COMPLETE, **kwargs: Any) -> FrozenTrial:
    return optuna.create_trial(state=state, params={"x": 0.5}, distributions=X, **kwargs)


def results(study: optuna.Study, outputs: Any = None) -> list[Result]:
    data = StudyData.of(study, outputs)
    return [result_of(trial, outputs=data.outputs) for trial in data.trials]


def test_values_are_objectives_in_their_order() -> None:
    study = study_with(ended(values=[1.0, 2.0]), directions=["minimize", "maximize"])
    assert StudyData.of(study).outputs == Outputs.of(
        [Objective("value_0", "minimize"), Objective("value_1", "maximize")]
    )
    assert results(study) == [Result.ok({"value_0": 1.0, "value_1": 2.0})]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_metrics_give_their_names() -> None:
    study = study_with(ended(values=[1.0, 2.0]), directions=["minimize", "maximize"])
    study.set_metric_names(["cost", "yield"])
    assert StudyData.of(study).outputs.names == ("cost", "yield")


@pytest.mark.parametrize("state", [TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL])
def test_constraints_are_limits_whatever_the_state(state: TrialState) -> None:
    value = None if state is TrialState.FAIL else 1.0
    study = study_with(ended(state, value=value, constraints={"hot": 3.0, "thin": -1.0}))
    (result,) = results(study)
    assert StudyData.of(study).outputs.limits == (Limit("hot", upper=0), Limit("thin", upper=0))
    assert (result.outcome is Outcome.OK) == (value is not None)
    assert result.values == {"value": value, "hot": 3.0, "thin": -1.0}


def test_a_constraint_that_some_trials_do_not_have_was_not_measured_there() -> None:
    study = study_with(ended(value=1.0, constraints={"hot": 3.0}), ended(value=2.0))
    assert [r.values["hot"] for r in results(study)] == [3.0, None]


def test_an_infinite_constraint_is_a_limit_that_was_broken_by_nobody_knows_how_much() -> None:
    (result,) = results(study_with(ended(value=1.0, constraints={"hot": math.inf, "thin": -1.0})))
    assert result == Result.failed("hot", {"value": 1.0, "hot": None, "thin": -1.0})


@pytest.mark.parametrize(
    ("key", "limit"),
    [("hot", "hot"), ("0", "constraint_0"), ("cost", "constraint_cost"), (" ", "constraint_ ")],
)
def test_names_of_limits(key: str, limit: str) -> None:
    study = study_with(ended(value=1.0, constraints={key: 2.0}))
    (result,) = results(study, Outputs.of(Objective("cost")))
    assert result.values == {"cost": 1.0, limit: 2.0}


def test_no_two_constraints_are_one_limit() -> None:
    constraints = {"0": 1.0, "constraint_0": 2.0, "constraint_constraint_0": 3.0, "constraint_": 4}
    study = study_with(ended(value=1.0, constraints=constraints))
    (result,) = results(study)
    assert sorted(filter(None, result.values.values())) == [1.0, 1.0, 2.0, 3.0, 4.0]
    assert result.values["constraint_0"] == 1.0
    assert not StudyData.of(study).outputs.are_kept({**result.values, "constraint_0": -1.0})


def test_a_constraint_with_the_name_of_a_limit_is_refused() -> None:
    study = study_with(ended(value=1.0, constraints={"ph": 2.0}))
    with pytest.raises(InvalidInput, match="rename one of them"):
        StudyData.of(study, Outputs.of([Objective(), Limit("ph", upper=8)]))


@given(st.lists(st.tuples(STATES, EXCESSES), max_size=4))
def test_no_constraints_break_a_study(told: list[tuple[TrialState, dict[str, float]]]) -> None:
    trials = [
        ended(state, value=1.0 if state is TrialState.COMPLETE else None, constraints=constraints)
        for state, constraints in told
    ]
    study = study_with(*trials)
    data = StudyData.of(study)
    for trial, result in zip(trials, results(study), strict=True):
        is_kept = result.outcome is Outcome.OK and data.outputs.are_kept(result.values)
        # Optuna's own definition of feasible
        is_feasible = trial.state is TrialState.COMPLETE
        assert is_kept == (is_feasible and all(c <= 0 for c in trial.constraints.values()))


OUTPUTS = Outputs.of(
    [Objective("strength", "maximize"), Objective("cost"), Limit("ph", upper=8), Recorded("t")]
)


def objective_that(how: str, trial: optuna.Trial) -> Any:
    trial.suggest_float("x", 0, 1)
    if how == "works":
        set_values(trial, {"ph": 7})
        set_values(trial, {"t": 20.0, "strength": None})
        return 80.0, 3.0
    if how == "fails with measurements":
        mark_failed(trial, "gel", measured={"ph": 9.5, "cost": 3.0})
        return None
    if how == "works in part":
        mark_worked(trial, {"cost": 3.0})
        raise optuna.TrialPruned
    raise Infeasible("gel", measured={"cost": 3.0})


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("works", Result.ok({"strength": 80.0, "cost": 3.0, "ph": 7, "t": 20.0})),
        (
            "fails with measurements",
            Result.failed("gel", {"strength": None, "cost": 3.0, "ph": 9.5, "t": None}),
        ),
        ("works in part", Result.ok({"strength": None, "cost": 3.0, "ph": None, "t": None})),
        ("raises", Result.failed("gel", {"strength": None, "cost": 3.0, "ph": None, "t": None})),
    ],
)
def test_partial_results(how: str, expected: Result) -> None:
    study = optuna.create_study(directions=["maximize", "minimize"])
    objective = marking(lambda trial: objective_that(how, trial))
    study.optimize(objective, n_trials=1, catch=(Infeasible,))
    assert results(study, OUTPUTS) == [expected]


def test_a_penalty_for_other_samplers_was_not_measured() -> None:
    study = optuna.create_study(directions=["maximize", "minimize"])
    trial = study.ask(X)
    mark_failed(trial, measured={"cost": 3.0})
    study.tell(trial, [-1e9, 1e9])
    (result,) = results(study, OUTPUTS)
    assert (result.outcome, result.values["strength"]) == (Outcome.FAILED, None)
    assert result.values["cost"] == 3.0


@pytest.mark.parametrize(
    "act",
    [
        lambda trial: set_values(trial, {"ph": math.nan}),
        lambda trial: set_values(trial, {"ph": "acid"}),
        lambda trial: set_values(trial, 7.0),
        lambda trial: mark_worked(trial, {}),
        lambda trial: mark_worked(trial, {"ph": None}),
        lambda trial: mark_failed(trial, "gel", measured={"ph": math.inf}),
    ],
)
def test_bad_values_are_refused_and_change_nothing(act: Any) -> None:
    study = optuna.create_study()
    trial = study.ask(X)
    with pytest.raises(InvalidInput):
        act(trial)
    assert study.trials[0].user_attrs == {}


def test_a_told_trial_takes_no_values() -> None:
    frozen: Any = ended(value=1.0)
    with pytest.raises(InvalidInput, match="frozen copy"):
        set_values(frozen, {"ph": 7})


@pytest.mark.parametrize("noted", [5, [1], {"ph": 10**400}, {"ph": None}, {"nobody": 1.0}])
def test_whatever_stands_in_the_attribute(noted: Any) -> None:
    marked = {VALUES: noted, "becbo:outcome": "ok"}
    study = study_with(ended(TrialState.FAIL, user_attrs=marked), directions=["maximize"] * 2)
    assert StudyData.of(study).outputs.names == ("value_0", "value_1")
    assert results(study)[0].outcome is Outcome.LOST


TARGET = Outputs.of([Objective("ph", target=7)])


@pytest.mark.parametrize(
    ("trial", "expected"),
    [
        (ended(value=0.5, user_attrs={VALUES: {"ph": 6.5}}), Result.ok({"ph": 6.5})),
        (ended(value=0.5), Result(Outcome.LOST)),
        (ended(value=math.inf), Result.failed()),
        (ended(TrialState.PRUNED, intermediate_values={1: 0.5}), Result(Outcome.LOST)),
        (ended(TrialState.FAIL), Result.failed()),
        (
            ended(value=0.5, constraints={"hot": math.inf}),
            Result.failed("hot"),
        ),
    ],
)
def test_the_distance_from_a_target_is_not_what_was_measured(
    trial: FrozenTrial, expected: Result
) -> None:
    assert results(study_with(trial), TARGET) == [expected]


def test_outputs_have_the_directions_of_the_study() -> None:
    study = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(InvalidInput, match="make them agree"):
        StudyData.of(study, OUTPUTS)
