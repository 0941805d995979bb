"""The callback that ends a study, and the outlook that it follows."""

from collections.abc import Callable

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import FrozenTrial, TrialState

from becbo import InvalidInput, Limit, LinearConstraint, Objective, Optimizer, Real, Space, Stop
from becbo.optuna import BECBOSampler, StopCallback, set_values, study_outlook

UNIT = FloatDistribution(0, 1)
KNOWN = Space([Real("x", 0, 1), Real("y", 0, 1)], [LinearConstraint({"x": 1, "y": 1}, upper=0.3)])


def objective(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return float("nan") if x + y > 1.2 else (x - 0.7) ** 2 + (y - 0.6) ** 2


def study_with(sampler: BECBOSampler | None, values: list[float]) -> optuna.Study:
    """A study of one parameter in which every third trial was pruned, with these values."""
    study = optuna.create_study(sampler=sampler)
    for number, value in enumerate(values):
        study.add_trial(
            optuna.create_trial(
                params={"x": number / len(values)},
                distributions={"x": UNIT},
                state=TrialState.COMPLETE if number % 3 else TrialState.PRUNED,
                value=value,
                intermediate_values={0: value},
            )
        )
    return study


@pytest.mark.parametrize("margin, n_trials", [(10.0, 15), (0.0, 25)])
def test_a_study_ends_when_little_is_to_be_gained(margin: float, n_trials: int) -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    callback = StopCallback(Stop(margin=margin, at_least=15))
    study.optimize(objective, n_trials=25, callbacks=[callback])
    assert len(study.trials) == n_trials
    seen = study_outlook(study)
    assert seen is not None
    assert seen.best == study.best_value and seen.n_done == n_trials


def test_known_constraints_are_those_of_the_sampler() -> None:
    draw = np.random.default_rng(0)
    study = optuna.create_study(sampler=BECBOSampler(space=KNOWN, seed=0))
    optimizer = Optimizer(KNOWN, seed=0)
    for _ in range(12):
        params = {"x": draw.uniform(0, 0.15), "y": draw.uniform(0, 0.15)}
        value = -float(np.exp(3 * (params["x"] + params["y"])))
        optimizer.add(params, value)
        distributions = {"x": UNIT, "y": UNIT}
        study.add_trial(
            optuna.create_trial(params=params, distributions=distributions, value=value)
        )
    assert study_outlook(study) == optimizer.outlook


def test_what_counts_as_lost_or_failed_is_what_the_sampler_says() -> None:
    values = [float(v) for v in range(12)]
    seen = study_outlook(study_with(BECBOSampler(seed=0, pruned="failed"), values))
    assert seen is not None and (seen.n_done, seen.n_failed) == (12, 4)

    def is_lost(trial: FrozenTrial) -> bool:
        return trial.state is TrialState.COMPLETE and trial.value == -999.0

    seen = study_outlook(study_with(BECBOSampler(seed=0, is_lost=is_lost), [3.0, -999.0, 2.0]))
    assert seen is not None and (seen.n_done, seen.best) == (2, 2.0)


def test_outputs_are_those_of_the_sampler() -> None:
    outputs = [Objective("cost"), Limit("heat", upper=1.0)]

    def measured(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        set_values(trial, {"heat": 2 * x})
        return -x

    study = optuna.create_study(sampler=BECBOSampler(seed=0, outputs=outputs))
    study.optimize(measured, n_trials=20, callbacks=[StopCallback(Stop(margin=10.0, at_least=15))])
    assert len(study.trials) == 15
    seen = study_outlook(study)
    assert seen is not None and seen.best is not None
    assert seen.n_failed > 0 and study.best_value < -0.5 <= seen.best  # beyond the limit


def test_trials_count_whatever_the_range_of_a_parameter_was() -> None:
    def narrowing(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0.1, 1)
        return x * (1 + trial.suggest_float("y", 0, x))

    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    study.optimize(narrowing, n_trials=6)
    seen = study_outlook(study)
    assert seen is not None and (seen.n_done, seen.best) == (6, study.best_value)


def test_a_study_of_another_sampler_has_an_outlook() -> None:
    study = study_with(None, [float(v) for v in range(12)])
    seen = study_outlook(study)
    assert seen is not None and (seen.n_done, seen.best) == (12, 1.0)


def nothing_is_suggested(trial: optuna.Trial) -> float:
    raise ArithmeticError


def one_value(trial: optuna.Trial) -> float:
    return trial.suggest_float("x", 1, 1)


def choices_that_are_the_same(trial: optuna.Trial) -> float:
    return float(trial.suggest_categorical("c", [1, True, 1.0]))


def another_range_each_time(trial: optuna.Trial) -> float:
    return trial.suggest_float("x", 0, 1 + trial.number)


@pytest.mark.parametrize(
    "unusable",
    [nothing_is_suggested, one_value, choices_that_are_the_same, another_range_each_time],
)
def test_no_advice_as_long_as_nothing_can_be_modelled(
    unusable: Callable[[optuna.Trial], float],
) -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    callback = StopCallback(Stop(margin=10.0, at_least=5))
    study.optimize(unusable, n_trials=6, catch=(ArithmeticError,), callbacks=[callback])
    assert len(study.trials) == 6 and study_outlook(study) is None


def test_no_advice_once_only_what_is_not_modelled_is_left_to_try() -> None:
    def narrow(trial: optuna.Trial) -> float:
        choice = trial.suggest_categorical("c", ["a", "b"])
        return trial.suggest_float("x", 0, 1 + trial.number) + (choice == "a")

    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    study.optimize(narrow, n_trials=12, callbacks=[StopCallback(Stop(margin=10.0, at_least=5))])
    assert len(study.trials) == 12 and study_outlook(study) is None


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(InvalidInput, match="soon"):
        StopCallback("soon")


def test_a_worker_ends_when_little_is_to_be_gained(tmp_path, monkeypatch, capsys) -> None:
    from typer.testing import CliRunner

    from becbo.cli import app

    (tmp_path / "stopped.py").write_text(
        "def run(trial):\n    return 1.0 + 0 * trial.suggest_float('x', 0, 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    words = ["worker", "--storage", "s.db", "--study", "s", "--objective", "stopped:run"]
    said = CliRunner().invoke(app, [*words, "--trials", "33", "--stop-when", "1000", "--seed=0"])
    assert said.exit_code == 0, said.output
    assert "Stop: the chance that the next 10 experiments" in said.output
    assert "30 of 33" in said.output
    bad = CliRunner().invoke(app, [*words, "--stop-when", "soon"])
    assert bad.exit_code != 0
