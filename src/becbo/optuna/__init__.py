"""Optuna studies with becbo: the sampler, the storage, and which trials failed or were lost."""

from becbo.extras import needed_extras

with needed_extras():
    from becbo.optuna.exits import exit_outcome
    from becbo.optuna.guard import ProposalFailed
    from becbo.optuna.measured import set_values
    from becbo.optuna.outcomes import (
        lost_numbers,
        mark_failed,
        mark_lost,
        mark_worked,
        marking,
        requeue_lost,
        result_of,
    )
    from becbo.optuna.sampler import BECBOSampler
    from becbo.optuna.stopping import StopCallback, study_outlook
    from becbo.optuna.storage import open_storage

__all__ = [
    "BECBOSampler",
    "ProposalFailed",
    "StopCallback",
    "exit_outcome",
    "lost_numbers",
    "mark_failed",
    "mark_lost",
    "mark_worked",
    "marking",
    "open_storage",
    "requeue_lost",
    "result_of",
    "set_values",
    "study_outlook",
]
