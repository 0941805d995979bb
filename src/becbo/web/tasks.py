"""What takes seconds, as functions for a worker process: plain data in, plain data out."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from becbo import insight
from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.campaign.formatting import sentence
from becbo.errors import InvalidInput
from becbo.insight.suggestions import Suggestion
from becbo.optimizer import Optimizer
from becbo.outlook import Stop
from becbo.report.html import Sections
from becbo.trial import Trial


def initialize_worker() -> None:
    """Prepares a worker process: it ends when the server ends, and not before.

    The server goes first where there are fewer processors than processes: its answers are short.
    """
    if hasattr(os, "nice"):  # not on Windows
        os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A server that was killed cannot tell its workers to end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


class _OutOfTime(BaseException):
    """Not an Exception, which the code that is interrupted might catch."""


@contextmanager
def _ends_at(deadline: float) -> Iterator[None]:
    """Raises TimeoutError in this process when its time is over; Windows has no alarms."""

    def ring(*_: object) -> None:
        raise _OutOfTime

    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(deadline - time.monotonic(), 1e-6))  # 0: never
        yield
    except _OutOfTime:
        raise TimeoutError from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@dataclass(frozen=True)
class RenderedInsight:
    """What a campaign has taught, ready for the page.

    Attributes:
        sections: Those of the report.
        why: The reason of each suggestion, by the number of the pending run, or by "next" if none
            is pending: then perhaps why there is none. By "best" what is believed of the best run.
        repeat: The run that is believed to be the best, if values are noisy.
    """

    sections: Sections
    why: dict[str, str]
    repeat: int | None = None


@lru_cache(maxsize=8)
def _campaign(where: str, name: str) -> Campaign:
    return Campaign.open(where, name)


def suggest_one(where: str, name: str) -> int:
    """Suggests one more experiment; returns its number."""
    (run,) = _campaign(where, name).suggest(1)
    return run.number


_DESIGN = ("params", "believed", "origin", "note")  # of a trial that is proposed


def suggest_for(
    description: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    q: int,
    deadline: float,
) -> list[dict[str, Any]]:
    """The next designs after a history, as `Optimizer` proposes them; nothing is stored.

    Args:
        description: with the keys of a YAML file.
        history: `params`, `outcome`, `values` and `reason` of each experiment, in order, and what
            was returned with its design: `believed`, `origin`, `note`.
        q: how many designs.
        deadline: when the computation has to end, on the clock `time.monotonic`, which all
            processes share.

    Returns:
        `params`, `believed`, `origin` and `note` of each design.

    Raises:
        TimeoutError: it took longer.
        InvalidInput: the description or an experiment cannot be used; the message says which.
    """
    described = describe(description)
    trials = [_trial(number, experiment) for number, experiment in enumerate(history)]
    optimizer = Optimizer(
        described.space, described.outputs, trials=trials, **vars(described.planned)
    )
    with _ends_at(deadline):
        proposed = optimizer.ask(q)
    return [{key: asked.to_dict()[key] for key in _DESIGN} for asked in proposed]


def _trial(number: int, experiment: Mapping[str, Any]) -> Trial:
    outcome = experiment["outcome"]
    is_measured = any(value is not None for value in experiment["values"].values())
    if outcome == "ok" and not is_measured:
        raise InvalidInput(
            f"trials[{number}]: outcome 'ok' without a value; give `values`, or the outcome "
            "'failed', 'lost' or 'pending'"
        )
    if outcome in ("lost", "pending") and is_measured:
        raise InvalidInput(
            f"trials[{number}]: values of an experiment with outcome {outcome!r} cannot be used; "
            "leave them out, or give the outcome 'ok' or 'failed'"
        )
    result = {key: experiment[key] for key in ("outcome", "values", "reason")}
    design = {key: experiment[key] for key in _DESIGN}
    return Trial.from_dict({"number": number, **design, "result": result})


def predict(where: str, name: str, designs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the models predict for designs."""
    predictions = _campaign(where, name).optimizer().predict(designs)
    return [prediction.to_dict() for prediction in predictions]


def what_if(where: str, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """What is known about a design of one's own."""
    return insight.what_if(_campaign(where, name), params).to_dict()


def render_maps(where: str, name: str, number: int) -> str:
    """Maps through the design of a run, as sections of the report."""
    found = insight.analyze_campaign(_campaign(where, name))
    return Sections.of(replace(found, maps=found.maps_through(number))).html()


def outlook(where: str, name: str, margin: float | None) -> dict[str, Any]:
    """What more experiments may bring."""
    return _campaign(where, name).optimizer().outlook.to_dict(Stop(margin=margin))


def render_insight(where: str, name: str) -> RenderedInsight:
    """What a campaign has taught so far."""
    found = insight.analyze_campaign(_campaign(where, name))
    why = {
        "next" if each.number is None else str(each.number): _reason(each)
        for each in found.suggestions
    }
    said = (why or {"next": found.obstacle}) | {"best": found.confirmation}
    best = found.status.best if found.confirmation else None
    return RenderedInsight(Sections.of(found), said, None if best is None else best.number)


def _reason(suggestion: Suggestion) -> str:
    """Why a design is suggested; the page has the remarks of pending runs without a model."""
    is_new = suggestion.number is None and suggestion.remark
    remark = sentence(suggestion.remark) if is_new else ""
    return " ".join(filter(None, (suggestion.why, remark, suggestion.change)))
