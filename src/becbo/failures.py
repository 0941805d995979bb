"""What is known about failures beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from becbo.checks import whole_number
from becbo.errors import InvalidInput

MAX_PRICE = 1_000_000


@dataclass(frozen=True)
class Failures:
    """How often failures are random, what one costs, and how many are allowed.

    Args:
        chance: how often a design that works fails all the same (bad luck): a rate from 0 to
            below 1. None: it is learned, and 0 until a design has both failed and worked. With 0
            every failure is due to the design.
        price: what a failure costs besides the experiment itself, in experiments: with 3, a
            failure costs as much as four experiments that work.
        budget: how many experiments may fail, initial designs included. Once it is spent, only
            repeats of designs that have worked are proposed. These may fail too, by bad luck and
            beyond the budget, so `minimize` ends instead. None: any number.

    Raises:
        InvalidInput: if a value cannot be used.

    Examples:
        >>> optimizer = Optimizer(space, failures=Failures(chance=0.1))
    """

    chance: float | None = None
    price: float = 0.0
    budget: int | None = None

    def __post_init__(self) -> None:
        self._check_chance()
        price, budget = self.price, self.budget
        if isinstance(price, bool) or not isinstance(price, Real) or not 0 <= price <= MAX_PRICE:
            raise InvalidInput(
                f"failures: price {price!r} must be a number of experiments from 0 to "
                f"{MAX_PRICE:,}, such as 3"
            )
        object.__setattr__(self, "price", float(price))
        if budget is not None:
            object.__setattr__(self, "budget", whole_number("failures: budget", budget))

    def _check_chance(self) -> None:
        chance = self.chance
        if chance is None:
            return
        if isinstance(chance, bool) or not isinstance(chance, Real) or not 0 <= chance < 1:
            raise InvalidInput(
                f"failures: chance {chance!r} must be a rate from 0 to below 1, such as 0.1; leave "
                "it out to have it learned"
            )
        object.__setattr__(self, "chance", float(chance))

    def __str__(self) -> str:
        """What is known, in a few words for people."""
        said = []
        if self.chance is not None:
            share = f"{100 * self.chance:.3g} % of good designs fail by bad luck"
            said.append(share if self.chance else "never by bad luck")
        if self.price:
            said.append(f"a failure costs {self.price:g} experiments more")
        if self.budget is not None:
            said.append(f"at most {self.budget} experiments may fail")
        return ", ".join(said) or "nothing is known"

    @property
    def are_facts(self) -> bool:
        """Whether no rate of failures by chance is given, and neither a price nor a budget."""
        return not self.chance and not self.price and self.budget is None

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
