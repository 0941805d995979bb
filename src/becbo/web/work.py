"""What takes seconds, as functions for a worker process: plain data in, plain data out."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from becbo.campaign.campaign import Campaign
from becbo.campaign.insight import insight
from becbo.campaign.report import sections


def begin() -> None:
    """Prepares a worker process: it ends with the server, and only then."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A server that was killed cannot tell its workers to end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


@dataclass(frozen=True)
class Learned:
    """What was learned, as the report shows it."""

    html: str
    why: dict[str, str]  # number of a pending run, or "next" if nothing is pending -> in words


@lru_cache(maxsize=8)
def _campaign(where: str, name: str) -> Campaign:
    return Campaign.open(where, name)


def propose(where: str, name: str) -> int:
    """Suggests one more experiment; returns its number."""
    (run,) = _campaign(where, name).suggest(1)
    return run.number


def predict(where: str, name: str, designs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the models say about designs."""
    return [
        asdict(prediction) for prediction in _campaign(where, name).optimizer().predict(designs)
    ]


def learn(where: str, name: str) -> Learned:
    """What a campaign has taught so far."""
    found = insight(_campaign(where, name))
    why = {
        "next" if said.number is None else str(said.number): f"{said.why} {said.changed}".rstrip()
        for said in found.suggestions
    }
    return Learned(sections(found), why)
