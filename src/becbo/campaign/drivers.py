"""Which parameters matter: how much of a model's variation over a region goes with each.

A walk that redraws one parameter at a time, uniformly over what stays inside the region, visits
the region uniformly (Gibbs sampling). Its steps give the variance that is left when everything but
one parameter is fixed, hence the total share of that parameter (Jansen 1999); the designs visited
give the variance of the mean at each setting of it, hence the share it has alone. The region may
have any shape: known constraints, or designs that are likely to work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becbo.space import Array, Space

Function = Callable[[Array], Array]  # (n, dim) -> (n,)
Inside = Callable[[Array], NDArray[np.bool_]]  # (n, dim) -> (n,)

_MOVES = 2400  # walkers times parameters
_FEWEST, _MOST = 100, 800  # walkers
_BURN_IN, _SWEEPS = 4, 12  # rounds over all parameters that are forgotten; that there are
_TRIES = 8  # draws of a parameter before it stays where it is
_GROUPS = 30  # settings of a parameter that are told apart


@dataclass(frozen=True)
class Share:
    """How much of the variation goes with a parameter."""

    name: str
    alone: float  # if only this parameter were known (Sobol's first-order index)
    total: float  # that would be left if all others were known (his total index)


def shares(
    function: Function, space: Space, inside: Inside, starts: Array, rng: np.random.Generator
) -> tuple[list[Share], float]:
    """The share of each parameter, and the standard deviation that is shared.

    `starts` (k, dim), at least one, are designs inside the region.
    """
    pairs = list(zip(space.parameters, space.columns, strict=True))
    n_walkers = min(max(_MOVES // len(pairs), _FEWEST), _MOST)
    X = starts[rng.integers(len(starts), size=n_walkers)]
    before = function(X)
    visited, values = [], []
    left: list[list[Array]] = [[] for _ in pairs]
    for sweep in range(_SWEEPS):
        for i, cols in enumerate(space.columns):
            X = _redrawn(X, space, cols, inside, rng)
            after = function(X)
            if sweep >= _BURN_IN:
                left[i].append((after - before) ** 2 / 2)
            before = after
        if sweep >= _BURN_IN:
            visited.append(X)
            values.append(before)
    designs, y = np.vstack(visited), np.concatenate(values)
    variance = float(y.var())
    if variance == 0.0:
        return [Share(p.name, 0.0, 0.0) for p, _ in pairs], 0.0
    found = [
        Share(
            parameter.name,
            alone=_explained(designs[:, cols], y),
            total=min(float(np.mean(left[i])) / variance, 1.0),
        )
        for i, (parameter, cols) in enumerate(pairs)
    ]
    return found, variance**0.5


def _redrawn(
    X: Array, space: Space, cols: slice, inside: Inside, rng: np.random.Generator
) -> Array:  # (n, dim)
    """X with one parameter drawn anew; where no draw stays inside, it keeps its setting."""
    X = X.copy()
    todo = np.arange(len(X))
    for _ in range(_TRIES):
        fresh = X[todo]
        fresh[:, cols] = space.snap(rng.random((len(todo), space.dim)))[:, cols]
        kept = inside(fresh)
        X[todo[kept]] = fresh[kept]
        todo = todo[~kept]
        if not len(todo):
            break
    return X


def _explained(columns: Array, y: Array) -> float:  # (n, width), (n,)
    """Share of the variance of y between settings of a parameter, without what chance explains."""
    setting = columns[:, 0] if columns.shape[1] == 1 else np.argmax(columns, axis=1)
    _, group = np.unique(setting, return_inverse=True)
    if group.max() >= _GROUPS:
        group = np.argsort(np.argsort(setting)) * _GROUPS // len(y)
    n = np.bincount(group)
    means = np.bincount(group, y) / n
    within = float(np.mean((y - means[group]) ** 2))
    freedom = (len(y) - 1) / (len(y) - len(n))
    return float(np.clip(1 - freedom * within / y.var(), 0.0, 1.0))
