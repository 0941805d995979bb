"""Gears: speed reducer and planetary gear train.

In each tuple the first variant is the default. Variants differ in the arguments of one formula:
`lit` is the literature, `paper` the BE-CBO paper as printed, `code` its released code, `cec2020`
the collection of Kumar et al. (2020), doi:10.1016/j.swevo.2020.100693.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import ParetoProblem, Problem, box


def _reducer(X: Array, *, whole: bool) -> Array:  # (n, 7) -> (7, n)
    """The columns, with a whole number of teeth if asked."""
    columns = X.T.copy()
    if whole:
        columns[2] = np.round(columns[2])
    return columns


def _reducer_weight(X: Array, *, whole: bool = True, shafts: float = 7.4777) -> Array:
    x1, x2, x3, x4, x5, x6, x7 = _reducer(X, whole=whole)
    gears = 0.7854 * x1 * x2**2 * (3.3333 * x3**2 + 14.9334 * x3 - 43.0934)
    holes = 1.508 * x1 * (x6**2 + x7**2)
    return np.asarray(gears - holes + shafts * (x6**3 + x7**3) + 0.7854 * (x4 * x6**2 + x5 * x7**2))


def _reducer_stresses(X: Array, *, whole: bool = True, torque: float = 16.9e6) -> list[Array]:
    """Stress in each shaft; `torque` is that of the first."""
    _, x2, x3, *lengths_and_diameters = _reducer(X, whole=whole)
    lengths, diameters = lengths_and_diameters[:2], lengths_and_diameters[2:]
    return [
        np.asarray(np.sqrt((745 * length / (x2 * x3)) ** 2 + twist) / (0.1 * diameter**3))
        for length, diameter, twist in zip(lengths, diameters, (torque, 157.5e6), strict=True)
    ]


def _reducer_slacks(
    X: Array,
    *,
    whole: bool = True,
    power: int = 3,
    torque: float = 16.9e6,
    stress_limits: tuple[float, float] = (1100.0, 850.0),
) -> dict[str, Array]:
    """Golinski (1970); Lemonge et al. (2010). `power` is that of the shaft lengths."""
    x1, x2, x3, x4, x5, x6, x7 = _reducer(X, whole=whole)
    stress1, stress2 = _reducer_stresses(X, whole=whole, torque=torque)
    pinion = x2 * x3
    return {
        "tooth bending": 1 - 27 / (x1 * x2 * pinion),
        "tooth contact": 1 - 397.5 / (x1 * pinion**2),
        "deflection of shaft 1": 1 - 1.93 * x4**power / (pinion * x6**4),
        "deflection of shaft 2": 1 - 1.93 * x5**power / (pinion * x7**4),
        "stress in shaft 1": stress_limits[0] - stress1,
        "stress in shaft 2": stress_limits[1] - stress2,
        "pinion size": 40 - pinion,
        "least width to module": x1 / x2 - 5,
        "largest width to module": 12 - x1 / x2,
        "length of shaft 1": 1 - (1.5 * x6 + 1.9) / x4,
        "length of shaft 2": 1 - (1.1 * x7 + 1.9) / x5,
    }


_REDUCER_BOUNDS = {
    "face_width": (2.6, 3.6),
    "tooth_module": (0.7, 0.8),
    "pinion_teeth": (17.0, 28.0),
    "shaft1_length": (7.3, 8.3),
    "shaft2_length": (7.3, 8.3),
    "shaft1_diameter": (2.9, 3.9),
    "shaft2_diameter": (5.0, 5.5),
}
_REDUCER_BOX = box(**_REDUCER_BOUNDS)
_LONG_SHAFT_BOX = box(**_REDUCER_BOUNDS | {"shaft2_length": (7.8, 8.3)})

_REDUCER = Problem(
    name="speed_reducer",
    variant="lit",
    space=_REDUCER_BOX,
    objective_formula=_reducer_weight,
    slack_formulas=_reducer_slacks,
    optimum=2994.4710661468202,
    optimizers=(
        (3.5000000000000013, 0.7, 17.0, 7.300000000000002, 7.7153199114782485)
        + (3.3502146660964485, 5.286654464980222),
    ),
    active=(4, 5, 7, 10),
    feasibility_ratio=0.000949,
    paper_value=2994.4,
    notes=(
        "Literature formula in the paper's box, whole number of teeth by rounding: the paper's "
        "table, which counts 2 active constraints of 4. The paper prints the shaft lengths with "
        "power -3 for 3 and misplaces the square in the stresses."
    ),
)

SPEED_REDUCER = (
    _REDUCER,
    replace(
        _REDUCER,
        variant="cec2020",
        objective_formula=partial(_reducer_weight, whole=False, shafts=7.477),
        slack_formulas=partial(_reducer_slacks, whole=False, torque=16.91e6),
        optimum=2994.4244657955924,
        optimizers=(
            (3.5000000000605, 0.7, 17.0, 7.3, 7.715319911517892)
            + (3.3505409491302602, 5.286654464992836),
        ),
        feasibility_ratio=0.000948,
        paper_value=None,
        notes="CEC 2020 RC15: 7.477 for 7.4777, 16.91e6 for 16.9e6, teeth continuous.",
    ),
    replace(
        _REDUCER,
        variant="paper",
        slack_formulas=partial(_reducer_slacks, power=-3),
        optimum=2994.471066185701,
        optimizers=(
            (3.5000000000604996, 0.7, 17.0, 7.3, 7.715319911517892)
            + (3.350214666120925, 5.286654464992832),
        ),
        paper_value=None,
        notes="Shaft lengths with power -3 as printed: the same optimum and feasible share.",
    ),
    replace(
        _REDUCER,
        variant="code",
        space=_LONG_SHAFT_BOX,
        slack_formulas=partial(_reducer_slacks, power=-3),
        optimum=2996.3481649685295,
        optimizers=(
            (3.4999999999999996, 0.7, 17.0, 7.300000000000002, 7.8)
            + (3.3502146660964476, 5.286683229757917),
        ),
        active=(4, 5, 7),
        feasibility_ratio=0.00183,
        paper_value=None,
        notes="Released code: shaft lengths with power -3, second shaft from 7.8.",
    ),
    replace(
        _REDUCER,
        variant="lit78",
        space=_LONG_SHAFT_BOX,
        optimum=2996.348165006617,
        optimizers=(
            (3.5000000000604996, 0.7, 17.0, 7.300000000000002, 7.800000000000001)
            + (3.350214666121215, 5.2866832297705155),
        ),
        active=(4, 5, 7),
        feasibility_ratio=0.00183,
        paper_value=None,
        notes="Literature formula with the second shaft from 7.8 (Golinski, Lemonge).",
    ),
)


def _reducer_weight_and_stress(X: Array) -> dict[str, Array]:
    return {"weight": _reducer_weight(X), "stress": _reducer_stresses(X)[0]}


SPEED_REDUCER_2OBJ = ParetoProblem(
    name="speed_reducer_2obj",
    variant="lit",
    space=_REDUCER_BOX,
    objective_formulas=_reducer_weight_and_stress,
    slack_formulas=partial(_reducer_slacks, stress_limits=(1300.0, 1100.0)),
    reference=(6566.8, 1430.0),
    hypervolume=2.7363e6,
    feasibility_ratio=0.004219,
    notes=(
        "Light, or little stress in shaft 1: CRE24 of Tanabe & Ishibuchi (2020), whose weight has "
        "10/3, 14.933 and 7.477 for the 3.3333, 14.9334 and 7.4777 here."
    ),
)

_DIAMETER = 220.0  # largest gear, mm
_PLAY = 0.5  # least distance between neighbouring teeth


def _gears(X: Array) -> Array:  # (n, 9) -> (9, n)
    """Whole numbers of teeth and planets, modules in quarters of a millimetre."""
    return np.vstack([np.round(X[:, :7]).T, np.round(4 * X[:, 7:]).T / 4])


def _gear_error(X: Array, *, reverse: float = -1.0) -> Array:  # (n, 9) -> (n,)
    """Largest error of the three ratios; `reverse` is the sign of the reverse gear's."""
    n1, n2, n3, n4, _, n6, *_ = _gears(X)
    first = np.abs(n6 / n4 - 3.11)
    second = np.abs(n6 * (n1 * n3 + n2 * n4) / (n1 * n3 * (n6 - n4)) - 1.84)
    back = np.abs(reverse * n2 * n6 / (n1 * n3) + 3.11)
    return np.asarray(np.max([first, second, back], axis=0))


