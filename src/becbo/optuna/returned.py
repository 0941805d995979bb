"""What an objective returned, as the result of its trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import optuna

from becbo.checks import finite_numbers
from becbo.errors import InvalidInput
from becbo.optuna.measured import set_values, study_values
from becbo.optuna.outcomes import mark_of, mark_worked
from becbo.outputs import Outputs


def measured_in(returned: Any, outputs: Outputs) -> dict[str, float | None]:
    """The outputs in what an objective returned.

    Args:
        returned: a number for the only objective, a sequence with a number for each objective, or
            a mapping of the names of outputs to numbers. What is NaN, infinite or left out was not
            measured.
        outputs: what there is to measure.

    Returns:
        A number or None for every output.

    Raises:
        InvalidInput: if it is anything else.
    """
    if isinstance(returned, Mapping):
        return outputs.values(finite_numbers(returned))
    is_list = isinstance(returned, Sequence) and not isinstance(returned, str | bytes)
    numbers = list(returned) if is_list else [returned]
    names = [objective.name for objective in outputs.objectives]
    if len(numbers) != len(names):
        raise InvalidInput(f"{len(numbers)} values for {len(names)} objectives: {', '.join(names)}")
    return outputs.values(finite_numbers(dict(zip(names, numbers, strict=True))))


def tell_measured(
    trial: optuna.Trial, measured: Mapping[str, float | None], outputs: Outputs
) -> list[float] | None:
    """Notes what a trial that worked has measured.

    Args:
        trial: the trial as the objective gets it.
        measured: a number or None for every output, at least one number.
        outputs: what there is to measure.

    Returns:
        The values for Optuna. None without a number for every objective: the trial has to end
        there as failed, and is marked as worked unless it has a mark.
    """
    values = study_values(measured, outputs)
    if values is None:
        if mark_of(trial) is None:
            mark_worked(trial, measured)
        return None
    kept = {o.name for o in outputs.objectives if o.target is None}  # by Optuna
    set_values(trial, {name: v for name, v in measured.items() if name not in kept})
    return values
