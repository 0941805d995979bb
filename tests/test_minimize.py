"""`minimize`: what counts as a failure, what comes out, and when it ends."""

import math
import re
from decimal import Decimal

import numpy as np
import pytest

import becbo
from becbo import (
    BecboError,
    Categorical,
    Infeasible,
    Integer,
    InvalidInput,
    Limit,
    LinearConstraint,
    MinimizeResult,
    Objective,
    Optimizer,
    Outcome,
    Real,
    Space,
)

SPACE = Space([Real("x", -2, 2), Real("y", -2, 2)])


class SimulationError(Exception):
    """What a simulation might raise."""


def bowl(params: dict) -> float:
    """Fails right of x = 0.5, where the bowl goes on falling."""
    if params["x"] > 0.5:
        raise Infeasible("too far right")
    return (params["x"] - 1) ** 2 + params["y"] ** 2


def test_the_optimum_at_the_edge_is_found() -> None:
    result = becbo.minimize(bowl, SPACE, budget=35, seed=0)
    assert result.best is not None and 0.25 <= result.best.value < 0.30
    assert len(result.trials) == 35 and result.n_failed > 0
    assert (result.message, result.interrupted) == ("budget of 35 used", False)
    assert result.best == min((t for t in result.trials if t.is_feasible), key=lambda t: t.value)


def test_same_seed_same_run() -> None:
    one, two, other = (becbo.minimize(bowl, SPACE, budget=13, seed=s) for s in (7, 7, 8))
    assert one == two and one != other


def fail_by(what):
    """A function that fails right of zero in the given way."""

    def fun(params: dict):
        if params["x"] <= 0:
            return params["y"]
        if isinstance(what, BaseException):
            raise what
        return what

    return fun


