"""The sampler: Optuna's own suite, and what this project adds to it."""

from __future__ import annotations

import copy
import math
import pickle
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, PartialFixedSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)
from optuna.trial import FrozenTrial, TrialState

import becbo.optimizer
from becbo import (
    BecboError,
    Categorical,
    Failures,
    Infeasible,
    InvalidInput,
    LinearConstraint,
    Objective,
    Optimizer,
    Outcome,
    Real,
    Settings,
    Space,
)
from becbo.optuna import BECBOSampler, ProposalFailed, lost_numbers, mark_lost, marking, result_of
from becbo.optuna.beliefs import PROPOSAL
from becbo.optuna.outcomes import LOST
from becbo.optuna.sampler import publish
from becbo.optuna.spaces import StudySpace
from becbo.problems import get
from becbo.proposers.base import Proposer
from becbo.search.choice import SPENT

UNIT = FloatDistribution(0, 1)
XY: dict[str, BaseDistribution] = {"x": UNIT, "y": UNIT}


def alternating(trial: FrozenTrial) -> tuple[float, float]:
    """One constraint is kept by every second trial, the other by all."""
    return trial.number % 2 - 0.5, -1.0


class TestOptunasOwnSuite(
    BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase
):
    @pytest.fixture(params=[None, alternating], ids=["plain", "constrained"])
    def sampler(self, request: pytest.FixtureRequest) -> Callable[[], BaseSampler]:
        return lambda: BECBOSampler(seed=0, n_initial=5, constraints_func=request.param)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Optimizer]:
    """The optimizers that were asked, as they were before: what the sampler made of a study."""
    seen: list[Optimizer] = []

    class Spied(Optimizer):
        def ask(self, q: int | None = None) -> Any:
            seen.append(copy.deepcopy(self))
            return super().ask(q)

    monkeypatch.setattr(becbo.optimizer, "Optimizer", Spied)
    return seen


def study_of(sampler: BaseSampler, *trials: FrozenTrial, **kwargs: Any) -> optuna.Study:
    study = optuna.create_study(sampler=sampler, **kwargs)
    study.add_trials(trials)
    return study


def done(value: float | None = None, state: TrialState | None = None, **params: Any) -> FrozenTrial:
    """A finished trial on the unit square; without a value it failed."""
    state = state or (TrialState.FAIL if value is None else TrialState.COMPLETE)
    distributions = {name: XY[name] for name in params}
    return optuna.create_trial(state=state, value=value, params=params, distributions=distributions)


def history(optimizer: Optimizer) -> list[tuple[float, Outcome, float | None]]:
    return [(t.params["x"], t.outcome, t.value) for t in optimizer.trials]


def triangle(trial: optuna.Trial) -> float:
    """Works on a triangle of the unit square; the best value is -0.6."""
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    if x + y > 0.6:
        raise Infeasible("too much")
    return -x - y


def budget_of(n: int, **options: Any) -> BECBOSampler:
    return BECBOSampler(seed=0, failures=Failures(chance=0, budget=n), **options)


def designs(study: optuna.Study) -> list[tuple[float, ...]]:
    return [tuple(t.params.values()) for t in study.trials]


# The engine


@pytest.mark.parametrize("name", ["lsq", "townsend"])
def test_proposes_what_the_optimizer_proposes(name: str) -> None:
    problem = get(name)

    def objective(trial: optuna.Trial) -> float:
        return problem({p.name: trial.suggest_float(p.name, p.low, p.high) for p in reals})

    reals: Sequence[Any] = problem.space.parameters
    study = optuna.create_study(sampler=BECBOSampler(space=problem.space, seed=3))
    study.optimize(marking(objective), n_trials=25, catch=(Infeasible,))

    optimizer = Optimizer(problem.space, seed=3)
    for _ in range(25):
        trial = optimizer.ask()
        try:
            optimizer.tell(trial, problem(trial.params))
        except Infeasible as failure:
            optimizer.fail(trial, failure.reason)
    assert [t.params for t in study.trials] == [t.params for t in optimizer.trials]
    assert study.best_value == optimizer.best.value  # type: ignore[union-attr]


def test_finds_the_edge_where_most_designs_fail() -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    study.optimize(triangle, n_trials=30, catch=(Infeasible,))
    assert study.best_value < -0.58


def test_maximises_too(asked: list[Optimizer]) -> None:
    study_of(BECBOSampler(), done(1.0, x=0.1, y=0.2), direction="maximize").ask(XY)
    assert asked[0].outputs.objectives[0].direction == "maximize"


def test_options_reach_the_optimizer(asked: list[Optimizer]) -> None:
    sampler = BECBOSampler(space=XY, method="sobol", seed=7, n_initial=3, noisy=True)
    study_of(sampler).ask(XY)
    assert asked[0].settings == Settings(method="sobol", seed=7, n_initial=3, noisy=True)


