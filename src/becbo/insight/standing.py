"""Where a campaign stands: its best runs with what is believed of them, and how the front grew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from becbo.campaign.description import Description
from becbo.campaign.formatting import estimate
from becbo.campaign.runs import Run
from becbo.campaign.status import Status
from becbo.data import dataset
from becbo.front import is_acceptable
from becbo.improvement import reference
from becbo.optimizer import Optimizer
from becbo.outputs import Outputs
from becbo.pareto import hypervolume
from becbo.trial import Estimate


@dataclass(frozen=True)
class Standing:
    """One of the best runs.

    Attributes:
        run: The run.
        n_measured: How often its design was measured with an acceptable result.
        believed: What the models believe of the outputs of its design; empty if values are exact.
    """

    run: Run
    n_measured: int
    believed: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def is_confirmed(self) -> bool:
        """Whether a repeat would say nothing new: values are exact, or there is a repeat."""
        return not self.believed or self.n_measured > 1


@dataclass(frozen=True)
class Growth:
    """How the front of several objectives grew.

    Attributes:
        numbers: The runs that worked or failed.
        volumes: The hypervolume of the front after each of them.
        reference: The value of each objective from which the volume is measured.
    """

    numbers: tuple[int, ...]
    volumes: tuple[float, ...]
    reference: Mapping[str, float]


def believed_status(
    description: Description, status: Status, runs: Sequence[Run], optimizer: Optimizer
) -> Status:
    """The status with the best run by what the models believe, if measurements are noisy.

    Args:
        description: The campaign.
        status: Its status, by its readings.
        runs: All runs.
        optimizer: The runs as an optimizer, for its models.

    Returns:
        The status; the same if values are exact, of several objectives, or none acceptable.
    """
    best = optimizer.best if status.is_reading else None
    if best is None:
        return status
    validate = description.space.validate
    return status.believing(
        next(
            run
            for run in runs
            if is_acceptable(run.result, description.outputs)
            and dict(validate(run.params)) == best.params
        )
    )


def standings(
    description: Description, status: Status, runs: Sequence[Run], optimizer: Optimizer
) -> tuple[Standing, ...]:
    """The best run or the front, with what is believed of it if measurements are noisy.

    Args:
        description: The campaign.
        status: Its front.
        runs: All runs.
        optimizer: The runs as an optimizer, for its models.

    Returns:
        One entry for each run of the front.
    """
    front = status.front
    n_measured = [
        sum(
            run.params == best.params and is_acceptable(run.result, description.outputs)
            for run in runs
        )
        for best in front
    ]
    if not description.settings.noisy:
        return tuple(Standing(run, n) for run, n in zip(front, n_measured, strict=True))
    predictions = optimizer.predict([run.params for run in front]) if front else []
    return tuple(
        Standing(run, n, now.outputs)
        for run, n, now in zip(front, n_measured, predictions, strict=True)
    )


def confirmation(description: Description, found: Sequence[Standing]) -> str:
    """What is believed of the best run, and whether to confirm it by a repeat.

    Args:
        description: The campaign.
        found: The best run or the front.

    Returns:
        One or two sentences; "" if values are exact, or nothing is acceptable.
    """
    n_once = sum(not each.is_confirmed for each in found)
    if len(found) != 1:
        once = f"{n_once} of the {len(found)} runs of the front were measured only once"
        return f"{once}. Repeat a run before you rely on it." if n_once else ""
    (best,) = found
    objective = description.outputs.objectives[0]
    if objective.name not in best.believed:
        return ""
    known = best.believed[objective.name]
    value = estimate(known.mean, known.std, objective.unit)
    believed = (
        "Measurements vary; with all runs in mind, the models believe the design of run "
        f"{best.run.number} to be the best, with {value}."
    )
    if best.is_confirmed:
        return f"{believed} It was measured {best.n_measured} times."
    return f"{believed} It was measured only once: repeat run {best.run.number} to confirm it."


def growth(outputs: Outputs, runs: Sequence[Run], optimizer: Optimizer) -> Growth | None:
    """The hypervolume of the front after each run.

    Args:
        outputs: What is measured.
        runs: All runs.
        optimizer: The runs as an optimizer, whose reference point counts.

    Returns:
        The growth; None with one objective, or while nothing is acceptable.
    """
    done = [run for run in runs if run.outcome.is_answer]
    objectives = outputs.objectives
    if len(objectives) < 2 or not any(is_acceptable(run.result, outputs) for run in done):
        return None
    point = reference(dataset(optimizer.trials, optimizer.space, outputs))
    costs: list[list[float]] = []
    volumes = []
    for run in done:
        if is_acceptable(run.result, outputs):
            costs.append([-o.gain(run.values[o.name] or 0.0) for o in objectives])
        volumes.append(hypervolume(np.array(costs), -point) if costs else 0.0)
    values = {
        o.name: o.restore(gain) if o.target is None else abs(gain)
        for o, gain in zip(objectives, point.tolist(), strict=True)
    }
    return Growth(tuple(run.number for run in done), tuple(volumes), values)
