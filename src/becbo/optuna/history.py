"""From a study to the history that the engine learns from.

The sampler and the campaign both take this road, so that a report announces what is then suggested.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from becbo.optuna.beliefs import proposal_of
from becbo.optuna.designs import Design, Designs, read_designs
from becbo.optuna.measured import unknown_names
from becbo.optuna.outcomes import OUTCOME, Pruned, corrections, lost_among, result_of
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.trial import PENDING, Outcome, Result, Trial


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
    results = [_result(t, lost, rules.pruned, study.outputs) for t in usable]
    counted, warnings = _as_counted(usable, results, study.outputs)
    trials = [
        _trial(i, designs.by_number[trial.number], result, first[trial.number])
        for i, (trial, result) in enumerate(zip(usable, counted, strict=True))
    ]
    warnings |= _missing(designs, lost) | _unknown(usable, study.outputs)
    return History(trials, designs.by_number, lost, warnings)


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


def _result(trial: FrozenTrial, lost: Collection[int], pruned: Pruned, outputs: Outputs) -> Result:
    """What came of a trial; nothing yet if it says nothing of its design and was not lost.

    Such a trial, as a pruned one that is to be ignored, is not repeated: proposals keep away from
    it, as from one under way. Otherwise they would come back to what nothing was learned of.
    """
    result = result_of(trial, lost, pruned, outputs)
    return PENDING if result.outcome is Outcome.LOST and trial.number not in lost else result


def _trial(number: int, design: Design, result: Result, first: FrozenTrial) -> Trial:
    proposal = proposal_of(first)
    if proposal is None:
        return Trial(number, design, result)
    return Trial(number, design, result, proposal.believed, proposal.origin, proposal.note)


def _as_counted(
    trials: Sequence[FrozenTrial], results: Sequence[Result], outputs: Outputs
) -> tuple[list[Result], dict[str, str]]:
    """The results as they count, and a warning if some count with another value.

    A pruned trial was given up because others did better, whatever its last report: early ones are
    often better than the final value would be. So it counts as no better than half of the complete
    trials. Not than the worst, which may be out of all proportion.
    """
    pairs = list(zip(trials, results, strict=True))
    complete = [result for trial, result in pairs if trial.state is TrialState.COMPLETE]
    medians = {o.name: _median(o.name, complete) for o in outputs.objectives}
    counted, warnings = [], {}
    for trial, result in pairs:
        flattering = {
            objective.name: medians[objective.name]
            for objective in outputs.objectives
            if _is_report(trial, result)
            and (value := result.values[objective.name]) is not None
            and objective.gain(value) > objective.gain(medians[objective.name])
        }
        counted.append(replace(result, values={**result.values, **flattering}))
        for name, median in flattering.items():
            warnings["pruned"] = (
                f"trial {trial.number} was pruned at {result.values[name]:g}, which is better than "
                "the median of the complete trials; it, and others like it, count with the median, "
                f"{median:g}"
            )
    return counted, warnings


def _is_report(trial: FrozenTrial, result: Result) -> bool:
    """Whether the values of a trial are what it reported when it was pruned."""
    is_pruned = trial.state is TrialState.PRUNED and OUTCOME not in trial.user_attrs
    return is_pruned and result.outcome is Outcome.OK


def _median(name: str, results: Sequence[Result]) -> float:
    values = [value for r in results if (value := r.values.get(name)) is not None]
    return statistics.median(values) if values else math.nan


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


def _unknown(trials: Sequence[FrozenTrial], outputs: Outputs) -> dict[str, str]:
    """Names what trials measured that is not an output."""
    return {
        f"{name} is unknown": f"trial {trial.number} has measured {name!r}, which is not an output "
        f"and is not used; there are {', '.join(outputs.names)}"
        for trial in trials
        for name in unknown_names(trial, outputs)
    }