def test_the_objective_may_have_a_name(asked: list[Optimizer]) -> None:
    objective = Objective("hardness", "maximize")
    sampler = BECBOSampler(space=XY, outputs=objective, seed=0, n_initial=1)
    study = study_of(sampler, done(2.0, x=0.1, y=0.2), direction="maximize")
    study.ask(XY)
    assert [t.values for t in asked[0].trials] == [{"hardness": 2.0}]
    believed = study.trials[-1].system_attrs[PROPOSAL]["believed"]
    assert believed["outputs"].keys() == {"hardness"}


def test_the_objective_has_the_direction_of_the_study() -> None:
    sampler = BECBOSampler(space=XY, outputs=Objective("hardness", "maximize"))
    with pytest.raises(InvalidInput, match="the study has directions ..minimize"):
        study_of(sampler).ask(XY)


def test_risk_keeps_away_from_the_edge() -> None:
    trials = [done(-x, x=x, y=x) for x in (0.1, 0.3)] + [done(x=x, y=x) for x in (0.6, 0.9)]

    def proposed(risk: float | None) -> float:
        sampler = BECBOSampler(space={"x": UNIT}, n_initial=4, seed=0, risk=risk)
        return study_of(sampler, *trials).ask(XY).params["x"]

    assert proposed(0.01) < proposed(None) < 0.6


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"method": "magic"}, "magic"),
        ({"seed": -1}, "seed -1"),
        ({"n_initial": 0}, "n_initial 0"),
        ({"pruned": "sure"}, "sure"),
        ({"stale_after": 0}, "stale_after 0"),
        ({"risk": 2}, "risk 2"),
        ({"space": {"n": IntDistribution(0, 10**15)}}, "n: 0 .. 1000000000000000"),
        ({"space": {"n": IntDistribution(3, 3)}}, "each of n has one value only"),
        ({"stale_after": "60"}, "stale_after '60' must be a number of seconds"),
        ({"is_lost": 3}, "is_lost 3 must be a function"),
        ({"noisy": "yes"}, "noisy 'yes' must be True or False"),
        ({"method": 5}, "method 5 is neither a name nor a becbo Proposer"),
    ],
)
def test_wrong_options_are_errors_at_once(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(named)):
        BECBOSampler(**options)


# Stateless


def test_a_new_process_proposes_what_the_old_one_would(url: str) -> None:
    study = optuna.create_study(storage=url, sampler=BECBOSampler(seed=1, n_initial=4))
    study.optimize(triangle, n_trials=12, catch=(Infeasible,))
    restored = pickle.loads(pickle.dumps(study.sampler))
    reopened = optuna.load_study(study_name=None, storage=url, sampler=restored)
    copied = optuna.create_study(sampler=BECBOSampler(seed=1, n_initial=4))
    copied.add_trials(study.trials)
    assert study.ask(XY).params == copied.ask(XY).params
    study.tell(12, state=TrialState.FAIL)
    copied.tell(12, state=TrialState.FAIL)
    assert reopened.ask(XY).params == copied.ask(XY).params


def test_nothing_is_kept_between_proposals() -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=1, n_initial=4))
    before = dict(vars(study.sampler))
    study.optimize(triangle, n_trials=8, catch=(Infeasible,))
    assert vars(study.sampler) == before


def test_trials_count_however_they_ended(asked: list[Optimizer]) -> None:
    study = study_of(
        BECBOSampler(),
        done(1.0, x=0.1, y=0.1),
        done(x=0.2, y=0.2),
        done(math.inf, x=0.3, y=0.3),
        done(1.5, TrialState.PRUNED, x=0.4, y=0.4),
    )
    study.ask(XY)  # number 4, which stays pending
    dashboard = study.ask(XY)
    # The dashboard does not call the sampler.
    study._storage.set_trial_state_values(dashboard._trial_id, TrialState.FAIL)
    study.ask(XY)
    assert [t[1:] for t in history(asked[-1])] == [
        (Outcome.OK, 1.0),
        (Outcome.FAILED, None),
        (Outcome.FAILED, None),
        (Outcome.OK, 1.5),
        (Outcome.FAILED, None),
        (Outcome.PENDING, None),
    ]


@pytest.mark.parametrize(
    ("pruned", "expected"),
    [
        ("value", (Outcome.OK, 0.5)),
        ("failed", (Outcome.FAILED, None)),
        ("ignore", (Outcome.PENDING, None)),
    ],
)
def test_pruned(asked: list[Optimizer], pruned: Any, expected: tuple[Outcome, Any]) -> None:
    sampler = BECBOSampler(pruned=pruned)
    study_of(sampler, done(0.5, TrialState.PRUNED, x=0.4, y=0.4)).ask(XY)
    assert [t[1:] for t in history(asked[0])] == [expected]


def test_a_pruned_trial_that_was_added_counts_with_its_last_report(
    asked: list[Optimizer],
) -> None:
    pruned = optuna.create_trial(
        state=TrialState.PRUNED,
        params={"x": 0.4, "y": 0.4},
        distributions=XY,
        intermediate_values={1: 9.0, 2: 0.5},
    )
    study_of(BECBOSampler(), pruned).ask(XY)
    assert [t[1:] for t in history(asked[0])] == [(Outcome.OK, 0.5)]


