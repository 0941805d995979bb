"""The report on a small folder, made for real."""

import re
from pathlib import Path

import pytest
from bench.sample import make_record, make_run

from becbo.bench.plan import make_plan
from becbo.bench.records import Record
from becbo.bench.report import write_report
from becbo.bench.run import execute
from becbo.errors import InvalidInput


@pytest.fixture(scope="module")
def records() -> list[Record]:
    plan = make_plan("paper", ["edge", "sobol"], ["lsq", "spring"], range(2), budget=14)
    return [execute(run) for run in plan.runs()]


def test_report_has_every_figure_and_number(records: list[Record], tmp_path: Path) -> None:
    steps: list[str] = []
    page = write_report(records, tmp_path / "new" / "report", note=steps.append)
    text = page.read_text()
    shown = re.findall(r"\]\((figures/[^)]+)\)", text)
    assert [Path(name).stem for name in shown] == [
        f"paper-{what}" for what in ("best", "regret", "feasible", "seconds", "targets", "ranks")
    ]
    for name in shown:
        assert (page.parent / name).stat().st_size > 1000
        assert (page.parent / name).with_suffix(".svg").exists()
    assert "- edge: 2 seeds, 14 evaluations" in text
    assert "Protocol: authors." in text
    assert "| **wins / ties / losses** |" in text
    assert "section paper" in steps


def test_report_without_runs(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="becbo bench run"):
        write_report([Record(make_run(), error="x")], tmp_path)


def test_report_where_nothing_worked(tmp_path: Path) -> None:
    runs = [make_run("lsq", label, budget=12) for label in ("edge", "cei")]
    text = write_report([make_record(run, [None] * 12) for run in runs], tmp_path).read_text()
    assert "inf (inf)" not in text
    assert "| lsq | never (never) | never (never) |" in text


def test_report_of_one_method_compares_nothing(tmp_path: Path) -> None:
    text = write_report([make_record(make_run())], tmp_path).read_text()
    assert "against the others" not in text
