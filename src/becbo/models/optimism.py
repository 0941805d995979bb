"""The optimism of a choice: a search ends where the models overestimate.

Designs taken as they were drawn work as often as the models say. Designs that a search has refined
work less often: among many it finds those that look best by mistake (the winner's curse). How much
less differs between problems, and is learned from what came of the proposals so far.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from becbo.arrays import Array, Mask
from becbo.trial import Prediction

_NONE, _FULL = 0.25, 0.5  # chances up to which nothing is taken off, and from which all is
_STEP, _KEPT = 0.2, 0.95  # what a full surprise adds; of what was learned, after each proposal
_LEAST = 0.05  # above zero, since by that a corrected chance is told from others


def as_chosen(prediction: Prediction, optimism: float) -> Prediction:
    """The prediction for a design that a search has refined.

    Args:
        prediction: what the models say of it.
        optimism: by how much its score is too high where its chance is a half or more. Proposals
            with smaller chances explore, and are as good as the models say.

    Returns:
        The prediction with the chance that is left.
    """
    spared = 1.0 - prediction.bad_luck
    feasible = prediction.p_feasible / spared
    taken_off = optimism * np.interp(feasible, (_NONE, _FULL), (0.0, 1.0))
    chance = float(spared * ndtr(ndtri(feasible) - taken_off))
    low, high = prediction.band
    return replace(prediction, p_feasible=chance, band=(min(low, chance), high), optimism=optimism)


def learned(usual: float, stated: Array, worked: Mask) -> float:  # (n,), (n,)
    """The optimism of the next choice, by what came of those before.

    It grows after a failure and shrinks after a success, each by how unlikely that was, and drifts
    back to the usual one.

    Args:
        usual: the optimism without experience, in a score.
        stated: the chances that were stated of refined designs, in order.
        worked: whether they worked.

    Returns:
        The optimism, above zero.
    """
    found = usual
    for chance, has_worked in zip(stated, worked, strict=True):
        found = usual + _KEPT * (found - usual) + _STEP * (chance - has_worked)
        found = max(found, _LEAST)
    return float(found)
