"""The models of a campaign as functions of many designs at once, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array
from becbo.models.base import Models
from becbo.optimizer import Optimizer
from becbo.outputs import Objective


@dataclass(frozen=True)
class ModelView:
    """What the models predict at points of the unit cube."""

    models: Models
    objective: Objective

    @property
    def has_values(self) -> bool:
        """Whether any experiment has worked, so that values can be predicted."""
        return self.objective.name in self.models.predictors

    def p_feasible(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The probability that each design works."""
        return self.models.chance(X)

    def mean(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The expected value of each design."""
        oriented, _ = self.models.predictors[self.objective.name].predict(X)
        return np.array([self.objective.restore(value) for value in oriented.tolist()])


def model_view(optimizer: Optimizer) -> ModelView | None:
    """The fitted models of an optimizer; None while it has no results."""
    models = optimizer.models()
    return None if models is None else ModelView(models, optimizer.outputs.objectives[0])
