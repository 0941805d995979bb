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
class View:
    """What the models say of points of the unit cube."""

    models: Models
    direction: str

    @property
    def has_values(self) -> bool:
        """Whether anything has worked, so that values can be predicted."""
        return self.models.regressor is not None

    def chance(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The chance to work."""
        return np.asarray(ndtr(self.models.classifier.score(X)[0]))

    def value(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The expected value."""
        assert self.models.regressor is not None
        return sign(self.direction) * self.models.regressor.predict(X)[0]


def view(optimizer: Optimizer) -> View | None:
    """The models of an optimizer; None while nothing is known."""
    models = optimizer.models()
    return None if models is None else View(models, optimizer.direction)
