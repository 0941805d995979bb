"""The pages as a browser without JavaScript sees them."""

import io
import re
import time
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from coating import COATING, DESIGN
from web.lab import COATING as LAB
from web.lab import Opens, Site

from becbo.campaign.campaign import Campaign
from becbo.campaign.formatting import sentence
from becbo.campaign.runs import Run
from becbo.search.choice import SPENT
from becbo.tables import import_cells
from becbo.trial import Outcome
from becbo.web import registry
from becbo.web.jobs import Jobs, SuggestionJob
from becbo.web.registry import id_of, state_of

PAGE = "/c/coating"


def text_of(site: Site, path: str) -> str:
    answer = site.get(path)
    assert answer.status_code == 200
    return answer.text


def test_the_list(site: Site) -> None:
    text = text_of(site, "/")
    assert '<a href="/c/coating">coating</a>' in text
    assert "hardness [HV] as large as possible" in text and "400 HV" in text and "4 of 20" in text


def test_an_empty_list_says_how_to_begin(tmp_path: Path, open_site: Opens, where: Path) -> None:
    where.unlink()
    text = text_of(open_site(), "/")
    assert "no campaign in <code>lab.db</code> yet" in text and "Create the first one" in text


def test_a_campaign_from_the_form(site: Site, where: Path) -> None:
    fields = {
        "name": "spring 2: wire/coil",
        "output-0-name": "mass",
        "output-0-unit": "g",
        "output-0-kind": "minimize",
        "budget": "30",
        "n_initial": "5",
        "risk": "0.2",
        "failures-chance": "0",
        "failures-price": "3",
        "failures-budget": "8",
        "noisy": "on",
        "constraints": "wire <= 3\n\n",
        "parameter-0-name": "wire",
        "parameter-0-kind": "log",
        "parameter-0-low": "0.1",
        "parameter-0-high": "5",
        "parameter-0-unit": "mm",
        "parameter-1-name": "",
        "parameter-2-name": "coils",
        "parameter-2-kind": "integer",
        "parameter-2-low": "2",
        "parameter-2-high": "15",
        "parameter-3-name": "alloy",
        "parameter-3-kind": "choices",
        "parameter-3-choices": "A, B ,C",
        "parameter-4-name": "length",
        "parameter-4-kind": "number",
        "parameter-4-low": "10",
        "parameter-4-high": "50",
        "parameter-4-step": "2.5",
        "parameter-4-unit": "mm",
    }
    answer = site.send("/new", fields)
    assert answer.headers["location"] == "/c/spring~202~3A~20wire~2Fcoil"
    text = text_of(site, answer.headers["location"])
    assert "mass [g]" in text and "10 to 50 mm, in steps of 2.5" in text
    described = Campaign.open(where, fields["name"]).description.to_dict()
    assert described["parameters"] == {
        "wire": {"low": 0.1, "high": 5, "log": True, "unit": "mm"},
        "coils": {"low": 2, "high": 15, "integer": True},
        "alloy": {"choices": ["A", "B", "C"]},
        "length": {"low": 10, "high": 50, "step": 2.5, "unit": "mm"},
    }
    assert described["failures"] == {"chance": 0, "price": 3, "budget": 8}
    rest = ("objective", "budget", "n_initial", "risk", "noisy", "constraints")
    assert [described.get(key) for key in rest] == [
        {"name": "mass", "unit": "g"}, 30, 5, 0.2, True, ["wire <= 3"]
    ]  # fmt: skip


@pytest.mark.parametrize("is_uploaded", [True, False])
def test_a_campaign_from_a_file(site: Site, is_uploaded: bool) -> None:
    text = "name: spring\nparameters:\n  coils: {low: 2, high: 15, integer: true}\n"
    if is_uploaded:
        answer = site.send("/new/file", {}, files={"file": ("x.yaml", text)})
    else:
        answer = site.send("/new/file", {"yaml": text})
    assert answer.headers["location"] == "/c/spring"


def test_ids_are_for_addresses() -> None:
    assert id_of("coating-2_b") == "coating-2_b"
    assert id_of("a b") == "a~20b" != id_of("a~20b")
    assert id_of("../ü") == "~2E~2E~2F~C3~BC"


