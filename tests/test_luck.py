"""Failures by chance that nobody told of: suspected, tested by a repeat, and then learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr

from becbo import Limit, LinearConstraint, Objective, Optimizer, Real, Space
from becbo.models import luck
from becbo.models.feasibility import PerConstraint
from becbo.proposers.base import region_of
from becbo.search.choice import AGAIN
from becbo.search.repeats import SUSPECT, with_luck
from becbo.surrogates.gp_classifier import (
    GPClassifier,
    Tally,
    condition,
    expectation_propagation,
    prior_covariance,
    tally,
)

PLANE = Space([Real("a", 0, 1), Real("b", 0, 1)])


def runs(*counts):
    """A tally of (worked, failed)."""
    worked, failed = np.array(counts, dtype=int).reshape(-1, 2).T
    return Tally(np.arange(len(worked)), worked, failed)


def test_a_tally_counts_the_runs_of_each_design_in_order():
    X = np.array([[0.5], [0.1], [0.5], [0.9], [0.1], [0.5]])
    counted = tally(X, np.array([True, False, False, True, False, True]))
    assert counted.first.tolist() == [0, 1, 3]
    assert counted.n_worked.tolist() == [2, 0, 1] and counted.n_failed.tolist() == [1, 2, 0]


def test_what_the_others_say_is_a_fit_without_the_design():
    rng = np.random.default_rng(0)
    X = rng.random((25, 2))
    feasible = X.sum(axis=1) < 1.1
    for lapse in (0.0, 0.1):
        model = GPClassifier(lapse=lapse).fit(X, feasible)
        settings, stated = model.settings, model.left_out()
        for i in range(0, 25, 6):
            others = np.arange(25) != i
            labels = np.where(feasible[others], 1.0, -1.0)
            K = prior_covariance(model.theta, X[others], settings.kernel, settings.bias)[0]
            sites = expectation_propagation(K, labels, np.zeros((24, 2)))
            sites = expectation_propagation(K, labels, sites, lapse)
            without = condition(model.theta, X[others], sites, K, settings)
            assert stated[i] == pytest.approx(ndtr(without.score(X[i : i + 1])[0])[0], abs=0.1)


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0, 1)), min_size=1, max_size=6
    )
)
def test_the_rate_is_the_mean_of_its_posterior(designs):
    counted = runs(*[(w, f) for w, f, _ in designs])
    chances = np.array([c for *_, c in designs])

    def likelihood(e):
        p = 1.0
        for w, f, c in designs:
            p *= (1 - e) ** w * e**f if w else 1 - c + c * e**f
        return p

    low, high = luck._RATES[[0, -1]]
    mean = quad(lambda e: e * likelihood(e), low, high)[0] / quad(likelihood, low, high)[0]
    assert luck.learned_rate(counted, chances) == pytest.approx(mean, abs=0.01)


def test_only_a_design_that_failed_and_worked_proves_bad_luck():
    assert not luck.is_proven(runs((3, 0), (0, 4)))
    assert luck.is_proven(runs((3, 0), (1, 1)))


def test_tests_end_when_bad_luck_is_proven_or_five_were_spent():
    assert luck.is_open(runs((1, 0), (0, 1), (0, 5)))
    assert not luck.is_open(runs((1, 0), (0, 1), (0, 6)))
    assert not luck.is_open(runs((1, 0), (0, 3), (0, 4)))
    assert not luck.is_open(runs((1, 1), (0, 1)))
    assert luck.is_open(runs((3, 0)))


def test_which_failure_is_repeated():
    chances = np.array([0.99, 0.65, 0.7])
    assert luck.suspect(runs((1, 0), (0, 1), (0, 1)), chances) == 2  # the most surprising failure
    assert luck.suspect(runs((1, 0), (0, 1), (0, 1)), chances - 0.15) is None
    assert luck.suspect(runs((1, 0), (0, 1), (0, 2)), chances) is None  # one failed: be surer
    assert luck.suspect(runs((1, 0), (0, 1), (0, 2)), chances + [0, 0.15, 0]) == 1
    later = runs((1, 0), (0, 1), (0, 1), (0, 1))  # the last came after the look
    assert luck.suspect(later, chances) == 2


@given(st.integers(1, 500))
def test_looks_grow_with_the_history(n):
    seen = luck.look(n)
    assert luck.look(seen) == seen and seen <= n
    assert seen >= 0.75 * n - 1 if n >= 10 else seen == 0
    assert luck.look(n + 1) in (seen, n + 1)


def history(optimizer, n=25, n_unlucky=1):
    """Tells n designs: those right of a line fail, some far from it do so by bad luck."""
    X = np.random.default_rng(3).random((n, 2)).round(6)
    centre = np.argsort(np.abs(X - [0.35, 0.5]).max(axis=1))
    struck = centre[:n_unlucky]
    for i, (a, b) in enumerate(X.tolist()):
        if a > 0.8 or i in struck:
            optimizer.add({"a": a, "b": b}, failed=True)
        else:
            optimizer.add({"a": a, "b": b}, a + b)
    return dict(zip("ab", X[centre[0]].tolist(), strict=True))


def test_a_failure_that_the_others_contradict_is_repeated_and_bad_luck_learned():
    optimizer = Optimizer(PLANE, seed=0)
    suspicious = history(optimizer)
    trial = optimizer.ask()
    assert (trial.params, trial.origin, trial.note) == (suspicious, AGAIN, SUSPECT)
    assert trial.believed.bad_luck == 0.0
    again = optimizer.ask()  # the repeat is out: another design
    assert again.params != suspicious and again.origin != AGAIN
    before = optimizer.predict(suspicious).p_feasible
    optimizer.tell(trial, 0.8)
    after = optimizer.predict(suspicious)
    assert before < 0.2 and after.p_feasible > 0.8 and 0.01 < after.bad_luck < 0.2
    assert not [t for t in optimizer.ask(6) if t.origin == AGAIN]  # nothing is left to find out


def test_a_repeat_that_fails_was_a_law():
    optimizer = Optimizer(PLANE, seed=0)
    suspicious = history(optimizer)
    optimizer.fail(optimizer.ask())
    assert optimizer.predict(suspicious).bad_luck == 0.0
    assert optimizer.predict(suspicious).p_feasible < 0.2


def test_a_budget_of_failures_is_not_spent_on_repeats_of_failures():
    """Unless it is ample: then no chance is required of a proposal."""
    for budget, origin_is in ((12, False), (100, True)):
        optimizer = Optimizer(PLANE, seed=0, failures={"budget": budget})
        history(optimizer)
        trial = optimizer.ask()
        assert (trial.origin == AGAIN) == origin_is
    assert trial.note == SUSPECT


@pytest.mark.parametrize(("upper", "is_repeated"), [(0.1, False), (0.9, True)])
def test_a_failure_beyond_a_measured_limit_is_not_repeated(upper, is_repeated):
    """Even a success would be of no use there."""
    outputs = [Objective("y", "maximize"), Limit("a", upper=upper)]
    optimizer = Optimizer(PLANE, outputs, seed=0)
    plain = Optimizer(PLANE, seed=0)
    history(plain)
    for trial in plain.trials:
        if trial.is_feasible:
            optimizer.add(trial.params, {"y": sum(trial.params.values()), "a": trial.params["a"]})
        else:
            optimizer.add(trial.params, failed=True)
    assert (optimizer.ask().origin == AGAIN) == is_repeated


def test_certain_failures_and_known_rates_are_not_tested():
    for chance in (0, 0.1):
        optimizer = Optimizer(PLANE, seed=0, failures={"chance": chance})
        history(optimizer)
        assert optimizer.ask().origin != AGAIN


def test_without_surprises_nothing_changes():
    learning, certain = (Optimizer(PLANE, seed=0, failures={"chance": c}) for c in (None, 0))
    for optimizer in (learning, certain):
        history(optimizer, n_unlucky=0)
    for _ in range(6):
        trials = [optimizer.ask() for optimizer in (learning, certain)]
        assert trials[0] == trials[1]
        for optimizer, trial in zip((learning, certain), trials, strict=True):
            optimizer.tell(trial, sum(trial.params.values()))


def test_the_history_alone_decides():
    optimizer = Optimizer(PLANE, seed=0)
    history(optimizer)
    optimizer.tell(optimizer.ask(), 0.8)
    rebuilt = Optimizer(PLANE, seed=0, trials=optimizer.trials)
    assert rebuilt.ask(3) == optimizer.ask(3)


def test_a_batch_has_one_repeat():
    optimizer = Optimizer(PLANE, seed=0)
    history(optimizer, n=40, n_unlucky=2)
    assert [t.origin == AGAIN for t in optimizer.ask(4)] == [True, False, False, False]


def test_a_design_that_is_forbidden_by_now_is_not_repeated():
    trials = Optimizer(PLANE, seed=0)
    params = history(trials)
    excluded = LinearConstraint({"a": 1.0}, upper=params["a"] - 0.01)
    optimizer = Optimizer(Space(PLANE.parameters, [excluded]), seed=0, trials=trials.trials)
    assert optimizer.ask().origin != AGAIN


def test_one_reason_may_be_luck_and_another_a_law():
    optimizer = Optimizer(PLANE, seed=0)
    for a in np.linspace(0.05, 0.95, 7):
        for b in np.linspace(0.05, 0.95, 7):
            params = {"a": float(a.round(4)), "b": float(b.round(4))}
            if a > 0.7:
                optimizer.add(params, failed="crack")
            else:
                if abs(a - b) < 0.01 or abs(a + b - 0.7) < 0.02:
                    optimizer.add(params, failed="power")
                optimizer.add(params, a + b)
    factors = optimizer.models().feasibility.factors
    assert sorted(factor.lapse > 0 for factor in factors) == [False, True]


def test_failed_designs_may_be_proposed_again_once_there_is_bad_luck():
    space = Space([Real("x", 0, 1, step=0.25)])
    optimizer = Optimizer(space, seed=0, n_initial=1, failures={"chance": 0.4})
    for x, worked in [(0.25, True), (0.5, True), (1.0, True), (0.75, False)]:
        optimizer.add({"x": x}, x) if worked else optimizer.add({"x": x}, failed=True)
    optimizer.add({"x": 0.0}, failed=True)
    trial = optimizer.ask()
    assert trial.origin == AGAIN and " % that was bad luck" in trial.note
    assert trial.params["x"] in (0.0, 0.75)
    certain = Optimizer(space, seed=0, failures={"chance": 0}, trials=optimizer.trials[:-1])
    assert certain.ask().origin == "repeat"  # the space is exhausted


def test_where_failures_may_be_luck_they_are_free_again_and_successes_keep_a_gap():
    worked, failed, out = np.array([[0.5, 0.5]]), np.array([[0.2, 0.2]]), np.array([[0.7, 0.7]])
    region = region_of(PLANE, np.vstack([worked, failed, out]))
    lucky = with_luck(region, np.vstack([failed, out]), out)
    near, apart = worked + [5e-5, 0.0], worked + [2e-4, 0.0]
    asked = np.vstack([worked, failed, out, near, apart])
    assert region.is_new(asked).tolist() == [False, False, False, True, True]
    assert lucky.is_new(asked).tolist() == [False, True, False, False, True]


def test_the_rate_is_learned_from_many_designs():
    rng = np.random.default_rng(1)
    X = rng.random((80, 2))
    works = X[:, 0] < 0.8
    for rate in (0.1, 0.25):
        worked = works & (rng.random(80) >= rate)
        came = 1 - worked.sum() / works.sum()
        struck = np.flatnonzero(works & ~worked)[:1]
        designs = np.vstack([X, X[struck]])
        labels = np.append(worked, True)
        model = PerConstraint(chance=None)
        assert model._rate(designs, labels) == pytest.approx(came, abs=0.05)
        assert model._rate(X, worked) == 0.0  # not proven
