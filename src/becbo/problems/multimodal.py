"""Functions with many hills, and failures between them: 2 dimensions, and Hartmann in 6."""

from __future__ import annotations

import math

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series


def _new_branin_value(X: Array) -> Array:  # (n, 2) -> (n,)
    return np.asarray(-((X[:, 0] - 10) ** 2) - (X[:, 1] - 15) ** 2)


def branin(x1: Array, x2: Array) -> Array:  # (n,), (n,) -> (n,)
    """Branin (1972), usually for x1 in [-5, 10] and x2 in [0, 15]."""
    valley = (x2 - 5.1 / (4 * math.pi**2) * x1**2 + 5 / math.pi * x1 - 6) ** 2
    return np.asarray(valley + 10 * (1 - 1 / (8 * math.pi)) * np.cos(x1) + 10)


def _new_branin_slacks(X: Array) -> dict[str, Array]:
    """Sasena (2002), PhD thesis, University of Michigan: the valleys of Branin's function."""
    return {"Branin": 5 - branin(X[:, 0], X[:, 1])}


NEW_BRANIN = Problem(
    name="new_branin",
    variant="lit",
    space=box(x1=(-5, 10), x2=(0, 15)),
    objective_formula=_new_branin_value,
    slack_formulas=_new_branin_slacks,
    optimum=-268.788504671247,
    optimizers=((3.2730237748829465, 0.04886975717364388),),
    active=(0,),
    feasibility_ratio=0.084549,
    notes="Three islands where Branin's function is below 5.",
)


def _gomez_value(X: Array) -> Array:  # (n, 2) -> (n,)
    x1, x2 = X.T
    return np.asarray((4 - 2.1 * x1**2 + x1**4 / 3) * x1**2 + x1 * x2 + (-4 + 4 * x2**2) * x2**2)


def _gomez_slacks(X: Array) -> dict[str, Array]:
    """Gomez & Levy (1982), problem 3; Sasena (2002)."""
    x1, x2 = X.T
    return {"waves": np.sin(4 * math.pi * x1) - 2 * np.sin(2 * math.pi * x2) ** 2}


GOMEZ = Problem(
    name="gomez",
    variant="lit",
    space=box(x1=(-1, 1), x2=(-1, 1)),
    objective_formula=_gomez_value,
    slack_formulas=_gomez_slacks,
    optimum=-0.9711040672824016,
    optimizers=((0.10926012510607355, -0.6234483505847135),),
    active=(0,),
    feasibility_ratio=0.185412,
    notes="The six-hump camel on twenty islands.",
)


def _mystery_value(X: Array) -> Array:  # (n, 2) -> (n,)
    x1, x2 = X.T
    return np.asarray(
        2
        + 0.01 * (x2 - x1**2) ** 2
        + (1 - x1) ** 2
        + 2 * (2 - x2) ** 2
        + 7 * np.sin(0.5 * x1) * np.sin(0.7 * x1 * x2)
    )


def _mystery_slacks(X: Array) -> dict[str, Array]:
    """Sasena (2002), PhD thesis, University of Michigan."""
    return {"stripes": np.sin(X[:, 0] - X[:, 1] - math.pi / 8)}


MYSTERY = Problem(
    name="mystery",
    variant="lit",
    space=box(x1=(0, 5), x2=(0, 5)),
    objective_formula=_mystery_value,
    slack_formulas=_mystery_slacks,
    optimum=-1.174274328866347,
    optimizers=((2.7449510480349564, 2.352251966336231),),
    active=(0,),
    feasibility_ratio=0.483053,
    notes="Sasena's mystery function on two stripes.",
)


def _gardner_value(X: Array) -> Array:  # (n, 2) -> (n,)
    return np.asarray(np.sin(X[:, 0]) + X[:, 1])


def _gardner_slacks(X: Array) -> dict[str, Array]:
    """Gardner et al. (2014), ICML: simulation 2."""
    return {"waves": -0.95 - np.sin(X[:, 0]) * np.sin(X[:, 1])}


GARDNER = Problem(
    name="gardner",
    variant="lit",
    space=box(x1=(0, 6), x2=(0, 6)),
    objective_formula=_gardner_value,
    slack_formulas=_gardner_slacks,
    optimum=math.asin(0.95) - 1,
    optimizers=((1.5 * math.pi, math.asin(0.95)),),
    active=(0,),
    feasibility_ratio=0.01756,
    notes="Two small islands; the best design is on the edge of the better one.",
)


def _bird_value(X: Array) -> Array:  # (n, 2) -> (n,)
    x1, x2 = X.T
    return np.asarray(
        np.sin(x2) * np.exp((1 - np.cos(x1)) ** 2)
        + np.cos(x1) * np.exp((1 - np.sin(x2)) ** 2)
        + (x1 - x2) ** 2
    )


def _bird_slacks(X: Array) -> dict[str, Array]:
    """Mishra (2006), Some new test functions for global optimization; a disc around (-5, -5)."""
    return {"disc": 25 - (X[:, 0] + 5) ** 2 - (X[:, 1] + 5) ** 2}


MISHRA_BIRD = Problem(
    name="mishra_bird",
    variant="lit",
    space=box(x1=(-10, 0), x2=(-6.5, 0)),
    objective_formula=_bird_value,
    slack_formulas=_bird_slacks,
    optimum=-106.76453674926462,
    optimizers=((-3.130246798671001, -1.5821422036055823),),
    active=(),
    feasibility_ratio=0.831212,
    notes="Mishra's bird in a disc. Interior optimum, several deep local ones.",
)

_HARTMANN_HEIGHT = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_SLOPE = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN_CENTRE = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def _hartmann_value(X: Array) -> Array:  # (n, 6) -> (n,)
    """Hartman (1973); Dixon & Szego (1978)."""
    distance2 = (_HARTMANN_SLOPE * (X[:, None] - _HARTMANN_CENTRE) ** 2).sum(axis=2)
    return np.asarray(-np.exp(-distance2) @ _HARTMANN_HEIGHT)


def _hartmann_slacks(X: Array) -> dict[str, Array]:
    """Letham et al. (2019), Bayesian Anal. 14: within the unit ball."""
    return {"norm": 1 - np.sqrt((X**2).sum(axis=1))}


HARTMANN_BALL = Problem(
    name="hartmann_ball",
    variant="lit",
    space=box(**series("x", 6, 0, 1)),
    objective_formula=_hartmann_value,
    slack_formulas=_hartmann_slacks,
    optimum=-3.3223680114155125,
    optimizers=(
        (
            0.201689510109891,
            0.15001068711777296,
            0.47687396930045267,
            0.2753324276097875,
            0.311651612171945,
            0.6573005298953404,
        ),
    ),
    active=(),
    feasibility_ratio=math.pi**3 / 384,
    notes="Hartmann's function within the unit ball. Interior optimum, close to the edge.",
)