@pytest.mark.parametrize(("direction", "worst"), [("minimize", 1.0), ("maximize", -1.0)])
def test_a_pruned_trial_counts_as_no_better_than_half_of_the_complete_ones(
    asked: list[Optimizer], caplog: pytest.LogCaptureFixture, direction: str, worst: float
) -> None:
    values = [worst * factor for factor in (1, 3, 100)]
    complete = [done(value, x=i / 4, y=0.1) for i, value in enumerate(values)]
    early, late = (done(worst * v, TrialState.PRUNED, x=0.9, y=v / 10) for v in (0.5, 5))
    study = study_of(BECBOSampler(), *complete, early, late, direction=direction)
    for _ in range(2):
        study.ask(XY)
    assert [t.value for t in asked[0].trials] == [*values, 3 * worst, 5 * worst]
    assert asked[0].best.value == worst  # type: ignore[union-attr]
    assert caplog.text.count(f"trial 3 was pruned at {0.5 * worst:g}") == 1


def test_the_order_is_that_of_completion(asked: list[Optimizer]) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space=XY, seed=0))
    first, second = study.ask(XY), study.ask(XY)
    study.tell(second, 2.0)
    study.tell(first, 1.0)
    study.ask(XY)
    assert [t.value for t in asked[-1].trials] == [2.0, 1.0]


# What is proposed together


def test_the_space_is_found_when_everything_fails() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        if trial.number == 1:
            raise Infeasible("before its second parameter")
        trial.suggest_float("y", 0, 1)
        raise Infeasible("always")

    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    study.optimize(objective, n_trials=4, catch=(Infeasible,))
    last = study.trials[-1]
    assert study.sampler.infer_relative_search_space(study, last) == XY
    assert last.system_attrs[PROPOSAL]["params"] == last.params


def test_a_trial_that_stopped_early_counts_with_its_proposal(asked: list[Optimizer]) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space=XY, seed=0))
    trial = study.ask({"x": UNIT})
    study.tell(trial, state=TrialState.FAIL)
    assert study.trials[0].params.keys() == {"x"}
    study.ask(XY)
    (known,) = asked[-1].trials
    assert known.outcome is Outcome.FAILED
    assert known.params == study.trials[0].system_attrs[PROPOSAL]["params"]


def branching(trial: optuna.Trial) -> float:
    """The best value, 0, is in the branch that is worse in most places."""
    if trial.suggest_categorical("model", ["svm", "rf"]) == "svm":
        c = trial.suggest_float("C", 1e-3, 1e3, log=True)
        if c > 300:
            raise Infeasible("too large")
        return abs(math.log10(c) - 1)
    return 0.5 + 0.05 * trial.suggest_int("depth", 1, 10)


@pytest.mark.parametrize("seed", [1, 4])
def test_branches_are_modelled_together(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=seed))
    study.optimize(branching, n_trials=40, catch=(Infeasible,))
    assert study.best_value < 0.02
    assert "exhausted" not in caplog.text
    proposed = study.trials[-1].system_attrs[PROPOSAL]["params"]
    assert proposed.keys() == {"model", "C", "depth"}


def test_what_differs_only_in_what_nobody_asks_for_is_not_proposed() -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=1))
    study.optimize(branching, n_trials=25, catch=(Infeasible,))
    forests = [t.params["depth"] for t in study.trials if t.params["model"] == "rf"]
    assert len(set(forests)) == len(forests)


def test_the_design_of_a_pruned_trial_that_is_ignored_is_not_proposed_again() -> None:
    def objective(trial: optuna.Trial) -> float:
        n = trial.suggest_int("n", 0, 7)
        if n < 3:
            raise optuna.TrialPruned
        return n

    space = {"n": IntDistribution(0, 7)}
    study = optuna.create_study(
        sampler=BECBOSampler(space=space, seed=0, n_initial=2, pruned="ignore")
    )
    study.optimize(objective, n_trials=8)
    assert sorted(t.params["n"] for t in study.trials) == list(range(8))


def test_when_every_branch_is_exhausted_designs_are_repeated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_int(trial.suggest_categorical("kind", ["a", "b"]), 1, 2)

    space = {
        "kind": CategoricalDistribution(["a", "b"]),
        "a": IntDistribution(1, 2),
        "b": IntDistribution(1, 2),
    }
    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0, n_initial=3))
    study.optimize(objective, n_trials=7)
    assert len(set(designs(study)[:4])) == 4
    assert caplog.text.count("trial 4: no design was found that differs from earlier ones") == 1


def test_no_repeat_where_trials_differ_in_what_is_not_modelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def objective(trial: optuna.Trial) -> float:
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return trial.suggest_float("x", 0, 1 + trial.number) + (kind == "a")

    study = optuna.create_study(sampler=BECBOSampler(seed=0, n_initial=2))
    study.optimize(objective, n_trials=16)
    kinds = [t.params["kind"] for t in study.trials[4:]]
    assert set(kinds) == {"a", "b"}
    assert study.trials[-1].system_attrs[PROPOSAL]["params"] == {}
    assert caplog.text.count("every design of kind has been tried") == 1
    assert "exhausted" not in caplog.text


