"""Fits that continue from an earlier one and yet depend on the history alone.

Continuing from a fit to the first experiments is as good as a new one and much cheaper, but what
was fitted before must not depend on who asked when. So the fit to continue from is the one to the
first checkpoint(n) experiments. It is remembered, not required to be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from becbo.data import Dataset
from becbo.space import Array
from becbo.surrogates.gp import GaussianProcess, GPModel
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel

Transform = Callable[[Array], Array]  # of the values (n,), increasing


def checkpoint(n: int) -> int:
    """How many of the first n experiments the full hyperparameter search looks at."""
    step = 5 if n < 50 else 10 if n < 200 else 50
    return max(n - n % step, 1)


def fit_regressor(
    settings: GaussianProcess, data: Dataset, transform: Transform = np.asarray
) -> GPModel | None:
    """Model of the transformed values, or None while no experiment has worked."""
    if not data.n_feasible:
        return None
    head = data.head(checkpoint(len(data.X)))
    start = None
    if head.n_feasible:
        start = _early_regressor(settings, transform, head.X.tobytes(), head.y.tobytes())
    X, y = data.successes()
    return settings.fit(X, transform(y), start=start)


def fit_classifier(settings: GPClassifier, data: Dataset) -> GPClassifierModel:
    """Model of the labels."""
    head = data.head(checkpoint(len(data.X)))
    start = None
    if head.n_feasible:  # failures alone teach no length scales to continue from
        start = _early_classifier(settings, head.X.tobytes(), head.y.tobytes())
    return settings.fit(data.X, data.feasible, start=start)


@lru_cache(maxsize=4)  # a model of 1000 experiments holds 8 MB
def _early_regressor(
    settings: GaussianProcess, transform: Transform, X: bytes, y: bytes
) -> GPModel:
    points, values = _thawed(X, y).successes()
    return settings.fit(points, transform(values))


@lru_cache(maxsize=4)
def _early_classifier(settings: GPClassifier, X: bytes, y: bytes) -> GPClassifierModel:
    data = _thawed(X, y)
    return settings.fit(data.X, data.feasible)


def _thawed(X: bytes, y: bytes) -> Dataset:
    values = np.frombuffer(y)
    return Dataset(np.frombuffer(X).reshape(len(values), -1), values)
