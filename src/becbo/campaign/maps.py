"""The chance to work over two parameters, all others fixed at one design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from becbo.space import Array, Categorical, LinearConstraint, Parameter, Space

_POINTS = 41  # along an axis without few settings


@dataclass(frozen=True, eq=False)
class ChanceMap:
    """A slice through the space; with a single parameter, `y` is empty and there is one row."""

    x: str
    y: str
    x_values: tuple[Any, ...]  # as a user sets them, (nx,)
    y_values: tuple[Any, ...]  # (ny,)
    chance: Array  # (ny, nx); NaN where a known constraint forbids the design
    expected: Array | None  # predicted value, (ny, nx)


def chance_map(
    space: Space,
    anchor: Array,
    x: str,
    y: str,
    chance: Callable[[Array], Array],
    expected: Callable[[Array], Array] | None,
) -> ChanceMap:
    """The map over x and y through the anchor (dim,)."""
    pairs = zip(space.parameters, space.columns, strict=True)
    named = {parameter.name: (parameter, cols) for parameter, cols in pairs}
    across, x_cols = named[x]
    U = settings(across)
    V, y_values = np.empty((1, 0)), ("",)
    X = np.tile(anchor, (len(U), 1))
    if y:
        up, y_cols = named[y]
        V = settings(up)
        y_values = _decoded(up, V)
        X = np.tile(anchor, (len(V) * len(U), 1))
        X[:, y_cols] = np.repeat(V, len(U), axis=0)
    X[:, x_cols] = np.tile(U, (len(V), 1))
    shape = len(V), len(U)
    allowed = within(space, X)
    return ChanceMap(
        x,
        y,
        _decoded(across, U),
        y_values,
        np.where(allowed, chance(X), np.nan).reshape(shape),
        None if expected is None else expected(X).reshape(shape),
    )


def settings(parameter: Parameter) -> Array:  # (k, width)
    """Columns of all settings of a parameter, or of some along its range."""
    few = parameter.options()
    if few is not None:
        return few
    assert not isinstance(parameter, Categorical)
    return np.unique(parameter.snap(np.linspace(0.0, 1.0, _POINTS)[:, None]), axis=0)


def within(space: Space, X: Array) -> NDArray[np.bool_]:  # (n,)
    """Whether the known constraints hold; linear ones, up to rounding, in no time."""
    if not all(isinstance(constraint, LinearConstraint) for constraint in space.constraints):
        return space.allowed(X)
    A, b = space.polytope()
    slip = 1e-9 * (np.abs(A).sum(axis=1) + np.abs(b))
    return np.asarray(np.all(X @ A.T <= b + slip, axis=1))


def differences(space: Space, X: Array, Z: Array) -> Array:  # (n, dim), (m, dim) -> (n, m, p)
    """How far designs are apart in each parameter: from 0 to 1, another choice being 1."""
    gaps = np.abs(X[:, None, :] - Z[None, :, :])
    return np.stack([gaps[:, :, cols].max(axis=2) for cols in space.columns], axis=2)


def _decoded(parameter: Parameter, U: Array) -> tuple[Any, ...]:
    return tuple(parameter.decode(row) for row in U.tolist())
