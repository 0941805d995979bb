"""Campaigns with several outputs: what is kept, what counts, what the command line says."""

from pathlib import Path
from typing import Any

import pytest

from becbo import InvalidInput, Outcome
from becbo.campaign.campaign import Campaign
from becbo.campaign.formatting import result_text
from becbo.campaign.serialization import run_to_dict, status_to_dict

GLUE: dict[str, Any] = {
    "name": "glue",
    "objectives": {
        "strength": {"direction": "maximize", "unit": "kPa"},
        "ph": {"target": 7},
    },
    "limits": {"viscosity": {"upper": 200, "unit": "mPas"}},
    "recorded": {"colour": {}},
    "parameters": {"heat": {"low": 0, "high": 100}, "time": {"low": 1, "high": 10}},
    "n_initial": 3,
}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.create(GLUE, tmp_path / "lab.db")


def test_any_output_may_stay_empty(campaign: Campaign) -> None:
    first, second = campaign.suggest(2)
    campaign.record(first.number, {"strength": 80.0, "viscosity": None})
    campaign.record(second.number, failed="gel", measured={"viscosity": 340})
    there = Campaign.open(campaign.where)
    kept = there.run(first.number)
    assert kept.outcome is Outcome.OK
    assert kept.values == {"strength": 80.0, "ph": None, "viscosity": None, "colour": None}
    failed = there.run(second.number)
    assert result_text(failed.result, there.description.outputs) == (
        "failed (gel; viscosity 340 mPas)"
    )
    assert run_to_dict(failed)["values"]["viscosity"] == 340
    assert there.status.front == ()


def test_the_front(campaign: Campaign) -> None:
    values = [(80, 7.5, 90), (70, 7.0, 100), (60, 6.0, 100), (99, 7.0, 300)]
    for i, (strength, ph, viscosity) in enumerate(values):
        measured = {"strength": strength, "ph": ph, "viscosity": viscosity}
        campaign.add({"heat": 10.0 * i, "time": 2}, measured)
    status = campaign.status
    assert [run.number for run in status.front] == [0, 1]  # 2 is beaten, 3 breaks the limit
    assert status.best is None
    shown = status_to_dict(campaign)
    assert [run["number"] for run in shown["front"]] == [0, 1] and shown["best"] is None
    assert [objective["name"] for objective in shown["objectives"]] == ["strength", "ph"]


def test_correct_undo_and_suggest(campaign: Campaign) -> None:
    for heat in (10, 40, 70):
        campaign.add({"heat": heat, "time": 2}, {"strength": heat, "ph": 6.0, "viscosity": heat})
    campaign.correct(0, {"strength": 12})
    assert campaign.run(0).values["ph"] is None
    campaign.undo(0)
    assert campaign.run(0).values == {"strength": 10, "ph": 6.0, "viscosity": 10, "colour": None}
    (run,) = campaign.suggest()
    assert run.believed is not None
    assert set(run.believed.outputs) == {"strength", "ph", "viscosity"}


def test_limits_may_change(campaign: Campaign) -> None:
    campaign.add({"heat": 1, "time": 2}, {"strength": 1, "ph": 7, "viscosity": 250})
    assert campaign.status.front == ()
    wider = {
        **GLUE,
        "limits": {"viscosity": {"upper": 300, "unit": "mPas"}, "density": {"lower": 1}},
    }
    assert "limits viscosity upper: 200 -> 300" in campaign.change(wider)
    assert [run.number for run in campaign.status.front] == [0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"value": 3}, "there are several outputs; give a dict of strength, ph, viscosity, colour"),
        ({"value": {}}, "no value was given; give at least one of strength"),
        ({"value": {"hardness": 1}}, "output 'hardness' does not exist"),
        ({"value": {"ph": float("nan")}}, "ph nan is not finite; leave it out"),
        ({"value": {"ph": "7"}}, "ph '7' is not a number"),
        ({"value": {"ph": 7}, "measured": {"ph": 7}}, "goes with failed"),
        ({"lost": True, "measured": {"ph": 7}}, "goes with failed"),
    ],
)
def test_results_that_cannot_be(campaign: Campaign, arguments: Any, words: str) -> None:
    (run,) = campaign.suggest()
    with pytest.raises(InvalidInput, match=words):
        campaign.record(run.number, **arguments)
    assert campaign.run(run.number) == run


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objective": "x"}, "give either `objective`, for one, or `objectives`"),
        ({"objectives": {}}, "have no Objective"),
        ({"objectives": ["strength"]}, "must have entries such as `strength: {direction"),
        ({"objectives": {"ph": {"target": 7, "direction": "minimize"}}}, "give one of them"),
        ({"objectives": {"ph": {"upper": 7}}}, "objectives: 'ph': unknown 'upper'"),
        ({"limits": {"viscosity": {}}}, "limit 'viscosity' needs `lower` or `upper`"),
        ({"limits": {"viscosity": {"lower": 3, "upper": 1}}}, "lower 3.0 must be below upper 1.0"),
        ({"limits": {"strength": {"upper": 1}}}, "strength stands more than once"),
        ({"recorded": {"heat": {}}}, "'heat' is a parameter and an output too"),
        ({"recorded": {"believed ph": {}}}, "'believed ph' is a column of every table"),
        ({"method": "be-cbo"}, "be-cbo"),
    ],
)
def test_outputs_that_cannot_be(tmp_path: Path, change: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Campaign.create({**GLUE, **change}, tmp_path / "lab.db")
    assert not (tmp_path / "lab.db").exists()