@pytest.mark.parametrize(
    "what, reason",
    [
        (Infeasible("melted"), "melted"),
        (Infeasible(), "failed"),
        (None, "returned None"),
        (math.nan, "returned nan"),
        (np.float64("nan"), "returned nan"),
        (np.array(np.nan), "returned nan"),
        (Decimal("NaN"), "returned NaN"),
        (math.inf, "returned inf"),
        (-math.inf, "returned -inf"),
        (SimulationError("no mesh"), "SimulationError: no mesh"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
        (SimulationError('no "mesh", stopped'), "SimulationError: \"no 'mesh', stopped\""),
    ],
    ids=repr,
)
def test_every_way_to_fail_is_a_failure(what, reason: str) -> None:
    result = becbo.minimize(
        fail_by(what), SPACE, budget=8, seed=0, catch=(SimulationError, ArithmeticError)
    )
    failed = [t for t in result.trials if t.params["x"] > 0]
    assert failed and len(failed) == result.n_failed < 8
    assert {(t.outcome, t.reason) for t in failed} == {(Outcome.FAILED, reason)}


def test_what_is_pending_in_a_history_runs_first() -> None:
    asked = Optimizer(SPACE, seed=0)
    pending = [t.params for t in asked.ask(3)]
    result = becbo.minimize(lambda p: p["x"], SPACE, budget=5, seed=0, trials=asked.trials)
    assert [t.outcome for t in result.trials] == [Outcome.OK] * 5
    assert [t.params for t in result.trials[:3]] == pending


@pytest.mark.parametrize(
    "what",
    [SimulationError("a bug"), TypeError("a bug"), StopIteration("a bug"), SystemExit(2)],
)
def test_any_other_exception_comes_out(what) -> None:
    with pytest.raises(type(what)):
        becbo.minimize(fail_by(what), SPACE, budget=8, seed=0, catch=(ZeroDivisionError,))


@pytest.mark.parametrize("what", ["3", [1.0], 1j])
def test_a_value_that_is_no_number_comes_out_as_an_error(what) -> None:
    with pytest.raises(InvalidInput, match="it must return a number, or None"):
        becbo.minimize(fail_by(what), SPACE, budget=8, seed=0)


@pytest.mark.parametrize("n_before", [0, 5, 12])
def test_an_interrupt_returns_what_was_found(n_before: int) -> None:
    calls = []

    def fun(params: dict) -> float:
        if len(calls) == n_before:
            raise KeyboardInterrupt
        calls.append(params)
        return params["x"]

    result = becbo.minimize(fun, SPACE, budget=50, seed=0)
    assert result.interrupted and result.message == "interrupted"
    assert [t.params for t in result.trials] == calls
    assert all(t.outcome is Outcome.OK for t in result.trials)
    if n_before:
        assert result.best is not None and result.best.value == min(p["x"] for p in calls)
    else:
        assert result.best is None


def test_an_interrupt_in_a_callback_keeps_the_evaluation() -> None:
    def stop(optimizer, trial) -> None:
        if trial.number == 3:
            raise KeyboardInterrupt

    result = becbo.minimize(bowl, SPACE, budget=50, seed=0, callbacks=[stop])
    assert result.interrupted and len(result.trials) == 4


def test_callbacks_are_called_in_order_after_each_evaluation() -> None:
    log: list[tuple] = []

    def fun(params: dict) -> float | None:
        log.append(("fun", params["x"]))
        return None if params["x"] > 0 else params["x"]

    def note(name: str):
        def callback(optimizer, trial) -> None:
            assert optimizer.trials[-1] == trial and trial.outcome is not Outcome.PENDING
            log.append((name, trial.params["x"]))

        return callback

    result = becbo.minimize(fun, SPACE, budget=4, seed=0, callbacks=[note("a"), note("b")])
    want = [(name, t.params["x"]) for t in result.trials for name in ("fun", "a", "b")]
    assert log == want


def test_the_function_may_change_its_argument() -> None:
    def fun(params: dict) -> float:
        return params.pop("x") + params.pop("y")

    result = becbo.minimize(fun, SPACE, budget=3, seed=0)
    assert all(set(t.params) == {"x", "y"} for t in result.trials)


def test_progress_shows_the_state(capsys: pytest.CaptureFixture[str]) -> None:
    result = becbo.minimize(bowl, SPACE, budget=5, seed=0, progress=True)
    shown = capsys.readouterr().out
    assert "5/5" in shown and f"{result.n_failed} failed" in shown
    assert result == becbo.minimize(bowl, SPACE, budget=5, seed=0)
    assert capsys.readouterr().out == ""


def test_progress_works_while_nothing_has_worked(capsys: pytest.CaptureFixture[str]) -> None:
    becbo.minimize(lambda params: None, SPACE, budget=3, seed=0, progress=True)
    assert "nothing acceptable yet" in capsys.readouterr().out


def test_progress_ends_when_an_exception_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TypeError):
        becbo.minimize(fail_by(TypeError()), SPACE, budget=8, seed=0, progress=True)
    becbo.minimize(bowl, SPACE, budget=1, progress=True)  # rich allows one live display at a time
    assert "1/1" in capsys.readouterr().out


GRID = Space([Integer("a", 0, 2), Categorical("b", "xy")])


@pytest.mark.parametrize(
    "space, n",
    [
        (GRID, 6),
        (Space(GRID.parameters, [lambda p: p["b"] == "x"]), 3),
        (Space([Integer("a", 0, 20)], [LinearConstraint({"a": 1}, upper=7)]), 8),
    ],
)
def test_an_exhausted_space_ends_the_run(space: Space, n: int) -> None:
    result = becbo.minimize(lambda params: float(params["a"]), space, budget=50, seed=0)
    assert len({str(t.params) for t in result.trials}) == len(result.trials) == n
    assert result.message.startswith("the space is exhausted")
    assert result.best is not None and result.best.value == 0.0 and not result.interrupted


def test_noisy_experiments_go_on_repeating() -> None:
    result = becbo.minimize(lambda p: float(p["a"]), GRID, budget=9, seed=0, noisy=True)
    assert len(result.trials) == 9


@pytest.mark.parametrize("budget", [0, -1, 2.5, "3", None, True])
def test_a_bad_budget_is_refused(budget) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"budget {budget!r} must be")):
        becbo.minimize(bowl, SPACE, budget=budget)


