"""A scikit-learn pipeline: three steps, of which some combinations are invalid or diverge.

Box-Cox refuses zeros, which the data have. NMF and the chi-squared test refuse negative values,
which two of the scalers make. Gradient descent diverges if its steps are too large.
"""

from __future__ import annotations

import functools
import importlib.util
import warnings
from typing import Any

import optuna

WHAT = "log loss in threefold cross-validation"
NOISY = False
Failed = ValueError  # what scikit-learn raises


def missing() -> str | None:
    """What this showcase needs and does not find."""
    found = importlib.util.find_spec("sklearn")
    return None if found else "scikit-learn is not installed: pip install 'becbo[bench]'"


@functools.cache
def _data() -> Any:
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(return_X_y=True)


def objective(trial: optuna.Trial) -> float:
    """Log loss of breast cancer data, by threefold cross-validation.

    Raises:
        ValueError: by scikit-learn, for steps that do not fit together and for diverging weights.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import cross_val_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 30 epochs have to do
        warnings.simplefilter("ignore", RuntimeWarning)  # overflow on the way to divergence
        scores = cross_val_score(
            _pipeline(trial), *_data(), cv=3, scoring="neg_log_loss", error_score="raise"
        )
    return float(-scores.mean())


def _pipeline(trial: optuna.Trial) -> Any:
    from sklearn.decomposition import NMF, PCA
    from sklearn.feature_selection import SelectKBest, chi2
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler

    scalers = {
        "none": "passthrough",
        "standard": StandardScaler(),
        "min-max": MinMaxScaler(),
        "box-cox": PowerTransformer("box-cox"),
        "yeo-johnson": PowerTransformer("yeo-johnson"),
    }
    n = trial.suggest_int("n_features", 1, 30)
    reducers = {
        "pca": PCA(n, random_state=0),
        "nmf": NMF(n, init="nndsvda", random_state=0),
        "chi2": SelectKBest(chi2, k=n),
    }
    return make_pipeline(
        scalers[trial.suggest_categorical("scaler", list(scalers))],
        reducers[trial.suggest_categorical("reducer", list(reducers))],
        MLPClassifier(
            (trial.suggest_int("hidden", 2, 64, log=True),),
            solver="sgd",
            learning_rate_init=trial.suggest_float("learning_rate", 1e-4, 10, log=True),
            momentum=trial.suggest_float("momentum", 0, 0.99),
            alpha=trial.suggest_float("alpha", 1e-6, 10, log=True),
            batch_size=trial.suggest_int("batch", 8, 128, log=True),
            max_iter=30,
            random_state=0,
        ),
    )
