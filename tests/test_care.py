"""Risk, price and budget of failures: what they ask for, and that they are kept."""

import re
from dataclasses import replace

import numpy as np
import pytest
from goals import unexplained
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from becbo import BecboError, Failures, InvalidInput, Optimizer, Real, Settings, Space, minimize
from becbo.band import Both, EdgeProbability, MinimumChance, MinimumProbability
from becbo.care import Care, first_choice, overdraft
from becbo.methods import build
from becbo.search.choice import SPENT
from becbo.surrogates.gp_classifier import GPClassifier

LINE = Space([Real("x", 0, 1)])


def history_of(x, y, proposed=None):
    """Values to be maximised at points of a line; NaN stands for a failure."""
    data = unexplained(np.array(x)[:, None], np.array(y))
    return data if proposed is None else replace(data, stated=np.where(proposed, 0.8, np.nan))


@given(st.lists(st.booleans(), max_size=60), st.floats(0.01, 0.9))
def test_what_was_overdrawn_bounds_the_share_of_failures(failed, risk):
    c = overdraft(np.array(failed, dtype=bool), risk)
    assert sum(failed) <= risk * len(failed) + c + 1e-9
    assert c >= 0 and (c > 0 or not failed or not failed[-1])


def test_failures_of_proposals_ask_for_more_confidence():
    data = history_of([0.1, 0.5, 0.9, 0.7], [1.0, np.nan, 2.0, np.nan], proposed=[0, 1, 1, 0])
    assert Care(risk=0.2).least_chance(history_of([0.1], [1.0])) == pytest.approx(0.8)
    careful = Care(risk=0.2).least_chance(data)
    assert 0.9 < careful < 0.95  # one failure, then one success: c = 0.6
    assert Care().least_chance(data) == 0
    assert Care(budget=4, n_planned=24).least_chance(data) == pytest.approx(1 - 2 / 20)
    assert Care(budget=4).least_chance(data) == pytest.approx(1 - 2 / 20)  # reckons with 20
    assert Care(budget=2, n_planned=5).least_chance(data) == 1
    assert Care(budget=4, n_planned=5).least_chance(data) <= 0  # the last one: two may fail
    assert Care(budget=4, n_planned=4).least_chance(data) == pytest.approx(0.9)  # going on


def test_what_is_out_counts_against_the_budget_unless_it_is_proven():
    data = history_of([0.1, 0.5, 0.9], [1.0, np.nan, 2.0])
    pending = np.array([[0.3], [0.9], [0.4]])
    assert Care(budget=5).n_risky(data, pending) == 2
    assert Care(budget=1).n_risky(data, pending) == 0
    proven, gains = data.X[data.worked], data.gains[data.worked]
    assert first_choice(proven, gains, pending[:1]).tolist() == [0.9]
    assert first_choice(proven, gains, pending).tolist() == [0.1]  # the best is out already


def test_bad_luck_that_cannot_be_afforded_leaves_the_design_a_part_of_the_risk():
    data = history_of([0.1, 0.5, 0.9, 0.7], [1, np.nan, np.nan, 3], proposed=[0, 1, 1, 1])
    first, most = history_of([0.1], [1.0]), 0.75 * (1 - 0.25 / 2)
    assert Care(risk=0.2).least_chance(first, luck=0.1) == pytest.approx(0.8)
    assert Care(risk=0.2).least_chance(first, luck=0.25) == pytest.approx(most)
    assert Care(budget=1, n_planned=200).least_chance(first, luck=0.25) == pytest.approx(most)
    assert most < Care(risk=0.2).least_chance(data, luck=0.25)  # more failed than luck explains
    assert Care(budget=30, n_planned=20).least_chance(first, luck=0.25) == 0


@pytest.mark.parametrize(
    "care", [{"risk": 0.2}, {"failures": {"price": 10}}, {"failures": {"budget": 4}}]
)
def test_a_search_goes_on_where_bad_luck_alone_takes_more_than_can_be_afforded(care):
    failures = {"chance": 0.25, **care.get("failures", {})}
    optimizer = Optimizer(LINE, seed=0, n_initial=1, **{**care, "failures": failures})
    for x in np.linspace(0, 0.5, 6):
        optimizer.add({"x": x}, -x)
    for x in (0.9, 1.0):
        optimizer.add({"x": x}, failed=True)
    trial = optimizer.ask()
    assert trial.params["x"] > 0.5 and trial.note is None


