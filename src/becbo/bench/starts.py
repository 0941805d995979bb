"""A design that works, where too little of a space works to draw one at random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from becbo.arrays import Array
from becbo.errors import BecboError
from becbo.problems import ConstrainedProblem

_N_TYPICAL = 1000  # random designs that tell how large slacks are
_N_ROUNDS = 1000
_BROKEN = 1e3  # what a slack without a number violates its limit by


def working_design(problem: ConstrainedProblem, rng: np.random.Generator) -> Mapping[str, Any]:
    """The first working design that differential evolution meets.

    It minimises the sum of violations, each in units of its slack's typical size. The value of the
    design plays no part.

    Raises:
        BecboError: none was found.
    """
    from scipy.optimize import differential_evolution  # late, as in surrogates/hyper.py

    slacks = problem.slacks(problem.from_unit(rng.random((_N_TYPICAL, problem.dim))))
    sizes = np.median(np.abs(np.where(np.isfinite(slacks), slacks, 0.0)), axis=0)
    sizes[sizes == 0] = 1.0

    def violation(U: Array) -> Array:  # (d, m) -> (m,)
        relative = problem.slacks(problem.from_unit(U.T)) / sizes
        broken = np.where(np.isfinite(relative), np.maximum(-relative, 0.0), _BROKEN)
        return np.asarray(broken.sum(axis=1))

    found = differential_evolution(
        violation,
        [(0.0, 1.0)] * problem.dim,
        maxiter=_N_ROUNDS,
        tol=0.0,
        seed=rng,
        polish=False,
        vectorized=True,
        updating="deferred",
        callback=lambda intermediate_result: bool(intermediate_result.fun <= 0),
    )
    design = problem.from_unit(found.x[None])
    if not problem.feasible(design)[0]:
        raise BecboError(f"{problem.name}: no design was found that works; use protocol 'honest'")
    return problem.space.decode(problem.encode(design))[0]
