"""The optimizer: bookkeeping, errors that change nothing, and what it remembers."""

import json
import math
import pickle
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pytest
from scipy.special import ndtr

from becbo import (
    Categorical,
    Failures,
    Infeasible,
    Integer,
    InvalidInput,
    Objective,
    Optimizer,
    Outcome,
    Prediction,
    Real,
    Settings,
    Space,
    Trial,
)
from becbo.methods import build
from becbo.optimizer import INITIAL
from becbo.problems import get
from becbo.proposers.base import Proposer
from becbo.trial import Result

SPACE = Space([Real("x", 0, 1), Integer("n", 1, 5)])
GOOD = {"x": 0.5, "n": 2}


def started(n_told: int = 3, **settings) -> Optimizer:
    """An optimizer with some answers: value, failure, lost, pending in turn."""
    optimizer = Optimizer(SPACE, seed=0, **settings)
    for i in range(n_told):
        optimizer.tell(optimizer.ask(), float(i))
    optimizer.fail(optimizer.ask(), "melted")
    optimizer.lose(optimizer.ask(), "power cut")
    optimizer.ask()
    return optimizer


# -- errors: named, and without effect ---------------------------------------------------------

VALUES = [
    (math.nan, "value nan is not finite; use fail(trial)"),
    (math.inf, "value inf is not finite; use fail(trial)"),
    (-math.inf, "value -inf is not finite"),
    (np.float64("nan"), "value np.float64(nan) is not finite"),
    ("3.2", "value '3.2' is not a number; use fail(trial)"),
    (b"3", "value b'3' is not a number"),
    (None, "value None is not a number"),
    (True, "value True is not a number"),
    (np.False_, "value np.False_ is not a number"),
    ([1.0], "value [1.0] is not a number"),
    (np.array([1.0, 2.0]), "value array([1., 2.]) is not a number"),
    (1j, "value 1j is not a number"),
    (10**400, "is not a number"),
]
BAD_CALLS = {
    **{f"tell {v!r:.20}": (lambda o, v=v: o.tell(5, v), m) for v, m in VALUES},
    **{f"add {v!r:.20}": (lambda o, v=v: o.add(GOOD, v), m) for v, m in VALUES if v is not None},
    "tell unknown number": (lambda o: o.tell(6, 1.0), "trial 6 is unknown: there are 6 trials"),
    "tell negative number": (lambda o: o.tell(-1, 1.0), "trial -1 is unknown"),
    "tell no trial": (lambda o: o.tell("a", 1.0), "trial 'a' is unknown"),
    "fail no trial": (lambda o: o.fail(None), "trial None is unknown"),
    "lose no trial": (lambda o: o.lose(1.0), "trial 1.0 is unknown"),
    "tell twice": (lambda o: o.tell(0, 9.0), "trial 0 is finished already: ok"),
    "fail after tell": (lambda o: o.fail(0), "trial 0 is finished already: ok"),
    "lose after tell": (lambda o: o.lose(0), "trial 0 is finished already: ok"),
    "tell after fail": (lambda o: o.tell(3, 1.0), "trial 3 is finished already: failed"),
    "tell a stranger": (
        lambda o: o.tell(Trial(5, GOOD), 1.0),
        "not {'x': 0.5, 'n': 2}",
    ),
    "add without outcome": (lambda o: o.add(GOOD), "add(value=None, failed=False): give either"),
    "add with no reason": (lambda o: o.add(GOOD, failed=""), "give either a value or failed=True"),
    "add with both": (lambda o: o.add(GOOD, 1.0, failed=True), "give either a value or failed"),
    "fail for a list": (lambda o: o.fail(5, ["hot", "thin"]), "reason ['hot', 'thin'] must be a"),
    "lose for a number": (lambda o: o.lose(5, 7), "reason 7 must be a string; separate reasons"),
    "add for a list": (lambda o: o.add(GOOD, failed=["hot"]), "reason ['hot'] must be a string"),
    "add for a number": (lambda o: o.add(GOOD, failed=1), "reason 1 must be a string"),
    "add outside": (lambda o: o.add({"x": 2, "n": 1}, 1.0), "x = 2 is outside 0 .. 1"),
    "add incomplete": (lambda o: o.add({"x": 1}, failed=True), "params have missing ['n']"),
    "add nothing": (lambda o: o.add(None, 1.0), "params must be a dict"),
    "predict outside": (lambda o: o.predict({"x": 0, "n": 9}), "n = 9 is outside"),
    "predict one of many": (lambda o: o.predict([GOOD, {"x": 1}]), "params have missing ['n']"),
    "ask none": (lambda o: o.ask(0), "number of experiments 0 must be a whole number"),
    "ask negative": (lambda o: o.ask(-2), "number of experiments -2 must be"),
    "ask a half": (lambda o: o.ask(0.5), "number of experiments 0.5 must be a whole number"),
    "ask a word": (lambda o: o.ask("2"), "number of experiments '2' must be"),
    "ask True": (lambda o: o.ask(True), "number of experiments True must be"),
}


