"""A campaign that has begun gets another description; what was recorded stays."""

import copy
from pathlib import Path
from typing import Any

import pytest
from coating import COATING, DESIGN, new_campaign

from becbo import InvalidInput
from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The description with one entry set, or removed if it is to be None."""
    content: dict[str, Any] = copy.deepcopy(COATING)
    place = content
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = to
    if to is None:
        del place[path[-1]]
    return content


def test_ranges_steps_budget_and_constraints_change(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    campaign.add(DESIGN, 700)
    elsewhere = Campaign.open(campaign.where)
    asked = campaign.suggest()[0]
    assert elsewhere.description.budget != 99

    wider = changed("parameters", "temperature", "high", to=900)
    wider["budget"] = 99
    wider["constraints"] = ["temperature >= 600"]
    different = campaign.change(wider)
    assert "parameters temperature high: 500 -> 900" in different
    assert any(line.endswith("-> 99") and line.startswith("budget") for line in different)
    assert "constraints: not set -> temperature >= 600" in different
    assert elsewhere.description == describe(wider)
    assert [run.number for run in elsewhere.runs] == [0, asked.number]
    elsewhere.record(asked.number, 710)
    assert all(run.params["temperature"] >= 600 for run in elsewhere.suggest(12))
    assert campaign.change(wider) == []


def test_a_step_may_come(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    campaign.add(DESIGN, 700)
    step = 10 if DESIGN["temperature"] % 10 == 0 else 1
    assert campaign.change(changed("parameters", "temperature", "step", to=step))
    assert all(run.params["temperature"] % step == 0 for run in campaign.suggest(3))


@pytest.mark.parametrize(
    ("path", "to", "named"),
    [
        (("name",), "b", "the name is 'b', not 'coating'; create a new campaign"),
        (
            ("objective", "direction"),
            "minimize",
            "hardness as small as possible: these are other",
        ),
        (
            ("parameters", "speed"),
            {"low": 0, "high": 1},
            "speed were added or removed; create a new",
        ),
        (("parameters", "layers"), None, "layers were added or removed"),
        (("parameters", "layers"), {"low": 1, "high": 6}, "'layers': a choice, a whole number"),
        (("parameters", "temperature", "log"), True, "'temperature': a choice, a whole number"),
        (
            ("parameters", "gas", "choices"),
            [gas for gas in ("argon", "nitrogen", "neon", "helium") if gas != DESIGN["gas"]],
            f"run 0 would no longer be valid: gas = '{DESIGN['gas']}' .* keep the choice",
        ),
        (
            ("parameters", "temperature", "low"),
            DESIGN["temperature"] + 1,
            "run 0 would no longer be valid: temperature = .* add a constraint",
        ),
    ],
)
def test_what_runs_mean_does_not_change(
    tmp_path: Path, path: tuple[str, ...], to: Any, named: str
) -> None:
    campaign = new_campaign(tmp_path)
    campaign.add(DESIGN, 700)
    before = campaign.description
    with pytest.raises(InvalidInput, match=named):
        campaign.change(changed(*path, to=to))
    assert Campaign.open(campaign.where).description == before


def test_lost_runs_do_not_matter(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    campaign.withdraw(campaign.suggest()[0].number)
    low = campaign.runs[0].params["temperature"] + 1
    assert campaign.change(changed("parameters", "temperature", "low", to=low))
    assert campaign.suggest()[0].params["temperature"] >= low


def test_contradicting_constraints_are_refused(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    with pytest.raises(InvalidInput):
        campaign.change(changed("constraints", to=["temperature <= 200", "temperature >= 300"]))


@pytest.mark.parametrize("gases", [["neon", "argon", "nitrogen"], ["nitrogen", "argon", "neon"]])
def test_a_new_choice_comes_to_a_campaign_that_has_begun(tmp_path: Path, gases: list[str]) -> None:
    """Wherever it is listed, and also for programs that have the campaign open."""
    campaign = new_campaign(tmp_path)
    designs = [{**DESIGN, "gas": gas} for gas in ("argon", "nitrogen")]
    for i, design in enumerate(designs):
        campaign.add(design, 700 + i)
    elsewhere = Campaign.open(campaign.where)
    pending = elsewhere.suggest()[0]
    campaign.change(changed("parameters", "gas", "choices", to=gases))
    for each in (campaign, elsewhere, Campaign.open(campaign.where)):
        assert [run.params for run in each.runs[:2]] == designs
        assert each.runs[2].params == pending.params
        assert len(each.suggest()) == 1
    elsewhere.record(pending.number, 720)
    run = elsewhere.add({**DESIGN, "gas": "neon"}, 900)
    assert Campaign.open(campaign.where).run(run.number).params["gas"] == "neon"
    assert {run.params["gas"] for run in campaign.suggest(10)} >= {"neon"}


def test_a_choice_that_nobody_has_used_may_go(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    campaign.add({**DESIGN, "gas": "argon"}, 700)
    campaign.change(changed("parameters", "gas", "choices", to=["neon", "argon"]))
    assert campaign.runs[0].params["gas"] == "argon"
    assert {run.params["gas"] for run in campaign.suggest(6)} == {"argon", "neon"}


def test_a_journal_keeps_its_choices(tmp_path: Path) -> None:
    campaign = Campaign.create(COATING, tmp_path / "lab.journal")
    campaign.add(DESIGN, 700)
    before = campaign.description
    with pytest.raises(InvalidInput, match="the choices of gas cannot change in a journal"):
        campaign.change(changed("parameters", "gas", "choices", to=["argon", "nitrogen", "neon"]))
    assert campaign.description == before


def test_steps_bind_suggestions_and_not_what_was_done(tmp_path: Path) -> None:
    content = changed("parameters", "temperature", "step", to=10)
    campaign = Campaign.create(content, tmp_path / "lab.db")
    odd = {**DESIGN, "temperature": 213.7}
    assert campaign.add(odd, 700).params == odd
    assert campaign.plan({**DESIGN, "temperature": 217.2}).params["temperature"] == 217.2
    assert all(run.params["temperature"] % 10 == 0 for run in campaign.suggest(3))
    (trial, *_) = campaign.optimizer().trials
    assert trial.params["temperature"] == 213.7
    assert campaign.change(changed("parameters", "temperature", "step", to=25))
    assert campaign.runs[0].params == odd
