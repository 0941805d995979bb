"""What every method must do, whatever it is: subclass `Conformance` and say which methods.

Tests that take `method` run the preset itself. Tests that take `quick` run the same method with
smaller networks and searches, if it has any: their claims do not depend on the effort.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from becbo import (
    METHODS,
    Advice,
    BecboError,
    Categorical,
    Estimate,
    Integer,
    InvalidInput,
    LinearConstraint,
    Optimizer,
    Outcome,
    Outlook,
    Prediction,
    Real,
    Result,
    Settings,
    Space,
    Stop,
    Trial,
)
from becbo.band import EdgeProbability, MinimumProbability
from becbo.data import dataset
from becbo.methods import build
from becbo.outputs import Outputs
from becbo.proposers.base import Proposer, region_of
from becbo.proposers.boundary import Boundary
from becbo.search.choice import AGAIN, EXHAUSTED, TOLERANCE
from becbo.search.region import SAME
from becbo.search.restarts import RestartSearch
from becbo.search.slsqp import SlsqpSearch
from becbo.surrogates.base import Regressor

# Little networks, briefly trained, and fewer points to start a search from.
QUICK_ENSEMBLE = {"n_networks": 2, "width_factor": 8, "n_steps": 20}
QUICK_SEARCH = {"n_space": 200, "n_edge": 2, "n_best": 2}

UNITS_COUNT = [name for name in METHODS if name.startswith("be-cbo-code")]


def quickened(name: str, noisy: bool = False) -> Proposer:
    """The method with less effort where that changes no claim."""
    ensemble = {} if METHODS[name].ensemble is None else QUICK_ENSEMBLE
    proposer = build(Settings(method=name, noisy=noisy), **ensemble)
    if isinstance(proposer, Boundary) and isinstance(proposer.search, SlsqpSearch):
        proposer = replace(proposer, search=replace(proposer.search, **QUICK_SEARCH))
    return proposer


def reals(d: int, constraints: Sequence = ()) -> Space:
    """d real parameters x0, x1, ... from -1 to 2."""
    return Space([Real(f"x{i}", -1, 2) for i in range(d)], constraints)


MIXED = Space(
    [
        Real("pressure", 1, 200, log=True),
        Integer("coils", 2, 15),
        Categorical("alloy", ["A", "B", None, True]),
        Real("angle", -30, 30, step=0.5),
        Integer("cycles", 1, 10_000, log=True),
    ]
)
GRIDS = Space([Real("a", 1, 200, log=True), Integer("b", 2, 15), Real("c", 0, 3, step=0.25)])
TWO_VALUED = Space([Integer(f"n{i}", 0, 1) for i in range(6)])
CATEGORICAL = Space([Categorical("a", "pqrstu"), Categorical("b", [1, True, None, "1"])])


def random_designs(space: Space, n: int, seed: int = 0) -> list[dict[str, Any]]:
    """n allowed designs."""
    X = np.random.default_rng(seed).random((50 * n, space.dim))
    return space.decode(X[space.allowed(X)][:n])


def history(
    space: Space, designs: Sequence[dict[str, Any]], values: Sequence[float | None]
) -> list[Trial]:
    """Finished trials; None stands for a failure."""
    return [
        Trial(i, space.validate(params), Result.failed() if v is None else Result.ok({"value": v}))
        for i, (params, v) in enumerate(zip(designs, values, strict=True))
    ]


def times(trials: Sequence[Trial], factors: dict[str, float]) -> list[Trial]:
    """The trials with the values of some outputs multiplied."""
    return [replace(t, result=replace(t.result, values=_times(t.values, factors))) for t in trials]


def _times(values: Mapping[str, float | None], factors: dict[str, float]) -> dict:
    return {k: None if v is None else factors.get(k, 1.0) * v for k, v in values.items()}


def predicted_times(said: Prediction, factors: dict[str, float]) -> Prediction:
    """The prediction with the estimates of some outputs multiplied."""
    outputs = {
        name: Estimate(factors.get(name, 1.0) * e.mean, abs(factors.get(name, 1.0)) * e.std)
        for name, e in said.outputs.items()
    }
    return replace(said, outputs=outputs)


def experiment(space: Space) -> Callable[[dict[str, Any]], float | None]:
    """A bowl in the unit cube whose half beyond a plane fails."""

    def run(params: dict[str, Any]) -> float | None:
        x = space.encode([params])[0]
        value = float(((x - 0.6) ** 2).sum())
        return None if x.sum() > 0.55 * space.dim else value

    return run


def answer(optimizer: Optimizer, trial: Trial) -> None:
    """Runs the experiment and tells."""
    value = experiment(optimizer.space)(trial.params)
    if value is None:
        optimizer.fail(trial)
    else:
        optimizer.tell(trial, value)


def assert_sound(seen: Outlook) -> None:
    """Numbers that can be shown, chances that grow, advice that says what it is."""
    assert json.dumps(seen.to_dict(), allow_nan=False)
    forecasts = seen.forecasts()
    chances = [forecast.p_better for forecast in forecasts]
    assert chances == sorted(chances) and 0 <= chances[0] and chances[-1] <= 1
    for forecast in forecasts:
        assert (forecast.expected is None) == (forecast.interval is None) == (seen.best is None)
        if forecast.expected is not None:
            low, high = forecast.interval
            assert low <= forecast.expected <= high
    words = {Advice.GO_ON: "Go on", Advice.CONFIRM: "Repeat the best", Advice.STOP: "Stop"}
    for rule in (Stop(), Stop(margin=0.1, at_least=1)):
        assert seen.sentence(rule).startswith(words[seen.advice(rule)])


def usual_history(space: Space, n: int = 12, seed: int = 0) -> list[Trial]:
    designs = random_designs(space, n, seed)
    return history(space, designs, [experiment(space)(params) for params in designs])


@dataclass(frozen=True)
class Situation:
    """A space and a history that a careless method would stumble over."""

    name: str
    space: Space
    trials: list[Trial]


def _situation(name: str, values: Callable[[int], Any], space: Space | None = None) -> Situation:
    """Random designs of a space, values by their number."""
    space = space or reals(2)
    designs = random_designs(space, 12)
    return Situation(name, space, history(space, designs, [values(i) for i in range(12)]))


def _at(name: str, designs: list[tuple[float, float]], values: list[float | None]) -> Situation:
    """Given designs of the plane."""
    space = reals(2)
    rows = [{"x0": a, "x1": b} for a, b in designs]
    return Situation(name, space, history(space, rows, values))


def _some_fail(i: int) -> float | None:
    return None if i % 3 == 0 else float(i)


_CLUSTER = [(0.5 + 1e-9 * i, 0.5 - 2e-9 * i) for i in range(8)]
SITUATIONS = [
    _situation("all failed", lambda i: None),
    _situation("none failed", lambda i: float(i)),
    _situation("one success", lambda i: 1.0 if i == 4 else None),
    _situation("one failure", lambda i: None if i == 4 else float(i)),
    _situation("constant", lambda i: 3.7),
    _situation("constant and failures", lambda i: None if i % 2 else 3.7),
    _situation("all zero", lambda i: 0.0),
    _situation("12 orders of magnitude", lambda i: None if i % 3 == 0 else 10.0**i),
    _situation("around 1e300", lambda i: None if i % 3 == 0 else (i - 5) * 1e300),
    _situation("around 1e-200", lambda i: None if i % 3 == 0 else (i - 5) * 1e-200),
    _situation("tiny noise", lambda i: 1.0 + 1e-15 * (i % 2)),
    _situation("one dimension", _some_fail, reals(1)),
    _situation("30 dimensions", _some_fail, reals(30)),
    _situation("mixed", _some_fail, MIXED),
    _situation("only categoricals", _some_fail, CATEGORICAL),
    _situation("integers with two values", _some_fail, TWO_VALUED),
    _at("one success only", [(0.1, 0.2)], [1.0]),
    _at("one failure only", [(0.1, 0.2)], [None]),
    _at("one point repeated", [(0.1, 0.2)] * 6, [1.0] * 6),
    _at("one failure repeated", [(0.1, 0.2)] * 6, [None] * 6),
    _at("one point, different values", [(0.1, 0.2)] * 4, [1.0, 2.0, 1.0, 3.0]),
    _at("one point fails and works", [(0.1, 0.2)] * 6, [1.0, None, 2.0, None, 1.0, None]),
    _at(
        "repeated points, different outcomes",
        [(0.1, 0.2), (1.5, 0.3), (0.9, 0.9)] * 4,
        [1.0, None, 2.0, 1.5, 4.0, None, None, 4.0, 2.0, 1.0, None, None],
    ),
    _at("a cluster", _CLUSTER, [None, 1.0, 2.0, None, 1.0, 3.0, 2.0, None]),
    _at("corners", [(-1, -1), (-1, 2), (2, -1), (2, 2)], [1.0, None, 2.0, None]),
    _at("a line", [(0.2 * i, 0.2 * i) for i in range(8)], [_some_fail(i) for i in range(8)]),
]


def _sum_below(limit: float, space: Space) -> Space:
    names = {p.name: 1.0 for p in space.parameters}
    return Space(space.parameters, [LinearConstraint(names, upper=limit)])


CONSTRAINED = {
    "a callable": reals(2, [lambda p: p["x0"] < p["x1"]]),
    "a sum in 3": _sum_below(1, Space([Real(n, 0, 1) for n in "abc"])),
    "a sum in 10": _sum_below(1, Space([Real(n, 0, 1) for n in "abcdefghij"])),
    "whole numbers": Space(
        [Integer("a", 0, 60), Integer("b", 0, 9), Real("c", 0, 1)],
        [LinearConstraint({"a": 1, "b": 5, "c": 20}, upper=33, lower=20)],
    ),
    "a category": Space(MIXED.parameters, [lambda p: p["alloy"] != "A" or p["coils"] > 8]),
}


def gaps(space: Space, designs: Sequence[dict], others: Sequence[dict]) -> np.ndarray:  # (n, m)
    """Largest difference of any column of the unit cube."""
    A, B = space.encode(designs), space.encode(others)
    return np.abs(A[:, None] - B[None]).max(axis=2)


def assert_new(space: Space, asked: Sequence[Trial], taken: Sequence[Trial]) -> None:
    """Asked designs can be set, are allowed, and repeat neither each other nor the taken ones.

    Unless they say so: a failure may have been bad luck.
    """
    for trial in asked:
        assert space.validate(trial.params) == trial.params
        assert space.is_allowed(trial.params)
    designs = [t.params for t in asked if t.origin != AGAIN]
    if not designs:
        return
    if taken:
        assert gaps(space, designs, [t.params for t in taken]).min() > SAME
    among = gaps(space, designs, designs) + np.eye(len(designs))
    assert among.min() > SAME


def _objective(optimizer: Optimizer) -> Regressor:
    """The model of the first objective, to be maximised."""
    models = optimizer.models()
    assert models is not None and models.objectives[0] is not None
    return models.objectives[0]


class Conformance:
    """Subclass with a fixture `method` that returns the name of a method."""

    @pytest.fixture
    def quick(self, method: str) -> Proposer:
        return quickened(method)

    # -- the preset itself --------------------------------------------------------------------

    def test_a_proposal_says_how_it_was_found(self, method: str) -> None:
        trials = usual_history(GRIDS)
        optimizer = Optimizer(GRIDS, method=method, seed=1, trials=trials)
        trial = optimizer.ask()
        assert_new(GRIDS, [trial], trials)
        assert (trial.number, trial.outcome, trial.value) == (12, Outcome.PENDING, None)
        proposal = optimizer.proposal
        assert proposal is not None and proposal.X.shape == (1, GRIDS.dim)
        assert GRIDS.decode(proposal.X) == [trial.params]
        found, believed = proposal.found[0], proposal.believed[0]
        np.testing.assert_array_equal(found.x, proposal.X[0])
        assert (trial.origin, trial.note) == (found.winner, found.fallback)
        assert trial.believed == believed
        assert believed.mean == pytest.approx(-_objective(optimizer).predict(proposal.X)[0][0])
        assert 0 <= believed.band[0] <= believed.band[1] <= 1 and 0 <= believed.p_feasible <= 1
        assert believed.std >= 0 and np.isfinite([found.value, found.slack]).all()
        assert all(seconds >= 0 for seconds in proposal.seconds.values())

    def test_same_seed_and_history_give_the_same_proposal(self, method: str) -> None:
        space = reals(2)
        alive = Optimizer(space, method=method, seed=5, n_initial=7)
        for i in range(8):
            trial = alive.ask()
            if i == 3:
                alive.lose(trial)
            elif i != 5:  # one stays pending
                answer(alive, trial)
        rebuilt = Optimizer(space, method=method, seed=5, n_initial=7, trials=alive.trials)
        assert alive.ask() == rebuilt.ask()
        assert alive.trials == rebuilt.trials and alive.trials[-1].believed is not None

    def test_the_report_is_true(self, method: str) -> None:
        proposer, space = build(Settings(method=method)), reals(2)
        if not isinstance(proposer, Boundary):
            pytest.skip("no band to recompute")
        data = dataset(usual_history(space, 15), space, Outputs.of("minimize"))
        region = region_of(space, data.X)
        none = np.empty((0, 2))
        proposal = proposer.propose(data, region, none, 1, np.random.default_rng(3))
        found = proposal.found[0]
        models = proposer.fit(data, np.random.default_rng(3))
        band = proposer.band
        thresholds = band.p_drawn if isinstance(band, EdgeProbability) else [None]
        bands = [band if p is None else MinimumProbability(p) for p in thresholds]
        slacks = [float(b.slack(models.feasibility, found.x[None])[0]) for b in bands]
        assert min(abs(found.slack - slack) for slack in slacks) < 1e-9
        assert found.bound_holds == (found.slack >= -TOLERANCE)
        acquisition = proposer.improvement.over(data, models, none, 2, np.random.default_rng(3))
        least = models.objectives[0].inner.resolution if method == "edge" else 0.0
        assert acquisition.best == np.nanmax(data.y) + least
        if proposer.weighting is not None:
            acquisition = proposer.weighting(acquisition, models.feasibility)
        assert found.value == pytest.approx(acquisition.values(found.x[None])[0])
        if found.fallback is None:
            assert found.bound_holds

    def test_predict_agrees_with_what_was_believed(self, method: str) -> None:
        space = reals(2)
        optimizer = Optimizer(space, method=method, seed=2, trials=usual_history(space))
        trial = optimizer.ask()
        said = optimizer.predict(trial.params)
        assert trial.believed is not None
        assert (said.mean, said.std) == pytest.approx((trial.believed.mean, trial.believed.std))
        # Networks start from other weights, so they agree only roughly.
        assert said.p_feasible == pytest.approx(trial.believed.p_feasible, abs=0.25)
        assert said == optimizer.predict([trial.params])[0]

    def test_the_models_learn(self, method: str) -> None:
        space = reals(1)
        designs = [{"x0": x} for x in np.linspace(-1, 2, 13)]
        values = [None if row["x0"] > 0.6 else row["x0"] ** 2 for row in designs]
        optimizer = Optimizer(space, method=method, seed=0, trials=history(space, designs, values))
        inside, outside = optimizer.predict([{"x0": -0.6}, {"x0": 1.6}])
        assert inside.p_feasible > 0.65 > 0.35 > outside.p_feasible
        assert inside.mean == pytest.approx(0.36, abs=0.05)

    def test_what_is_known_of_failures_is_heard_or_refused(self, method: str) -> None:
        told = {"chance": 0.2, "price": 4.0, "budget": 40}
        settings = Settings(method=method, seed=0, failures=told)
        try:
            build(settings)
        except InvalidInput as refused:
            assert "takes every failure for the design's" in str(refused)
            return
        space = reals(2)
        optimizer = Optimizer(space, **vars(settings))
        for _ in range(14):
            answer(optimizer, optimizer.ask())
        rebuilt = Optimizer(space, **vars(settings), trials=optimizer.trials)
        asked = optimizer.ask(2)
        assert asked == rebuilt.ask(2)
        assert_new(space, asked, optimizer.trials[:-2])
        assert all(t.believed is not None and t.believed.bad_luck == 0.2 for t in asked)

    # -- any situation ------------------------------------------------------------------------

    @pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.name)
    def test_every_situation_gets_a_new_valid_design(self, quick: Proposer, situation) -> None:
        space, trials = situation.space, situation.trials
        optimizer = Optimizer(space, method=quick, seed=0, n_initial=1, trials=trials)
        asked = [optimizer.ask(), *optimizer.ask(1 + (space.dim < 30))]
        assert_new(space, asked, trials)
        for trial in asked:
            said = optimizer.predict(trial.params)
            assert 0 <= said.band[0] <= said.band[1] <= 1 and 0 <= said.p_feasible <= 1
            has_worked = any(t.is_feasible for t in trials)
            assert (said.mean is not None) == (said.std is not None) == has_worked
            if has_worked:
                assert np.isfinite([said.mean, said.std]).all() and said.std >= 0
        assert_sound(optimizer.outlook)

    @pytest.mark.parametrize("space", [reals(1), MIXED, TWO_VALUED, CATEGORICAL, reals(30)])
    def test_without_data_designs_are_spread(self, quick: Proposer, space: Space) -> None:
        optimizer = Optimizer(space, method=quick, seed=0)
        asked = [optimizer.ask(), *optimizer.ask(4), optimizer.ask()]
        assert_new(space, asked, [])
        assert list(optimizer.pending) == asked
        said = optimizer.predict(asked[0].params)
        assert (said.mean, said.std, said.p_feasible, said.band) == (None, None, 0.5, (0.0, 1.0))

    def test_seeds_differ(self, quick: Proposer) -> None:
        space, trials = reals(3), usual_history(reals(3))
        # The first of a batch may be the repeat of a failure, whatever the seed.
        asked = [Optimizer(space, method=quick, seed=s, trials=trials).ask(2)[-1] for s in range(3)]
        first = [Optimizer(space, method=quick, seed=s).ask() for s in range(3)]
        assert len({str(t.params) for t in asked + first}) == 6

    def test_batches_and_repeated_asks_keep_apart(self, quick: Proposer) -> None:
        space, trials = reals(2), usual_history(reals(2))
        optimizer = Optimizer(space, method=quick, seed=0, trials=trials)
        asked = [*optimizer.ask(4), optimizer.ask(), optimizer.ask()]
        assert_new(space, asked, trials)
        designs = [t.params for t in asked]
        # The models know of them. What is refined to the last digit, as papers do, still ends where
        # the model sees the bottom of the bowl.
        is_refined = isinstance(getattr(quick, "search", None), RestartSearch | SlsqpSearch)
        least = SAME if is_refined else 1e-4
        assert (gaps(space, designs, designs) + np.eye(6)).min() > least
        assert [t.number for t in asked] == list(range(12, 18))
        assert list(optimizer.pending) == asked

    def test_a_batch_spans_the_end_of_the_initial_design(self, quick: Proposer) -> None:
        space = reals(2)
        optimizer = Optimizer(space, method=quick, seed=0, n_initial=4)
        for trial in optimizer.ask(3):
            answer(optimizer, trial)
        asked = optimizer.ask(3)
        assert_new(space, asked, optimizer.trials[:3])
        assert [t.believed is None for t in asked] == [True, False, False]

    @pytest.mark.parametrize("space", [reals(2), MIXED])
    def test_a_long_run_can_be_rebuilt_anywhere(
        self, method: str, quick: Proposer, space: Space
    ) -> None:
        # Past several checkpoints of the fits that continue.
        n = 60 if METHODS[method].ensemble is None else 16
        alive = Optimizer(space, method=quick, seed=3)
        for i in range(n):
            if i >= 10 and i % 7 == 0:
                rebuilt = Optimizer(space, method=quick, seed=3, trials=alive.trials)
                assert alive.ask() == rebuilt.ask()
            else:
                alive.ask()
            answer(alive, alive.trials[-1])
        assert_new(space, alive.trials, [])

    # -- lost, exhausted, forbidden -----------------------------------------------------------

    def test_lost_trials_say_nothing(self, quick: Proposer) -> None:
        space = reals(2)
        trials = usual_history(space)
        lost = Trial(12, {"x0": 0.3, "x1": 0.3}, Result.lost())
        without = Optimizer(space, method=quick, seed=0, trials=trials)
        with_lost = Optimizer(space, method=quick, seed=0, trials=[*trials, lost])
        params = {"x0": 0.5, "x1": 0.1}
        said, want = with_lost.predict(params), without.predict(params)
        assert (said.mean, said.std) == (want.mean, want.std)
        assert with_lost.best == without.best and not with_lost.pending

    @pytest.mark.parametrize("result", [Result.ok({"value": 1.0}), Result.failed()])
    def test_a_lost_design_is_offered_again(self, quick: Proposer, result: Result) -> None:
        space = Space([Categorical("c", "ab")])
        trials = [Trial(0, {"c": "a"}, result), Trial(1, {"c": "b"}, Result.lost())]
        trial = Optimizer(space, method=quick, seed=0, n_initial=1, trials=trials).ask()
        assert trial.params == {"c": "b"} and trial.note != EXHAUSTED

    @pytest.mark.parametrize(
        "space", [Space([Integer("a", 0, 1), Categorical("b", "xy")]), Space([Integer("a", 0, 40)])]
    )
    def test_every_design_comes_once_and_then_it_says_so(self, quick: Proposer, space) -> None:
        optimizer = Optimizer(space, method=quick, seed=0, n_initial=2)
        designs = random_designs(space, 200)
        tried = list({str(p): p for p in designs}.values())[: int(space.size) - 3]
        for params in tried:
            optimizer.add(params, 1.0)
        asked = optimizer.ask(3)
        assert_new(space, asked, optimizer.trials[: len(tried)])
        assert EXHAUSTED not in [t.note for t in asked]
        for trial in asked:
            optimizer.fail(trial)
        repeats = [t for t in optimizer.ask(3) if t.origin != AGAIN]  # it may look for bad luck
        assert len(repeats) >= 2 and {t.note for t in repeats} == {EXHAUSTED}
        assert all(space.validate(t.params) == t.params for t in repeats)

    def test_an_exhausted_space_without_answers_says_so_too(self, quick: Proposer) -> None:
        space = Space([Categorical("c", "ab"), Integer("n", 1, 2)])
        asked = Optimizer(space, method=quick, seed=0).ask(6)
        assert_new(space, asked[:4], [])
        assert [t.note == EXHAUSTED for t in asked] == [False] * 4 + [True] * 2

    @pytest.mark.parametrize("space", CONSTRAINED.values(), ids=CONSTRAINED)
    def test_no_proposal_violates_a_known_constraint(self, quick: Proposer, space: Space) -> None:
        optimizer = Optimizer(space, method=quick, seed=0, n_initial=5)
        for trial in optimizer.ask(5):
            answer(optimizer, trial)
        optimizer.ask(2)
        assert_new(space, optimizer.trials, [])

    @pytest.mark.parametrize(
        "constraint", [lambda p: False, LinearConstraint({"x0": 1, "x1": 1}, upper=-3)]
    )
    def test_constraints_that_leave_nothing_are_an_error(self, quick, constraint) -> None:
        space = reals(2, [constraint])
        optimizer = Optimizer(space, method=quick, seed=0)
        with pytest.raises(BecboError, match="known constraints"):
            optimizer.ask()
        assert optimizer.trials == ()
        told = Optimizer(space, method=quick, n_initial=1, trials=usual_history(reals(2)))
        with pytest.raises(BecboError, match="known constraints"):
            told.ask()
        assert len(told.trials) == 12

    # -- options ------------------------------------------------------------------------------

    def test_maximising_mirrors_minimising(self, quick: Proposer) -> None:
        space, trials = reals(2), usual_history(reals(2))
        mirrored = times(trials, {"value": -1.0})
        low = Optimizer(space, "minimize", method=quick, seed=0, trials=trials)
        high = Optimizer(space, "maximize", method=quick, seed=0, trials=mirrored)
        assert low.best is not None and high.best is not None
        assert low.best.number == high.best.number
        for one, other in zip(low.ask(2), high.ask(2), strict=True):
            assert one.params == other.params
            assert one.believed == predicted_times(other.believed, {"value": -1.0})

    @pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])  # exact in binary
    def test_the_unit_of_the_value_does_not_matter(
        self, method: str, quick: Proposer, factor: float
    ) -> None:
        if method in UNITS_COUNT:
            pytest.skip("the released program stops at absolute changes of EI")
        space, trials = reals(2), usual_history(reals(2), 15)
        scaled = times(trials, {"value": factor})
        one = Optimizer(space, method=quick, seed=0, trials=trials).ask()
        other = Optimizer(space, method=quick, seed=0, trials=scaled).ask()
        assert gaps(space, [one.params], [other.params]) < 1e-2
        assert other.believed.mean == pytest.approx(factor * one.believed.mean, rel=1e-2)

    def test_noisy_values_are_smoothed(self, method: str) -> None:
        space = reals(1)
        rng = np.random.default_rng(0)
        designs = [{"x0": x} for x in np.repeat(np.linspace(-1, 2, 10), 3)]
        values = [row["x0"] ** 2 + 0.3 * rng.standard_normal() for row in designs]
        trials = history(space, designs, values)
        optimizer = Optimizer(
            space, method=quickened(method, noisy=True), noisy=True, seed=0, trials=trials
        )
        said = optimizer.predict(designs)
        truth = np.array([row["x0"] ** 2 for row in designs])
        error = np.abs([p.mean for p in said] - truth)
        assert error.mean() < np.abs(np.array(values) - truth).mean()
        assert min(p.std for p in said) > 1e-3
        assert_new(space, [optimizer.ask()], trials)
