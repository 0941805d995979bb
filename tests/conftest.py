"""Runs before any test imports numpy."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Done

# One thread per process: the test workers already use every core.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

# Whoever runs the tests in the background of a script makes them deaf to Ctrl-C, and what they
# start as well; some tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def becbo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Runs the command in `tmp_path`, on a wide and colourless terminal."""
    from becbo.cli import main

    monkeypatch.chdir(tmp_path)
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["becbo", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return Done(int(end.value.code or 0), *capsys.readouterr())

    return run
