"""One run to its record, and many side by side."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.sample import make_record, make_run
from threadpoolctl import threadpool_info

import becbo.bench.run
from becbo import BecboError, InvalidInput, Optimizer, Trial
from becbo.bench.experiment import perform
from becbo.bench.plan import N_INITIAL, make_proposer
from becbo.bench.records import Record, missing, read, write
from becbo.bench.run import attempt, execute, fan_out, initial_design, seconds_left, versions
from becbo.extras import MissingExtra
from becbo.problems import get


def worked_at_first(record: Record) -> bool:
    return any(y is not None for y in record.y[:N_INITIAL])


def test_reasons_are_told_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str | bool | None] = []

    class Spied(Optimizer):
        def add(self, params: Any, value: Any = None, failed: Any = False, **more: Any) -> Trial:
            said.append(failed)
            return super().add(params, value, failed, **more)

        def fail(self, trial: Trial | int, reason: str | None = None, *more: Any) -> Trial:
            said.append(reason)
            return super().fail(trial, reason, *more)

    monkeypatch.setattr(becbo.bench.run, "Optimizer", Spied)
    run = make_run("welded_beam", "edge", budget=15)
    execute(run)
    assert not any(isinstance(reason, str) for reason in said)
    names = set(get("welded_beam").constraints)
    said.clear()
    execute(run, told="first")
    assert {reason for reason in said if reason} <= names and any(said)
    said.clear()
    execute(run, told="all")
    assert not {reason for reason in said if reason} <= names  # lists


def test_a_record_tells_the_whole_run() -> None:
    record = execute(make_run("welded_beam", "edge", seed=1, budget=15))
    assert len(record.x) == len(record.y) == 15
    assert (record.n_initial, record.redraws) == (N_INITIAL, 0)
    problem = get("welded_beam")
    X = np.array(record.x)
    works = np.array([y is not None for y in record.y])
    assert np.array_equal(problem.feasible(X)[:N_INITIAL], works[:N_INITIAL])  # the edge is far
    values = [y for y in record.y if y is not None]
    np.testing.assert_allclose(problem.objective(X[works]), values, rtol=1e-5)
    parts = record.parts
    assert set(parts) == {"regressor", "classifier", "search"}
    for i, seconds in enumerate(record.seconds):
        assert 0 < sum(parts[part][i] for part in parts) <= seconds + 1e-3
    assert len(record.searches.winner) == 5
    assert max(record.searches.winner) == len(record.searches.winners) - 1
    assert record.seconds_total > sum(record.seconds)
    assert set(record.versions) == {"becbo", "python", "numpy", "scipy", "blas"}


def test_a_record_says_which_blas_multiplied_and_by_which_kernel() -> None:
    loaded = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    said = versions()["blas"].split(", ")
    for library in loaded:
        words = [library.get(key) for key in ("internal_api", "version", "architecture")]
        assert " ".join(word for word in words if word) in said
    assert said and all(said)


def test_a_record_of_before_says_nothing_of_blas_and_is_read(tmp_path: Path) -> None:
    before = replace(make_record(make_run()), versions={"becbo": "0.1.0", "numpy": "2.4.6"})
    write(tmp_path, before)
    assert read(tmp_path).records == (before,)


def test_a_run_repeats_itself_through_a_file(tmp_path: Path) -> None:
    run = make_run("spring", "edge", seed=2, budget=13)
    first, again = execute(run), execute(run)
    write(tmp_path, first)
    assert read(tmp_path).records == (first,)
    assert (first.x, first.y, first.searches) == (again.x, again.y, again.searches)


def test_all_methods_of_a_seed_start_from_the_same_points() -> None:
    runs = [make_run("spring", label, budget=11) for label in ("edge", "sobol", "cei")]
    starts = {execute(run).x[:N_INITIAL] for run in runs}
    assert len(starts) == 1
    assert starts != {execute(replace(runs[1], seed=1)).x[:N_INITIAL]}


def test_authors_draw_until_a_point_works_and_pay_ten() -> None:
    authors = execute(make_run("speed_reducer", "sobol"))
    assert authors.redraws > 0
    assert worked_at_first(authors)
    assert len(authors.y) == 12
    honest = execute(make_run("speed_reducer", "sobol", protocol="honest"))
    assert honest.redraws == 0 and not worked_at_first(honest)
    assert honest.x[0] != authors.x[0]


def test_both_protocols_agree_where_the_first_draw_works() -> None:
    lsq = get("lsq")
    assert initial_design(lsq, 0, "authors") == initial_design(lsq, 0, "honest")


@pytest.mark.parametrize("name", ["ackley_scbo_20d", "refrigeration"])
def test_where_redraws_are_hopeless_the_last_point_is_one_that_works(name: str) -> None:
    problem = get(name)
    design, honest = (initial_design(problem, 0, p).params for p in ("authors", "honest"))
    assert design[:-1] == honest[:-1] and len(design) == N_INITIAL
    assert perform(problem, design[-1]).values
    assert initial_design(problem, 1, "authors").params[-1] != design[-1]
    record = execute(make_run(name, "sobol"))
    assert record.redraws == 0 and worked_at_first(record)
    assert not worked_at_first(execute(make_run(name, "sobol", protocol="honest")))


def test_a_problem_without_a_design_that_works_is_refused() -> None:
    impossible = replace(
        get("lsq"), feasibility_ratio=None, slack_formulas=lambda X: {"never": -1.0 - X[:, 0]}
    )
    with pytest.raises(BecboError, match="no design was found that works"):
        initial_design(impossible, 0, "authors")


@pytest.mark.parametrize("budget", [1, 10])
def test_a_budget_may_end_in_the_initial_design(budget: int) -> None:
    record = execute(make_run(budget=budget))
    assert (len(record.y), record.n_initial, record.seconds) == (budget, budget, ())


def test_options_and_budget_reach_the_method() -> None:
    run = make_run(label="few", method="be-cbo", options={"n_networks": 2})
    assert make_proposer(run).classifier.settings.n_networks == 2
    assert make_proposer(make_run(label="svm-cbo"), budget=50).budget == 50
    assert make_proposer(make_run(label="svm-cbo"), budget=5).budget == N_INITIAL


@pytest.mark.parametrize("label", ["edge", "scbo-ep"])
def test_a_run_is_continued_from_its_record(label: str) -> None:
    short, whole = (execute(make_run("lsq", label, budget=n)) for n in (14, 18))
    longer = execute(make_run("lsq", label, budget=18), before=short)
    assert (longer.x[:14], longer.y[:14]) == (short.x, short.y)
    assert longer.seconds[:4] == short.seconds and len(longer.seconds) == 8
    assert longer.continued_at == (14,) and whole.continued_at == ()
    assert longer.run == whole.run and longer.n_initial == 10
    # The record has seven digits: the next designs agree up to what that changes.
    np.testing.assert_allclose(longer.x[14], whole.x[14], atol=1e-3)


def test_a_continued_run_remembers_which_designs_had_bad_luck() -> None:
    run = make_run("lsq", "sobol", budget=30, bad_luck=0.5)
    short = execute(replace(run, budget=20))
    assert short.unlucky
    longer = execute(run, before=short)
    assert tuple(i for i in longer.unlucky if i < 20) == short.unlucky


def test_methods_that_plan_for_their_budget_begin_again() -> None:
    short = execute(make_run("lsq", "svm-cbo", budget=14))
    longer = execute(make_run("lsq", "svm-cbo", budget=18), before=short)
    assert longer.continued_at == ()
    assert longer.x == execute(make_run("lsq", "svm-cbo", budget=18)).x


def test_an_error_becomes_the_record_of_its_run() -> None:
    record = attempt(make_run("no_such_problem"))
    assert not record.is_finished
    assert "Traceback" in record.error
    assert "no_such_problem" in record.error


def test_processes_side_by_side() -> None:
    runs = [make_run("lsq", "sobol", seed) for seed in range(3)]
    bad = make_run("no_such_problem")
    records = {record.run.key: record for record in fan_out([bad, *runs], jobs=2)}
    assert len(records) == 4
    assert [key for key, record in records.items() if not record.is_finished] == [bad.key]
    assert missing([bad, *runs], records.values()) == [bad]
    alone = execute(runs[0])
    assert (records[runs[0].key].x, records[runs[0].key].y) == (alone.x, alone.y)


@pytest.mark.parametrize(
    ("backend", "package", "extra"),
    [("loky", "joblib", "bench"), ("ray", "ray", "ray"), ("dask", "distributed", "dask")],
)
def test_a_missing_package_is_named_with_its_extra(
    backend: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package}.*pip install 'becbo\[{extra}\]'"):
        next(fan_out([make_run()], backend=backend))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"backend": "carrier pigeon"}, "carrier pigeon"),
        ({"address": "10.0.0.1"}, "10.0.0.1"),
        ({"jobs": 0}, "jobs 0"),
        ({"jobs": -2}, "jobs -2"),
    ],
)
def test_bad_settings(settings: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        next(fan_out([make_run()], **settings))


def test_time_left_is_that_of_the_same_method() -> None:
    def done(problem: str, label: str, seconds: float) -> Record:
        return replace(make_record(make_run(problem, label)), seconds_total=seconds)

    known = [done("lsq", "edge", 2.0), done("spring", "edge", 4.0), done("lsq", "be-cbo", 100.0)]
    runs = [make_run("lsq", "edge", seed=9), make_run("townsend", "edge", seed=9)]
    assert seconds_left(runs, known, jobs=1) == pytest.approx(2 + 3)  # the same problem first
    assert seconds_left(runs, known, jobs=2) == pytest.approx(2.5)
    assert seconds_left([make_run(label="cei")], known, jobs=1) is None
    assert seconds_left([make_run()], [Record(make_run(), error="x")], jobs=1) is None
    assert seconds_left([], [], jobs=1) == 0


def test_a_run_with_bad_luck_notes_where_it_struck_and_what_was_stated():
    run = make_run(problem="lsq", label="edge", budget=14)
    record = execute(replace(run, bad_luck=0.4, options={"failures": {"chance": 0.4}}))
    assert record.unlucky and all(record.y[i] is None for i in record.unlucky)
    assert len(record.stated) == len(record.bad_luck) == 4
    assert set(record.bad_luck) == {0.4} and max(record.stated) <= 0.6


def test_bad_luck_leaves_the_authors_start_a_design_that_works():
    run = replace(make_run(problem="lsq", label="edge", budget=10), bad_luck=0.999)
    record = execute(run)
    feasible = [i for i, y in enumerate(execute(replace(run, bad_luck=0.0)).y) if y is not None]
    assert len(feasible) > 1  # the first of them is spared
    assert [i for i, y in enumerate(record.y) if y is not None] == feasible[:1]
    assert list(record.unlucky) == feasible[1:]
    honest = execute(replace(run, protocol="honest"))
    assert not any(y is not None for y in honest.y)


def test_a_worker_ends_although_its_parent_died_before_the_first_run() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    code = f"import time; from becbo.bench.run import watch_parent; watch_parent({ended.pid})"
    arguments = [sys.executable, "-c", f"{code}; time.sleep(60)"]
    worker = subprocess.run(arguments, timeout=50, capture_output=True)
    assert (worker.returncode, worker.stderr) == (1, b"")
