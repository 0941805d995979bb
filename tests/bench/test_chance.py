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
    unpaired = replace(worse, run=replace(worse.run, seed=7))
    (first, second) = chance.cost_table([luck_record(), worse, unpaired]).rows
    assert first[0] == "edge" and first[3].startswith("+0.00")
    expected = chance.end(worse) - chance.end(luck_record())
    assert expected > 0 and second[3].startswith(f"{expected:+.2f}")
    assert second[4:8] == ("100%", "2.0", "1.0", "12.0%")


def test_stated_chances_are_compared_with_what_happened() -> None:
    stated, worked = chance.outcomes([luck_record()])
    assert stated.tolist() == [0.8, 0.9] and worked.tolist() == [False, True]
    (row,) = chance.calibration_table([luck_record()]).rows
    assert float(row[1]) == pytest.approx((0.8**2 + 0.1**2) / 2, abs=1e-3)
    assert float(row[2]) == pytest.approx(-(np.log(0.2) + np.log(0.9)) / 2, abs=1e-3)
    assert row[-2:] == ("80%: 0% (1)", "90%: 100% (1)")


def test_tests_are_the_repeats_until_bad_luck_was_proven() -> None:
    record = luck_record(y=(1.0, None, None, 0.5, 0.4), stated=(0.5,) * 4)
    again = Searches(("space", AGAIN), (1, 0, 1, 1))
    late = replace(record, searches=again, bad_luck=(0.0, 0.0, 0.0, 0.1), seconds=(0.1,) * 4)
    assert chance.n_tests(late) == 2 and chance.is_repeat(late).sum() == 3
    assert chance.found_at(late) == 4
    never = replace(late, bad_luck=(0.0,) * 4)
    assert chance.n_tests(never) == 3 and chance.found_at(never) == np.inf


def goals_of(*records):
    return {row[0]: row[1:] for row in chance.goal_table(records).rows}


def test_every_goal_is_judged_by_the_runs_there_are() -> None:
    certain = replace(luck_record("edge-certain"), bad_luck=(0.0, 0.0))
    none = replace(luck_record(), bad_luck=(0.0, 0.0))
    worse = luck_record("edge-luck-10", 0.1, (2.0, None, None))
    judged = goals_of(certain, none, worse)
    assert [v[1] for k, v in judged.items() if k.startswith("no bad luck")] == ["yes"] * 3
    (regret,) = (v for k, v in judged.items() if k.startswith("edge-luck-10: log10 regret"))
    assert regret[1] == "**no**" and "1 runs on 1 problems" in regret[0]
    (rate,) = (v for k, v in judged.items() if k.startswith("edge-luck-10: learned"))
    assert rate[1] == "yes" and rate[0].startswith("1 of 1 runs, mean 12.0%")
    (other,) = (v for k, v in judged.items() if k.startswith("edge-luck-25: learned"))
    assert other == ("", "no runs")


def test_a_rate_is_right_if_it_is_close_or_without_bad_luck_small() -> None:
    for truth, learned, right in ((0.1, 0.16, True), (0.1, 0.18, False), (0.0, 0.04, False)):
        record = replace(luck_record(rate=truth), bad_luck=(0.0, learned))
        assert chance.is_right(record) == right


def test_who_knew_every_cause_would_be_right_where_the_draws_are_typical() -> None:
    for n_unlucky, right in ((1, True), (3, False)):  # of ten designs that would have worked
        y = (*(None for _ in range(n_unlucky)), *(1.0 for _ in range(10 - n_unlucky)))
        record = luck_record(rate=0.1, y=y, unlucky=tuple(range(n_unlucky)))
        assert chance.could_be_right(record) == right


def test_a_bin_counts_from_fifty_proposals() -> None:
    for n, said in ((49, "no runs"), (50, "**no**")):
        y = (1.0, *(None for _ in range(n)))
        record = luck_record("edge-luck-10", 0.1, y, (0.55,) * n)
        searches = Searches(("space",), (0,) * n)
        record = replace(record, bad_luck=(0.1,) * n, searches=searches)
        (found,) = (v for k, v in goals_of(record).items() if "bins" in k)
        assert found[1] == said


def test_without_records_it_says_so(tmp_path) -> None:
    assert "no records" in chance.text(tmp_path)
