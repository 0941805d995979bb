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

An ingredient of a mixture cannot change alone. The walk then exchanges amounts between two
ingredients, and the mean square of an exchange is divided among them: the shares of two add up to
it as well as possible for all pairs. An ingredient that only makes room for others gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from becbo.arrays import Array, Indices, Mask
from becbo.mixtures import Total
from becbo.space import Space

Function = Callable[[Array], Array]  # (n, dim) -> (n,)
RegionPredicate = Callable[[Array], Mask]  # (n, dim) -> (n,)
_Seen = tuple[Array, Array, Array]  # designs before and after a move, (n, dim); the change, (n,)

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
    moves = _moves(space)
    n_walkers = min(max(_MOVES // len(moves), _FEWEST), _MOST)
    X = starts[rng.integers(len(starts), size=n_walkers)]
    y = function(X)
    visited: list[Array] = []  # values
    seen: list[list[_Seen]] = [[] for _ in moves]
    for sweep in range(_SWEEPS):
        for move, changes in zip(moves, seen, strict=True):
            before, value = X, y
            X = _moved(X, space, move, inside, rng)
            y = function(X)
            if sweep >= _BURN_IN:
                changes.append((before, X, y - value))
                visited.append(y)
    variance = float(np.var(visited))
    joined = [
        (np.concatenate(a), np.concatenate(b), np.concatenate(change))
        for a, b, change in (zip(*changes, strict=True) for changes in seen)
    ]
    squares = [float(np.mean(change**2)) / 2 for _, _, change in joined]
    found = []
    for parameter, cols in zip(space.parameters, space.columns, strict=True):
        mine = [i for i, move in enumerate(moves) if parameter.name in move.names]
        total = min(_share(parameter.name, moves, squares) / (variance or 1.0), 1.0)
        before, after, change = (
            np.concatenate([joined[i][part] for i in mine]) for part in range(3)
        )
        main = _main_share(before[:, cols], after[:, cols], change) if change.any() else 0.0
        found.append(Importance(parameter.name, total, total * main))
    return found, variance**0.5


@dataclass(frozen=True)
class _Move:
    """One parameter to draw anew, or two ingredients that exchange."""

    names: tuple[str, ...]
    cols: slice
    total: Total | None = None


def _moves(space: Space) -> list[_Move]:
    mixtures = space.mixtures
    found = [
        _Move((name,), cols)
        for name, cols in zip(space.names, space.columns, strict=True)
        if mixtures is None or mixtures.total_of(name) is None
    ]
    for total in () if mixtures is None else mixtures.totals:
        for pair in combinations([p.name for p in total.members], 2):
            found.append(_Move(pair, slice(0, 0), total))
    return found


def _share(name: str, moves: Sequence[_Move], squares: Sequence[float]) -> float:
    """The mean square of what a parameter does, half of it as for independent draws."""
    pairs = [(m.names, square) for m, square in zip(moves, squares, strict=True) if m.total]
    alone = [square for m, square in zip(moves, squares, strict=True) if m.names == (name,)]
    if alone:
        return alone[0]
    mine = [square for names, square in pairs if name in names]
    if len(mine) < 2:  # two ingredients are one decision, and both stand for it
        return sum(mine)
    from scipy.optimize import nnls  # late, as in surrogates/hyper.py

    members = sorted({member for names, _ in pairs for member in names})
    A = np.array([[float(member in names) for member in members] for names, _ in pairs])
    shares, _ = nnls(A, np.array([square for _, square in pairs]))
    return float(shares[members.index(name)])


def _moved(
    X: Array, space: Space, move: _Move, inside: RegionPredicate, rng: np.random.Generator
) -> Array:  # (n, dim)
    if move.total is None:
        return _redrawn(X, space, move.cols, inside, rng)
    return _exchanged(X, move.total, move.names, inside, rng)


def _exchanged(
    X: Array,
    total: Total,
    names: Sequence[str],
    inside: RegionPredicate,
    rng: np.random.Generator,
) -> Array:  # (n, dim)
    """X with one ingredient drawn anew and another one that makes up for it."""
    i, j = ([p.name for p in total.members].index(name) for name in names)
    ratio = total.coefficients[i] / total.coefficients[j]
    X = X.copy()
    todo = np.arange(len(X))
    for _ in range(_TRIES):
        Z = total.values(X[todo])
        whole = Z[:, j] + ratio * Z[:, i]
        ends = np.sort([(whole - total.high[j]) / ratio, (whole - total.low[j]) / ratio], axis=0)
        low, high = np.maximum(ends[0], total.low[i]), np.minimum(ends[1], total.high[i])
        Z[:, i] = rng.uniform(low, np.maximum(high, low))
        Z[:, j] = whole - ratio * Z[:, i]
        fresh = total.into(X[todo], Z)
        kept = inside(fresh)
        X[todo[kept]] = fresh[kept]
        todo = todo[~kept]
        if not len(todo):
            break
    return X


def _redrawn(
    X: Array, space: Space, cols: slice, inside: RegionPredicate, rng: np.random.Generator
) -> Array:  # (n, dim)
    """X with one parameter drawn anew; where no draw stays inside, it keeps its setting."""
    X = X.copy()
    todo = np.arange(len(X))
    for _ in range(_TRIES):
        fresh = X[todo]
        fresh[:, cols] = space.rounded(rng.random((len(todo), space.dim)))[:, cols]
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


def _groups(columns: Array) -> Indices:  # (n, width) -> (n,)
    """Group numbers of settings that count as equal; all settings differ if there are few."""
    setting = columns[:, 0] if columns.shape[1] == 1 else np.argmax(columns, axis=1)
    _, group = np.unique(setting, return_inverse=True)
    if group.max() >= _GROUPS:
        bounds = np.quantile(setting, np.arange(1, _GROUPS) / _GROUPS)
        group = np.searchsorted(bounds, setting)
    return group
