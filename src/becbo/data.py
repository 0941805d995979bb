"""The history as arrays: unit cube, values to maximise, feasibility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becbo.space import Array, Space
from becbo.trial import Outcome, Trial


@dataclass(frozen=True)
class Dataset:
    """Finished experiments. `y` is to be maximised and NaN where the experiment failed."""

    X: Array  # (n, d)
    y: Array  # (n,)

    @property
    def feasible(self) -> NDArray[np.bool_]:  # (n,)
        """Which experiments worked: the one place where feasibility is spelled."""
        return ~np.isnan(self.y)

    @property
    def n_feasible(self) -> int:
        """How many experiments worked."""
        return int(self.feasible.sum())

    def head(self, n: int) -> Dataset:
        """The first n experiments."""
        return Dataset(self.X[:n], self.y[:n])

    def successes(self) -> tuple[Array, Array]:  # (k, d), (k,)
        """Designs that worked and their values."""
        return self.X[self.feasible], self.y[self.feasible]


def sign(direction: str) -> float:
    """The factor that turns user values into values to maximise."""
    return -1.0 if direction == "minimize" else 1.0


def dataset(trials: Sequence[Trial], space: Space, direction: str) -> Dataset:
    """Finished trials, in order of their numbers; lost and pending ones say nothing."""
    done = [t for t in trials if t.outcome.is_answer]
    y = [np.nan if t.value is None else sign(direction) * t.value for t in done]
    return Dataset(space.encode([t.params for t in done]), np.array(y, dtype=float))


def pending_points(trials: Sequence[Trial], space: Space) -> Array:  # (p, d)
    """Designs that are out for evaluation."""
    return space.encode([t.params for t in trials if t.outcome is Outcome.PENDING])
