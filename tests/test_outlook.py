"""What more experiments may bring: forecasts, advice, and the rule that ends a run."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import (
    Advice,
    Failures,
    Infeasible,
    InvalidInput,
    Limit,
    Objective,
    Optimizer,
    Outlook,
    Real,
    Space,
    Stop,
    minimize,
)
from becbo.outlook import HORIZONS, is_due, typical_gain
from becbo.pareto import hypervolume

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])
SEEN = Outlook("cost", 3.0, 120, 40, 10.0, True, 0.05, 0.01, -1.0, 0.4)


def bowl(params: dict) -> float:
    if params["x"] + params["y"] > 1.2:
        raise Infeasible("beyond the edge")
    return (params["x"] - 0.7) ** 2 + (params["y"] - 0.6) ** 2


def told(n: int, scale: float = 1.0, shift: float = 0.0, outputs: str = "minimize") -> Optimizer:
    """n random experiments of the bowl, its values scaled and shifted."""
    rng = np.random.default_rng(1)
    optimizer = Optimizer(SPACE, outputs, seed=0)
    for x, y in rng.random((n, 2)).tolist():
        if x + y > 1.2:
            optimizer.add({"x": x, "y": y}, failed=True)
        else:
            optimizer.add({"x": x, "y": y}, scale * bowl({"x": x, "y": y}) + shift)
    return optimizer


# -- forecasts ---------------------------------------------------------------------------------


@given(
    odds=st.floats(1e-6, 1e3),
    gain=st.floats(1e-9, 1e9),
    spread=st.floats(0, 1e9),
    margin=st.floats(0, 1e9),
    left=st.floats(1e-9, math.inf),
)
def test_more_experiments_never_promise_less(odds, gain, spread, margin, left) -> None:
    seen = Outlook("cost", 0.0, 50, 10, spread, True, odds, gain, 1.0, 0.0, left)
    forecasts = [seen.after(k, margin) for k in range(1, 40)]
    chances = [f.p_better for f in forecasts]
    assert chances == sorted(chances) and 0 <= chances[0] and chances[-1] <= 1
    for values in ([f.expected for f in forecasts], [f.interval[1] for f in forecasts]):
        assert all(b >= a - 1e-9 * abs(a) for a, b in zip(values, values[1:], strict=False))
    for forecast in forecasts:
        low, high = forecast.interval
        assert 0 <= low <= forecast.expected <= high <= left


def test_a_gain_that_is_almost_certain_has_an_interval() -> None:
    seen = Outlook("elongation", 21.0, 12, 6, 2.5, True, 30.0, 5.0, 1.0, 0.0)
    low, high = seen.after(20).interval
    assert 21 < low < 21.9 < seen.after(20).expected < 22 < high
    assert 0 < seen.chance(20, high - 21) < 0.05  # the table does not contradict itself


@pytest.mark.parametrize("k", [0, -3, 2.5, "3", True])
@pytest.mark.parametrize("best", [3.0, None])
def test_a_number_of_experiments_that_cannot_be_used_is_refused(k, best) -> None:
    seen = replace(SEEN, best=best)
    with pytest.raises(InvalidInput, match="number of experiments"):
        seen.chance(k)
    with pytest.raises(InvalidInput, match="number of experiments"):
        seen.after(k)


@pytest.mark.parametrize("margin", [math.nan, math.inf, -1.0, "x", None])
def test_a_margin_that_cannot_be_used_is_refused(margin) -> None:
    for ask in (SEEN.chance, SEEN.after):
        with pytest.raises(InvalidInput, match="margin"):
            ask(3, margin)
    with pytest.raises(InvalidInput, match="margin"):
        SEEN.forecasts(margin)


@given(margins=st.lists(st.floats(0, 5), min_size=2, max_size=6))
def test_a_larger_margin_is_less_likely(margins) -> None:
    chances = [SEEN.chance(10, m) for m in sorted(margins)]
    assert chances == sorted(chances, reverse=True)


def test_expectation_and_interval_are_those_of_simulated_gains() -> None:
    rng, k = np.random.default_rng(0), 10
    seen = Outlook("cost", 3.0, 120, 40, 4.0, True, 0.15, 0.1, -1.0, 0.0)
    improved = rng.random(200_000) < seen.chance(k)
    sizes = np.minimum(np.exp(np.log(0.1 * np.sqrt(k)) + 0.7 * rng.standard_normal(200_000)), 1.6)
    best = 3.0 - np.where(improved, sizes, 0.0)
    forecast = seen.after(k, 0.2)
    assert forecast.expected == pytest.approx(best.mean(), abs=3e-3)
    assert forecast.interval == pytest.approx(tuple(np.quantile(best, [0.02, 0.9])), abs=2e-2)
    assert forecast.p_better == pytest.approx((best < 2.8).mean(), abs=5e-3)


@settings(max_examples=5, deadline=None)
@given(scale=st.sampled_from([1e-6, 0.1, 40.0, 1e5]), shift=st.sampled_from([0.0, -3.0, 1e3]))
def test_units_do_not_matter(scale, shift) -> None:
    plain, other = told(25).outlook, told(25, scale, shift * scale).outlook
    assert other.odds == pytest.approx(plain.odds, rel=1e-3)
    assert other.gain == pytest.approx(scale * plain.gain, rel=2e-2)
    assert other.spread == pytest.approx(scale * plain.spread, rel=1e-6)
    assert other.best == pytest.approx(scale * (plain.best + shift), rel=1e-9)


def test_maximising_is_the_mirror_image() -> None:
    small, large = told(25).outlook, told(25, -1.0, outputs="maximize").outlook
    for k in HORIZONS:
        a, b = small.after(k, 0.01), large.after(k, 0.01)
        assert b.expected == pytest.approx(-a.expected)
        assert b.interval == pytest.approx((-a.interval[1], -a.interval[0]))
        assert b.p_better == pytest.approx(a.p_better)


# -- histories ---------------------------------------------------------------------------------


def test_before_anything_is_known() -> None:
    seen = Optimizer(SPACE, seed=0).outlook
    assert seen.best is None and seen.n_done == 0 and seen.failure_cost == 0
    assert seen.after(5).expected is None and 0 < seen.chance(1) < seen.chance(20) < 1


def test_while_nothing_works_hope_fades() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    chances = []
    for x in np.linspace(0.01, 0.99, 12):
        optimizer.add({"x": float(x), "y": 0.5}, failed=True)
        chances.append(optimizer.outlook.chance(20))
    assert chances == sorted(chances, reverse=True)
    seen = optimizer.outlook
    assert seen.best is None and seen.failure_cost == 1.0 and seen.after(1).interval is None
    assert seen.sentence().startswith("Go on: nothing is acceptable")


@pytest.mark.parametrize("n", [1, 2, 5])
def test_when_everything_works(n: int) -> None:
    optimizer = Optimizer(SPACE, seed=0)
    for i in range(n):
        optimizer.add({"x": 0.1 + 0.1 * i, "y": 0.3}, 5.0)  # all the same
    seen = optimizer.outlook
    assert seen.best == 5.0 and seen.n_failed == 0
    json.dumps(seen.to_dict(), allow_nan=False)
    assert seen.after(20).expected <= 5.0


def test_pending_designs_are_among_the_next_experiments() -> None:
    optimizer = told(20)
    before = optimizer.outlook
    optimizer.ask(3)
    assert optimizer.outlook == before


def test_several_objectives_count_in_hypervolume() -> None:
    optimizer = Optimizer(SPACE, [Objective("a"), Objective("b", "maximize", reference=-2.0)])
    rng = np.random.default_rng(0)
    rows = []
    for x, y in rng.random((15, 2)).tolist():
        rows.append((x + y**2, x - y))
        optimizer.add({"x": x, "y": y}, {"a": rows[-1][0], "b": rows[-1][1]})
    seen = optimizer.outlook
    costs = np.array([(a, -b) for a, b in rows])
    worst = costs[:, 0].max() + 0.1 * np.ptp(costs[:, 0])
    assert seen.measure == "hypervolume"
    assert seen.best == pytest.approx(hypervolume(costs, np.array([worst, 2.0])))
    assert seen.after(20).expected > seen.best


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("n_objectives", [3, 4])
def test_many_objectives(n_objectives: int, noisy: bool) -> None:
    names = [f"o{i}" for i in range(n_objectives)]
    optimizer = Optimizer(SPACE, [Objective(name) for name in names], seed=0, noisy=noisy)
    for x, y in np.random.default_rng(0).random((12, 2)).tolist():
        values = [(x - i / 3) ** 2 + (y - 0.2 * i) ** 2 for i in range(n_objectives)]
        optimizer.add({"x": x, "y": y}, dict(zip(names, values, strict=True)))
    seen = optimizer.outlook
    assert seen.best > 0 and 0 < seen.chance(5) < 1


def test_designs_beyond_a_measured_limit_cost_as_failures_do() -> None:
    optimizer = Optimizer(SPACE, [Objective("cost"), Limit("heat", upper=1.0)], seed=0)
    for x, y in np.random.default_rng(0).random((12, 2)).tolist():
        optimizer.add({"x": x, "y": y}, {"cost": x * y + 1, "heat": x + y})
    seen = optimizer.outlook
    assert seen.n_failed == sum(t.values["heat"] > 1 for t in optimizer.trials)
    assert seen.best == optimizer.best.values["cost"]


def test_a_target_is_a_distance() -> None:
    optimizer = Optimizer(SPACE, Objective("ph", target=7.0), seed=0)
    for x, y in np.random.default_rng(0).random((12, 2)).tolist():
        optimizer.add({"x": x, "y": y}, 5 + 3 * x + y)
    seen = optimizer.outlook
    assert seen.best == pytest.approx(min(abs(t.value - 7) for t in optimizer.trials))
    assert seen.after(10).expected < seen.best and "target" in seen.measure


def near_a_target(nearest: float) -> Optimizer:
    optimizer = Optimizer(SPACE, Objective("ph", target=7.0), seed=0)
    for i, value in enumerate([4.0, 4.5, 5.0, 6.0, 6.5, 7.0 - nearest]):
        optimizer.add({"x": 0.2 * i, "y": 0.3 + 0.05 * i}, value)
    return optimizer


def test_no_more_is_gained_than_the_distance_from_the_target() -> None:
    seen = near_a_target(1e-4).outlook
    for forecast in seen.forecasts():
        assert 0 <= forecast.interval[0] <= forecast.expected <= forecast.interval[1] <= 1.01e-4
    assert 0 < seen.chance(10, 0.99e-4) and seen.chance(10, 1.01e-4) == 0
    assert seen.advice(Stop(margin=1e-3, at_least=5)) is Advice.GO_ON  # it has come lately
    assert replace(seen, recent=0.0).advice(Stop(margin=1e-3, at_least=5)) is Advice.STOP


def test_a_target_that_was_met_leaves_nothing_to_gain() -> None:
    seen = near_a_target(0.0).outlook
    assert seen.best == 0 and seen.chance(20) == 0
    assert seen.after(20).expected == 0 and seen.after(20).interval == (0, 0)


def with_an_outlier() -> Optimizer:
    """Noisy readings of a hill at 0.3, the best of which is far from it."""
    rng = np.random.default_rng(0)
    optimizer = Optimizer(Space([Real("x", 0, 1)]), "maximize", seed=0, noisy=True)
    for x in np.linspace(0, 0.9, 19).tolist():
        optimizer.add({"x": x}, 5 - 20 * (x - 0.3) ** 2 + 0.5 * float(rng.standard_normal()))
    optimizer.add({"x": 0.95}, 7.5)
    return optimizer


def test_the_outlook_of_noisy_values_begins_at_what_the_models_believe() -> None:
    optimizer = with_an_outlier()
    seen = optimizer.outlook
    assert optimizer.luckiest.value == 7.5 and optimizer.best.params["x"] < 0.6
    assert seen.best == pytest.approx(optimizer.predict(optimizer.best.params).mean)
    assert seen.best < 6


# -- advice ------------------------------------------------------------------------------------


def test_the_advice_follows_the_rule() -> None:
    assert SEEN.advice(Stop(margin=0.0)) is Advice.GO_ON
    assert SEEN.advice(Stop(margin=1.5)) is Advice.STOP
    assert SEEN.advice(Stop(margin=1.5, at_least=121)) is Advice.GO_ON
    assert SEEN.sentence(Stop(margin=1.5)) == (
        "Stop: the chance that the next 10 experiments improve the best cost by more than 1.5 "
        "is under 1 %."
    )


def test_gains_have_the_unit_of_the_objective() -> None:
    seen = replace(SEEN, best=30000.0, unit="EUR")
    assert seen.margin_text(Stop(margin=1500)) == "1500 EUR"
    assert seen.margin_text(Stop()) == "0.003 EUR"
    assert "improve the best cost by more than 1500 EUR is" in seen.sentence(Stop(margin=1500))
    assert seen.to_dict()["unit"] == "EUR"


def test_a_gain_that_came_lately_is_a_reason_to_go_on() -> None:
    assert SEEN.chance(10, 0.3) < 0.01
    assert SEEN.advice(Stop(margin=0.3)) is Advice.GO_ON
    assert SEEN.sentence(Stop(margin=0.3)) == (
        "Go on: the last 10 experiments improved the best cost by more than 0.3."
    )
    assert SEEN.advice(Stop(margin=0.4)) is Advice.STOP


def test_sentences_read_well() -> None:
    early = replace(SEEN, n_done=12)
    assert early.sentence() == (
        "Go on: 12 experiments so far, and the advice to stop begins after 110, or after 30 with "
        "a margin of your own."
    )
    assert early.sentence(Stop(margin=1.0)) == (
        "Go on: 12 experiments so far, and the advice to stop begins after 30."
    )
    flat = replace(SEEN, spread=0.0, recent=0.0)
    assert flat.sentence() == (
        "Stop: the chance that the next 10 experiments improve the best cost is 33 %."
    )
    assert replace(flat, recent=1.0).sentence() == (
        "Go on: the last 10 experiments improved the best cost."
    )
    assert replace(flat, confirmed=False).sentence() == (
        "Repeat the best design: it was measured only once, and the chance that the next 10 "
        "experiments improve the best cost is 33 %."
    )
    nothing = replace(SEEN, best=None, n_done=1, odds=0.5)
    assert nothing.sentence() == (
        "Go on: nothing is acceptable after 1 experiment; the chance that something is among the "
        "next 10 is 83 %."
    )


def test_the_last_ten_experiments_count_as_lately() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    for i, y in enumerate([3.0, 2.0, 1.5] + 9 * [1.5]):
        optimizer.add({"x": 0.05 * i, "y": 0.3}, y)
    assert optimizer.outlook.recent == pytest.approx(0.5)
    optimizer.add({"x": 0.9, "y": 0.3}, failed=True)
    assert optimizer.outlook.recent == 0


def test_without_a_margin_a_stop_needs_only_a_gain_less_likely_than_not() -> None:
    assert Stop().unlikely == 0.5 and Stop(margin=1.0).unlikely == 0.15
    assert Stop(chance=0.3).unlikely == Stop(margin=1.0, chance=0.3).unlikely == 0.3


@pytest.mark.parametrize("promised", [1.0, 1e3, 1e30])
def test_models_that_promise_more_than_came_are_not_believed(promised) -> None:
    assert typical_gain(np.array([8.0, 2.0, 1.0]), promised) <= 16 ** (1 / 3) + 1e-12


def test_models_that_promise_less_than_came_lower_the_gain() -> None:
    gains = [typical_gain(np.array([2.0, 1.0]), promised) for promised in (0.0, 0.01, 0.1, 1.0)]
    assert gains == sorted(gains) and gains[0] > 0


def test_a_noisy_best_is_confirmed_before_the_end() -> None:
    rule = Stop(margin=1e6, at_least=5)
    optimizer = Optimizer(SPACE, seed=0, noisy=True)
    for x, y in np.random.default_rng(0).random((8, 2)).tolist():
        optimizer.add({"x": x, "y": y}, x + y)
    assert optimizer.outlook.advice(rule) is Advice.CONFIRM
    optimizer.add(optimizer.best.params, optimizer.best.value + 0.01)
    assert optimizer.outlook.advice(rule) is Advice.STOP


def test_repeats_of_the_best_believed_design_confirm_it_and_failures_do_not() -> None:
    rule = Stop(margin=1e6, at_least=5)
    optimizer = with_an_outlier()
    assert optimizer.outlook.advice(rule) is Advice.CONFIRM
    optimizer.add(optimizer.best.params, failed=True)
    assert optimizer.outlook.advice(rule) is Advice.CONFIRM
    optimizer.add(optimizer.luckiest.params, 0.0)
    assert optimizer.outlook.advice(rule) is Advice.CONFIRM
    optimizer.add(optimizer.best.params, optimizer.best.value)
    assert optimizer.outlook.advice(rule) is Advice.STOP


def test_a_repeat_is_no_improvement_of_what_is_believed() -> None:
    optimizer = with_an_outlier()
    for _ in range(10):
        optimizer.add(optimizer.best.params, optimizer.best.value)
    assert optimizer.outlook.recent == 0


def test_an_outlook_is_due_after_every_fifth_experiment() -> None:
    assert [n for n in range(1, 17) if is_due(n)] == [5, 10, 15]


def test_an_exhausted_space_promises_nothing() -> None:
    space = Space([Real("x", 0, 1, step=0.5)])
    optimizer = Optimizer(space, seed=0)
    for x in (0.0, 0.5, 1.0):
        optimizer.add({"x": x}, x)
    seen = optimizer.outlook
    assert seen.chance(20) == 0 and seen.after(20).expected == seen.best


@pytest.mark.parametrize("n", [1, 3])
def test_a_spent_budget_of_failures_promises_nothing(n: int) -> None:
    """Only repeats are proposed, whatever the last experiments brought."""
    optimizer = Optimizer(SPACE, seed=0, failures=Failures(chance=0, budget=2))
    for y in (0.8, 0.9):
        optimizer.add({"x": 0.9, "y": y}, failed=True)
    for x in range(n):
        optimizer.add({"x": 0.1 * x, "y": 0.5}, -x)
    seen = optimizer.outlook
    assert (seen.odds, seen.chance(10)) == (0.0, 0.0)
    assert seen.advice(Stop(margin=0.1, at_least=2)) is Advice.STOP
    assert seen.sentence(Stop(margin=0.1, at_least=2)) == (
        "Stop: nothing new can be tried, so the chance that the next 10 experiments improve the "
        "best value by more than 0.1 is 0 %."
    )
    assert seen.advice() is seen.advice(Stop(margin=0.1)) is Advice.STOP  # nobody has to wait


def test_a_run_of_noisy_values_ends_when_only_repeats_are_left() -> None:
    rng = np.random.default_rng(0)
    result = minimize(
        lambda params: bowl(params) + 0.01 * rng.standard_normal(),
        SPACE,
        budget=60,
        seed=0,
        noisy=True,
        failures=Failures(budget=5),
        stop=True,
    )
    n_repeats = sum(trial.origin == "repeat" for trial in result.trials)
    assert result.n_failed == 5 and 1 <= n_repeats <= 5 and len(result.trials) < 60


def test_where_failures_may_be_bad_luck_failed_designs_are_left_to_try() -> None:
    space = Space([Real("x", 0, 1, step=0.5)])
    optimizer = Optimizer(space, seed=0, n_initial=1, failures=Failures(chance=0.4))
    optimizer.add({"x": 0.5}, 0.5)
    optimizer.add({"x": 1.0}, 1.0)
    optimizer.add({"x": 0.0}, failed=True)
    assert optimizer.outlook.chance(10) > 0
    assert optimizer.ask().origin == "repeat of a failure"


def test_failures_cost_their_price_and_broken_limits_only_the_experiment() -> None:
    outputs = [Objective("cost"), Limit("heat", upper=1.0)]
    optimizer = Optimizer(SPACE, outputs, seed=0, failures=Failures(price=3))
    for x in (0.1, 0.2):
        optimizer.add({"x": x, "y": 0.5}, failed=True)
    assert optimizer.outlook.failure_cost == 1.0
    optimizer.add({"x": 0.3, "y": 0.5}, {"cost": 1.0, "heat": 0.5})
    optimizer.add({"x": 0.4, "y": 0.5}, {"cost": 1.0, "heat": 2.0})
    seen = optimizer.outlook
    assert (seen.n_failed, seen.surcharge) == (3, 6.0)
    assert seen.failure_cost == pytest.approx(9 / 10)


@pytest.mark.parametrize(
    "spec",
    [False, np.False_, np.True_, None, "soon", -1.0, float("nan"), float("inf"), [], object()],
)
def test_what_is_no_rule_is_refused(spec) -> None:
    with pytest.raises(InvalidInput):
        Stop.of(spec)


@pytest.mark.parametrize(
    "bad", [{"chance": 0.0}, {"chance": 1.0}, {"within": 0}, {"at_least": 0}, {"margin": "a"}]
)
def test_a_rule_that_cannot_be_used_is_refused(bad) -> None:
    with pytest.raises(InvalidInput):
        Stop(**bad)


@pytest.mark.parametrize("spec", [True, "advised", 0.5, "0.5", Stop(margin=0.5)])
def test_rules_as_users_write_them(spec) -> None:
    assert Stop.of(spec).margin in (None, 0.5)


def test_minimize_ends_when_only_a_repeat_is_advised() -> None:
    rule = Stop(margin=10.0, at_least=15)
    result = minimize(bowl, SPACE, budget=60, seed=0, stop=rule, noisy=True)
    assert len(result.trials) == 15 and result.message.startswith("Repeat the best design: ")


def test_minimize_ends_when_advised() -> None:
    rule = Stop(margin=10.0, at_least=15)
    result = minimize(bowl, SPACE, budget=60, seed=0, stop=rule)
    assert len(result.trials) == 15 and result.message.startswith("Stop: ")
    assert not result.interrupted and result.best is not None
    on = minimize(bowl, SPACE, budget=15, seed=0)
    assert [t.params for t in on.trials] == [t.params for t in result.trials]
    with pytest.raises(InvalidInput, match="soon"):
        minimize(bowl, SPACE, budget=20, stop="soon")
