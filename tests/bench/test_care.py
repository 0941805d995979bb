"""What is kept of runs with a risk, a price or a budget, and the tables made of it."""

import sys
from pathlib import Path

import numpy as np

from becbo.bench.run import execute

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import care  # noqa: E402


def line(label: str, failed: str, best=((1, 0.0),), repeated=(), seed: int = 0):
    return care.Line("lsq", label, seed, failed, repeated, best)


def test_a_line_says_what_a_record_does(tmp_path: Path) -> None:
    run = care.run_of("lsq", "risk-20-luck", {"risk": 0.2}, seed=1, n=16)
    record = execute(run)
    kept = care.line_of(record)
    assert kept.key == run.key and run.bad_luck == care.LUCK
    assert kept.has_failed.tolist() == [y is None for y in record.y]
    care.write([kept], tmp_path / "care.json.xz")
    again = care.read(tmp_path / "care.json.xz")[kept.key]
    assert (again.failed, again.best) == (kept.failed, kept.best)


def test_small_steps_are_not_kept() -> None:
    curve = np.array([2.0, 2.0, 0.5, 0.48, 0.44, 0.1, 0.09])
    kept = line("price-3", "0" * 7, care._steps(curve))
    assert [kept.regret(n) for n in (2, 3, 4, 5, 6, 7)] == [2.0, 0.5, 0.5, 0.44, 0.1, 0.09]


def test_money_is_spent_by_failures() -> None:
    failed = "0" * 10 + "1" * 20 + "0" * 70
    kept = line("price-3", failed, ((5, 0.0), (31, -1.0), (40, -2.0), (41, -3.0)))
    assert care._at_equal_money(kept, 3) == -2.0  # 20 failures for 80, then ten more
    assert care._at_equal_money(kept, 0) == -3.0
    assert care._at_equal_money(kept, 10) == 0.0


def test_shares_count_the_first_fifty_proposals() -> None:
    kept = "1" * 10 + "1" * 5 + "0" * 45 + "1" * 40
    (row,) = care.risk_table([line("risk-20", kept)]).rows
    assert row == ("risk-20", "1", "10.0%", "10%, 10%", "yes")
    many = "0" * 10 + "1" * 12 + "0" * 38
    assert care.risk_table([line("risk-20", many)]).rows[0][-1] == "**no**"


def test_a_budget_is_broken_by_designs_that_are_not_proven() -> None:
    kept = line("budget-10", "1" * 10 + "0" * 89 + "1", repeated=(*range(10, 100),))
    broken = line("budget-10", "1" * 10 + "0" * 89 + "1", seed=1)
    (row,) = care.budget_table([kept, broken]).rows
    assert row[:5] == ("budget-10", "1 of 2", "10.5", "0.5", "0 of 2") and row[6] == "10"


def test_a_price_is_compared_with_the_best_risk() -> None:
    ends = {"price-3": -1.0, "risk-5": 0.0, "risk-10": -1.2, "risk-20": -0.5, "risk-50": 1.0}
    lines = {}
    for label, end in ends.items():
        each = line(label, "0" * 100, ((50, end),))
        lines[each.key] = each
    (row,) = care.price_table(lines, ("lsq",)).rows
    assert row[2:7] == ("-1.00", "0.00", "-1.20", "-0.50", "1.00") and row[-1] == "**no**"
    assert care.price_table(lines, ("townsend",)).rows == ()