def test_the_band_of_the_next_run_counts_bad_luck():
    X = np.random.default_rng(0).random((30, 2))
    model = GPClassifier(lapse=0.2).fit(X, X[:, 0] < 0.6)
    band = MinimumChance(lambda luck: 0.8 - luck)
    chance = 0.8 * ndtr(model.score(X)[0])
    np.testing.assert_array_equal(band.slack(model, X) >= 0, chance >= 0.6)
    beyond = MinimumChance(lambda luck: 0.9)  # out of reach: 80 % at most
    assert np.isfinite(beyond.slack(model, X)).all()
    both = Both(MinimumProbability(0.5), band).draw(2, np.random.default_rng(0))
    np.testing.assert_array_equal(both.slack(model, X), band.slack(model, X))
    for x in X[:4]:
        _, gradient = both.slack_grad(model, x[None])
        numeric = numeric_gradient(lambda p: both.slack(model, p[None])[0], x)
        np.testing.assert_allclose(gradient[0], numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"price": -1}, "failures: price -1 must be a number of experiments from 0"),
        ({"price": True}, "failures: price True must be"),
        ({"price": float("nan")}, "failures: price nan must be"),
        ({"budget": 0}, "failures: budget 0 must be a whole number of at least 1"),
        ({"budget": 2.5}, "failures: budget 2.5 must be a whole number"),
    ],
)
def test_what_cannot_be_is_named(wrong, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Settings(failures=wrong)


def test_settings_reach_the_method():
    built = build(Settings(risk=0.1, failures={"price": 3, "budget": 7}, n_planned=50))
    assert built.care == Care(risk=0.1, budget=7, n_planned=50)
    assert built.band.draw(2, np.random.default_rng(0)).p == 0.9
    with pytest.raises(InvalidInput, match="takes every failure"):
        build(Settings(method="be-cbo", failures=Failures(price=1)))
    assert Failures.of(Failures(price=2, budget=3).to_dict()) == Failures(price=2, budget=3)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 1000), budget=st.integers(1, 5), q=st.integers(1, 3))
def test_the_budget_is_kept_whatever_the_models_believe(seed, budget, q):
    """A design works only if an earlier draw said so: nothing can be learned."""
    fate = np.random.default_rng(seed)
    optimizer = Optimizer(LINE, seed=seed, n_initial=4, failures=Failures(budget=budget))
    optimizer.add({"x": 0.5}, 1.0)
    worked = {0.5: True}
    for _ in range(8):
        asked = optimizer.ask(q)
        for trial in asked:
            x = trial.params["x"]
            worked.setdefault(x, bool(fate.random() < 0.3))
            if worked[x]:
                optimizer.tell(trial, x)
            else:
                optimizer.fail(trial)
        assert sum(not t.is_feasible for t in optimizer.trials) <= budget


def test_when_the_budget_is_spent_only_proven_designs_are_proposed():
    optimizer = Optimizer(LINE, seed=0, n_initial=2, failures=Failures(budget=2))
    for x, worked in [(0.2, True), (0.4, True), (0.8, False), (0.9, False)]:
        optimizer.add({"x": x}, x) if worked else optimizer.add({"x": x}, failed=True)
    trial = optimizer.ask()
    assert (trial.params, trial.origin, trial.note) == ({"x": 0.2}, "repeat", SPENT)


@pytest.mark.parametrize("care", [{"risk": 0.2}, {"failures": {"price": 7.5}}])
def test_each_design_of_a_batch_has_the_chance_that_is_asked_for(care):
    space = Space([Real("x", 0, 1), Real("y", 0, 1)])
    optimizer = Optimizer(space, seed=0, n_initial=1, **care)
    for x, y in np.random.default_rng(0).random((20, 2)).tolist():
        outcome = {"failed": True} if x + y > 1.1 else {"value": -x - 2 * y}
        optimizer.add({"x": x, "y": y}, **outcome)
    stated = [trial.believed.p_feasible for trial in (*optimizer.ask(6), optimizer.ask())]
    assert min(stated) > 0.79


def test_of_noisy_values_the_best_believed_is_repeated_not_the_luckiest():
    optimizer = Optimizer(LINE, seed=0, n_initial=2, noisy=True, failures=Failures(budget=2))
    for x in np.linspace(0, 0.7, 8):
        optimizer.add({"x": x}, (x - 0.5) ** 2)
    for y in (-1.0, 0.3, 0.2, 0.25, 0.25):
        optimizer.add({"x": 0.0}, y)
    for x in (0.8, 0.9):
        optimizer.add({"x": x}, failed=True)
    trial = optimizer.ask()
    assert optimizer.luckiest.params == {"x": 0.0} and trial.origin == "repeat"
    assert trial.params == optimizer.best.params != {"x": 0.0}