def _gear_slacks(X: Array, *, assembly: bool = True, clip_angle: bool = False) -> dict[str, Array]:
    """Rao & Savsani (2012), Mechanical Design Optimization; CEC 2020 RC22.

    `assembly` adds that the two stages are concentric and that the planets can be mounted;
    `clip_angle` accepts gear centres that form no triangle, which otherwise are infeasible.
    """
    n1, n2, n3, n4, n5, n6, p, m1, m2 = _gears(X)
    s = np.sin(np.pi / p)
    a, b, c = n6 - n3, n4 + n5, n3 + n5  # sides of the triangle of the gear centres
    cosine = (a**2 + b**2 - c**2) / (2 * a * b)
    angle = np.arccos(np.clip(cosine, -1, 1) if clip_angle else cosine)
    slacks = {
        "diameter of gear 6": _DIAMETER - m2 * (n6 + 2 + _PLAY),
        "diameter of gear 2": _DIAMETER - m1 * (n1 + n2) - m1 * (n2 + 2),
        "diameter of gear 5": _DIAMETER - m2 * (n4 + n5) - m2 * (n5 + 2),
        "concentric stages": m1 + m2 - np.abs(m1 * (n1 + n2) - m2 * (n6 - n3)),
        "clearance of gears 2": (n1 + n2) * s - n2 - 2 - _PLAY,
        "clearance of gears 3": a * s - n3 - 2 - _PLAY,
        "clearance of gears 5": b * s - n5 - 2 - _PLAY,
        "clearance of gears 3 and 5": a**2
        + b**2
        - 2 * a * b * np.cos(2 * np.pi / p - angle)
        - (c + 2 + _PLAY) ** 2,
        "clearance of gears 3 and 4": n6 - 2 * n3 - n4 - 4 - 2 * _PLAY,
        "clearance of gears 5 and 6": n6 - n4 - 2 * n5 - 4 - 2 * _PLAY,
        "assembly of planets": -np.mod(n6 - n4, p),
    }
    if not assembly:
        del slacks["concentric stages"], slacks["assembly of planets"]
    return slacks


