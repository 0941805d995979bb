"""The side of a car, which has to be light and to protect in a crash."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import ParetoProblem, Problem, box
from becbo.space import Categorical, Real, Space

_STEELS = (0.192, 0.345)  # yield strength in GPa: mild and high-strength

# Limit, constant, and terms (factor, i, j) of factor x_i x_j, where x_0 = 1.
Response = tuple[float, float, tuple[tuple[float, int, int], ...]]
_CAR: dict[str, Response] = {
    "load on the abdomen": (
        1.0,
        1.16,
        ((-0.3717, 2, 4), (-0.00931, 2, 10), (-0.484, 3, 9), (0.01343, 6, 10)),
    ),
    "viscous criterion at the upper rib": (
        0.32,
        0.261,
        (
            *((-0.0159, 1, 2), (-0.188, 1, 8), (-0.019, 2, 7), (0.0144, 3, 5)),
            *((0.0008757, 5, 10), (0.08045, 6, 9), (0.00139, 8, 11), (0.00001575, 10, 11)),
        ),
    ),
    "viscous criterion at the middle rib": (
        0.32,
        0.214,
        (
            *((0.00817, 0, 5), (-0.131, 1, 8), (-0.0704, 1, 9), (0.03099, 2, 6)),
            *((-0.018, 2, 7), (0.0208, 3, 8), (0.121, 3, 9), (-0.00364, 5, 6)),
            *((0.0007715, 5, 10), (-0.0005354, 6, 10), (0.00121, 8, 11), (0.00184, 9, 10)),
            (-0.018, 2, 2),
        ),
    ),
    "viscous criterion at the lower rib": (
        0.32,
        0.74,
        (
            *((-0.61, 0, 2), (-0.163, 3, 8), (0.001232, 3, 10), (-0.166, 7, 9)),
            (0.227, 2, 2),
        ),
    ),
    "deflection of the upper rib": (
        32.0,
        28.98,
        (
            *((3.818, 0, 3), (-4.2, 1, 2), (0.0207, 5, 10), (6.63, 6, 9)),
            *((-7.7, 7, 8), (0.32, 9, 10)),
        ),
    ),
    "deflection of the middle rib": (
        32.0,
        33.86,
        (
            *((2.95, 0, 3), (0.1792, 0, 10), (-5.057, 1, 2), (-11.0, 2, 8)),
            *((-0.0215, 5, 10), (-9.98, 7, 8), (22.0, 8, 9)),
        ),
    ),
    "deflection of the lower rib": (
        32.0,
        46.36,
        ((-9.9, 0, 2), (-12.9, 1, 8), (0.1107, 3, 10)),
    ),
    "force on the pubis": (
        4.0,
        4.72,
        (
            *((-0.5, 0, 4), (-0.19, 2, 3), (-0.0122, 4, 10), (0.009325, 6, 10)),
            (0.000191, 11, 11),
        ),
    ),
    "speed of the pillar": (
        9.9,
        10.58,
        (
            *((-0.674, 1, 2), (-1.95, 2, 8), (0.02054, 3, 10), (-0.0198, 4, 10)),
            (0.028, 6, 10),
        ),
    ),
    "speed of the door": (
        15.7,
        16.45,
        (
            *((-0.489, 3, 7), (-0.843, 5, 6), (0.0432, 9, 10), (-0.0556, 9, 11)),
            (-0.000786, 11, 11),
        ),
    ),
}


def _car_weight(X: Array) -> Array:  # (n, 7 or 11) -> (n,)
    return np.asarray(1.98 + X[:, :7] @ np.array([4.90, 6.67, 6.98, 4.01, 1.78, 0, 2.73]))


def _response_slacks(x: Array, responses: Mapping[str, Response]) -> dict[str, Array]:
    """Distance of each response from its limit; x (12, n) holds x_0 to x_11."""
    return {
        name: limit - constant - sum((c * x[i] * x[j] for c, i, j in terms), np.zeros(x.shape[1]))
        for name, (limit, constant, terms) in responses.items()
    }


def _car_slacks(X: Array) -> dict[str, Array]:
    """Gu et al. (2001), Int. J. Vehicle Des. 26; Gandomi et al. (2013), Eng. Comput. 29."""
    steels = np.array(_STEELS)[X[:, 7:9].astype(int)]
    return _response_slacks(np.column_stack([np.ones(len(X)), X[:, :7], steels, X[:, 9:]]).T, _CAR)


CAR_SIDE = Problem(
    name="car_side",
    variant="lit",
    space=Space(
        [
            Real("pillar_inner", 0.5, 1.5),
            Real("pillar_reinforcement", 0.5, 1.5),
            Real("floor", 0.5, 1.5),
            Real("cross_members", 0.5, 1.5),
            Real("door_beam", 0.5, 1.5),
            Real("belt_line", 0.5, 1.5),
            Real("roof_rail", 0.5, 1.5),
            Categorical("pillar_steel", _STEELS),
            Categorical("floor_steel", _STEELS),
            Real("barrier_height", -30, 30),
            Real("hitting_position", -30, 30),
        ]
    ),
    objective_formula=_car_weight,
    slack_formulas=_car_slacks,
    optimum=22.84296919913302,
    optimizers=tuple(
        (
            0.5,
            1.11636558753935,
            0.5,
            1.3021971895874203,
            0.5,
            1.5,
            0.5,
            1.0,
            floor,
            -19.5615299613449,
            0.0,
        )
        for floor in (1.0, 0.0)
    ),
    active=(6, 7),
    feasibility_ratio=0.122339,
    notes="Lightest side of a car that protects in a crash. Mixed: two steels for two parts.",
)

# Three terms differ in Jain & Deb (2014): a tenth of a factor, the other steel, 7.77 for 7.7.
_JAIN_DEB = {
    "load on the abdomen": ((-0.484, 3, 9), (-0.0484, 3, 9)),
    "viscous criterion at the lower rib": ((-0.163, 3, 8), (-0.163, 3, 9)),
    "deflection of the upper rib": ((-7.7, 7, 8), (-7.77, 7, 8)),
}
_CAR_7D = _CAR | {
    name: (*_CAR[name][:2], tuple(new if term == old else term for term in _CAR[name][2]))
    for name, (old, new) in _JAIN_DEB.items()
}


def _car_7d_slacks(X: Array) -> dict[str, Array]:
    """Jain & Deb (2014), IEEE Trans. Evol. Comput. 18: steels chosen, barrier in the middle."""
    fixed = np.tile([_STEELS[1], _STEELS[0], 0.0, 0.0], (len(X), 1))
    return _response_slacks(np.column_stack([np.ones(len(X)), X, fixed]).T, _CAR_7D)


def _car_objectives(X: Array) -> dict[str, Array]:
    slacks = _car_7d_slacks(X)
    force, pillar, door = (
        _CAR_7D[name][0] - slacks[name]
        for name in ("force on the pubis", "speed of the pillar", "speed of the door")
    )
    return {
        "weight": _car_weight(X) + 1e-5 * X[:, 5],
        "pubic force": force,
        "mean speed": (pillar + door) / 2,
    }


CAR_SIDE_3OBJ = ParetoProblem(
    name="car_side_3obj",
    variant="lit",
    space=box(
        pillar_inner=(0.5, 1.5),
        pillar_reinforcement=(0.45, 1.35),
        floor=(0.5, 1.5),
        cross_members=(0.5, 1.5),
        door_beam=(0.875, 2.625),
        belt_line=(0.4, 1.2),
        roof_rail=(0.4, 1.2),
    ),
    objective_formulas=_car_objectives,
    slack_formulas=_car_7d_slacks,
    reference=(45.487, 4.511, 13.339),
    hypervolume=42.272,
    feasibility_ratio=0.181929,
    notes="Light, little force on the pubis, slow parts: CRE31 of Tanabe & Ishibuchi (2020).",
)
