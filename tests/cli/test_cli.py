"""The command line as a user meets it."""

import csv
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Done

from becbo import METHODS
from becbo.campaign.campaign import Campaign
from becbo.campaign.store import campaign_names
from becbo.cli.demo import SNIPPET
from becbo.problems import PROBLEMS, get


def test_help_is_light() -> None:
    code = (
        "import sys; from becbo.cli import main; sys.argv = ['becbo', '--help']\n"
        "try: main()\n"
        "except SystemExit: print('MODULES', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    text, _, modules = done.stdout.partition("MODULES")
    assert "becbo demo" in text
    assert {"scipy", "matplotlib", "torch"} & set(modules.split()) == set()


@pytest.mark.parametrize("command", ["demo", "problems", "methods"])
def test_every_help_has_an_example(command: str, becbo: Callable[..., Done]) -> None:
    done = becbo(command, "--help")
    assert done.code == 0
    assert "Example: becbo demo" in done.out


def test_version(becbo: Callable[..., Done]) -> None:
    assert becbo("--version") == Done(0, "0.1.0\n", "")


def test_problems_lists_all(becbo: Callable[..., Done]) -> None:
    done = becbo("problems")
    assert all(f"{name} " in done.out for name in PROBLEMS)
    assert "2.445398" in done.out  # the welded beam's optimum


def test_methods_lists_all(becbo: Callable[..., Done]) -> None:
    done = becbo("methods")
    assert all(f"{name} " in done.out for name in METHODS)


def test_demo_reports_and_writes_its_files(becbo: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/runs.csv").write_text("of an earlier run")
    done = becbo("demo", "--evaluations", "14", "--out", "a/b", "--problem", "welded_beam")
    assert done.code == 0
    assert all(f"  {name} " in done.out for name in get("welded_beam").space.names)
    for words in ("best possible", "2.4454", "distance to it", "of 14", "README"):
        assert words in done.out
    for path in ("a/b/becbo.db", "a/b/runs.csv", "a/b/progress.png", "a/b/report.html"):
        assert path in done.out
    assert SNIPPET.splitlines()[0] in done.out
    assert (tmp_path / "a/b/progress.png").read_bytes().startswith(b"\x89PNG")
    check_runs(tmp_path / "a/b/runs.csv")
    again = becbo("demo", "--evaluations", "2", "--out", "a/b")
    assert again.code == 0, again.err
    assert campaign_names(tmp_path / "a/b/becbo.db") == ["speed_reducer", "welded_beam"]


def test_what_the_demo_prints_can_be_run(becbo: Callable[..., Done], tmp_path: Path) -> None:
    """Also after a second demo in the same folder, and without anything on the path."""
    out = tmp_path / "becbo demo"
    for _ in range(2):
        done = becbo("demo", "--evaluations", "3", "--out", str(out))
        assert done.code == 0, done.err
    lines = [line.strip() for line in done.out.splitlines()]
    commands = [line for line in lines if " status --file" in line or "my_problem.py" in line]
    assert len(commands) == 2
    (out / "my_problem.py").write_text("print('mine')")
    becbo("demo", "--evaluations", "1", "--out", str(out))
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60,
            env={**os.environ, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert done.stdout == "mine\n"


def check_runs(path: Path) -> None:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["number"] for row in rows] == [str(i) for i in range(14)]
    problem = get("welded_beam")
    for row in rows:
        params = {name: float(row[name]) for name in problem.space.names}
        worked = problem.feasible([[*params.values()]])[0]
        if worked:
            assert (row["outcome"], row["reason"]) == ("ok", "")
            assert float(row["value"]) == problem(params)
        else:
            assert (row["outcome"], row["value"]) == ("failed", "")
            assert row["reason"].startswith("violated")
    assert 0 <= float(rows[-1]["believed chance"]) <= 1  # the models had spoken by then


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--problem", "warp_drive"], "warp_drive"),
        (["--method", "magic"], "magic"),
        (["--evaluations", "0"], "evaluations"),
        (["--out", "taken"], "taken"),
    ],
)
def test_bad_input(
    arguments: list[str], named: str, becbo: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    done = becbo("demo", *arguments)
    assert (done.code, done.out) == (2, "")
    assert named in done.err
    assert (tmp_path / "taken").read_text() == "a file"


def test_ctrl_c_still_reports(
    becbo: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter([1.0, 0.9])

    def objective(X: list[list[float]]) -> list[float]:
        for value in values:
            return [value]
        raise KeyboardInterrupt

    stopped = replace(get("lsq"), objective_formula=objective)
    monkeypatch.setattr("becbo.cli.demo.get_single", lambda name: stopped)
    done = becbo("demo")
    assert done.code == 130
    assert "Stopped early" in done.out
    assert "best possible" in done.out
    assert ",0.9," in (tmp_path / "becbo-demo/runs.csv").read_text()


def test_nothing_worked(becbo: Callable[..., Done], monkeypatch: pytest.MonkeyPatch) -> None:
    lsq = get("lsq")
    hopeless = replace(lsq, slack_formulas=lambda X: {"never": -1.0 - X[:, 0]})
    monkeypatch.setattr("becbo.cli.demo.get_single", lambda name: hopeless)
    done = becbo("demo", "--evaluations", "3")
    assert done.code == 0
    assert "None of the 3 designs worked" in done.out


def test_without_matplotlib(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "sys.argv = ['becbo', 'demo', '--evaluations', '2']\n"
        "from becbo.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "pip install 'becbo[bench]'" in done.stdout
    assert (tmp_path / "becbo-demo/runs.csv").exists()


def test_the_snippet_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(SNIPPET, "snippet", "exec"), {"__name__": "snippet"})
    assert "pressure" in capsys.readouterr().out


def test_new_asks_how_numbers_can_be_set(
    becbo: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        *("etch", "depth", "nm", "large", ""),
        *("acid", "n", "mol/l", "0,01 mol/l", "1", "", "yes"),
        *("heat", "n", "°C", "20 °C", "80", "wide"),  # asked again
        *("5 °C",),
        *("bias", "n", "V", "-200", "0", ""),
        *("time", "n", "h", "1", "9", "100"),  # too wide: the parameter is asked for again
        *("time", "n", "h", "1", "9", "", "no"),
        *("baths", "w", "", "1", "4"),
        *("", "", "40", "yes", "", "", "", "yes"),
    ]
    monkeypatch.delenv("BECBO_FILE", raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(answers)))
    done = becbo("new")
    assert (done.code, done.err) == (0, "")
    described = Campaign.open(tmp_path / "becbo.db").description
    assert described.settings.noisy
    assert [parameter.allowed for parameter in described.parameters] == [
        "0.01 to 1 mol/l, on a logarithmic scale",
        "20 to 80 °C, in steps of 5",
        "-200 to 0 V",
        "1 to 9 h",
        "1 to 4, whole numbers",
    ]
    assert "  'wide' is not a number" in done.out
    assert "time: step 100.0 must be positive and at most 8.0" in done.out
    assert done.out.count("Do factors matter") == 2  # not for steps, whole numbers and below zero
    assert "such as the risk" in done.out
