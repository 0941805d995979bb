"""The callback that ends a study."""

import optuna
import pytest

from becbo import InvalidInput, Limit, Objective, Stop
from becbo.optuna import BECBOSampler, StopCallback, set_values, study_outlook


def objective(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return float("nan") if x + y > 1.2 else (x - 0.7) ** 2 + (y - 0.6) ** 2


@pytest.mark.parametrize("margin, n_trials", [(10.0, 15), (0.0, 25)])
def test_a_study_ends_when_little_is_to_be_gained(margin: float, n_trials: int) -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    callback = StopCallback(Stop(margin=margin, at_least=15))
    study.optimize(objective, n_trials=25, callbacks=[callback])
    assert len(study.trials) == n_trials
    seen = study_outlook(study, seed=0)
    assert seen.best == study.best_value and seen.n_done == n_trials


def test_outputs_are_those_of_the_sampler() -> None:
    outputs = [Objective("cost"), Limit("heat", upper=1.0)]

    def measured(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        set_values(trial, {"heat": 2 * x})
        return x

    study = optuna.create_study(sampler=BECBOSampler(seed=0, outputs=outputs))
    callback = StopCallback(Stop(margin=10.0, at_least=15), outputs)
    study.optimize(measured, n_trials=20, callbacks=[callback])
    assert len(study.trials) == 15
    assert study_outlook(study, outputs, seed=0).n_failed > 0  # beyond the limit
    with pytest.raises(InvalidInput, match="no Objective"):
        StopCallback(outputs=[outputs[1]])


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(InvalidInput, match="soon"):
        StopCallback("soon")
    with pytest.raises(InvalidInput, match="risk"):
        StopCallback(risk=2.0)


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
    assert "Stop: the next 10 experiments" in said.output and "30 of 33" in said.output
    bad = CliRunner().invoke(app, [*words, "--stop-when", "soon"])
    assert bad.exit_code != 0
