"""`becbo bench` as a user meets it: real processes, real files."""

import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from commands import Done

from becbo.bench.records import read

COMMAND = [sys.executable, "-c", "from becbo.cli import main; main()", "bench", "run"]


@pytest.fixture
def bench(becbo: Callable[..., Done]) -> Callable[..., Done]:
    """Runs `becbo bench`."""
    return partial(becbo, "bench")


SMALL = ["--methods", "sobol", "--problems", "lsq,spring", "--budget", "12", "--out", "records"]


def test_run_status_table(bench: Callable[..., Done]) -> None:
    done = bench("run", *SMALL, "--seeds", "2")
    assert done.code == 0, done.err
    assert "4 runs, 0 of them" in done.out
    assert "4/4 spring, sobol, seed 1: best 0.0" in done.out
    assert "not known yet" not in done.out.splitlines()[2]
    before = {path: path.read_bytes() for path in Path("records").glob("*/*.jsonl.xz")}
    assert len(before) == 2

    assert "4 runs, 4 of them" in bench("run", *SMALL, "--seeds", "2").out
    more = bench("run", *SMALL, "--seeds", "1", "--first-seed", "2")
    assert "2 runs, 0 of them" in more.out
    assert all(path.read_bytes().startswith(text) for path, text in before.items())

    status = bench("status", "records")
    assert status.code == 0
    assert "6 runs finished, 0 missing" in status.out
    assert [line.split() for line in status.out.splitlines()[1:3]] == [
        ["lsq", "sobol", "3", "0", "0"],
        ["spring", "sobol", "3", "0", "0"],
    ]
    shown = bench("table", "records")
    assert "log10 regret @12" in shown.out
    assert "2 of 2 problems" in shown.out
    lines = bench("table", "records", "--markdown").out.splitlines()
    assert lines[2].startswith("| lsq | sobol | 3 | 0.599788 | ")
    assert lines[-1].startswith("| **mean** | sobol | 2 of 2 problems |")
    report = bench("report", "records")
    assert report.out == f"Done: {Path('records/report/report.md')}\n", report.err
    assert Path("records/report/figures/paper-best.png").exists()
    assert "6 runs finished, 0 missing" in bench("status", "records").out  # it adds no record


def test_an_error_is_recorded_and_reported_and_the_rest_goes_on(
    bench: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: object, budget: int) -> None:
        raise ZeroDivisionError("one of [these] days")

    with monkeypatch.context() as patch:
        patch.setattr("becbo.bench.run.make_proposer", broken)
        done = bench("run", *SMALL, "--seeds", "1")
    assert done.code == 1
    assert "2 runs ended in an error" in done.out
    assert "spring, sobol, seed 0: ZeroDivisionError: one of [these] days" in done.out
    assert "Traceback" in done.out
    assert "Done" not in done.out
    status = bench("status", "records")
    assert "0 runs finished, 2 missing" in status.out
    assert "ZeroDivisionError" in status.out
    table = bench("table", "records")
    assert table.code == 2
    assert "2 runs ended in an error and are left out; `becbo bench status records`" in table.err
    assert bench("run", *SMALL, "--seeds", "1").code == 0  # what failed is repeated
    assert "2 runs finished, 0 missing" in bench("status", "records").out


def test_a_line_cut_short_is_mentioned(bench: Callable[..., Done]) -> None:
    bench("run", *SMALL, "--seeds", "1")
    path = Path("records/lsq/sobol.jsonl.xz")
    path.write_bytes(path.read_bytes()[:100])
    done = bench("status", "records")
    assert "sobol.jsonl.xz, line 1 is cut short" in done.out
    assert "1 run is missing" in done.out
    done = bench("run", *SMALL, "--seeds", "1")
    assert "cut short" in done.out
    assert "2 runs, 1 of them" in done.out
    table = bench("table", "records", "--markdown")
    assert "cut short" in table.err  # not in the table
    assert len(table.out.splitlines()) == 5


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--suite", "nonsense", "--out", "records"], "nonsense"),
        (["run", "--methods", "nonsense", "--out", "records"], "nonsense"),
        (["run", "--problems", "nonsense", "--out", "records"], "nonsense"),
        (["run", "--protocol", "nonsense", "--out", "records"], "nonsense"),
        (["run", "--methods", "sobol", "--backend", "nonsense", "--out", "records"], "nonsense"),
        (["run", "--methods", "sobol", "--out", "taken"], "taken"),
        (["run"], "--out"),
        (["status", "nowhere"], "nowhere"),
        (["table", "nowhere"], "nowhere"),
    ],
)
def test_bad_input(
    arguments: list[str], named: str, bench: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    done = bench(*arguments)
    assert done.code == 2
    assert named in done.err
    assert "Traceback" not in done.err


def test_other_settings_in_the_same_folder(bench: Callable[..., Done]) -> None:
    bench("run", *SMALL, "--seeds", "1")
    done = bench("run", *SMALL, "--seeds", "1", "--protocol", "honest")
    assert done.code == 2
    assert "'authors'" in done.err
    assert "0 missing" in bench("status", "records").out


@pytest.mark.parametrize("command", ["run", "status", "table", "suites"])
def test_every_help_has_an_example(command: str, bench: Callable[..., Done]) -> None:
    done = bench(command, "--help")
    assert done.code == 0
    assert "Example: becbo bench" in done.out


def test_suites_are_listed(bench: Callable[..., Done]) -> None:
    out = bench("suites").out
    assert "ablation-lr" in out
    assert "be-cbo-code-lr-3e-5" in out


SLOW = ["--methods", "edge", "--problems", "lsq", "--seeds", "5", "--budget", "18"]


def start(out: Path) -> subprocess.Popen[str]:
    """A run in a process group of its own, returned when its first record is there."""
    process = subprocess.Popen(
        [*COMMAND, *SLOW, "--jobs", "2", "--out", str(out)],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for _ in range(3000):
        path = out / "lsq" / "edge.jsonl.xz"
        if path.exists() and path.stat().st_size:  # it is there a moment before its first line
            return process
        assert process.poll() is None, process.stdout and process.stdout.read()
        time.sleep(0.01)
    raise AssertionError("no record within 30 seconds")


def wait_until_gone(group: int) -> None:
    for _ in range(1200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("processes are left behind")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_kill_9_loses_only_what_is_under_way(bench: Callable[..., Done], tmp_path: Path) -> None:
    process = start(tmp_path)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=10) == -signal.SIGKILL
    wait_until_gone(process.pid)  # workers do not outlive it
    process.communicate()

    path = tmp_path / "lsq" / "edge.jsonl.xz"
    before, kept = path.read_bytes(), read(tmp_path)
    assert 1 <= len(kept.records) < 5
    assert kept.complaints == ()
    assert f"{5 - len(kept.records)} missing" in bench("status", ".").out
    assert bench("run", *SLOW, "--out", ".").code == 0
    assert path.read_bytes().startswith(before)
    assert lzma.decompress(path.read_bytes()).count(b"\n") == 5  # nothing twice
    assert sorted(r.run.seed for r in read(tmp_path).records) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_says_how_to_continue(tmp_path: Path) -> None:
    process = start(tmp_path)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "The same command continues" in out
    assert "Traceback" not in out
    wait_until_gone(process.pid)
    assert 1 <= len(read(tmp_path).records) < 5