def test_settings_reach_the_optimizer() -> None:
    seen = []
    becbo.minimize(
        bowl,
        SPACE,
        budget=np.int64(2),
        method="be-cbo",
        seed=11,
        n_initial=7,
        noisy=True,
        callbacks=[lambda optimizer, trial: seen.append(optimizer)],
    )
    settings = seen[0].settings
    assert (settings.seed, settings.n_initial, settings.noisy) == (11, 7, True)
    assert seen[0].outputs.objectives[0].direction == "minimize"
    with pytest.raises(InvalidInput, match="method 'nope'"):
        becbo.minimize(bowl, SPACE, method="nope")


def test_everything_may_fail() -> None:
    result = becbo.minimize(lambda params: None, SPACE, budget=14, seed=0)
    assert result.best is None and result.n_failed == 14


def test_constraints_that_leave_nothing_come_out() -> None:
    with pytest.raises(BecboError, match="known constraints"):
        becbo.minimize(bowl, Space(SPACE.parameters, [lambda p: False]), budget=3)


def test_a_run_continues_from_a_history() -> None:
    whole = becbo.minimize(lambda p: p["x"] ** 2, SPACE, budget=14, seed=0)
    first = becbo.minimize(lambda p: p["x"] ** 2, SPACE, budget=12, seed=0)
    rest = becbo.minimize(lambda p: p["x"] ** 2, SPACE, budget=14, seed=0, trials=first.trials)
    assert rest.trials == whole.trials


def test_lost_trials_of_a_history_count_for_nothing() -> None:
    optimizer = becbo.Optimizer(SPACE, seed=0)
    first, second, third = optimizer.ask(3)
    optimizer.tell(first, 3.0)
    optimizer.lose(second)
    optimizer.tell(third, 2.0)
    result = becbo.minimize(lambda p: 9.0, SPACE, budget=4, seed=0, trials=optimizer.trials)
    assert [t.number for t in result.trials] == [0, 1, 2, 3]
    assert result.best is not None and result.best == result.trials[1]
    again = becbo.minimize(lambda p: 9.0, SPACE, budget=5, seed=0, trials=result.trials)
    assert again.trials[:4] == result.trials


def test_an_uncaught_exception_says_what_to_do() -> None:
    def fun(params: dict) -> float:
        raise ZeroDivisionError("1 / 0")

    with pytest.raises(ZeroDivisionError) as caught:
        becbo.minimize(fun, SPACE, budget=3, seed=0)
    assert "name the exception in catch=" in caught.value.__notes__[0]


@pytest.mark.parametrize("error", [ZeroDivisionError("1 / 0"), SystemExit(3)])
def test_an_exception_loses_nothing(error: BaseException) -> None:
    calls = []

    def fun(params: dict) -> float:
        calls.append(params)
        if len(calls) == 13:
            raise error
        return params["x"] ** 2

    with pytest.raises(type(error)) as caught:
        becbo.minimize(fun, SPACE, budget=14, seed=0)
    done = caught.value.becbo_trials  # type: ignore[attr-defined]
    assert len(done) == 12
    rest = becbo.minimize(fun, SPACE, budget=14, seed=0, trials=done)
    whole = becbo.minimize(lambda p: p["x"] ** 2, SPACE, budget=14, seed=0)
    assert rest.trials == whole.trials


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"fun": 3}, "fun 3 must be a function"),
        ({"catch": [ValueError]}, "must be a tuple of exceptions"),
        ({"catch": (3,)}, "must be a tuple of exceptions"),
        ({"callbacks": print}, "must be a list of functions"),
        ({"fun": lambda p: "high"}, "the function returned 'high' for"),
        ({"fun": lambda p: [1.0, 2.0]}, "it must return a number, or None"),
    ],
)
def test_what_cannot_be_called_is_refused(wrong: dict, message: str) -> None:
    with pytest.raises(becbo.InvalidInput, match=message):
        becbo.minimize(**{"fun": lambda p: 0.0, "space": SPACE, "budget": 3, "seed": 0} | wrong)


def test_methods_that_plan_ahead_learn_the_budget() -> None:
    origins = [
        t.origin
        for t in becbo.minimize(
            lambda p: abs(p["x"]), SPACE, budget=16, seed=0, method="svm-cbo"
        ).trials
    ]
    assert origins[-1] == "phase 2"


