"""Optuna studies with becbo: the sampler, the storage, and what counts as failed or lost."""

from becbo.optuna.guard import ProposalFailed
from becbo.optuna.outcomes import (
    lost_numbers,
    mark_failed,
    mark_lost,
    marking,
    outcome,
    reason,
    requeue_lost,
)
from becbo.optuna.sampler import BECBOSampler
from becbo.optuna.storage import open_storage

__all__ = [
    "BECBOSampler",
    "ProposalFailed",
    "lost_numbers",
    "mark_failed",
    "mark_lost",
    "marking",
    "open_storage",
    "outcome",
    "reason",
    "requeue_lost",
]
