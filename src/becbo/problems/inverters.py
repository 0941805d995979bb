"""Synchronous optimal pulse-width modulation (SOPWM) of multilevel inverters, 10 or 30 angles.

Rathore, Holtz & Boller (2010), IEEE Trans. Ind. Electron. 57, as CEC 2020 RC48 and RC49 (Kumar et
al., 2020) define it for 30 angles. The number of angles is free; 10 take the first 10 signs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series

# Odd harmonics without multiples of three; the collection leaves out 89.
_HARMONICS = [k for k in range(5, 98, 2) if k % 3 and k != 89]
_NORM = sum(k**-4.0 for k in _HARMONICS)
_GAP = 1e-6  # degrees between neighbouring angles


@dataclass(frozen=True)
class _Inverter:
    """Its positive levels, modulation index and the direction of each switching."""

    levels: int
    index: float
    signs: str

    def direction(self, n: int) -> Array:  # (n,)
        return np.array([1.0 if sign == "+" else -1.0 for sign in self.signs[:n]])


_NINE = _Inverter(levels=4, index=0.32, signs="++++-+---+--++++-+---+--++++-+")
_ELEVEN = _Inverter(levels=5, index=0.3333, signs="+-+++---++++--+---++++-++--+--")


def _angles(X: Array, *, ordered: bool) -> Array:  # (n, d) degrees -> (n, d) radians
    return np.deg2rad(np.sort(X, axis=1) if ordered else X)


def _distortion(X: Array, *, inverter: _Inverter, ordered: bool = False) -> Array:  # (n, d) -> (n,)
    angles, sign = _angles(X, ordered=ordered), inverter.direction(X.shape[1])
    power = sum(k**-4.0 * (np.cos(k * angles) @ sign) ** 2 for k in _HARMONICS)
    return np.asarray(np.sqrt(power / _NORM) / inverter.levels)


def _modulation_slacks(
    X: Array, *, inverter: _Inverter, tolerance: float, ordered: bool = False
) -> dict[str, Array]:
    """The order of the angles, unless they are `ordered` first, and the modulation index."""
    angles, sign = _angles(X, ordered=ordered), inverter.direction(X.shape[1])
    error = np.cos(angles) @ sign - inverter.levels * inverter.index
    gaps = [] if ordered else list((np.diff(X, axis=1) - _GAP).T)
    slacks = {f"order of angles {i} and {i + 1}": gap for i, gap in enumerate(gaps, start=1)}
    return slacks | {"modulation index": tolerance - np.abs(error)}


def _strict(
    name: str,
    inverter: _Inverter,
    *,
    optimum: float,
    optimizer: tuple[float, ...],
    active: tuple[int, ...],
    notes: str,
) -> Problem:
    """Ascending angles required, modulation index met to 1e-4."""
    return Problem(
        name=name,
        variant="lit",
        space=box(**series("angle", len(optimizer), 0, 90)),
        objective_formula=partial(_distortion, inverter=inverter),
        slack_formulas=partial(_modulation_slacks, inverter=inverter, tolerance=1e-4),
        optimum=optimum,
        optimizers=(optimizer,),
        active=active,
        feasibility_ratio=None,
        notes=notes,
    )


def _sorted(
    strict: Problem,
    inverter: _Inverter,
    *,
    optimum: float,
    optimizer: tuple[float, ...],
    feasibility_ratio: float,
) -> Problem:
    """The relaxation that a random initial design can satisfy."""
    return replace(
        strict,
        variant="sorted_tol0.05",
        objective_formula=partial(_distortion, inverter=inverter, ordered=True),
        slack_formulas=partial(_modulation_slacks, inverter=inverter, tolerance=0.05, ordered=True),
        optimum=optimum,
        optimizers=(optimizer,),
        active=(0,),
        feasibility_ratio=feasibility_ratio,
        notes=(
            "Angles are sorted first; the only constraint is the modulation index, met to 0.05. "
            "Every permutation of the optimizer is one too. The paper's own 10-angle problem "
            "cannot be recovered: it gives no signs, index, tolerance or value."
        ),
    )


_STRICT_9 = _strict(
    "sopwm9_10d",
    _NINE,
    optimum=0.05431611203903542,
    optimizer=(
        (40.404155577513244, 62.4132761841413, 84.79476221176355, 87.97740035713761)
        + (87.97740135741023, 87.98243396339765, 87.9824354204189, 87.9824495417403)
        + (87.98246381387777, 87.98246481413453)
    ),
    active=(3, 5, 6, 7, 8, 9),
    notes="First 10 signs, angles in order, index met to 1e-4. About 5e-13 of the box is feasible.",
)

SOPWM9_10D = (
    _sorted(
        _STRICT_9,
        _NINE,
        optimum=0.04462871169257608,
        optimizer=(
            (39.76185747199829, 61.078369648496924, 83.60260872022998, 83.6029190389976)
            + (83.60292003913807, 88.0661184845647, 88.06612128298077, 88.06612251165633)
            + (88.06615956190552, 88.06616056193654)
        ),
        feasibility_ratio=0.000205,
    ),
    _STRICT_9,
)

_STRICT_11 = _strict(
    "sopwm11_10d",
    _ELEVEN,
    optimum=0.026953608029733872,
    optimizer=(
        (3.134463624269732, 3.939074267052661, 4.635704388632554, 9.189240357139582)
        + (38.294481505623864, 52.74737311090726, 63.73106974967117, 72.665290942584)
        + (76.63926273882124, 89.32446189889505)
    ),
    active=(9,),
    notes=(
        "First 10 signs, angles in order, index met to 1e-4. About 4e-11 of the box is feasible. "
        "These signs reach only 3 of the 5 positive levels."
    ),
)

SOPWM11_10D = (
    _sorted(
        _STRICT_11,
        _ELEVEN,
        optimum=0.025110188964703135,
        optimizer=(
            (2.877727705608607, 3.4167948636089402, 4.8163134753593475, 9.223321145290697)
            + (37.86010854079149, 52.779161831647755, 64.76702443544568, 72.93176818360759)
            + (75.75464565899605, 88.76483116131419)
        ),
        feasibility_ratio=0.07116,
    ),
    _STRICT_11,
)

SOPWM9_30D = (
    _strict(
        "sopwm9_30d",
        _NINE,
        optimum=0.01678753503545302,
        optimizer=(
            (5.190673736428858, 11.32202073971276, 13.644961043760045, 13.891753001821343)
            + (13.891754001928534, 13.892983128294967, 13.892984371132206, 13.892985371376152)
            + (18.34625840506284, 20.233460138624057, 21.383269685289587, 26.433552619561155)
            + (32.85287924067257, 37.28514539052956, 43.52126028330546, 43.52126128336584)
            + (43.52126228349633, 48.29507302531004, 48.29507403075729, 48.29507504257101)
            + (56.007425635312444, 60.26073405882, 62.92675100592258, 70.12107651641526)
            + (78.46017177122897, 85.02272708687391, 89.08386832087201, 89.0838693209715)
            + (89.08387032106104, 90.0)
        ),
        active=(3, 5, 6, 14, 15, 17, 18, 26, 27, 29),
        notes="CEC 2020 RC48. Less than 1e-32 of the box is feasible; best known 0.0167875358.",
    ),
)

SOPWM11_30D = (
    _strict(
        "sopwm11_30d",
        _ELEVEN,
        optimum=0.009312183487263941,
        optimizer=(
            (0.0, 1.0000769642066714e-06, 1.7698252186641519, 7.612851577390992)
            + (10.751825129401446, 12.617903673498944, 18.92648254064557, 23.675865328341107)
            + (34.787821109787025, 38.43182362583502, 42.23939533781292, 47.18077091656236)
            + (49.93045272473699, 53.546170593572114, 54.81345672564337, 57.08177991490892)
            + (61.60813251232357, 68.65448304195527, 75.023417183555, 79.96066621207959)
            + (83.84937878859968, 83.84938009776856, 83.84938109786762, 83.8493821027853)
            + (83.84938310288537, 83.84938410298443, 83.84938510308447, 88.15036521742913)
            + (89.27855433274945, 89.50844096689714)
        ),
        active=(0, 20, 21, 22, 23, 24, 25, 29),
        notes="CEC 2020 RC49. Less than 1e-32 of the box is feasible; best known 0.0093118742.",
    ),
)
