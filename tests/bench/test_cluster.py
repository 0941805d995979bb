"""Runs on a real cluster, where the packages for one are installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from becbo.bench.records import read


@pytest.mark.parametrize(("backend", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_a_local_cluster(backend: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    arguments = ["--methods", "sobol", "--problems", "lsq", "--seeds", "3", "--budget", "12"]
    command = [sys.executable, "-c", "from becbo.cli import main; main()", "bench", "run"]
    done = subprocess.run(
        [*command, *arguments, "--backend", backend, "--jobs", "2", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(r.run.seed for r in read(tmp_path).records if r.is_finished) == [0, 1, 2]
