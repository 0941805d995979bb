"""A callback that ends a study when more trials are not worth their price."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial

from becbo.optuna.proposal import Plan, optimizer_of
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData
from becbo.outlook import Advice, Outlook, Stop
from becbo.outputs import Output, Outputs
from becbo.settings import Settings

_logger = logging.getLogger(__name__)


def study_outlook(
    study: optuna.Study,
    outputs: Output | Sequence[Output] | Outputs | None = None,
    **settings: Any,
) -> Outlook:
    """What more trials of a study may bring.

    Args:
        study: the study; every parameter counts with its latest distribution.
        outputs: as the sampler's; None: the values of the study.
        **settings: as the sampler's: method, seed, noisy, risk, failures, n_planned.

    Returns:
        The outlook.

    Examples:
        >>> outlook = study_outlook(study, seed=0)
        >>> print(outlook.sentence())
    """
    data = StudyData.of(study, None if outputs is None else Outputs.of(outputs))
    latest: dict[str, BaseDistribution] = {}
    for trial in data.trials:
        latest |= {n: d for n, d in trial.distributions.items() if not d.single()}
    return optimizer_of(data, Plan(StudySpace.of(latest), Settings(**settings))).outlook


class StopCallback:
    """Ends `study.optimize` when a rule advises it.

    Args:
        rule: True, the gain that is worth going on for, or a `becbo.Stop`.
        outputs: as the sampler's; None: the values of the study.
        **settings: as the sampler's: method, seed, noisy, risk, failures, n_planned.

    Raises:
        InvalidInput: if the rule, the outputs or a setting cannot be used.

    Examples:
        >>> study.optimize(objective, n_trials=200, callbacks=[StopCallback(0.5)])
    """

    def __init__(
        self,
        rule: bool | str | float | Stop = True,
        outputs: Output | Sequence[Output] | Outputs | None = None,
        **settings: Any,
    ) -> None:
        self._rule = Stop.of(rule)
        self._outputs = None if outputs is None else Outputs.of(outputs)
        self._settings = vars(Settings(**{"seed": 0, **settings}))

    def __call__(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Stops the study if the rule advises it."""
        if why := self.reason(study):
            _logger.info(why)
            study.stop()

    def reason(self, study: optuna.Study) -> str | None:
        """Why the study should end, in one sentence; it looks after every fifth finished trial.

        Args:
            study: the study.

        Returns:
            The sentence, or None to go on.
        """
        if not self._rule.is_due(
            sum(t.state.is_finished() for t in study.get_trials(deepcopy=False))
        ):
            return None
        seen = study_outlook(study, self._outputs, **self._settings)
        return None if seen.advice(self._rule) is Advice.GO_ON else seen.sentence(self._rule)