@pytest.mark.parametrize("call, message", BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_refused_call_names_the_problem_and_changes_nothing(call, message: str) -> None:
    optimizer = started()
    before, want = optimizer.trials, started().ask()
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call(optimizer)
    assert optimizer.trials == before
    assert optimizer.ask() == want


def trial(number: int = 0, params=GOOD, outcome=Outcome.PENDING, **values) -> Trial:
    return Trial(number, params, Result(outcome, values))


BAD_SETTINGS = {
    "space": ({"space": [Real("x", 0, 1)]}, "space must be a becbo.Space"),
    "direction": ({"outputs": "max"}, "direction 'max' of 'value' must be 'minimize' or 'max"),
    "no outputs": ({"outputs": None}, "output None must be an Objective, a Limit or Recorded"),
    "method": ({"method": "egde"}, "method 'egde' does not exist; choose one of edge, be-cbo"),
    "no method": ({"method": None}, "method None is neither a name nor a becbo Proposer"),
    "no initial": ({"n_initial": 0}, "n_initial 0 must be a whole number of at least 1"),
    "half initial": ({"n_initial": 2.5}, "n_initial 2.5 must be a whole number"),
    "negative seed": ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
    "named seed": ({"seed": "a"}, "seed 'a' must be a whole number"),
    "dict": ({"trials": [GOOD]}, "{'x': 0.5, 'n': 2} is not a becbo.Trial"),
    "outcome": ({"trials": [Trial(0, GOOD, "ok")]}, "make them by Trial.from_dict"),
    "order": ({"trials": [trial(1)]}, "trial number 1 cannot follow 0 trials"),
    "twice": ({"trials": [trial(0), trial(0)]}, "trials[1]: trial number 0 cannot follow 1"),
    "no value": (
        {"trials": [trial(outcome=Outcome.OK)]},
        "worked has a value of at least one of value",
    ),
    "strange output": ({"trials": [trial(outcome=Outcome.OK, cost=1.0)]}, "'cost' does not exist"),
    "failed nan": ({"trials": [trial(outcome=Outcome.FAILED, value=math.nan)]}, "is not finite"),
    "nan": ({"trials": [trial(outcome=Outcome.OK, value=math.nan)]}, "value nan is not finite"),
    "word": ({"trials": [trial(outcome=Outcome.OK, value="1")]}, "value '1' is not a number"),
    "params": ({"trials": [trial(params={"x": 7, "n": 1})]}, "x = 7 is outside 0 .. 1"),
}


@pytest.mark.parametrize("settings, message", BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_a_bad_setting_is_refused_at_once(settings: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Optimizer(**{"space": SPACE, **settings})


def test_errors_can_be_caught_as_value_errors() -> None:
    assert issubclass(InvalidInput, ValueError)
    with pytest.raises(InvalidInput, match=r"reason \['hot', 'thin'\] must be a string"):
        raise Infeasible(["hot", "thin"])
    assert Infeasible(ValueError("melted")).reason == "melted"
    assert Infeasible("melted").reason == "melted" and str(Infeasible("melted")) == "melted"
    assert Infeasible().reason == "failed"


# -- bookkeeping -------------------------------------------------------------------------------


def test_every_outcome_is_recorded() -> None:
    optimizer = started()
    outcomes = [t.outcome.value for t in optimizer.trials]
    assert outcomes == ["ok", "ok", "ok", "failed", "lost", "pending"]
    assert [t.value for t in optimizer.trials] == [0.0, 1.0, 2.0, None, None, None]
    assert [t.reason for t in optimizer.trials] == [None] * 3 + ["melted", "power cut", None]
    assert [t.number for t in optimizer.trials] == list(range(6))
    assert [t.is_feasible for t in optimizer.trials] == [True] * 3 + [False] * 3
    assert optimizer.pending == optimizer.trials[5:]


@pytest.mark.parametrize("direction, best", [("minimize", 0), ("maximize", 2)])
def test_best_follows_the_direction(direction: str, best: int) -> None:
    optimizer = started(outputs=direction)
    assert optimizer.best == optimizer.trials[best]


def test_there_is_no_best_before_a_success() -> None:
    optimizer = Optimizer(SPACE)
    assert optimizer.best is None
    optimizer.fail(optimizer.ask())
    assert optimizer.best is None


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_best_may_be_zero_or_negative(value: float) -> None:
    optimizer = Optimizer(SPACE, "maximize")
    optimizer.add(GOOD, value - 1)
    best = optimizer.add(GOOD, value)
    assert optimizer.best == best


def test_tell_and_fail_return_the_finished_trial() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    first, second = optimizer.ask(2)
    assert optimizer.tell(first, 2) == optimizer.trials[0]
    assert optimizer.fail(second.number, "hot") == optimizer.trials[1]
    assert optimizer.trials[0].params == first.params
    assert (first.outcome, optimizer.trials[0].outcome) == (Outcome.PENDING, Outcome.OK)


@pytest.mark.parametrize("value", [3, np.float32(3), np.int64(3), Decimal(3), np.array(3.0)])
def test_any_kind_of_number_is_stored_as_a_float(value) -> None:
    optimizer = Optimizer(SPACE, seed=0)
    told = optimizer.tell(optimizer.ask(), value)
    assert (type(told.value), told.value) == (float, 3.0)
    assert type(optimizer.add(GOOD, value).value) is float


@pytest.mark.parametrize("number", [5, np.int64(5)])
def test_a_trial_may_be_named_by_its_number(number) -> None:
    optimizer = started()
    assert optimizer.tell(number, 1.0).number == 5


def test_a_lost_trial_may_turn_up_again() -> None:
    optimizer = started()
    told = optimizer.tell(4, 9.0)
    assert (told.outcome, told.value, told.reason) == (Outcome.OK, 9.0, None)
    assert started().fail(4, "broke").reason == "broke"


def test_trials_survive_a_file() -> None:
    optimizer = started(n_told=12)
    asked = optimizer.ask()
    assert asked.believed is not None
    stored = json.dumps([t.to_dict() for t in optimizer.trials])
    trials = [Trial.from_dict(data) for data in json.loads(stored)]
    assert tuple(trials) == optimizer.trials
    assert Optimizer(SPACE, seed=0, trials=trials).ask() == optimizer.ask()


def test_trials_and_settings_make_the_same_optimizer() -> None:
    optimizer = started()
    twin = Optimizer(SPACE, seed=0, trials=optimizer.trials)
    assert twin.trials == optimizer.trials
    assert twin.ask(3) == optimizer.ask(3)


@pytest.mark.parametrize(
    "outcome, want",
    [
        ({"value": 2.5}, (Outcome.OK, 2.5, None)),
        ({"failed": True}, (Outcome.FAILED, None, None)),
        ({"failed": "melted"}, (Outcome.FAILED, None, "melted")),
        ({"value": 0.0}, (Outcome.OK, 0.0, None)),
    ],
)
def test_add_records_what_was_done_before(outcome: dict, want: tuple) -> None:
    added = Optimizer(SPACE).add({"n": 2.0, "x": np.float64(0.5)}, **outcome)
    assert (added.outcome, added.value, added.reason) == want
    assert added.params == GOOD and type(added.params["n"]) is int
    assert (added.number, added.origin, added.believed) == (0, "user", None)


def test_known_constraints_do_not_forbid_what_was_done() -> None:
    space = Space(SPACE.parameters, [lambda p: p["x"] < 0.1])
    optimizer = Optimizer(space, seed=0)
    assert optimizer.add(GOOD, 1.0).params == GOOD
    assert optimizer.ask().params["x"] < 0.1


# -- the initial design ------------------------------------------------------------------------


def test_the_initial_design_comes_first_and_counts_what_is_known() -> None:
    optimizer = Optimizer(SPACE, seed=0, n_initial=4)
    optimizer.add(GOOD, 1.0)
    asked = optimizer.ask(4)
    assert [t.origin == INITIAL for t in asked] == [True, True, True, False]


def test_the_design_goes_on_until_there_is_an_answer() -> None:
    optimizer = Optimizer(SPACE, seed=0, n_initial=2)
    assert all(t.origin == INITIAL for t in optimizer.ask(5))
    assert optimizer.proposal is None
    optimizer.fail(0)
    assert optimizer.ask().origin != INITIAL
    assert optimizer.proposal is not None


def test_lost_points_of_the_design_come_again() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    lost = optimizer.lose(optimizer.ask())
    assert optimizer.ask().params == lost.params


def test_one_by_one_or_in_a_batch_the_design_is_the_same() -> None:
    one, other = Optimizer(SPACE, seed=4), Optimizer(SPACE, seed=4)
    assert [one.ask().params for _ in range(6)] == [t.params for t in other.ask(6)]


def test_the_design_covers_a_small_grid() -> None:
    space = Space([Integer("a", 0, 3), Categorical("b", "xy")])
    designs = {str(t.params) for t in Optimizer(space, seed=0).ask(8)}
    assert len(designs) == 8


# -- randomness --------------------------------------------------------------------------------


def test_without_a_seed_one_is_drawn_and_can_be_reused() -> None:
    one, other = Optimizer(SPACE), Optimizer(SPACE)
    assert one.settings.seed != other.settings.seed
    assert Optimizer(SPACE, seed=one.settings.seed).ask() == one.ask()


def test_the_global_generator_is_left_alone() -> None:
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    started().ask()
    assert np.random.get_state()[1].tolist() == before


# -- predictions -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_pending", [0, 2])
def test_without_an_answer_nothing_is_known(n_pending: int) -> None:
    optimizer = Optimizer(SPACE, seed=0)
    if n_pending:
        optimizer.ask(n_pending)
    assert optimizer.predict(GOOD) == Prediction({}, 0.5, (0.0, 1.0))
    assert optimizer.predict([]) == []


def test_predictions_follow_the_history() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    optimizer.add(GOOD, failed=True)
    assert optimizer.predict(GOOD).mean is None
    before = optimizer.predict({"x": 0.1, "n": 1})
    optimizer.add({"x": 0.1, "n": 1}, 42.0)
    after = optimizer.predict({"x": 0.1, "n": 1})
    assert after.mean == pytest.approx(42.0) and after.p_feasible > before.p_feasible


def test_models_are_kept_until_there_is_an_answer() -> None:
    optimizer = started()
    models = optimizer.models()
    optimizer.lose(optimizer.ask())
    asked = optimizer.ask()
    assert optimizer.models() is models
    optimizer.tell(asked, 1.0)
    assert optimizer.models() is not models


def test_a_late_answer_changes_the_predictions() -> None:
    optimizer = started()
    params = optimizer.pending[0].params
    before = optimizer.predict(params)
    optimizer.tell(optimizer.pending[0], 77.0)
    assert optimizer.predict(params).mean == pytest.approx(77.0, abs=0.1) != before.mean


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_predictions_are_in_user_units(direction: str) -> None:
    optimizer = Optimizer(SPACE, direction, seed=0)
    values = [300.0, -20.0, 5.0]
    rows = [{"x": x, "n": 2} for x in (0.1, 0.5, 0.9)]
    for row, value in zip(rows, values, strict=True):
        optimizer.add(row, value)
    means = [p.mean for p in optimizer.predict(rows)]
    assert means == pytest.approx(values, abs=0.1)
    assert all(p.std < 1.0 for p in optimizer.predict(rows))


def test_one_design_or_a_list_of_them() -> None:
    optimizer = started()
    one, many = optimizer.predict(GOOD), optimizer.predict([GOOD, {"x": 0.1, "n": 5}])
    assert isinstance(one, Prediction) and [type(p) for p in many] == [Prediction] * 2
    assert many[0].mean == pytest.approx(one.mean)


def test_the_models_say_what_predict_says() -> None:
    optimizer = Optimizer(SPACE, "minimize", seed=0)
    assert optimizer.models() is None
    optimizer.add(GOOD, 3.0)
    optimizer.add({"x": 0.1, "n": 5}, failed=True)
    models, X = optimizer.models(), optimizer.space.encode([GOOD])
    assert models is not None and models.objectives[0] is not None
    said = optimizer.predict(GOOD)
    assert ndtr(models.feasibility.score(X)[0][0]) == said.p_feasible
    assert -models.objectives[0].predict(X)[0][0] == said.mean  # to be maximised
    optimizer.add({"x": 0.2, "n": 4}, 5.0)
    assert optimizer.models() is not models


def test_predicting_does_not_change_the_next_proposal() -> None:
    one, other = started(12), started(12)
    one.predict(GOOD)
    assert one.ask() == other.ask()


# -- methods -----------------------------------------------------------------------------------


def test_a_proposer_of_ones_own_is_used() -> None:
    edge = build(Settings())

    class Proud(Proposer):
        """Delegates, and counts."""

        n_asked = 0
        regressor = edge.regressor

        def fit_failures(self, data, rng):
            return edge.fit_failures(data, rng)

        def searcher(self, models, data, rng):
            self.n_asked += 1
            return edge.searcher(models, data, rng)

    proposer = Proud()
    optimizer = Optimizer(SPACE, method=proposer, seed=0, n_initial=1)
    optimizer.add(GOOD, 1.0)
    optimizer.ask()
    assert proposer.n_asked == 1


def test_noise_is_an_option_of_the_models() -> None:
    repeats = [0.0, 1.0, 0.2, 0.9]
    said = {}
    for noisy in (False, True):
        optimizer = Optimizer(SPACE, seed=0, noisy=noisy)
        for x in (0.1, 0.5, 0.9):
            for value in repeats:
                optimizer.add({"x": x, "n": 2}, value + x)
        said[noisy] = optimizer.predict({"x": 0.5, "n": 2})
        assert said[noisy].mean == pytest.approx(np.mean(repeats) + 0.5, abs=0.2)
    assert said[True].std > 10 * said[False].std


@pytest.mark.parametrize("outputs", ["maximize", [Objective("value", target=3.0)]])
def test_the_best_of_noisy_values_is_the_best_believed(outputs) -> None:
    """A design measured well eight times beats one lucky reading beside bad ones."""
    exact, noisy = (Optimizer(SPACE, outputs, seed=0, noisy=n) for n in (False, True))
    for optimizer in (exact, noisy):
        for i in range(8):
            optimizer.add({"x": 0.9, "n": 2}, {"value": 2.0 + 0.1 * (i % 2)})
            optimizer.add({"x": 0.1, "n": 2}, {"value": 2.9 if i == 3 else 0.1 * (i % 3)})
    assert exact.best == exact.luckiest == noisy.luckiest
    assert noisy.luckiest.params["x"] == 0.1
    assert noisy.best.params["x"] == 0.9 and noisy.front == (noisy.best,)


def test_noisy_and_nothing_has_worked() -> None:
    optimizer = Optimizer(SPACE, seed=0, noisy=True)
    optimizer.add(GOOD, failed=True)
    assert optimizer.best is None and optimizer.luckiest is None and optimizer.front == ()


def test_a_caller_cannot_change_the_history() -> None:
    optimizer = Optimizer(Space([Real("x", 0, 1)]), seed=0)
    trial = optimizer.ask()
    x = trial.params["x"]
    trial.params["x"] = 99.0
    with pytest.raises(InvalidInput, match="has params"):
        optimizer.tell(trial, 1.0)
    optimizer.trials[0].params["x"] = optimizer.pending[0].params["x"] = 99.0
    assert optimizer.tell(0, 1.0).params == {"x": x}
    optimizer.best.params["x"] = 99.0
    assert optimizer.trials[0].params == {"x": x}


def test_risk_limits_the_believed_chance_of_failure() -> None:
    problem = get("welded_beam")
    believed = {}
    for risk in (0.05, 0.9):
        optimizer = Optimizer(problem.space, seed=0, risk=risk)
        for _ in range(30):
            trial = optimizer.ask()
            try:
                optimizer.tell(trial, problem(trial.params))
            except Infeasible:
                optimizer.fail(trial)
        chances = [t.believed.p_feasible for t in optimizer.trials if t.believed is not None]
        believed[risk] = chances[5:]
    assert min(believed[0.05]) >= 0.95 - 1e-6
    assert min(believed[0.9]) < 0.5


def test_the_bound_holds_although_everything_near_the_best_is_taken() -> None:
    optimizer = Optimizer(Space([Real("x", 0, 1), Real("y", 0, 1)]), seed=0, risk=0.2)
    for _ in range(120):  # the optimum is a corner, where proposals come to coincide
        trial = optimizer.ask()
        assert trial.note is None
        if trial.params["x"] + trial.params["y"] > 0.6:
            optimizer.fail(trial)
        else:
            optimizer.tell(trial, -trial.params["x"] - 2 * trial.params["y"])
    late = [t for t in optimizer.trials if t.believed is not None][-50:]
    assert min(t.believed.p_feasible for t in late if t.believed is not None) > 0.79


def test_risk_is_not_dropped() -> None:
    space = Space([Real("x", 0, 1)])
    with pytest.raises(InvalidInput, match="risk 0.1 goes with the name of a method"):
        Optimizer(space, method=build(Settings()), risk=0.1)
    assert Optimizer(space, risk=np.float32(0.25), seed=0).ask() is not None


@pytest.mark.parametrize("wrong", [{"noisy": "no"}, {"trials": 3}])
def test_arguments_of_another_kind(wrong: dict) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(wrong))} .* must be"):
        Optimizer(Space([Real("x", 0, 1)]), **wrong)


def test_a_constraint_that_raises_is_named() -> None:
    space = Space([Real("x", 0, 1)], [lambda p: p["b"] < 1])
    with pytest.raises(KeyError) as caught:
        Optimizer(space, seed=0).ask()
    assert "raised by a known constraint of the space, for {'x'" in caught.value.__notes__[0]


@pytest.mark.parametrize("n_answered", [0, 12])
def test_a_design_that_is_lost_again_and_again_is_given_up(n_answered: int) -> None:
    optimizer = Optimizer(Space([Real("x", 0, 1), Real("y", 0, 1)]), seed=0)
    for _ in range(n_answered):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["x"])
    lost: list[dict] = []
    for _ in range(21):
        lost.append(optimizer.lose(optimizer.ask()).params)
    places = Counter((round(p["x"], 1), round(p["y"], 1)) for p in lost)
    assert len(places) > 3
    optimizer.tell(optimizer.ask(), 1.0)


