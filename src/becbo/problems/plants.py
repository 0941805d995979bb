"""Process plant: gas pipeline, pressure vessel, batch plant, refrigeration.

In each tuple the first variant is the default. Variants differ in the arguments of one formula:
`lit` is the literature, `paper` the BE-CBO paper as printed, `code` its released code, `cec2020`
the collection of Kumar et al. (2020), doi:10.1016/j.swevo.2020.100693.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series


def _gas_cost(X: Array) -> Array:  # (n, 4) -> (n,)
    x1, x2, x3, x4 = X.T
    pipe = 8.61e5 * np.sqrt(x1) * x2 * x3 ** (-2 / 3) / np.sqrt(x4) + 3.69e4 * x3
    return np.asarray(pipe + 7.72e8 * x2**0.219 / x1 - 765.43e6 / x1)


def _gas_slacks(X: Array, *, power: int = 2) -> dict[str, Array]:
    """Beightler & Phillips (1976); Pant et al. (2009), Gas transmission compressor."""
    ratio, flow = X[:, 1], X[:, 3]
    return {"flow": 1 - flow / ratio**2 - 1 / ratio**power}


_GAS = Problem(
    name="gas_transmission",
    variant="lit",
    space=box(
        station_distance=(20, 50),
        compression_ratio=(1, 10),
        pipe_diameter=(20, 50),
        flow_parameter=(0.1, 60),
    ),
    objective_formula=_gas_cost,
    slack_formulas=_gas_slacks,
    optimum=2964895.4173391648,
    optimizers=((49.999999999998664, 1.1782839439510249, 24.59259133299614, 0.38835305257278196),),
    active=(0,),
    feasibility_ratio=0.523282,
    paper_value=2964800.0,
    notes="Literature = released code = the paper's table. x1 is at its upper bound.",
)

GAS_TRANSMISSION = (
    _GAS,
    replace(
        _GAS,
        variant="paper",
        slack_formulas=partial(_gas_slacks, power=1),
        optimum=3406674.8666478693,
        optimizers=((50.0, 1.219867701776131, 28.058710271186015, 0.26820950801467114),),
        feasibility_ratio=0.477014,
        paper_value=None,
        notes="As printed, x2^-1 for x2^-2 in the constraint.",
    ),
)

_PLATE = 0.0625  # inch: plates come in multiples of it


def _thickness(X: Array, *, plates: bool) -> tuple[Array, Array]:  # (n, 4) -> (n,), (n,)
    x1, x2 = X[:, 0], X[:, 1]
    return (_PLATE * np.round(x1), _PLATE * np.round(x2)) if plates else (x1, x2)


def _vessel_cost(X: Array, *, plates: bool = False, slip: bool = False) -> Array:  # (n, 4) -> (n,)
    (x1, x2), x3, x4 = _thickness(X, plates=plates), X[:, 2], X[:, 3]
    last = x4 if slip else x3
    shell = 0.6224 * x1 * x3 * x4 + 3.1661 * x1**2 * x4
    return shell + 1.7781 * x2 * x3**2 + 19.84 * x1**2 * last


def _vessel_slacks(X: Array, *, plates: bool = False) -> dict[str, Array]:
    """Sandgren (1990); Coello (2002)."""
    (x1, x2), x3, x4 = _thickness(X, plates=plates), X[:, 2], X[:, 3]
    return {
        "shell thickness": x1 - 0.0193 * x3,
        "head thickness": x2 - 0.00954 * x3,
        "volume": np.pi * x3**2 * x4 + 4 / 3 * np.pi * x3**3 - 1296000,
        "length": 240 - x4,
    }


_VESSEL = Problem(
    name="pressure_vessel",
    variant="lit",
    space=box(
        shell_thickness=(_PLATE, 99 * _PLATE),
        head_thickness=(_PLATE, 99 * _PLATE),
        inner_radius=(10, 200),
        cylinder_length=(10, 200),
    ),
    objective_formula=_vessel_cost,
    slack_formulas=_vessel_slacks,
    optimum=5885.3327736164665,
    optimizers=((0.7781686413751059, 0.3846491626279023, 40.31961872409873, 200.0),),
    active=(0, 1, 2),
    feasibility_ratio=0.403304,
    paper_value=5885.3,
    notes=(
        "Continuous thickness, radius and length in [10, 200]: the paper's table. "
        "The paper gives no bounds and counts 2 active constraints of 3."
    ),
)

_CODE_BOX = box(
    shell_thickness=(0, 6.25),
    head_thickness=(0, 6.25),
    inner_radius=(10, 50),
    cylinder_length=(150, 250),
)

PRESSURE_VESSEL = (
    _VESSEL,
    replace(
        _VESSEL,
        variant="codebounds",
        space=_CODE_BOX,
        optimum=5804.37621984036,
        optimizers=(
            (0.7275909296364526, 0.3596485736667544, 37.6990118847719, 239.99999999599257),
        ),
        active=(0, 1, 2, 3),
        feasibility_ratio=0.16641,
        paper_value=None,
        notes="The paper's formula in the box of the released code.",
    ),
    replace(
        _VESSEL,
        variant="code",
        space=_CODE_BOX,
        objective_formula=partial(_vessel_cost, slip=True),
        optimum=7573.027956749596,
        optimizers=(
            (0.8570302091427866, 0.4236304764363865, 44.4057103182791, 150.00000000000117),
        ),
        feasibility_ratio=0.16641,
        paper_value=None,
        notes=(
            "Released code: 19.84 x1^2 x4 for 19.84 x1^2 x3, and its box. Its own optimal value "
            "5868.76 is not attainable."
        ),
    ),
    replace(
        _VESSEL,
        variant="discrete",
        space=box(
            shell_sixteenths=(1, 99),
            head_sixteenths=(1, 99),
            inner_radius=(10, 200),
            cylinder_length=(10, 200),
        ),
        objective_formula=partial(_vessel_cost, plates=True),
        slack_formulas=partial(_vessel_slacks, plates=True),
        optimum=6059.714339096019,
        optimizers=((13.0, 7.0, 42.09844558682063, 176.63659608045467),),
        active=(0, 2),
        feasibility_ratio=0.403225,
        paper_value=None,
        notes="Thicknesses are whole multiples of 1/16 inch (by rounding), as in CEC 2020 RC18.",
    ),
)


_SIZE = np.array([[2.0, 3.0, 4.0], [4.0, 6.0, 3.0]])  # (product, stage): volume per batch
_TIME = np.array([[8.0, 20.0, 8.0], [16.0, 4.0, 4.0]])  # (product, stage): hours per batch
_DEMAND = np.array([40000.0, 20000.0])  # per product
_HORIZON = 6000.0  # hours


def _units(X: Array) -> Array:  # (n, 10) -> (n, 3)
    return np.round(X[:, :3])


def _batch_cost(X: Array) -> Array:  # (n, 10) -> (n,)
    return np.asarray(250 * (_units(X) * X[:, 3:6] ** 0.6).sum(axis=1))


def _batch_slacks(X: Array, *, shared: bool = True) -> dict[str, Array]:
    """Grossmann & Sargent (1979); `shared` volumes hold the batches of both products."""
    units, volume, cycle, batch = _units(X), X[:, 3:6], X[:, 6:8], X[:, 8:10]
    slacks = {"horizon": _HORIZON - (_DEMAND * cycle / batch).sum(axis=1)}
    if shared:
        free = volume - batch @ _SIZE
        slacks |= {f"volume of stage {j + 1}": free[:, j] for j in range(3)}
    else:
        for i, j in np.ndindex(2, 3):
            slacks[f"volume of stage {j + 1} for product {i + 1}"] = (
                volume[:, j] - _SIZE[i, j] * batch[:, i]
            )
    for i, j in np.ndindex(2, 3):
        slacks[f"cycle time of product {i + 1} at stage {j + 1}"] = (
            units[:, j] * cycle[:, i] - _TIME[i, j]
        )
    return slacks


_BATCH = Problem(
    name="batch_plant",
    variant="lit",
    space=box(
        **series("units", 3, 0.51, 3.49),
        **series("volume", 3, 250, 2500),
        cycle_time1=(6, 20),
        cycle_time2=(4, 16),
        batch_size1=(40, 700),
        batch_size2=(10, 450),
    ),
    objective_formula=_batch_cost,
    slack_formulas=_batch_slacks,
    optimum=53638.94272196036,
    optimizers=(
        (1.0, 1.0, 1.0, 963.1194172502837, 1444.6791258754256, 1309.8240628345648)
        + (20.0, 16.0, 234.99379995871723, 123.28295433318826),
    ),
    active=(0, 1, 2, 3, 5, 7),
    feasibility_ratio=0.006284,
    notes=(
        "CEC 2020 RC14: volumes summed over products. The optimum is reachable only where both "
        "cycle times are exactly at their upper bounds; the best value with a neighbourhood is "
        "58505.450 at units (2, 2, 1), which most solvers report. The paper gives no formula."
    ),
)

BATCH_PLANT = (
    _BATCH,
    replace(
        _BATCH,
        variant="grossmann",
        slack_formulas=partial(_batch_slacks, shared=False),
        optimum=38499.465116726635,
        optimizers=((1.0, 1.0, 1.0, 480.0, 720.0, 960.0, 20.0, 16.0, 240.0, 120.0),),
        active=(0, 1, 2, 3, 4, 5, 8, 10),
        feasibility_ratio=0.024346,
        notes=(
            "Original literature: each volume holds one product at a time. The optimum needs both "
            "cycle times at their bounds; with a neighbourhood 40977.49 at units (2, 2, 1)."
        ),
    ),
)


def _refrigeration_cost(X: Array) -> Array:  # (n, 14) -> (n,)
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, _, x14 = X.T
    return np.asarray(
        63098.88 * x2 * x4 * x12
        + 5441.5 * x2**2 * x12
        + 115055.5 * x2**1.664 * x6
        + 6172.27 * x2**2 * x6
        + 63098.88 * x1 * x3 * x11
        + 5441.5 * x1**2 * x11
        + 115055.5 * x1**1.664 * x5
        + 6172.27 * x1**2 * x5
        + 140.53 * x1 * x11
        + 281.29 * x3 * x11
        + 70.26 * x1**2
        + 281.29 * x1 * x3
        + 281.29 * x3**2
        + 14437 * x8**1.8812 * x12**0.3424 * x10 * x1**2 * x7 / (x14 * x9)
        + 20470.2 * x7**2.893 * x11**0.316 * x1**2
    )


def _refrigeration_slacks(X: Array) -> dict[str, Array]:
    """Industrial refrigeration, CEC 2020 RC16 (Kumar et al., 2020)."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14 = X.T
    heat = x13**2.1195
    terms = (
        1.524 / x7,
        1.524 / x8,
        0.07789 * x1 - 2 * x9 / x7,
        7.05305 * x1**2 * x10 / (x9 * x8 * x2 * x14),
        0.0833 * x14 / x13,
        47.136 * x2**0.333 * x12 / x10 - 1.333 * x8 * heat + 62.08 * heat * x8**0.2 / (x12 * x10),
        0.04771 * x10 * x8**1.8812 * x12**0.3424,
        0.0488 * x9 * x7**1.893 * x11**0.316,
        0.0099 * x1 / x3,
        0.0193 * x2 / x4,
        0.0298 * x1 / x5,
        0.056 * x2 / x6,
        2 / x9,
        2 / x10,
        x12 / x11,
    )
    return {f"g{i}": 1 - term for i, term in enumerate(terms, start=1)}


REFRIGERATION = (
    Problem(
        name="refrigeration",
        variant="lit",
        space=box(**series("x", 14, 0.001, 5)),
        objective_formula=_refrigeration_cost,
        slack_formulas=_refrigeration_slacks,
        optimum=0.03221300095700015,
        optimizers=(
            (0.001,) * 6
            + (1.5240000000664295, 1.524000000039305, 5.0, 2.000000000150081)
            + (0.0010000000000028007, 0.001, 0.007293400757317392, 0.08755583141673592),
        ),
        active=(0, 1, 4, 5, 13, 14),
        feasibility_ratio=None,
        notes=(
            "CEC 2020 RC16; the literature gives neither names nor units. About 4e-9 of the box is "
            "feasible (1.5e-6 in log x): supply feasible points or search in log x."
        ),
    ),
)
