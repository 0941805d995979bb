"""The search while nothing has worked yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from becbo.arrays import Array
from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.constrained import BandSearch
from becbo.search.goal import Found, Goal, Hints, ranking
from becbo.search.region import Region

_N_POINTS = 2000  # random points that a guess is asked about


@dataclass(frozen=True)
class FirstSuccess:
    """Half of the time the most hopeful point of all, half of the time a random one.

    From failures alone, unless they list the limits that they broke, a model learns "far away from
    here", which leads into the corners of the space. That is quick where designs at the bounds work
    and hopeless where only the interior does; random points are the other way round. Which is the
    case is not known beforehand, and drawing lots costs about twice what the better of the two
    would.
    """

    random_share: float = 0.5
    refined: BandSearch = field(default_factory=BandSearch)

    def maximise(self, goal: Goal, region: Region, hints: Hints, rng: np.random.Generator) -> Found:
        """The point to try next."""
        if rng.random() >= self.random_share:
            return self.refined.maximise(goal, region, hints, rng)
        point = space_filling(region, 1, rng)
        return choose(point, ["random"] * len(point), goal, region, rng)


def best_guess(
    score: Callable[[Array], Array],
    name: str,
    at_bounds: bool,
    region: Region,
    rng: np.random.Generator,
) -> Found:
    """The best of many random points.

    Args:
        score: what to compare, (m, d) -> (m,).
        name: of the guess.
        at_bounds: whether half of the points have about half of their columns at bounds.
        region: where points may lie.
        rng: random numbers.

    Returns:
        The point to try next.
    """
    X = space_filling(region, _N_POINTS, rng)
    if at_bounds:
        inside, moved = X[::2], X[1::2]
        is_moved = region.free & (rng.random(moved.shape) < 0.5)
        moved = region.snap(np.where(is_moved, rng.integers(2, size=moved.shape), moved))
        X = np.vstack([inside, moved[region.allowed(moved)]])
    return choose(X, [name] * len(X), ranking(lambda X: (score(X), np.ones(len(X)))), region, rng)
