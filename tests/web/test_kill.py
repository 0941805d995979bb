"""A server that is killed while people record loses nothing that it has acknowledged."""

import multiprocessing
import random
import shutil
import socket
import sqlite3
import threading
import time
from pathlib import Path

import httpx2 as httpx
import pytest
from web.lab import TOKEN, run_server

from becbo.campaign.campaign import Campaign
from becbo.campaign.runs import Run
from becbo.trial import PENDING, Result

N_KILLS = 20
GLUE = {
    "name": "glue",
    "objectives": {"strength": {"direction": "maximize"}, "ph": {"target": 7}},
    "limits": {"viscosity": {"upper": 200}},
    "parameters": {"time": {"low": 0, "high": 1}},
}
N_PENDING = 12

# Real processes, but what they import is there already when they are forked.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["becbo.web.app", "uvicorn", "web.lab"])


def entries() -> list[tuple[str, Result]]:
    """What is written one after the other: pending runs get results, and run 0 is corrected."""
    written = []
    for i in range(N_PENDING):
        values = {"strength": float(i), "ph": None if i % 4 == 1 else i / 2, "viscosity": i + 90.0}
        measured = {"strength": None, "ph": None, "viscosity": i + 300.0}
        result = Result.failed(f"try {i}", measured) if i % 3 == 2 else Result.ok(values)
        written += [(f"{i}/record", result), ("0/correct", result)]
    return written


def body(result: Result) -> dict[str, object]:
    values = dict(result.values)
    return {"failed": result.reason, "measured": values} if result.reason else {"value": values}


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with pending runs and several outputs."""
    where = tmp_path_factory.mktemp("waiting") / "lab.db"
    campaign = Campaign.create(GLUE, where)
    for i in range(N_PENDING):
        campaign.plan({"time": i / N_PENDING})
    return where


@pytest.mark.parametrize("seed", range(N_KILLS))
def test_what_was_acknowledged_is_there(waiting: Path, tmp_path: Path, seed: int) -> None:
    where = Path(shutil.copy(waiting, tmp_path / "lab.db"))
    rng = random.Random(seed)
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    bound.close()
    server = processes.Process(target=run_server, args=(str(where), port))
    server.start()
    try:
        n_acknowledged = _record_until_killed(server, port, rng)
    finally:
        server.kill()
        server.join()
    runs = Campaign.open(where, "glue").runs
    # The one that was on its way when the server died is there as a whole, or not at all.
    assert _written(runs) in (_expected(n_acknowledged), _expected(n_acknowledged + 1))
    with sqlite3.connect(where) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def _written(runs: list[Run]) -> list[list[Result]]:
    """All results of each run, the oldest first."""
    assert len(runs) == N_PENDING
    return [
        [state.result for state in run.history] + [run.result] * (run.result != PENDING)
        for run in runs
    ]


def _expected(n_entries: int) -> list[list[Result]]:
    """The same after so many entries."""
    results: list[list[Result]] = [[] for _ in range(N_PENDING)]
    for path, result in entries()[:n_entries]:
        results[int(path.partition("/")[0])].append(result)
    return results


def _record_until_killed(server: multiprocessing.Process, port: int, rng: random.Random) -> int:
    """The number of entries that were acknowledged before it died."""
    n_acknowledged = 0
    n_wanted = rng.randint(1, 6)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, headers=bearer, timeout=60) as client:
        _wait_for(client, server)
        for path, result in entries():
            if n_acknowledged == n_wanted:
                _kill_soon(server, rng.uniform(0, 0.1))
            try:
                answer = client.post(f"/api/campaigns/glue/runs/{path}", json=body(result))
            except httpx.TransportError:
                return n_acknowledged
            assert answer.status_code == 200
            n_acknowledged += 1
    raise AssertionError("the server survived")


def _wait_for(client: httpx.Client, server: multiprocessing.Process) -> None:
    while server.is_alive():
        try:
            client.get("/login")
            return
        except httpx.TransportError:
            time.sleep(0.02)
    raise AssertionError("the server ended by itself")


def _kill_soon(server: multiprocessing.Process, seconds: float) -> None:
    threading.Timer(seconds, server.kill).start()
