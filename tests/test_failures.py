"""What is known about failures: refused at once if wrong, the same in every front end, heard."""

import re

import numpy as np
import pytest
from coating import COATING

from becbo import Failures, InvalidInput, Objective, Optimizer, Real, Settings, Space, minimize
from becbo.campaign.describing import describe
from becbo.methods import METHODS, build

LINE = Space([Real("x", 0, 1)])


def told(designs, failures, outputs="minimize", reason=None):
    """An optimizer that knows designs on a line: (x, worked)."""
    optimizer = Optimizer(LINE, outputs, seed=0, failures=failures)
    for x, worked in designs:
        if worked:
            optimizer.add({"x": x}, x)
        else:
            optimizer.add({"x": x}, failed=reason or True)
    return optimizer


def chance(optimizer, x):
    return optimizer.predict({"x": x}).p_feasible


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"chance": 1}, "failures: chance 1 must be a rate from 0 to below 1, such as 0.1; leave"),
        ({"chance": -0.1}, "failures: chance -0.1 must be a rate"),
        ({"chance": True}, "failures: chance True must be a rate"),
        ({"chance": float("nan")}, "failures: chance nan must be a rate"),
        ({"odds": 3}, "failures: unknown 'odds'; it can have chance"),
        (3, "failures 3 must be becbo.Failures or a mapping of chance"),
    ],
)
def test_what_cannot_be_is_named(wrong, message) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Settings(failures=wrong)


def test_a_mapping_is_as_good() -> None:
    given = Failures(chance=np.float64(0.1))
    assert Settings(seed=0, failures={"chance": 0.1}).failures == given
    assert Failures.of(given.to_dict()) == given
    assert Failures().to_dict() == {} and Settings().failures == Failures()


def test_a_description_keeps_them() -> None:
    described = describe({**COATING, "failures": {"chance": 0.05}})
    assert described.settings.failures == Failures(chance=0.05)
    assert describe(described.to_dict()) == described
    with pytest.raises(InvalidInput, match="failures: unknown 'rate'"):
        describe({**COATING, "failures": {"rate": 0.05}})


def test_what_is_known_in_words() -> None:
    assert str(Failures(0.05, 3, 10)) == (
        "5 % of good designs fail by bad luck, a failure costs 3 experiments more, "
        "at most 10 experiments may fail"
    )
    assert (str(Failures(chance=0)), str(Failures())) == ("never by bad luck", "nothing is known")


@pytest.mark.parametrize("method", [name for name in METHODS if name != "edge"])
def test_published_methods_take_failures_for_facts(method) -> None:
    assert build(Settings(method=method)) is not None
    with pytest.raises(InvalidInput, match="takes every failure for the design's"):
        build(Settings(method=method, failures=Failures(chance=0.1)))


def test_they_are_not_dropped() -> None:
    with pytest.raises(InvalidInput, match="go with the name of a method"):
        Optimizer(LINE, method=build(Settings()), failures=Failures(chance=0.1))
    done = minimize(lambda p: p["x"], LINE, 5, n_initial=4, seed=0, failures={"chance": 0.2})
    assert done.trials[-1].believed.bad_luck == 0.2


@pytest.mark.parametrize("reason", [None, "gel"])
def test_one_unlucky_failure_lowers_a_chance_only_if_it_is_a_law(reason) -> None:
    designs = [(x, x != 0.5) for x in np.linspace(0.1, 0.9, 9).round(3)] + [(0.0, False)]
    law, luck = (told(designs, Failures(chance=rate), reason=reason) for rate in (0.0, 0.1))
    assert chance(law, 0.52) < 0.6
    assert 0.8 < chance(luck, 0.52) <= 0.9  # the next run may have bad luck as well
    assert luck.predict({"x": 0.52}).bad_luck == 0.1


def test_limits_that_are_attributed_allow_for_luck() -> None:
    space = Space([Real(f"x{i}", 0, 1) for i in range(4)])
    X = np.random.default_rng(0).random((90, 4))
    margins = np.min([0.8 - X[:, 0], 1.4 - X[:, 1] - X[:, 2], *X.T, *(1 - X.T)], axis=0)
    unlucky = np.argsort(-margins)[:4]  # far from the limits
    works = (X[:, 0] < 0.8) & (X[:, 1] + X[:, 2] < 1.4)
    works[unlucky] = False
    believed = {}
    for rate in (0.0, 0.1):
        optimizer = Optimizer(space, seed=0, failures=Failures(chance=rate))
        for u, worked in zip(X, works, strict=True):
            params = dict(zip(space.names, u.tolist(), strict=True))
            optimizer.add(params, float(u.sum())) if worked else optimizer.add(params, failed=True)
        assert len(optimizer.models().feasibility.factors) > 1
        believed[rate] = optimizer.models().chance(X)
    assert believed[0.0][unlucky].max() < 0.3 and believed[0.1][unlucky].min() > 0.8
    by_law = margins < -0.05
    assert believed[0.1][by_law].mean() < 0.2


def test_measured_limits_stay_facts() -> None:
    from becbo import Limit

    outputs = [Objective("y"), Limit("heat", upper=0.55)]
    optimizer = Optimizer(LINE, outputs, seed=0, n_initial=9, failures=Failures(chance=0.1))
    for x in np.linspace(0, 1, 9):
        if abs(x - 0.25) < 0.01:
            optimizer.add({"x": x}, failed=True, measured={"heat": x})
        else:
            optimizer.add({"x": x}, {"y": x, "heat": x})
    assert 0.75 < chance(optimizer, 0.26) <= 0.9  # bad luck
    assert chance(optimizer, 0.65) < 0.05  # beyond the limit
    believed = optimizer.ask().believed
    assert believed.bad_luck == 0.1 and believed.p_feasible <= 0.9
    feasibility = optimizer.models().feasibility
    assert (feasibility.lapse, feasibility.optimism) == (0.1, 0.0)


def unlucky_line(reason=None):
    """Designs of a line that all work but one, and one that fails at the end."""
    designs = [(x, x != 0.5) for x in np.linspace(0.1, 0.9, 9).round(3)] + [(0.0, False)]
    return told(designs, Failures(chance=0.1), reason=reason)


@pytest.mark.parametrize("reason", [None, "gel", "gel, crack"])
def test_batches_and_a_rebuilt_optimizer_know_the_rate_too(reason) -> None:
    optimizer = unlucky_line(reason)
    rebuilt = Optimizer(LINE, seed=0, failures={"chance": 0.1}, trials=optimizer.trials)
    batch, again = optimizer.ask(3), rebuilt.ask(3)
    assert [t.params for t in batch] == [t.params for t in again]
    assert len({t.params["x"] for t in batch}) == 3
    assert all(t.believed.bad_luck == 0.1 and t.believed.p_feasible <= 0.9 for t in batch)
    after = optimizer.ask()  # with the batch pending
    assert after.params not in [t.params for t in batch]


def test_a_study_keeps_what_was_luck() -> None:
    import optuna

    from becbo.optuna import BECBOSampler
    from becbo.optuna.beliefs import proposal_of

    unit = {"x": optuna.distributions.FloatDistribution(0, 1)}
    sampler = BECBOSampler(space=unit, n_initial=3, seed=0, failures=Failures(chance=0.1))
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=5)
    believed = proposal_of(study.trials[-1]).believed
    assert believed.bad_luck == 0.1 and believed.p_feasible <= 0.9
