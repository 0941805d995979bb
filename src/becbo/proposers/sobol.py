"""Space-filling proposals that learn nothing: the line every method has to beat.

Sobol, "On the distribution of points in a cube and the approximate evaluation of integrals", USSR
Computational Mathematics and Mathematical Physics 7, 1967; scrambled as in Owen, "Randomly
permuted (t,m,s)-nets and (t,s)-sequences", 1995.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from becbo.data import Dataset
from becbo.proposers.base import Models, Proposal, clock, proposal_of, propose_in_turn
from becbo.proposers.warm import fit_classifier, fit_regressor
from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.goal import INDIFFERENT, Found
from becbo.search.region import Region
from becbo.space import Array
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier

BLOCK = 16  # points of the sequence that may come in any order
_MIN_SEQUENCE = 256


@dataclass(frozen=True)
class Sobol:
    """The points of one scrambled sequence; the models only say what they expect of each."""

    regressor: GaussianProcess = GaussianProcess()
    classifier: GPClassifier = GPClassifier()

    def fit(self, data: Dataset, rng: np.random.Generator) -> Models:
        """Both models of the data."""
        del rng  # both fits are deterministic
        return Models(fit_regressor(self.regressor, data), fit_classifier(self.classifier, data))

    def propose(
        self, data: Dataset, region: Region, pending: Array, q: int, rng: np.random.Generator
    ) -> Proposal:
        """q new points of the sequence; pending ones are taken, which is all that matters here."""
        seconds: dict[str, float] = {}
        with clock(seconds, "regressor"):
            regressor = fit_regressor(self.regressor, data)
        with clock(seconds, "classifier"):
            models = Models(regressor, fit_classifier(self.classifier, data))

        def search(region: Region, pending: Array) -> Found:
            points = next_block(data.X, region, rng)
            return choose(points, ["sequence"] * len(points), INDIFFERENT, region, rng)

        with clock(seconds, "search"):
            found = propose_in_turn(q, region, pending, search)
        return proposal_of(models, found, seconds)


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
