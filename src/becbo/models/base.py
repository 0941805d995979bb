"""What the data say: a regressor for every output, and a model of feasibility."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from becbo.arrays import Array
from becbo.models.values import measured_limits
from becbo.outputs import Outputs
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.warped import WarpedModel
from becbo.trial import Estimate, Prediction


@dataclass(frozen=True)
class Models:
    """Fitted models of one history.

    Attributes:
        outputs: what experiments return.
        objectives: a regressor per objective, as `Objective.orient` turns it; None while it was
            never measured.
        limits: the same per limit.
        recorded: the same per recorded output.
        feasibility: the chance to work and to keep every limit.
    """

    outputs: Outputs
    objectives: tuple[WarpedModel | None, ...]
    limits: tuple[WarpedModel | None, ...]
    recorded: tuple[WarpedModel | None, ...]
    feasibility: FeasibilityModel

    @property
    def predictors(self) -> Mapping[str, WarpedModel]:
        """What predicts each output that was measured, by name, as models see it."""
        fitted = (*self.objectives, *self.limits, *self.recorded)
        return {
            name: model
            for name, model in zip(self.outputs.names, fitted, strict=True)
            if model is not None
        }

    def believe(self, X: Array) -> Models:
        """The models after seeing what they expect at pending points X (p, d), if any."""
        if not len(X):
            return self
        return replace(
            self,
            objectives=tuple(model and model.believe(X) for model in self.objectives),
            feasibility=self.feasibility.believe(X),
        )

    def chance(self, X: Array) -> Array:  # (m, d) -> (m,)
        """The chance that an experiment works and keeps every limit, bad luck included."""
        return (1.0 - self.feasibility.lapse) * ndtr(self.feasibility.score(X)[0])  # type: ignore[no-any-return]

    def chance_to_keep(self, X: Array) -> Array:  # (m, d) -> (m,)
        """The chance that what an experiment measures keeps every limit."""
        measured = measured_limits(self.outputs.limits, self.limits)
        return np.ones(len(X)) if measured is None else np.asarray(ndtr(measured.score(X)[0]))

    def describe(self, X: Array) -> list[Prediction]:  # (m, d)
        """What the models say of each point, in the user's units."""
        chances = self.chance(X).tolist()
        lapse = self.feasibility.lapse
        ends = ((1.0 - lapse) * end for end in self.feasibility.interval(X))
        bands = zip(*(end.tolist() for end in ends), strict=True)
        columns = {}
        for output in self.outputs:
            if output.name in self.predictors:
                mean, std = self.predictors[output.name].predict(X)
                estimates = zip(mean.tolist(), std.tolist(), strict=True)
                columns[output.name] = [Estimate(output.restore(m), s) for m, s in estimates]
        return [
            Prediction({name: column[i] for name, column in columns.items()}, chance, band, lapse)
            for i, (chance, band) in enumerate(zip(chances, bands, strict=True))
        ]
