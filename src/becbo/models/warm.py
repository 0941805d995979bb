"""Fits that continue from an earlier one and yet depend on the history alone.

Continuing from a fit to the first experiments is as good as a new one and much cheaper, but what
was fitted before must not depend on who asked when. So the fit to continue from is the one to the
first checkpoint(n) experiments. It is remembered, not required to be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from becbo.arrays import Array, Mask
from becbo.data import Dataset
from becbo.surrogates.gp import GaussianProcess, GPModel
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel

Transform = Callable[[Array], Array]  # of the values (n,), increasing


def checkpoint(n: int) -> int:
    """How many of the first n experiments the full hyperparameter search looks at."""
    step = 5 if n < 50 else 10 if n < 200 else 50
    return max(n - n % step, 1)


def fit_regressor(settings: GaussianProcess, data: Dataset, transform: Transform) -> GPModel | None:
    """Fits a regressor to the first objective.

    Args:
        settings: of the regression.
        data: the history.
        transform: what is modelled of its values; hashable, as fits are remembered by it.

    Returns:
        The model of the transformed values; None while the objective was never measured.
    """
    X, y = data.measured(0)
    if not len(X):
        return None
    early_X, early_y = data.head(checkpoint(len(data.X))).measured(0)
    start = None
    if len(early_X):
        start = _regressor(settings, transform, early_X.tobytes(), early_y.tobytes())
    return settings.fit(X, transform(y), start=start)


def fit_classifier(settings: GPClassifier, X: Array, worked: Mask) -> GPClassifierModel:
    """Fits a classifier of what worked.

    Args:
        settings: of the classifier.
        X: designs (n, d), in the order of the experiments.
        worked: which of them worked (n,).

    Returns:
        The model of the labels.
    """
    n = checkpoint(len(X))
    start = None
    if worked[:n].any():  # failures alone teach no length scales to continue from
        start = _classifier(settings, X[:n].tobytes(), worked[:n].tobytes())
    return settings.fit(X, worked, start=start)


@lru_cache(maxsize=32)  # a model of 1000 experiments holds 8 MB, of which a fit uses the theta
def _regressor(settings: GaussianProcess, transform: Transform, X: bytes, y: bytes) -> GPModel:
    values = np.frombuffer(y)
    return settings.fit(np.frombuffer(X).reshape(len(values), -1), transform(values))


@lru_cache(maxsize=4)
def _classifier(settings: GPClassifier, X: bytes, worked: bytes) -> GPClassifierModel:
    labels = np.frombuffer(worked, dtype=bool)
    return settings.fit(np.frombuffer(X).reshape(len(labels), -1), labels)
