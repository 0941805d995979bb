"""Calibration: the probabilities stated before experiments against their outcomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ENOUGH = 10  # predictions; with fewer, a curve shows luck rather than the model
_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_Z = 1.959964  # normal quantile of a 95 % interval


@dataclass(frozen=True)
class Bin:
    """Experiments whose stated probability lies between `low` and `high`.

    Attributes:
        low: The lower end of the bin.
        high: The upper end of the bin.
        n: The number of experiments.
        stated: Their mean stated probability.
        observed: The share that worked and kept every limit.
        interval: The 95 % interval of that share.
    """

    low: float
    high: float
    n: int
    stated: float
    observed: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Calibration:
    """How well stated probabilities came true.

    Attributes:
        n: The number of experiments with a stated probability.
        bins: Groups of them; bins without experiments are left out.
        brier: The Brier score, a mean squared error: 0 is perfect, 0.25 is tossing a coin.
        base_rate: The share that worked and kept every limit.
        brier_of_base_rate: The Brier score of always stating the base rate.
    """

    n: int
    bins: tuple[Bin, ...]
    brier: float
    base_rate: float
    brier_of_base_rate: float

    @property
    def is_enough(self) -> bool:
        """Whether there are enough predictions to judge by."""
        return self.n >= ENOUGH


def calibration(chances: Sequence[float], came_true: Sequence[bool]) -> Calibration:
    """Compares stated probabilities with outcomes.

    Args:
        chances: The stated probability of each experiment.
        came_true: Whether it worked and kept every limit.

    Returns:
        The comparison.
    """
    p, came = np.array(chances, dtype=float), np.array(came_true, dtype=float)
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
    """The 95 % interval of a share, if k of n were observed (Wilson 1927)."""
    share, z2 = k / n, _Z**2 / n
    centre = (share + z2 / 2) / (1 + z2)
    half = math.sqrt(share * (1 - share) * z2 + z2**2 / 4) / (1 + z2)
    return max(centre - half, 0.0), min(centre + half, 1.0)
