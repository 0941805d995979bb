"""One experiment: what was set, what came out, and what was believed before it ran."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MAX_LOSSES = 4  # experiments lost with one design before it is given up


class Outcome(enum.Enum):
    """How an experiment ended."""

    PENDING = "pending"  # proposed, no answer yet
    OK = "ok"  # it worked and returned a value
    FAILED = "failed"  # this design does not work: no value exists
    LOST = "lost"  # power cut, crashed worker: says nothing about the design

    @property
    def is_answer(self) -> bool:
        """Whether it says something about the design: it worked, or it failed."""
        return self in (Outcome.OK, Outcome.FAILED)


@dataclass(frozen=True)
class Prediction:
    """What the models say about one design.

    `mean` and `std` describe the objective in the user's units and are None while no
    experiment has worked. `band` is the one-sigma range around `p_feasible`.
    """

    mean: float | None
    std: float | None
    p_feasible: float
    band: tuple[float, float]


@dataclass(frozen=True)
class Trial:
    """One experiment. Immutable: the optimizer replaces it when the outcome is known."""

    number: int
    params: dict[str, Any]
    outcome: Outcome = Outcome.PENDING
    value: float | None = None
    reason: str | None = None  # of a failure, in the user's words
    believed: Prediction | None = None  # before the experiment ran
    origin: str = "user"  # how the design was chosen
    note: str | None = None  # anything unusual about that choice, such as a fallback

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a file; `from_dict` makes the same trial of it."""
        return {**asdict(self), "outcome": self.outcome.value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trial:
        """The trial that `to_dict` described."""
        believed = data["believed"]
        if believed is not None:  # JSON knows no tuples
            believed = Prediction(**{**believed, "band": tuple(believed["band"])})
        return cls(**{**data, "outcome": Outcome(data["outcome"]), "believed": believed})

    @property
    def is_feasible(self) -> bool:
        """Whether the experiment worked."""
        return self.outcome is Outcome.OK