def test_a_spent_budget_repeats_what_is_modelled_of_a_design_that_worked() -> None:
    """The rest is drawn at random, and the note says so."""

    def objective(trial: optuna.Trial) -> float:
        x, z = trial.suggest_float("x", 0, 1), trial.suggest_float("z", 0, 1)
        if z > 0.6:
            raise ArithmeticError
        return x + z

    study = optuna.create_study(sampler=budget_of(2, space={"x": UNIT}))
    study.optimize(objective, n_trials=9, catch=(ArithmeticError,))
    first, *later = [t for t in study.trials if "repeat" in t.system_attrs[PROPOSAL]["origin"]]
    before = study.trials[: first.number]
    assert [t.state for t in before].count(TrialState.FAIL) == 2 and len(later) > 2
    worked = {t.params["x"] for t in study.trials if t.state is TrialState.COMPLETE}
    assert {t.params["x"] for t in [first, *later]} <= worked
    assert (
        "in x; drawn at random, since it is not modelled: z" in first.system_attrs[PROPOSAL]["note"]
    )


@pytest.mark.parametrize(("enqueued", "y"), [(0.1, 0.3), (0.2, 0.1), (0.15, None)])
def test_a_spent_budget_repeats_only_what_fits_to_what_is_enqueued(
    enqueued: float, y: float | None
) -> None:
    """Elsewhere the rest is a new proposal, which is not called a repeat."""
    tried = [done(1.0, x=0.1, y=0.3), done(2.0, x=0.2, y=0.1), done(x=0.9, y=0.9)]
    study = study_of(budget_of(1, space=XY), *tried)
    study.enqueue_trial({"x": enqueued})
    trial = study.ask(XY)
    said = study.trials[3].system_attrs[PROPOSAL]
    assert trial.params["x"] == enqueued
    assert (said["origin"] == "repeat", said["note"] == SPENT) == (y is not None,) * 2
    assert y is None or trial.params["y"] == y


def test_trials_of_others_count_without_a_parameter_that_they_did_not_have(
    url: str, asked: list[Optimizer], caplog: pytest.LogCaptureFixture
) -> None:
    failed = [done(x=x / 8, y=0.5) for x in range(3)] + [done(x=x / 8) for x in range(3, 8)]
    study = study_of(BECBOSampler(space=XY, seed=0), *failed, storage=url)
    for _ in range(2):
        study.ask(XY)
    known = asked[-1].trials[:8]
    assert [t.params["x"] for t in known] == [x / 8 for x in range(8)]
    assert len({t.params["y"] for t in known[3:]}) == 5  # the same in all would look like a cause
    assert asked[0].trials == known
    assert caplog.text.count("5 trials, such as 3, do not have 'y'") == 1


def test_a_trial_without_any_parameter_is_named(
    asked: list[Optimizer], caplog: pytest.LogCaptureFixture
) -> None:
    study = study_of(BECBOSampler(space=XY, seed=0), done(), done(1.0, x=0.1, y=0.1))
    study._storage.set_study_user_attr(study._study_id, f"{LOST}2", "no proposal")
    study.add_trial(done())  # number 2, which is lost and says nothing anyway
    for _ in range(2):
        study.ask(XY)
    assert [t.value for t in asked[0].trials] == [1.0]
    assert caplog.text.count("trials [0] lie outside the space, or have none") == 1


def test_a_given_space_models_a_branch_too(asked: list[Optimizer]) -> None:
    kinds = CategoricalDistribution(["plain", "heated"])
    space = {"kind": kinds, "heat": FloatDistribution(0, 1)}

    def objective(trial: optuna.Trial) -> float:
        if trial.suggest_categorical("kind", kinds.choices) == "plain":
            return 1.0
        return trial.suggest_float("heat", 0, 1)

    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0))
    study.optimize(objective, n_trials=6)
    assert len(asked[-1].trials) == 5  # those without heat count with the heat proposed


def test_choices_of_every_type() -> None:
    class Thing:
        pass

    choices = [None, True, 1, 1.0, "1", Thing(), math.nan]

    def objective(trial: optuna.Trial) -> float:
        chosen = trial.suggest_categorical("c", choices)
        return trial.suggest_float("x", 0, 1) + choices.index(chosen)

    study = optuna.create_study(sampler=BECBOSampler(seed=0, n_initial=3))
    with pytest.warns(UserWarning, match="persistent storage"):
        study.optimize(objective, n_trials=12)
    assert study.best_trial.params["c"] is None


def test_only_python_values_come_out() -> None:
    space = {
        "f": FloatDistribution(0, 1, step=0.25),
        "i": IntDistribution(1, 100, log=True),
        "c": CategoricalDistribution([True, 2]),
    }
    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0, n_initial=2))
    for _ in range(5):
        trial = study.ask(space)
        assert all(type(v) in (float, int, bool) for v in trial.params.values())
        study.tell(trial, float(trial.params["f"]))