def test_suggestions_come_in_the_background(site: Site, campaign: Campaign) -> None:
    answer = site.send(f"{PAGE}/suggest", {"q": "2"})
    assert answer.headers["location"] == f"{PAGE}#next"
    text = text_of(site, PAGE)
    assert "Computing 2 suggestions" in text
    assert '<noscript><meta http-equiv="refresh"' in text
    while "Computing" in text:
        time.sleep(0.2)
        text = text_of(site, PAGE)
    assert len([run for run in campaign.runs if run.outcome is Outcome.PENDING]) == 3
    assert "Record run 5" in text and "Record run 6" in text
    learned = site.get(f"{PAGE}/insight").json()
    assert learned["why"].keys() == {"4", "5", "6", "best"}
    assert 'aria-labelledby="maps"' in learned["html"]


def test_why_there_are_no_more_suggestions_until_something_changes(site: Site, where: Path) -> None:
    careful = Campaign.create({**LAB, "name": "careful", "failures": {"budget": 2}}, where)
    site.send("/c/careful/suggest", {"q": "3"})
    while "Computing" in (text := text_of(site, "/c/careful")):
        time.sleep(0.2)
    assert "2 of 3 suggestions were made: the budget of failures allows no more" in text
    assert "suggestions were made" in text_of(site, "/c/careful")
    careful.record(0, 300.0)
    assert "suggestions were made" not in text_of(site, "/c/careful")


