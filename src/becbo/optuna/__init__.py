"""Optuna studies with becbo: the sampler, the storage, and which trials failed or were lost."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from becbo.extras import needed_extras

with needed_extras():
    import optuna  # noqa: F401  # a missing package is said here, not with the first name

if TYPE_CHECKING:
    from becbo.optuna.exits import exit_outcome
    from becbo.optuna.guard import ProposalFailed
    from becbo.optuna.measured import set_values
    from becbo.optuna.outcomes import (
        lost_numbers,
        mark_failed,
        mark_lost,
        mark_worked,
        marking,
        result_of,
    )
    from becbo.optuna.repeats import requeue_lost
    from becbo.optuna.sampler import BECBOSampler
    from becbo.optuna.stopping import StopCallback, study_outlook
    from becbo.optuna.storage import open_storage

# Names are imported when they are used: who records a result needs neither sampler nor models.
_HOMES = {
    "becbo.optuna.exits": ("exit_outcome",),
    "becbo.optuna.guard": ("ProposalFailed",),
    "becbo.optuna.measured": ("set_values",),
    "becbo.optuna.outcomes": (
        "lost_numbers",
        "mark_failed",
        "mark_lost",
        "mark_worked",
        "marking",
        "result_of",
    ),
    "becbo.optuna.repeats": ("requeue_lost",),
    "becbo.optuna.sampler": ("BECBOSampler",),
    "becbo.optuna.stopping": ("StopCallback", "study_outlook"),
    "becbo.optuna.storage": ("open_storage",),
}

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


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'becbo.optuna' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
