"""The probability of feasibility over two parameters, all others fixed at one design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from becbo.arrays import Array, Mask
from becbo.space import Categorical, LinearConstraint, Parameter, Space

_POINTS = 41  # along the axis of a parameter with many settings


@dataclass(frozen=True, eq=False)
class FeasibilityMap:
    """A slice through the space; with a single parameter, `y` is empty and there is one row.

    Attributes:
        x: The first parameter.
        y: The second parameter.
        x_values: Its settings as the user sees them, (nx,).
        y_values: Its settings, (ny,).
        p_feasible: (ny, nx); NaN where a known constraint excludes the design.
        mean: The predicted value, (ny, nx); None while nothing has worked.
    """

    x: str
    y: str
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    p_feasible: Array
    mean: Array | None


def feasibility_map(
    space: Space,
    anchor: Array,
    x: str,
    y: str,
    p_feasible: Callable[[Array], Array],
    mean: Callable[[Array], Array] | None,
) -> FeasibilityMap:
    """The map over two parameters through one design.

    Args:
        space: The space of designs.
        anchor: The design that fixes all other parameters, (dim,).
        x: The first parameter.
        y: The second parameter, or "" if there is only one.
        p_feasible: The probability that designs work, (n, dim) -> (n,).
        mean: The predicted value of designs, (n, dim) -> (n,), if there is one.

    Returns:
        The map.
    """
    pairs = zip(space.parameters, space.columns, strict=True)
    named = {parameter.name: (parameter, cols) for parameter, cols in pairs}
    across, x_cols = named[x]
    U = settings_grid(across)
    V, y_values = np.empty((1, 0)), ("",)
    X = np.tile(anchor, (len(U), 1))
    if y:
        up, y_cols = named[y]
        V = settings_grid(up)
        y_values = _decoded(up, V)
        X = np.tile(anchor, (len(V) * len(U), 1))
        X[:, y_cols] = np.repeat(V, len(U), axis=0)
    X[:, x_cols] = np.tile(U, (len(V), 1))
    shape = len(V), len(U)
    return FeasibilityMap(
        x,
        y,
        _decoded(across, U),
        y_values,
        np.where(allowed(space, X), p_feasible(X), np.nan).reshape(shape),
        None if mean is None else mean(X).reshape(shape),
    )


def settings_grid(parameter: Parameter) -> Array:  # (k, width)
    """The encoded settings of a parameter: all, or some along its range if there are many."""
    few = parameter.options()
    if few is not None:
        return few
    assert not isinstance(parameter, Categorical)
    return np.unique(parameter.snap(np.linspace(0.0, 1.0, _POINTS)[:, None]), axis=0)


def allowed(space: Space, X: Array) -> Mask:  # (n, dim) -> (n,)
    """Whether the known constraints hold; faster than `Space.allowed` if all are linear."""
    if not all(isinstance(constraint, LinearConstraint) for constraint in space.constraints):
        return space.allowed(X)
    A, b = space.polytope()
    slack = 1e-9 * (np.abs(A).sum(axis=1) + np.abs(b))  # rounding
    return np.asarray(np.all(X @ A.T <= b + slack, axis=1))


def parameter_distances(space: Space, X: Array, Z: Array) -> Array:  # -> (n, m, n_parameters)
    """How far the designs X (n, dim) and Z (m, dim) are apart in each parameter.

    From 0 to 1 of its range; two different choices are 1 apart.
    """
    gaps = np.abs(X[:, None, :] - Z[None, :, :])
    return np.stack([gaps[:, :, cols].max(axis=2) for cols in space.columns], axis=2)


def _decoded(parameter: Parameter, U: Array) -> tuple[Any, ...]:
    return tuple(parameter.decode(row) for row in U.tolist())
