"""Ray Tune with a becbo sampler: a search algorithm that tells failed from lost.

Ray tells its searchers that a trial ended in an error, but not which: an exception of the trainable
and a machine that went away look the same. So the trainable says itself that a design failed
(`fail_aware` does it), and every other error means lost.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import optuna
from optuna.trial import TrialState
from ray import tune
from ray.tune.search.optuna import OptunaSearch

from becbo.checks import finite_numbers
from becbo.errors import Infeasible, InvalidInput
from becbo.optuna.measured import name_values, outputs_of, study_directions, value_names
from becbo.optuna.outcomes import check_exceptions, mark_failed, mark_lost
from becbo.optuna.returned import tell_measured
from becbo.optuna.sampler import BECBOSampler, declared_outputs, is_held_up
from becbo.outputs import Outputs
from becbo.reasons import Reasons

FAILED = "becbo_failed"  # in a result that is reported: why the design failed

Config = dict[str, Any]
Trainable = Callable[[Config], Mapping[str, Any] | None]


def fail_aware(
    trainable: Trainable,
    metric: str | Sequence[str],
    lost: tuple[type[Exception], ...] = (),
) -> Trainable:
    """Wraps a trainable so that it reports an exception as a failure of the design.

    Args:
        trainable: the function that Ray Tune runs.
        metric: the name of the value in its results, or a list of names.
        lost: exceptions that say nothing about the design. They are passed on to Ray, which may
            retry, as it does when the process or its machine dies.

    Returns:
        The wrapped trainable. Metrics that its result does not have are reported as NaN, because
        Ray refuses results without them. What `becbo.Infeasible` has measured is reported as well.

    Raises:
        InvalidInput: `lost` is not a tuple of exception types.
    """
    check_exceptions(lost)
    nothing = dict.fromkeys([metric] if isinstance(metric, str) else metric, math.nan)

    @functools.wraps(trainable)
    def aware(config: Config) -> Mapping[str, Any] | None:
        try:
            result = trainable(config)
            return {**nothing, **result} if isinstance(result, Mapping) else result
        except lost:
            raise
        except Exception as error:
            measured = error.measured if isinstance(error, Infeasible) else {}
            tune.report({**nothing, **measured, FAILED: Reasons.parse(error).text})
            return None

    return aware


class FailAwareOptunaSearch(OptunaSearch):  # type: ignore[misc]
    """Ray's `OptunaSearch` for trials that can fail: give it `sampler=BECBOSampler()`.

    Results without a finite number, and those reported by `fail_aware`, mean that the design
    failed. An error, such as the death of the process that ran the trial, means that the trial was
    lost: it teaches nothing, and its design is suggested again.

    With several metrics, some may be missing: `fail_aware` reports them as NaN. If the sampler has
    `outputs`, the metrics are the names of their objectives, in the same order; limits and recorded
    numbers are looked up in the results by name.

    Raises:
        InvalidInput: metric or mode do not fit the outputs of the sampler; Ray comes to it when it
            knows all of them.
    """

    def _setup_study(self, mode: str | list[str]) -> None:
        outputs = self._sampler.outputs if isinstance(self._sampler, BECBOSampler) else None
        if outputs is not None:
            _check_metrics(self._metrics, mode, outputs)
        super()._setup_study(mode)
        name_values(self._ot_study, self._metrics if outputs is None else value_names(outputs))

    @property
    def _metrics(self) -> list[str]:
        return [self.metric] if isinstance(self.metric, str) else list(self.metric or ())

    @property
    def _outputs(self) -> Outputs:
        """What the results of trials are looked up for."""
        return outputs_of(self._ot_study, (), declared_outputs(self._ot_study))

    def suggest(self, trial_id: str) -> Config | None:
        """The next design; None while those under way may use up the budget of failures."""
        is_new = self._ot_study is not None and trial_id not in self._ot_trials
        if is_new and is_held_up(self._ot_study):
            return None
        return super().suggest(trial_id)  # type: ignore[no-any-return]

    def on_trial_result(self, trial_id: str, result: Config) -> None:
        """Notes an intermediate result, if it is a number."""
        if FAILED not in result and all(_is_finite(result.get(m)) for m in self._metrics):
            super().on_trial_result(trial_id, result)

    def on_trial_complete(
        self, trial_id: str, result: Config | None = None, error: bool = False
    ) -> None:
        """Tells the study how a trial ended."""
        is_early = not error and not any(name in (result or {}) for name in self._metrics)
        if trial_id in self._completed_trials or is_early:
            super().on_trial_complete(trial_id, None, error)  # which makes it pruned
            return
        trial, values = self._ot_trials[trial_id], None
        if error:
            mark_lost(trial, "Ray reported an error")
        else:
            values = _tell(trial, result or {}, self._outputs)
        self._ot_study.tell(trial, values, state=TrialState.FAIL if values is None else None)
        self._completed_trials.add(trial_id)


def _check_metrics(metrics: list[str], mode: str | list[str], outputs: Outputs) -> None:
    """Raises InvalidInput if metrics and modes are not those of the objectives."""
    modes = [mode] if isinstance(mode, str) else mode
    names = [objective.name for objective in outputs.objectives]
    needed = [direction[:3] for direction in study_directions(outputs)]
    if (metrics, modes) != (names, needed):
        raise InvalidInput(
            f"metric {metrics} and mode {modes} do not fit the objectives of the sampler's "
            f"outputs; use metric {names} and mode {needed}, or change the outputs"
        )


def _tell(trial: optuna.Trial, result: Config, outputs: Outputs) -> list[float] | None:
    """The values for the study; None, and the trial marked, without one for every objective."""
    found = {name: result.get(name) for name in outputs.names}
    measured = finite_numbers(found)
    objectives = [objective.name for objective in outputs.objectives]
    if FAILED in result:
        mark_failed(trial, str(result[FAILED]), measured)
        return None
    if all(measured[name] is None for name in objectives):
        returned = [found[name] for name in objectives]
        mark_failed(trial, f"returned {', '.join(map(str, returned))}", measured)
        return None
    return tell_measured(trial, measured, outputs)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
