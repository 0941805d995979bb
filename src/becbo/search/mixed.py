"""Discrete moves: change one grid or categorical parameter at a time; in a mixture, two."""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array
from becbo.search.goal import Goal
from becbo.search.region import Region


def neighbours(x: Array, region: Region) -> Array:  # (d,) -> (k, d)
    """x itself, every point that differs in one parameter of few values, and exchanges."""
    rows = [x[None]]
    for columns, values in region.options:
        if values is not None:
            block = np.repeat(x[None], len(values), axis=0)
            block[:, columns] = values
            rows.append(block)
    if region.mixtures is not None:
        rows.append(region.mixtures.exchanges(x))
    return np.vstack(rows)


def best_neighbours(X: Array, goal: Goal, region: Region) -> Array:  # (m, d) -> (m, d)
    """Each point moved to its best allowed neighbour inside the band, if there is one."""
    blocks = [neighbours(x, region) for x in X]
    everything = np.vstack(blocks)
    a, g = goal.values(everything)
    a = np.where((g >= 0) & region.allowed(everything), a, -np.inf)
    ends = np.cumsum([len(block) for block in blocks])
    return np.vstack(
        [
            everything[end - len(block) + int(np.argmax(a[end - len(block) : end]))]
            for block, end in zip(blocks, ends, strict=True)
        ]
    )
