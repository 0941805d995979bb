"""What the pages can do with a campaign besides recording runs."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from web.lab import COATING, Opens, Site

from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.trial import Outcome
from becbo.web.description_form import changed_description, description_of, fields_of

PAGE = "/c/coating"
GLUE: dict[str, Any] = {
    "name": "glue",
    "objectives": {
        "strength": {"direction": "maximize", "unit": "kPa", "note": "after a day", "reference": 1},
        "ph": {"target": 7},
    },
    "limits": {"viscosity": {"upper": 200, "unit": "mPas"}, "salt": {"lower": 0.5, "upper": 2}},
    "recorded": {"density": {"unit": "g/ml"}},
    "parameters": {
        "temperature": {"low": 20, "high": 90, "unit": "°C", "note": "of the bath"},
        "drops": {"low": 1, "high": 1000, "integer": True, "log": True},
        "coats": {"low": 2, "high": 8, "integer": True, "step": 2},
        "batch": {"choices": [1, 2, "old"]},
    },
    "constraints": ["temperature + coats <= 95"],
    "budget": 30,
    "risk": 0.2,
    "failures": {"chance": 0.05, "price": 2.5, "budget": 9},
    "seed": 7,
    "noisy": True,
}


def text_of(site: Site, path: str) -> str:
    answer = site.get(path)
    assert answer.status_code == 200
    return answer.text


@pytest.fixture
def glue(where: Path) -> Campaign:
    return Campaign.create({**GLUE, "constraints": []}, where)


def test_the_form_shows_a_whole_description() -> None:
    described = describe(GLUE)
    fields = fields_of(described)
    assert changed_description(described, fields) | {"name": "glue"} == {
        **described.to_dict(), "n_initial": 10, "note": ""
    }  # fmt: skip
    plain = describe({**COATING, "name": "x"})
    again = description_of(fields_of(plain))
    assert describe(again).to_dict() == plain.to_dict()


def test_a_campaign_with_several_outputs(site: Site, where: Path) -> None:
    fields = {
        "name": "glue",
        "output-0-name": "strength", "output-0-kind": "maximize", "output-0-unit": "kPa",
        "output-1-name": "ph", "output-1-kind": "target", "output-1-target": "7,0",
        "output-2-name": "viscosity", "output-2-kind": "limit", "output-2-upper": "200 mPas",
        "output-2-unit": "mPas", "output-2-target": "3",  # typed before the kind was changed
        "output-4-name": "density", "output-4-kind": "recorded",
        "parameter-0-name": "time", "parameter-0-kind": "number", "parameter-0-low": "1 min",
        "parameter-0-high": "60 min", "parameter-0-unit": "min",
    }  # fmt: skip
    answer = site.send("/new", fields)
    assert answer.headers["location"] == "/c/glue"
    described = Campaign.open(where, "glue").description.to_dict()
    assert described["objectives"] == {
        "strength": {"unit": "kPa", "direction": "maximize"}, "ph": {"target": 7}
    }  # fmt: skip
    assert described["limits"] == {"viscosity": {"unit": "mPas", "upper": 200}}
    assert described["recorded"] == {"density": {}}
    assert described["parameters"] == {"time": {"low": 1, "high": 60, "unit": "min"}}


def test_results_with_several_outputs(site: Site, glue: Campaign) -> None:
    for _ in range(3):
        glue.plan({"temperature": 30.0, "drops": 5, "coats": 2, "batch": 1})
    text = text_of(site, "/c/glue")
    assert text.count('name="output-4"') == 4  # three runs, and the form to add one
    fields = {"version": "0", "outcome": "ok", "output-0": "118,3 kPa", "output-2": "150"}
    told = site.send("/c/glue/runs/0/record", fields).headers["location"]
    assert "Run 0 is recorded: strength 118.3 kPa, viscosity 150 mPas." in text_of(site, told)
    fields = {"version": "1", "outcome": "failed", "reason": "gel", "output-2": "340"}
    site.send("/c/glue/runs/1/record", fields)
    run = glue.run(1)
    assert (run.outcome, run.values["viscosity"], run.reason) == (Outcome.FAILED, 340, "gel")
    empty = site.send("/c/glue/runs/2/record", {"version": "2", "outcome": "ok"})
    assert empty.status_code == 422 and "strength and ph and viscosity" in empty.text
    text = text_of(site, "/c/glue")
    assert "50 inside" in text and "140 beyond" in text
    assert "not measured" in text_of(site, "/c/glue/runs/0")


def test_reasons_are_offered_the_most_frequent_first(site: Site, campaign: Campaign) -> None:
    for _ in range(2):
        campaign.add({"temperature": 444.0, "gas": "argon"}, failed="peeled")
    text = text_of(site, PAGE)
    assert text.index('value="peeled"') < text.index('value="cracked"')
    fields = {"version": "4", "outcome": "failed", "reason-1": "cracked", "reason": "bent"}
    site.send(f"{PAGE}/runs/4/record", fields)
    assert campaign.run(4).result.reasons.names == ("cracked", "bent")


def test_change_a_description(site: Site, campaign: Campaign) -> None:
    fields = fields_of(campaign.description) | {"budget": "25", "parameter-0-high": "480 °C"}
    assert 'value="450"' in text_of(site, f"{PAGE}/change")
    answer = site.send(f"{PAGE}/change", fields)
    text = text_of(site, answer.headers["location"])
    assert "The description is changed in 2 places." in text
    assert campaign.description.budget == 25
    assert campaign.description.parameters[0].parameter.high == 480
    refused = site.send(f"{PAGE}/change", fields | {"parameter-0-high": "280"})
    assert refused.status_code == 422 and "run 2 would no longer be valid" in refused.text
    assert 'value="280"' in refused.text
    yaml = campaign.description.to_yaml().replace("budget: 25", "budget: 26")
    site.send(f"{PAGE}/change/file", {"yaml": yaml})
    assert campaign.description.budget == 26


def test_delete_and_restore(site: Site, campaign: Campaign) -> None:
    before = campaign.runs
    assert site.send(f"{PAGE}/delete").headers["location"] == "/"
    home = text_of(site, "/")
    assert "Deleted campaigns" in home and f'href="{PAGE}"' not in home
    assert site.get(PAGE).status_code == 404
    assert site.get("/api/campaigns").json() == []
    answer = site.send("/restore", {"campaign": "coating"})
    assert answer.headers["location"] == PAGE
    assert campaign.runs == before
    assert site.send("/restore", {"campaign": "coating"}).status_code == 404


def test_undo_an_import(site: Site, campaign: Campaign) -> None:
    table = "temperature;gas;hardness\n210;argon;310\n430;argon;failed\n"
    answer = site.send(f"{PAGE}/import", {}, files={"file": ("old.csv", table)})
    text = text_of(site, answer.headers["location"])
    assert "an import of 2 runs" in text
    assert text.count("Undo the last entry") == 2  # beside the message, and with the data
    entry = campaign.runs[-1].entry
    assert entry is not None
    stale = str(entry.trial)
    campaign.record(4, 1.0)
    refused = site.send(f"{PAGE}/undo", {"entry": stale})
    assert refused.status_code == 409 and "newer entry" in refused.text
    campaign.undo(4)
    done = site.send(f"{PAGE}/undo", {"entry": stale}).headers["location"]
    assert "2 runs returned" in text_of(site, done)
    assert [run.outcome for run in campaign.runs[-2:]] == [Outcome.LOST, Outcome.LOST]


def test_repeat_a_run(site: Site, campaign: Campaign) -> None:
    answer = site.send(f"{PAGE}/runs/2/repeat")
    assert "Run 5 is added to the next experiments." in text_of(site, answer.headers["location"])
    run = campaign.run(5)
    assert (run.params, run.outcome) == (campaign.run(2).params, Outcome.PENDING)
    assert run.note == "repeat of run 2"


def test_a_pending_run_shows_its_note(site: Site, campaign: Campaign) -> None:
    campaign.plan(campaign.run(0).params, note="ask Ann <first>")
    assert "Note: ask Ann &lt;first&gt;" in site.get("/c/coating").text


@pytest.mark.parametrize("name", ["Ann", "Zoë Müller 北"])
def test_entries_are_signed(site: Site, campaign: Campaign, name: str) -> None:
    answer = site.send("/name", {"name": name, "back": PAGE})
    assert answer.headers["location"] == PAGE
    fields = {"outcome": "ok", "output-0": "410", "version": "4"}
    site.send(f"{PAGE}/runs/4/record", fields)
    assert campaign.run(4).by == name
    assert f"by {name}" in text_of(site, f"{PAGE}/runs/4")
    site.send("/name", {"name": "", "back": "/"})
    site.send(f"{PAGE}/runs/0/undo", {"version": "0"})
    assert "Who are you?" in text_of(site, "/")


def test_a_program_can_sign_too(site: Site, campaign: Campaign) -> None:
    headers = {"X-Becbo-Name": "oven%203"}
    answer = site.json("/api/campaigns/coating/runs/4/record", {"value": 3}, headers=headers)
    assert answer.json()["by"] == campaign.run(4).by == "oven 3"


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "", "/a?b", "\\x"])
def test_a_name_leads_nowhere_else(site: Site, back: str) -> None:
    assert site.send("/name", {"name": "Ann", "back": back}).headers["location"] == "/"


def test_a_page_is_small(open_site: Opens) -> None:
    """Everything that a browser loads for a campaign, compressed as it is sent."""
    site = open_site()
    text = text_of(site, PAGE)
    assets = set(re.findall(r'"(/static/[^"]+)"', text))
    assert any("plotly" in path for path in assets)
    plain = sum(len(site.get(path).content) for path in assets) + len(text)
    assert plain < 1_500_000
    sent = 0
    for path in assets:
        with site.client.stream("GET", path) as answer:
            assert answer.headers["content-encoding"] == "gzip"
            raw = b"".join(answer.iter_raw())
        assert gzip.decompress(raw) == site.get(path).content
        assert "immutable" in answer.headers["cache-control"]
        sent += len(raw)
    assert sent < 600_000
    plainly = site.client.get(path, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plainly.headers


def test_what_if(site: Site, campaign: Campaign) -> None:
    empty = text_of(site, f"{PAGE}/what-if")
    assert 'value="300"' in empty and "What the models say" not in empty  # the best so far
    text = text_of(site, f"{PAGE}/what-if?setting-0=310+°C&setting-1=argon")
    assert "Chance to beat the best" in text and "Expected hardness" in text
    assert "temperature 310 instead of 300 °C" in text
    answer = site.send(f"{PAGE}/plan", {"setting-0": "310", "setting-1": "argon"})
    assert "Run 5 is added to the next experiments." in text_of(site, answer.headers["location"])
    assert campaign.run(5).params == {"temperature": 310, "gas": "argon"}
    body = {"params": {"temperature": 310, "gas": "argon"}}
    told = site.json("/api/campaigns/coating/what-if", body).json()
    assert told["nearest"] == 2 and 0 < told["believed"]["p_feasible"] <= 1
    planned = site.json("/api/campaigns/coating/plan", body)
    assert (planned.status_code, planned.json()["outcome"]) == (201, "pending")


def test_maps_through_a_run(site: Site) -> None:
    maps = site.get(f"{PAGE}/runs/0/maps").json()["html"]
    assert 'data-figure="map-1"' in maps


def test_what_if_before_anything_is_known(site: Site, glue: Campaign) -> None:
    query = "setting-0=30&setting-1=5&setting-2=2&setting-3=old"
    assert "the models know nothing" in text_of(site, f"/c/glue/what-if?{query}")
