"""Models of measured limits: a warped regressor each, on every run that measured it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from becbo.data import Dataset
from becbo.models.warm import checkpoint
from becbo.outputs import Limit
from becbo.space import Array
from becbo.surrogates.censored import add_censored
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.warped import Bilog, Plain, Threshold, WarpedModel, evidence

# In a score: a search at the bound of a value that is well known loses nothing by staying a little
# inside, and half of its proposals would break the limit otherwise.
MEASURED_DOUBT = 1.0
_LEAST_SCALE = 1e-100  # of the warp, relative to the largest distance from the bound


def fit_limit(settings: GaussianProcess, data: Dataset, index: int) -> WarpedModel | None:
    """Fits a regressor to a limit, warped or plain by the evidence.

    Args:
        settings: of the regression.
        data: the history.
        index: which limit.

    Returns:
        The model; None while the limit was never measured. Failures that name the limit without a
        number count as values beyond it.
    """
    limit, column = data.outputs.limits[index], len(data.outputs.objectives) + index
    X, y = settings.distinct(*data.measured(column))
    if not len(X):
        return None
    early = _early(settings, limit.bounds, data.head(checkpoint(len(data.X))), column)
    warp = early.warp if early else Plain()
    inner = settings.fit(X, warp.forward(y), start=early.inner if early else None)
    broken = data.causes.broken[:, index]
    if broken.any():
        low, high = warp.forward(np.array(limit.bounds))
        side, bound = (1.0, high) if np.isinf(low) else (-1.0, low)
        inner = add_censored(inner, warp.forward(y), data.X[broken], float(bound), side)
    return WarpedModel(inner, warp)


def _early(
    settings: GaussianProcess, bounds: tuple[float, float], head: Dataset, column: int
) -> WarpedModel | None:
    """The fit to the first experiments, if the limit was measured in any."""
    X, y = head.measured(column)
    return _likeliest(settings, bounds, X.tobytes(), y.tobytes()) if len(X) else None


@lru_cache(maxsize=32)  # see models/warm.py
def _likeliest(
    settings: GaussianProcess, bounds: tuple[float, float], X: bytes, y: bytes
) -> WarpedModel:
    """The model, plain or warped, under which the values are likelier."""
    values = np.frombuffer(y)
    points, values = settings.distinct(np.frombuffer(X).reshape(len(values), -1), values)
    warps = (Plain(), _bilog(bounds, values))
    fits = [WarpedModel(settings.fit(points, warp.forward(values)), warp) for warp in warps]
    return max(fits, key=lambda fit: evidence(fit.inner, fit.warp, points, values))


def _bilog(bounds: tuple[float, float], y: Array) -> Bilog:
    """The warp around the bound, or the middle of both, on the scale of the distances from it."""
    centre = float(np.mean([bound for bound in bounds if np.isfinite(bound)]))
    distances = np.abs(y - centre)
    distances = distances[distances > 0]
    if not len(distances):
        return Bilog(centre, 1.0)
    return Bilog(centre, float(max(np.median(distances), _LEAST_SCALE * distances.max())))


def threshold(limit: Limit, model: WarpedModel) -> Threshold:
    """The chance to keep a limit, as a factor of feasibility."""
    return Threshold(model, *limit.bounds, doubt=MEASURED_DOUBT)