def test_known_constraints_hold() -> None:
    space = Space(
        [Real("x", 0, 1), Real("y", 0, 1)],
        [LinearConstraint({"x": 1, "y": 1}, upper=0.5), lambda p: p["x"] > p["y"]],
    )
    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0, n_initial=4))
    study.optimize(triangle, n_trials=10)
    assert all(x + y <= 0.5 and x > y for x, y in designs(study))


@pytest.mark.parametrize("n_done", [0, 6])
def test_known_constraints_hold_around_what_is_enqueued(url: str, n_done: int) -> None:
    space = Space(
        [Real("x", 0, 1), Real("y", 0, 1), Categorical("kind", ["a", "b"])],
        [
            LinearConstraint({"x": 1, "y": 1}, upper=0.8),
            lambda p: p["kind"] == "a" or p["y"] > p["x"],
        ],
    )

    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        if y > 0.6:
            raise Infeasible("too much")
        return -x - y - 0.1 * (kind == "b")

    sampler = BECBOSampler(space=space, seed=0, n_initial=4)
    study = optuna.create_study(storage=url, sampler=sampler)
    study.optimize(objective, n_trials=n_done, catch=(Infeasible,))
    fixed = [{"x": 0.7}, {"x": 0.79}, {"y": 0.3}, {"kind": "b"}, {"x": 0.2, "kind": "b"}]
    for params in fixed:
        study.enqueue_trial(params)
    study.optimize(objective, n_trials=len(fixed), catch=(Infeasible,))
    for params, trial in zip(fixed, study.trials[n_done:], strict=True):
        assert params.items() <= trial.params.items()
        assert space.is_allowed(trial.params)


def test_the_rest_is_proposed_for_what_is_enqueued() -> None:
    """Each x has a y of its own that is best."""
    trials = [done((x / 8 - y / 8) ** 2, x=x / 8, y=y / 8) for x in range(9) for y in (0, 3, 6, 8)]
    study = study_of(BECBOSampler(space=XY, seed=0), *trials)
    for x in (0.2, 0.55, 0.9):
        study.enqueue_trial({"x": x})
    for _ in range(3):
        params = study.ask(XY).params
        assert params["y"] == pytest.approx(params["x"], abs=0.05)


def test_enqueued_values_that_no_design_can_have_are_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    space = Space([Real("x", 0, 1), Real("y", 0.5, 1)], [lambda p: p["x"] + p["y"] < 1.2])
    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0))
    study.enqueue_trial({"x": 0.9})
    trial = study.ask({"x": UNIT, "y": FloatDistribution(0.5, 1)})
    assert trial.params["x"] == 0.9
    assert "trial 0: no design with what was enqueued for it satisfies" in caplog.text


def test_a_value_outside_the_space_may_be_enqueued(caplog: pytest.LogCaptureFixture) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space=XY, seed=0))
    study.enqueue_trial({"x": 0.9, "y": 2.0})
    with pytest.warns(UserWarning, match="out of range"):
        trial = study.ask({"y": UNIT, "x": UNIT})
    assert trial.params == {"x": 0.9, "y": 2.0}


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_constraints_cannot_hold_where_a_part_is_fixed_elsewhere() -> None:
    space = Space([Real("x", 0, 1), Real("y", 0, 1)], [lambda p: p["x"] > p["y"]])
    sampler = PartialFixedSampler({"y": 0.5}, BECBOSampler(space=space))
    with pytest.raises(InvalidInput, match="need all of"):
        optuna.create_study(sampler=sampler).ask(XY)


def test_what_lies_outside_the_space_is_left_out_and_named(
    asked: list[Optimizer], caplog: pytest.LogCaptureFixture
) -> None:
    sampler = BECBOSampler(space={"x": FloatDistribution(0, 0.5), "y": UNIT})
    study = study_of(sampler, done(1.0, x=0.9, y=0.1), done(2.0, x=0.1, y=0.1))
    for _ in range(2):
        study.ask(XY)
    assert [t.value for t in asked[0].trials] == [2.0]
    assert caplog.text.count("trials [0] lie outside the space") == 1


def test_a_proposal_that_the_objective_does_not_take_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space={"x": FloatDistribution(2, 3)}))
    for _ in range(2):
        assert study.ask(XY).params["x"] <= 1
    assert caplog.text.count("'x' is drawn at random, what was proposed for it is not in") == 1


def test_what_becbo_cannot_model_is_drawn_at_random_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_float("x", 0, 1) + 0 * trial.suggest_int("seed", 0, 2**60)

    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    study.optimize(objective, n_trials=3)
    assert study.trials[-1].system_attrs[PROPOSAL]["params"].keys() == {"x"}
    assert caplog.text.count("'seed' is drawn at random, since it cannot be modelled: seed") == 1


def test_a_name_that_the_space_does_not_have_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space={"X": UNIT, "y": UNIT}, seed=0))
    for _ in range(2):
        study.ask(XY)
    assert caplog.text.count("'x' is drawn at random, it is not in `space`, which names X, y") == 1


