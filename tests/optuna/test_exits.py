"""Exit codes of real programs, and the words of clusters."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from becbo.errors import InvalidInput
from becbo.optuna import exit_outcome
from becbo.trial import Outcome

OK, FAILED, LOST = Outcome.OK, Outcome.FAILED, Outcome.LOST


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("pass", OK),
        ("raise SystemExit(1)", FAILED),
        ("raise MemoryError", FAILED),
        ("os.abort()", FAILED),
        ("os.kill(os.getpid(), signal.SIGSEGV)", FAILED),
        ("os.kill(os.getpid(), signal.SIGKILL)", LOST),
        ("os.kill(os.getpid(), signal.SIGTERM)", LOST),
    ],
)
@pytest.mark.parametrize("shell", [False, True])
def test_real_programs(end: str, outcome: Outcome, shell: bool) -> None:
    command = [sys.executable, "-c", f"import os, signal; {end}"]
    if shell:  # which makes 128 + n of signal n
        command = ["sh", "-c", '"$@"; exit $?', "sh", *command]
    assert exit_outcome(subprocess.run(command, capture_output=True).returncode) is outcome


def test_a_program_that_is_not_there() -> None:
    assert exit_outcome(subprocess.run(["sh", "-c", "no-such-solver"]).returncode) is LOST


@pytest.mark.parametrize(
    ("code", "state", "outcome"),
    [
        (0, "COMPLETED", OK),
        (1, "FAILED", FAILED),
        (125, "OUT_OF_MEMORY", FAILED),
        (137, "OOMKilled", FAILED),
        (137, "Error", LOST),
        (0, "TIMEOUT", FAILED),
        (143, "PREEMPTED", LOST),
        (1, "CANCELLED by 1000", LOST),
        (137, "OUT_OF_ME+", FAILED),
        (1, "CANCELLED+", LOST),
        (0, "CANCELLED+", LOST),
        (1, "NODE_FAIL", LOST),
        (137, "Evicted", LOST),
        (139, "Error", FAILED),
        (0, "Completed", OK),
        (0, " ", OK),
        (1, None, FAILED),
    ],
)
def test_words_of_clusters(code: int, state: str | None, outcome: Outcome) -> None:
    assert exit_outcome(code, state) is outcome


@given(st.integers(-(2**31), 2**31), st.text())
def test_every_code_has_an_outcome(code: int, state: str) -> None:
    assert exit_outcome(code, state) in (OK, FAILED, LOST)


def test_what_is_no_code_or_state() -> None:
    with pytest.raises(InvalidInput, match="exit code None must be a whole number"):
        exit_outcome(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="state b'TIMEOUT' must be a string"):
        exit_outcome(1, b"TIMEOUT")  # type: ignore[arg-type]
