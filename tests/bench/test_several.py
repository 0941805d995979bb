"""Tools side by side on suites with several outputs."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from bench.sample import make_run

from becbo.bench.records import Record
from becbo.bench.run import execute
from becbo.problems import get

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
several = importlib.import_module("several")


def short(label: str, problem: str, end: float) -> object:
    return several.Short(label, problem, end, 0.5, several.np.array([0.1, 0.2]))


def made_run(label: str, problem: str, n: int, seed: int = 0) -> Record:
    """A run whose first design is feasible, and none after it."""
    m = len(get(problem).objective_names)
    y = (8.0 if m == 1 else (8.0,) * m, *[None] * (n - 1))
    return Record(make_run(problem, label, seed=seed, budget=n), y=y, seconds=(0.5,) * (n - 10))


def test_tools_are_compared_on_the_problems_that_all_have_run() -> None:
    runs = [short("edge", "bnh", 0.9), short("edge", "srn", 0.1), short("ax", "bnh", 0.95)]
    assert several.problems_of_all(runs) == ["bnh"]
    best, second = several.standings(runs, ["bnh"])
    assert (best.label, best.mean, best.n_problems) == ("ax", 0.95, 1)
    assert (second.label, second.mean) == ("edge", 0.9)


def test_less_regret_is_better() -> None:
    runs = [short("edge", "lsq", -3.0), short("ax", "lsq", -1.0)]
    assert [s.label for s in several.standings(runs, ["lsq"])] == ["edge", "ax"]


def test_long_runs_are_cut_to_the_length_of_short_ones() -> None:
    record = execute(make_run("bnh", "sobol", budget=60))
    (whole,) = several.short_runs("pareto", [record])
    cut = replace(record, y=record.y[:30], seconds=record.seconds[:20])
    (same,) = several.short_runs("pareto", [cut])
    assert (whole.end, whole.infeasible) == (same.end, same.infeasible)
    assert len(whole.seconds) == 20


def test_only_the_seed_and_length_that_all_tools_have() -> None:
    records = [made_run("ax", "bnh", 30, seed=1), made_run("ax", "bnh", 20)]
    assert several.short_runs("pareto", records) == []


def test_a_tool_with_more_problems_is_compared_with_ours_on_them() -> None:
    records = [made_run(label, p, 30) for label in ("edge", "ax") for p in ("bnh", "srn")]
    records += [made_run("smac", "bnh", 30)]
    rows = several.tools_table("pareto", records).rows
    problems = {row[0]: row[4] for row in rows}
    assert problems == {"edge": "2", "ax": "2", "smac": "1"}
    ax = next(row for row in rows if row[0] == "ax")
    assert ax[2] == "100%" and ax[5] == ax[6]


def test_whole_runs_have_every_problem_and_every_evaluation() -> None:
    problems = several.SUITES["pareto"].problems
    records = [made_run("edge", problem, 100) for problem in problems]
    records += [made_run("smac", problem, 100) for problem in problems[1:]]
    records += [made_run("ax", problem, 30) for problem in problems]
    assert {r.run.label for r in several.whole_runs("pareto", records)} == {"edge"}


@pytest.mark.parametrize("suite", several.OUTPUTS)
def test_every_suite_has_its_tables_and_its_figure(suite: str, tmp_path: Path) -> None:
    problems = several.SUITES[suite].problems
    ours = several.SUITES[suite].variants[0].label
    records = [made_run(ours, problem, 100) for problem in problems]
    records += [made_run("smac", problem, 30) for problem in problems[:2]]
    text = several.text(suite, records, several.draw(suite, records, tmp_path))
    assert f"2 problems that all of them have run ({problems[0]}, {problems[1]})" in text
    assert f"| `{ours}` on them |" in text and f"({suite}-tools.png)" in text
    assert (tmp_path / f"{suite}-tools.png").stat().st_size < 80_000
