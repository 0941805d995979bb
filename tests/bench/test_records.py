"""Records survive what happens to files."""

import lzma
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from bench.sample import make_record, make_run

from becbo import InvalidInput
from becbo.bench.lines import append_line
from becbo.bench.plan import Variant, make_plan
from becbo.bench.records import PLANS, Record, missing, read, read_plans, write, write_plan


def test_what_is_written_is_read(tmp_path: Path) -> None:
    records = [
        make_record(make_run(problem, label, seed, options={"n_networks": 3}))
        for problem in ("lsq", "spring")
        for label in ("edge", "sobol")
        for seed in range(2)
    ]
    for record in records:
        write(tmp_path, record)
    reading = read(tmp_path)
    assert sorted(reading.records, key=lambda r: r.run.key) == records
    assert reading.complaints == ()
    assert len(list(tmp_path.glob("*/*.jsonl.xz"))) == 4


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path).records == read(tmp_path / "absent").records == ()
    assert read_plans(tmp_path, []) == []


def test_a_file_may_be_cut_anywhere(tmp_path: Path) -> None:
    path, ends = tmp_path / "lsq" / "edge.jsonl.xz", [0]
    for seed in range(3):
        write(tmp_path, make_record(make_run(seed=seed)))
        ends.append(path.stat().st_size)
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        reading = read(tmp_path)
        n_whole = sum(0 < end <= cut for end in ends)
        assert [r.run.seed for r in reading.records] == list(range(n_whole))
        assert len(reading.complaints) == (cut not in ends)
        assert all("cut short" in c and "edge.jsonl" in c for c in reading.complaints)


def test_any_damaged_byte_costs_at_most_one_record(tmp_path: Path) -> None:
    path, ends = tmp_path / "lsq" / "edge.jsonl.xz", []
    for seed in range(3):
        write(tmp_path, make_record(make_run(seed=seed)))
        ends.append(path.stat().st_size)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        reading = read(tmp_path)
        lost = sum(end <= place for end in ends)
        assert [r.run.seed for r in reading.records] == [s for s in range(3) if s != lost]
        assert len(reading.complaints) >= 1


def test_adding_a_record_leaves_the_bytes_before_it_alone(tmp_path: Path) -> None:
    write(tmp_path, make_record(make_run(seed=0)))
    (path,) = tmp_path.glob("*/*.jsonl.xz")
    before = path.read_bytes()
    write(tmp_path, make_record(make_run(seed=1)))
    after = path.read_bytes()
    assert after.startswith(before)
    write(tmp_path / "again", make_record(make_run(seed=0)))
    write(tmp_path / "again", make_record(make_run(seed=1)))
    assert (tmp_path / "again" / "lsq" / path.name).read_bytes() == after  # no clock in it
    assert len(lzma.decompress(after).splitlines()) == 2


def test_writing_goes_on_after_a_line_cut_short(tmp_path: Path) -> None:
    for seed in range(2):
        write(tmp_path, make_record(make_run(seed=seed)))
    path = tmp_path / "lsq" / "edge.jsonl.xz"
    path.write_bytes(path.read_bytes()[:-40])
    runs = [make_run(seed=seed) for seed in range(3)]
    assert missing(runs, read(tmp_path).records) == runs[1:]
    for run in runs[1:]:
        write(tmp_path, make_record(run))
    reading = read(tmp_path)
    assert missing(runs, reading.records) == []
    assert len(reading.records) == 3
    assert "line 2" in reading.complaints[0]


def test_bytes_that_are_no_text_are_cut_short_as_well(tmp_path: Path) -> None:
    (tmp_path / "lsq").mkdir()
    (tmp_path / "lsq" / "edge.jsonl.xz").write_bytes(b"\x00\xff\x00\n")
    assert len(read(tmp_path).complaints) == 1


def test_a_line_that_is_no_record_is_named_and_ignored(tmp_path: Path) -> None:
    write(tmp_path, make_record(make_run()))
    (path,) = tmp_path.glob("*/*.jsonl.xz")
    append_line(path, {"run": {}})
    reading = read(tmp_path)
    assert reading.records == (make_record(make_run()),)
    assert "is not a record and is ignored: KeyError" in reading.complaints[0]


def test_a_damaged_plan_is_named(tmp_path: Path) -> None:
    plan = make_plan("interior", seeds=range(1))
    write_plan(tmp_path, plan)
    path = tmp_path / PLANS
    path.write_text(path.read_text() + path.read_text()[:40])
    complaints: list[str] = []
    assert read_plans(tmp_path, complaints) == [plan]
    assert "line 2 is cut short" in complaints[0]


@pytest.mark.parametrize("change", [{"protocol": "honest", "label": "other"}])
def test_runs_that_cannot_be_compared_need_another_folder(
    tmp_path: Path, change: dict[str, object]
) -> None:
    write(tmp_path, make_record(make_run()))
    other = replace(make_run(seed=7), **change)
    with pytest.raises(InvalidInput, match=f"{next(iter(change))}.*another folder"):
        missing([other], read(tmp_path).records)


def test_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lsq").mkdir()
    (tmp_path / "lsq" / "edge.jsonl.xz").write_bytes(lzma.compress(b'{"format": 99}\n'))
    with pytest.raises(InvalidInput, match=r"edge.jsonl.xz, line 1"):
        read(tmp_path)


def test_a_failed_run_is_missing_until_it_succeeds(tmp_path: Path) -> None:
    run = make_run()
    write(tmp_path, Record(run, error="ZeroDivisionError"))
    assert missing([run], read(tmp_path).records) == [run]
    write(tmp_path, make_record(run))
    write(tmp_path, Record(run, error="too late to matter"))
    assert missing([run], read(tmp_path).records) == []
    assert read(tmp_path).records == (make_record(run),)


@pytest.mark.parametrize("change", [{"protocol": "honest"}, {"options": {"n_steps": 1}}])
def test_other_settings_need_another_folder(tmp_path: Path, change: dict[str, object]) -> None:
    write(tmp_path, make_record(make_run()))
    with pytest.raises(InvalidInput, match=f"{next(iter(change))}.*another folder"):
        missing([replace(make_run(), **change)], read(tmp_path).records)


def test_a_run_with_fewer_evaluations_is_missing_and_the_longest_counts(tmp_path: Path) -> None:
    short, long = (make_run(budget=n) for n in (12, 20))
    write(tmp_path, make_record(short))
    assert missing([long], read(tmp_path).records) == [long]
    write(tmp_path, make_record(long))
    write(tmp_path, make_record(short))
    (record,) = read(tmp_path).records
    assert record.run.budget == 20
    assert missing([short, long], [record]) == []


def test_plans_are_remembered_once(tmp_path: Path) -> None:
    plans = [make_plan("interior", seeds=range(n)) for n in (1, 2)]
    plans.append(replace(plans[0], variants=(Variant("a", "be-cbo", {"n_networks": 2}),)))
    for plan in [*plans, *plans]:
        write_plan(tmp_path, plan)
    assert read_plans(tmp_path, []) == plans


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from bench.sample import make_record, make_run\n"
        "from becbo.bench.records import write\n"
        "for seed in range(int(sys.argv[3]), int(sys.argv[3]) + 50):\n"
        "    write(Path(sys.argv[2]), make_record(make_run(seed=seed), [1.5] * 200))"
    )
    tests = str(Path(__file__).parents[1])
    writers = [
        subprocess.Popen([sys.executable, "-c", code, tests, str(tmp_path), first])
        for first in ("0", "50")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    reading = read(tmp_path)
    assert sorted(r.run.seed for r in reading.records) == list(range(100))
    assert reading.complaints == ()
