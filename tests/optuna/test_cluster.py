"""The recipes for clusters, run on this machine: a gRPC proxy, a SLURM script, a Kubernetes job."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest
import yaml
from optuna.trial import TrialState

from becbo.optuna import open_storage, result_of
from becbo.optuna.beliefs import proposal_of
from becbo.search.choice import AGAIN
from becbo.trial import Outcome

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the objective of the examples."""
    shutil.copy(EXAMPLES / "cluster" / "simulation.py", tmp_path)
    return tmp_path


@pytest.fixture
def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
    return {**kept, "PATH": path, "BECBO_STORAGE": "study.db"}


def trials(folder: Path, name: str) -> list[optuna.trial.FrozenTrial]:
    storage = open_storage(folder / "study.db", heartbeat=None)
    return optuna.load_study(study_name=name, storage=storage).trials


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[int]:
    pytest.importorskip("grpc", reason="grpcio is not installed: pip install grpcio protobuf")
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "grpc_workers.py"), "serve", "study.db", str(port)],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    yield port
    server.kill()
    server.wait()


def test_four_workers_behind_a_grpc_proxy(proxy: int, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "grpc_workers.py"), "work", str(proxy), "16"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    ended = [worker.communicate(timeout=240) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, ended
    done = trials(tmp_path, "grpc")
    assert 16 <= len(done) <= 19  # each worker may have started one when the last one ended
    assert all(trial.state.is_finished() for trial in done)
    repeats = [p for p in map(proposal_of, done) if p is not None and p.origin == AGAIN]
    assert len({tuple(t.params.values()) for t in done}) == len(done) - len(repeats)
    assert {result_of(t).outcome for t in done} == {Outcome.OK, Outcome.FAILED}


def test_a_slurm_script_finishes_its_trial_when_it_is_told_to_stop(
    folder: Path, environment: dict[str, str]
) -> None:
    script = str(EXAMPLES / "cluster" / "slurm_array.sh")
    worker = subprocess.Popen(
        ["bash", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    first = worker.stdout.readline()
    assert first.startswith("1/400 trial 0: ")
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=120)
    assert worker.returncode == 128 + signal.SIGTERM  # which Kubernetes ignores, see its manifest
    assert TrialState.RUNNING not in {trial.state for trial in trials(folder, "wing")}


def test_the_command_of_the_kubernetes_job(folder: Path, environment: dict[str, str]) -> None:
    job = yaml.safe_load((EXAMPLES / "cluster" / "kubernetes_job.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert {entry["name"] for entry in container["env"]} == {
        "OPENBLAS_NUM_THREADS", "BECBO_STORAGE"
    }  # fmt: skip
    command = [*container["command"], *container["args"]]
    command[command.index("--trials") + 1] = "9"  # too few to announce a repeat of a failure
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stderr) == (0, "")
    results = [result_of(trial) for trial in trials(folder, "wing")]
    assert {result.outcome for result in results} == {Outcome.OK, Outcome.FAILED}
    reasons = {result.reason for result in results if result.outcome is Outcome.FAILED}
    assert reasons == {f"exit code {-signal.SIGABRT}"}  # the solver crashed


@pytest.mark.parametrize(
    ("stderr", "outcome"),
    [
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0", Outcome.FAILED),
        ("slurmstepd: error: *** STEP 7.0 CANCELLED AT NOW DUE TO TIME LIMIT ***", Outcome.FAILED),
        ("slurmstepd: error: *** STEP 7.0 CANCELLED AT NOW DUE TO PREEMPTION ***", Outcome.LOST),
        ("srun: error: node7: task 0: Killed", Outcome.LOST),
    ],
)
def test_what_srun_says(
    stderr: str, outcome: Outcome, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in place of srun ends as srun does; there is no SLURM here."""
    fake = folder / "srun"
    fake.write_text(f"#!/bin/sh\necho '{stderr}' >&2\nexit 137\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "simulation", raising=False)
    from simulation import run

    study = optuna.create_study()
    study.optimize(run, n_trials=1, catch=(Exception,))
    lost = {t.number for t in study.trials if t.user_attrs.get("becbo:outcome") == "lost"}
    assert result_of(study.trials[0], lost).outcome is outcome
