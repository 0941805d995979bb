"""Other tools on the suites: what they are told, and one table of everything."""

import importlib
import sys
from pathlib import Path

import pytest
from bench.sample import make_run

from becbo.bench.experiment import Answer, answer, perform
from becbo.bench.records import read
from becbo.bench.run import execute
from becbo.problems import get

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
peers = importlib.import_module("peers")

BNH = get("bnh")
INSIDE, OUTSIDE = {"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 3.0}


def study_of(problem: str, measured: bool, *designs: dict[str, float]) -> object:
    """Optuna's study after these designs, each of which was added and also told."""
    p = get(problem)
    peer = peers.optuna_nsga2(p, 0)
    for params in designs:
        told = answer(perform(p, params), measured)
        peer.add(params, told)
        peer.ask()
        peer.tell(told)
    return peer._study


def test_failures_are_told_as_fail() -> None:
    trials = study_of("bnh", False, INSIDE, OUTSIDE).trials
    assert [t.state.name for t in trials] == ["COMPLETE"] * 2 + ["FAIL"] * 2
    assert [t.values for t in trials] == [[8.0, 32.0]] * 2 + [None] * 2
    assert not any(t.constraints for t in trials)


def test_measured_limits_are_told_as_constraints() -> None:
    trials = study_of("bnh", True, INSIDE, OUTSIDE).trials
    assert {t.state.name for t in trials} == {"COMPLETE"}
    assert trials[0].constraints == {"inside": -8.0, "outside": -57.3}
    for trial in trials[2:]:  # beyond a limit, which is above 0 for Optuna
        assert trial.values == [36.0, 29.0]
        assert trial.constraints["inside"] == 9.0


def test_one_objective_with_measured_limits() -> None:
    trials = study_of("lsq", True, {"x1": 0.1, "x2": 0.1}).trials
    assert [t.values for t in trials] == [[0.2]] * 2
    assert trials[0].constraints["sinusoid"] > 0 > trials[0].constraints["disc"]


def test_tools_for_one_value() -> None:
    told = []

    class Tool:
        def __init__(self, problem: object, seed: int) -> None:
            self.ask = lambda: INSIDE
            self.add = lambda params, value: told.append((params, value))
            self.tell = told.append

    peer = peers.one_value(Tool)(BNH, 0)
    peer.add(INSIDE, Answer({"value": 1.5}))
    assert peer.ask() == INSIDE
    peer.tell(Answer(None))
    assert told == [(INSIDE, 1.5), None]


def test_usual_methods() -> None:
    assert "optuna-nsga2" not in peers.usual_methods("paper")
    assert {"becbo", "ax", "optuna-tpe-pruned"} <= {*peers.usual_methods("paper")}
    told_nothing = {"optuna-random", "optuna-nsga2", "optuna-tpe", "optuna-tpe-pruned", "optuna-gp"}
    told_nothing |= {"pymoo-nsga2"}
    assert {*peers.usual_methods("pareto")} == {"edge", "sobol"} | told_nothing
    told = {
        f"{name}-measured" for name in ("optuna-nsga2", "optuna-tpe", "optuna-gp", "pymoo-nsga2")
    }
    for suite in ("measured", "pareto-measured"):
        assert {*peers.usual_methods(suite)} == {"edge-measured", "sobol"} | told_nothing | told


@pytest.mark.parametrize("label", ["pymoo-nsga2", "pymoo-nsga2-measured", "optuna-tpe-pruned"])
def test_tools_for_several_objectives_run_and_repeat_themselves(label: str) -> None:
    (run,) = peers.plan("pareto", [label], ["srn"], 1, 24)
    first, again = peers.attempt(run), peers.attempt(run)
    assert first.is_finished, first.error
    assert first.x == again.x


def test_runs_are_told_what_their_label_says() -> None:
    methods = ["edge-measured", "sobol", "optuna-gp", "optuna-gp-measured"]
    runs = peers.plan("measured", methods, ["lsq"], 1, 20)
    assert [(r.label, r.method, r.measured) for r in runs] == [
        ("edge-measured", "edge", True),
        ("sobol", "sobol", False),
        ("optuna-gp", "optuna-gp", False),
        ("optuna-gp-measured", "optuna-gp-measured", True),
    ]


def test_tools_start_from_the_same_points_and_repeat_themselves() -> None:
    run = make_run("srn", "optuna-nsga2", budget=13)
    record = peers.attempt(run)
    assert record.is_finished, record.error
    ours = execute(make_run("srn", "sobol", budget=10))
    assert (record.x[:10], record.y[:10]) == (ours.x, ours.y)
    assert (len(record.y), len(record.seconds)) == (13, 3)
    assert "optuna" in record.versions
    assert peers.attempt(run).x == record.x


@pytest.mark.parametrize("label", ["optuna-gp", "optuna-gp-measured"])
def test_gaussian_processes_of_optuna(label: str) -> None:
    measured = label == "optuna-gp-measured"
    record = peers.attempt(make_run("srn", label, budget=12, measured=measured))
    assert record.is_finished, record.error


def test_one_command_gives_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--suite", "pareto", "--problems", "bnh", "--methods", "edge,optuna-tpe"]
    arguments += ["--seeds", "1", "--budget", "12", "--out", str(tmp_path)]
    peers.main(arguments)
    said = capsys.readouterr().out
    assert "2 runs, 0 of them there already" in said
    assert "| bnh | edge | 1 | 5284.8 |" in said and "| **mean** | optuna-tpe |" in said
    assert len(read(tmp_path).records) == 2
    peers.main(arguments)
    assert "2 runs, 2 of them there already" in capsys.readouterr().out
