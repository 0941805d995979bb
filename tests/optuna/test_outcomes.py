"""Failed, lost, or neither: what is read from a trial, and what becomes of lost ones."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState

from becbo import Infeasible, InvalidInput, Limit, Objective, Outcome
from becbo.optuna import (
    lost_numbers,
    mark_failed,
    mark_lost,
    mark_worked,
    marking,
    requeue_lost,
    result_of,
)
from becbo.optuna.outcomes import OUTCOME, REASON, REPLACES
from becbo.optuna.repeats import MAX_RETRIES
from becbo.outputs import Outputs
from becbo.reasons import recurring
from becbo.trial import PENDING, Result

X = {"x": FloatDistribution(0, 1)}


@pytest.fixture
def study(tmp_path: Path) -> optuna.Study:
    return optuna.create_study(storage=f"sqlite:///{tmp_path / 'study.db'}")


def ended(state: TrialState, **kwargs: Any) -> FrozenTrial:
    return optuna.create_trial(state=state, params={"x": 0.5}, distributions=X, **kwargs)


def outcomes(study: optuna.Study) -> list[Outcome]:
    lost = lost_numbers(study)
    return [result_of(trial, lost).outcome for trial in study.trials]


def failed_trial(study: optuna.Study, **user_attrs: Any) -> FrozenTrial:
    """A trial that has failed, as it is stored."""
    trial = study.ask(X)
    for key, value in user_attrs.items():
        trial.set_user_attr(key, value)
    return study.tell(trial, state=TrialState.FAIL)


@pytest.mark.parametrize(
    ("mark", "expected"), [(mark_failed, Outcome.FAILED), (mark_lost, Outcome.LOST)]
)
def test_marks_are_read_back(study: optuna.Study, mark: Any, expected: Outcome) -> None:
    trial = study.ask(X)
    mark(trial, "it melted")
    running = study.trials[0]
    study.tell(trial, state=TrialState.FAIL)
    for stored in (running, study.trials[0]):
        assert result_of(stored).outcome is expected
        assert result_of(stored).reason == "it melted"


@pytest.mark.parametrize("mark", [mark_failed, mark_lost])
def test_a_reason_is_a_text(study: optuna.Study, mark: Any) -> None:
    trial = study.ask(X)
    with pytest.raises(InvalidInput, match="separate reasons by commas"):
        mark(trial, ["hot", "thin"])
    assert not study.trials[0].user_attrs
    assert result_of(failed_trial(study, **{REASON: 5})).reason == "5"  # by somebody else


def test_a_mark_beats_the_state(study: optuna.Study) -> None:
    trial = study.ask(X)
    mark_failed(trial)
    study.tell(trial, 1e9)  # a penalty, for other samplers
    assert result_of(study.trials[0]).outcome is Outcome.FAILED
    assert result_of(study.trials[0]).reason is None


def test_lost_beats_a_mark_of_failed(study: optuna.Study) -> None:
    trial = failed_trial(study, **{OUTCOME: "failed"})
    assert result_of(trial).outcome is Outcome.FAILED
    assert result_of(trial, lost={trial.number}).outcome is Outcome.LOST


def test_a_mark_nobody_knows_says_nothing() -> None:
    assert result_of(ended(TrialState.FAIL, user_attrs={OUTCOME: "ok"})).outcome is Outcome.FAILED


@pytest.mark.parametrize("mark", [mark_failed, mark_lost])
def test_a_told_trial_cannot_be_marked(study: optuna.Study, mark: Any) -> None:
    with pytest.raises(InvalidInput, match="requeue_lost"):
        mark(failed_trial(study), "too late")
    trial = study.ask(X)
    study.tell(trial, 1.0)
    with pytest.raises(UpdateFinishedTrialError):  # from which a worker sees that it was ended
        mark(trial, "too late")


@pytest.mark.parametrize(
    ("trial", "expected"),
    [
        (ended(TrialState.COMPLETE, value=1.0), Outcome.OK),
        (ended(TrialState.COMPLETE, value=math.inf), Outcome.FAILED),
        (ended(TrialState.COMPLETE, value=-math.inf), Outcome.FAILED),
        (ended(TrialState.COMPLETE, value=1.0, constraints={"c": -1.0}), Outcome.OK),
        (ended(TrialState.COMPLETE, value=1.0, constraints={"c": 0.1}), Outcome.OK),
        (ended(TrialState.COMPLETE, value=1.0, constraints={"c": math.inf}), Outcome.FAILED),
        (ended(TrialState.COMPLETE, value=1.0, constraints={"c": -math.inf}), Outcome.OK),
        (ended(TrialState.FAIL), Outcome.FAILED),
        (ended(TrialState.RUNNING), Outcome.PENDING),
        (ended(TrialState.WAITING), Outcome.PENDING),
        (ended(TrialState.PRUNED, value=1.0), Outcome.OK),
        (ended(TrialState.PRUNED), Outcome.FAILED),
    ],
)
def test_unmarked_trials(trial: FrozenTrial, expected: Outcome) -> None:
    assert result_of(trial).outcome is expected


def test_pruned_as_one_likes() -> None:
    pruned = ended(TrialState.PRUNED, value=1.0)
    assert result_of(pruned, pruned="failed").outcome is Outcome.FAILED
    assert result_of(pruned, pruned="ignore").outcome is Outcome.LOST


def test_nan_is_failed(study: optuna.Study) -> None:
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) * math.nan, n_trials=1)
    assert result_of(study.trials[0]).outcome is Outcome.FAILED


def violating(constraints: dict[str, float], **kwargs: Any) -> FrozenTrial:
    return ended(TrialState.FAIL, constraints=constraints, **kwargs)


@pytest.mark.parametrize(
    ("trial", "expected"),
    [
        (violating({"hot": 1.0, "thin": 0.0, "long": 0.1}), "hot, long"),
        (violating({"hot, or worse": 1.0, "a: b; c": 2.0}), '"hot, or worse", "a: b; c"'),
        (violating({"0": 1.0, "limit 1": 1.0}), "constraint_0, limit 1"),
        (violating({"hot": -1.0}), None),
        (violating({"hot": 1.0}, user_attrs={REASON: "it melted"}), "it melted"),
        (violating({"hot": 1.0}, user_attrs={OUTCOME: "failed"}), "hot"),
        (violating({"hot": 1.0}, user_attrs={OUTCOME: "lost"}), None),
    ],
)
def test_violated_constraints_are_the_reasons_of_a_failure(
    trial: FrozenTrial, expected: str | None
) -> None:
    assert result_of(trial).reason == expected


@pytest.mark.parametrize("excess", [0.1, math.inf])
def test_a_single_violated_constraint_is_no_complete_list(excess: float) -> None:
    assert not result_of(violating({"hot": excess, "thin": -1.0})).reasons.complete


def test_constraints_without_names_are_told_apart() -> None:
    """Bare numbers count as readings, and a reason that was given once counts without them."""
    numbers = [(0,), (1,), (0, 1), (0,), (2,), (3,)]
    results = [result_of(violating({str(i): 1.0 for i in broken})) for broken in numbers]
    expected = [[0 in broken, 1 in broken] for broken in numbers]
    assert recurring([result.reasons for result in results])[1] == expected


def test_requeue_offers_the_same_design_without_its_attributes(
    study: optuna.Study,
) -> None:
    marks = {OUTCOME: "lost", REASON: "power cut", "who": "me"}
    lost = failed_trial(study, **marks)
    requeue_lost(study, lost)
    assert lost_numbers(study) == {0}
    again = study.ask(X)
    assert again.params == lost.params
    assert again.user_attrs == {}
    study.tell(again, 1.0)
    assert [result_of(t, lost_numbers(study)).outcome for t in study.trials] == [
        Outcome.LOST,
        Outcome.OK,
    ]


def test_requeue_keeps_what_was_fixed_and_not_yet_suggested(study: optuna.Study) -> None:
    study.enqueue_trial({"x": 0.25, "y": 0.75})
    trial = study.ask(X)  # and dies before it suggests y
    requeue_lost(study, study.tell(trial, state=TrialState.FAIL))
    assert study.ask({**X, "y": FloatDistribution(0, 1)}).params == {"x": 0.25, "y": 0.75}


def test_only_what_has_ended_is_requeued(study: optuna.Study) -> None:
    study.ask(X)
    study.enqueue_trial({"x": 0.5})
    for trial, state in zip(study.trials, ("RUNNING", "WAITING"), strict=True):
        with pytest.raises(InvalidInput, match=f"is {state}; end it first"):
            requeue_lost(study, trial)
    assert len(study.trials) == 2
    assert not lost_numbers(study)


def test_requeue_happens_once(study: optuna.Study) -> None:
    lost = failed_trial(study)
    for _ in range(3):
        requeue_lost(study, lost)
    assert len(study.trials) == 2


def test_a_trial_without_a_design_is_lost_and_not_offered(study: optuna.Study) -> None:
    requeue_lost(study, study.tell(study.ask(), state=TrialState.FAIL))
    assert lost_numbers(study) == {0}
    assert len(study.trials) == 1


def test_a_design_that_kills_its_workers_is_given_up(
    study: optuna.Study, caplog: pytest.LogCaptureFixture
) -> None:
    lost = failed_trial(study)
    for _ in range(MAX_RETRIES):
        requeue_lost(study, lost)
        lost = study.tell(study.ask(X), state=TrialState.FAIL)
    with caplog.at_level(logging.WARNING):
        requeue_lost(study, lost)
    assert len(study.trials) == 1 + MAX_RETRIES
    assert lost_numbers(study) == set(range(1 + MAX_RETRIES))
    assert f"was lost {1 + MAX_RETRIES} times" in caplog.text


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_optunas_own_retries_are_recognised(study: optuna.Study) -> None:
    RetryHeartbeatStaleTrialCallback()(study, failed_trial(study))
    assert lost_numbers(study) == {0}


@pytest.mark.parametrize("named", [{"retry_history": [1]}, {REPLACES: 1}])
def test_numbers_that_come_with_the_trials_of_another_study_are_not_believed(
    study: optuna.Study, named: dict[str, Any]
) -> None:
    for x, state in ((0.1, TrialState.FAIL), (0.2, TrialState.FAIL), (0.3, TrialState.COMPLETE)):
        value = 1.0 if state is TrialState.COMPLETE else None
        study.add_trial(
            optuna.create_trial(state=state, value=value, params={"x": x}, distributions=X)
        )
    study.add_trial(
        optuna.create_trial(value=2.0, params={"x": 0.5}, distributions=X, system_attrs={**named})
    )
    assert lost_numbers(study) == set()


def test_what_has_worked_was_not_lost_because_others_name_it(study: optuna.Study) -> None:
    for history in ([], [0]):
        attrs = {"retry_history": history}
        study.add_trial(ended(TrialState.COMPLETE, value=1.0, system_attrs=attrs))
    assert lost_numbers(study) == set()


def test_a_correction_makes_any_trial_count_for_nothing(study: optuna.Study) -> None:
    study.add_trial(ended(TrialState.COMPLETE, value=1.0))
    study.add_trial(ended(TrialState.COMPLETE, value=2.0, system_attrs={REPLACES: 0}))
    assert lost_numbers(study) == {0}


def test_a_trial_of_another_study_does_not_keep_a_lost_one_from_its_repeat(
    study: optuna.Study,
) -> None:
    lost = failed_trial(study)
    foreign = ended(TrialState.COMPLETE, value=1.0, system_attrs={"retry_history": [0, 99]})
    study.add_trial(foreign)
    requeue_lost(study, lost)
    assert study.trials[2].params == lost.params
    requeue_lost(study, study.trials[1])  # its own history is not of this study
    assert study.trials[3].system_attrs["retry_history"] == [1]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_requeue_as_the_callback_of_a_heartbeat(tmp_path: Path) -> None:
    storage = RDBStorage(
        f"sqlite:///{tmp_path / 'study.db'}",
        heartbeat_interval=1,
        grace_period=1,
        heartbeat_stale_trial_callback=requeue_lost,
    )
    study = optuna.create_study(storage=storage)
    with pytest.warns(UserWarning, match="Heartbeat"):  # ask does not beat, so it is done by hand
        dead = study.ask(X)
    storage.record_heartbeat(dead._trial_id)
    with storage.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE trial_heartbeats SET heartbeat = '2020-01-01 00:00:00'")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert [t.params for t in study.trials] == [dead.params, dead.params]
    assert [result_of(t, lost_numbers(study)).outcome for t in study.trials] == [
        Outcome.LOST,
        Outcome.OK,
    ]


@pytest.mark.parametrize(
    ("error", "expected", "why"),
    [
        (Infeasible("it melted"), Outcome.FAILED, "it melted"),
        (ZeroDivisionError("no pressure"), Outcome.FAILED, "ZeroDivisionError: no pressure"),
        (ValueError(), Outcome.FAILED, "ValueError"),
        (ConnectionResetError("gone"), Outcome.LOST, "ConnectionResetError: gone"),
        (KeyboardInterrupt(), Outcome.LOST, "KeyboardInterrupt"),
        (SystemExit(3), Outcome.LOST, "SystemExit: 3"),
        (optuna.TrialPruned(), Outcome.FAILED, None),
    ],
)
def test_marking(
    study: optuna.Study, error: BaseException, expected: Outcome, why: str | None
) -> None:
    @lambda f: marking(f, lost=(ConnectionError,))
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        raise error

    try:
        study.optimize(objective, n_trials=1)
    except BaseException as raised:
        assert raised is error
    assert result_of(study.trials[0]).outcome is expected
    assert result_of(study.trials[0]).reason == why


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (lambda trial: mark_lost(trial, "no licence"), Result(Outcome.LOST, reasons="no licence")),
        (lambda trial: mark_worked(trial, {"value": 2.0}), Result.ok({"value": 2.0})),
        (
            lambda trial: mark_failed(trial, "gel, crack", {"value": 1.0}),
            Result.failed("gel, crack", {"value": 1.0}),
        ),
    ],
)
@pytest.mark.parametrize("error", [RuntimeError("boom 17"), Infeasible("hot"), SystemExit(3)])
def test_marking_keeps_the_mark_of_the_objective(
    study: optuna.Study, mark: Any, expected: Result, error: BaseException
) -> None:
    @marking
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        mark(trial)
        raise error

    with pytest.raises(type(error)):
        study.optimize(objective, n_trials=1)
    assert result_of(study.trials[0]) == expected


@pytest.mark.parametrize("lost", [[ConnectionError], ConnectionError, ("ConnectionError",), (int,)])
def test_marking_refuses_what_is_no_tuple_of_exceptions(lost: Any) -> None:
    with pytest.raises(InvalidInput, match="must be a tuple of exception types"):
        marking(lambda trial: 0.0, lost=lost)


def test_marking_lets_the_error_of_a_frozen_trial_out(study: optuna.Study) -> None:
    @marking
    def objective(trial: optuna.Trial) -> float:
        raise ZeroDivisionError("no pressure")

    frozen: Any = failed_trial(study)  # to look at one design again
    with pytest.raises(ZeroDivisionError, match="no pressure"):
        objective(frozen)
    assert frozen.user_attrs == study.trials[0].user_attrs == {}


def test_marking_leaves_a_value_alone(study: optuna.Study) -> None:
    study.optimize(marking(lambda trial: trial.suggest_float("x", 0, 1)), n_trials=1)
    assert study.trials[0].user_attrs == {}


SEVERAL = Outputs.of([Objective("strength", "maximize"), Objective("cost"), Limit("ph", upper=8)])


@pytest.mark.parametrize(
    ("state", "attrs", "expected"),
    {
        "worked, a part of it measured": (
            TrialState.FAIL,
            {"becbo:outcome": "ok", "becbo:values": {"strength": 3.0, "ph": 7}},
            Result.ok({"strength": 3.0, "cost": None, "ph": 7}),
        ),
        "failed, something measured": (
            TrialState.FAIL,
            {"becbo:outcome": "failed", "becbo:reason": "gel", "becbo:values": {"ph": 9.5}},
            Result.failed("gel", {"strength": None, "cost": None, "ph": 9.5}),
        ),
        "marked as ok without any value": (
            TrialState.FAIL,
            {"becbo:outcome": "ok"},
            Result.failed(),
        ),
        "values that are not numbers": (
            TrialState.FAIL,
            {"becbo:outcome": "failed", "becbo:values": {"ph": "acid", "cost": True, "x": 1}},
            Result.failed(),
        ),
        "still running, but the entry is complete": (
            TrialState.RUNNING,
            {"becbo:outcome": "ok", "becbo:values": {"cost": 1.0}},
            Result.ok({"strength": None, "cost": 1.0, "ph": None}),
        ),
        "still running, values without an outcome": (
            TrialState.RUNNING,
            {"becbo:values": {"cost": 1.0}},
            PENDING,
        ),
    }.values(),
)
def test_values_by_name(state: TrialState, attrs: dict[str, Any], expected: Result) -> None:
    trial = optuna.create_trial(state=state, user_attrs=attrs)
    assert result_of(trial, outputs=SEVERAL) == expected
