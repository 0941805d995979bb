"""Maps: everything the models say over two parameters, all others fixed at one design.

An ingredient of a mixture cannot change alone: those that are not shown make up for it, in the
proportions of the design that the map goes through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from becbo.arrays import Array, Mask
from becbo.campaign.formulas import Formula
from becbo.campaign.runs import Run
from becbo.insight.chances import chances_to_improve
from becbo.insight.views import ModelView
from becbo.mixtures import Total, column_values
from becbo.space import Categorical, LinearConstraint, Parameter, Space

_POINTS = 41  # along the axis of a parameter with many settings


@dataclass(frozen=True, eq=False)
class Layer:
    """One output over a map. All arrays are (ny, nx), NaN where a known constraint forbids designs.

    Attributes:
        mean: The expected value.
        std: Its standard deviation.
        p_kept: The probability that it keeps its limit; None if it has none.
    """

    mean: Array
    std: Array
    p_kept: Array | None


@dataclass(frozen=True, eq=False)
class DesignMap:
    """A slice through the space; with a single parameter, `y` is empty and there is one row.

    All arrays are (ny, nx), NaN where a known constraint forbids designs.

    Attributes:
        x: The first parameter.
        y: The second parameter.
        x_values: Its settings as the user sees them, (nx,).
        y_values: Its settings, (ny,).
        p_feasible: The combination of all failures and limits: the probability that a design works
            and keeps every limit.
        p_better: The probability that it also beats the best, or improves the front; None with
            more than three objectives.
        layers: Every output that was measured, by name.
        rest: The ingredients that make up for x and y, by name.
        ternary: The three ingredients of a mixture that x and y belong to, in the order x, y and
            the third; None if it is not one of three.
    """

    x: str
    y: str
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    p_feasible: Array
    p_better: Array | None
    layers: Mapping[str, Layer]
    rest: Mapping[str, Array]
    ternary: tuple[str, str, str] | None


def design_map(
    space: Space, anchor: Array, x: str, y: str, view: ModelView, front: Sequence[Run]
) -> DesignMap:
    """The map over two parameters through one design.

    Args:
        space: The space of designs.
        anchor: The design that fixes all other parameters, (dim,).
        x: The first parameter.
        y: The second parameter, or "" if there is only one.
        view: The models.
        front: The acceptable runs that no other beats.

    Returns:
        The map.
    """
    grid = slice_grid(space, anchor, x, y)
    X, ny, nx = grid.X, len(grid.y_values), len(grid.x_values)
    estimates = {name: view.predict(name, X) for name in view.names}
    p_feasible = view.p_feasible(X)
    p_better = chances_to_improve(p_feasible, estimates, view.models.outputs, front)

    def shaped(values: Array) -> Array:  # (ny * nx,) -> (ny, nx)
        return np.where(grid.allowed, values, np.nan).reshape(ny, nx)

    layers = {}
    for name, (mean, std) in estimates.items():
        kept = view.p_kept(name, X)
        layers[name] = Layer(shaped(mean), shaped(std), None if kept is None else shaped(kept))
    return DesignMap(
        x,
        y,
        grid.x_values,
        grid.y_values,
        shaped(p_feasible),
        None if p_better is None else shaped(p_better),
        layers,
        {name: shaped(values) for name, values in grid.rest.items()},
        ternary_of(space, x, y),
    )


@dataclass(frozen=True, eq=False)
class SliceGrid:
    """The designs of a map, row by row.

    Attributes:
        x_values: The settings of x, (nx,).
        y_values: The settings of y, (ny,).
        X: The designs, (ny * nx, dim).
        allowed: Whether the known constraints hold, (ny * nx,).
        rest: The ingredients that make up for x and y, (ny * nx,) each.
    """

    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    X: Array
    allowed: Mask
    rest: Mapping[str, Array]


def slice_grid(space: Space, anchor: Array, x: str, y: str) -> SliceGrid:
    """The designs of the map over x and y through the design `anchor` (dim,)."""
    pairs = zip(space.parameters, space.columns, strict=True)
    named = {parameter.name: (parameter, cols) for parameter, cols in pairs}
    across, x_cols = named[x]
    U = settings_grid(across)
    V, y_values = np.empty((1, 0)), ("",)
    X = np.tile(anchor, (len(U), 1))
    shown = [x_cols.start]
    if y:
        up, y_cols = named[y]
        V = settings_grid(up)
        y_values = _decoded(up, V)
        X = np.tile(anchor, (len(V) * len(U), 1))
        X[:, y_cols] = np.repeat(V, len(U), axis=0)
        shown.append(y_cols.start)
    X[:, x_cols] = np.tile(U, (len(V), 1))
    rest: dict[str, Array] = {}
    if space.mixtures is not None:
        X = space.mixtures.follow(X, shown)
        for total in space.mixtures.totals:
            if set(shown) & set(total.columns):
                columns = zip(total.members, total.columns, total.values(X).T, strict=True)
                rest |= {p.name: values for p, column, values in columns if column not in shown}
    return SliceGrid(_decoded(across, U), y_values, X, allowed(space, X), rest)


def mapped_pairs(space: Space, names: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of parameters that have a map; a single one is paired with "".

    Two ingredients that make up a mixture alone are one parameter: one of them is left out. Any two
    of three have the same map.
    """
    kept: list[str] = []
    for name in names:
        total = None if space.mixtures is None else space.mixtures.total_of(name)
        twins = [p.name for p in total.members] if total and len(total.members) == 2 else []
        if not set(twins) & set(kept):
            kept.append(name)
    pairs: list[tuple[str, str]] = []
    triangles: set[frozenset[str]] = set()
    for x, y in combinations(kept, 2):
        triangle = frozenset(ternary_of(space, x, y) or ())
        if not triangle or triangle not in triangles:
            pairs.append((x, y))
            triangles.add(triangle)
    return pairs or [(kept[0], "")]


