"""`becbo worker` in real processes: what each of them executed, and what the study says."""

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import optuna
import pytest
from commands import Done
from optuna.storages import JournalStorage
from optuna.trial import FrozenTrial

from becbo.optuna import lost_numbers, open_storage, result_of

# Each process notes what it began. While there is a file `hold`, a trial does not end.
OBJECTIVE = """
import os, time
from pathlib import Path
import becbo

class Diverged(Exception):
    pass

def run(trial):
    x = trial.suggest_float("x", 0, 1)
    y = trial.suggest_float("y", 0, 1)
    with open(f"began-{os.getpid()}", "a") as log:
        print(trial.number, file=log)
    while Path("hold").exists():
        time.sleep(0.02)
    THEN
    if x + y < 0.4:
        raise becbo.Infeasible("too small")
    return x + y
"""


class Workers:
    """Starts workers in a folder and reads what they left there."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        self._started: list[subprocess.Popen[str]] = []
        self.then("pass")

    def then(self, *statements: str) -> None:
        """What a trial does at the end."""
        text = OBJECTIVE.replace("THEN", "\n    ".join(statements))
        (self.folder / "simulation.py").write_text(text)

    def hold(self) -> None:
        (self.folder / "hold").touch()

    def release(self) -> None:
        (self.folder / "hold").unlink()

    def start(self, *options: str, before: str = "") -> "subprocess.Popen[str]":
        """Starts a worker; `before` is Python that its process runs first."""
        program = f"{before}\nfrom becbo.cli import main; main()"
        command = ["-c", program, "worker", "--storage", self.where]
        command += ["--study", "s", "--objective", "simulation:run", "--seed", "0", *options]
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def end(self, process: "subprocess.Popen[str]") -> Done:
        out, err = process.communicate(timeout=300)
        return Done(process.returncode, out, err)

    def run(self, *options: str) -> Done:
        return self.end(self.start(*options))

    @cached_property
    def study(self) -> optuna.Study:
        storage = open_storage(self.where, heartbeat=None)
        return optuna.create_study(storage=storage, study_name="s", load_if_exists=True)

    @property
    def trials(self) -> list[FrozenTrial]:
        return self.study.trials

    @property
    def lost(self) -> frozenset[int]:
        return lost_numbers(self.study)

    def executed(self) -> Counter[int]:
        logs = [log.read_text().split() for log in self.folder.glob("began-*")]
        return Counter(int(number) for log in logs for number in log)

    def wait_until_begun(self, process: "subprocess.Popen[str]", n: int = 1) -> None:
        log = self.folder / f"began-{process.pid}"
        wait_until(lambda: log.exists() and len(log.read_text().split()) >= n, process)

    def interrupt(self, process: "subprocess.Popen[str]", number: int = signal.SIGINT) -> None:
        """Send a signal and wait until it is answered."""
        assert process.stderr is not None
        process.send_signal(number)
        answer = process.stderr.readline() + process.stderr.readline()
        assert "stopping after the trial under way" in answer

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()
        if "study" in vars(self) and not isinstance(self.study._storage, JournalStorage):
            self.study._storage._backend.engine.dispose()  # type: ignore[attr-defined]


def wait_until(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    for _ in range(6000):
        if condition():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("it did not happen within two minutes")


def on(*places: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("workers", places, indirect=True)


def outcomes(trials: list[FrozenTrial]) -> list[str]:
    return [result_of(trial).outcome.value for trial in trials]
