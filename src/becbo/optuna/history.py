"""From a study to the history that the engine learns from.

The sampler and the campaign both take this road, so that a report announces what is then suggested.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from becbo.data import sign
from becbo.optuna.beliefs import proposal_of
from becbo.optuna.designs import Design, Designs, read_designs
from becbo.optuna.outcomes import (
    Pruned,
    corrections,
    final_value,
    lost_among,
    outcome,
    reason,
)
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData
from becbo.trial import Outcome, Trial


@dataclass(frozen=True)
class Rules:
    """How trials count that have no plain value.

    Args:
        pruned: what a pruned trial counts as.
        is_lost: tells, given a finished trial, whether it was lost.
        stale_after: seconds after which a running trial counts as lost; None: never.
    """

    pruned: Pruned = "value"
    is_lost: Callable[[FrozenTrial], bool] | None = None
    stale_after: float | None = None

    def lost(self, trials: Sequence[FrozenTrial], user_attrs: Mapping[str, Any]) -> frozenset[int]:
        """The numbers of lost trials, and of those that were corrected.

        Args:
            trials: those to judge.
            user_attrs: the attributes of their study.
        """
        return lost_among(trials, user_attrs).union(t.number for t in trials if self._is_lost(t))

    def _is_lost(self, trial: FrozenTrial) -> bool:
        if not trial.state.is_finished():
            return self.stale_after is not None and age(trial) > self.stale_after
        if self.is_lost is None:
            return False
        try:
            return self.is_lost(trial)
        except Exception as error:
            error.add_note(
                f"raised by is_lost of the sampler, {self.is_lost!r}, for trial {trial.number}"
            )
            raise


@dataclass(frozen=True)
class History:
    """A study as the engine sees it.

    Args:
        trials: the trials whose designs are known, in order of completion.
        designs: number of a trial in the study -> its design.
        lost: numbers of the trials that were lost, or corrected.
        warnings: what users should know about trials that are not used as they are, by subject.
    """

    trials: Sequence[Trial]
    designs: Mapping[int, Design]
    lost: frozenset[int]
    warnings: Mapping[str, str]


def read_history(study: StudyData, space: StudySpace, rules: Rules) -> History:
    """The history that a study holds.

    Trials are in the order in which they ended. That order never changes, whereas trials that run
    at the same time end in any order of their numbers: models fitted to the first trials can be
    continued. A correction takes the place of the trial that it corrects.

    Args:
        study: what the study holds.
        space: the parameters to model.
        rules: how pruned and lost trials count.
    """
    lost = rules.lost(study.trials, study.user_attrs)
    designs = read_designs(study.trials, space)
    first = _first_versions(study.trials)
    replaced = set(corrections(study.trials).values())
    usable = [t for t in study.trials if t.number in designs.by_number and t.number not in replaced]
    usable.sort(key=lambda trial: _end(trial, first[trial.number]))
    outcomes = [outcome(trial, lost, rules.pruned) for trial in usable]
    values, warnings = _values(usable, outcomes, study.direction)
    trials = [
        _trial(i, trial, designs.by_number[trial.number], ended, value, first[trial.number])
        for i, (trial, ended, value) in enumerate(zip(usable, outcomes, values, strict=True))
    ]
    return History(trials, designs.by_number, lost, warnings | _missing(designs, lost))


def age(trial: FrozenTrial) -> float:
    """Seconds since a trial was started; 0 if it waits."""
    started = trial.datetime_start
    return 0.0 if started is None else (datetime.now() - started).total_seconds()


def _first_versions(trials: Sequence[FrozenTrial]) -> dict[int, FrozenTrial]:
    """Number of each trial -> the trial that it corrects, perhaps in several steps, or itself."""
    corrected = corrections(trials)
    first: dict[int, FrozenTrial] = {}
    for trial in trials:
        first[trial.number] = first.get(corrected.get(trial.number, -1), trial)
    return first


def _end(trial: FrozenTrial, first: FrozenTrial) -> tuple[datetime, int]:
    """When the trial ended, or was first said to have ended; trials under way come last."""
    ended = trial.datetime_complete and (first.datetime_complete or trial.datetime_complete)
    return ended or datetime.max, first.number


def _trial(
    number: int,
    trial: FrozenTrial,
    design: Design,
    ended: Outcome,
    value: float | None,
    first: FrozenTrial,
) -> Trial:
    proposal = proposal_of(first)
    return Trial(
        number,
        design,
        ended,
        value,
        reason(trial),
        proposal.believed if proposal else None,
        proposal.origin if proposal else "user",
        proposal.note if proposal else None,
    )


def _values(
    trials: Sequence[FrozenTrial], outcomes: Sequence[Outcome], direction: str
) -> tuple[list[float | None], dict[str, str]]:
    """The values of the trials that worked, and a warning if some count with another one.

    A pruned trial was given up because others did better, whatever its last report: early ones are
    often better than the final value would be. So it counts as no better than half of the complete
    trials. Not than the worst, which may be out of all proportion.
    """
    worked = [ended is Outcome.OK for ended in outcomes]
    values = [final_value(t) if ok else None for t, ok in zip(trials, worked, strict=True)]
    known = [(t, v) for t, v in zip(trials, values, strict=True) if v is not None]
    complete = [value for trial, value in known if trial.state is TrialState.COMPLETE]
    if not complete:
        return values, {}
    median, factor = statistics.median(complete), sign(direction)
    capped = {
        trial.number: value
        for trial, value in known
        if trial.state is TrialState.PRUNED and factor * value > factor * median
    }
    if not capped:
        return values, {}
    number, value = next(iter(capped.items()))
    warning = (
        f"trial {number} was pruned at {value:g}, which is better than the median of the complete "
        f"trials; it, and others like it, count with the median, {median:g}"
    )
    counted = [median if t.number in capped else v for t, v in zip(trials, values, strict=True)]
    return counted, {"pruned": warning}


def _missing(designs: Designs, lost: frozenset[int]) -> dict[str, str]:
    """Names the trials that are not used, and the parameters that were drawn for others."""
    warnings = {
        f"{name} is missing": f"{len(numbers)} trials, such as {numbers[0]}, do not have {name!r}; "
        "each of them counts with a value of it drawn at random"
        for name, numbers in designs.missing.items()
    }
    if unused := sorted(designs.unusable - lost):
        warnings[f"trials {unused}"] = (
            f"trials {unused} lie outside the space, or have none of its parameters, and are not "
            "used"
        )
    return warnings