def test_a_range_that_changes_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    for high in (1, 2, 3):
        trial = study.ask()
        study.tell(trial, trial.suggest_float("x", 0, high) + trial.suggest_float("y", 0, 1))
    assert caplog.text.count("'x' is drawn at random, its range or choices differ") == 1
    assert "'y'" not in caplog.text


@pytest.mark.parametrize("space", [{"a": 3}, [], "x"])
def test_a_space_of_something_else(space: Any) -> None:
    with pytest.raises(InvalidInput, match="must be a becbo Space or a dict of Optuna"):
        BECBOSampler(space=space)


def test_a_fallback_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    space = {"c": CategoricalDistribution(["a", "b"])}
    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0, n_initial=1))
    for value in range(3):
        study.tell(study.ask(space), value)
    assert "exhausted" in study.trials[-1].system_attrs[PROPOSAL]["note"]
    assert "trial 2: the space is exhausted" in caplog.text


def test_fixed_parameters_are_part_of_the_design(asked: list[Optimizer]) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space=XY, seed=0))
    study.enqueue_trial({"x": 0.125})
    study.enqueue_trial({"x": 0.5, "y": 0.5})
    running = study.ask(XY)
    assert history(asked[0]) == [(0.5, Outcome.PENDING, None)]  # it waits, and is known already
    study.ask(XY)
    assert len(asked) == 1  # nothing was left to propose
    study.ask(XY)
    assert {t.params["x"] for t in asked[-1].pending} == {0.125, 0.5}
    assert running.params["x"] == 0.125


def test_hyperband_shows_a_part_of_the_study_and_all_of_it_is_used(
    asked: list[Optimizer],
) -> None:
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=9)

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        trial.report(x, 1)
        trial.should_prune()
        if trial.number == 4:
            mark_lost(trial, "power cut")
            raise RuntimeError
        return x

    study = optuna.create_study(sampler=BECBOSampler(space={"x": UNIT}, seed=0), pruner=pruner)
    study.optimize(objective, n_trials=8, catch=(RuntimeError,))
    assert study.trials[5].params == study.trials[4].params
    assert len(asked[-1].trials) == 7


# Several at once


def test_threads_propose_different_designs(url: str) -> None:
    certain = Failures(chance=0.0)  # no repeats, to find out about luck
    sampler = BECBOSampler(seed=0, n_initial=4, failures=certain)
    study = optuna.create_study(storage=url, sampler=sampler)
    study.optimize(triangle, n_trials=16, n_jobs=4, catch=(Infeasible,))
    assert len(set(designs(study))) == 16


