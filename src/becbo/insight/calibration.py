"""Whether the chances were right: what was believed before each experiment against what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ENOUGH = 10  # predictions, below which a curve says more about luck than about the model
_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_Z = 1.959964  # normal quantile of a 95 % interval


@dataclass(frozen=True)
class Bin:
    """Experiments whose chance was believed to lie between `low` and `high`."""

    low: float
    high: float
    n: int
    believed: float  # mean chance
    observed: float  # share that worked
    interval: tuple[float, float]  # 95 % interval of the true share


@dataclass(frozen=True)
class Calibration:
    """Brier scores are mean squared errors of a chance: 0 is perfect, 0.25 is a coin."""

    n: int
    bins: tuple[Bin, ...]  # only those with experiments
    brier: float
    base_rate: float  # share that worked
    brier_of_base_rate: float  # of somebody who had always said the base rate

    @property
    def is_enough(self) -> bool:
        """Whether there are enough predictions to judge by."""
        return self.n >= ENOUGH


def calibration(chances: Sequence[float], worked: Sequence[bool]) -> Calibration:
    """The record of predictions, one chance and one outcome per experiment."""
    p, came = np.array(chances, dtype=float), np.array(worked, dtype=float)
    if not len(p):
        return Calibration(0, (), math.nan, math.nan, math.nan)
    index = np.clip(np.searchsorted(_EDGES, p, side="right") - 1, 0, len(_EDGES) - 2)
    bins = [
        Bin(
            _EDGES[i],
            _EDGES[i + 1],
            int(mine.sum()),
            float(p[mine].mean()),
            float(came[mine].mean()),
            wilson(int(came[mine].sum()), int(mine.sum())),
        )
        for i in range(len(_EDGES) - 1)
        if (mine := index == i).any()
    ]
    rate = float(came.mean())
    brier = float(np.mean((p - came) ** 2))
    return Calibration(len(p), tuple(bins), brier, rate, rate * (1 - rate))


def wilson(k: int, n: int) -> tuple[float, float]:
    """95 % interval of a share of which k of n were seen (Wilson 1927)."""
    share, z2 = k / n, _Z**2 / n
    centre = (share + z2 / 2) / (1 + z2)
    half = math.sqrt(share * (1 - share) * z2 + z2**2 / 4) / (1 + z2)
    return max(centre - half, 0.0), min(centre + half, 1.0)
