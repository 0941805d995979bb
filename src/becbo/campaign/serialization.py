"""Plain data for JSON: the command line, the REST interface and exported files share its shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.runs import Run, last_entries
from becbo.campaign.status import status_of
from becbo.trial import Outcome


def run_to_dict(run: Run) -> dict[str, Any]:
    """A run with its earlier entries; times are in ISO 8601."""
    return {
        "number": run.number,
        "version": run.version,
        "params": run.params,
        **run.result.to_dict(),
        "note": run.note,
        "origin": run.origin,
        "believed": None if run.believed is None else run.believed.to_dict(),
        "suggested": _iso(run.suggested),
        "recorded": _iso(run.recorded),
        "by": run.by,
        "history": [
            {
                **state.result.to_dict(),
                "note": state.note,
                "recorded": _iso(state.written),
                "by": state.by,
            }
            for state in run.history
        ],
    }


def status_to_dict(campaign: Campaign) -> dict[str, Any]:
    """The status of a campaign, with its best run or its front, and its pending runs."""
    description, runs = campaign.description, campaign.runs
    status = status_of(description, runs)
    return {
        **goal_to_dict(description),
        "budget": status.budget,
        "n_done": status.n_done,
        "n_left": status.n_left,
        "counts": {outcome.value: status.counts[outcome] for outcome in Outcome},
        "best": None if status.best is None else run_to_dict(status.best),
        "front": [run_to_dict(run) for run in status.front],
        "pending": [run_to_dict(run) for run in runs if run.outcome is Outcome.PENDING],
        "reasons": dict(status.reasons),
        "last_entry": _last_entry(runs),
    }


def _last_entry(runs: Sequence[Run]) -> dict[str, Any] | None:
    """What `Campaign.undo_last` would take back; `entry` is its argument."""
    last = last_entries(runs)
    if not last:
        return None
    run, entry = last[0]
    return {
        "entry": entry.trial,
        "runs": [each.number for each, _ in last],
        "recorded": _iso(entry.written),
        "by": run.by,
    }


def goal_to_dict(description: Description) -> dict[str, Any]:
    """The name of a campaign and its outputs."""
    outputs = description.outputs
    return {
        "name": description.name,
        "objectives": [asdict(objective) for objective in outputs.objectives],
        "limits": [asdict(limit) for limit in outputs.limits],
        "recorded": [asdict(output) for output in outputs.recorded],
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
