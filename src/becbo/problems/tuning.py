"""The problems settings are chosen on, so that the paper's can be reported on.

None is of the paper. `active` counts the constraints that are active at the optimum, of all there
are, and the bounds of the box that are.

| problem | d | works | active | bounds | kind |
|---|---|---|---|---|---|
| new_branin | 2 | 8.5 % | 1 of 1 | 0 | edge, three islands |
| gomez | 2 | 19 % | 1 of 1 | 0 | edge, twenty islands |
| mystery | 2 | 48 % | 1 of 1 | 0 | edge, two stripes |
| gardner | 2 | 1.8 % | 1 of 1 | 0 | edge, two islands |
| mishra_bird | 2 | 83 % | 0 of 1 | 0 | interior, multimodal |
| tubular_column | 2 | 77 % | 2 of 2 | 0 | vertex |
| concrete_beam | 3 | 15 % | 1 of 2 | 0 | edge, mixed: choice, integer, real |
| g12 | 3 | 4.8 % | 0 of 1 | 0 | interior, 729 islands |
| i_beam | 4 | 0.15 % | 1 of 2 | 3 | edge and corner |
| bulkhead | 4 | 22 % | 4 of 6 | 0 | vertex |
| piston_lever | 4 | 36 % | 2 of 4 | 2 | vertex, values over six decades |
| geometric_4d | 4 | 4.6 % | 4 of 4 | 0 | vertex, values over four decades |
| tilted_rastrigin_4d | 4 | 33 % | 2 of 2 | 0 | edge, multimodal |
| stepped_beam | 5 | 88 % | 1 of 1 | 0 | edge |
| disc_clutch | 5 | 69 % | 1 of 7 | 2 | edge, mixed: integers and steps |
| geometric_5d | 5 | 7.7 % | 3 of 3 | 0 | edge, values over six decades |
| thrust_bearing | 5 | 0.077 % | 4 of 7 | 0 | vertex, mixed: reals, choice |
| hartmann_ball | 6 | 8.1 % | 0 of 1 | 0 | interior, multimodal |
| tilted_mixed_6d | 6 | 11 % | 2 of 2 | 0 | edge, mixed: reals, integers, choice |
| tilted_rosenbrock_7d | 7 | 1.5 % | 3 of 3 | 0 | edge |
| geometric_7d | 7 | 4.1 % | 5 of 5 | 0 | edge, values over three decades |
| g10 | 8 | 0.020 % | 6 of 6 | 0 | edge |
| g18 | 9 | 0.13 % | 6 of 13 | 0 | edge, a continuum of optima |
| g02_10d | 10 | 99.7 % | 1 of 2 | 0 | edge, multimodal |
| car_side | 11 | 12 % | 2 of 10 | 5 | edge and corner, mixed: reals, choices |
| g01 | 13 | 0.24 % | 6 of 9 | 10 | vertex |
| g19 | 15 | 34 % | 5 of 5 | 8 | edge and corner |
| tilted_ellipsoid_20d | 20 | 5.0 % | 4 of 4 | 0 | edge |
"""

from __future__ import annotations

from becbo.problems.beams import (
    BULKHEAD,
    CONCRETE_BEAM,
    I_BEAM,
    STEPPED_BEAM,
    TUBULAR_COLUMN,
)
from becbo.problems.car import CAR_SIDE
from becbo.problems.cec2006 import G01, G02, G10, G12, G18, G19
from becbo.problems.geometric import GEOMETRIC_4D, GEOMETRIC_5D, GEOMETRIC_7D
from becbo.problems.machines import DISC_CLUTCH, PISTON_LEVER, THRUST_BEARING
from becbo.problems.multimodal import (
    GARDNER,
    GOMEZ,
    HARTMANN_BALL,
    MISHRA_BIRD,
    MYSTERY,
    NEW_BRANIN,
)
from becbo.problems.problem import Problem
from becbo.problems.tilted import (
    TILTED_ELLIPSOID,
    TILTED_MIXED,
    TILTED_RASTRIGIN,
    TILTED_ROSENBROCK,
)

# The variants of one problem per row, the default first; by dimension.
FAMILIES: tuple[tuple[Problem, ...], ...] = (
    (NEW_BRANIN,),
    (GOMEZ,),
    (MYSTERY,),
    (GARDNER,),
    (MISHRA_BIRD,),
    (TUBULAR_COLUMN,),
    (CONCRETE_BEAM,),
    (G12,),
    (I_BEAM,),
    (BULKHEAD,),
    (PISTON_LEVER,),
    (GEOMETRIC_4D,),
    (TILTED_RASTRIGIN,),
    (STEPPED_BEAM,),
    (DISC_CLUTCH,),
    (GEOMETRIC_5D,),
    THRUST_BEARING,
    (HARTMANN_BALL,),
    (TILTED_MIXED,),
    (TILTED_ROSENBROCK,),
    (GEOMETRIC_7D,),
    (G10,),
    (G18,),
    (G02,),
    (CAR_SIDE,),
    (G01,),
    (G19,),
    (TILTED_ELLIPSOID,),
)
