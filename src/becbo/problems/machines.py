"""Machines and vehicles: a lever, a thrust bearing, a clutch, the side of a car."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from becbo.problems.problem import Array, Problem, box
from becbo.space import Categorical, Integer, Real, Space

_TILT = math.pi / 4  # of the raised lever


def _strokes(X: Array) -> tuple[Array, Array]:  # (n, 4) -> (n,), (n,)
    """Length of the piston with the lever down and up."""
    H, B, _, reach = X.T
    low = np.hypot(reach - B, H)
    return low, np.hypot(reach * math.sin(_TILT) + H, B - reach * math.cos(_TILT))


def _lever_oil(X: Array) -> Array:  # (n, 4) -> (n,)
    low, high = _strokes(X)
    return np.asarray(math.pi / 4 * X[:, 2] ** 2 * (high - low))


def _lever_slacks(X: Array) -> dict[str, Array]:
    """Vanderplaats (1995), DOT users manual; Gandomi et al. (2013), Eng. Comput. 29."""
    H, B, piston, reach = X.T
    load, arm, moment, pressure = 10e3, 240.0, 1.8e6, 1500.0
    low, high = _strokes(X)
    leverage = -reach * (reach * math.sin(_TILT) + H) + H * (B - reach * math.cos(_TILT))
    force = math.pi / 4 * pressure * piston**2
    return {
        "balance": np.abs(leverage) / low * force - load * arm * math.cos(_TILT),
        "bending": moment - load * (arm - reach),
        "stroke": low - 1.2 * (high - low),
        "room": B - piston / 2,
    }


PISTON_LEVER = Problem(
    name="piston_lever",
    variant="lit",
    space=box(H=(0.05, 500), B=(0.05, 500), piston=(0.05, 500), reach=(0.05, 120)),
    objective_formula=_lever_oil,
    slack_formulas=_lever_slacks,
    optimum=8.412698323175855,
    optimizers=((0.05, 2.0415135899239805, 4.083027179847374, 120.0),),
    active=(0, 3),
    feasibility_ratio=0.362925,
    notes="Least oil to raise a lever. A narrow corner of a huge box; a local optimum at 167.",
)

# Grade: constants C1 and n of its viscosity over temperature.
_OILS = {
    "SAE 5": (10.85, -3.91),
    "SAE 10": (10.45, -3.72),
    "SAE 20": (10.04, -3.55),
    "SAE 30": (9.88, -3.48),
    "SAE 40": (9.83, -3.46),
    "SAE 50": (9.82, -3.44),
}


def _film(X: Array) -> tuple[Array, Array, Array, Array]:  # (n, 4 or 5) -> (n,) each
    """Inlet pressure, friction loss, temperature rise, thickness of the oil film."""
    radius, recess, viscosity, flow = X[:, :4].T
    grade = X[:, 4].astype(int) if X.shape[1] > 4 else list(_OILS).index("SAE 20")
    offset, power = np.array(list(_OILS.values()))[grade].T
    P = (np.log10(np.log10(8.122 * viscosity + 0.8)) - offset) / power
    rise = 2 * (10**P - 560)
    friction = 9336 * flow * 0.0307 * 0.5 * rise
    viscosity = 1e-6 * viscosity
    film = (
        (2 * math.pi * 750 / 60) ** 2
        * (2 * math.pi * viscosity / friction)
        * (radius**4 - recess**4)
        / 4
    )
    inlet = 6 * viscosity * flow / (math.pi * film**3) * np.log(radius / recess)
    return inlet, friction, rise, film


def _thrust_loss(X: Array) -> Array:  # (n, 4 or 5) -> (n,)
    inlet, friction, _, _ = _film(X)
    return np.asarray((X[:, 3] * inlet / 0.7 + friction) / 12)


def _thrust_slacks(X: Array) -> dict[str, Array]:
    """Siddall (1982), Optimal Engineering Design; Deb & Goyal (1997); Coello (2000)."""
    radius, recess, _, flow = X[:, :4].T
    inlet, _, rise, film = _film(X)
    ring = radius**2 - recess**2
    weight = math.pi * inlet / 2 * ring / np.log(radius / recess)
    return {
        "load": weight - 101000,
        "inlet pressure": 1000 - inlet,
        "temperature": 50 - rise,
        "film": film - 0.001,
        "recess": radius - recess,
        "exit loss": 0.001 - 0.0307 / (386.4 * inlet) * flow / (2 * math.pi * radius * film),
        "surface": 5000 - weight / (math.pi * ring),
    }


_THRUST = Problem(
    name="thrust_bearing",
    variant="lit",
    space=box(radius=(1, 16), recess=(1, 16), viscosity=(1, 16), flow=(1, 16)),
    objective_formula=_thrust_loss,
    slack_formulas=_thrust_slacks,
    optimum=1625.4427590801631,
    optimizers=((5.955780495321761, 5.389013045775871, 5.35869726574404, 2.26965596339235),),
    active=(0, 1, 2, 6),
    feasibility_ratio=0.000874,
    notes="Hydrostatic thrust bearing of a turbine, oil SAE 20. Viscosity in 1e-6 lb s/in2.",
)

THRUST_BEARING = (
    replace(
        _THRUST,
        variant="oils",
        space=Space([*_THRUST.space.parameters, Categorical("oil", _OILS)]),
        optimum=953.9300031813317,
        optimizers=(
            (5.955780495321765, 5.389013045775874, 1.832503611078053, 2.857286460081236, 0.0),
        ),
        active=(0, 1, 3, 6),
        feasibility_ratio=0.000769,
        notes="Hydrostatic thrust bearing with a choice of six oils. Mixed.",
    ),
    _THRUST,
)


def _clutch_mass(X: Array) -> Array:  # (n, 5) -> (n,)
    inner, outer, thickness, _, discs = X.T
    return np.asarray(math.pi * (outer**2 - inner**2) * thickness * (discs + 1) * 7.8e-6)


def _clutch_slacks(X: Array) -> dict[str, Array]:
    """Osyczka (2002); Rao et al. (2011), Comput. Aided Des. 43: friction 0.5."""
    inner, outer, thickness, force, discs = X.T
    ring = outer**2 - inner**2
    arm = 2 / 3 * (outer**3 - inner**3) / ring  # mm
    speed = math.pi * 250 / 30  # 1/s
    pressure, slip = force / (math.pi * ring), speed * arm / 1000  # MPa, m/s
    torque = 0.5 * force * discs * arm / 1000  # N m
    return {
        "ring": outer - inner - 20,
        "length": 30 - (discs + 1) * (thickness + 0.5),
        "pressure": 1 - pressure,
        "heat": 10 - pressure * slip,
        "slip": 10 - slip,
        "stopping time": 15 - 55 * speed / (torque + 3),
        "torque": torque - 1.5 * 40,
    }


DISC_CLUTCH = Problem(
    name="disc_clutch",
    variant="lit",
    space=Space(
        [
            Integer("inner", 60, 80),
            Integer("outer", 90, 110),
            Real("thickness", 1, 3, step=0.5),
            Integer("force", 600, 1000, step=10),
            Integer("discs", 2, 9),
        ]
    ),
    objective_formula=_clutch_mass,
    slack_formulas=_clutch_slacks,
    optimum=math.pi * 3200 * 4 * 7.8e-6,
    optimizers=tuple((70.0, 90.0, 1.0, float(force), 3.0) for force in range(780, 1001, 10)),
    active=(0,),
    feasibility_ratio=0.688467,
    notes="Lightest multiple disc clutch brake. Every parameter is on a grid.",
)

_STEELS = (0.192, 0.345)  # yield strength in GPa: mild and high-strength

# Limit, constant, and terms (factor, i, j) of factor x_i x_j, where x_0 = 1.
_CAR: dict[str, tuple[float, float, tuple[tuple[float, int, int], ...]]] = {
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


def _car_weight(X: Array) -> Array:  # (n, 11) -> (n,)
    return np.asarray(1.98 + X[:, :7] @ np.array([4.90, 6.67, 6.98, 4.01, 1.78, 0, 2.73]))


def _car_slacks(X: Array) -> dict[str, Array]:
    """Gu et al. (2001), Int. J. Vehicle Des. 26; Gandomi et al. (2013), Eng. Comput. 29."""
    steels = np.array(_STEELS)[X[:, 7:9].astype(int)]
    x = np.column_stack([np.ones(len(X)), X[:, :7], steels, X[:, 9:]]).T
    return {
        name: limit - constant - sum((c * x[i] * x[j] for c, i, j in terms), np.zeros(len(X)))
        for name, (limit, constant, terms) in _CAR.items()
    }


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
