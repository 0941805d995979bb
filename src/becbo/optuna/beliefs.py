"""What was proposed for a trial, and what the models believed then, as a trial keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from optuna.trial import FrozenTrial

from becbo.trial import Prediction, Trial

PROPOSAL = "becbo:proposal"  # system attribute of a trial


@dataclass(frozen=True)
class Proposed:
    """A proposal as it was made."""

    params: Mapping[str, Any]  # as stored by Optuna: a choice is its index
    origin: str
    note: str | None
    believed: Prediction | None


def written(asked: Trial) -> dict[str, Any]:
    """A proposal as the storage keeps it."""
    believed = None if asked.believed is None else asdict(asked.believed)
    return {
        "params": asked.params,
        "origin": asked.origin,
        "note": asked.note,
        "believed": believed,
    }


def proposed(trial: FrozenTrial) -> Proposed | None:
    """What was proposed for a trial; None if it was enqueued or added."""
    kept = trial.system_attrs.get(PROPOSAL)
    if kept is None:
        return None
    believed = kept.get("believed")
    if believed is not None:
        believed = Prediction(**{**believed, "band": tuple(believed["band"])})
    return Proposed(kept["params"], kept["origin"], kept["note"], believed)
