"""Where a search may go: the unit cube, what can be set in it, and what is taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from becbo.arrays import Array, Mask

# Two designs closer than this (largest difference of any column) are the same design.
SAME = 1e-6


class Mixtures(Protocol):
    """Columns that have to add up."""

    def holds(self, X: Array) -> Mask:  # (m, dim) -> (m,)
        """Whether they do."""
        ...

    def project(self, X: Array) -> Array:  # (m, dim) -> (m, dim)
        """The nearest points where they do, grids ignored."""
        ...

    def normals(self, X: Array) -> Array:  # (m, dim) -> (m, q, dim)
        """The gradients of the q sums."""
        ...

    def exchanges(self, x: Array) -> Array:  # (dim,) -> (k, dim)
        """Points in which two columns have exchanged some steps."""
        ...


@dataclass(frozen=True)
class Region:
    """The unit cube [0, 1]^dim with its grid columns, known constraints and taken points."""

    dim: int
    size: float  # how many different designs there are
    snap: Callable[[Array], Array]  # (m, dim) -> (m, dim): to what can be set
    rounded: Callable[[Array], Array]  # the same column by column: sums need not be kept
    allowed: Callable[[Array], Mask]  # (m, dim) -> (m,): known constraints
    options: tuple[tuple[slice, Array | None], ...]  # grid columns and, if few, their values
    polytope: tuple[Array, Array]  # A u <= b, the linear ones among the known constraints
    taken: Array  # (k, dim) evaluated or pending
    mixtures: Mixtures | None = None
    gap: float = SAME  # points closer to a taken one are not new

    def with_taken(self, X: Array) -> Region:
        """The region with more points taken."""
        return replace(self, taken=np.vstack([self.taken, X]))

    @property
    def n_parameters(self) -> int:
        """How many things can be set: the columns of a categorical are one."""
        return self.dim - sum(int(columns.stop - columns.start) - 1 for columns, _ in self.options)

    @property
    def choices(self) -> list[tuple[slice, Array]]:
        """The columns of each categorical, and all its values."""
        return [
            (columns, values)
            for columns, values in self.options
            if values is not None and columns.stop - columns.start > 1
        ]

    @property
    def is_plain(self) -> Mask:  # (dim,)
        """Columns that are a number: all but those of categoricals."""
        mask = np.ones(self.dim, dtype=bool)
        for columns, _ in self.choices:
            mask[columns] = False
        return mask

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
        from scipy.spatial.distance import cdist  # late, as in surrogates/kernels.py

        if not len(self.taken):
            return np.ones(len(X), dtype=bool)
        return np.asarray(cdist(X, self.taken, "chebyshev").min(axis=1) > self.gap)

    def enumerate(self, limit: int) -> Array | None:  # (size, dim)
        """Every design, if all columns are grids and there are at most `limit` of them."""
        if self.size > limit:
            return None
        values = [
            self._values(columns, limit) if few is None else few for columns, few in self.options
        ]
        X = np.array([np.concatenate(row) for row in itertools.product(*values)])
        return X if self.mixtures is None else X[self.mixtures.holds(X)]

    def _values(self, columns: slice, limit: int) -> Array:  # (k, 1)
        """All values of a grid of at most `limit`: what a fine ruler is rounded to."""
        # The cells of a logarithmic grid are narrower than 1 / limit, but not by this much.
        ruler = np.repeat(np.linspace(0.0, 1.0, 32 * limit)[:, None], self.dim, axis=1)
        return np.unique(self.rounded(ruler)[:, columns])[:, None]
