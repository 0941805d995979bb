"""Space-filling proposals that learn nothing: the line every method has to beat.

Sobol, "On the distribution of points in a cube and the approximate evaluation of integrals", USSR
Computational Mathematics and Mathematical Physics 7, 1967; scrambled as in Owen, "Randomly
permuted (t,m,s)-nets and (t,s)-sequences", 1995.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array
from becbo.data import Dataset
from becbo.models.base import Models
from becbo.models.feasibility import OneGP
from becbo.outputs import Outputs
from becbo.proposers.base import Proposer, Searcher
from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.goal import INDIFFERENT, Found
from becbo.search.region import Region
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.gp import GaussianProcess

BLOCK = 16  # points of the sequence that may come in any order
_MIN_SEQUENCE = 256


@dataclass(frozen=True)
class Sobol(Proposer):
    """The points of one scrambled sequence; the models only say what they expect of each."""

    regressor: GaussianProcess = GaussianProcess()
    classifier: OneGP = OneGP()

    def supports(self, outputs: Outputs) -> bool:
        """Any outputs: it looks at none."""
        return True

    def fit_failures(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """A classifier of all failures."""
        return self.classifier.fit(data, rng)

    def searcher(self, models: Models, data: Dataset, rng: np.random.Generator) -> Searcher:
        """The next points of the sequence; pending ones are taken, which is all that matters."""

        def search(region: Region, pending: Array) -> Found:
            points = next_block(data.X, region, rng)
            return choose(points, ["sequence"] * len(points), INDIFFERENT, region, rng)

        return search


def next_block(X: Array, region: Region, rng: np.random.Generator) -> Array:  # (<= BLOCK, d)
    """What is left of the first block that is not used up, in random order.

    The first experiment seeds the scrambling, so that all proposals of a history come from one
    sequence and no state is kept. A block is even as a whole, whatever the order in it.
    """
    scrambling = np.random.default_rng(zlib.crc32(X[:1].tobytes()))
    n = max(_MIN_SEQUENCE, 2 ** int(np.ceil(np.log2(len(region.taken) + BLOCK))))
    sequence = space_filling(region, n, scrambling)
    left = np.flatnonzero(region.is_new(sequence))
    left = left[left < (left[0] // BLOCK + 1) * BLOCK] if len(left) else np.arange(len(sequence))
    return np.asarray(sequence[rng.permutation(left)])
