"""What was proposed for a trial, and what the models believed then, as a trial keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optuna.trial import FrozenTrial

from becbo.trial import Prediction

PROPOSAL = "becbo:proposal"  # system attribute of a trial


@dataclass(frozen=True)
class StoredProposal:
    """A proposal as it was made.

    Args:
        params: the values as users see them; empty if nothing could be proposed.
        origin: how the design was chosen.
        note: anything unusual about that choice.
        believed: what the models predicted.
    """

    params: Mapping[str, Any]
    origin: str
    note: str | None
    believed: Prediction | None

    def to_dict(self) -> dict[str, Any]:
        """The proposal as plain data, for the attribute `PROPOSAL`."""
        believed = None if self.believed is None else self.believed.to_dict()
        return {**vars(self), "params": dict(self.params), "believed": believed}


def proposal_of(trial: FrozenTrial) -> StoredProposal | None:
    """What was proposed for a trial; None if it was enqueued or added."""
    stored = trial.system_attrs.get(PROPOSAL)
    if stored is None:
        return None
    believed = stored["believed"]
    return StoredProposal(
        stored["params"],
        stored["origin"],
        stored["note"],
        None if believed is None else Prediction.from_dict(believed),
    )
