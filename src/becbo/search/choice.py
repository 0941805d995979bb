"""The last step of every search: from a pool of points to one that can be proposed."""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array
from becbo.errors import BecboError
from becbo.search.candidates import space_filling
from becbo.search.goal import Found, Goal
from becbo.search.region import Region

# Slack that counts as zero: 4e-4 in probability at p = 0.5.
TOLERANCE = 1e-3
ENUMERATE = 4096  # spaces with at most so many designs are searched one by one
REPEAT = "repeat"  # there is nothing new
AGAIN = "repeat of a failure"  # which may have been bad luck
EXHAUSTED = "the space is exhausted: every design has been tried, this is a repeat"
CRAMPED = "no new design was found, almost all are tried already or forbidden: this is a repeat"
UNSAFE = (
    "no design was found that is as likely to work as is asked for at present: this one comes "
    "closest"
)
SPENT = (
    "no more experiments may fail, those that are pending included: what is left are repeats of "
    "designs that worked"
)
_FRESH_DRAWS = 512


def choose(
    X: Array,
    origins: list[str],
    goal: Goal,
    region: Region,
    rng: np.random.Generator,
) -> Found:
    """The best point of the pool X (m, d) that can be set, is allowed, is new and in the band.

    What cannot be had is given up in the order: in the band, from the pool, new.
    """
    X = region.snap(X)
    usable = region.allowed(X) & region.is_new(X)
    if usable.any():
        kept = [origin for origin, keep in zip(origins, usable, strict=True) if keep]
        return _best(X[usable], kept, goal)
    everything = region.enumerate(ENUMERATE)
    others = space_filling(region, _FRESH_DRAWS, rng) if everything is None else everything
    fresh = others[region.allowed(others) & region.is_new(others)]
    if len(fresh):
        why = "every point the search found was tried already or forbidden: best of some new ones"
        return _best(fresh, ["fresh"] * len(fresh), goal, why)
    allowed = np.vstack([X, others])
    allowed = allowed[region.allowed(allowed)]
    if not len(allowed):
        raise BecboError(
            "no design that satisfies the known constraints was found; loosen them, or leave out a "
            "parameter that follows from the others"
        )
    why = CRAMPED if everything is None else EXHAUSTED
    return _best(allowed, [REPEAT] * len(allowed), goal, why)


def _best(X: Array, origins: list[str], goal: Goal, fallback: str | None = None) -> Found:
    a, g = goal.values(X)
    inside = g >= -TOLERANCE
    if inside.any():
        index = int(np.argmax(np.where(inside, a, -np.inf)))
    else:
        index = int(np.argmax(g))
        fallback = fallback or UNSAFE
    return Found(
        X[index],
        float(a[index]),
        float(g[index]),
        bool(inside[index]),
        origins[index],
        fallback,
    )
