"""Columns, beams and plates: the least material that carries the load."""

from __future__ import annotations

import math

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series
from becbo.space import Categorical, Integer, Real, Space


def _column_cost(X: Array) -> Array:  # (n, 2) -> (n,)
    diameter, thickness = X.T
    return np.asarray(9.8 * diameter * thickness + 2 * diameter)


def _column_slacks(X: Array) -> dict[str, Array]:
    """Rao (1996), Engineering Optimization; Gandomi et al. (2013), Eng. Comput. 29."""
    diameter, thickness = X.T
    load, stress, young, length = 2500.0, 500.0, 0.85e6, 250.0
    area = math.pi * diameter * thickness
    return {
        "stress": 1 - load / (area * stress),
        "buckling": 1
        - 8 * load * length**2 / (math.pi**2 * young * area * (diameter**2 + thickness**2)),
    }


TUBULAR_COLUMN = Problem(
    name="tubular_column",
    variant="lit",
    space=box(diameter=(2, 14), thickness=(0.2, 0.8)),
    objective_formula=_column_cost,
    slack_formulas=_column_slacks,
    optimum=26.499496891515484,
    optimizers=((5.451156234254861, 0.291965477143678),),
    active=(0, 1),
    feasibility_ratio=0.766912,
    notes="Cheapest tube that neither yields nor buckles; a corner of the two.",
)


def _i_beam_deflection(X: Array) -> Array:  # (n, 4) -> (n,)
    height, width, web, flange = X.T
    inertia = (
        web * (height - 2 * flange) ** 3 / 12
        + width * flange**3 / 6
        + 2 * width * flange * ((height - flange) / 2) ** 2
    )
    return np.asarray(5000 / inertia)


def _i_beam_slacks(X: Array) -> dict[str, Array]:
    """Gold & Krishnamurty (1997); Gandomi et al. (2013), Eng. Comput. 29, stress limit 6."""
    height, width, web, flange = X.T
    inside = height - 2 * flange
    upright = web * inside**3 + 2 * width * flange * (4 * flange**2 + 3 * height * inside)
    sideways = inside * web**3 + 2 * flange * width**3
    return {
        "area": 300 - 2 * width * flange - web * inside,
        "stress": 6 - 18e4 * height / upright - 15e3 * width / sideways,
    }


I_BEAM = Problem(
    name="i_beam",
    variant="lit",
    space=box(height=(10, 80), width=(10, 50), web=(0.9, 5), flange=(0.9, 5)),
    objective_formula=_i_beam_deflection,
    slack_formulas=_i_beam_slacks,
    optimum=0.013074118905223345,
    optimizers=((80.0, 50.0, 0.9, 2.3217922606924626),),
    active=(0,),
    feasibility_ratio=0.001464,
    notes="Stiffest I-beam of a given area. Three bounds and the area are active.",
)


def _stepped_weight(X: Array) -> Array:  # (n, 5) -> (n,)
    return np.asarray(0.0624 * X.sum(axis=1))


_STEPPED_BENDING = np.array([61.0, 37.0, 19.0, 7.0, 1.0])


def _stepped_slacks(X: Array) -> dict[str, Array]:
    """Fleury & Braibant (1986); Chickermane & Gea (1996), Int. J. Numer. Meth. Eng. 39."""
    return {"deflection": 1 - (_STEPPED_BENDING / X**3).sum(axis=1)}


STEPPED_BEAM = Problem(
    name="stepped_beam",
    variant="lit",
    space=box(**series("side", 5, 0.01, 100)),
    objective_formula=_stepped_weight,
    slack_formulas=_stepped_slacks,
    optimum=1.339956360599074,
    optimizers=(
        (
            6.01601589415059,
            5.309173857413237,
            4.494329573323156,
            3.50147497042532,
            2.1526653296728657,
        ),
    ),
    active=(0,),
    feasibility_ratio=0.875655,
    notes="Five hollow boxes in a row. A huge box, the optimum close to one of its corners.",
)

_STEEL_AREAS = (6.0, 6.16, 6.32, 6.6, 7.0, 7.11, 7.2, 7.8, 7.9, 8.0, 8.4)


def _steel(X: Array) -> Array:  # (n, 3) -> (n,)
    return np.asarray(np.array(_STEEL_AREAS)[X[:, 0].astype(int)])


def _concrete_cost(X: Array) -> Array:  # (n, 3) -> (n,)
    return np.asarray(29.4 * _steel(X) + 0.6 * X[:, 1] * X[:, 2])


def _concrete_slacks(X: Array) -> dict[str, Array]:
    """Amir & Hasegawa (1989), J. Struct. Eng. 115; ACI 318-77."""
    steel, depth, width = _steel(X), X[:, 1], X[:, 2]
    return {
        "slenderness": 4 - depth / width,
        "strength": steel * depth - 7.375 * steel**2 / width - 180,
    }


CONCRETE_BEAM = Problem(
    name="concrete_beam",
    variant="lit",
    space=Space(
        [Categorical("steel_area", _STEEL_AREAS), Integer("depth", 28, 40), Real("width", 5, 10)]
    ),
    objective_formula=_concrete_cost,
    slack_formulas=_concrete_slacks,
    optimum=29.4 * 6.32 + 0.6 * 34 * 8.5,
    optimizers=((2.0, 34.0, 8.5),),
    active=(0,),
    feasibility_ratio=0.148553,
    notes="Reinforced concrete beam. Mixed: a choice of steel areas, a whole depth, a real width.",
)


def _corrugation(X: Array) -> Array:  # (n, 4) -> (n,)
    """Width of one corrugation."""
    width, depth, length = X[:, 0], X[:, 1], X[:, 2]
    return np.asarray(width + np.sqrt(np.abs(length**2 - depth**2)))


def _bulkhead_weight(X: Array) -> Array:  # (n, 4) -> (n,)
    return np.asarray(5.885 * X[:, 3] * (X[:, 0] + X[:, 2]) / _corrugation(X))


def _bulkhead_slacks(X: Array) -> dict[str, Array]:
    """Kvalie et al. (1966); Ravindran et al. (2006), Engineering Optimization, 9.4."""
    width, depth, length, plate = X.T
    span = _corrugation(X)  # 0: the slacks per span are not finite, the design fails
    return {
        "section modulus": plate * depth * (0.4 * width + length / 6) / span - 8.94,
        "inertia": plate * depth**2 * (0.2 * width + length / 12) / span
        - 2.2 * 8.94 ** (4 / 3) * span ** (1 / 3),
        "plate over width": plate - 0.0156 * width - 0.15,
        "plate over length": plate - 0.0156 * length - 0.15,
        "corrosion": plate - 1.05,
        "depth": length - depth,
    }


BULKHEAD = Problem(
    name="bulkhead",
    variant="lit",
    space=box(width=(0, 100), depth=(0, 100), length=(0, 100), plate=(0, 5)),
    objective_formula=_bulkhead_weight,
    slack_formulas=_bulkhead_slacks,
    optimum=6.842958010080793,
    optimizers=((57.69230769230768, 34.14762034867441, 57.69230769230768, 1.050000000000003),),
    active=(1, 2, 3, 4),
    feasibility_ratio=0.221934,
    notes="Corrugated bulkhead of a tanker. A vertex: 4 of 6 constraints are active.",
)
