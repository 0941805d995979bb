"""Words for numbers, in sentences and tables."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share in whole per cent; only 0 and 1 are written as 0 % and 100 %."""
    if 0.0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1.0:
        return "over 99 %"
    return f"{100 * share:.0f} %"
