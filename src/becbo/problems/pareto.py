"""Test functions with several objectives and constraints."""

from __future__ import annotations

import math

import numpy as np

from becbo.arrays import Array
from becbo.problems.multimodal import branin
from becbo.problems.problem import ParetoProblem, box, series


def _bnh_objectives(X: Array) -> dict[str, Array]:
    """Binh & Korn (1997)."""
    a, b = X.T
    return {"f1": 4 * a**2 + 4 * b**2, "f2": (a - 5) ** 2 + (b - 5) ** 2}


def _bnh_slacks(X: Array) -> dict[str, Array]:
    a, b = X.T
    return {"inside": 25 - (a - 5) ** 2 - b**2, "outside": (a - 8) ** 2 + (b + 3) ** 2 - 7.7}


BNH = ParetoProblem(
    name="bnh",
    variant="lit",
    space=box(a=(0, 5), b=(0, 3)),
    objective_formulas=_bnh_objectives,
    slack_formulas=_bnh_slacks,
    reference=(140.0, 50.0),
    hypervolume=5284.8,
    feasibility_ratio=0.936421,
    notes="A convex front; nearly everything is feasible.",
)


def _srn_objectives(X: Array) -> dict[str, Array]:
    """Srinivas & Deb (1994)."""
    a, b = X.T
    return {"f1": 2 + (a - 2) ** 2 + (b - 1) ** 2, "f2": 9 * a - (b - 1) ** 2}


def _srn_slacks(X: Array) -> dict[str, Array]:
    a, b = X.T
    return {"disc": 225 - a**2 - b**2, "line": 3 * b - a - 10}


SRN = ParetoProblem(
    name="srn",
    variant="lit",
    space=box(a=(-20, 20), b=(-20, 20)),
    objective_formulas=_srn_objectives,
    slack_formulas=_srn_slacks,
    reference=(301.0, 72.0),
    hypervolume=62728.0,
    feasibility_ratio=0.162026,
    notes="The front is a line in the feasible segment of a disc. BoTorch's formulas differ.",
)


def _constr_objectives(X: Array) -> dict[str, Array]:
    """Deb (2001), Multi-Objective Optimization Using Evolutionary Algorithms."""
    a, b = X.T
    return {"f1": a, "f2": (1 + b) / a}


def _constr_slacks(X: Array) -> dict[str, Array]:
    a, b = X.T
    return {"lower line": 9 * a + b - 6, "upper line": 9 * a - b - 1}


CONSTR = ParetoProblem(
    name="constr",
    variant="lit",
    space=box(a=(0.1, 1), b=(0, 5)),
    objective_formulas=_constr_objectives,
    slack_formulas=_constr_slacks,
    reference=(10.0, 10.0),
    hypervolume=85.43,
    feasibility_ratio=0.523976,
    notes="A part of the front is on a constraint, the other part on a bound.",
)

_RADIUS = 0.2


def _c2_dtlz2_objectives(X: Array) -> dict[str, Array]:
    """Jain & Deb (2014), IEEE Trans. Evol. Comput. 18."""
    radius = 1 + ((X[:, 1:] - 0.5) ** 2).sum(axis=1)
    angle = math.pi / 2 * X[:, 0]
    return {"f1": radius * np.cos(angle), "f2": radius * np.sin(angle)}


def _c2_dtlz2_slacks(X: Array) -> dict[str, Array]:
    f1, f2 = _c2_dtlz2_objectives(X).values()
    r2 = _RADIUS**2
    middle = (f1 - math.sqrt(0.5)) ** 2 + (f2 - math.sqrt(0.5)) ** 2 - 2 * r2
    ends = np.minimum((f1 - 1) ** 2 + f2**2, (f2 - 1) ** 2 + f1**2) - r2
    return {"islands": -np.minimum(ends, middle)}