@pytest.mark.parametrize("space", [None, {"x": UNIT}])
@pytest.mark.parametrize("n_jobs", [1, 4])
def test_trials_of_threads_never_use_up_more_than_the_budget(space: Any, n_jobs: int) -> None:
    def failing(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        time.sleep(0.05)
        raise ArithmeticError

    study = optuna.create_study(sampler=budget_of(2, space=space))
    with pytest.raises(BecboError, match=r"failures \(2\) is spent, and nothing has worked"):
        study.optimize(failing, n_trials=8, n_jobs=n_jobs, catch=(Exception,))
    assert len([t for t in study.trials if t.params]) == 2
    assert lost_numbers(study) == {t.number for t in study.trials if not t.params}


@pytest.mark.parametrize("space", [None, {"x": UNIT}])
def test_threads_wait_until_something_has_worked(
    space: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The first two run until a third one waits; then one of them fails."""

    def working(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for _ in range(1000 if trial.number < 2 else 0):
            if "waits for one of them" in caplog.text:
                break
            time.sleep(0.01)
        if trial.number == 0:
            raise ArithmeticError
        return x

    study = optuna.create_study(sampler=budget_of(2, space=space))
    study.optimize(working, n_trials=8, n_jobs=4, catch=(ArithmeticError,))
    assert [t.state for t in study.trials].count(TrialState.COMPLETE) == 7
    assert "trial 2: as many trials are under way as may still fail" in caplog.text


def test_nobody_waits_for_what_is_asked_for_by_hand() -> None:
    study = optuna.create_study(sampler=budget_of(2))
    first, _ = study.ask(), study.ask()
    with pytest.raises(BecboError, match="tell what is under way"):
        study.ask()
    assert study.trials[2].state is TrialState.FAIL and lost_numbers(study) == {2}
    study.tell(first, 1.0)
    assert study.ask(XY).number == 3


@pytest.mark.parametrize("space", [None, XY])
def test_what_is_enqueued_does_not_wait(space: Any) -> None:
    study = study_of(budget_of(1, space=space), done(x=0.9, y=0.9))
    study.enqueue_trial({"x": 0.1, "y": 0.2})
    study.optimize(triangle, n_trials=3, catch=(Infeasible,))
    assert [t.params for t in study.trials[1:]] == [{"x": 0.1, "y": 0.2}] * 3


def test_failures_outside_the_space_do_not_count() -> None:
    study = optuna.create_study(sampler=budget_of(1, space={"x": FloatDistribution(0, 0.8)}))
    study.add_trial(done(x=0.9))
    assert study.ask().suggest_float("x", 0, 0.8) <= 0.8


@pytest.mark.parametrize("n_done", [0, 6])
def test_workers_with_one_seed_that_propose_at_one_time_differ(
    url: str, monkeypatch: pytest.MonkeyPatch, n_done: int
) -> None:
    """Each has read the study before any of the others has published its proposal."""
    n = 3
    barrier = threading.Barrier(n, timeout=60)

    class Simultaneous(Optimizer):
        def ask(self, q: int | None = None) -> Any:
            barrier.wait()
            return super().ask(q)

    study = optuna.create_study(storage=url)
    for i in range(n_done):
        x = (i + 1) / (n_done + 1)
        study.add_trial(done(-x if x < 0.6 else None, x=x, y=x))
    workers = [
        optuna.load_study(
            study_name=None, storage=url, sampler=BECBOSampler(space=XY, seed=0, n_initial=4)
        )
        for _ in range(n)
    ]
    trials = [worker.ask() for worker in workers]  # nothing is suggested yet
    monkeypatch.setattr(becbo.optimizer, "Optimizer", Simultaneous)
    threads = [threading.Thread(target=trial.suggest_float, args=("x", 0, 1)) for trial in trials]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proposed = [t.system_attrs[PROPOSAL]["params"] for t in study.trials[n_done:]]
    X = np.array([list(params.values()) for params in proposed])
    apart = np.abs(X[:, None] - X).max(axis=-1)[np.triu_indices(n, 1)]
    assert apart.min() > 1e-3


def test_a_design_that_another_worker_has_just_published_is_not_proposed() -> None:
    """The other one knew other results, so that its proposal could not be foreseen."""
    study = optuna.create_study(sampler=BECBOSampler(space=XY, seed=0, n_initial=2))
    for i in range(4):
        study.add_trial(done(float(i), x=i / 4, y=0.5))
    other = study.ask()

    class Outrun(Optimizer):
        def ask(self, q: int | None = None) -> Any:
            asked = super().ask(q)
            if PROPOSAL not in study.trials[other.number].system_attrs:
                publish(study, study.trials[other.number], asked[-1], StudySpace.of(XY))
            return asked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(becbo.optimizer, "Optimizer", Outrun)
        mine = study.ask(XY)
    theirs = study.trials[other.number].system_attrs[PROPOSAL]["params"]
    assert mine.params != theirs


def test_random_values_depend_on_the_trial_and_the_name_only() -> None:
    def drawn(seed: int) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=BECBOSampler(seed=seed))
        return [study.ask(XY).params for _ in range(2)]  # nothing finished: no space yet

    assert drawn(0) == drawn(0)
    values = [v for params in drawn(0) + drawn(1) for v in params.values()]
    assert len(set(values)) == 8


def test_a_trial_that_got_stuck_before_its_proposal_is_not_waited_for(
    asked: list[Optimizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    real = Optimizer.ask

    def ask(self: Optimizer, q: int | None = None) -> Any:
        counts.append(q)
        return real(self, q)

    monkeypatch.setattr(Optimizer, "ask", ask)
    study = optuna.create_study(sampler=BECBOSampler(space=XY, seed=0))
    study.ask()
    study.ask(XY)
    monkeypatch.setattr(becbo.optuna.proposal, "_SOON", 0.0)
    study.ask(XY)
    assert counts == [2, 1]


def test_stale_trials_count_as_lost(asked: list[Optimizer]) -> None:
    study = optuna.create_study(sampler=BECBOSampler(space=XY, stale_after=1e-9))
    study.ask(XY)
    study.ask(XY)
    assert [t.outcome for t in asked[-1].trials] == [Outcome.LOST]
    study.sampler = BECBOSampler(space=XY, stale_after=3600)
    study.ask(XY)
    assert [t.outcome for t in asked[-1].trials] == [Outcome.PENDING] * 2


# Lost


def test_a_lost_trial_teaches_nothing_and_is_offered_once_more(
    url: str, asked: list[Optimizer]
) -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number == 1:
            mark_lost(trial, "power cut")
            raise ConnectionError
        return x

    study = optuna.create_study(storage=url, sampler=BECBOSampler(space={"x": UNIT}, seed=0))
    study.optimize(objective, n_trials=5, catch=(ConnectionError,))
    assert [t.params for t in study.trials].count(study.trials[1].params) == 2
    assert study.trials[2].params == study.trials[1].params
    outcomes = [result_of(t, lost_numbers(study)).outcome for t in study.trials]
    assert outcomes == [Outcome.OK, Outcome.LOST, *[Outcome.OK] * 3]
    assert sum(t.outcome is Outcome.FAILED for t in asked[-1].trials) == 0


def test_lost_for_reasons_of_ones_own(asked: list[Optimizer]) -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        trial.set_user_attr("exit_code", 137 if trial.number == 0 else 1)
        raise RuntimeError

    sampler = BECBOSampler(space={"x": UNIT}, is_lost=lambda t: t.user_attrs["exit_code"] == 137)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=3, catch=(RuntimeError,))
    assert study.trials[1].params == study.trials[0].params
    assert [t.outcome for t in asked[-1].trials] == [Outcome.LOST, Outcome.FAILED]


@pytest.mark.parametrize(
    "is_lost",
    [
        lambda trial: trial.values == [-999.0],
        lambda trial: trial.state is TrialState.COMPLETE and trial.value < -900,
        lambda trial: trial.duration.total_seconds() > 3600 or trial.value == -999,
    ],
)
def test_is_lost_gets_a_trial_as_it_ended(is_lost: Any) -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return -999.0 if trial.number == 0 else x

    study = optuna.create_study(sampler=BECBOSampler(seed=0, is_lost=is_lost))
    study.optimize(objective, n_trials=1)
    first, queued = study.trials
    assert (first.value, queued.state) == (-999, TrialState.WAITING)
    study.optimize(objective, n_trials=2)
    assert study.trials[1].params == first.params
    assert len(study.trials) == 3


def test_an_error_in_is_lost_says_where_it_comes_from() -> None:
    def by_exit_code(trial: FrozenTrial) -> bool:
        return bool(trial.user_attrs["exit_code"] == 137)

    study = study_of(BECBOSampler(is_lost=by_exit_code), done(1.0, x=0.1, y=0.1))
    with pytest.raises(KeyError, match="exit_code") as caught:
        study.ask(XY)
    (note,) = caught.value.__notes__
    assert "is_lost" in note and "by_exit_code" in note and "trial 0" in note


def test_a_repeat_does_not_inherit_why_its_trial_was_lost() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number == 3:
            trial.set_user_attr("exit_code", 137)
            raise OSError
        return x

    sampler = BECBOSampler(seed=0, is_lost=lambda t: t.user_attrs.get("exit_code") == 137)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=6, catch=(OSError,))
    assert study.trials[4].params == study.trials[3].params != study.trials[5].params


def test_a_design_that_kills_its_worker_is_given_up() -> None:
    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        if x > 0.7:
            mark_lost(trial, "killed")
            raise OSError
        return -x - y

    study = optuna.create_study(sampler=BECBOSampler(seed=0))
    study.optimize(objective, n_trials=40, catch=(OSError,))
    lost = [t for t in study.trials if t.state is TrialState.FAIL]
    losses = Counter(tuple(t.params.items()) for t in lost)
    assert max(losses.values()) == 4 and len(losses) >= 4


# Errors of ours


class Broken(Proposer):
    """A method that cannot propose."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def fit_failures(self, *_: Any) -> Any:
        raise self.error

    def searcher(self, *_: Any) -> Any:
        raise self.error

    def propose(self, *_: Any) -> Any:
        raise self.error


def broken_study(error: BaseException, **kwargs: Any) -> optuna.Study:
    sampler = BECBOSampler(space=XY, method=Broken(error), n_initial=1, seed=0)
    return study_of(sampler, done(0.0, x=0.5, y=0.5), **kwargs)


def assert_it_teaches_nothing(study: optuna.Study, asked: list[Optimizer]) -> None:
    assert lost_numbers(study) == {t.number for t in study.trials[1:]}
    assert "no proposal: " in study.user_attrs[f"{LOST}1"]
    study.sampler = BECBOSampler(space=XY, seed=0)
    study.ask(XY)
    assert [t.outcome for t in asked[-1].trials] == [Outcome.OK]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_ours_is_not_caught_with_those_of_the_objective(
    url: str, asked: list[Optimizer], caplog: pytest.LogCaptureFixture, n_jobs: int
) -> None:
    study = broken_study(FloatingPointError("singular"), storage=url)
    with pytest.raises(ProposalFailed, match="singular") as caught:
        study.optimize(triangle, n_trials=5, n_jobs=n_jobs, catch=(Exception,))
    assert isinstance(caught.value.__cause__, FloatingPointError)
    assert "trial 1 got no proposal" in caplog.text
    assert {t.state for t in study.trials[1:]} == {TrialState.FAIL}
    assert len(study.trials) <= 1 + 2 * n_jobs  # and not all that were ordered
    assert_it_teaches_nothing(study, asked)


def test_an_error_of_ours_under_ask(url: str, asked: list[Optimizer]) -> None:
    study = broken_study(FloatingPointError("singular"), storage=url)
    with pytest.raises(FloatingPointError, match="singular"):
        study.ask(XY)
    assert_it_teaches_nothing(study, asked)


def test_ctrl_c_during_a_proposal(url: str, asked: list[Optimizer]) -> None:
    study = broken_study(KeyboardInterrupt(), storage=url)
    with pytest.raises(KeyboardInterrupt):
        study.optimize(triangle, n_trials=5, catch=(Exception,))
    assert [t.state for t in study.trials[1:]] == [TrialState.FAIL]
    assert_it_teaches_nothing(study, asked)


def test_what_a_method_cannot_do_is_refused_before_the_objective_runs() -> None:
    sampler = BECBOSampler(method="be-cbo")
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
    with pytest.raises(InvalidInput, match="these can: edge"):
        study.optimize(lambda trial: pytest.fail("it ran"), n_trials=3, catch=(Exception,))
    assert [t.state for t in study.trials] == [TrialState.FAIL]
