"""What is taken off the chance of a design because a search has climbed to it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory import campaign_in_memory
from scipy.special import ndtri

from becbo import Optimizer, Prediction, Real, Space
from becbo.insight.insight import analyze_campaign
from becbo.models.optimism import as_chosen, learned
from becbo.search.goal import REFINED

PLANE = Space([Real("x", 0, 1), Real("y", 0, 1)])
CHANCES = st.floats(0.001, 0.999)


def said(chance: float, luck: float = 0.0) -> Prediction:
    return Prediction({}, (1 - luck) * chance, (0.0, 1.0), luck)


@given(CHANCES, st.floats(0.0, 0.5))
def test_a_score_loses_the_optimism_from_one_half_on_and_nothing_below_a_quarter(
    chance: float, luck: float
) -> None:
    left = as_chosen(said(chance, luck), 0.6).p_feasible / (1 - luck)
    lost = ndtri(chance) - ndtri(left)
    assert -1e-9 <= lost <= 0.6 + 1e-9
    if chance >= 0.5:
        assert lost == pytest.approx(0.6, abs=1e-6)
    if chance <= 0.25:
        assert lost == pytest.approx(0.0, abs=1e-6)


@given(CHANCES, CHANCES)
def test_what_is_likelier_stays_likelier(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert as_chosen(said(low), 0.6).p_feasible <= as_chosen(said(high), 0.6).p_feasible


def test_the_band_holds_the_chance() -> None:
    believed = as_chosen(Prediction({}, 0.8, (0.75, 0.85), 0.0), 0.6)
    assert believed.band[0] <= believed.p_feasible <= believed.band[1]


def works(params: dict[str, Any]) -> bool:
    return params["x"] + params["y"] < 0.8


def run(n: int, **settings: Any) -> Optimizer:
    optimizer = Optimizer(PLANE, "maximize", seed=0, n_initial=6, **settings)
    for _ in range(n):
        trial = optimizer.ask()
        if works(trial.params):
            optimizer.tell(trial, trial.params["x"] + 2 * trial.params["y"])
        else:
            optimizer.fail(trial, reason=settings.get("reason"))
    return optimizer


@given(st.floats(0.1, 1.0), st.lists(st.tuples(CHANCES, st.booleans()), max_size=40))
def test_failures_raise_the_optimism_and_successes_lower_it(
    usual: float, came: list[tuple[float, bool]]
) -> None:
    def after(*more: tuple[float, bool]) -> float:
        chances, worked = zip(*came, *more, strict=True) if came or more else ((), ())
        return learned(usual, np.array(chances), np.array(worked, dtype=bool))

    assert after((0.7, False)) > after((0.7, True)) > 0
    assert after((0.9, False)) > after((0.1, False))  # the less expected, the more is learned
    far = abs(after() - usual)
    assert abs(after(*[(0.0, False)] * 200) - usual) <= min(far, 1e-3)  # and it is forgotten


def test_the_optimism_settles_where_stated_chances_come_true() -> None:
    rng = np.random.default_rng(0)
    stated, worked = np.empty(0), np.empty(0, dtype=bool)
    for _ in range(400):  # the models say 80 %, half of the designs work
        chance = as_chosen(said(0.8), learned(0.6, stated, worked)).p_feasible
        stated, worked = np.append(stated, chance), np.append(worked, rng.random() < 0.5)
    assert stated[-200:].mean() == pytest.approx(0.5, abs=0.05)
    assert as_chosen(said(0.8), 0.6).p_feasible > 0.59


def what_came_says(optimizer: Optimizer) -> float:
    """The optimism of the last trial, by those that were answered before it."""
    told = [t for t in optimizer.trials[:-1] if t.believed is not None and t.believed.optimism]
    chances = [t.believed.p_feasible for t in told if t.believed is not None]
    return learned(0.6, np.array(chances), np.array([works(t.params) for t in told], dtype=bool))


def test_proposals_that_were_climbed_to_promise_less_than_the_models() -> None:
    optimizer = run(12)
    climbed = drawn = 0
    for _ in range(12):
        trial = optimizer.ask()
        assert trial.believed is not None and trial.origin is not None
        models = optimizer.predict(trial.params).p_feasible
        if REFINED in trial.origin:
            climbed += 1
            assert trial.believed.optimism == pytest.approx(what_came_says(optimizer))
            assert trial.believed.p_feasible <= models + 1e-9
        else:
            drawn += 1
            assert trial.believed.p_feasible == pytest.approx(models)
        optimizer.tell(trial, 0.0) if works(trial.params) else optimizer.fail(trial)
    assert climbed and drawn


@pytest.mark.parametrize("settings", [{"risk": 0.2}, {"method": "cei"}])
def test_chances_are_not_discounted_where_that_was_not_measured(settings: dict[str, Any]) -> None:
    optimizer = run(10, **settings)
    trial = optimizer.ask()
    assert trial.believed is not None
    assert trial.believed.optimism == 0.0
    assert trial.believed.p_feasible == pytest.approx(optimizer.predict(trial.params).p_feasible)


def test_a_chance_that_was_stored_keeps_its_optimism() -> None:
    believed = as_chosen(said(0.7, 0.1), 0.6)
    assert Prediction.from_dict(believed.to_dict()) == believed


def test_a_run_that_waits_is_not_said_to_have_changed_by_itself(
    tmp_path: Path,
) -> None:
    campaign = campaign_in_memory(
        tmp_path,
        {
            "name": "edge",
            "objective": {"name": "yield", "direction": "maximize"},
            "parameters": {"x": {"low": 0, "high": 1}, "y": {"low": 0, "high": 1}},
            "n_initial": 6,
        },
    )
    for trial in run(14).trials:
        value = trial.value if works(trial.params) else None
        if value is None:
            campaign.add(trial.params, failed=True)
        else:
            campaign.add(trial.params, value)
    runs = campaign.suggest(3)
    assert any(r.believed is not None and r.believed.optimism for r in runs)
    for suggestion in analyze_campaign(campaign).suggestions:
        assert not suggestion.change
