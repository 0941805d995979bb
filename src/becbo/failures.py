"""What is known about failures beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from becbo.errors import InvalidInput


@dataclass(frozen=True)
class Failures:
    """What failures mean.

    Args:
        chance: how often a design that works fails all the same, by bad luck: a rate from 0 to
            below 1. With 0 every failure is the design's.

    Raises:
        InvalidInput: if a value cannot be used.

    Examples:
        >>> optimizer = Optimizer(space, failures=Failures(chance=0.1))
    """

    chance: float = 0.0

    def __post_init__(self) -> None:
        chance = self.chance
        if isinstance(chance, bool) or not isinstance(chance, Real) or not 0 <= chance < 1:
            raise InvalidInput(
                f"failures: chance {chance!r} must be a rate from 0 to below 1, such as 0.1"
            )
        object.__setattr__(self, "chance", float(chance))

    @classmethod
    def of(cls, given: Any) -> Failures:
        """Failures as they are, or a mapping such as {"chance": 0.1}.

        Raises:
            InvalidInput: if it is neither, or a value cannot be used.
        """
        if isinstance(given, cls):
            return given
        known = tuple(cls.__dataclass_fields__)
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"failures {given!r} must be becbo.Failures or a mapping of {', '.join(known)}"
            )
        if unknown := [key for key in given if key not in known]:
            raise InvalidInput(f"failures: unknown {unknown[0]!r}; it can have {', '.join(known)}")
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Plain data without defaults, for a file; `of` makes the same of it."""
        return {key: v for key, v in vars(self).items() if v != getattr(CERTAIN, key)}


CERTAIN = Failures()  # every failure is the design's
