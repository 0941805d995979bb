"""Analytic goals with known constrained maxima, for the tests of the searches."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from becbo.proposers import region_of
from becbo.search.goal import Goal, Hints
from becbo.search.region import Region
from becbo.space import Real, Space

Array = NDArray[np.float64]
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


def no_hints(d: int) -> Hints:
    """Nothing known yet."""
    return Hints(np.empty((0, d)), np.empty((0, d)), np.ones(d))
