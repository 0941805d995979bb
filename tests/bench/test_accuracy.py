"""Accuracy of the classifiers of recorded runs."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bench.sample import make_record, make_run
from commands import Done

from becbo.bench.accuracy import (
    CURVES,
    Curve,
    accuracy_lines,
    accuracy_panels,
    balanced_accuracy,
    mean_class_accuracy,
    measure,
    measure_all,
    probes,
    read_curves,
    unmeasured,
    write_curve,
)
from becbo.bench.cases import random_record
from becbo.bench.records import Record, write
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
    assert balanced_accuracy(RUN, 30) > 0.7


def test_what_is_measured_is_kept_and_not_measured_again(tmp_path: Path) -> None:
    record = make_record(make_run(budget=30), y=RUN.y, n_initial=10)
    tasks = unmeasured([record], {}, every=10)
    assert tasks == [(record, (10, 20, 30))]
    write_curve(tmp_path, Curve(record.run.key, {10: 0.6, 30: 0.8}, 1.0))
    known = read_curves(tmp_path)
    assert known[record.run.key].accuracy == {10: 0.6, 30: 0.8}
    assert unmeasured([record], known, every=10) == [(record, (20,))]
    write_curve(tmp_path, Curve(record.run.key, {20: 0.7}, 1.0))
    with (tmp_path / CURVES).open("a") as file:
        file.write('{"format":1,"problem":"ls')  # killed while writing
    again = read_curves(tmp_path)[record.run.key]
    assert (again.accuracy, again.seconds) == ({10: 0.6, 30: 0.8, 20: 0.7}, 2.0)
    assert unmeasured([record], read_curves(tmp_path), every=10) == []


def test_runs_that_say_nothing_are_left_out() -> None:
    failed = Record(make_run(), error="oh")
    hopeless = make_record(make_run("refrigeration"))
    assert unmeasured([failed, hopeless], {}, every=1) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_measuring_many(jobs: int) -> None:
    tasks = [(random_record("lsq", "edge", seed, 12), (6, 12)) for seed in range(2)]
    curves = sorted(measure_all(tasks, jobs), key=lambda curve: curve.key)
    assert [curve.key for curve in curves] == [("lsq", "edge", 0), ("lsq", "edge", 1)]
    assert curves[0].accuracy == measure(*tasks[0]).accuracy


def test_lines_between_what_was_measured() -> None:
    curves = [Curve(("lsq", "edge", 0), {2: 0.5, 4: 0.7}), Curve(("lsq", "edge", 1), {3: 0.6})]
    expected = [[np.nan, 0.5, 0.6, 0.7], [np.nan, np.nan, 0.6, np.nan]]
    np.testing.assert_allclose(accuracy_lines(curves), expected)
    other = Curve(("townsend", "be-cbo", 0), {3: 0.6})
    first, second = accuracy_panels([*curves, other])
    assert (first.title, second.title) == ("townsend", "lsq")  # the order of the problem list
    assert {label: lines.shape for label, lines in second.curves.items()} == {"edge": (2, 4)}


def test_the_command(tmp_path: Path, becbo: Callable[..., Done]) -> None:
    for seed in range(2):
        write(tmp_path, random_record("lsq", "edge", seed, 12))
    call = ["bench", "accuracy", str(tmp_path), "--every", "3"]
    done = becbo(*call)
    assert done.code == 0, done.err
    assert "2 classifiers to fit, in 2 runs" in done.out  # all 12 designs are initial ones
    assert "2/2 lsq, edge, seed 1" in done.out
    assert len((tmp_path / CURVES).read_text().splitlines()) == 2
    assert json.loads((tmp_path / CURVES).read_text().splitlines()[0])["accuracy"]["12"] > 0.5
    assert "0 classifiers to fit" in becbo(*call).out
    nothing = becbo(*call, "--methods", "nonsense")
    assert nothing.code == 2
    assert "no run of nonsense" in nothing.err
