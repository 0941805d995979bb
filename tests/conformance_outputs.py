"""What every method must do with several outputs, or refuse: subclass and say which methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conformance import (
    CONSTRAINED,
    MIXED,
    assert_new,
    gaps,
    predicted_times,
    quickened,
    random_designs,
    reals,
    times,
)
from output_situations import (
    ALL,
    FIVE,
    LIMITS,
    RECORDED,
    SITUATIONS,
    THREE,
    TWO,
    OutputSituation,
    as_it_is,
    measure,
    named,
    named_and_measured,
    situation,
    works,
)

from becbo import (
    METHODS,
    InvalidInput,
    Limit,
    Objective,
    Optimizer,
    Recorded,
    Result,
    Settings,
    Space,
    Trial,
)
from becbo.band import MinimumProbability
from becbo.data import dataset
from becbo.methods import build
from becbo.outputs import Outputs
from becbo.proposers.base import Proposer, region_of
from becbo.proposers.boundary import Boundary
from becbo.search.choice import AGAIN, TOLERANCE

ABLE = [name for name in METHODS if build(Settings(method=name)).supports(Outputs.of(ALL))]
UNABLE = [name for name in METHODS if name not in ABLE]
SEVERAL = {
    "two objectives": TWO,
    "three objectives": THREE,
    "five objectives": FIVE,
    "a target": [Objective("a", target=0.2)],
    "a limit": [TWO[0], LIMITS[0]],
    "a record": [TWO[0], RECORDED],
    "everything": ALL,
}
FACTORS = [2.0**-20, 2.0**20]  # exact in binary
SCALED = ["a", "b", "c", "low", "high", "both", "noted", "target"]


def make(method: str | Proposer, given: OutputSituation, **changes: Any) -> Optimizer:
    """The optimizer of a situation."""
    told = {"seed": 0, "n_initial": 1, "trials": given.trials, **changes}
    return Optimizer(given.space, given.outputs, method=method, **told)


def assert_sound(optimizer: Optimizer, trial: Trial, measured: set[str]) -> None:
    """Probabilities, and finite numbers for every output that was measured."""
    for said in (trial.believed, optimizer.predict(trial.params)):
        assert said is not None
        assert 0 <= said.band[0] <= said.band[1] <= 1 and 0 <= said.p_feasible <= 1
        assert said.outputs.keys() == measured
        for estimate in said.outputs.values():
            assert np.isfinite([estimate.mean, estimate.std]).all() and estimate.std >= 0


def answer(optimizer: Optimizer, trial: Trial) -> None:
    """Runs the experiment and tells; what breaks a limit fails and says so, every other time."""
    x = optimizer.space.encode([trial.params])[0]
    values = {name: measure(x)[name] for name in optimizer.outputs.names}
    tell = named if trial.number % 2 else as_it_is
    result = tell(trial.number, works(x), values)
    if result.outcome.value == "failed":
        optimizer.fail(trial, result.reason)
    else:
        optimizer.tell(trial, result.values)


class OutputsConformance:
    """Subclass with a fixture `method` that returns the name of a method that is able."""

    @pytest.fixture
    def quick(self, method: str) -> Proposer:
        return quickened(method)

    @pytest.mark.parametrize("given", SITUATIONS, ids=lambda s: s.name)
    def test_every_situation_gets_new_valid_designs(self, quick: Proposer, given) -> None:
        optimizer = make(quick, given)
        asked = [optimizer.ask(), *optimizer.ask(2)]
        assert_new(given.space, asked, given.trials)
        for trial in asked:
            assert_sound(optimizer, trial, given.measured)

    @pytest.mark.parametrize("given", SITUATIONS[::5], ids=lambda s: s.name)
    def test_noisy_values_are_no_trouble(self, method: str, given) -> None:
        optimizer = make(quickened(method, noisy=True), given, noisy=True)
        asked = optimizer.ask(2)
        assert_new(given.space, asked, given.trials)
        for trial in asked:
            assert_sound(optimizer, trial, given.measured)

    @pytest.mark.parametrize("outputs", SEVERAL.values(), ids=SEVERAL)
    def test_without_data_designs_are_spread(self, quick: Proposer, outputs) -> None:
        optimizer = Optimizer(MIXED, outputs, method=quick, seed=0)
        asked = [optimizer.ask(), *optimizer.ask(4)]
        assert_new(MIXED, asked, [])
        said = optimizer.predict(asked[0].params)
        assert (said.outputs, said.p_feasible, said.band) == ({}, 0.5, (0.0, 1.0))

    def test_batches_and_pending_points_keep_apart(self, quick: Proposer) -> None:
        given = situation("", ALL)
        optimizer = make(quick, given)
        asked = [*optimizer.ask(4), optimizer.ask(), optimizer.ask()]
        assert_new(given.space, asked, given.trials)
        designs = [t.params for t in asked]
        assert (gaps(given.space, designs, designs) + np.eye(6)).min() > 1e-3
        assert list(optimizer.pending) == asked

    @pytest.mark.parametrize("space", [reals(2), MIXED, reals(5), CONSTRAINED["a sum in 3"]])
    @pytest.mark.parametrize("outputs", [ALL, (*FIVE, *LIMITS)], ids=["few", "many"])
    def test_a_run_can_be_rebuilt_anywhere(self, quick: Proposer, outputs, space: Space) -> None:
        alive = Optimizer(space, outputs, method=quick, seed=3, n_initial=8)
        for i in range(30):  # past several checkpoints of the fits that continue
            if i >= 8 and i % 6 == 0:
                trials = [Trial.from_dict(t.to_dict()) for t in alive.trials]
                rebuilt = Optimizer(
                    space, outputs, method=quick, seed=3, n_initial=8, trials=trials
                )
                assert alive.ask(2) == rebuilt.ask(2)
                answer(alive, alive.trials[-2])
                alive.lose(alive.trials[-1])
            else:
                answer(alive, alive.ask())
        # A failure that the models deny is repeated on purpose.
        kept = [t for t in alive.trials if t.outcome.value != "lost" and t.origin != AGAIN]
        assert_new(space, kept, [])

    @pytest.mark.parametrize("name", ["a", "b", "c"])
    @pytest.mark.parametrize("extra", [(), LIMITS], ids=["alone", "with limits"])
    def test_maximising_mirrors_minimising(self, quick: Proposer, name: str, extra) -> None:
        outputs = (*THREE, *extra)
        given = situation("", outputs)
        mirror = {"minimize": "maximize", "maximize": "minimize"}
        turned = [
            replace(o, direction=mirror[o.direction]) if o.name == name else o for o in outputs
        ]
        other = replace(given, outputs=Outputs.of(turned), trials=times(given.trials, {name: -1.0}))
        one, mirrored = make(quick, given), make(quick, other)
        assert [t.number for t in one.front] == [t.number for t in mirrored.front]
        for left, right in zip(one.ask(2), mirrored.ask(2), strict=True):
            assert left.params == right.params
            assert left.believed == predicted_times(right.believed, {name: -1.0})

    @pytest.mark.parametrize("factor", FACTORS)
    @pytest.mark.parametrize("name", SCALED)
    def test_the_unit_of_an_output_does_not_matter(
        self, quick: Proposer, name: str, factor: float
    ) -> None:
        outputs = (*TWO, Objective("c", target=0.1) if name == "target" else THREE[2])
        given = situation("", (*outputs, *LIMITS, RECORDED), named)
        name = "c" if name == "target" else name
        rescaled = Outputs.of([_in_unit(o, factor) if o.name == name else o for o in given.outputs])
        other = replace(given, outputs=rescaled, trials=times(given.trials, {name: factor}))
        one, two = make(quick, given), make(quick, other)
        assert [t.number for t in one.front] == [t.number for t in two.front]
        left, right = one.ask(), two.ask()
        assert gaps(given.space, [left.params], [right.params]) < 1e-2
        want = predicted_times(left.believed, {name: factor})
        for key, estimate in right.believed.outputs.items():
            assert estimate.mean == pytest.approx(want.outputs[key].mean, rel=1e-2)

    def test_the_order_of_the_outputs_does_not_change_what_is_acceptable(self, quick) -> None:
        given = situation("", ALL, named_and_measured)
        one = make(quick, given)
        params = {"x0": 0.4, "x1": 0.1}
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(ALL))
            other = make(quick, replace(given, outputs=Outputs.of([ALL[i] for i in order])))
            assert [t.number for t in one.front] == [t.number for t in other.front]
            assert set(other.outputs.names) == set(one.outputs.names)
            said, want = other.predict(params), one.predict(params)
            assert said.p_feasible == pytest.approx(want.p_feasible)
            for name, estimate in want.outputs.items():
                assert said.outputs[name].mean == pytest.approx(estimate.mean)

    def test_lost_trials_say_nothing(self, quick: Proposer) -> None:
        given = situation("", ALL)
        lost = Trial(14, {"x0": 0.3, "x1": 0.3}, Result.lost("power cut"))
        with_lost = make(quick, replace(given, trials=[*given.trials, lost]))
        without = make(quick, given)
        assert with_lost.front == without.front and not with_lost.pending
        params = {"x0": 0.5, "x1": 0.1}
        assert with_lost.predict(params) == without.predict(params)

    def test_the_models_learn_every_output(self, method: str) -> None:
        space = reals(1)
        optimizer = Optimizer(space, (*TWO, *LIMITS[:2], RECORDED), method=method, seed=0)
        for params in space.decode(np.linspace(0, 1, 15)[:, None]):
            values = measure(space.encode([params])[0])
            optimizer.add(params, {name: values[name] for name in optimizer.outputs.names})
        for u in (0.33, 0.71):
            params = space.decode(np.array([[u]]))[0]
            said, truth = optimizer.predict(params), measure(np.array([u]))
            for name, estimate in said.outputs.items():
                assert estimate.mean == pytest.approx(truth[name], abs=0.01)
        low, inside, high = optimizer.predict(space.decode(np.array([[0.03], [0.5], [0.9]])))
        assert inside.p_feasible > 0.65 > 0.35 > max(low.p_feasible, high.p_feasible)

    def test_limits_that_failures_name_are_learned(self, method: str) -> None:
        """Also where the values that were measured promise that the limit is kept."""
        outputs = [Objective("a"), Limit("high", upper=0.5)]
        for bend in (1.0, 0.1):  # measured up to 0.5 or up to 0.05, and a failure all the same
            optimizer = Optimizer(reals(1), outputs, method=method, seed=0)
            for u in np.linspace(0, 0.5, 8):
                optimizer.add({"x0": 3 * u - 1}, {"a": (u - 1) ** 2, "high": bend * u})
            for u in (0.65, 0.75, 0.85, 0.95):
                optimizer.add({"x0": 3 * u - 1}, failed="high")
            worked, failed = optimizer.predict([{"x0": 3 * u - 1} for u in (0.3, 0.8)])
            assert worked.p_feasible > 0.6 > 0.4 > failed.p_feasible

    def test_a_proposal_says_how_it_was_found(self, method: str) -> None:
        given = situation("", ALL)
        optimizer = make(method, given)
        trial, proposal = optimizer.ask(), optimizer.proposal
        assert proposal is not None and given.space.decode(proposal.X) == [trial.params]
        found, believed = proposal.found[0], proposal.believed[0]
        assert (trial.origin, trial.note) == (found.winner, found.fallback)
        assert trial.believed == believed and believed.outputs.keys() == given.measured
        assert np.isfinite([found.value, found.slack]).all()

    @pytest.mark.parametrize("outputs", SEVERAL.values(), ids=SEVERAL)
    def test_the_report_is_true(self, method: str, outputs) -> None:
        proposer = build(Settings(method=method))
        if not isinstance(proposer, Boundary):
            pytest.skip("no band to recompute")
        given = situation("", outputs)
        data = dataset(given.trials, given.space, given.outputs)
        none, rng = np.empty((0, 2)), np.random.default_rng(3)
        proposer = replace(proposer, band=MinimumProbability(0.5))
        proposal = proposer.propose(data, region_of(given.space, data.X), none, 1, rng)
        found = proposal.found[0]
        models = proposer.fit(data, np.random.default_rng(3))
        slack = proposer.band.slack(models.feasibility, found.x[None])[0]
        assert found.slack == pytest.approx(slack - models.feasibility.doubt)
        assert found.bound_holds == (found.slack >= -TOLERANCE)
        if len(given.outputs.objectives) <= 3:  # with more, weights are drawn
            over = proposer.improvement.over(data, models, none, 2, np.random.default_rng(3))
            assert found.value == pytest.approx(over.values(found.x[None])[0])
        if found.fallback is None:
            assert found.bound_holds

    @pytest.mark.parametrize("risk", [0.05, 0.3])
    @pytest.mark.parametrize("tell", [as_it_is, named, named_and_measured])
    def test_a_limited_risk_is_kept(self, method: str, risk: float, tell) -> None:
        given = situation("", ALL, tell)
        if build(Settings(method=method)).limited_to(risk) is None:
            with pytest.raises(InvalidInput, match="cannot limit its risk"):
                make(method, given, risk=risk)
            return
        trial = make(method, given, risk=risk).ask()
        assert_new(given.space, [trial], given.trials)
        assert trial.believed.p_feasible >= 1 - risk - 1e-6 or "bound" in trial.note


class Refusal:
    """Subclass with a fixture `method` that returns the name of a method that is not able."""

    @pytest.mark.parametrize("outputs", SEVERAL.values(), ids=SEVERAL)
    def test_what_it_cannot_do_it_refuses_and_names_who_can(self, method: str, outputs) -> None:
        with pytest.raises(InvalidInput) as error:
            Optimizer(reals(2), outputs, method=method)
        said = str(error.value)
        assert method in said and all(name in said.split("these can:")[1] for name in ABLE)
        assert all(output.name in said for output in outputs)

    def test_one_objective_with_a_name_is_none_of_that(self, method: str) -> None:
        optimizer = Optimizer(reals(2), Objective("cost", "maximize"), method=quickened(method))
        for params in random_designs(reals(2), 3):
            optimizer.add(params, {"cost": 1.0})
        assert optimizer.ask().params


def _in_unit(output: Any, factor: float) -> Any:
    """The output with its marks in another unit."""
    marks = [m for m in ("target", "reference", "lower", "upper") if hasattr(output, m)]
    given = {m: getattr(output, m) for m in marks}
    return replace(output, **{m: None if v is None else factor * v for m, v in given.items()})


def test_recorded_alone_is_not_enough() -> None:
    with pytest.raises(InvalidInput, match="no Objective"):
        Optimizer(reals(2), [Recorded("noted")])
