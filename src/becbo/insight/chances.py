"""The chance that an experiment improves on what there is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtr

from becbo.arrays import Array
from becbo.campaign.runs import Run
from becbo.outputs import Objective, Outputs
from becbo.pareto import boxes
from becbo.trial import Prediction

_MOST = 3  # objectives whose front can be divided into boxes

Estimates = Mapping[str, tuple[Array, Array]]  # means and standard deviations by output, (n,) each


def chance_to_improve(now: Prediction, outputs: Outputs, front: Sequence[Run]) -> float | None:
    """The probability that a design is acceptable and no run of the front is as good.

    Args:
        now: What the models predict for the design.
        outputs: What is measured.
        front: The acceptable runs that no other beats.

    Returns:
        The probability; None with more than three objectives.
    """
    estimates = {n: (np.array([e.mean]), np.array([e.std])) for n, e in now.outputs.items()}
    found = chances_to_improve(np.array([now.p_feasible]), estimates, outputs, front)
    return None if found is None else float(found[0])


def chances_to_improve(
    p_feasible: Array, estimates: Estimates, outputs: Outputs, front: Sequence[Run]
) -> Array | None:  # (n,) -> (n,)
    """The same for many designs.

    With one objective this is the chance to beat the best; while nothing is acceptable, any design
    that is improves on it. The values of several objectives count as independent.

    Args:
        p_feasible: The probability that each design is acceptable, (n,).
        estimates: The outputs that are predicted for them.
        outputs: What is measured.
        front: The acceptable runs that no other beats.

    Returns:
        The probabilities; None with more than three objectives.
    """
    objectives = outputs.objectives
    if len(objectives) > _MOST:
        return None
    if not front or any(objective.name not in estimates for objective in objectives):
        return p_feasible
    costs = [[-o.gain(run.values[o.name] or 0.0) for o in objectives] for run in front]
    lower, upper = boxes(np.array(costs), np.full(len(objectives), math.inf))
    inside = sum(
        _in_box(low, high, objectives, estimates)
        for low, high in zip(lower.tolist(), upper.tolist(), strict=True)
    )
    return np.asarray(p_feasible * np.minimum(inside, 1.0))


def _in_box(
    lows: Sequence[float],
    highs: Sequence[float],
    objectives: Sequence[Objective],
    estimates: Estimates,
) -> Array:  # -> (n,)
    """The probability of one box of costs, for each design."""
    shares = [
        _cdf(high, objective, *estimates[objective.name])
        - _cdf(low, objective, *estimates[objective.name])
        for low, high, objective in zip(lows, highs, objectives, strict=True)
    ]
    return np.asarray(np.prod(shares, axis=0))


def _cdf(cost: float, objective: Objective, mean: Array, std: Array) -> Array:  # (n,), (n,) -> (n,)
    """The probability that the cost of an objective, which is minimised, is below a number."""
    centre = np.array([objective.orient(value) for value in mean.tolist()])
    if objective.target is None:
        return _below(cost, -centre, std)
    return np.asarray(np.maximum(_below(cost, centre, std) - _below(-cost, centre, std), 0.0))


def _below(bound: float, mean: Array, std: Array) -> Array:  # (n,), (n,) -> (n,)
    """The probability that normal numbers are below a bound."""
    z = (bound - mean) / np.where(std == 0, 1.0, std)
    return np.asarray(np.where(std == 0, mean < bound, ndtr(z)))
