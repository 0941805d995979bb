"""Which results are acceptable, and which of these no other beats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from becbo.outputs import Outputs
from becbo.pareto import nondominated
from becbo.trial import Outcome, Result


def is_acceptable(result: Result, outputs: Outputs) -> bool:
    """Whether it worked, has a value of every objective and breaks no limit that was measured."""
    objectives = (result.values.get(objective.name) for objective in outputs.objectives)
    is_complete = result.outcome is Outcome.OK and None not in objectives
    return is_complete and outputs.are_kept(result.values)


def front_rows(results: Sequence[Result], outputs: Outputs) -> list[int]:
    """The acceptable results that no other beats; with one objective, the best.

    Args:
        results: What came of experiments.
        outputs: What they returned.

    Returns:
        The positions of the front in `results`, in order.
    """
    rows = [i for i, result in enumerate(results) if is_acceptable(result, outputs)]
    costs = [[-o.gain(results[i].values[o.name] or 0.0) for o in outputs.objectives] for i in rows]
    on_front = nondominated(np.array(costs).reshape(len(rows), len(outputs.objectives)))
    return [row for row, is_on in zip(rows, on_front, strict=True) if is_on]
