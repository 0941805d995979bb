"""Rolling element bearing, 10 parameters.

The first variant is the default: `code` is the released code of the BE-CBO paper, `lit` the
literature, `paper` the paper as printed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box

_OUTER, _BORE, _WIDTH = 160.0, 90.0, 30.0  # mm


def _balls(X: Array, *, whole: bool) -> Array:  # (n, 10) -> (n,)
    return np.round(X[:, 2]) if whole else X[:, 2]


def _bearing_load(X: Array, *, whole: bool = False) -> Array:  # (n, 10) -> (n,)
    """Minus the dynamic capacity."""
    pitch, ball, _, inner, outer, *_ = X.T
    g = ball / pitch
    groove = (inner * (2 * outer - 1) / (outer * (2 * inner - 1))) ** 0.41
    shape = (1 + (1.04 * ((1 - g) / (1 + g)) ** 1.72 * groove) ** (10 / 3)) ** -0.3
    fit = g**0.3 * (1 - g) ** 1.39 / (1 + g) ** (1 / 3) * (2 * inner / (2 * inner - 1)) ** 0.41
    size = np.where(ball <= 25.4, ball**1.8, 3.647 * ball**1.4)
    return np.asarray(-37.91 * shape * fit * _balls(X, whole=whole) ** (2 / 3) * size)


def _bearing_slacks(
    X: Array,
    *,
    whole: bool = False,
    wide: bool = True,
    misprint: bool = False,
    bounds: bool = False,
) -> dict[str, Array]:
    """Gupta, Tiwari & Nair (2007), Mech. Mach. Theory 42.

    `wide` bounds the ball from below by xi times the width, otherwise from above; the `misprint`
    has e for epsilon; `bounds` adds the two that the literature counts as constraints.
    """
    pitch, ball, _, inner, outer, k_min, k_max, epsilon, e, xi = X.T
    gap = _OUTER - _BORE - 2 * ball
    u = (_OUTER - _BORE) / 2 - 3 * gap / 4
    v = _OUTER / 2 - gap / 4 - ball
    w = _BORE / 2 + gap / 4
    arc = 2 * np.pi - 2 * np.arccos((u**2 + v**2 - w**2) / (2 * u * v))
    width = ball - xi * _WIDTH
    slacks = {
        "assembly angle": arc / (2 * np.arcsin(ball / pitch)) - _balls(X, whole=whole) + 1,
        "smallest ball": 2 * ball - k_min * (_OUTER - _BORE),
        "largest ball": k_max * (_OUTER - _BORE) - 2 * ball,
        "bearing width": width if wide else -width,
        "smallest pitch": pitch - 0.5 * (_OUTER + _BORE),
        "largest pitch": (0.5 + e) * (_OUTER + _BORE) - pitch,
        "outer ring": 0.5 * (_OUTER - pitch - ball) - (e if misprint else epsilon) * ball,
    }
    if bounds:
        slacks |= {"inner groove": inner - 0.515, "outer groove": outer - 0.515}
    return slacks


_BEARING = Problem(
    name="rolling_bearing",
    variant="code",
    space=box(
        pitch_diameter=(125, 150),
        ball_diameter=(10.5, 31.5),
        balls=(4, 50),
        inner_groove=(0.515, 0.6),
        outer_groove=(0.515, 0.6),
        k_min=(0.4, 0.5),
        k_max=(0.6, 0.7),
        epsilon=(0.3, 0.4),
        e=(0.02, 0.1),
        xi=(0.6, 0.85),
    ),
    objective_formula=_bearing_load,
    slack_formulas=_bearing_slacks,
    optimum=-83918.49253462389,
    optimizers=(
        (125.0, 21.875, 10.77700904822898, 0.515, 0.515)
        + (0.42969721763311336, 0.6914756908814664, 0.3, 0.09928685084605807, 0.6036372573286836),
    ),
    active=(0, 4, 6),
    feasibility_ratio=0.000249,
    paper_value=-83918.0,
    notes=(
        "Released code: continuous number of balls: the paper's table, whose 9 constraints count "
        "two bounds. The objective is minus the capacity. The code's own optimal value -81843.3 is "
        "stale. k_min, k_max, e and xi are free at the optimum. The paper misprints the exponent "
        "-0.3, the signs of the width constraint and of f, and epsilon."
    ),
)

ROLLING_BEARING = (
    _BEARING,
    replace(
        _BEARING,
        variant="lit",
        objective_formula=partial(_bearing_load, whole=True),
        slack_formulas=partial(_bearing_slacks, whole=True, bounds=True),
        optimum=-81859.74159741693,
        optimizers=(
            (125.71905561467423, 21.425590240828598, 11.0, 0.515, 0.515, 0.47957508976477725)
            + (0.6525393684683201, 0.3, 0.022502553296429577, 0.637345657948559),
        ),
        active=(0, 6, 7, 8),
        feasibility_ratio=0.00025,
        notes=(
            "Literature: whole number of balls (by rounding), two bounds counted as constraints. "
            "The MATLAB code of CEC 2020 RC28 forgets the minus, so its 14614 is a minimum."
        ),
    ),
    replace(
        _BEARING,
        variant="paper",
        slack_formulas=partial(_bearing_slacks, wide=False, misprint=True),
        optimum=-101738.91525169548,
        optimizers=(
            (133.77926421385513, 24.49999999951704, 10.57518995681999, 0.515, 0.515)
            + (0.4988846000724173, 0.7, 0.3468704444882293, 0.03511705685789043)
            + (0.8310907014404125,),
        ),
        active=(0, 2, 5, 6),
        feasibility_ratio=0.023139,
        paper_value=None,
        notes="As printed: ball diameter at most xi times the width, e for epsilon.",
    ),
    replace(
        _BEARING,
        variant="xi_upper",
        slack_formulas=partial(_bearing_slacks, wide=False),
        optimum=-83918.49252069226,
        optimizers=(
            (125.00000000124479, 21.874999998549796, 10.777009047519352, 0.515, 0.515)
            + (0.4061591563999997, 0.6863468494119117, 0.3, 0.07055952932768009)
            + (0.7291727995951713,),
        ),
        feasibility_ratio=0.0077,
        paper_value=None,
        notes="Ball diameter at most xi times the width; the optimum is the same.",
    ),
)
