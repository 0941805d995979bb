"""The sampler with several objectives, constraints and failures at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.trial import TrialState

from becbo import Infeasible, InvalidInput, Limit, Objective, Optimizer, Outcome, Real, Space
from becbo.optuna import (
    BECBOSampler,
    lost_numbers,
    mark_lost,
    marking,
    open_storage,
    requeue_lost,
    set_values,
)
from becbo.optuna.history import Rules
from becbo.optuna.proposal import Plan, optimizer_of
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])
XY: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
TWO = ["minimize", "minimize"]


def measured(x: float, y: float) -> dict[str, float]:
    """Two objectives and an excess; a corner tears and has no values."""
    if x - y > 0.6:
        raise Infeasible("tore", measured={"hot": x + y - 1.2})
    return {"value_0": x**2 + y**2, "value_1": (x - 1) ** 2 + (y - 1) ** 2, "hot": x + y - 1.2}


def objective(trial: optuna.Trial) -> tuple[float, float]:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    trial.set_constraint("hot", x + y - 1.2)
    values = measured(x, y)
    return values["value_0"], values["value_1"]


def known(study: optuna.Study, **kwargs: Any) -> Optimizer:
    """What the sampler knows about a study."""
    plan = Plan(StudySpace.of(SPACE), BECBOSampler(seed=0)._settings, Rules(**kwargs))
    return optimizer_of(StudyData.of(study), plan)


def test_proposes_what_the_optimizer_proposes() -> None:
    study = optuna.create_study(directions=TWO, sampler=BECBOSampler(space=SPACE, seed=3))
    study.optimize(marking(objective), n_trials=16, catch=(Infeasible,))
    outputs = [Objective("value_0"), Objective("value_1"), Limit("hot", upper=0)]
    optimizer = Optimizer(SPACE, outputs, seed=3)
    for _ in range(16):
        trial = optimizer.ask()
        try:
            optimizer.tell(trial, measured(**trial.params))
        except Infeasible as failure:
            optimizer.fail(trial, failure.reason, failure.measured)
    assert [t.params for t in study.trials] == [t.params for t in optimizer.trials]
    assert [t.number for t in study.best_trials] == [t.number for t in optimizer.front]


WHOLE = st.integers(-2, 2).map(float)  # so that ties are common
STATES = st.sampled_from([TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED])
ENDED = st.tuples(
    STATES,
    st.tuples(WHOLE, WHOLE),
    st.dictionaries(st.sampled_from(["hot", "thin"]), WHOLE, max_size=2),
)


@given(st.lists(ENDED, max_size=8), st.tuples(*[st.sampled_from(["minimize", "maximize"])] * 2))
def test_best_trials_are_the_front_and_what_equals_it(
    ended: list[Any], directions: tuple[str, str]
) -> None:
    study = optuna.create_study(directions=directions)
    for state, values, constraints in ended:
        study.add_trial(
            optuna.create_trial(
                state=state,
                values=values if state is TrialState.COMPLETE else None,
                params={"x": 0.5, "y": 0.5},
                distributions=XY,
                constraints=constraints,
            )
        )
    first: dict[tuple[float, ...], int] = {}
    for trial in study.best_trials:
        first.setdefault(tuple(trial.values), trial.number)
    assert [trial.number for trial in known(study).front] == sorted(first.values())


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_everything_at_once(tmp_path: Path) -> None:
    """Threads, a database, failures, a loss, enqueued and imported trials, a branch."""
    # Not a bare URL: threads of Optuna's own SQLite storage run the same enqueued trial twice.
    storage = open_storage(tmp_path / "study.db")
    study = optuna.create_study(storage=storage, directions=TWO, sampler=BECBOSampler(seed=0))
    study.add_trial(
        optuna.create_trial(
            values=[0.5, 0.5],
            params={"x": 0.5, "y": 0.5},
            distributions=XY,
            constraints={"hot": -0.2},
        )
    )
    imported = {"x": 0.9, "y": 0.1}
    study.add_trial(optuna.create_trial(state=TrialState.FAIL, params=imported, distributions=XY))
    study.enqueue_trial({"x": 0.25, "y": 0.75})

    def branching(trial: optuna.Trial) -> tuple[float, float]:
        if trial.number == 4:
            trial.suggest_float("x", 0, 1)
            mark_lost(trial, "power cut")
            raise ConnectionError
        first, second = objective(trial)
        if trial.params["x"] > 0.5:
            trial.suggest_float("z", 0, 1)
        return first, second

    wrapped = marking(branching, lost=(ConnectionError,))
    study.optimize(wrapped, n_trials=14, n_jobs=2, catch=(Infeasible, ConnectionError))
    optimizer = known(study)
    outcomes = [t.outcome for t in optimizer.trials]
    assert 4 in lost_numbers(study) and Outcome.LOST in outcomes
    assert Outcome.OK in outcomes and Outcome.FAILED in outcomes
    front = {tuple(t.params.values()) for t in optimizer.front}
    assert front == {(t.params["x"], t.params["y"]) for t in study.best_trials}


@pytest.mark.parametrize("state", [TrialState.COMPLETE, TrialState.PRUNED])
def test_constraints_func(state: TrialState) -> None:
    sampler = BECBOSampler(space=XY, seed=0, constraints_func=lambda trial: (trial.number - 0.5,))
    study = optuna.create_study(sampler=sampler)
    for _ in range(2):
        trial = study.ask(XY)
        trial.report(1.0, 0)
        study.tell(trial, None if state is TrialState.PRUNED else 1.0, state=state)
    optimizer = known(study)
    assert [t.values["constraint_0"] for t in optimizer.trials] == [-0.5, 0.5]
    assert [t.number for t in optimizer.front] == [0]


def test_constraints_func_is_a_function() -> None:
    with pytest.raises(InvalidInput, match="constraints_func"):
        BECBOSampler(constraints_func=3)  # type: ignore[arg-type]


def test_limits_are_kept_away_from_where_nothing_is_kept_to_be_found() -> None:
    """Constraint values of failed trials are learned from: proposals keep the limit."""
    study = optuna.create_study(sampler=BECBOSampler(space=SPACE, seed=0, n_initial=6))

    def only_limits(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        trial.set_constraint("hot", x + y - 0.4)
        if x + y > 0.4:
            raise Infeasible("beyond")  # and no value
        return -x - y

    study.optimize(only_limits, n_trials=16, catch=(Infeasible,))
    assert study.best_value < -0.38


def test_a_name_that_is_not_an_output_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    sampler = BECBOSampler(space=XY, seed=0)
    study = optuna.create_study(sampler=sampler)
    attrs = {"becbo:values": {"viscocity": 3.0}}
    study.add_trial(
        optuna.create_trial(
            value=1.0, params={"x": 0.5, "y": 0.5}, distributions=XY, user_attrs=attrs
        )
    )
    study.ask(XY)
    assert "'viscocity', which is not an output" in caplog.text


def acidity(trial: optuna.Trial) -> float:
    return 4 + 4 * trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1)


def test_a_target_is_hit_from_either_side() -> None:
    def objective(trial: optuna.Trial) -> float:
        ph = acidity(trial)
        set_values(trial, {"ph": ph})
        return abs(ph - 7)

    sampler = BECBOSampler(seed=0, outputs=[Objective("ph", target=7)])
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=14)
    assert study.best_value < 0.01


def test_a_distance_from_a_target_alone_is_refused_until_its_trial_is_repeated() -> None:
    sampler = BECBOSampler(seed=0, outputs=[Objective("ph", target=7)])
    study = optuna.create_study(sampler=sampler)
    with pytest.raises(InvalidInput, match="trial 0 has no measured 'ph'"):
        study.optimize(lambda trial: abs(acidity(trial) - 7), n_trials=2, catch=(Exception,))
    assert len(study.trials) == 2
    requeue_lost(study, study.trials[0])
    repeat = study.ask()
    assert acidity(repeat) == acidity(study.trials[0])  # type: ignore[arg-type]
