"""A callback that ends a study when more trials are not worth their price."""

from __future__ import annotations

import logging

import optuna
from optuna.trial import FrozenTrial

from becbo.optuna.proposal import not_modelled
from becbo.optuna.sampler import BECBOSampler
from becbo.outlook import Advice, Outlook, Stop, is_due
from becbo.trial import Outcome

_logger = logging.getLogger(__name__)


def study_outlook(study: optuna.Study) -> Outlook | None:
    """What more trials of a study may bring.

    It is computed from what the `BECBOSampler` of the study knows: its space, outputs and settings,
    and what counts as lost or pruned. With another sampler it is that of a `BECBOSampler(seed=0)`.

    Args:
        study: the study.

    Returns:
        The outlook; None as long as there is no parameter that the sampler models, and once all
        that it models has been tried but other parameters are still drawn at random.

    Examples:
        >>> if outlook := study_outlook(study):
        ...     print(outlook.sentence())
    """
    sampler = study.sampler if isinstance(study.sampler, BECBOSampler) else BECBOSampler(seed=0)
    optimizer = sampler.optimizer(study)
    if optimizer is None:
        return None
    seen, budget = optimizer.outlook, optimizer.settings.failures.budget
    trials, modelled = study.get_trials(deepcopy=False), optimizer.space.names
    n_failed = sum(trial.outcome is Outcome.FAILED for trial in optimizer.trials)
    is_exhausted = not seen.odds and seen.left > 0 and (budget is None or n_failed < budget)
    return None if is_exhausted and not_modelled(trials, modelled) else seen


class StopCallback:
    """Ends `study.optimize` when a rule no longer advises to go on, given the `study_outlook`.

    Args:
        rule: True, the gain that is worth going on for, or a `becbo.Stop`.

    Raises:
        InvalidInput: if the rule cannot be used.

    Examples:
        >>> study.optimize(objective, n_trials=200, callbacks=[StopCallback(0.5)])
    """

    def __init__(self, rule: bool | str | float | Stop = True) -> None:
        self._rule = Stop.of(rule)

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
        if not is_due(sum(t.state.is_finished() for t in study.get_trials(deepcopy=False))):
            return None
        seen = study_outlook(study)
        if seen is None or seen.advice(self._rule) is Advice.GO_ON:
            return None
        return seen.sentence(self._rule)