def test_the_reason_is_there_as_soon_as_the_work_is_over(
    site: Site, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Campaign.create({**LAB, "name": "slow", "failures": {"budget": 1}}, where)

    def late(campaign: Campaign, runs: list[Run]) -> str:
        time.sleep(2)
        return state_of(campaign, runs)

    monkeypatch.setattr(registry, "state_of", late)
    site.send("/c/slow/suggest", {"q": "2"})
    while "Computing" in (text := text_of(site, "/c/slow")):
        time.sleep(0.1)
    assert "1 of 2 suggestions were made" in text


def test_the_note_of_a_proposal_is_on_the_page(site: Site, campaign: Campaign) -> None:
    campaign.withdraw(4)
    campaign.change({**LAB, "failures": {"budget": 1}})
    assert "failed</span> 1 of 1 allowed" in text_of(site, PAGE)
    note = sentence(SPENT)
    assert note in site.get(f"{PAGE}/insight").json()["why"]["next"]
    (repeat,) = campaign.suggest()
    assert note in text_of(site, PAGE) and note in text_of(site, f"{PAGE}/runs/{repeat.number}")


def test_a_page_shows_the_work_or_what_came_of_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Jobs.of

    def late(jobs: Jobs, campaign: str) -> list[SuggestionJob]:
        while now(jobs, campaign):
            time.sleep(0.05)
        return []

    monkeypatch.setattr(Jobs, "of", late)  # the job ends while the page is being made
    site.send(f"{PAGE}/suggest", {"q": "1"})
    assert "Record run 5" in text_of(site, PAGE)


@pytest.mark.parametrize("typed", ["655,5", "655.5 HV"])
def test_numbers_as_people_type_them(site: Site, campaign: Campaign, typed: str) -> None:
    site.send("/c/coating/runs/4/record", {"version": "4", "outcome": "ok", "output-0": typed})
    assert campaign.run(4).value == 655.5


def test_record_a_value(site: Site, campaign: Campaign) -> None:
    fields = {"outcome": "ok", "output-0": " 410.5", "note": "warm", "version": "4"}
    answer = site.send(f"{PAGE}/runs/4/record", fields)
    text = text_of(site, answer.headers["location"])
    assert "Run 4 is recorded: 410.5 HV." in text
    run = campaign.run(4)
    assert (run.value, run.note) == (410.5, "warm")


@pytest.mark.parametrize(
    ("outcome", "reason", "told"),
    [
        ("failed", "cracked", "failed (cracked)"),
        ("failed", "", "failed"),
        ("lost", "power cut", "lost (power cut)"),
    ],
)
def test_record_what_has_no_value(
    site: Site, campaign: Campaign, outcome: str, reason: str, told: str
) -> None:
    fields = {"outcome": outcome, "reason": reason, "version": "4"}
    answer = site.send(f"{PAGE}/runs/4/record", fields)
    assert f"Run 4 is recorded: {told}." in text_of(site, answer.headers["location"])
    run = campaign.run(4)
    assert (run.outcome.value, run.reason) == (outcome, reason)


def test_correct_and_take_back(site: Site, campaign: Campaign) -> None:
    text = text_of(site, f"{PAGE}/runs/3")
    assert 'value="cracked"' in text and "returns to: lost" in text
    assert "<strong>cracked</strong>" in text  # beside the mark that says failed
    fields = {"outcome": "ok", "output-0": "377", "version": "3"}
    corrected = site.send(f"{PAGE}/runs/3/correct", fields)
    assert "Run 3 is corrected: 377 HV." in text_of(site, corrected.headers["location"])
    text = text_of(site, f"{PAGE}/runs/3")
    assert "Earlier entries" in text and "returns to: failed (cracked)" in text
    version = str(campaign.run(3).version)
    undone = site.send(f"{PAGE}/runs/3/undo", {"version": version})
    told = "Run 3 is back in its previous state: failed (cracked)."
    assert told in text_of(site, undone.headers["location"])


def test_withdraw_a_suggestion(site: Site, campaign: Campaign) -> None:
    assert "Withdraw run 4" in text_of(site, f"{PAGE}/runs/4")
    answer = site.send(f"{PAGE}/runs/4/withdraw", {"version": "4"})
    assert "Run 4 is withdrawn: lost (withdrawn)." in text_of(site, answer.headers["location"])
    assert campaign.run(4).outcome.value == "lost"
    assert "Withdraw run 4" not in text_of(site, f"{PAGE}/runs/4")


def test_whoever_is_second_is_told(site: Site, campaign: Campaign) -> None:
    campaign.record(4, 410)
    fields = {"outcome": "ok", "output-0": "399", "version": "4"}
    answer = site.send(f"{PAGE}/runs/4/record", fields)
    assert answer.status_code == 409
    assert "Somebody else was faster: run 4 is recorded already: 410 HV" in answer.text
    # What was typed can be sent as a correction.
    assert "Save the correction" in answer.text and 'value="399"' in answer.text
    campaign.correct(4, 411)
    for what in ("correct", "undo", "withdraw"):
        answer = site.send(f"{PAGE}/runs/4/{what}", fields)
        assert answer.status_code == 409 and "it is 411 HV now" in answer.text
    assert campaign.run(4).value == 411


def test_add_an_experiment(site: Site, campaign: Campaign) -> None:
    fields = {"setting-0": "222", "setting-1": "nitrogen", "outcome": "ok", "output-0": "3"}
    answer = site.send(f"{PAGE}/add", fields)
    assert "Run 5 is added: 3 HV." in text_of(site, answer.headers["location"])
    assert campaign.run(5).params == {"temperature": 222, "gas": "nitrogen"}


def test_import_and_export(site: Site, campaign: Campaign) -> None:
    table = "temperature [°C];gas;hardness [HV];day;who\n210,5;argon;310;2 May;\n430;argon;failed\n"
    answer = site.send(f"{PAGE}/import", {}, files={"file": ("old.csv", table)})
    text = text_of(site, answer.headers["location"])
    assert "Imported: 2 experiments added. 2 other columns went into the notes." in text
    assert text.count("Undo the last entry") == 2  # beside the message, and under Data
    assert campaign.run(5).params["temperature"] == 210.5
    assert campaign.run(5).note == "day: 2 May"
    csv = site.get(f"{PAGE}/export.csv")
    assert csv.headers["content-disposition"] == 'attachment; filename="coating.csv"'
    assert len(csv.text.splitlines()) == 8
    again = site.send(f"{PAGE}/import", {}, files={"file": ("all.csv", csv.content)})
    text = text_of(site, again.headers["location"])
    assert "7 rows skipped, known already or still pending" in text
    assert text.count("Undo the last entry") == 1  # that entry is not this import
    sheet = openpyxl.load_workbook(io.BytesIO(site.get(f"{PAGE}/export.xlsx").content)).active
    assert sheet.max_row == 8
    assert len(site.get(f"{PAGE}/export.json").json()["runs"]) == 7


def test_an_import_says_what_it_took_for_granted(site: Site, campaign: Campaign) -> None:
    rows = "temperature,gas,hardness,note\n210,argon,,\n220,argon,,\n200,argon,300,hazy\n"
    answer = site.send(f"{PAGE}/import", {}, files={"file": ("old.csv", rows)})
    text = text_of(site, answer.headers["location"])
    assert "2 experiments added, reason or note of 1 experiment filled in." in text
    blank = "Of these, runs 5, 6 failed because no objective has a value; if that is wrong, correct"
    assert blank in text
    assert campaign.run(0).note == "hazy"


def test_an_import_with_much_to_say_has_a_short_address(site: Site) -> None:
    def send(last: str) -> str:
        rows = [f"{t},argon,{last}" for t in range(151, 201)]
        table = "\n".join(["temperature,gas,hardness,note", *rows])
        answer = site.send(f"{PAGE}/import", {}, files={"file": ("old.csv", table)})
        address = answer.headers["location"]
        assert len(address) < 600
        return text_of(site, address)

    told = send(",")
    assert "Of these, runs 5, 6, 7" in told and "23, 24 and others failed" in told
    assert "another reason or note" not in send(",warm")
    told = send(",hot")
    assert "another reason or note for runs 5, 6" in told and "24 and others; the recorded" in told


def test_the_report_is_a_file(site: Site) -> None:
    assert f'href="{PAGE}/report.html"' in text_of(site, PAGE)
    answer = site.get(f"{PAGE}/report.html")
    assert answer.headers["content-disposition"] == 'attachment; filename="coating.html"'
    assert answer.text.startswith("<!doctype html>") and "plotly.js (cartesian" in answer.text
    assert "Best so far" in answer.text and "Which parameters matter" in answer.text


def test_the_margin_of_the_outlook(site: Site) -> None:
    page = text_of(site, f"{PAGE}?all=true&margin=2,5+HV")
    assert 'name="margin"' in page and 'value="2,5 HV"' in page and "in HV</span>" in page
    assert '<input type="hidden" name="all" value="true">' in page
    links = re.findall(rf'="{PAGE}/((?:insight|report)[^"]*)"', page)
    assert links == ["insight?margin=2%2C5+HV", "report.html?margin=2%2C5+HV"]
    told, report = (site.get(f"{PAGE}/{link}") for link in links)
    for html in (told.json()["html"], report.text):
        assert "better by more than 2.5 HV" in html
    assert "better by more than 2.5" not in site.get(f"{PAGE}/insight").json()["html"]


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}/insight", f"{PAGE}/report.html"])
@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("soon", "margin (a number of at least 0, in HV) = &#39;soon&#39; is not a number"),
        ("-1", "margin -1.0: give a number of at least 0"),
        ("5 GPa", "convert it to HV"),
    ],
)
def test_a_margin_that_cannot_be_used(shared_site: Site, path: str, typed: str, why: str) -> None:
    answer = shared_site.get(path, params={"margin": typed})
    assert answer.status_code == 422 and why.lower() in answer.text.lower()
    if path == PAGE:  # the rest of the page is there, without a margin
        assert f'value="{typed}"' in answer.text and "Record run 4" in answer.text
        assert f'data-learned="{PAGE}/insight"' in answer.text


