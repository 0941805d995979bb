"""The search while nothing has worked yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from becbo.search.candidates import space_filling
from becbo.search.choice import choose
from becbo.search.constrained import BandSearch
from becbo.search.goal import Found, Goal, Hints
from becbo.search.region import Region


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
