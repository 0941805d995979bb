"""Optimise when experiments can fail: learn from values and failures, search at the edge."""

from becbo.errors import BecboError, Infeasible, InvalidInput
from becbo.optimizer import Optimizer, Result, minimize
from becbo.proposers import METHODS
from becbo.space import Categorical, Integer, LinearConstraint, Real, Space
from becbo.trial import Outcome, Prediction, Trial

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