C2_DTLZ2 = ParetoProblem(
    name="c2_dtlz2",
    variant="botorch",
    space=box(**series("x", 3, 0, 1)),
    objective_formulas=_c2_dtlz2_objectives,
    slack_formulas=_c2_dtlz2_slacks,
    reference=(1.1, 1.1),
    hypervolume=0.4000,
    feasibility_ratio=0.356911,
    notes=(
        "Three islands on a circle, radius 0.2. As in BoTorch, the square of the radius of the "
        "one in the middle counts once per objective."
    ),
)


def _branin_units(X: Array) -> tuple[Array, Array]:  # (n, 2) -> (n,), (n,)
    return 15 * X[:, 0] - 5, 15 * X[:, 1]


def _branin_currin_objectives(X: Array) -> dict[str, Array]:
    """Belakaria et al. (2019), NeurIPS; Currin et al. (1988)."""
    x1, x2 = X.T
    currin = (2300 * x1**3 + 1900 * x1**2 + 2092 * x1 + 60) / (
        100 * x1**3 + 500 * x1**2 + 4 * x1 + 20
    )
    return {"Branin": branin(*_branin_units(X)), "Currin": (1 - np.exp(-1 / (2 * x2))) * currin}


def _branin_currin_slacks(X: Array) -> dict[str, Array]:
    """Daulton et al. (2020), NeurIPS: Gelbart's disc."""
    u, v = _branin_units(X)
    return {"disc": 50 - (u - 2.5) ** 2 - (v - 7.5) ** 2}


BRANIN_CURRIN = ParetoProblem(
    name="branin_currin",
    variant="lit",
    space=box(x1=(0, 1), x2=(0, 1)),
    objective_formulas=_branin_currin_objectives,
    slack_formulas=_branin_currin_slacks,
    reference=(80.0, 12.0),
    hypervolume=609.05,
    feasibility_ratio=0.698664,
    notes="Two test functions in a disc; most of the front is on its edge.",
)


def _tnk_objectives(X: Array) -> dict[str, Array]:
    """Tanaka et al. (1995)."""
    return {"f1": X[:, 0], "f2": X[:, 1]}


def _tnk_slacks(X: Array) -> dict[str, Array]:
    a, b = X.T
    wave = 1 + 0.1 * np.cos(16 * np.arctan2(a, b))
    return {"wave": a**2 + b**2 - wave, "disc": 0.5 - (a - 0.5) ** 2 - (b - 0.5) ** 2}


TNK = ParetoProblem(
    name="tnk",
    variant="lit",
    space=box(a=(0, math.pi), b=(0, math.pi)),
    objective_formulas=_tnk_objectives,
    slack_formulas=_tnk_slacks,
    reference=(1.14, 1.14),
    hypervolume=0.51827,
    feasibility_ratio=0.050949,
    notes="The objectives are the parameters: the front is a piece of the edge, with gaps.",
)


def _osy_objectives(X: Array) -> dict[str, Array]:
    """Osyczka & Kundu (1995), Struct. Optim. 10."""
    centre, weight = np.array([2, 2, 1, 4, 1]), np.array([25, 1, 1, 1, 1])
    return {"f1": -((X[:, :5] - centre) ** 2) @ weight, "f2": (X**2).sum(axis=1)}


def _osy_slacks(X: Array) -> dict[str, Array]:
    x1, x2, x3, x4, x5, x6 = X.T
    return {
        "least sum": x1 + x2 - 2,
        "largest sum": 6 - x1 - x2,
        "difference": 2 + x1 - x2,
        "slope": 2 - x1 + 3 * x2,
        "inside the parabola": 4 - (x3 - 3) ** 2 - x4,
        "outside the parabola": (x5 - 3) ** 2 + x6 - 4,
    }


OSY = ParetoProblem(
    name="osy",
    variant="lit",
    space=box(x1=(0, 10), x2=(0, 10), x3=(1, 5), x4=(0, 6), x5=(1, 5), x6=(0, 10)),
    objective_formulas=_osy_objectives,
    slack_formulas=_osy_slacks,
    reference=(-18.0, 84.0),
    hypervolume=16433.0,
    feasibility_ratio=0.0328,
    notes="A front of five pieces, each on other constraints.",
)