_MODULES = {"planets": (3.0, 5.0), "module1": (1.75, 3.0), "module2": (1.75, 3.0)}
_CODE_GEARS = box(
    teeth1=(17, 110),
    teeth2=(14, 58),
    teeth3=(14, 46),
    teeth4=(17, 104),
    teeth5=(14, 46),
    teeth6=(25, 200),
    **_MODULES,
)
_PAPER_GEARS = box(
    teeth1=(17, 96),
    teeth2=(14, 54),
    teeth3=(14, 51),
    teeth4=(17, 46),
    teeth5=(14, 51),
    teeth6=(48, 124),
    **_MODULES,
)

_GEAR = Problem(
    name="planetary_gear",
    variant="code",
    space=_CODE_GEARS,
    objective_formula=partial(_gear_error, reverse=1.0),
    slack_formulas=partial(_gear_slacks, assembly=False, clip_angle=True),
    optimum=3.484828375286041,
    optimizers=(
        (95.0, 14.0, 46.0, 18.0, 14.0, 117.0, 3.0, 1.75, 1.75),
        (95.0, 14.0, 46.0, 19.0, 14.0, 117.0, 3.0, 1.75, 1.75),
        (95.0, 14.0, 46.0, 20.0, 14.0, 117.0, 3.0, 1.75, 1.75),
    ),
    active=(),
    feasibility_ratio=0.000902,
    paper_value=3.6859,
    notes=(
        "Released code: the reverse ratio lacks its minus (so f >= 3.11), no concentricity and no "
        "assembly condition, a wider box. The three optima are all there are (by enumeration); the "
        "table's 3.6859 is not optimal. The paper prints sin(7/p) for sin(pi/p), a wrong sign in "
        "two clearances and m3 for m2. Teeth, planets and modules by rounding."
    ),
)

PLANETARY_GEAR = (
    _GEAR,
    replace(
        _GEAR,
        variant="lit",
        space=_PAPER_GEARS,
        objective_formula=_gear_error,
        slack_formulas=_gear_slacks,
        optimum=0.5232499999999998,
        optimizers=((30.0, 18.0, 16.0, 19.0, 14.0, 69.0, 5.0, 2.0, 1.75),),
        active=(10,),
        feasibility_ratio=0.000121,
        notes=(
            "Literature, all 11 constraints. One of 55 optima (by enumeration); better than the "
            "0.52577 that CEC 2020 lists for RC22."
        ),
    ),
    replace(
        _GEAR,
        variant="fixed9",
        space=_PAPER_GEARS,
        objective_formula=_gear_error,
        optimum=0.5232499999999998,
        optimizers=((40.0, 21.0, 14.0, 19.0, 14.0, 69.0, 3.0, 1.75, 1.75),),
        feasibility_ratio=0.005323,
        paper_value=None,
        notes=(
            "The paper's 9 constraints and box with all signs corrected. One of 5994 optima (by "
            "enumeration)."
        ),
    ),
    replace(
        _GEAR,
        variant="paperbox9",
        space=_PAPER_GEARS,
        optimum=3.4814912280701753,
        optimizers=(
            (95.0, 14.0, 48.0, 19.0, 14.0, 121.0, 3.0, 1.75, 1.75),
            (95.0, 14.0, 48.0, 20.0, 14.0, 121.0, 3.0, 1.75, 1.75),
        ),
        feasibility_ratio=0.005323,
        paper_value=None,
        notes="The paper's box and sign of the reverse ratio; signs of the constraints corrected.",
    ),
)
