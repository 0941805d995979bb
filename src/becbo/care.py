"""How careful the next proposal has to be, by the risk, the price and the budget of failures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from becbo.arrays import Array, Mask
from becbo.data import Dataset

_LOSS, _MOST = 1.5, 0.5  # experiments per proposal that failures may cost; what may fail at most
_STEP = 1.0  # in a score: what a failure costs in confidence, under a risk
_OWN = 0.5  # of the rate of bad luck: the risk that a design itself may always have
_AT_LEAST_LEFT = 20  # experiments, where nobody planned their number, or the plan is done


@dataclass(frozen=True)
class Care:
    """What failures are worth to the user.

    Attributes:
        risk: the share of proposals that may fail; None: not limited.
        budget: how many experiments may fail in all; None: not limited.
        n_planned: how many experiments there will be; None: nobody knows.
    """

    risk: float | None = None
    budget: int | None = None
    n_planned: int | None = None

    def least_chance(self, data: Dataset, luck: float = 0.0) -> float:
        """The chance to work that the next proposal needs, from 0 to 1.

        Bad luck at a rate `luck` may take more than can be afforded. No design can help that, so
        the design itself may always take a part of it on top: as good as certain are only designs
        beside known ones, from which nothing is learned.
        """
        inevitable, needed = 1.0 - (1.0 - luck) * (1.0 - _OWN * luck), [0.0]
        if self.risk is not None:
            risk = max(self.risk, inevitable)
            margin = overdraft(~data.kept[data.proposed], risk)
            needed.append(float(ndtr(ndtri(1.0 - risk) + _STEP * margin)))
        if self.budget is not None:
            share = self._left(data) / self._n_left(len(data.X))
            needed.append(1.0 - max(share, inevitable))
        return max(needed)

    def n_risky(self, data: Dataset, pending: Array) -> int:  # (p, d)
        """How many more designs without a success the budget allows: each that is out may fail."""
        proven = data.X[data.worked]
        n_out = sum(not (x == proven).all(axis=1).any() for x in pending)
        return max(self._left(data) - n_out, 0)

    def _n_left(self, n: int) -> int:
        """Experiments to come after n: those planned, or as many again if nobody knows."""
        n_left = 0 if self.n_planned is None else self.n_planned - n
        return n_left if n_left > 0 else max(n, _AT_LEAST_LEFT)

    def _left(self, data: Dataset) -> int:
        assert self.budget is not None
        return max(self.budget - int((~data.worked).sum()), 0)


def tolerable(price: float) -> float:
    """The risk that a price of failures leaves: they cost 1.5 experiments per proposal at most."""
    return min(_LOSS / price, _MOST)


def overdraft(failed: Mask, risk: float) -> float:  # (n,)
    """How many failures more than the risk allows there were lately, in order of the proposals.

    c <- max(0, c + failed - risk). Whatever the models believe, the share of failures in n
    proposals is at most risk + c / n, so it suffices to be careful while c is above zero.
    """
    c = 0.0
    for has_failed in failed:
        c = max(0.0, c + float(has_failed) - risk)
    return c


def first_choice(X: Array, gains: Array, pending: Array) -> Array:  # (r, d), (r, k), (p, d) -> (d,)
    """The best of the designs X, if possible one that is not out.

    Several objectives are added up by their ranks.
    """
    ranks = np.argsort(np.argsort(-gains, axis=0, kind="stable"), axis=0).sum(axis=1)
    X = X[np.argsort(ranks, kind="stable")]
    free = [x for x in X if not (x == pending).all(axis=1).any()]
    return np.asarray(free[0] if free else X[0])
