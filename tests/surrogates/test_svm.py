"""The support vector machine: scikit-learn is the oracle, finite differences the judge."""

import sys

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.svm import SVC

from becbo import BecboError
from becbo.surrogates.svm import MARGIN_PROBABILITY, SupportVectorClassifier, spread


def disc(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of the cube and whether they lie in a ball around its centre."""
    X = np.random.default_rng(seed).random((n, d))
    return X, ((X - 0.5) ** 2).sum(axis=1) < d / 12


@pytest.mark.parametrize("d", [1, 2, 10])
def test_the_decision_is_scikit_learns(d: int) -> None:
    X, feasible = disc(60, d)
    model = SupportVectorClassifier().fit(X, feasible)
    oracle = SVC(C=1.0, gamma=1 / (2 * X.var())).fit(X, feasible)
    Z = np.random.default_rng(1).random((50, d))
    np.testing.assert_allclose(model.decision(Z), oracle.decision_function(Z), atol=1e-10)
    assert ((model.decision(Z) > 0) == oracle.predict(Z)).all()


def test_the_penalty_reaches_the_machine() -> None:
    X, feasible = disc(60, 2)
    soft, hard = (SupportVectorClassifier(C).fit(X, feasible) for C in (1.0, 1e4))
    assert len(hard.X) < len(soft.X)


@pytest.mark.parametrize("d", [1, 3])
def test_gradients_are_the_derivatives(d: int) -> None:
    X, feasible = disc(40, d)
    model = SupportVectorClassifier().fit(X, feasible)
    Z, h = np.random.default_rng(1).random((5, d)), 1e-6
    for value, gradient in [
        (model.decision, model.decision_grad(Z)[1]),
        (lambda Z: model.score(Z)[0], model.score_grad(Z)[2]),
    ]:
        steps = h * np.eye(d)
        numeric = np.stack([(value(Z + s) - value(Z - s)) / (2 * h) for s in steps], axis=1)
        np.testing.assert_allclose(gradient, numeric, atol=1e-6)
    np.testing.assert_array_equal(model.score_grad(Z)[0], model.score(Z)[0])
    np.testing.assert_array_equal(model.decision_grad(Z)[0], model.decision(Z))
    assert not model.score_grad(Z)[3].any()


def test_the_score_is_a_half_at_the_boundary_and_known_at_the_margin() -> None:
    X, feasible = disc(60, 2)
    model = SupportVectorClassifier().fit(X, feasible)
    decision, (score, width) = model.decision(X), model.score(X)
    assert (np.sign(score) == np.sign(decision)).all() and not width.any()
    at_margin = np.interp(1.0, np.sort(decision), ndtr(np.sort(score)))
    assert at_margin == pytest.approx(MARGIN_PROBABILITY, abs=0.01)
    lower, upper = model.interval(X)
    np.testing.assert_array_equal(lower, ndtr(score))
    np.testing.assert_array_equal(lower, upper)
    assert model.believe(X[:2]) is model


@pytest.mark.parametrize("label, sign", [(True, 1.0), (False, -1.0)])
@pytest.mark.parametrize("n", [1, 5])
def test_one_class_decides_the_same_everywhere(n: int, label: bool, sign: float) -> None:
    X = np.random.default_rng(0).random((n, 3))
    model = SupportVectorClassifier().fit(X, np.full(n, label))
    decision, gradient = model.decision_grad(X)
    np.testing.assert_array_equal(decision, sign)
    assert gradient.shape == X.shape and not gradient.any()


def test_the_width_has_a_floor() -> None:
    assert spread(np.full((4, 2), 0.3)) > 0
    assert spread(np.array([[0.0, 1.0]])) == 0.25
    X = np.array([[0.3, 0.3], [0.3, 0.3]])
    model = SupportVectorClassifier().fit(X, np.array([True, False]))
    assert np.isfinite(model.decision(X)).all()


def test_without_scikit_learn_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(BecboError, match=r"becbo\[bench\]"):
        SupportVectorClassifier().fit(np.eye(2), np.array([True, False]))