def _ctp_objectives(X: Array) -> dict[str, Array]:
    """Deb, Pratap & Meyarivan (2001), EMO."""
    f1, g = X[:, 0], 1 + X[:, 1:].sum(axis=1)
    return {"f1": f1, "f2": g - np.sqrt(f1 * g)}


def _ctp8_slacks(X: Array) -> dict[str, Array]:
    f1, f2 = _ctp_objectives(X).values()

    def islands(angle: float, pace: float, power: int, shift: float) -> Array:
        along = (f2 - shift) * math.sin(angle) + f1 * math.cos(angle)
        across = (f2 - shift) * math.cos(angle) - f1 * math.sin(angle)
        return np.asarray(across - 40 * np.abs(np.sin(pace * math.pi * along)) ** power)

    return {
        "bands": islands(0.1 * math.pi, 0.5, 2, -2.0),
        "stripes": islands(-0.05 * math.pi, 2.0, 6, 0.0),
    }


CTP8 = ParetoProblem(
    name="ctp8",
    variant="lit",
    space=box(x1=(0, 1), x2=(0, 20)),
    objective_formulas=_ctp_objectives,
    slack_formulas=_ctp8_slacks,
    reference=(0.9, 4.0),
    hypervolume=1.2999,
    feasibility_ratio=0.214442,
    notes="Stripes and bands leave islands; three of them hold the front.",
)


def _mw_distance(X: Array, n_position: int) -> Array:  # (n, d) -> (n,)
    """The third distance function of Ma & Wang (2019), IEEE Trans. Evol. Comput. 23."""
    x, before = X[:, n_position:], X[:, n_position - 1 : -1]
    return np.asarray(1 + 2 * ((x + (before - 0.5) ** 2 - 1) ** 2).sum(axis=1))


def _mw7_objectives(X: Array) -> dict[str, Array]:
    distance = _mw_distance(X, 1)
    return {"f1": distance * X[:, 0], "f2": distance * np.sqrt(1 - X[:, 0] ** 2)}


def _mw7_slacks(X: Array) -> dict[str, Array]:
    f1, f2 = _mw7_objectives(X).values()
    wave = np.sin(4 * np.arctan2(f2, f1))
    radius2 = f1**2 + f2**2
    return {
        "outer edge": (1.2 + 0.4 * wave**16) ** 2 - radius2,
        "inner edge": radius2 - (1.15 - 0.2 * wave**8) ** 2,
    }


MW7 = ParetoProblem(
    name="mw7",
    variant="4d",
    space=box(**series("x", 4, 0, 1)),
    objective_formulas=_mw7_objectives,
    slack_formulas=_mw7_slacks,
    reference=(1.27, 1.27),
    hypervolume=0.67652,
    feasibility_ratio=0.042902,
    notes="A narrow ring with bays; the front is three pieces of its edge.",
)


def _mw14_objectives(X: Array) -> dict[str, Array]:
    f = X[:, :2]
    last = _mw_distance(X, 2) / 2 * (6 - np.exp(f) - _mw14_wave(f)).sum(axis=1)
    return {"f1": X[:, 0], "f2": X[:, 1], "f3": last}


def _mw14_slacks(X: Array) -> dict[str, Array]:
    f, last = X[:, :2], _mw14_objectives(X)["f3"]
    return {"surface": (6.1 - 1 - f - 0.5 * f**2 - _mw14_wave(f)).sum(axis=1) / 2 - last}


def _mw14_wave(f: Array) -> Array:
    return np.asarray(1.5 * np.sin(1.1 * math.pi * f**2))


MW14 = ParetoProblem(
    name="mw14",
    variant="4d",
    space=box(**series("x", 4, 0, 1.5)),
    objective_formulas=_mw14_objectives,
    slack_formulas=_mw14_slacks,
    reference=(1.65, 1.65, 5.6),
    hypervolume=7.8565,
    feasibility_ratio=0.069204,
    notes="Three objectives; the front has four pieces and lies in a thin feasible layer.",
)
