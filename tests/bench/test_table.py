"""The table of a folder."""

import numpy as np
from bench.sample import make_record, make_run

from becbo.bench.records import Record
from becbo.bench.summary import CEILING, typical_value
from becbo.bench.table import checkpoints, rows, table
from becbo.problems import get


def record(problem: str, label: str, seed: int, regret: float, budget: int = 60) -> Record:
    """A run that fails, then has that log10 regret from its second evaluation on."""
    optimum = get(problem).optimum
    value = optimum + 10.0**regret * (typical_value(problem) - optimum)
    y = [None, *[value] * (budget - 1)]
    return make_record(make_run(problem, label, seed, budget), y, n_initial=10)


def test_rows_hold_the_numbers() -> None:
    records = [record("spring", "edge", seed, -1.0 - seed) for seed in (1, 0)]
    records.append(Record(make_run("spring", "edge", 7), error="no number"))
    (row,) = rows(records, [50, 100])
    assert row.seeds == (0, 1)
    np.testing.assert_allclose(row.regret, [[-1, np.nan], [-2, np.nan]])
    assert (row.infeasible, row.first_feasible, row.seconds) == (0.0, 2.0, 0.25)
    assert row.best[0] > row.best[1] > row.known


def test_checkpoints_go_as_far_as_the_runs() -> None:
    assert checkpoints([record("lsq", "edge", 0, -1, budget=12)]) == (12,)
    assert checkpoints([record("lsq", "edge", 0, -1, budget=100)]) == (50, 100)
    assert checkpoints([record("lsq", "edge", 0, -1, budget=200)]) == (50, 100, 200)


def test_means_are_over_problems_and_capped() -> None:
    records = [record("lsq", "edge", seed, -6.0) for seed in range(3)]
    records += [record("spring", "edge", 0, -1.0), record("spring", "cei", 0, -0.5)]
    cells = table(records)
    assert [(r[0], r[1], r[2]) for r in cells.rows] == [
        ("lsq", "edge", "3"),
        ("spring", "cei", "1"),
        ("spring", "edge", "1"),
    ]
    cei, edge = cells.means
    assert cei[:3] == ("mean", "cei", "1 of 2 problems")
    assert edge[6] == "-3.50, capped at -4: -2.50"
    assert edge[2] == "2 of 2 problems"


def test_a_run_in_which_nothing_worked() -> None:
    cells = table([make_record(make_run(budget=3), [None] * 3)])
    (row,) = cells.rows
    assert row[4:9] == ("none (none)", "-", f"{CEILING:.2f}", "100%", "none")


def test_markdown() -> None:
    lines = table([record("ackley_scbo_2d", "edge", 0, -2.0)]).markdown().splitlines()
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert lines[3].startswith("| **mean** | edge |")
    assert "%" not in lines[2].split("|")[6]  # the optimum is 0: no share of it


def test_nothing_to_show() -> None:
    assert table([]).rows == table([Record(make_run(), error="x")]).rows == ()
    assert len(table([]).markdown().splitlines()) == 2
