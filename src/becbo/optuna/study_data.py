"""What a study holds at one moment: everything that proposals and runs are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import optuna
from optuna.trial import FrozenTrial

from becbo.outputs import Outputs


@dataclass(frozen=True)
class StudyData:
    """What a study holds at one moment.

    Args:
        outputs: what its values are, in their order.
        trials: its trials by number, or all but one that is to get a proposal.
        user_attrs: its attributes, some of which name lost trials.
    """

    outputs: Outputs
    trials: Sequence[FrozenTrial] = ()
    user_attrs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, study: optuna.Study, outputs: Outputs | None = None) -> StudyData:
        """What a study holds now.

        Args:
            study: a study with one objective, unless `outputs` says what its values are.
            outputs: what its values are; None: one value without a name.
        """
        if outputs is None:
            outputs = Outputs.of(study.direction.name.lower())
        return cls(outputs, study.get_trials(deepcopy=False), study.user_attrs)

    def without(self, number: int) -> StudyData:
        """The study without one trial."""
        return replace(self, trials=[t for t in self.trials if t.number != number])
