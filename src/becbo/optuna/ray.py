"""Ray Tune with a becbo sampler: a search algorithm that tells failed from lost.

Ray tells its searchers that a trial ended in an error, but not which: an exception of the trainable
and a machine that went away look the same. So the trainable says itself that a design failed
(`fail_aware` does it), and every other error means lost.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from optuna.trial import TrialState
from ray import tune
from ray.tune.search.optuna import OptunaSearch

from becbo.optuna.outcomes import check_exceptions, mark_failed, mark_lost
from becbo.reasons import Reasons

FAILED = "becbo_failed"  # in a result that is reported: why the design failed

Config = dict[str, Any]
Trainable = Callable[[Config], Mapping[str, Any] | None]


def fail_aware(
    trainable: Trainable, metric: str, lost: tuple[type[Exception], ...] = ()
) -> Trainable:
    """Wraps a trainable so that it reports an exception as a failure of the design.

    Args:
        trainable: the function that Ray Tune runs.
        metric: the name of the value in its results.
        lost: exceptions that say nothing about the design. They are passed on to Ray, which may
            retry, as it does when the process or its machine dies.

    Returns:
        The wrapped trainable.

    Raises:
        InvalidInput: `lost` is not a tuple of exception types.
    """
    check_exceptions(lost)

    @functools.wraps(trainable)
    def aware(config: Config) -> Mapping[str, Any] | None:
        try:
            return trainable(config)
        except lost:
            raise
        except Exception as error:
            tune.report({metric: math.nan, FAILED: Reasons.parse(error).text})
            return None

    return aware


class FailAwareOptunaSearch(OptunaSearch):  # type: ignore[misc]
    """Ray's `OptunaSearch` for trials that can fail: give it `sampler=BECBOSampler()`.

    A result that is not a finite number, or one reported by `fail_aware`, means that the design
    failed. An error, such as the death of the process that ran the trial, means that the trial was
    lost: it teaches nothing, and its design is suggested again.
    """

    def on_trial_result(self, trial_id: str, result: Config) -> None:
        """Notes an intermediate result, if it is a number."""
        if _why_failed(result, self.metric) is None:
            super().on_trial_result(trial_id, result)

    def on_trial_complete(
        self, trial_id: str, result: Config | None = None, error: bool = False
    ) -> None:
        """Tells the study how a trial ended."""
        why = _why_failed(result, self.metric) if result else None
        if trial_id in self._completed_trials or not (error or why):
            super().on_trial_complete(trial_id, result, error)
            return
        trial = self._ot_trials[trial_id]
        if error:
            mark_lost(trial, "Ray reported an error")
        else:
            mark_failed(trial, why or "")
        self._ot_study.tell(trial, state=TrialState.FAIL)
        self._completed_trials.add(trial_id)


def _why_failed(result: Config, metric: str) -> str | None:
    """The reason, if a result says that the design failed."""
    if FAILED in result:
        return str(result[FAILED])
    value = result.get(metric)
    if isinstance(value, float) and not math.isfinite(value):
        return f"returned {value}"
    return None
