"""What a search is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np

from becbo.arrays import Array
from becbo.search.region import Region


@dataclass(frozen=True)
class Goal:
    """Maximise a(x) subject to g(x) >= 0."""

    values: Callable[[Array], tuple[Array, Array]]  # a (m,), g (m,)
    values_grad: Callable[[Array], tuple[Array, Array, Array, Array]]  # and da, dg (m, d)
    boundary: Callable[[Array], tuple[Array, Array]]  # C - 0.5 (m,) and its gradient (m, d)


def ranking(values: Callable[[Array], tuple[Array, Array]]) -> Goal:
    """A goal for points that are compared and not refined."""
    return Goal(values, _no_gradient, _no_gradient)


def _no_gradient(X: Array) -> NoReturn:
    raise NotImplementedError("these points are compared, not refined")


# One point is as good as another.
INDIFFERENT = ranking(lambda X: (np.zeros(len(X)), np.ones(len(X))))


@dataclass(frozen=True)
class Hints:
    """What the data suggest: where to look and how far is far."""

    successes: Array  # (k, d) the best designs, best first
    failures: Array  # (l, d) the failures nearest to the best design
    scales: Array  # (d,) length scales of the value


REFINED = ", refined"  # in the origin of a point that was climbed to


@dataclass(frozen=True)
class Found:
    """The outcome of one search, good or bad: reported, never hidden."""

    x: Array  # (d,)
    value: float  # a(x)
    slack: float  # g(x)
    bound_holds: bool  # whether g(x) >= 0 up to the search's tolerance
    winner: str  # where the point came from
    fallback: str | None = None  # why the ordinary choice was not possible

    @property
    def is_refined(self) -> bool:
        """Whether the search refined the point after drawing it."""
        return REFINED in self.winner


class Search(Protocol):
    """A way to maximise."""

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The best point found."""
        ...
