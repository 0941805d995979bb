"""Accuracy of classifiers in the course of runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.sample import make_record, make_run
from commands import Done

from becbo.bench.accuracy import (
    accuracy_curve,
    accuracy_panels,
    balanced_accuracy,
    mean_class_accuracy,
    probes,
)
from becbo.bench.cases import random_record
from becbo.bench.records import missing, read, write
from becbo.bench.replay import fit
from becbo.bench.report import write_report
from becbo.bench.run import execute, fan_out
from becbo.errors import Infeasible
from becbo.problems import get

LSQ = get("lsq")
RUN = random_record("lsq", "edge", seed=0, n=30)


def test_probes_are_balanced_and_labelled() -> None:
    points = probes(LSQ)
    assert (len(points.U), points.feasible.sum()) == (10_000, 5_000)
    np.testing.assert_array_equal(LSQ.feasible(points.U), points.feasible)  # a unit square
    assert probes(LSQ) is points


def test_probes_of_a_problem_with_choices() -> None:
    beam = get("concrete_beam")
    points = probes(beam)
    assert points.U.shape == (10_000, beam.space.dim)
    assert beam.space.dim > beam.dim
    assert {0.0, 1.0} == set(np.unique(points.U[:, 1]))  # of a choice
    params = beam.space.decode(points.U[:50])
    assert all(beam(design) for design in params)
    with pytest.raises(Infeasible):
        beam(beam.space.decode(points.U[-1:])[0])


def test_balanced_accuracy() -> None:
    feasible = np.array([True, False, False, False, False])
    assert mean_class_accuracy(feasible, feasible) == 1.0
    assert mean_class_accuracy(np.zeros(5, dtype=bool), feasible) == 0.5
    assert mean_class_accuracy(np.array([True, True, False, False, False]), feasible) == 0.875
    _, models = fit(RUN, 30)
    assert balanced_accuracy(models.feasibility, LSQ) > 0.7


def test_runs_measure_it_after_every_evaluation() -> None:
    run = make_run(budget=14)
    plain, measured = execute(run), execute(run, with_accuracy=True)
    assert measured.y == plain.y  # it changes nothing
    assert len(measured.accuracy) == 4 and measured.has_accuracy and not plain.accuracy
    # The first proposal rests on the initial design alone.
    _, models = fit(measured, 10)
    assert measured.accuracy[0] == pytest.approx(
        balanced_accuracy(models.feasibility, LSQ), abs=0.01
    )
    curve = accuracy_curve(measured)
    assert np.isnan(curve[:10]).all() and curve[10:].tolist() == list(measured.accuracy)


def test_records_keep_it(tmp_path: Path) -> None:
    record = replace(make_record(make_run()), accuracy=(0.5, 0.75))
    write(tmp_path, record)
    assert read(tmp_path).records == (record,)


def test_a_run_without_it_is_missing_if_it_is_wanted() -> None:
    run = make_run(budget=3)
    without, having = make_record(run), replace(make_record(run), accuracy=(0.5, 0.75))
    assert missing([run], [without]) == missing([run], [having], with_accuracy=True) == []
    assert missing([run], [without], with_accuracy=True) == [run]


def test_a_run_without_it_is_not_continued_but_repeated() -> None:
    short = execute(make_run(budget=11))
    (again,) = fan_out([make_run(budget=12)], known=[short], with_accuracy=True)
    assert again.continued_at == () and again.has_accuracy
    short = execute(make_run(budget=11), with_accuracy=True)
    (longer,) = fan_out([make_run(budget=12)], known=[short], with_accuracy=True)
    assert longer.continued_at == (11,) and longer.has_accuracy
    assert longer.accuracy[:1] == short.accuracy


def test_panels() -> None:
    first = replace(make_record(make_run(seed=0)), accuracy=(0.5, 0.75))
    second = replace(make_record(make_run(seed=1)), accuracy=(0.6, 0.7))
    without = make_record(make_run(label="cei"))
    (panel,) = accuracy_panels([first, second, without], ["townsend", "lsq"])
    assert panel.title == "lsq" and list(panel.curves) == ["edge"]
    np.testing.assert_allclose(panel.curves["edge"], [[np.nan, 0.5], [np.nan, 0.6]])


def test_the_command(tmp_path: Path, becbo: Callable[..., Done]) -> None:
    call = ["bench", "run", "--methods", "edge", "--seeds", "1", "--budget", "12", "--accuracy"]
    done = becbo(*call, "--problems", "lsq", "--out", str(tmp_path))
    assert done.code == 0, done.err
    (record,) = read(tmp_path).records
    assert len(record.accuracy) == 2 and min(record.accuracy) > 0.4
    assert "1 of them" in becbo(*call, "--problems", "lsq", "--out", str(tmp_path)).out
    refused = becbo(*call, "--problems", "lsq,refrigeration", "--out", str(tmp_path))
    assert refused.code == 2 and "cannot be measured on refrigeration" in refused.err


def test_the_report_draws_the_curves(tmp_path: Path) -> None:
    records = [
        replace(make_record(make_run(label=label)), accuracy=(0.5, 0.75))
        for label in ("edge", "be-cbo-gp")
    ]
    page = write_report(records, tmp_path, only=["paper-accuracy"])
    assert (tmp_path / "figures" / "paper-accuracy.png").exists()
    assert "after every evaluation of the runs that measured it" in page.read_text()
    without = [replace(record, accuracy=()) for record in records]
    assert "paper-accuracy" not in write_report(without, tmp_path).read_text()
