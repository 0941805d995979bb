"""Models of outputs: a regressor each, warped where that makes the values likelier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from becbo.arrays import Array
from becbo.data import Dataset
from becbo.models.warm import checkpoint
from becbo.outputs import Limit
from becbo.surrogates.censored import add_censored
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.thresholds import Threshold, Thresholds
from becbo.surrogates.warped import Bilog, Plain, WarpedModel, evidence

# In a score: a search at the bound of a value that is well known loses little by staying a little
# inside, and half of its proposals would break the limit otherwise.
MEASURED_DOUBT = 0.3
# The first values tell the scale of a warp: later ones crowd where the search is.
_N_SCALE = 10
# Of the hyperparameters of a limit since the last checkpoint; six predict no better.
_N_WARM_ITERATIONS = 3


def fit_value(settings: GaussianProcess, data: Dataset, column: int) -> WarpedModel | None:
    """Fits a regressor to what was measured of one output, failed runs included.

    Args:
        settings: of the regression.
        data: the history.
        column: which output.

    Returns:
        The model; None while the output was never measured.
    """
    X, y = settings.distinct(*data.measured(column))
    if not len(X):
        return None
    head = data.head(checkpoint(len(data.X)))
    early_X, early_y = head.measured(column)
    early = None
    if len(early_X):
        centre = _centre(head, column)
        early = _likeliest(settings, centre, early_X.tobytes(), early_y.tobytes())
    warp = early.warp if early else Plain()
    return WarpedModel(settings.fit(X, warp.forward(y), early.inner if early else None), warp)


def fit_limit(settings: GaussianProcess, data: Dataset, index: int) -> WarpedModel | None:
    """Fits a regressor to a limit.

    Args:
        settings: of the regression.
        data: the history.
        index: which limit.

    Returns:
        The model; None while the limit was never measured. Failures that name the limit without a
        number count as values beyond it.
    """
    column = len(data.outputs.objectives) + index
    settings = replace(
        settings, n_warm_iterations=min(settings.n_warm_iterations, _N_WARM_ITERATIONS)
    )
    model, broken = fit_value(settings, data, column), data.causes.broken[:, index]
    if model is None or not broken.any():
        return model
    low, high = model.warp.forward(np.array(data.outputs.limits[index].bounds))
    side, bound = (1.0, high) if np.isinf(low) else (-1.0, low)
    _, y = settings.distinct(*data.measured(column))
    z = model.warp.forward(y)
    return WarpedModel(add_censored(model.inner, z, data.X[broken], float(bound), side), model.warp)


def thresholds(limits: Sequence[tuple[Limit, WarpedModel]]) -> Thresholds:
    """The chance to keep limits, as a factor of feasibility.

    Args:
        limits: at least one limit that was measured, each with its model.

    Returns:
        The factor.
    """
    parts = tuple(Threshold(model, *limit.bounds) for limit, model in limits)
    return Thresholds(parts, MEASURED_DOUBT)


def measured_limits(
    limits: Sequence[Limit], models: Sequence[WarpedModel | None]
) -> Thresholds | None:
    """The chance to keep all limits that were measured.

    Args:
        limits: all limits.
        models: of each limit; None while it was never measured.

    Returns:
        A factor of feasibility; None while no limit was measured.
    """
    pairs = zip(limits, models, strict=True)
    known = [(limit, model) for limit, model in pairs if model is not None]
    return thresholds(known) if known else None


def doubted(data: Dataset, models: Sequence[WarpedModel | None]) -> Dataset:
    """The history without explanations that the models of limits deny.

    Where measured values promise that a limit is kept, its regressor does not believe a failure
    that names it without a number. Then the failure is one for the classifier.

    Args:
        data: the history.
        models: of each limit; None while it was never measured.

    Returns:
        The history in which failures name only limits that were probably broken.
    """
    broken = data.causes.broken.copy()
    for column, limit, model in zip(broken.T, data.outputs.limits, models, strict=True):
        if model is not None and column.any():
            column[column] = thresholds([(limit, model)]).score(data.X[column])[0] < 0
    return replace(data, causes=replace(data.causes, broken=broken))


def _centre(data: Dataset, column: int) -> float | None:
    """Where an output has to be known best, and may be warped around; None: it is not warped.

    That is the bound of a limit, or the middle of both. An objective that is also measured beyond
    limits varies more than its acceptable values do: what counts is close to the best of them. With
    several objectives there is no such place.
    """
    outputs = data.outputs
    n_objectives = len(outputs.objectives)
    if n_objectives <= column < n_objectives + len(outputs.limits):
        bounds = outputs.limits[column - n_objectives].bounds
        return float(np.mean([bound for bound in bounds if np.isfinite(bound)]))
    if column or n_objectives > 1 or not outputs.limits or outputs.objectives[0].target is not None:
        return None
    known = data.y[data.acceptable] if data.acceptable.any() else data.y
    return float(np.nanmax(known))


@lru_cache(maxsize=32)  # see models/warm.py
def _likeliest(settings: GaussianProcess, centre: float | None, X: bytes, y: bytes) -> WarpedModel:
    """The model, plain or warped around a centre, under which the values are likelier."""
    values = np.frombuffer(y)
    points = np.frombuffer(X).reshape(len(values), -1)
    plain = WarpedModel(settings.fit(points, values), Plain())
    if centre is None:
        return plain
    warp = Bilog(centre, _scale(np.abs(values - centre)))
    points, values = settings.distinct(points, values)
    warped = WarpedModel(settings.fit(points, warp.forward(values)), warp)
    return max(plain, warped, key=lambda fit: evidence(fit.inner, fit.warp, points, values))


def _scale(distances: Array) -> float:  # (n,)
    """A typical distance from the centre, in the unit of the values."""
    first = distances[:_N_SCALE]
    return float(np.median(first[first > 0])) if first.any() else 1.0
