"""The models of a campaign as functions of many designs at once, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from becbo.data import sign
from becbo.optimizer import Optimizer
from becbo.proposers import Models
from becbo.space import Array


@dataclass(frozen=True)
class ModelView:
    """What the models predict at points of the unit cube."""

    models: Models
    direction: str

    @property
    def has_values(self) -> bool:
        """Whether any experiment has worked, so that values can be predicted."""
        return self.models.regressor is not None

    def p_feasible(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The probability that each design works."""
        return np.asarray(ndtr(self.models.classifier.score(X)[0]))

    def mean(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The expected value of each design."""
        assert self.models.regressor is not None
        return sign(self.direction) * self.models.regressor.predict(X)[0]


def model_view(optimizer: Optimizer) -> ModelView | None:
    """The fitted models of an optimizer; None while it has no results."""
    models = optimizer.models()
    return None if models is None else ModelView(models, optimizer.direction)
