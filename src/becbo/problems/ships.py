"""A bulk carrier in its conceptual design."""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import ParetoProblem, box


def _weights(X: Array) -> tuple[Array, Array, Array, Array]:  # (n, 6) -> (n,) each
    """Power in kW; steel, outfit and machinery in t."""
    length, beam, depth, _, speed, block = X.T
    a = 4977.06 * block**2 - 8105.61 * block + 4456.51
    b = -10847.2 * block**2 + 12817.0 * block - 6960.32
    power = _displacement(X) ** (2 / 3) * speed**3 / (a + b * _froude(X))
    steel = 0.034 * length**1.7 * beam**0.7 * depth**0.4 * block**0.5
    outfit = length**0.8 * beam**0.6 * depth**0.3 * block**0.1
    return power, steel, outfit, 0.17 * power**0.9


def _displacement(X: Array) -> Array:  # (n, 6) -> (n,) t
    return np.asarray(1.025 * X[:, 0] * X[:, 1] * X[:, 3] * X[:, 5])


def _froude(X: Array) -> Array:  # (n, 6) -> (n,)
    return np.asarray(0.5144 * X[:, 4] / np.sqrt(9.8065 * X[:, 0]))


def _deadweight(X: Array) -> Array:  # (n, 6) -> (n,) t
    return np.asarray(_displacement(X) - sum(_weights(X)[1:]))


def _carrier_objectives(X: Array) -> dict[str, Array]:
    """Sen & Yang (1998); Parsons & Scott (2004), J. Ship Res. 48."""
    power, steel, outfit, machinery = _weights(X)
    deadweight = _deadweight(X)
    sea_days = 5000 / (24 * X[:, 4])
    fuel_per_day = 0.19 * power * 24 / 1000 + 0.2  # t
    cargo = deadweight - fuel_per_day * (sea_days + 5) - 2 * deadweight**0.5
    trips = 350 / (sea_days + 2 * (cargo / 8000 + 0.5))  # per year
    ship = 1.3 * (2000 * steel**0.85 + 3500 * outfit + 2400 * power**0.8)
    voyage = 1.05 * fuel_per_day * sea_days * 100 + 6.3 * deadweight**0.8
    cost = 0.2 * ship + 40000 * deadweight**0.3 + voyage * trips
    return {
        "transport cost": cost / (cargo * trips),
        "light ship": steel + outfit + machinery,
        "minus annual cargo": -cargo * trips,
    }


def _carrier_slacks(X: Array) -> dict[str, Array]:
    length, beam, depth, draught, _, block = X.T
    deadweight = _deadweight(X)
    metacentre = 0.53 * draught + (0.085 * block - 0.002) * beam**2 / (draught * block)
    return {
        "length to beam": length / beam - 6,
        "length to depth": 15 - length / depth,
        "length to draught": 19 - length / draught,
        "draught for deadweight": 0.45 * deadweight**0.31 - draught,
        "draught for depth": 0.7 * depth + 0.7 - draught,
        "largest deadweight": 50000 - deadweight,
        "least deadweight": deadweight - 3000,
        "Froude number": 0.32 - _froude(X),
        "stability": metacentre - (1 + 0.52 * depth) - 0.07 * beam,
    }


BULK_CARRIER = ParetoProblem(
    name="bulk_carrier",
    variant="lit",
    space=box(
        length=(150, 274.32),
        beam=(20, 32.31),
        depth=(13, 25),
        draught=(10, 11.71),
        speed=(14, 18),
        block=(0.63, 0.75),
    ),
    objective_formulas=_carrier_objectives,
    slack_formulas=_carrier_slacks,
    reference=(12.7, 12900.0, -320000.0),
    hypervolume=8.404e9,
    feasibility_ratio=0.025668,
    notes=(
        "Cheap transport, a light ship, much cargo. CRE32 of Tanabe & Ishibuchi multiplies by "
        "the speed where the days at sea are a distance divided by it."
    ),
)
