"""The search while nothing has worked yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.constrained import BandSearch
from becbo.search.goal import Found, Goal, Hints, ranking
from becbo.search.region import Region

_N_POINTS = 64  # random points, of which one that is new is taken


@dataclass(frozen=True)
class FirstSuccess:
    """Half of the time the point with the largest chance to work, half of the time a random one.

    From failures alone, unless they list the limits that they broke, a model learns "far away from
    here", which leads into the corners of the space. That is quick where designs at the bounds work
    and hopeless where only the interior does; random points are the other way round. Which is the
    case is not known beforehand, and a random choice takes about twice as long as the better of
    the two.
    """

    random_share: float = 0.5
    refined: BandSearch = field(default_factory=BandSearch)

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The point to try next."""
        if rng.random() >= self.random_share:
            return self.refined.maximise(goal, region, hints, rng)
        point = space_filling(region, 1, rng)
        return choose(point, ["random"] * len(point), goal, region, rng)


@dataclass(frozen=True)
class OneSided:
    """Mostly random points; the others have about half of their columns at bounds, all on one side.

    Where limits are monotone, as they are in most designs of machines, one of the two sides works
    far more often than random points, and nobody knows which. No model tells more.
    """

    sided_share: float = 1 / 3

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The point to try next."""
        del goal, hints
        X, name = space_filling(region, _N_POINTS, rng), "random"
        if rng.random() < self.sided_share:
            is_moved = region.free & (rng.random(X.shape) < 0.5)
            moved = region.snap(np.where(is_moved, rng.integers(2), X))
            moved = moved[region.allowed(moved)]
            X, name = (moved, "one side") if len(moved) else (X, name)
        lots = ranking(lambda X: (rng.random(len(X)), np.ones(len(X))))
        return choose(X, [name] * len(X), lots, region, rng)
