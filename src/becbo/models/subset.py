"""Which experiments of a long history the models are fitted to.

Exact Gaussian processes take time with the third power of their data. Where the search looks, at
the best designs and the failures beside them, every experiment counts; far away a few show the
trend. The choice is a function of the history alone, and the same for fifty experiments in a row,
so that fits continue from earlier ones as they do in short histories.
"""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array, Indices
from becbo.data import Dataset
from becbo.models.warm import checkpoint
from becbo.pareto import nondominated

_N_CENTRES = 3  # best designs around which the search looks


def local_subset(data: Dataset, size: int) -> Dataset:
    """Leaves out experiments that matter little for the next proposal.

    Args:
        data: the history.
        size: how many of the first `checkpoint(n)` experiments are kept; a multiple of 50, at
            least 200, makes it a checkpoint too.

    Returns:
        The history itself while it is short; otherwise `size` of the early experiments and all
        that came since, in order.
    """
    n = checkpoint(len(data.X))
    if n <= size:
        return data
    kept = _relevant(data.take(np.arange(n)), size)
    return data.take(np.concatenate([kept, np.arange(n, len(data.X))]))


def _relevant(data: Dataset, size: int) -> Indices:  # (size,) increasing
    """A quarter the best, a quarter failures and a quarter others beside them, the rest spread.

    Failed designs that were repeated are among them.
    """
    quarter = size // 4
    best = _best_first(data)
    chosen = np.zeros(len(data.X), dtype=bool)
    chosen[_repeated_failures(data)[:quarter]] = True
    chosen[best[:quarter]] = True
    if len(best):
        distance = _squared_distance(data.X, data.X[best[:_N_CENTRES]])
        for is_candidate in (~data.worked, np.ones_like(data.worked)):
            rows = np.flatnonzero(is_candidate & ~chosen)
            chosen[rows[np.argsort(distance[rows], kind="stable")[:quarter]]] = True
    rest = np.flatnonzero(~chosen)
    spread = np.linspace(0, len(rest) - 1, size - int(chosen.sum())).astype(int)
    chosen[rest[spread]] = True
    return np.flatnonzero(chosen)


def _repeated_failures(data: Dataset) -> Indices:
    """Experiments with designs that failed and were repeated: they tell about bad luck."""
    _, design = np.unique(data.X, axis=0, return_inverse=True)
    n_runs = np.bincount(design.ravel())[design.ravel()]
    n_worked = np.bincount(design.ravel(), data.worked)[design.ravel()]
    return np.flatnonzero((n_runs > 1) & (n_worked < n_runs))


def _best_first(data: Dataset) -> Indices:
    """Acceptable experiments: the front, then the others by the sum of their ranks."""
    rows = np.flatnonzero(data.acceptable)
    if not len(rows):
        return rows
    gains = data.gains[rows]
    ranks = np.argsort(np.argsort(-gains, axis=0, kind="stable"), axis=0).sum(axis=1)
    return rows[np.lexsort((ranks, ~nondominated(-gains)))]


def _squared_distance(X: Array, centres: Array) -> Array:  # (n, d), (k, d) -> (n,)
    """From the nearest centre."""
    return np.asarray(np.min([((X - centre) ** 2).sum(axis=1) for centre in centres], axis=0))
