"""What a study holds at one moment: everything that proposals and runs are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import optuna
from optuna.trial import FrozenTrial

from becbo.optuna.measured import outputs_of
from becbo.outputs import Outputs


@dataclass(frozen=True)
class StudyData:
    """What a study holds at one moment.

    Args:
        outputs: what its trials measure; the objectives are its values, in their order.
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
            study: any study.
            outputs: what its values are, and what else is measured; None: its values are
                objectives. The constraints of its trials are added to them.

        Raises:
            InvalidInput: what is given does not fit the study.
        """
        trials = study.get_trials(deepcopy=False)
        return cls(outputs_of(study, trials, outputs), trials, study.user_attrs)

    def without(self, number: int) -> StudyData:
        """The study without one trial."""
        return replace(self, trials=[t for t in self.trials if t.number != number])
