"""Figures in a real optuna-dashboard, on a real file."""

import json
import threading
import urllib.request
from collections.abc import Callable
from wsgiref.simple_server import WSGIRequestHandler, make_server

import optuna
import pytest

from becbo import Limit, Objective
from becbo.errors import InvalidInput
from becbo.optuna import BECBOSampler, mark_failed, open_storage, set_values

optuna_dashboard = pytest.importorskip(
    "optuna_dashboard", reason="optuna-dashboard is not installed: pip install 'becbo[dashboard]'"
)

from becbo.report.dashboard import attach_plots, described_study  # noqa: E402


def objective(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    kind = trial.suggest_categorical("kind", ["a", None])
    if x + y > 1.2:
        raise ArithmeticError("diverged")
    return -x - y + (kind is None)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> optuna.Study:
    storage = open_storage(tmp_path_factory.mktemp("dash") / "study.db", heartbeat=None)
    made = optuna.create_study(study_name="s", storage=storage, sampler=BECBOSampler(seed=0))
    made.optimize(objective, n_trials=24, catch=(ArithmeticError,))
    return made


def test_description_of_a_plain_study(study: optuna.Study) -> None:
    found, _ = described_study(study)
    assert found.space.names == ("kind", "x", "y")
    assert found.outputs.objectives[0].direction == "minimize"


def several(trial: optuna.Trial) -> tuple[float, float]:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("value_0", 0, 1)
    trial.set_constraint("hot", x + y - 1)
    if x - y > 0.7:
        raise ArithmeticError("diverged")
    return x**2 + y**2, (x - 1) ** 2 + (y - 1) ** 2


def test_a_study_with_several_objectives_and_a_constraint() -> None:
    sampler = optuna.samplers.RandomSampler(0)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
    study.optimize(several, n_trials=20, catch=(ArithmeticError,))
    found, data = described_study(study)
    assert found.outputs.names == ("value_0 2", "value_1", "hot")  # a parameter is called value_0
    assert len(data.trials) == 20
    shown = attach_plots(study)
    assert {"front-1", "hypervolume", "limit-1", "map-1"} <= set(shown)


def test_outputs_of_the_sampler() -> None:
    def measuring(trial: optuna.Trial) -> tuple[float, float]:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        set_values(trial, {"ph": 6 + 3 * x})
        if x + y > 1.4:
            mark_failed(trial, "gel", measured={"cost": x})
            raise ArithmeticError("gel")
        return x, x - y

    outputs = [Objective("cost"), Objective("strength", "maximize"), Limit("ph", upper=8)]
    sampler = BECBOSampler(outputs=outputs, seed=0, n_initial=20)
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
    study.optimize(measuring, n_trials=20, catch=(ArithmeticError,))
    found, _ = described_study(study)
    assert found.outputs.names == ("cost", "strength", "ph")
    assert {"front-1", "limit-1"} <= set(attach_plots(study))


def test_an_empty_study_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no parameters to draw that all its finished trials"):
        attach_plots(optuna.create_study())


@pytest.mark.parametrize(
    "objective",
    [
        lambda t: t.suggest_float("k", 1, 1) * t.suggest_float("x", 0, 1),
        lambda t: t.suggest_float("x" + t.suggest_categorical("m", ["a", "b"]), 0, 1),
        lambda t: t.suggest_int("n", 0, 10**15) * t.suggest_float("value", 0, 1),
        lambda t: t.suggest_float("number", 0, 1) + t.suggest_float("x[1]", 0, 1)
        + t.suggest_float("y", 0, 1),
    ],
    ids=["one value", "a branch", "too large", "odd names"],
)  # fmt: skip
def test_what_cannot_be_drawn_is_left_out(objective: Callable[[optuna.Trial], float]) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))
    study.optimize(objective, n_trials=12)
    assert "progress" in attach_plots(study)


def test_a_callback_does_not_end_the_study() -> None:
    def objective(trial: optuna.Trial) -> float:
        if trial.number == 0:
            raise RuntimeError
        return trial.suggest_float("x", 0, 1 + trial.number)  # no range is shared

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))
    study.optimize(objective, n_trials=3, catch=(RuntimeError,), callbacks=[attach_plots])
    assert len(study.trials) == 3


def test_the_dashboard_shows_the_figures(study: optuna.Study) -> None:
    names = attach_plots(study)
    assert {"progress", "map-1", "failure"} <= set(names)
    assert attach_plots(study, study.trials[-1]) == names  # brought up to date, not doubled

    class Quiet(WSGIRequestHandler):
        def log_message(self, *message: object) -> None: ...

    server = make_server("127.0.0.1", 0, optuna_dashboard.wsgi(study._storage), handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/api/studies/{study._study_id}?after=0"
        with urllib.request.urlopen(url) as answer:
            shown = json.load(answer)["plotly_graph_objects"]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert {graph["id"] for graph in shown} == {f"becbo-{name}" for name in names}
