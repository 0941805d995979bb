"""Machines: a lever, a thrust bearing, a clutch, a brake."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import ParetoProblem, Problem, box
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


_CLUTCH_SPEED = math.pi * 250 / 30  # 1/s


def _clutch_arm(X: Array) -> Array:  # (n, 5) -> (n,) mm
    inner, outer = X[:, 0], X[:, 1]
    return np.asarray(2 / 3 * (outer**3 - inner**3) / (outer**2 - inner**2))


def _clutch_torque(X: Array) -> Array:  # (n, 5) -> (n,) N m
    return np.asarray(0.5 * X[:, 3] * X[:, 4] * _clutch_arm(X) / 1000)


def _clutch_time(X: Array) -> Array:  # (n, 5) -> (n,) s
    return np.asarray(55 * _CLUTCH_SPEED / (_clutch_torque(X) + 3))


def _clutch_slacks(X: Array) -> dict[str, Array]:
    """Osyczka (2002); Rao et al. (2011), Comput. Aided Des. 43: friction 0.5."""
    inner, outer, thickness, force, discs = X.T
    pressure = force / (math.pi * (outer**2 - inner**2))  # MPa
    slip = _CLUTCH_SPEED * _clutch_arm(X) / 1000  # m/s
    return {
        "ring": outer - inner - 20,
        "length": 30 - (discs + 1) * (thickness + 0.5),
        "pressure": 1 - pressure,
        "heat": 10 - pressure * slip,
        "slip": 10 - slip,
        "stopping time": 15 - _clutch_time(X),
        "torque": _clutch_torque(X) - 1.5 * 40,
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


def _clutch_mass_and_time(X: Array) -> dict[str, Array]:
    return {"mass": _clutch_mass(X), "time": _clutch_time(X)}


DISC_CLUTCH_2OBJ = ParetoProblem(
    name="disc_clutch_2obj",
    variant="lit",
    space=DISC_CLUTCH.space,
    objective_formulas=_clutch_mass_and_time,
    slack_formulas=_clutch_slacks,
    reference=(1.5, 12.5),
    hypervolume=9.2183835,
    feasibility_ratio=0.688467,
    notes="Light, or quick to stop. Every parameter is on a grid; all designs were tried.",
)


def _brake_objectives(X: Array) -> dict[str, Array]:
    """Osyczka & Kundu (1995); Ray & Liew (2002), Eng. Optim. 34."""
    inner, outer, force, surfaces = X.T
    ring, volume = outer**2 - inner**2, outer**3 - inner**3
    return {
        "mass": 4.9e-5 * ring * (surfaces - 1),
        "time": 9.82e6 * ring / (force * surfaces * volume),
    }


def _brake_slacks(X: Array) -> dict[str, Array]:
    inner, outer, force, surfaces = X.T
    ring, volume = outer**2 - inner**2, outer**3 - inner**3
    return {
        "ring": outer - inner - 20,
        "length": 30 - 2.5 * (surfaces + 1),
        "pressure": 0.4 - force / (3.14 * ring),
        "temperature": 1 - 2.22e-3 * force * volume / ring**2,
        "torque": 2.66e-2 * force * surfaces * volume / ring - 900,
    }


DISC_BRAKE = ParetoProblem(
    name="disc_brake",
    variant="lit",
    space=Space(
        [
            Real("inner", 55, 80),
            Real("outer", 75, 110),
            Real("force", 1000, 3000),
            Integer("surfaces", 2, 20),
        ]
    ),
    objective_formulas=_brake_objectives,
    slack_formulas=_brake_slacks,
    reference=(3.1, 18.0),
    hypervolume=42.490,
    feasibility_ratio=0.33767,
    notes="Light, or quick to stop. Mixed: a whole number of surfaces.",
)
