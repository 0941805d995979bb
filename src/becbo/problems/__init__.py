"""The benchmark problems, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from becbo.errors import InvalidInput
from becbo.problems.bearing import ROLLING_BEARING
from becbo.problems.gears import PLANETARY_GEAR, SPEED_REDUCER
from becbo.problems.inverters import SOPWM9_10D, SOPWM9_30D, SOPWM11_10D, SOPWM11_30D
from becbo.problems.plants import BATCH_PLANT, GAS_TRANSMISSION, PRESSURE_VESSEL, REFRIGERATION
from becbo.problems.problem import Problem
from becbo.problems.structures import CANTILEVER_BEAM, SPRING, THREE_BAR_TRUSS, WELDED_BEAM
from becbo.problems.synthetic import (
    LSQ,
    LSQ_INTERIOR,
    SIMIONESCU,
    SIMIONESCU_INTERIOR,
    TOWNSEND,
    TOWNSEND_INTERIOR,
    ackley_scbo,
)
from becbo.problems.tuning import FAMILIES as _TUNING

__all__ = ["PAPER", "PROBLEMS", "TUNING", "Problem", "get", "variants"]

# The variants of one problem per row, the default first: those of the paper's comparison ...
_PAPER: tuple[tuple[Problem, ...], ...] = (
    (TOWNSEND,),
    (SIMIONESCU,),
    (LSQ,),
    THREE_BAR_TRUSS,
    SPRING,
    WELDED_BEAM,
    GAS_TRANSMISSION,
    PRESSURE_VESSEL,
    SPEED_REDUCER,
    PLANETARY_GEAR,
    ROLLING_BEARING,
    CANTILEVER_BEAM,
)
# ... and all others; a new problem is a row here.
_FURTHER: tuple[tuple[Problem, ...], ...] = (
    (TOWNSEND_INTERIOR,),
    (SIMIONESCU_INTERIOR,),
    (LSQ_INTERIOR,),
    BATCH_PLANT,
    REFRIGERATION,
    SOPWM9_10D,
    SOPWM9_30D,
    SOPWM11_10D,
    SOPWM11_30D,
    *((ackley_scbo(d),) for d in (2, 5, 10, 20)),
    *_TUNING,
)

_FAMILIES = (*_PAPER, *_FURTHER)
PROBLEMS: Mapping[str, Problem] = {family[0].name: family[0] for family in _FAMILIES}
PAPER = tuple(family[0].name for family in _PAPER)  # 3 synthetic and 9 engineering problems
TUNING = tuple(family[0].name for family in _TUNING)  # what settings are chosen on

_VARIANTS = {family[0].name: {p.variant: p for p in family} for family in _FAMILIES}
_ACKLEY = re.compile(r"ackley_scbo_([1-9]\d*)d")


def get(name: str, variant: str | None = None) -> Problem:
    """A problem by name, in its default variant or the one given."""
    family = _family(name)
    if variant is None:
        return next(iter(family.values()))
    if variant not in family:
        raise InvalidInput(f"{name} has no variant {variant!r}; it has {', '.join(family)}")
    return family[variant]


def variants(name: str) -> tuple[str, ...]:
    """The variants of a problem, the default first."""
    return tuple(_family(name))


def _family(name: str) -> dict[str, Problem]:
    if name in _VARIANTS:
        return _VARIANTS[name]
    if match := _ACKLEY.fullmatch(name):
        problem = ackley_scbo(int(match[1]))
        return {problem.variant: problem}
    raise InvalidInput(
        f"unknown problem {name!r}; there are {', '.join(PROBLEMS)}, and ackley_scbo_<d>d for any d"
    )
