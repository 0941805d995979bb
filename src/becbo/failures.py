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
            below 1. None: it is learned, and 0 until a design has both failed and worked. With 0
            every failure is the design's.

    Raises:
        InvalidInput: if a value cannot be used.

    Examples:
        >>> optimizer = Optimizer(space, failures=Failures(chance=0.1))
    """

    chance: float | None = None

    def __post_init__(self) -> None:
        chance = self.chance
        if chance is None:
            return
        if isinstance(chance, bool) or not isinstance(chance, Real) or not 0 <= chance < 1:
            raise InvalidInput(
                f"failures: chance {chance!r} must be a rate from 0 to below 1, such as 0.1, or "
                "None to learn it"
            )
        object.__setattr__(self, "chance", float(chance))

    @property
    def are_facts(self) -> bool:
        """Whether a method may take every failure for the design's."""
        return not self.chance

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
        return {key: v for key, v in vars(self).items() if v != getattr(DEFAULT, key)}


DEFAULT = Failures()
