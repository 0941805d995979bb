"""`becbo worker` with objectives that return several values, a dict or a part of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest
from commands import Done

from becbo import InvalidInput, Limit, Objective, Outcome, Recorded
from becbo.optuna import open_storage, result_of
from becbo.optuna.returned import measured_in
from becbo.outputs import Outputs
from becbo.trial import Result

OUTPUTS = Outputs.of(
    [Objective("cost"), Objective("ph", target=7), Limit("stress", upper=1), Recorded("mass")]
)
MODULE = """
import math
import becbo
from becbo import Limit, Objective, Recorded

OUTPUTS = [Objective("cost"), Objective("ph", target=7), Limit("stress", upper=1), Recorded("mass")]
SWAPPED = [OUTPUTS[1], OUTPUTS[0], *OUTPUTS[2:]]

def run(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    RETURN
"""


@pytest.fixture
def run(becbo: Callable[..., Done], tmp_path: Path) -> Callable[..., Done]:
    """Runs a worker in this process on an objective that ends as told."""
    counted = iter(range(100))

    def worker(end: str, *options: str, trials: int = 1) -> Done:
        name = f"objective_{tmp_path.name}_{next(counted)}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(MODULE.replace("RETURN", end))
        told = [option.replace("MODULE", name) for option in options]
        command = ["worker", "--storage", "study.db", "--study", "s", "--seed", "0"]
        command += ["--objective", f"{name}:run", "--trials", str(trials), *told]
        return becbo(*command)

    return worker


def study_in(folder: Path) -> optuna.Study:
    storage = open_storage(folder / "study.db", heartbeat=None)
    return optuna.load_study(study_name="s", storage=storage)


def results(folder: Path) -> list[Any]:
    return [result_of(trial, outputs=OUTPUTS) for trial in study_in(folder).trials]


def test_a_number_for_each_direction(run: Callable[..., Done], tmp_path: Path) -> None:
    done = run("return x + y, x - y", "--direction", "minimize,maximize", trials=12)
    assert (done.code, done.err) == (0, "")
    study = study_in(tmp_path)
    assert [d.name for d in study.directions] == ["MINIMIZE", "MAXIMIZE"]
    front = {trial.number for trial in study.best_trials}
    assert f"front of {len(front)}" in done.out
    assert done.out.count("on the front: value_0=") == len(front)


def test_a_dict_of_outputs(run: Callable[..., Done], tmp_path: Path) -> None:
    end = 'return {"cost": x, "ph": 6 + y, "stress": 2 * x, "mass": 3.0}'
    done = run(end, "--outputs", "MODULE:OUTPUTS", trials=14)
    assert (done.code, done.err) == (0, "")
    told = results(tmp_path)
    assert {result.outcome for result in told} == {Outcome.OK}
    for trial, result in zip(study_in(tmp_path).trials, told, strict=True):
        x, y = trial.params["x"], trial.params["y"]
        assert trial.values == [x, pytest.approx(1 - y)]  # the distance from the target
        assert result.values == {"cost": x, "ph": 6 + y, "stress": 2 * x, "mass": 3.0}
    # The limit was learned from: beyond it no later proposal goes.
    assert all(trial.params["x"] < 0.6 for trial in study_in(tmp_path).trials[10:])


@pytest.mark.parametrize(
    ("end", "outcome", "values", "shown"),
    [
        ('return {"cost": x / x, "stress": math.nan}', Outcome.OK, {"cost": 1.0}, "cost=1;"),
        ('return {"stress": 3}', Outcome.OK, {"stress": 3.0}, "stress=3;"),
        ("return math.inf, 7", Outcome.OK, {"ph": 7.0}, "ph=7;"),
        ('return {"cost": None}', Outcome.FAILED, {}, "failed (returned no finite number)"),
        ("return math.nan, math.nan", Outcome.FAILED, {}, "failed (returned (nan, nan))"),
        ("return None", Outcome.FAILED, {}, "failed (returned None)"),
        (
            'raise becbo.Infeasible("gel", measured={"stress": 2, "mass": math.nan})',
            Outcome.FAILED,
            {"stress": 2.0},
            "failed (gel)",
        ),
    ],
)
def test_partial_results(
    run: Callable[..., Done],
    tmp_path: Path,
    end: str,
    outcome: Outcome,
    values: dict[str, float],
    shown: str,
) -> None:
    done = run(end, "--outputs", "MODULE:OUTPUTS")
    assert (done.code, done.err) == (0, "")
    (result,) = results(tmp_path)
    assert result.outcome is outcome
    assert {name: v for name, v in result.values.items() if v is not None} == values
    assert f"1/1 trial 0: {shown}" in done.out


MARKING = """import optuna, becbo.optuna as bo
    if trial.number == 0: bo.mark_failed(trial, "gel, crack", {"cost": 2})
    if trial.number == 1: bo.mark_worked(trial, {"cost": 2})
    if trial.number == 2: bo.mark_lost(trial, "no licence")
    """


@pytest.mark.parametrize(
    "end",
    [
        "return None",
        "raise ArithmeticError(17)",
        'raise becbo.Infeasible("hot")',
        "raise optuna.TrialPruned",
        'return {"mass": 3}',
    ],
)
def test_a_trial_keeps_the_mark_of_its_objective_however_it_ends(
    run: Callable[..., Done], tmp_path: Path, end: str
) -> None:
    options = ("--outputs", "MODULE:OUTPUTS", "--catch", "ArithmeticError")
    done = run(MARKING + end, *options, trials=3)
    assert (done.code, done.err) == (0, "")
    ends = [(r.outcome, r.reason, r.values.get("cost")) for r in results(tmp_path)]
    assert ends[:3] == [
        (Outcome.FAILED, "gel, crack", 2.0),
        (Outcome.OK, None, 2.0),
        (Outcome.LOST, "no licence", None),
    ]


def test_a_bug_after_a_mark_stops_the_worker_and_leaves_the_mark(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    bug = 'import becbo.optuna; becbo.optuna.mark_failed(trial, "gel"); raise KeyError("typo")'
    done = run(bug, "--outputs", "MODULE:OUTPUTS")
    assert done.code == 1
    assert "Trial 0 counts as the objective marked it" in done.err
    assert results(tmp_path)[0] == Result.failed("gel", {})


@pytest.mark.parametrize(
    ("end", "named"),
    [
        ('return {"costs": 1}', "output 'costs' does not exist; there are cost, ph, stress, mass"),
        ("return 1, 2, 3", "3 values for 2 objectives: cost, ph"),
        ("return 1", "1 values for 2 objectives"),
        ('return "a lot", 3', "cost 'a lot' is not a number"),
    ],
)
def test_what_does_not_fit_stops_the_worker(
    run: Callable[..., Done], tmp_path: Path, end: str, named: str
) -> None:
    done = run(end, "--outputs", "MODULE:OUTPUTS")
    assert done.code == 1
    assert named in done.err
    assert "must return 2 numbers, or a dict of cost, ph, stress, mass" in done.err
    assert result_of(study_in(tmp_path).trials[0]).outcome is Outcome.LOST


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--direction", "minimize,up"), "--direction 'minimize,up' must be minimize or maximize"),
        (("--direction", ","), "--direction ',' must be minimize or maximize"),
        (("--outputs", "MODULE:OUTPUTS", "--direction", "minimize"), "leave out --direction"),
        (("--outputs", "MODULE:NONE"), "has no NONE"),
        (("--outputs", "MODULE:run"), "must be an Objective, a Limit or Recorded"),
        (("--outputs", "OUTPUTS"), "--outputs 'OUTPUTS' must be module:name"),
    ],
)
def test_bad_options(run: Callable[..., Done], options: tuple[str, ...], named: str) -> None:
    done = run("return x, y", *options)
    assert done.code == 2
    assert named in done.err


def test_a_study_keeps_its_directions(run: Callable[..., Done]) -> None:
    assert run("return x, y", "--direction", "minimize,maximize").code == 0
    assert run("return x, y", trials=2).code == 0  # as it began
    done = run("return x", "--direction", "minimize", trials=3)
    assert done.code == 2
    assert "has begun with minimize,maximize, not minimize" in done.err


def test_a_study_keeps_the_order_of_its_objectives(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    end = 'return {"cost": x, "ph": 6 + y}'
    assert run(end, "--outputs", "MODULE:OUTPUTS").code == 0
    assert study_in(tmp_path).metric_names == ["cost", "ph, off 7"]
    done = run(end, "--outputs", "MODULE:SWAPPED", trials=2)
    assert done.code == 2
    assert "has begun with the objectives ['cost', 'ph, off 7'], not ['ph, off 7', " in done.err
    assert run(end, "--outputs", "MODULE:OUTPUTS", trials=2).code == 0
    assert [result.values["ph"] for result in results(tmp_path)] == [
        6 + trial.params["y"] for trial in study_in(tmp_path).trials
    ]


def test_a_method_that_cannot_do_it_leaves_no_study(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    two = ("--direction", "minimize,minimize")
    for options in (two, ("--outputs", "MODULE:OUTPUTS")):
        done = run("return x, y", "--method", "be-cbo", *options)
        assert done.code == 2
        assert "method 'be-cbo' takes one objective" in done.err
        storage = open_storage(tmp_path / "study.db", heartbeat=None)
        assert optuna.get_all_study_names(storage) == []
    assert run("return x, y", *two).code == 0
    assert run("return x, y", "--method", "be-cbo", trials=2).code == 2
    assert len(study_in(tmp_path).trials) == 1  # none was begun in vain


def test_measured_in() -> None:
    one = Outputs.of("minimize")
    assert measured_in(3, one) == measured_in([3], one) == {"value": 3.0}
    assert measured_in(math.nan, one) == {"value": None}
    with pytest.raises(InvalidInput, match="'3' is not a number; give None if it was not measured"):
        measured_in("3", one)
