"""Optimise when experiments can fail: learn from values and failures, search at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from becbo.errors import BecboError, Infeasible, InvalidInput
from becbo.space import Categorical, Integer, LinearConstraint, Real, Space
from becbo.trial import Outcome, Prediction, Trial

if TYPE_CHECKING:
    from becbo.optimizer import Optimizer, Result, minimize
    from becbo.proposers import METHODS

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "BecboError",
    "Categorical",
    "Infeasible",
    "Integer",
    "InvalidInput",
    "LinearConstraint",
    "Optimizer",
    "Outcome",
    "Prediction",
    "Real",
    "Result",
    "Space",
    "Trial",
    "__version__",
    "minimize",
]

# These need SciPy, which takes longer to import than the command line may take to answer.
_LATE = {
    "METHODS": "becbo.proposers",
    "Optimizer": "becbo.optimizer",
    "Result": "becbo.optimizer",
    "minimize": "becbo.optimizer",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'becbo' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_LATE[name]), name)
    globals()[name] = value
    return value
