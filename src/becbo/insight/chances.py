"""The chance that an experiment improves on what there is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from becbo.arrays import Array
from becbo.campaign.runs import Run
from becbo.outputs import Objective, Outputs
from becbo.pareto import boxes
from becbo.trial import Estimate, Prediction

_MOST = 3  # objectives whose front can be divided into boxes


def chance_to_improve(now: Prediction, outputs: Outputs, front: Sequence[Run]) -> float | None:
    """The probability that a design is acceptable and no run of the front is as good.

    With one objective this is the chance to beat the best; while nothing is acceptable, any design
    that is improves on it. The values of several objectives count as independent.

    Args:
        now: What the models predict for the design.
        outputs: What is measured.
        front: The acceptable runs that no other beats.

    Returns:
        The probability; None with more than three objectives.
    """
    objectives = outputs.objectives
    if len(objectives) > _MOST:
        return None
    if not front or any(objective.name not in now.outputs for objective in objectives):
        return now.p_feasible
    costs = [[-o.gain(run.values[o.name] or 0.0) for o in objectives] for run in front]
    lower, upper = boxes(np.array(costs), np.full(len(objectives), math.inf))
    return now.p_feasible * min(sum(_in_boxes(lower, upper, objectives, now.outputs)), 1.0)


def _in_boxes(
    lower: Array, upper: Array, objectives: Sequence[Objective], estimates: Mapping[str, Estimate]
) -> list[float]:  # (b, m), (b, m)
    """The probability of each box of costs."""
    return [
        math.prod(
            _cdf(high, objective, estimates[objective.name])
            - _cdf(low, objective, estimates[objective.name])
            for low, high, objective in zip(lows, highs, objectives, strict=True)
        )
        for lows, highs in zip(lower.tolist(), upper.tolist(), strict=True)
    ]


def _cdf(cost: float, objective: Objective, estimate: Estimate) -> float:
    """The probability that the cost of an objective, which is minimised, is below a number."""
    centre = objective.orient(estimate.mean)
    if objective.target is None:
        return _below(cost, -centre, estimate.std)
    return max(_below(cost, centre, estimate.std) - _below(-cost, centre, estimate.std), 0.0)


def _below(bound: float, mean: float, std: float) -> float:
    """The probability that a normal number is below a bound."""
    if std == 0.0 or math.isinf(bound):
        return float(mean < bound)
    return 0.5 * math.erfc((mean - bound) / (math.sqrt(2.0) * std))
