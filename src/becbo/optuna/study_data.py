"""What a study holds at one moment: everything that proposals and runs are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import optuna
from optuna.trial import FrozenTrial


@dataclass(frozen=True)
class StudyData:
    """What a study holds at one moment.

    Args:
        direction: "minimize" or "maximize".
        trials: its trials by number, or all but one that is to get a proposal.
        user_attrs: its attributes, some of which name lost trials.
    """

    direction: str
    trials: Sequence[FrozenTrial] = ()
    user_attrs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, study: optuna.Study) -> StudyData:
        """What a study with one objective holds now."""
        trials = study.get_trials(deepcopy=False)
        return cls(study.direction.name.lower(), trials, study.user_attrs)

    def without(self, number: int) -> StudyData:
        """The study without one trial."""
        return replace(self, trials=[t for t in self.trials if t.number != number])
