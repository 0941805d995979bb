"""Parameter importance: how much of a model's variation over a region is due to each parameter.

A walk that redraws one parameter at a time, uniformly over what stays inside the region, visits
the region uniformly (Gibbs sampling). Its steps show what each parameter does while the others are
fixed. The mean square of the changes gives its total share (Jansen 1999); the part of the changes
that does not depend on the other parameters gives its main effect.

Over a box these are Sobol's total and first-order indices. But the region can have any shape (known
constraints, designs that are likely to work), and then parameters depend on each other: Sobol's
first-order index also credits a parameter with the effect of others that move along with it, so it
can exceed the total index, and is above zero for a parameter without any effect. Here both shares
describe the same changes, hence main <= total in every region.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becbo.arrays import Array, Mask
from becbo.space import Space

Function = Callable[[Array], Array]  # (n, dim) -> (n,)
RegionPredicate = Callable[[Array], Mask]  # (n, dim) -> (n,)
_Move = tuple[Array, Array, Array]  # a parameter before and after, (n, width); the change, (n,)

_MOVES = 2400  # walkers times parameters
_FEWEST, _MOST = 100, 800  # walkers
_BURN_IN, _SWEEPS = 4, 12  # rounds over all parameters that are discarded; rounds in total
_TRIES = 8  # draws of a parameter before it keeps its value
_GROUPS = 30  # settings of a parameter that are distinguished


@dataclass(frozen=True)
class Importance:
    """The share of the variation that is due to one parameter."""

    name: str
    total: float  # including interactions with other parameters
    main: float  # the part of the total that does not depend on other parameters


def importances(
    function: Function,
    space: Space,
    inside: RegionPredicate,
    starts: Array,
    rng: np.random.Generator,
) -> tuple[list[Importance], float]:
    """The importance of each parameter for a function.

    Args:
        function: What varies, (n, dim) -> (n,).
        space: The space of designs.
        inside: Which designs belong to the region, (n, dim) -> (n,).
        starts: At least one design inside the region, (k, dim).
        rng: The source of random numbers.

    Returns:
        One `Importance` per parameter, and the standard deviation of the function.
    """
    n_walkers = min(max(_MOVES // len(space.parameters), _FEWEST), _MOST)
    X = starts[rng.integers(len(starts), size=n_walkers)]
    y = function(X)
    visited: list[Array] = []  # values
    moves: list[list[_Move]] = [[] for _ in space.parameters]
    for sweep in range(_SWEEPS):
        for moved, cols in zip(moves, space.columns, strict=True):
            before, value = X, y
            X = _redrawn(X, space, cols, inside, rng)
            y = function(X)
            if sweep >= _BURN_IN:
                moved.append((before[:, cols], X[:, cols], y - value))
                visited.append(y)
    variance = float(np.var(visited))
    found = [
        _importance(parameter.name, moved, variance)
        for parameter, moved in zip(space.parameters, moves, strict=True)
    ]
    return found, variance**0.5


def _importance(name: str, moves: Sequence[_Move], variance: float) -> Importance:
    before, after, change = (np.concatenate(part) for part in zip(*moves, strict=True))
    left = float(np.mean(change**2)) / 2
    if 0.0 in (left, variance):
        return Importance(name, 0.0, 0.0)
    total = min(left / variance, 1.0)
    return Importance(name, total, total * _main_share(before, after, change))


def _redrawn(
    X: Array, space: Space, cols: slice, inside: RegionPredicate, rng: np.random.Generator
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


def _main_share(before: Array, after: Array, change: Array) -> float:  # (n, width) twice, (n,)
    """Share of the changes that the settings before and after explain, less what chance explains.

    That is, the part of their mean square that the best fit of m(after) - m(before) explains. Over
    a box, m is the mean at each setting. A part of a sum of squares, hence from 0 to 1.
    """
    groups = _groups(np.vstack([before, after]))
    k, n = groups.max() + 1, len(change)
    from_to = np.eye(k)[groups[n:]] - np.eye(k)[groups[:n]]  # (n, k)
    m = np.linalg.lstsq(from_to, change, rcond=None)[0]
    rest = float(np.mean((change - from_to @ m) ** 2))
    by_chance = n / (n - k + 1)
    return float(np.clip(1 - by_chance * rest / np.mean(change**2), 0.0, 1.0))


def _groups(columns: Array) -> NDArray[np.intp]:  # (n, width) -> (n,)
    """Group numbers of settings that count as equal; all settings differ if there are few."""
    setting = columns[:, 0] if columns.shape[1] == 1 else np.argmax(columns, axis=1)
    _, group = np.unique(setting, return_inverse=True)
    if group.max() >= _GROUPS:
        bounds = np.quantile(setting, np.arange(1, _GROUPS) / _GROUPS)
        group = np.searchsorted(bounds, setting)
    return group
