"""What is particular to boundary exploration; the rest is in the conformance suite."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from goals import unexplained

from becbo import Categorical, Failures, InvalidInput, Optimizer, Real, Settings, Space
from becbo.methods import build
from becbo.models.feasibility import Networks, PerConstraint
from becbo.proposers.base import Proposer
from becbo.reasons import Reasons
from becbo.space import Parameter
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.product import Product

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])


def edge(**changes: float) -> Proposer:
    """The default method with another rule for the least gain."""
    method = build(Settings(method="edge"))
    return replace(method, improvement=replace(method.improvement, **changes))


def n_tries_at_a_known_optimum(least_gain: float) -> int:
    """Of the last 20 proposals, where the only optimum was found early."""
    optimizer = Optimizer(SPACE, method=edge(least_gain=least_gain), seed=0)
    for _ in range(45):
        trial = optimizer.ask()
        x, y = trial.params["x"], trial.params["y"]
        optimizer.tell(trial, (x - 0.3) ** 2 + (y - 0.6) ** 2)
    tries = np.array([list(t.params.values()) for t in optimizer.trials[-20:]])
    return int((np.abs(tries - [0.3, 0.6]).max(axis=1) < 1e-2).sum())


def test_an_optimum_that_is_known_is_left_alone() -> None:
    assert n_tries_at_a_known_optimum(1.0) < n_tries_at_a_known_optimum(0.0)


def test_small_gains_count_in_many_dimensions() -> None:
    for d, least in [(1, 2.0), (3, 2.0), (4, 0.0)]:
        data = unexplained(np.eye(4), np.arange(4.0))
        method = edge(least_gain=2.0)
        rng = np.random.default_rng(0)
        models = method.fit(data, rng)
        goal = method.improvement.over(data, models, np.empty((0, 4)), d, rng).best
        assert goal == 3.0 + least * models.objectives[0].inner.resolution


def test_settings_of_the_ensemble_can_be_changed_by_name() -> None:
    changed = build(Settings(method="be-cbo"), n_networks=3, learning_rate=1e-3)
    assert changed.classifier == Networks(DeepEnsemble(n_networks=3, learning_rate=1e-3))
    assert replace(changed, classifier=Networks()) == build(Settings(method="be-cbo"))


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
        build(Settings(method=method), **options)


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
    assert models is not None and isinstance(models.feasibility, Product)
    assert len(models.feasibility.factors) == 2


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


def random_designs(
    d: int, n: int, reasons: tuple[str, str] | None = None, n_choices: int = 0
) -> Optimizer:
    """Random designs, half of which break one of two limits."""
    reals: list[Parameter] = [Real(f"x{i}", 0, 1) for i in range(d)]
    choice = [Categorical("choice", list(range(n_choices)))] if n_choices else []
    space = Space(reals + choice)
    optimizer = Optimizer(space, seed=0, failures=Failures(chance=0.0))
    rng = np.random.default_rng(0)
    for row in rng.random((n, d)):
        chosen = rng.integers(n_choices, size=len(choice)).tolist() if choice else []
        params = dict(zip(space.names, [*row, *chosen], strict=True))
        if row[0] > 0.7 or row[1] > 0.7:
            optimizer.add(params, failed=reasons[int(row[0] > 0.7)] if reasons else True)
        else:
            optimizer.add(params, -row.sum())
    return optimizer


def classifier_of(optimizer: Optimizer) -> FeasibilityModel:
    models = optimizer.models()
    assert models is not None
    return models.feasibility


@pytest.mark.parametrize(
    ("d", "n_choices", "is_several"),
    [(3, 0, False), (4, 0, True), (9, 0, True), (10, 0, False), (4, 3, True), (4, 6, False)],
)
def test_limits_are_worked_out_for_a_moderate_number_of_inputs(
    d: int, n_choices: int, is_several: bool
) -> None:
    classifier = classifier_of(random_designs(d, 80, n_choices=n_choices))
    assert isinstance(classifier, Product) == is_several


def test_after_many_experiments_there_is_one_classifier() -> None:
    n = PerConstraint().max_points
    assert isinstance(classifier_of(random_designs(4, n)), Product)
    assert not isinstance(classifier_of(random_designs(4, n + 1)), Product)


def test_reasons_for_few_failures_do_not_hide_the_other_limits() -> None:
    optimizer = random_designs(4, 60)
    failed = [t for t in optimizer.trials if t.value is None]
    hot = Reasons.parse("hot")
    said = [
        replace(t, result=replace(t.result, reasons=hot)) if t in failed[:2] else t
        for t in optimizer.trials
    ]
    few = classifier_of(Optimizer(optimizer.space, seed=0, trials=said))
    assert isinstance(few, Product) and few.doubt > 0  # the doubt of failures that are attributed
    most = classifier_of(random_designs(4, 60, ("too wide", "too high")))
    assert isinstance(most, Product) and most.doubt == 0


def test_nothing_is_worked_out_while_nothing_works() -> None:
    optimizer = Optimizer(Space([Real(f"x{i}", 0, 1) for i in range(4)]), seed=0)
    for row in np.random.default_rng(0).random((30, 4)):
        optimizer.add({f"x{i}": x for i, x in enumerate(row)}, failed=True)
    assert not isinstance(classifier_of(optimizer), Product)


def nothing_works(n: int, share_told: float = 1.0) -> Optimizer:
    """Failures that list which of two limits they broke; what keeps both is in the middle."""
    optimizer = Optimizer(SPACE, seed=0)
    rng = np.random.default_rng(0)
    X = rng.random((2 * n, 2))
    for x, y in X[(np.abs(X - 0.5) > 0.15).any(axis=1)][:n]:
        broken = [name for name, v in (("width", x), ("height", y)) if abs(v - 0.5) > 0.15]
        told = rng.random() < share_told
        optimizer.add({"x": x, "y": y}, failed=", ".join(broken) if told else True)
    return optimizer


def test_failures_that_list_their_limits_lead_to_what_works() -> None:
    classifiers = [classifier_of(nothing_works(20, share)) for share in (1.0, 0.0)]
    X = np.random.default_rng(1).random((400, 2))
    told, untold = (X[np.argmax(classifier.score(X)[0])] for classifier in classifiers)
    assert np.abs(told - 0.5).max() < 0.15 < np.abs(untold - 0.5).max()


def test_lists_of_few_failures_do_not_count_before_the_first_success() -> None:
    optimizer = nothing_works(20, share_told=0.2)
    assert sum(t.reason is not None for t in optimizer.trials) > 2
    assert not isinstance(classifier_of(optimizer), Product)


def test_before_the_first_success_two_thirds_are_random_the_others_at_one_side() -> None:
    optimizer = Optimizer(SPACE, seed=0, n_initial=4)
    trials = [optimizer.fail(optimizer.ask()) for _ in range(64)][4:]
    sided = [set(t.params.values()) for t in trials if t.origin == "one side"]
    assert {t.origin for t in trials} == {"random", "one side"} and 10 < len(sided) < 30
    assert not any({0.0, 1.0} <= values for values in sided)
    assert any(0.0 in values for values in sided) and any(1.0 in values for values in sided)
    again = Optimizer(SPACE, seed=0, n_initial=4, trials=optimizer.trials)
    assert again.ask().params == optimizer.ask().params


def test_lists_of_reasons_leave_nothing_to_guess() -> None:
    optimizer = nothing_works(20)
    origins = set()
    for _ in range(8):
        trial = optimizer.ask()
        origins.add(trial.origin)
        optimizer.fail(trial, "a, b")
    assert "one side" not in origins


def test_before_the_first_success_a_batch_is_kept_apart() -> None:
    optimizer = nothing_works(20)
    X = optimizer.space.encode([trial.params for trial in optimizer.ask(8)])
    gaps = np.abs(X[:, None] - X[None]).max(axis=-1)[np.triu_indices(8, 1)]
    assert gaps.min() > 0.01


@pytest.mark.parametrize(("d", "chance"), [(4, 0.75), (10, 0.5)])
def test_limits_that_were_worked_out_are_believed_with_doubt(d: int, chance: float) -> None:
    optimizer = random_designs(d, 60)
    said = optimizer.predict(optimizer.ask().params)
    assert chance - 0.01 < said.p_feasible < chance + 0.15


def test_with_a_limited_risk_no_limits_are_worked_out_and_reasons_still_count() -> None:
    for reasons in (None, ("too wide", "too high")):
        trials = random_designs(4, 60, reasons).trials
        space = random_designs(4, 1).space
        classifier = classifier_of(Optimizer(space, seed=0, trials=trials, risk=0.2))
        assert isinstance(classifier, Product) == (reasons is not None)
