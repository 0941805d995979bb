"""`becbo worker` with real processes: budgets, signals, what means failed, bad input."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import optuna
import pytest
from commands import Done
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial
from worker_processes import Workers, on, outcomes, wait_until

from becbo import Outcome
from becbo.optuna import open_storage, requeue_lost, result_of
from becbo.optuna.storage import study_lock

pytest_plugins = ["postgres", "worker_fixtures"]


@on("study.db", "study.journal", "postgresql")
def test_four_workers_share_one_budget(workers: Workers) -> None:
    """The storage is new, so they also create the study at the same moment."""
    options = ("--trials", "20", "--chance", "0")  # no design twice, to find out about luck
    done = [workers.end(p) for p in [workers.start(*options) for _ in range(4)]]

    assert [(d.code, d.err) for d in done] == [(0, "")] * 4
    trials = workers.trials
    assert workers.executed() == dict.fromkeys(range(20), 1)  # once each, and not one more
    assert len({tuple(trial.params.values()) for trial in trials}) == 20
    assert set(outcomes(trials)) == {"ok", "failed"}
    assert {result_of(t).reason for t in trials if result_of(t).outcome is Outcome.FAILED} == {
        "too small"
    }
    assert "20 of 20 trials finished" in "".join(d.out for d in done)


def test_the_budget_counts_what_is_there_already(workers: Workers) -> None:
    study = workers.study
    for i in range(4):
        study.enqueue_trial({"x": 0.9, "y": i / 4})
    assert workers.run("--trials", "3").code == 0
    assert [t.state.name for t in workers.trials] == ["COMPLETE"] * 3 + ["WAITING"]
    done = workers.run("--trials", "6")
    assert [t.state.name for t in workers.trials] == ["COMPLETE"] * 6
    assert [line.split()[0] for line in done.out.splitlines()[:3]] == ["4/6", "5/6", "6/6"]


@on("study.db", "postgresql")
def test_a_budget_of_failures_is_planned_for_all_trials(workers: Workers) -> None:
    noting = """
import becbo.care
least_chance = becbo.care.Care.least_chance
def noted(care, data):
    with open("planned", "a") as log:
        print(care.budget, care.n_planned, file=log)
    return least_chance(care, data)
