"""The benchmark problems, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from becbo.errors import InvalidInput
from becbo.problems.bearing import ROLLING_BEARING
from becbo.problems.car import CAR_SIDE_3OBJ
from becbo.problems.gears import PLANETARY_GEAR, SPEED_REDUCER, SPEED_REDUCER_2OBJ
from becbo.problems.inverters import SOPWM9_10D, SOPWM9_30D, SOPWM11_10D, SOPWM11_30D
from becbo.problems.machines import DISC_BRAKE, DISC_CLUTCH_2OBJ
from becbo.problems.pareto import (
    BNH,
    BRANIN_CURRIN,
    C2_DTLZ2,
    CONSTR,
    CTP8,
    MW7,
    MW14,
    OSY,
    SRN,
    TNK,
)
from becbo.problems.plants import BATCH_PLANT, GAS_TRANSMISSION, PRESSURE_VESSEL, REFRIGERATION
from becbo.problems.problem import ConstrainedProblem, ParetoProblem, Problem
from becbo.problems.ships import BULK_CARRIER
from becbo.problems.structures import (
    CANTILEVER_BEAM,
    SPRING,
    THREE_BAR_TRUSS,
    TWO_BAR_TRUSS,
    WELDED_BEAM,
    WELDED_BEAM_2OBJ,
)
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

__all__ = [
    "PAPER",
    "PARETO",
    "PARETO_TUNING",
    "PROBLEMS",
    "TUNING",
    "ConstrainedProblem",
    "ParetoProblem",
    "Problem",
    "get",
    "get_pareto",
    "get_single",
    "variants",
]

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

# Several objectives: those of the comparison ...
_PARETO = (
    BNH,
    SRN,
    CONSTR,
    WELDED_BEAM_2OBJ,
    SPEED_REDUCER_2OBJ,
    C2_DTLZ2,
    BRANIN_CURRIN,
    CAR_SIDE_3OBJ,
)
# ... and those that settings are chosen on.
_PARETO_TUNING = (
    TNK,
    CTP8,
    TWO_BAR_TRUSS,
    MW7,
    MW14,
    DISC_BRAKE,
    DISC_CLUTCH_2OBJ,
    OSY,
    BULK_CARRIER,
)

_FAMILIES: tuple[tuple[ConstrainedProblem, ...], ...] = (
    *_PAPER,
    *_FURTHER,
    *((problem,) for problem in (*_PARETO, *_PARETO_TUNING)),
)
PROBLEMS: Mapping[str, ConstrainedProblem] = {family[0].name: family[0] for family in _FAMILIES}
PAPER = tuple(family[0].name for family in _PAPER)  # 3 synthetic and 9 engineering problems
TUNING = tuple(family[0].name for family in _TUNING)  # what settings are chosen on
PARETO = tuple(problem.name for problem in _PARETO)  # 2 and 3 objectives
PARETO_TUNING = tuple(problem.name for problem in _PARETO_TUNING)

_VARIANTS = {family[0].name: {p.variant: p for p in family} for family in _FAMILIES}
_ACKLEY = re.compile(r"ackley_scbo_([1-9]\d*)d")


def get(name: str, variant: str | None = None) -> ConstrainedProblem:
    """A problem by name, with one objective or several.

    Args:
        name: One of `PROBLEMS`, or ackley_scbo_<d>d for any d.
        variant: One of `variants(name)`; without it the default.

    Returns:
        A `Problem` or a `ParetoProblem`.

    Raises:
        InvalidInput: There is no such problem or variant.
    """
    family = _family(name)
    if variant is None:
        return next(iter(family.values()))
    if variant not in family:
        raise InvalidInput(f"{name} has no variant {variant!r}; it has {', '.join(family)}")
    return family[variant]


def get_single(name: str, variant: str | None = None) -> Problem:
    """Like `get`, for a problem with one objective; refuses others."""
    problem = get(name, variant)
    if not isinstance(problem, Problem):
        raise InvalidInput(
            f"{name} has {len(problem.objective_names)} objectives; choose a problem with one"
        )
    return problem


def get_pareto(name: str, variant: str | None = None) -> ParetoProblem:
    """Like `get`, for a problem with several objectives; refuses others."""
    problem = get(name, variant)
    if not isinstance(problem, ParetoProblem):
        raise InvalidInput(f"{name} has one objective; choose a problem with several")
    return problem


def variants(name: str) -> tuple[str, ...]:
    """The variants of a problem, the default first."""
    return tuple(_family(name))


def _family(name: str) -> Mapping[str, ConstrainedProblem]:
    if name in _VARIANTS:
        return _VARIANTS[name]
    if match := _ACKLEY.fullmatch(name):
        problem = ackley_scbo(int(match[1]))
        return {problem.variant: problem}
    raise InvalidInput(
        f"unknown problem {name!r}; there are {', '.join(PROBLEMS)}, and ackley_scbo_<d>d for any d"
    )
