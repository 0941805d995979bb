"""Optimise when experiments can fail: learn from values and failures, search at the edge."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from becbo.extras import needed_extras

if TYPE_CHECKING:
    from becbo.campaign.campaign import Campaign
    from becbo.errors import BecboError, Infeasible, InvalidInput
    from becbo.failures import Failures
    from becbo.loop import MinimizeResult, minimize
    from becbo.methods import METHODS
    from becbo.optimizer import Optimizer
    from becbo.outlook import Advice, Forecast, Outlook, Stop
    from becbo.outputs import Limit, Objective, Recorded
    from becbo.settings import Settings
    from becbo.space import Categorical, Integer, LinearConstraint, Real, Space
    from becbo.trial import Estimate, Outcome, Prediction, Result, Trial

__version__ = "0.1.0"

# Where each public name lives. It is imported when first used: SciPy alone takes longer to import
# than the command line may take to answer.
_HOMES = {
    "becbo.campaign.campaign": ("Campaign",),
    "becbo.errors": ("BecboError", "Infeasible", "InvalidInput"),
    "becbo.failures": ("Failures",),
    "becbo.loop": ("MinimizeResult", "minimize"),
    "becbo.methods": ("METHODS",),
    "becbo.optimizer": ("Optimizer",),
    "becbo.outlook": ("Advice", "Forecast", "Outlook", "Stop"),
    "becbo.outputs": ("Limit", "Objective", "Recorded"),
    "becbo.settings": ("Settings",),
    "becbo.space": ("Categorical", "Integer", "LinearConstraint", "Real", "Space"),
    "becbo.trial": ("Estimate", "Outcome", "Prediction", "Result", "Trial"),
}

__all__ = [
    "METHODS",
    "Advice",
    "BecboError",
    "Campaign",
    "Categorical",
    "Estimate",
    "Failures",
    "Forecast",
    "Infeasible",
    "Integer",
    "InvalidInput",
    "Limit",
    "LinearConstraint",
    "MinimizeResult",
    "Objective",
    "Optimizer",
    "Outcome",
    "Outlook",
    "Prediction",
    "Real",
    "Recorded",
    "Result",
    "Settings",
    "Space",
    "Stop",
    "Trial",
    "__version__",
    "minimize",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            with needed_extras():
                return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'becbo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
