"""Other tools on the suites: what they are told, and one table of everything."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.sample import make_run

from becbo.bench.experiment import Answer, answer, perform
from becbo.bench.records import read
from becbo.bench.run import execute
from becbo.problems import get

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
peers = importlib.import_module("peers")
tools = importlib.import_module("peer_tools")
botorch_tools = importlib.import_module("peer_botorch")
Task = tools.Task

INSIDE, OUTSIDE = {"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 3.0}


def study_of(problem: str, measured: bool, *designs: dict[str, float]) -> object:
    """Optuna's study after these designs, each of which was added and also told."""
    p = get(problem)
    peer = peers.optuna_nsga2(Task.of(p, measured), 0)
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


def told(problem: str, measured: bool, params: dict[str, float]) -> tuple[Task, Answer]:
    p = get(problem)
    return Task.of(p, measured), answer(perform(p, params), measured)


def test_limits_are_told_above_zero_where_they_are_broken() -> None:
    task, kept = told("bnh", True, INSIDE)
    assert (task.objectives, task.limits) == (("f1", "f2"), ("inside", "outside"))
    assert task.numbers(kept) == [8.0, 32.0, -8.0, -57.3]
    task, broken = told("bnh", True, OUTSIDE)
    assert task.values(broken) == [36.0, 29.0]
    assert task.violations(broken) == [9.0, -92.3]


def test_without_values_of_limits_a_broken_one_is_a_failure() -> None:
    task, kept = told("bnh", False, INSIDE)
    assert (task.limits, task.numbers(kept)) == ((), [8.0, 32.0])
    task, failed = told("bnh", False, OUTSIDE)
    assert (task.values(failed), task.violations(failed)) == (None, None)
    assert np.isnan(task.numbers(failed)).tolist() == [True, True]


def test_what_was_measured_of_a_failure_is_not_told() -> None:
    task = Task.of(get("bnh"), True)
    assert np.isnan(task.numbers(Answer(None, None, {"f1": 1.0}))).all()


def test_one_value_is_a_task_of_its_own() -> None:
    plain = {p: Task.of(get(p), measured=False).is_plain for p in ("lsq", "bnh")}
    assert plain == {"lsq": True, "bnh": False}
    assert not Task.of(get("lsq"), measured=True).is_plain


def test_designs_are_in_the_order_of_the_space() -> None:
    task = Task.of(get("bnh"), False)
    assert task.matrix([{"b": 2.0, "a": 1.0}]).tolist() == [[1.0, 2.0]]
    assert task.design(np.array([1.0, 2.0])) == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize(
    ("values", "cost"), [([1.0, 3.0], 5.0), ([-2.0], 0.0), ([0.0], 1.0), ([4.0], 8.0)]
)
def test_a_crash_costs_more_than_any_value(values: list[float], cost: float) -> None:
    assert tools.crash_cost(values) == cost


def test_rows_of_bofire() -> None:
    labels = ["failed", "worked"]
    row = botorch_tools.bofire_row(*told("bnh", True, OUTSIDE), labels)
    assert row.pop("objective_0") == 36.0 and row.pop("violation_0") == 9.0
    assert all(valid == 1 for name, valid in row.items() if name.startswith("valid"))
    assert "label" not in row
    row = botorch_tools.bofire_row(*told("bnh", False, OUTSIDE), labels)
    assert (row["valid_objective_0"], np.isnan(row["objective_0"])) == (0, True)
    row = botorch_tools.bofire_row(*told("lsq", False, {"x1": 0.1, "x2": 0.1}), labels)
    assert (row["label"], row["valid_label"], row["valid_objective_0"]) == ("failed", 1, 0)


SLOW = {"ax": "ax", "bofire": "bofire", "hebo": "hebo", "sbarchopt": "sb_arch_opt", "smac": "smac"}


@pytest.mark.parametrize("label", [n for n in peers.TOOLS if n.partition("-")[0] in SLOW])
@pytest.mark.parametrize("problem", ["lsq", "srn"])
def test_tools_in_environments_of_their_own(label: str, problem: str) -> None:
    pytest.importorskip(SLOW[label.partition("-")[0]], reason="needs an environment of its own")
    (run,) = peers.plan("pareto", [label], [problem], 1, 12)
    record = peers.attempt(run)
    assert record.is_finished, record.error
    assert len(record.seconds) == 2


def test_usual_methods() -> None:
    assert "optuna-nsga2" not in peers.usual_methods("paper")
    assert {"becbo", "ax", "optuna-tpe-pruned"} <= {*peers.usual_methods("paper")}
    told_nothing = {"optuna-random", "optuna-nsga2", "optuna-tpe", "optuna-tpe-pruned", "optuna-gp"}
    told_nothing |= {"pymoo-nsga2", *SLOW}
    assert {*peers.usual_methods("pareto")} == {"edge", "sobol"} | told_nothing
    told = {
        f"{name}-measured" for name in ("optuna-nsga2", "optuna-tpe", "optuna-gp", "pymoo-nsga2")
    }
    told |= {f"{name}-measured" for name in SLOW if name != "smac"}
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
