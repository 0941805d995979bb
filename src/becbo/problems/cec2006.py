"""Six problems of the CEC 2006 set: G01, G02, G10, G12, G18, G19, under their names there.

Liang et al. (2006), Problem definitions and evaluation criteria for the CEC 2006 special session
on constrained real-parameter optimization. The others of the set are kept for other uses.

In the set's boxes hardly a random design of G01, G10 and G18 works. Here their boxes are smaller
(variant `near`) and hold the set's optimum, so it is the same.
"""

from __future__ import annotations

import math

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series


def _g01_value(X: Array) -> Array:  # (n, 13) -> (n,)
    first = X[:, :4]
    return np.asarray(5 * (first - first**2).sum(axis=1) - X[:, 4:].sum(axis=1))


def _g01_slacks(X: Array) -> dict[str, Array]:
    """Floudas & Pardalos (1990), test problem 2.1: a concave quadratic in a polytope."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, _ = X.T
    return {
        "pair 1-2": 10 - (2 * x1 + 2 * x2 + x10 + x11),
        "pair 1-3": 10 - (2 * x1 + 2 * x3 + x10 + x12),
        "pair 2-3": 10 - (2 * x2 + 2 * x3 + x11 + x12),
        "x10 by x1": 8 * x1 - x10,
        "x11 by x2": 8 * x2 - x11,
        "x12 by x3": 8 * x3 - x12,
        "x10 by x4 and x5": 2 * x4 + x5 - x10,
        "x11 by x6 and x7": 2 * x6 + x7 - x11,
        "x12 by x8 and x9": 2 * x8 + x9 - x12,
    }


G01 = Problem(
    name="g01",
    variant="near",
    space=box(**series("x", 9, 0, 1), x10=(0, 10), x11=(0, 10), x12=(0, 10), x13=(0, 1)),
    objective_formula=_g01_value,
    slack_formulas=_g01_slacks,
    optimum=-15.0,
    optimizers=((1.0,) * 9 + (3.0, 3.0, 3.0, 1.0),),
    active=(0, 1, 2, 6, 7, 8),
    feasibility_ratio=0.002404,
    notes=(
        "Linear constraints, concave quadratic value. A vertex: 10 bounds are active as well. "
        "The set's box ends at 100 for x10 to x12, where the constraints allow 3: 2 of a million "
        "random designs would work."
    ),
)


def _g02_value(X: Array) -> Array:  # (n, d) -> (n,)
    weights = np.arange(1, X.shape[1] + 1)
    cos2 = np.cos(X) ** 2
    ripples = (cos2**2).sum(axis=1) - 2 * cos2.prod(axis=1)
    return np.asarray(-np.abs(ripples / np.sqrt((weights * X**2).sum(axis=1))))


def _g02_slacks(X: Array) -> dict[str, Array]:
    """Keane (1994), Experiences with optimizers in structural design: the bump."""
    return {"product": X.prod(axis=1) - 0.75, "sum": 7.5 * X.shape[1] - X.sum(axis=1)}


G02 = Problem(
    name="g02_10d",
    variant="lit",
    space=box(**series("x", 10, 0, 10)),
    objective_formula=_g02_value,
    slack_formulas=_g02_slacks,
    optimum=-0.7473103615261206,
    optimizers=(
        (
            3.123890381204191,
            3.0691548770258734,
            3.0142823217134866,
            2.9575883574304864,
            1.466041344262764,
            0.3680585148866007,
            0.36348232779622747,
            0.35912064345622813,
            0.35495428005611923,
            0.35096664363137964,
        ),
    ),
    active=(0,),
    feasibility_ratio=0.996937,
    notes="Keane's bump in 10 dimensions (G02 has 20). Almost everything works; many local optima.",
)


def _g10_value(X: Array) -> Array:  # (n, 8) -> (n,)
    return np.asarray(X[:, :3].sum(axis=1))


def _g10_slacks(X: Array) -> dict[str, Array]:
    """Avriel & Williams (1971): areas of three heat exchangers in a row."""
    x1, x2, x3, x4, x5, x6, x7, x8 = X.T
    return {
        "temperature 1": 1 - 0.0025 * (x4 + x6),
        "temperature 2": 1 - 0.0025 * (x5 + x7 - x4),
        "temperature 3": 1 - 0.01 * (x8 - x5),
        "heat 1": x1 * x6 - 833.33252 * x4 - 100 * x1 + 83333.333,
        "heat 2": x2 * x7 - 1250 * x5 - x2 * x4 + 1250 * x4,
        "heat 3": x3 * x8 - 1250000 - x3 * x5 + 2500 * x5,
    }


G10 = Problem(
    name="g10",
    variant="near",
    space=box(
        area1=(100, 10000),
        area2=(1000, 10000),
        area3=(1000, 10000),
        x4=(10, 500),
        x5=(10, 500),
        x6=(10, 500),
        x7=(10, 500),
        x8=(10, 500),
    ),
    objective_formula=_g10_value,
    slack_formulas=_g10_slacks,
    optimum=7049.248020528728,
    optimizers=(
        (
            579.3067050545626,
            1359.9706928855787,
            5109.970622588587,
            182.01770130405106,
            295.6011750964579,
            217.98229869594857,
            286.41652620759265,
            395.60117509645755,
        ),
    ),
    active=(0, 1, 2, 3, 4, 5),
    feasibility_ratio=0.0002,
    notes=(
        "Three heat exchangers. All 6 constraints are active. The set's box ends at 1000 for x4 "
        "to x8: 5 of a million random designs would work."
    ),
)


def _g12_value(X: Array) -> Array:  # (n, 3) -> (n,)
    return np.asarray(((X - 5) ** 2).sum(axis=1) / 100 - 1)


def _g12_slacks(X: Array) -> dict[str, Array]:
    """Koziel & Michalewicz (1999), Evol. Comput. 7: 9 x 9 x 9 balls of radius 1/4."""
    nearest = np.clip(np.round(X), 1, 9)
    return {"a ball": 0.0625 - ((X - nearest) ** 2).sum(axis=1)}


G12 = Problem(
    name="g12",
    variant="lit",
    space=box(**series("x", 3, 0, 10)),
    objective_formula=_g12_value,
    slack_formulas=_g12_slacks,
    optimum=-1.0,
    optimizers=((5.0, 5.0, 5.0),),
    active=(),
    feasibility_ratio=729 * math.pi / 48 / 1000,
    notes="729 balls in a box. The optimum is the centre of the box: mind what starts there.",
)


def _g18_value(X: Array) -> Array:  # (n, 9) -> (n,)
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = X.T
    return np.asarray(-0.5 * (x1 * x4 - x2 * x3 + x3 * x9 - x5 * x9 + x5 * x8 - x6 * x7))


def _g18_slacks(X: Array) -> dict[str, Array]:
    """Himmelblau (1972), problem 16: the largest hexagon of diameter 1."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = X.T
    return {
        "length of 3-4": 1 - x3**2 - x4**2,
        "length of 9": 1 - x9**2,
        "length of 5-6": 1 - x5**2 - x6**2,
        "length of 1-2 to 9": 1 - x1**2 - (x2 - x9) ** 2,
        "length of 1-2 to 5-6": 1 - (x1 - x5) ** 2 - (x2 - x6) ** 2,
        "length of 1-2 to 7-8": 1 - (x1 - x7) ** 2 - (x2 - x8) ** 2,
        "length of 3-4 to 5-6": 1 - (x3 - x5) ** 2 - (x4 - x6) ** 2,
        "length of 3-4 to 7-8": 1 - (x3 - x7) ** 2 - (x4 - x8) ** 2,
        "length of 7-8 to 9": 1 - x7**2 - (x8 - x9) ** 2,
        "turn 1-2 to 3-4": x1 * x4 - x2 * x3,
        "turn 3 to 9": x3 * x9,
        "turn 5 to 9": -x5 * x9,
        "turn 5-6 to 7-8": x5 * x8 - x6 * x7,
    }