def test_a_repeat_has_all_digits_of_the_design_it_repeats() -> None:
    optimizer = Optimizer(SPACE, seed=0, n_initial=2, failures=Failures(budget=1))
    worked, failed = ({"x": x, "n": 2} for x in (1 / 3, 0.123456789012345))
    optimizer.add(worked, 1.0)
    optimizer.add(failed, failed=True)
    assert optimizer.ask().params == worked


def test_repeats_before_anything_is_known_are_called_so() -> None:
    trials = Optimizer(Space([Integer("n", 1, 3), Integer("m", 1, 3)]), seed=0).ask(12)
    assert [t.origin for t in trials] == ["initial design"] * 9 + ["repeat"] * 3


@pytest.mark.parametrize("risk", [0, 1, -0.1, 50, True, "low", float("nan")])
def test_risk_must_be_a_chance(risk: object) -> None:
    with pytest.raises(InvalidInput, match=r"risk .* must lie between 0 and 1"):
        Optimizer(Space([Real("x", 0, 1)]), risk=risk)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["scbo", "svm-cbo", "sobol"])
def test_methods_without_a_band_refuse_risk(method: str) -> None:
    with pytest.raises(InvalidInput, match="cannot limit its risk"):
        Optimizer(Space([Real("x", 0, 1)]), method=method, risk=0.3)


def test_threads_that_share_an_optimizer_get_designs_of_their_own() -> None:
    """Past the initial design, so that the models propose; four threads ask and tell at once."""
    optimizer = Optimizer(Space([Real("x", 0, 1), Real("y", 0, 1)]), seed=0, n_initial=4)
    for _ in range(4):
        optimizer.tell((trial := optimizer.ask()), sum(trial.params.values()))

    def work(_: int) -> None:
        for _ in range(4):
            trial = optimizer.ask()
            optimizer.tell(trial, sum(trial.params.values()))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    trials = optimizer.trials
    assert [trial.number for trial in trials] == list(range(20))
    assert {trial.outcome for trial in trials} == {Outcome.OK}
    assert len({tuple(trial.params.values()) for trial in trials}) == 20


def test_a_pickled_optimizer_proposes_the_same() -> None:
    optimizer = started()
    again = pickle.loads(pickle.dumps(optimizer))
    assert again.ask() == optimizer.ask()