def test_a_proven_design_between_the_steps_cannot_be_repeated():
    steps = Space([Real("x", 0, 1, step=0.1)])
    optimizer = Optimizer(steps, seed=0, n_initial=2, failures=Failures(budget=2))
    for x, worked in [(0.23, True), (0.4, True), (0.8, False), (0.9, False)]:
        optimizer.add({"x": x}, x) if worked else optimizer.add({"x": x}, failed=True)
    trial = optimizer.ask()
    assert (trial.params, trial.origin, trial.note) == ({"x": 0.4}, "repeat", SPENT)


def test_a_proven_design_that_failed_by_bad_luck_is_still_a_repeat():
    optimizer = Optimizer(LINE, seed=0, n_initial=2, failures=Failures(chance=0.1, budget=2))
    for x, worked in [(0.2, True), (0.8, False), (0.2, False)]:
        optimizer.add({"x": x}, x) if worked else optimizer.add({"x": x}, failed=True)
    trial = optimizer.ask()
    assert (trial.params, trial.origin, trial.note) == ({"x": 0.2}, "repeat", SPENT)


def test_a_run_ends_when_its_failures_are_spent():
    def fun(params):
        if params["x"] > 0.3:
            raise ValueError("too much")
        return -params["x"]

    done = minimize(fun, LINE, 60, seed=0, catch=ValueError, failures={"budget": 4})
    assert sum(not t.is_feasible for t in done.trials) <= 4
    assert len(done.trials) == 60 or done.message == SPENT


def stated_of_next(n_planned):
    """The chance of the next proposal after one of two failures, at the edge of what works."""
    failures = Failures(chance=0, budget=2)
    optimizer = Optimizer(LINE, seed=0, n_initial=1, failures=failures, n_planned=n_planned)
    for x in np.linspace(0, 1, 9):
        optimizer.add({"x": x}, failed=True) if x == 1 else optimizer.add({"x": x}, -x)
    return optimizer.ask().believed.p_feasible


def test_a_budget_of_failures_lasts_for_the_plan():
    assert stated_of_next(10) < 0.9 < stated_of_next(None) < stated_of_next(200)


def test_minimize_tells_its_plan():
    seen = set()
    minimize(
        lambda p: p["x"],
        *(LINE, 6),
        n_initial=3,
        seed=0,
        failures={"budget": 3},
        callbacks=[lambda optimizer, trial: seen.add(optimizer.settings.n_planned)],
    )
    assert seen == {6}


def test_nothing_worked_and_nothing_may_fail_any_more():
    optimizer = Optimizer(LINE, seed=0, n_initial=5, failures=Failures(budget=2))
    with pytest.raises(BecboError, match="allows 2 of 3 more experiments at present.*ask for 2"):
        optimizer.ask(3)
    assert not optimizer.trials
    asked = optimizer.ask(2)
    with pytest.raises(BecboError, match="wait for the results of what is pending"):
        optimizer.ask()
    for trial in asked:
        optimizer.fail(trial)
    with pytest.raises(BecboError, match="nothing has worked so far.*add an experiment that is kn"):
        optimizer.ask()
    with pytest.raises(BecboError, match="nothing has worked so far"):
        optimizer.check_budget(1)
    optimizer.add({"x": 0.5}, 1.0)
    optimizer.check_budget(1)


def test_a_price_keeps_proposals_away_from_the_edge():
    def stated(price):
        optimizer = Optimizer(LINE, seed=0, n_initial=1, failures={"price": price, "chance": 0})
        for x in np.linspace(0, 1, 9):
            if x > 0.7:
                optimizer.add({"x": x}, failed=True)
            else:
                optimizer.add({"x": x}, -x)
        return optimizer.ask().believed.p_feasible

    assert stated(20) > 0.9 > stated(0)


@given(st.floats(1e-3, 1e6))
def test_a_price_leaves_a_risk(price):
    told = build(Settings(failures={"price": price})).care.risk
    assert 0 < told <= 0.5 and told * price <= 1.5 * (1 + 1e-12)
    assert told in (0.5, pytest.approx(1.5 / price))
    assert build(Settings(risk=0.3, failures={"price": price})).care.risk == min(0.3, told)


def test_the_edge_rule_is_still_drawn_under_care():
    rule = Both(EdgeProbability(p_drawn=(0.2, 0.6)), MinimumChance(lambda luck: 0.3))
    rng = np.random.default_rng(0)
    assert {rule.draw(2, rng).first.p for _ in range(20)} == {0.2, 0.6}
