"""Many clients at once on one server: record, suggest, status, page and export, mixed.

    python benchmarks/load.py --out benchmarks/results/load.json     # two minutes, 64 clients

`becbo serve` runs as a process of its own on a new SQLite file with one campaign. Every client asks
for something, waits for the answer, and pauses for one to three seconds, as instruments and people
do. What the server has acknowledged is looked up in the file at the end.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from becbo.campaign.campaign import Campaign

RESULTS = Path(__file__).parent / "results" / "load.json"
GOAL = 0.5  # seconds for 95 % of the answers other than suggestions
PLAN = {
    "name": "lab",
    "parameters": {f"x{i}": {"low": 0, "high": 1} for i in range(3)},
    "objective": {"name": "y", "direction": "maximize"},
    "n_initial": 8,
}
MIX = {"add": 30, "status": 30, "page": 20, "export": 10, "suggest": 10}  # per cent
PAUSE = (1.0, 3.0)  # seconds between two requests of a client


class Client(threading.Thread):
    """One instrument or browser."""

    def __init__(self, number: int, address: str, token: str, end: float) -> None:
        super().__init__()
        self._rng = random.Random(number)
        self._number, self._address, self._end = number, address, end
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.seconds: dict[str, list[float]] = {kind: [] for kind in (*MIX, "record")}
        self.errors: list[str] = []
        self.acknowledged: list[float] = []  # values, each sent once

    def run(self) -> None:
        time.sleep(self._rng.uniform(0, PAUSE[1]))
        while time.monotonic() < self._end:
            (kind,) = self._rng.choices(list(MIX), list(MIX.values()))
            getattr(self, f"_{kind}")()
            time.sleep(self._rng.uniform(*PAUSE))

    def _add(self) -> None:
        value = self._next_value()
        params = {name: self._rng.random() for name in PLAN["parameters"]}
        if self._ask("add", "POST", "runs", {"params": params, "value": value}) is not None:
            self.acknowledged.append(value)

    def _suggest(self) -> None:
        answer = self._ask("suggest", "POST", "suggest", {"q": 1})
        if answer is not None:
            value, (run,) = self._next_value(), json.loads(answer)
            path = f"runs/{run['number']}/record"
            if self._ask("record", "POST", path, {"value": value}) is not None:
                self.acknowledged.append(value)

    def _status(self) -> None:
        self._ask("status", "GET", "status")

    def _page(self) -> None:
        self._ask("page", "GET", "/c/lab")

    def _export(self) -> None:
        self._ask("export", "GET", "/c/lab/export.csv")

    def _next_value(self) -> float:
        return self._number + len(self.acknowledged) / 10_000 + len(self.errors) / 1e9

    def _ask(self, kind: str, method: str, path: str, body: object = None) -> bytes | None:
        path = path if path.startswith("/") else f"/api/campaigns/lab/{path}"
        begin = time.monotonic()
        try:
            connection = http.client.HTTPConnection(self._address, timeout=120)
            connection.request(method, path, json.dumps(body), self._headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
        except OSError as error:
            self.errors.append(f"{kind}: {error!r}")
            return None
        if answer.status >= 400:
            self.errors.append(f"{kind}: {answer.status} {content[:100]!r}")
            return None
        self.seconds[kind].append(time.monotonic() - begin)
        return content


def measure(n_clients: int, seconds: float) -> dict:
    """Lets clients work for a while; returns what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "lab.db"
        Campaign.create(PLAN, where)
        token = "only for this measurement"
        command = [sys.executable, "-m", "becbo", "serve", "--port", "0", "--file", str(where)]
        with subprocess.Popen(
            [*command, "--token", token], stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                found = re.search(r"http://(\S+)", server.stdout.readline())
                end = time.monotonic() + seconds
                clients = [Client(i, found[1], token, end) for i in range(n_clients)]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
            finally:
                server.terminate()
        kept = Counter(run.value for run in Campaign.open(where).runs if run.value is not None)
    return summary(clients, kept, seconds)


def summary(clients: list[Client], kept: Counter[float], seconds: float) -> dict:
    """The figures of one measurement."""
    sent = [value for client in clients for value in client.acknowledged]
    errors = [error for client in clients for error in client.errors]
    return {
        "clients": len(clients),
        "seconds": seconds,
        "answers": {
            kind: quantiles([s for client in clients for s in client.seconds[kind]])
            for kind in (*MIX, "record")
        },
        "others": quantiles(
            [
                s
                for c in clients
                for kind, found in c.seconds.items()
                if kind != "suggest"
                for s in found
            ]
        ),
        "errors": len(errors),
        "first_errors": errors[:5],
        "acknowledged": len(sent),
        "lost": sum(kept[value] == 0 for value in sent),
        "twice": sum(count > 1 for count in kept.values()),
        "suggestions_per_client": sorted(len(c.seconds["suggest"]) for c in clients),
        "load_of_the_machine": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }


def quantiles(seconds: list[float]) -> dict:
    if not seconds:
        return {"n": 0}
    p50, p95 = np.quantile(seconds, [0.5, 0.95])
    return {"n": len(seconds), "p50": p50, "p95": p95, "max": max(seconds)}


def section(result: dict) -> str:
    """The section of RESULTS.md."""
    lines = ["| answer | n | median s | 95 % below s | longest s |", "|---|---|---|---|---|"]
    for kind, q in (*result["answers"].items(), ("all but suggest", result["others"])):
        if q["n"]:
            lines.append(
                f"| {kind} | {q['n']} | {q['p50']:.2f} | {q['p95']:.2f} | {q['max']:.2f} |"
            )
    counts = result["suggestions_per_client"]
    return "\n".join(
        [
            *lines,
            "",
            f"{result['clients']} clients for {result['seconds']:.0f} s on {result['cores']} cores "
            f"(load of the machine at the end {result['load_of_the_machine']:.0f}): "
            f"{result['errors']} errors; of {result['acknowledged']} acknowledged results "
            f"{result['lost']} lost, {result['twice']} twice. The goal is 95 % below {GOAL} s for "
            f"everything but suggestions. Suggestions take turns; a client got {counts[0]} to "
            f"{counts[-1]} of them, as it asked.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--out", type=Path, help="also save the figures there as JSON")
    args = parser.parse_args()
    result = measure(args.clients, args.seconds)
    print(section(result))
    print(*result["first_errors"], sep="\n")
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
