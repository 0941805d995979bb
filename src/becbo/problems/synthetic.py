"""Test functions without a physical meaning.

Townsend, Simionescu and LSQ are the paper's, with the optimum on the constraint boundary;
their `_interior` relatives have the same constraints and an optimum inside. Ackley with the
constraints of SCBO scales to any dimension.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series


def _townsend(X: Array, *, shift: float = 0.0) -> Array:  # (n, 2) -> (n,)
    x1, x2 = X[:, 0] + shift, X[:, 1]
    return -(np.cos((x1 - 0.1) * x2) ** 2) - x1 * np.sin(3 * x1 + x2)


def _townsend_slacks(X: Array) -> dict[str, Array]:
    """Townsend (2014), Constrained optimization in Chebfun."""
    x1, x2 = X.T
    t = np.arctan2(x1, x2)  # x1 first: the angle from the x2 axis
    wave = 2 * np.cos(t) - np.cos(2 * t) / 2 - np.cos(3 * t) / 4 - np.cos(4 * t) / 8
    return {"outline": wave**2 + (2 * np.sin(t)) ** 2 - x1**2 - x2**2}


TOWNSEND = Problem(
    name="townsend",
    variant="lit",
    space=box(x1=(-2.25, 2.25), x2=(-2.5, 1.75)),
    objective_formula=_townsend,
    slack_formulas=_townsend_slacks,
    optimum=-2.0239883620926484,
    optimizers=((2.005292715595476, 1.1944528837286708),),
    active=(0,),
    feasibility_ratio=0.68413,
    paper_value=-2.0239884,
    notes="Literature, paper and released code agree.",
)

TOWNSEND_INTERIOR = replace(
    TOWNSEND,
    name="townsend_interior",
    objective_formula=partial(_townsend, shift=1.0),
    optimum=-3.643062988231109,
    optimizers=((1.6676552424451234, -0.02507391285649252),),
    active=(),
    paper_value=-3.6430629882311085,
    notes="Townsend with x1 + 1 for x1 in the objective only: the optimum is inside.",
)


def _simionescu(X: Array) -> Array:  # (n, 2) -> (n,)
    return 0.1 * X[:, 0] * X[:, 1]


def _simionescu_interior(X: Array) -> Array:  # (n, 2) -> (n,)
    return _simionescu(X) + 0.1 * (X[:, 0] - X[:, 1] + 1) ** 2


def _simionescu_slacks(X: Array) -> dict[str, Array]:
    """Simionescu (2014), Computer-Aided Graphing and Simulation Tools; r_T=1, r_S=0.2, n=8."""
    x1, x2 = X.T
    # cos(8 arctan(x1 / x2)), but finite at x2 = 0
    wave = np.cos(8 * np.arctan2(x1, x2))
    return {"outline": (1 + 0.2 * wave) ** 2 - x1**2 - x2**2}


_SIMIONESCU_CORNER = 0.6 * math.sqrt(2)

SIMIONESCU = Problem(
    name="simionescu",
    variant="lit",
    space=box(x1=(-1.25, 1.25), x2=(-1.25, 1.25)),
    objective_formula=_simionescu,
    slack_formulas=_simionescu_slacks,
    optimum=-0.072,
    optimizers=(
        (-_SIMIONESCU_CORNER, _SIMIONESCU_CORNER),
        (_SIMIONESCU_CORNER, -_SIMIONESCU_CORNER),
    ),
    active=(0,),
    feasibility_ratio=0.512274,
    paper_value=-0.072,
    notes="Literature, paper and released code agree. Two global optima.",
)

SIMIONESCU_INTERIOR = replace(
    SIMIONESCU,
    name="simionescu_interior",
    objective_formula=_simionescu_interior,
    optimum=-1 / 30,
    optimizers=((-2 / 3, 2 / 3),),
    active=(),
    paper_value=-0.033333333333333215,
    notes="Simionescu with 0.1 (x1 - x2 + 1)^2 added to the objective: the optimum is inside.",
)


def _lsq(X: Array) -> Array:  # (n, 2) -> (n,)
    return X[:, 0] + X[:, 1]


def _lsq_interior(X: Array) -> Array:  # (n, 2) -> (n,)
    return (X[:, 0] - 0.4) ** 2 + (X[:, 1] - 0.45) ** 2


def _lsq_slacks(X: Array) -> dict[str, Array]:
    """Gramacy et al. (2016), Modeling an augmented Lagrangian, Technometrics 58."""
    x1, x2 = X.T
    return {
        "sinusoid": x1 + 2 * x2 + 0.5 * np.sin(2 * np.pi * (x1**2 - 2 * x2)) - 1.5,
        "disc": 1.5 - x1**2 - x2**2,
    }


LSQ = Problem(
    name="lsq",
    variant="lit",
    space=box(x1=(0, 1), x2=(0, 1)),
    objective_formula=_lsq,
    slack_formulas=_lsq_slacks,
    optimum=0.5997880520569437,
    optimizers=((0.19512268355236875, 0.404665368504575),),
    active=(0,),
    feasibility_ratio=0.457564,
    paper_value=0.5998,
    notes="Literature, paper and released code agree. Strong local optimum at f = 0.75.",
)

LSQ_INTERIOR = replace(
    LSQ,
    name="lsq_interior",
    objective_formula=_lsq_interior,
    optimum=0.0,
    optimizers=((0.4, 0.45),),
    active=(),
    paper_value=0.0,
    notes="LSQ with the objective (x1 - 0.4)^2 + (x2 - 0.45)^2: the optimum is inside.",
)


def _ackley(X: Array) -> Array:  # (n, d) -> (n,)
    """Ackley (1987) with a = 20, b = 0.2, c = 2 pi."""
    bowl = -20 * np.exp(-0.2 * np.sqrt(np.mean(X**2, axis=1)))
    return np.asarray(bowl - np.exp(np.mean(np.cos(2 * np.pi * X), axis=1)) + 20 + np.e)


def _ackley_slacks(X: Array) -> dict[str, Array]:
    return {"half-space": -X.sum(axis=1), "ball": 5 - np.linalg.norm(X, axis=1)}


def ackley_scbo(d: int) -> Problem:
    """Ackley in d dimensions, constrained as in Eriksson & Poloczek (2021), SCBO."""
    log_unit_ball = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
    return Problem(
        name=f"ackley_scbo_{d}d",
        variant="lit",
        space=box(**series("x", d, -5, 10)),
        objective_formula=_ackley,
        slack_formulas=_ackley_slacks,
        optimum=0.0,
        optimizers=((0.0,) * d,),
        active=(0,),
        # half a ball of radius 5 in a box of edge 15
        feasibility_ratio=math.exp(log_unit_ball - d * math.log(3)) / 2,
        notes="Defined in BoTorch's SCBO tutorial for d = 10; the feasibility ratio is exact.",
    )
