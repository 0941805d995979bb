"""The chance to improve on the best, or on the front, against sampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Objective
from becbo.campaign.runs import NOTHING, Run, RunState
from becbo.insight.chances import chance_to_improve
from becbo.outputs import Outputs
from becbo.trial import PENDING, Estimate, Prediction, Result

OBJECTIVES = [Objective("a", "maximize"), Objective("b", "minimize"), Objective("c", target=0.5)]
values = st.floats(-1, 1)


def run(number: int, measured: dict[str, float]) -> Run:
    before = RunState(PENDING, "", None, NOTHING)
    result = Result.ok(measured)
    return Run(number, {}, result, None, "user", "", None, None, number, before, ())


@settings(deadline=None, derandomize=True, max_examples=40)
@given(data=st.data(), m=st.integers(1, 3), n=st.integers(1, 4))
def test_the_chance_agrees_with_sampling(data: st.DataObject, m: int, n: int) -> None:
    objectives = data.draw(st.permutations(OBJECTIVES))[:m]
    names = [objective.name for objective in objectives]
    front = [run(i, {name: data.draw(values) for name in names}) for i in range(n)]
    spreads = st.floats(0.1, 1)
    estimates = {name: Estimate(data.draw(values), data.draw(spreads)) for name in names}
    now = Prediction(estimates, 0.8, (0.7, 0.9))
    rng = np.random.default_rng(0)
    drawn = {name: rng.normal(e.mean, e.std, 20_000) for name, e in estimates.items()}
    beaten = np.zeros(20_000, dtype=bool)
    for known in front:
        as_good = [
            [o.gain(known.values[o.name] or 0.0) >= o.gain(v) for v in drawn[o.name]]
            for o in objectives
        ]
        beaten |= np.all(as_good, axis=0)
    expected = 0.8 * (1 - beaten.mean())
    assert chance_to_improve(now, Outputs.of(objectives), front) == pytest.approx(
        expected, abs=0.02
    )


def test_nothing_to_beat_and_too_many_objectives() -> None:
    now = Prediction({"a": Estimate(1, 1)}, 0.4, (0.3, 0.5))
    assert chance_to_improve(now, Outputs.of(OBJECTIVES[0]), []) == 0.4
    many = Outputs.of([Objective(name) for name in "abcd"])
    assert chance_to_improve(now, many, []) is None