# -- several outputs ---------------------------------------------------------------------------

COST, POWER, HEAT = Objective("cost"), Objective("power", "maximize"), Limit("heat", upper=2.0)


def plant(params: dict) -> dict:
    """Cheap on the left, strong on the right, too hot right of 0.5; leaks at the top."""
    if params["y"] > 1.5:
        raise Infeasible("leaked", measured={"heat": 4 * params["x"]})
    power = params["x"] - (params["y"] - 0.3) ** 2
    return {"cost": params["x"], "power": power, "heat": 4 * params["x"]}


def test_a_function_may_return_a_mapping() -> None:
    result = becbo.minimize(plant, SPACE, budget=16, outputs=[COST, POWER, HEAT], seed=0)
    assert isinstance(result, MinimizeResult) and len(result.trials) == 16
    assert [o.name for o in result.outputs.objectives] == ["cost", "power"]
    for trial in result.trials:
        assert trial.values["heat"] == 4 * trial.params["x"]
        assert (trial.values["cost"] is None) == (trial.outcome is Outcome.FAILED)
    acceptable = [t for t in result.trials if t.is_feasible and t.values["heat"] <= 2]
    front = [
        t
        for t in acceptable
        if not any(
            o.values["cost"] <= t.values["cost"]
            and o.values["power"] >= t.values["power"]
            and o.values != t.values
            for o in acceptable
        )
    ]
    assert list(result.front) == front and len(front) > 1


def test_a_single_output_may_have_its_name() -> None:
    plain = becbo.minimize(lambda p: p["x"] ** 2, SPACE, budget=12, seed=0)
    named = becbo.minimize(lambda p: {"cost": p["x"] ** 2}, SPACE, 12, outputs=COST, seed=0)
    assert [t.params for t in named.trials] == [t.params for t in plain.trials]
    assert named.best is not None and plain.best is not None
    assert named.best.values == {"cost": plain.best.value} and named.best.value == plain.best.value


@pytest.mark.parametrize("n", [3, 14])
def test_maximising_is_minimising_the_negative(n: int) -> None:
    up = becbo.minimize(lambda p: -bowl(p), SPACE, budget=n, seed=0, outputs="maximize")
    down = becbo.minimize(bowl, SPACE, budget=n, seed=0)
    assert [t.params for t in up.trials] == [t.params for t in down.trials]
    assert up.best is None or up.best.params == down.best.params


@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf, None, np.float64("nan")])
def test_in_a_mapping_what_is_no_number_was_not_measured(nothing) -> None:
    def fun(params: dict) -> dict:
        return {"cost": params["x"], "heat": nothing}

    result = becbo.minimize(fun, SPACE, budget=4, outputs=[COST, HEAT], seed=0)
    assert {t.values["heat"] for t in result.trials} == {None}
    assert result.n_failed == 0 and result.best is not None


@pytest.mark.parametrize(
    "returned, reason",
    [
        (None, "returned None"),
        ({}, "returned no finite number"),
        ({"cost": None, "heat": None}, "returned no finite number"),
        ({"cost": math.nan, "power": math.inf, "heat": None}, "returned no finite number"),
    ],
)
def test_without_a_single_number_it_failed(returned, reason: str) -> None:
    result = becbo.minimize(lambda p: returned, SPACE, 3, outputs=[COST, POWER, HEAT], seed=0)
    assert result.n_failed == 3 and result.front == ()
    assert {t.reason for t in result.trials} == {reason}
    assert all(len(t.result.reasons.names) == 1 for t in result.trials)  # one reason, no list


def test_what_an_infeasible_experiment_measured_is_kept() -> None:
    def fun(params: dict) -> dict:
        raise Infeasible("gel", measured={"heat": 3.0, "cost": math.nan, "power": None})

    result = becbo.minimize(fun, SPACE, budget=2, outputs=[COST, POWER, HEAT], seed=0)
    for trial in result.trials:
        assert (trial.outcome, trial.reason) == (Outcome.FAILED, "gel")
        assert trial.values == {"cost": None, "power": None, "heat": 3.0}


