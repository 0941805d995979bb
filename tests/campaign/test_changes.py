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
        (("parameters", "layers"), {"low": 1, "high": 6}, "'layers': choices, whole numbers and"),
        (("parameters", "temperature", "log"), True, "'temperature': choices, whole numbers and"),
        (("parameters", "gas", "choices"), ["argon", "neon"], "'gas': choices, whole numbers"),
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