becbo.care.Care.least_chance = noted
"""
    options = ("--trials", "12", "--failure-budget", "7")
    done = workers.end(workers.start(*options, before=noting))
    assert (done.code, done.err) == (0, "")
    assert set((workers.folder / "planned").read_text().splitlines()) == {"7 12"}


@on("study.db", "study.journal")
def test_a_worker_waits_while_others_may_use_up_the_budget_of_failures(workers: Workers) -> None:
    workers.hold()
    workers.then("return x")
    options = ("--trials", "3", "--failure-budget", "1", "--chance", "0")
    first = workers.start(*options)
    workers.wait_until_begun(first)
    second = workers.start(*options)
    assert second.stdout is not None
    assert "waiting for trials of other workers: 1" in second.stdout.readline()
    assert len(workers.trials) == 1
    workers.release()
    done = [workers.end(process) for process in (first, second)]
    assert [(d.code, d.err) for d in done] == [(0, "")] * 2
    assert [t.state.name for t in workers.trials] == ["COMPLETE"] * 3


def test_a_budget_that_is_spent_before_anything_works_is_one_line(workers: Workers) -> None:
    workers.then("raise becbo.Infeasible('no')")
    options = ("--trials", "5", "--failure-budget", "2", "--chance", "0")
    done = workers.run(*options)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "error: the budget of failures (2) is spent, and nothing has worked" in done.err
    assert outcomes(workers.trials) == ["failed"] * 2
    workers.study.enqueue_trial({"x": 0.9, "y": 0.9})
    workers.then("return x")
    assert workers.run(*options).code == 0
    assert [t.params for t in workers.trials[2:]] == [{"x": 0.9, "y": 0.9}] * 3


def test_no_trial_starts_while_another_worker_looks(workers: Workers) -> None:
    """Else two would see that one trial is missing, and both start it."""
    storage = workers.study._storage
    with study_lock(workers.where)():
        process = workers.start("--study", "other", "--trials", "1")
        wait_until(lambda: len(storage.get_all_studies()) == 2, process)  # it is there and waits
        time.sleep(0.5)
        other = optuna.load_study(study_name="other", storage=storage)
        other.add_trial(create_trial(value=1.0))
    assert workers.end(process).code == 0
    assert workers.executed() == {}


def test_proposals_made_at_the_same_time_differ(workers: Workers) -> None:
    """Past the first ten, so that the models propose: three trials run and none has ended."""
    either = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
    for i in range(12):
        params = {"x": (i + 0.5) / 12, "y": (5 * i % 12) / 12}
        value = sum(params.values())
        workers.study.add_trial(
            create_trial(params=params, distributions=either, value=value)
            if value >= 0.4
            else create_trial(params=params, distributions=either, state=TrialState.FAIL)
        )
    workers.hold()
    started = [workers.start("--trials", "15") for _ in range(3)]
    for process in started:
        workers.wait_until_begun(process)
    running = [t.params for t in workers.trials if t.state is TrialState.RUNNING]
    workers.release()
    assert [workers.end(process).code for process in started] == [0, 0, 0]
    assert len(running) == 3
    assert len({tuple(params.values()) for params in running}) == 3


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_finishes_the_trial(workers: Workers, number: int, code: int) -> None:
    workers.hold()
    process = workers.start("--trials", "9")
    workers.wait_until_begun(process)
    workers.interrupt(process, number)
    workers.release()
    done = workers.end(process)
    assert (done.code, "Traceback" in done.err) == (code, False)
    assert len(workers.trials) == 1
    assert workers.trials[0].state.is_finished()
    assert workers.lost == set()


def test_the_second_signal_stops_now_and_the_design_is_kept(workers: Workers) -> None:
    workers.hold()
    process = workers.start("--trials", "9")
    workers.wait_until_begun(process)
    workers.interrupt(process)
    process.send_signal(signal.SIGINT)
    done = workers.end(process)
    assert (done.code, "Traceback" in done.err) == (130, False)
    first, again = workers.trials
    assert result_of(first).outcome is Outcome.LOST
    assert result_of(first).reason == "stopped"
    assert again.state is TrialState.WAITING
    assert again.params == first.params


def test_what_fails_after_ctrl_c_is_lost(workers: Workers) -> None:
    """The terminal sends Ctrl-C to the simulation as well, which then looks like a failure."""
    workers.hold()
    workers.then("raise RuntimeError('the solver ended with signal 2')")
    process = workers.start("--trials", "9", "--catch", "RuntimeError")
    workers.wait_until_begun(process)
    workers.interrupt(process)
    workers.release()
    assert workers.end(process).code == 130
    first, again = workers.trials
    assert result_of(first).outcome is Outcome.LOST
    assert again.state is TrialState.WAITING


def test_what_means_failed(workers: Workers) -> None:
    endings = {
        "returned None": "return None",
        "returned nan": "return float('nan')",
        "returned -inf": "return float('-inf')",
        "melted": "raise becbo.Infeasible('melted')",
        "ZeroDivisionError: by zero": "raise ZeroDivisionError('by zero')",
        "CalledProcessError: ": "import subprocess; subprocess.run(['false'], check=True)",
        "Diverged: at once": "raise Diverged('at once')",
    }
    workers.then(*(f"if trial.number == {i}: {end}" for i, end in enumerate(endings.values())))
    catch = "ZeroDivisionError, subprocess.CalledProcessError, simulation.Diverged"
    done = workers.run("--trials", "7", "--catch", catch)
    assert (done.code, done.err) == (0, "")
    assert outcomes(workers.trials) == ["failed"] * 7
    for number, (trial, why) in enumerate(zip(workers.trials, endings, strict=True)):
        assert (result_of(trial).reason or "").startswith(why)
        assert f"trial {number}: failed ({why}" in done.out
    assert "7 failed, nothing has worked yet" in done.out


@pytest.mark.parametrize("end", ["return None", "raise OSError('full')"])
def test_what_the_objective_calls_lost_is_lost(workers: Workers, end: str) -> None:
    lost = "import becbo.optuna as bo; bo.mark_lost(trial, 'disk full')"
    workers.then(f"if trial.number == 0: {lost}; {end}")
    assert workers.run("--trials", "2", "--catch", "OSError").code == 0
    assert outcomes(workers.trials) == ["lost", "ok", "ok"]
    assert result_of(workers.trials[0]).reason == "disk full"


def test_the_best_is_one_that_worked(workers: Workers) -> None:
    mark = "import becbo.optuna as bo; bo.mark_failed(trial, 'too thin'); return -100.0"
    workers.then(f"if trial.number == 0: {mark}", "return float(trial.number)")
    out = workers.run("--trials", "3").out
    assert "trial 0: failed (too thin); 1 failed, nothing has worked yet" in out
    assert "trial 2: 2; 1 failed, best 1" in out
    requeue_lost(workers.study, workers.trials[1])
    assert "best: 2 in trial 2" in workers.run("--trials", "2").out


def test_a_bug_stops_the_worker_and_costs_no_trial(workers: Workers) -> None:
    workers.then("trial.no_such_thing")
    done = workers.run("--trials", "2")
    assert done.code == 1
    assert "AttributeError: 'Trial' object has no attribute 'no_such_thing'" in done.err
    assert "simulation.py" in done.err
    assert "cli/worker.py" not in done.err  # the traceback is of the objective only
    assert "`catch`" in done.err
    first, again = workers.trials
    assert result_of(first).outcome is Outcome.LOST

    workers.then("pass")
    assert workers.run("--trials", "2").code == 0
    assert outcomes(workers.trials).count("lost") == 1
    assert workers.trials[1].params == first.params


@pytest.mark.parametrize(
    ("then", "named"),
    [
        ("return 'a lot'", "the objective returned 'a lot'"),
        ("return '3'", "the objective returned '3'"),
        ("return True", "the objective returned True"),
        ("return b'3'", "the objective returned b'3'"),
        ("return 10**400", "the objective returned 1000"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_other_bugs(workers: Workers, then: str, named: str) -> None:
    workers.then(then)
    done = workers.run("--catch", "Exception")
    assert done.code == 1
    assert named in done.err
    assert result_of(workers.trials[0]).outcome is Outcome.LOST


def test_pruned_trials_stay_pruned(workers: Workers) -> None:
    workers.then("import optuna; raise optuna.TrialPruned")
    done = workers.run("--trials", "2", "--catch", "Exception")
    assert done.code == 0
    assert "trial 0: pruned;" in done.out
    assert [t.state for t in workers.trials] == [TrialState.PRUNED] * 2


def test_pruned_trials_are_counted_as_they_are_meant(workers: Workers) -> None:
    workers.then("import optuna; trial.report(1.0, 0); raise optuna.TrialPruned")
    assert "2 of them failed" in workers.run("--trials", "2", "--pruned", "failed").out


def read_all(terminal: int) -> str:
    """Until the other side is closed, which reading a terminal takes for an error."""
    text = b""
    try:
        while more := os.read(terminal, 10_000):
            text += more
    except OSError:
        pass
    os.close(terminal)
    return text.decode()


def test_a_terminal_gets_a_bar(workers: Workers) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from becbo.cli import main; main()", "worker"]
    command += ["--storage", workers.where, "--study", "s", "--objective", "simulation:run"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [*command, "--trials", "2"], cwd=workers.folder, env=environment, stdout=theirs
    )
    os.close(theirs)
    shown = read_all(ours)
    assert process.wait() == 0
    assert "2/2" in shown
    assert "best" in shown or "2 failed" in shown  # the trials are random
    assert "1/2 trial" not in shown


@on("postgresql")
def test_the_example_in_the_documentation(workers: Workers) -> None:
    text = (Path(__file__).parents[2] / "examples" / "distributed_postgres.md").read_text()
    nozzle, *rest = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (command,) = re.findall(r"^becbo (worker .*)$", text, re.MULTILINE)
    (workers.folder / "nozzle.py").write_text(nozzle)
    environment = {**os.environ, "BECBO_STORAGE": workers.where}
    start = ["-c", "from becbo.cli import main; main()", *command.split(), "--trials", "12"]
    for program in (start, ["-c", "\n".join(rest)]):
        done = subprocess.run(
            [sys.executable, *program],
            cwd=workers.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert "'throat'" in done.stdout
    assert "WAITING" in done.stdout


GOOD = {"--storage": "study.db", "--study": "s", "--objective": "simulation:run"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"--storage": "study.csv"}, "study.csv"),
        ({"--storage": "no/folder/study.db"}, "no/folder"),
        ({"--objective": "simulation"}, "module:name"),
        ({"--objective": "simulation.py:run"}, "no module simulation.py"),
        ({"--objective": "./simulation.py:run"}, "module:name"),
        ({"--objective": "nowhere:run"}, "no module nowhere"),
        ({"--objective": "simulation:walk"}, "simulation has no walk"),
        ({"--direction": "up"}, "'up' must be minimize or maximize"),
        ({"--direction": "maximize", "--study": "old"}, "begun with minimize"),
        ({"--direction": "minimize", "--study": "two"}, "begun with minimize,maximize"),
        ({"--method": "nonsense"}, "nonsense"),
        ({"--catch": "NoSuchError"}, "NoSuchError"),
        ({"--catch": "RuntimeError,no.such.Error"}, "no.such.Error"),
        ({"--catch": "int"}, "int"),
        ({"--trials": "0"}, "--trials"),
        ({"--risk": "2"}, "risk 2.0 must lie between 0 and 1"),
        ({"--pruned": "lost"}, "pruned 'lost' must be one of value, failed, ignore"),
        ({"--heartbeat": "0"}, "--heartbeat"),
        ({"--stop-when": "True"}, "--stop-when 'True' must be advised, or the gain"),
        ({"--stop-when": "-1"}, "--stop-when '-1' must be advised, or the gain"),
        ({"--stop-when": "nan"}, "--stop-when 'nan' must be advised, or the gain"),
    ],
)
def test_bad_input(
    changed: dict[str, str],
    named: str,
    becbo: Callable[..., Done],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "simulation", raising=False)
    (tmp_path / "simulation.py").write_text("def run(trial): ...")
    storage = open_storage(tmp_path / "study.db")
    optuna.create_study(storage=storage, study_name="old")
    optuna.create_study(storage=storage, study_name="two", directions=["minimize", "maximize"])
    done = becbo("worker", *(text for option in {**GOOD, **changed}.items() for text in option))
    assert done.code == 2, done
    assert named in done.err
    assert "Traceback" not in done.err
    assert "secret" not in done.err


def test_a_module_that_cannot_be_imported(workers: Workers) -> None:
    for text, named in (
        ("import numpy\nimport no_such_solver\n", "No module named 'no_such_solver'"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ):
        (workers.folder / "simulation.py").write_text(text)
        done = workers.run()
        assert done.code == 1
        assert named in done.err
        assert "simulation:run cannot be imported" in done.err


def test_the_help_has_an_example(becbo: Callable[..., Done]) -> None:
    done = becbo("worker", "--help")
    assert done.code == 0
    assert "becbo worker --storage study.db --study wing" in done.out