@pytest.mark.parametrize(
    "outputs, returned, message",
    [
        ([COST, HEAT], 3.0, "it must return a dict of cost, heat, or None"),
        ([COST, HEAT], {"price": 3.0}, "it must return a dict of cost, heat"),
        ([COST, HEAT], {"cost": 1.0, "price": math.nan}, "it must return a dict of cost, heat"),
        ([COST, HEAT], {"price": math.nan}, "it must return a dict of cost, heat"),
        ([COST, HEAT], {"price": None}, "it must return a dict of cost, heat"),
        ([COST, HEAT], {"cost": "3"}, "the function returned {'cost': '3'} for"),
        (COST, {"price": 1.0}, "it must return a number, or None"),
    ],
)
def test_what_is_no_result_comes_out_as_an_error(outputs, returned, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        becbo.minimize(lambda p: returned, SPACE, budget=3, outputs=outputs, seed=0)


def test_an_unknown_measurement_comes_out_as_an_error() -> None:
    def fun(params: dict) -> dict:
        raise Infeasible("gel", measured={"haet": 3.0})

    with pytest.raises(InvalidInput, match="output 'haet' does not exist; there are cost, heat"):
        becbo.minimize(fun, SPACE, budget=3, outputs=[COST, HEAT], seed=0)


def test_there_is_no_best_of_several_objectives() -> None:
    for budget in (1, 4):  # however many are on the front
        result = becbo.minimize(plant, SPACE, budget, outputs=[COST, POWER, HEAT], seed=0)
        with pytest.raises(InvalidInput, match=r"no best of several objectives \(cost, power\)"):
            _ = result.best
    one = becbo.minimize(lambda p: {"cost": p["x"]}, SPACE, 4, outputs=[COST, HEAT], seed=0)
    assert one.best == one.front[0] and len(one.front) == 1


def test_a_run_with_several_outputs_continues() -> None:
    settings = {"outputs": [COST, POWER, HEAT], "seed": 0, "n_initial": 5}
    whole = becbo.minimize(plant, SPACE, 9, **settings)
    first = becbo.minimize(plant, SPACE, 6, **settings)
    assert becbo.minimize(plant, SPACE, 9, trials=first.trials, **settings) == whole


def test_methods_that_cannot_refuse_before_the_first_experiment() -> None:
    def fun(params: dict) -> float:
        raise AssertionError("not to be called")

    with pytest.raises(InvalidInput, match="method 'scbo' takes one objective .* these can: edge"):
        becbo.minimize(fun, SPACE, 5, outputs=[COST, POWER], method="scbo")


def test_progress_shows_the_front(capsys: pytest.CaptureFixture[str]) -> None:
    result = becbo.minimize(plant, SPACE, 5, outputs=[COST, POWER, HEAT], seed=0, progress=True)
    assert f"front of {len(result.front)}" in capsys.readouterr().out
    best = becbo.minimize(
        lambda p: {"cost": 1.5, "heat": 0.0}, SPACE, 2, outputs=[COST, HEAT], progress=True
    ).best
    assert best is not None and "best 1.5" in capsys.readouterr().out


def test_a_result_can_be_printed() -> None:
    def fun(params: dict[str, float]) -> float | None:
        return params["x"] if params["x"] < 0.5 else None

    line = Space([Real("x", 0, 1)])
    result = becbo.minimize(fun, line, budget=4, seed=0)
    assert result.best is not None
    n_failed = sum(trial.params["x"] >= 0.5 for trial in result.trials)
    assert str(result) == (
        f"best value: {result.best.value:.6g} at {result.best.params}\n"
        f"4 trials, {n_failed} failed; budget of 4 used"
    )
    nothing = becbo.minimize(lambda params: None, line, budget=2, seed=0)
    assert str(nothing) == "nothing is acceptable\n2 trials, 2 failed; budget of 2 used"
    both = [Objective("a"), Objective("b", "maximize")]
    several = becbo.minimize(
        lambda p: {"a": p["x"], "b": 1.0}, line, budget=3, seed=0, outputs=both
    )
    assert str(several) == "front of 1 trial in a, b\n3 trials, 0 failed; budget of 3 used"
