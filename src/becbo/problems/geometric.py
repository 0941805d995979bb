"""Geometric programs: what sizes, loads and costs in engineering often look like.

    value = sum_t cost_t prod_j x_j^b_tj        limit_i: prod_j x_j^a_ij <= 1

In log x the value is convex and the limits are straight (Boyd et al., "A tutorial on geometric
programming", Optimization and Engineering, 2007), so a design is best if no small step lowers its
value without crossing a limit. The exponents b are made so that this is the case at x = 1:

    sum_t cost_t b_t = -sum_t cost_t sum_i push_i a_i       with every push_i > 0

In x itself the limits are bent, and the way along several of them to the best design is, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array
from becbo.problems.problem import Problem, box


@dataclass(frozen=True, eq=False)
class _Geometric:
    """The formulas above; the last term balances the others."""

    limits: Array  # (m, d) exponents a
    push: Array  # (m,)
    cost: Array  # (k,)
    lean: Array  # (k - 1, d) how the exponents of the first terms differ from the mean ones

    @property
    def terms(self) -> Array:  # (k, d) exponents b
        last = -self.cost[:-1] @ self.lean / self.cost[-1]
        return np.vstack([self.lean, last]) - self.push @ self.limits

    def value(self, X: Array) -> Array:  # (n, d) -> (n,)
        return np.asarray(np.exp(np.log(X) @ self.terms.T) @ self.cost)

    def slacks(self, X: Array) -> dict[str, Array]:  # (n, d) -> (n,) each
        return {f"limit {i}": -np.log(X) @ a for i, a in enumerate(self.limits, start=1)}


def _geometric(
    name: str, program: _Geometric, bounds: list[tuple[float, float]], ratio: float
) -> Problem:
    """A problem whose best design is known by construction."""
    m, d = program.limits.shape
    return Problem(
        name=name,
        variant="made",
        space=box(**{f"x{j}": ends for j, ends in enumerate(bounds, start=1)}),
        objective_formula=program.value,
        slack_formulas=program.slacks,
        optimum=float(program.cost.sum()),
        optimizers=((1.0,) * d,),
        active=tuple(range(m)),
        feasibility_ratio=ratio,
        notes=f"A geometric program. {m} limits meet in the best design.",
    )


GEOMETRIC_4D = _geometric(
    "geometric_4d",
    _Geometric(
        limits=np.array(
            [[0, 0, 2, -0.5], [-0.5, 2, 0, -2], [-2, 0.5, 0.5, -1], [1, 0.5, 0, 0]],
        ),
        push=np.array([0.8, 0.3, 0.5, 0.3]),
        cost=np.array([0.6, 0.8, 0.8]),
        lean=np.array([[2.6, -1.8, 0.4, 0.5], [-1.3, -1.4, 0.1, -0.1]]),
    ),
    [(0.29, 2.1), (0.31, 3.4), (0.13, 3.4), (0.49, 4.6)],
    ratio=0.046063,
)

GEOMETRIC_5D = _geometric(
    "geometric_5d",
    _Geometric(
        limits=np.array([[-1, 1, 0, 0, -1], [-2, 0.5, 0, 0, 1], [0, 1, 1, -0.5, -0.5]]),
        push=np.array([0.3, 0.3, 0.8]),
        cost=np.array([0.8, 0.5, 0.5]),
        lean=np.array([[0.4, 1.5, -1.4, 0.3, -0.4], [1.3, -0.3, -1.8, -1.7, -1.4]]),
    ),
    [(0.41, 2.3), (0.1, 8.9), (0.55, 2.9), (0.41, 9.6), (0.12, 1.7)],
    ratio=0.077093,
)

GEOMETRIC_7D = _geometric(
    "geometric_7d",
    _Geometric(
        limits=np.array(
            [
                [-2, 0, 1, -0.5, -2, 0, 0],
                [0, -1, -1, 0, 0, 0, 0],
                [0, 0, 0, 0.5, -0.5, 0, 0],
                [0, 0, 0, -1, 1, 0, -1],
                [-2, 0.5, 0, 0, 0, 0, 0],
            ]
        ),
        push=np.array([0.4, 0.5, 1.0, 0.4, 0.3]),
        cost=np.array([1.0, 0.8, 0.8]),
        lean=np.array(
            [[2.2, -1.5, -0.9, -1.1, 0.0, -0.9, 0.6], [0.5, 0.0, 0.2, 1.7, -1.2, -1.4, 0.3]]
        ),
    ),
    [
        *((0.062, 2.1), (0.024, 1.8), (0.048, 2.0), (0.039, 2.0)),
        *((0.12, 2.6), (0.033, 2.2), (0.15, 3.7)),
    ],
    ratio=0.041387,
)
