"""Where a search may go: the unit cube, what can be set in it, and what is taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Two designs closer than this (largest difference of any column) are the same design.
SAME = 1e-6


@dataclass(frozen=True)
class Region:
    """The unit cube [0, 1]^dim with its grid columns, known constraints and taken points."""

    dim: int
    size: float  # how many different designs there are
    snap: Callable[[Array], Array]  # (m, dim) -> (m, dim): to what can be set
    allowed: Callable[[Array], Mask]  # (m, dim) -> (m,): known constraints
    options: tuple[tuple[slice, Array | None], ...]  # grid columns and, if few, their values
    polytope: tuple[Array, Array]  # A u <= b, the linear ones among the known constraints
    taken: Array  # (k, dim) evaluated or pending

    def with_taken(self, X: Array) -> Region:
        """The region with more points taken."""
        return replace(self, taken=np.vstack([self.taken, X]))

    @property
    def free(self) -> Mask:  # (dim,)
        """Columns a gradient may move: all but those with few values."""
        mask = np.ones(self.dim, dtype=bool)
        for columns, values in self.options:
            if values is not None:
                mask[columns] = False
        return mask

    def is_new(self, X: Array) -> Mask:  # (m, dim) -> (m,)
        """Whether each point differs from every taken one."""
        if not len(self.taken):
            return np.ones(len(X), dtype=bool)
        gaps = np.abs(X[:, None, :] - self.taken[None, :, :]).max(axis=2)
        return np.asarray(gaps.min(axis=1) > SAME)

    def enumerate(self, limit: int) -> Array | None:  # (size, dim)
        """Every design, if all columns are grids and there are at most `limit` of them."""
        if self.size > limit or any(values is None for _, values in self.options):
            return None
        values = [v for _, v in self.options if v is not None]
        return np.array([np.concatenate(row) for row in itertools.product(*values)])
