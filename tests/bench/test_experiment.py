"""What is true about a design, and what a method is told about it."""

import numpy as np
import pytest

from becbo import Optimizer
from becbo.bench.experiment import Answer, answer, outputs_of, perform, struck
from becbo.outputs import Outputs
from becbo.problems import get
from becbo.trial import Outcome

BNH = get("bnh")
INSIDE = {"a": 1.0, "b": 1.0}
OUTSIDE = {"a": 0.0, "b": 3.0}  # 25 + 9 > 25
HALF = {"coils": 10, "coil_diameter": 0.5, "wire_diameter": 0.5}  # a spring that cannot be wound


def test_what_is_true() -> None:
    inside, outside = perform(BNH, INSIDE), perform(BNH, OUTSIDE)
    assert (inside.values, inside.violated) == ((8.0, 32.0), ())
    assert (outside.values, outside.violated) == (None, ("inside",))
    assert outside.is_complete  # infeasible, and measured all the same
    assert outside.measured["inside"] == -9.0
    spring = perform(get("spring"), HALF)
    assert (spring.values, spring.is_complete) == (None, False)
    assert "shear stress" in spring.violated


def test_failures_return_nothing_unless_measured() -> None:
    outside = perform(BNH, OUTSIDE)
    assert answer(outside, measured=False) == Answer(None)
    assert answer(outside, measured=False, told="all") == Answer(None, "inside")
    assert answer(outside, measured=True) == Answer(outside.measured)
    assert answer(perform(BNH, INSIDE), measured=False) == Answer({"f1": 8.0, "f2": 32.0})
    spring = perform(get("spring"), HALF)
    assert answer(spring, measured=True) == Answer(None, None, spring.measured)


def test_told_reasons_are_the_first_or_all() -> None:
    thin = {"weld_thickness": 0.125, "weld_length": 5, "bar_height": 0.1, "bar_thickness": 5}
    failure = perform(get("welded_beam"), thin)
    assert answer(failure, False, "nothing").reason is None
    assert answer(failure, False, "first").reason == "shear stress"
    assert answer(failure, False, "all").reason == "shear stress, bending stress, deflection"


@pytest.mark.parametrize("name", ["bnh", "lsq"])
def test_outputs_are_those_that_are_measured(name: str) -> None:
    problem = get(name)
    told = Outputs.of(outputs_of(problem, measured=False))
    assert told.names == problem.objective_names
    measured = Outputs.of(outputs_of(problem, measured=True))
    assert measured.names == (*problem.objective_names, *problem.constraints)
    assert all(limit.bounds[0] == 0 for limit in measured.limits)


def test_an_optimizer_hears_the_same_about_its_own_designs_and_others() -> None:
    optimizer = Optimizer(BNH.space, outputs_of(BNH, measured=True), method="sobol", seed=0)
    answer(perform(BNH, OUTSIDE), measured=True).add_to(optimizer, OUTSIDE)
    Answer(None, "gel", {"f1": 1.0}).add_to(optimizer, {"a": 5.0, "b": 0.0})
    trial = optimizer.ask()
    found = perform(BNH, trial.params)
    answer(found, measured=True).give_to(optimizer, trial)
    Answer(None, None, {"f1": 2.0}).give_to(optimizer, optimizer.ask())
    trials = optimizer.trials
    assert [t.outcome for t in trials] == [Outcome.OK, Outcome.FAILED] * 2
    assert trials[0].values == perform(BNH, OUTSIDE).measured
    assert (trials[1].reason, trials[1].values["f1"], trials[1].values["f2"]) == ("gel", 1.0, None)
    assert trials[2].values == found.measured
    assert trials[3].values["f1"] == 2.0


def test_bad_luck_strikes_feasible_designs_only_and_every_method_alike():
    inside, outside = perform(BNH, INSIDE), perform(BNH, OUTSIDE)
    draws, again, other = (
        [struck(inside, 0.3, name, seed=1, number=n).is_unlucky for n in range(400)]
        for name in ("lsq", "lsq", "spring")
    )
    assert draws == again != other
    assert 0.2 < np.mean(draws) < 0.4
    assert not any(struck(outside, 0.99, "lsq", 1, n).is_unlucky for n in range(20))
    unlucky = struck(inside, 0.999, "lsq", 1, 0)
    assert unlucky.values is None and answer(unlucky, measured=True) == Answer(None)
