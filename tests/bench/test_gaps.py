"""What is missing from the evidence and its hours, on made-up records."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.sample import make_record, make_run

from becbo.bench.records import Record

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gaps  # noqa: E402


def run_of(problem: str, label: str, seed: int = 0, seconds: float = 1.0, n: int = 20) -> Record:
    """A run of n evaluations, half of them proposals that take so many seconds."""
    record = make_record(make_run(problem, label, seed, n), (1.0,) * n, n_initial=10)
    return replace(record, seconds=(seconds,) * (n - 10))


def test_a_run_is_as_long_as_its_proposals_and_goes_on_at_the_last_pace() -> None:
    record = replace(run_of("lsq", "edge"), seconds=tuple(np.arange(1.0, 11.0)))
    assert gaps.seconds_at(record, 15) == pytest.approx(15)  # 1 + 2 + ... + 5
    assert gaps.seconds_at(record, 20) == pytest.approx(55)
    assert gaps.seconds_at(record, 30) == pytest.approx(55 + 10 * 5.5)


def test_hours_are_those_of_the_method_on_the_problem() -> None:
    records = [run_of("lsq", "mine", 0, 1.0), run_of("lsq", "mine", 1, 3.0)]
    paces = gaps.paces_of(records, 20)
    assert gaps.seconds_of("mine", "lsq", paces) == pytest.approx(20)


def test_a_version_before_stands_in() -> None:
    paces = gaps.paces_of([run_of("lsq", "mine-v1", 0, 2.0)], 20)
    assert gaps.seconds_of("mine", "lsq", paces) == pytest.approx(20)


def test_what_has_not_run_is_as_dear_as_a_method_with_the_same_classifier() -> None:
    paces = gaps.paces_of([run_of("lsq", "be-cbo-code", 0, 2.0)], 20)
    assert gaps.seconds_of("be-cbo-code-c", "lsq", paces) == pytest.approx(20)
    own = gaps.paces_of([run_of("lsq", "be-cbo-code-c"), run_of("lsq", "be-cbo-code", 0, 2.0)], 20)
    assert gaps.seconds_of("be-cbo-code-c", "lsq", own) == pytest.approx(10)
    change = [run_of("lsq", "be-cbo-hidden-1-v1", 0, 1.0), run_of("lsq", "be-cbo-v1", 0, 4.0)]
    paces = gaps.paces_of([*change, run_of("spring", "be-cbo-code", 0, 2.0)], 20)
    assert gaps.seconds_of("be-cbo-code-hidden-1", "spring", paces) == pytest.approx(5)
    baseline = gaps.paces_of([run_of("lsq", "cei", 0, 0.5)], 20)
    assert gaps.seconds_of("be-cbo-code-gp", "lsq", baseline) == pytest.approx(5)


def test_elsewhere_the_method_with_the_most_problems_in_common_tells() -> None:
    records = [
        *(run_of(problem, "mine", 0, 2.0) for problem in ("lsq", "spring")),
        *(run_of(problem, "near", 0, 1.0) for problem in ("lsq", "spring")),
        run_of("townsend", "near", 0, 7.0),
        run_of("lsq", "far", 0, 1.0),
        run_of("townsend", "far", 0, 1000.0),
    ]
    paces = gaps.paces_of(records, 20)
    assert gaps.seconds_of("mine", "townsend", paces) == pytest.approx(140)
    assert gaps.seconds_of("mine", "gardner", paces) == pytest.approx(20)  # its own mean
    assert np.isnan(gaps.seconds_of("nobody", "lsq", paces))


def test_only_runs_that_are_whole_count() -> None:
    asked = gaps.Asked("paper", ("mine",), 2, 20, ("lsq", "spring"))
    records = [run_of("lsq", "mine", 0), run_of("lsq", "mine", 1, n=15), run_of("spring", "mine")]
    there = [record for record in records if asked.is_met_by(record, "mine")]
    assert [record.run.problem for record in there] == ["lsq", "spring"]
    assert gaps.seeds_there(asked, there) == "1"
    left = gaps.hours_left(asked, "mine", there, gaps.paces_of(records, 20))
    assert left == pytest.approx(2 * 10 / 3600)
    measured = replace(asked, with_accuracy=True)
    assert not any(measured.is_met_by(record, "mine") for record in records)
