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
from becbo.trial import Result

N_KILLS = 20
CORRECT = "/api/campaigns/coating/runs/0/correct"

# Real processes, but what they import is there already when they are forked.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["becbo.web.app", "uvicorn", "web.lab"])


def entries() -> list[Result]:
    """What is recorded one after the other: values and failures."""
    return [
        Result.failed(f"try {i}") if i % 3 == 2 else Result.ok({"hardness": float(i)})
        for i in range(1000)
    ]


def body(result: Result) -> dict[str, object]:
    return {"failed": result.reason} if result.value is None else {"value": result.value}


@pytest.mark.parametrize("seed", range(N_KILLS))
def test_what_was_acknowledged_is_there(made: Path, tmp_path: Path, seed: int) -> None:
    where = Path(shutil.copy(made, tmp_path / "lab.db"))
    rng = random.Random(seed)
    before = Campaign.open(where, "coating").run(0).result
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    bound.close()
    server = processes.Process(target=run_server, args=(str(where), port))
    server.start()
    try:
        acknowledged = _record_until_killed(server, port, rng)
    finally:
        server.kill()
        server.join()
    run = Campaign.open(where, "coating").run(0)
    kept = [version.result for version in run.history] + [run.result]
    # The one that was on its way when the server died may or may not have arrived.
    assert kept[: len(acknowledged) + 1] == [before, *acknowledged]
    assert len(kept) <= len(acknowledged) + 2
    with sqlite3.connect(where) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def _record_until_killed(
    server: multiprocessing.Process, port: int, rng: random.Random
) -> list[Result]:
    acknowledged: list[Result] = []
    n_wanted = rng.randint(1, 4)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, headers=bearer, timeout=60) as client:
        _wait_for(client, server)
        for result in entries():
            if len(acknowledged) == n_wanted:
                _kill_soon(server, rng.uniform(0, 0.1))
            try:
                answer = client.post(CORRECT, json=body(result))
            except httpx.TransportError:
                return acknowledged
            assert answer.status_code == 200
            acknowledged.append(result)
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