def ternary_of(space: Space, x: str, y: str) -> tuple[str, str, str] | None:
    """x, y and the third ingredient, if they are a mixture of three that count alike."""
    total: Total | None = None if space.mixtures is None else space.mixtures.total_of(x)
    if total is None or len(total.members) != 3 or len(set(total.coefficients)) > 1:
        return None
    names = [p.name for p in total.members]
    others = [name for name in names if name not in (x, y)]
    return (x, y, others[0]) if y in names else None


def settings_grid(parameter: Parameter) -> Array:  # (k, width)
    """The encoded settings of a parameter: all, or some along its range if there are many."""
    few = parameter.options()
    if few is not None:
        return few
    assert not isinstance(parameter, Categorical)
    return np.unique(parameter.snap(np.linspace(0.0, 1.0, _POINTS)[:, None]), axis=0)


def allowed(space: Space, X: Array) -> Mask:  # (n, dim) -> (n,)
    """Whether the known constraints hold; faster than `Space.allowed` unless one is any callable.

    Unlike there, ingredients have to add up as they are.
    """
    A, b = space.polytope()
    slack = 1e-9 * (np.abs(A).sum(axis=1) + np.abs(b))  # rounding
    kept = np.all(X @ A.T <= b + slack, axis=1)
    if space.mixtures is not None:
        kept &= space.mixtures.holds(X)
    formulas = [c for c in space.constraints if isinstance(c, Formula)]
    values = {
        p.name: column_values(p, X[:, cols.start])
        for p, cols in zip(space.parameters, space.columns, strict=True)
        if formulas and not isinstance(p, Categorical)
    }
    for formula in formulas:
        kept &= formula.holds(values)
    if not all(isinstance(c, LinearConstraint | Formula) for c in space.constraints):
        kept &= space.allowed(X)
    return np.asarray(kept)


def parameter_distances(space: Space, X: Array, Z: Array) -> Array:  # -> (n, m, n_parameters)
    """How far the designs X (n, dim) and Z (m, dim) are apart in each parameter.

    From 0 to 1 of its range; two different choices are 1 apart.
    """
    gaps = np.abs(X[:, None, :] - Z[None, :, :])
    return np.stack([gaps[:, :, cols].max(axis=2) for cols in space.columns], axis=2)


def _decoded(parameter: Parameter, U: Array) -> tuple[Any, ...]:
    return tuple(parameter.decode(row) for row in U.tolist())
