"""Designs that are run again: a failure may have been bad luck, or nothing else is safe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from becbo.arrays import Array, Mask
from becbo.search.choice import AGAIN, REPEAT
from becbo.search.goal import Found
from becbo.search.region import SAME, Region

_GAP = 1e-4  # of the range of a parameter

SUSPECT = (
    "judged by the other experiments alone, this design should work, yet it failed: the repeat "
    "shows whether that was bad luck"
)


def repeat_to_tell(x: Array, region: Region, pending: Array) -> Found | None:  # (d,), (p, d)
    """The repeat of a failed design, unless it is out already or cannot be set now."""
    if _is_among(x[None], pending)[0] or not region.allowed(x[None])[0]:
        return None
    if not can_be_set(x[None], region)[0]:
        return None
    return Found(x, 0.0, 0.0, True, AGAIN, SUSPECT)


def can_be_set(X: Array, region: Region) -> Mask:  # (m, d) -> (m,)
    """Which designs the next one can be: a part may be given, some lie off the steps."""
    return np.asarray(np.abs(region.snap(X) - X).max(axis=1, initial=0.0) <= SAME)


def with_luck(region: Region, failed: Array, pending: Array) -> Region:
    """The region where failures may be bad luck.

    Designs that failed (k, d) may be proposed again, unless they are pending. Others keep a gap:
    where answers are uncertain, an edge can be narrowed down for ever.
    """
    is_free = _is_among(region.taken, failed) & ~_is_among(region.taken, pending)
    return replace(region, taken=region.taken[~is_free], gap=_GAP)


def marked(found: Found, failed: Array, chance: float) -> Found:
    """What was found, with a word on it if it is one of the designs that failed (k, d).

    Other repeats say so already, that of a design that worked even if it has failed as well.
    """
    if found.winner in (REPEAT, AGAIN) or not _is_among(found.x[None], failed)[0]:
        return found
    why = f"it failed before; with a chance of {100 * chance:.0f} % that was bad luck"
    note = why if found.fallback is None else f"{found.fallback}; {why}"
    return replace(found, winner=AGAIN, fallback=note)


def _is_among(X: Array, others: Array) -> Mask:  # (m, d), (k, d) -> (m,)
    if not len(others):
        return np.zeros(len(X), dtype=bool)
    return np.asarray([(np.abs(others - x).max(axis=1) <= SAME).any() for x in X], dtype=bool)
