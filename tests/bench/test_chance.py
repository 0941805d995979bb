"""The tables of failures by chance, on records made by hand."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.sample import make_record, make_run

from becbo.bench.records import Searches
from becbo.search.choice import AGAIN

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import chance  # noqa: E402


def luck_record(label="edge", rate=0.0, y=(1.0, None, 0.5), stated=(0.8, 0.9), **changes):
    run = replace(make_run(label=label), bad_luck=rate)
    searches = Searches(("space", AGAIN), (0, 1))
    record = make_record(run, y)
    return replace(record, stated=stated, bad_luck=(0.0, 0.12), searches=searches, **changes)


def test_what_bad_luck_costs_is_a_difference_of_paired_runs() -> None:
    worse = luck_record("edge-luck-10", 0.1, (2.0, None, None), unlucky=(1, 2))
    table = chance.cost_table([luck_record(), worse])
    (first, second) = table.rows
    assert first[0] == "edge" and first[3].startswith("+0.00")
    expected = chance.end(worse) - chance.end(luck_record())
    assert expected > 0 and second[3].startswith(f"{expected:+.2f}")
    assert second[4:9] == ("100%", "2.0", "1.0", "12.0%", "100%")


def test_stated_chances_are_compared_with_what_happened() -> None:
    stated, worked = chance.outcomes([luck_record()])
    assert stated.tolist() == [0.8, 0.9] and worked.tolist() == [False, True]
    (row,) = chance.calibration_table([luck_record()]).rows
    assert float(row[1]) == pytest.approx((0.8**2 + 0.1**2) / 2, abs=1e-3)
    assert float(row[2]) == pytest.approx(-(np.log(0.2) + np.log(0.9)) / 2, abs=1e-3)
    assert row[-2:] == ("80%: 0% (1)", "90%: 100% (1)")


def test_without_records_it_says_so(tmp_path) -> None:
    assert "no records" in chance.text(tmp_path)