def test_the_best_of_noisy_values_is_called_a_reading(where: Path, site: Site) -> None:
    noisy = Campaign.create({**COATING, "name": "noisy", "noisy": True}, where)
    noisy.add(DESIGN, 600)
    assert "<h2>Best reading so far</h2>" in text_of(site, "/c/noisy")
    assert "<h2>Best so far</h2>" in text_of(site, PAGE)
    assert "<dt>Best reading so far</dt>" in text_of(site, "/")


def test_the_script_of_the_page_is_told_in_json_what_is_wrong(site: Site) -> None:
    answer = site.get("/c/nobody/insight", headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()) == (
        404,
        {"detail": "there is no campaign 'nobody' here"},
    )


def test_the_state_changes_with_every_entry(site: Site, campaign: Campaign) -> None:
    def state() -> str:
        found: str = site.get(f"{PAGE}/state").json()["state"]
        return found

    states = [state(), state()]
    for write in (
        lambda: campaign.record(4, 1.0),
        lambda: campaign.correct(4, 1.0, note="sure"),
        lambda: campaign.undo(4),
        lambda: campaign.undo(4),
        lambda: campaign.change(replace(campaign.description, budget=77)),
    ):
        write()
        states.append(state())
    assert states[0] == states[1] and len(set(states)) == 6


def test_a_long_table_is_cut(site: Site, campaign: Campaign) -> None:
    rows = [["temperature", "gas", "hardness"], *([t, "argon", t] for t in range(151, 351))]
    import_cells(campaign, rows)
    assert "Load all 205" in text_of(site, PAGE)
    assert "Load all" not in text_of(site, f"{PAGE}?all=true")
    assert f'href="{PAGE}?margin=2&amp;all=true#runs"' in text_of(site, f"{PAGE}?margin=2")


def test_what_the_api_can_do(site: Site) -> None:
    text = text_of(site, "/docs/api")
    assert "/api/campaigns/{campaign_id}/runs/{number}/record" in text.replace("<wbr>", "")
    assert "http://localhost:8000/api/campaigns/NAME/suggest" in text
