"""The models of a campaign as functions of many designs at once, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from becbo.arrays import Array
from becbo.models.base import Models
from becbo.models.values import thresholds
from becbo.optimizer import Optimizer
from becbo.outputs import Output


@dataclass(frozen=True)
class ModelView:
    """What the models predict at points of the unit cube."""

    models: Models

    @property
    def names(self) -> tuple[str, ...]:
        """The outputs that have been measured, so that they can be predicted."""
        return tuple(self.models.predictors)

    def p_feasible(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The probability that each design works and keeps every limit."""
        return self.models.chance(X)

    def predict(self, name: str, X: Array) -> tuple[Array, Array]:  # (n, dim) -> (n,), (n,)
        """The expected value of an output and its standard deviation, for each design."""
        oriented, std = self.models.predictors[name].predict(X)
        output = self._output(name)
        return np.array([output.restore(value) for value in oriented.tolist()]), std

    def mean(self, X: Array) -> Array:  # (n, dim) -> (n,)
        """The expected value of the first objective of each design."""
        return self.predict(self.models.outputs.objectives[0].name, X)[0]

    def p_kept(self, name: str, X: Array) -> Array | None:  # (n, dim) -> (n,)
        """The probability that an output keeps its limit; None if it has none."""
        limits = {limit.name: limit for limit in self.models.outputs.limits}
        if name not in limits:
            return None
        score, _ = thresholds([(limits[name], self.models.predictors[name])]).score(X)
        return np.asarray(ndtr(score))

    def _output(self, name: str) -> Output:
        return next(output for output in self.models.outputs if output.name == name)


def model_view(optimizer: Optimizer) -> ModelView | None:
    """The fitted models of an optimizer; None while it has no results."""
    models = optimizer.models()
    return None if models is None else ModelView(models)
