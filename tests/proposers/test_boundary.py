"""What is particular to boundary exploration; the rest is in the conformance suite."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from becbo import InvalidInput, Optimizer, Real, Space
from becbo.proposers import build
from becbo.proposers.boundary import LeastGain, SeveralLimits
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.limits import LimitsModel

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])


def n_tries_at_a_known_optimum(least_gain: float) -> int:
    """Of the last 20 proposals, where the only optimum was found early."""
    method = replace(build("edge"), least_gain=LeastGain(least_gain))
    optimizer = Optimizer(SPACE, method=method, seed=0)
    for _ in range(45):
        trial = optimizer.ask()
        x, y = trial.params["x"], trial.params["y"]
        optimizer.tell(trial, (x - 0.3) ** 2 + (y - 0.6) ** 2)
    tries = np.array([list(t.params.values()) for t in optimizer.trials[-20:]])
    return int((np.abs(tries - [0.3, 0.6]).max(axis=1) < 1e-2).sum())


def test_an_optimum_that_is_known_is_left_alone() -> None:
    assert n_tries_at_a_known_optimum(1.0) < n_tries_at_a_known_optimum(0.0)


def test_small_gains_count_in_many_dimensions() -> None:
    assert [LeastGain(2.0, max_dim=3)(d) for d in (1, 3, 4)] == [2.0, 2.0, 0.0]


def test_settings_of_the_ensemble_can_be_changed_by_name() -> None:
    changed = build("be-cbo", n_networks=3, learning_rate=1e-3)
    assert changed.classifier == DeepEnsemble(n_networks=3, learning_rate=1e-3)
    assert replace(changed, classifier=DeepEnsemble()) == build("be-cbo")


@pytest.mark.parametrize(
    "method, options, message",
    [
        ("edge", {"n_networks": 3}, "method 'edge' has no ensemble to set n_networks of"),
        ("sobol", {"n_networks": 3}, "method 'sobol' has no ensemble"),
        ("be-cbo", {"depth": 3}, "the ensemble has no setting depth; it has n_networks"),
        ("be-cbo", {"n_networks": 0}, "n_networks is 0"),
        ("be-bo", {}, "method 'be-bo' does not exist; choose one of edge"),
    ],
)
def test_what_cannot_be_built_says_why(method, options, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        build(method, **options)


def after(reasons: tuple[str, str] | None, method: str = "edge") -> Optimizer:
    """Thirty random designs, each of which is told why it failed, or not."""
    optimizer = Optimizer(SPACE, method=method, seed=0)
    for x, y in np.random.default_rng(0).random((30, 2)):
        broken = reasons and reasons[0 if x > 0.6 else 1]
        if x > 0.6 or y > 0.7:
            optimizer.add({"x": x, "y": y}, failed=broken or True)
        else:
            optimizer.add({"x": x, "y": y}, -x - y)
    return optimizer


def test_each_reason_has_a_classifier_of_its_own() -> None:
    models = after(("too wide", "too high")).models()
    assert models is not None and isinstance(models.classifier, LimitsModel)
    assert len(models.classifier.parts) == 2


def test_reasons_change_proposals_and_one_reason_for_all_does_not() -> None:
    said, same, unsaid = (
        after(r).ask().params for r in (("too wide", "too high"), ("broken", "broken"), None)
    )
    assert said != unsaid
    assert same == unsaid


@pytest.mark.parametrize("method", ["cei", "be-cbo-gp", "scbo", "sobol"])
def test_published_methods_take_no_notice_of_reasons(method: str) -> None:
    told = after(("too wide", "too high"), method).ask().params
    assert told == after(None, method).ask().params


def unexplained(d: int, n: int = 40) -> Optimizer:
    """Random designs, half of which break one of two limits; nobody says which."""
    space = Space([Real(f"x{i}", 0, 1) for i in range(d)])
    optimizer = Optimizer(space, seed=0)
    for row in np.random.default_rng(0).random((n, d)):
        value = None if row[0] > 0.7 or row[1] > 0.7 else -row.sum()
        optimizer.add(dict(zip(space.names, row, strict=True)), value, failed=value is None)
    return optimizer


@pytest.mark.parametrize(("d", "is_several"), [(3, False), (4, True), (9, True), (10, False)])
def test_limits_are_worked_out_in_a_moderate_number_of_dimensions(d: int, is_several: bool) -> None:
    models = unexplained(d, 80).models()
    assert models is not None
    assert isinstance(models.classifier, LimitsModel) == is_several


def test_too_many_experiments_have_one_classifier() -> None:
    models = unexplained(4, SeveralLimits().max_points + 1).models()
    assert models is not None and not isinstance(models.classifier, LimitsModel)


def test_an_optimizer_built_again_proposes_the_same_with_limits_worked_out() -> None:
    first = unexplained(4, 43)  # three experiments after the last checkpoint
    again = Optimizer(first.space, seed=0, trials=first.trials)
    assert again.ask().params == first.ask().params
