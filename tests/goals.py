"""Analytic goals with known constrained maxima, for the tests of searches and proposers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becbo.data import Causes, Dataset
from becbo.outputs import Outputs
from becbo.proposers.base import region_of
from becbo.search.goal import Goal, Hints
from becbo.search.region import Region
from becbo.space import Real, Space

Array = NDArray[np.float64]
_SCORE = 100.0
Function = Callable[[Array], tuple[Array, Array]]  # (m, d) -> (m,), (m, d)


def quadratic(centre: Array, weight: float = 1.0) -> Function:
    """-weight |x - centre|^2."""

    def fun(X: Array) -> tuple[Array, Array]:
        gap = X - centre
        return -weight * (gap**2).sum(axis=1), -2 * weight * gap

    return fun


def plane(normal: Array, offset: float = 0.0) -> Function:
    """normal . x + offset."""
    slope = np.asarray(normal, dtype=float)
    return lambda X: (X @ slope + offset, np.broadcast_to(slope, X.shape).copy())


def ball(centre: Array, radius: float) -> Function:
    """radius^2 - |x - centre|^2, positive inside the ball."""
    distance = quadratic(centre)
    return lambda X: (radius**2 + distance(X)[0], distance(X)[1])


def make_goal(a: Function, g: Function) -> Goal:
    """Maximise a subject to g >= 0, with C = (1 + tanh(4 g)) / 2."""

    def values_grad(X: Array) -> tuple[Array, Array, Array, Array]:
        (value, slope), (slack, slack_slope) = a(X), g(X)
        return value, slack, slope, slack_slope

    def edge(X: Array) -> tuple[Array, Array]:
        slack, slope = g(X)
        gap = np.tanh(4 * slack)
        return gap / 2, (2 * (1 - gap**2))[:, None] * slope

    return Goal(lambda X: (a(X)[0], g(X)[0]), values_grad, edge)


def region(space: Space, taken: Array | None = None) -> Region:
    """The region of a space, with nothing taken unless said."""
    return region_of(space, np.empty((0, space.dim)) if taken is None else taken)


def cube(d: int, constraints: tuple = ()) -> Space:
    """[0, 1]^d with parameters a, b, c, ..."""
    return Space([Real(chr(ord("a") + i), 0, 1) for i in range(d)], constraints)


def unexplained(X: Array, y: Array) -> Dataset:
    """Values (n,) to be maximised; NaN stands for a failure that nobody explains."""
    nothing = np.zeros((len(X), 0), dtype=bool)
    causes = Causes(nothing, np.zeros(len(X), dtype=bool), nothing)
    nobody = np.full(len(X), np.nan), np.zeros(len(X), dtype=bool)  # has proposed them
    return Dataset(X, y[:, None], ~np.isnan(y), Outputs.of("maximize"), causes, *nobody)


def no_hints(d: int) -> Hints:
    """Nothing known yet."""
    return Hints(np.empty((0, d)), np.empty((0, d)), np.ones(d))


@dataclass(frozen=True)
class Case:
    """A goal on the unit cube and its constrained maximum."""

    name: str
    a: Function
    g: Function
    best: Array  # (d,)
    tolerance: float = 1e-3  # of the value

    @property
    def goal(self) -> Goal:
        """What a search is given."""
        return make_goal(self.a, self.g)

    @property
    def steep_goal(self) -> Goal:
        """The same with a slack of the size of probit scores, which is steep at an edge."""
        return make_goal(self.a, lambda X: tuple(_SCORE * part for part in self.g(X)))

    @property
    def span(self) -> float:
        """How much the value varies over the cube."""
        X = np.random.default_rng(0).random((1000, len(self.best)))
        return float(np.ptp(self.a(X)[0]))

    @property
    def value(self) -> float:
        """The maximum."""
        return float(self.a(self.best[None])[0][0])


def _on_ball(direction: Array, centre: Array, radius: float) -> Array:
    return np.asarray(centre + radius * direction / np.linalg.norm(direction))


_up = np.array([1.0, 2.0])
_six = np.arange(1.0, 7.0)
CASES = [
    Case("one dimension", plane([1.0]), ball([0.5], 0.25), np.array([0.75])),
    Case("disc", plane(_up), ball([0.5, 0.5], 0.3), _on_ball(_up, [0.5, 0.5], 0.3)),
    Case("projection", quadratic([0.9, 0.8]), plane([-1, -1], 1.0), np.array([0.55, 0.45])),
    Case("inside", quadratic([0.3, 0.6]), plane([-1, -1], 1.5), np.array([0.3, 0.6])),
    Case("bound", plane([1.0, 1.0]), plane([-1, -2], 1.5), np.array([1.0, 0.25])),
    Case("small disc", plane(_up), ball([0.2, 0.7], 0.05), _on_ball(_up, [0.2, 0.7], 0.05), 5e-3),
    Case("six", plane(_six), ball([0.5] * 6, 0.4), _on_ball(_six, [0.5] * 6, 0.4), 1e-2),
    Case("steep", quadratic([0.9, 0.8], 1e3), plane([-1, -1], 1.0), np.array([0.55, 0.45]), 1.0),
]