G18 = Problem(
    name="g18",
    variant="near",
    space=box(**series("x", 8, -1, 1), x9=(0, 1)),
    objective_formula=_g18_value,
    slack_formulas=_g18_slacks,
    optimum=-math.sqrt(3) / 2,
    optimizers=(
        (
            -0.2937281365580545,
            -0.1674211974848802,
            0.6809600806910073,
            -0.7323205367223399,
            -0.29372814816909726,
            -0.9558889972026836,
            0.6809600895863969,
            0.05614727483485775,
            0.7884678032856757,
        ),
    ),
    active=(0, 2, 3, 5, 6, 8),
    feasibility_ratio=0.00125,
    notes=(
        "Largest hexagon of diameter 1, in [-1, 1]^8 x [0, 1]. In the set's box, [-10, 10]^8 x "
        "[0, 20], random designs never work."
    ),
)

# Colville (1968), problem 2, dual: shell primal data.
_G19_A = np.array(
    [
        [-16, 2, 0, 1, 0],
        [0, -2, 0, 0.4, 2],
        [-3.5, 0, 2, 0, 0],
        [0, -2, 0, -4, -1],
        [0, -9, -2, 1, -2.8],
        [2, 0, -4, 0, 0],
        [-1, -1, -1, -1, -1],
        [-1, -2, -3, -2, -1],
        [1, 2, 3, 4, 5],
        [1, 1, 1, 1, 1],
    ]
)
_G19_B = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])
_G19_C = np.array(
    [
        [30, -20, -10, 32, -10],
        [-20, 39, -6, -31, 32],
        [-10, -6, 10, -6, -10],
        [32, -31, -6, 39, -20],
        [-10, 32, -10, -20, 30],
    ]
)
_G19_D = np.array([4, 8, 10, 6, 2])
_G19_E = np.array([-15, -27, -36, -18, -12])


def _g19_value(X: Array) -> Array:  # (n, 15) -> (n,)
    y, z = X[:, :10], X[:, 10:]
    return np.asarray(((z @ _G19_C) * z).sum(axis=1) + 2 * z**3 @ _G19_D - y @ _G19_B)


def _g19_slacks(X: Array) -> dict[str, Array]:
    y, z = X[:, :10], X[:, 10:]
    slacks = 2 * z @ _G19_C + 3 * _G19_D * z**2 + _G19_E - y @ _G19_A
    return {f"multiplier {j}": slack for j, slack in enumerate(slacks.T, start=1)}


G19 = Problem(
    name="g19",
    variant="lit",
    space=box(**series("x", 15, 0, 10)),
    objective_formula=_g19_value,
    slack_formulas=_g19_slacks,
    optimum=32.65559295025024,
    optimizers=(
        (
            0.0,
            0.0,
            3.9459897780117674,
            0.0,
            3.28317847789423,
            10.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.3707648416411092,
            0.27845565872016176,
            0.5238383514336319,
            0.38861997482052946,
            0.298156927305359,
        ),
    ),
    active=(0, 1, 2, 3, 4),
    feasibility_ratio=0.335057,
    notes="Colville's shell, the dual. All 5 constraints and some bounds are active.",
)
