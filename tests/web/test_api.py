"""The JSON API, as an instrument uses it."""

import html
import itertools
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import schemathesis
from commands import Done
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance
from web.lab import COATING, TOKEN, Site, serving

from becbo import Failures
from becbo.campaign.campaign import Campaign
from becbo.web.app import make_app
from becbo.web.security import Access

API = "/api/campaigns/coating"


def test_what_there_is(site: Site) -> None:
    (listed,) = site.get("/api/campaigns").json()
    assert listed == {
        "id": "coating",
        "name": "coating",
        "objectives": [
            {
                "name": "hardness",
                "unit": "HV",
                "direction": "maximize",
                "target": None,
                "reference": None,
            }
        ],
        "limits": [],
        "recorded": [],
    }
    described = site.get(API).json()
    assert described["parameters"]["temperature"] == {"low": 150, "high": 450, "unit": "°C"}
    status = site.get(f"{API}/status").json()
    assert status["counts"] == {"pending": 1, "ok": 3, "failed": 1, "lost": 0}
    assert (status["best"]["number"], status["budget"], status["n_left"]) == (2, 20, 16)
    (failed,) = site.get(f"{API}/runs?outcome=failed").json()
    assert (failed["number"], failed["reason"], failed["values"]) == (3, "cracked", {})
    assert site.get(f"{API}/runs/3").json() == failed


def test_an_instrument(site: Site, campaign: Campaign) -> None:
    """Ask, record, ask again, mend a mistake."""
    first, second = site.json(f"{API}/suggest", {"q": 2}).json()
    assert first["outcome"] == "pending" and first["params"] != second["params"]
    recorded = site.json(f"{API}/runs/{first['number']}/record", {"value": 380, "note": "x"})
    assert recorded.json()["values"] == {"hardness": 380}
    failed = {"failed": "cracked", "version": second["version"]}
    assert site.json(f"{API}/runs/{second['number']}/record", failed).status_code == 200
    (third,) = site.json(f"{API}/suggest", {}).json()
    assert 0 < third["believed"]["p_feasible"] < 1
    corrected = site.json(f"{API}/runs/{first['number']}/correct", {"value": 308}).json()
    assert (corrected["values"]["hardness"], corrected["note"]) == (308, "x")
    assert [entry["values"]["hardness"] for entry in corrected["history"]] == [380]
    undo = {"version": corrected["version"]}
    undone = site.json(f"{API}/runs/{first['number']}/undo", undo).json()
    assert undone["values"] == {"hardness": 380}
    assert campaign.run(second["number"]).result.reason == "cracked"
    withdrawn = site.json(f"{API}/runs/{third['number']}/withdraw", {}).json()
    assert (withdrawn["outcome"], withdrawn["reason"]) == ("lost", "withdrawn")
    design = {"temperature": 300, "gas": "argon"}
    (predicted,) = site.json(f"{API}/predict", {"designs": [design]}).json()
    assert predicted["outputs"]["hardness"]["mean"] == pytest.approx(400)
    assert predicted["p_feasible"] > 0.9


def test_somebody_else_was_faster(site: Site, campaign: Campaign) -> None:
    campaign.record(4, 410)
    answer = site.json(f"{API}/runs/4/record", {"value": 1})
    assert answer.status_code == 409
    assert answer.json()["run"]["values"] == {"hardness": 410}


def test_create_add_and_import(site: Site, campaign: Campaign) -> None:
    described = {"name": "a b", "parameters": {"x": {"low": 0, "high": 1}}, "budget": 5}
    assert site.json("/api/campaigns", described).json()["id"] == "a~20b"
    assert site.get("/api/campaigns/a~20b").json()["budget"] == 5
    added = site.json("/api/campaigns/a~20b/runs", {"params": {"x": 0.5}, "failed": True})
    assert (added.status_code, added.json()["outcome"]) == (201, "failed")
    params = campaign.run(4).params
    rows = [
        ["number", "temperature", "gas", "hardness", "reason"],
        [None, 211, "argon", 311, None],
        [4, params["temperature"], params["gas"], None, "bent"],
        [None, 200, "argon", 300, None],
    ]
    imported = site.json(f"{API}/import", {"rows": rows}).json()
    nothing: dict[str, Any] = {"corrected": [], "blank": [], "differing": [], "noted": []}
    assert imported == {"added": [5], "recorded": [4], "n_known": 1, "n_pending": 0, **nothing}
    assert campaign.run(4).result.reason == "bent"


def test_a_changed_description(site: Site, campaign: Campaign) -> None:
    described = site.get(API).json()
    wider = {**described, "budget": 30}
    assert site.client.put(API, json=wider).json() == {"changes": ["budget: 20 -> 30"]}
    assert campaign.description.budget == 30
    assert site.client.put(API, json=wider).json() == {"changes": []}
    hotter = {"temperature": {"low": 150, "high": 400}, "gas": {"choices": ["argon", "nitrogen"]}}
    refused = site.client.put(API, json={**described, "parameters": hotter})
    assert refused.status_code == 422
    assert "run 3 would no longer be valid" in refused.json()["detail"]
    assert campaign.description.budget == 30


def test_a_deleted_campaign_comes_back(site: Site, campaign: Campaign) -> None:
    before = site.get(f"{API}/runs").json()
    gone = site.client.delete(API)
    assert (gone.status_code, gone.content) == (204, b"")
    assert site.get("/api/campaigns").json() == []
    assert site.get(API).status_code == 404 and site.client.delete(API).status_code == 404
    assert site.json(f"{API}/runs/4/record", {"value": 1}).status_code == 404
    (deleted,) = site.get("/api/campaigns?deleted=true").json()
    assert site.client.post(f"/api/campaigns/{deleted['id']}/restore").json() == deleted
    assert site.get("/api/campaigns").json() == [deleted]
    assert site.get(f"{API}/runs").json() == before
    assert site.client.post(f"{API}/restore").status_code == 404


def test_the_last_entry_is_taken_back(site: Site, campaign: Campaign) -> None:
    rows = [["temperature", "gas", "hardness"], [211, "argon", 311], [212, "argon", 312]]
    site.json(f"{API}/import", {"rows": rows}, headers={"X-Becbo-Name": "J%C3%B6rg"})
    last = site.get(f"{API}/status").json()["last_entry"]
    assert (last["runs"], last["by"]) == ([5, 6], "Jörg")
    campaign.record(4, 410)
    newer = site.json(f"{API}/undo", {"entry": last["entry"]})
    assert (newer.status_code, newer.json()) == (409, {"detail": "there is a newer entry by now"})
    (undone,) = site.json(f"{API}/undo", {}).json()
    assert (undone["number"], undone["outcome"]) == (4, "pending")
    taken_back = site.json(f"{API}/undo", {"entry": last["entry"]}).json()
    assert [run["outcome"] for run in taken_back] == ["lost", "lost"]
    for _ in range(4):
        assert site.json(f"{API}/undo", {}).status_code == 200
    assert site.get(f"{API}/status").json()["last_entry"] is None
    assert site.json(f"{API}/undo", {}).status_code == 422


def test_none_of_this_without_the_token(open_site: Any, campaign: Campaign) -> None:
    before = campaign.runs
    site = open_site(Access(TOKEN))
    for send in (
        lambda: site.client.put(API, json=campaign.description.to_dict()),
        lambda: site.client.delete(API),
        lambda: site.client.post(f"{API}/restore"),
        lambda: site.json(f"{API}/undo", {}),
    ):
        assert send().status_code == 401
    foreign = {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}
    assert site.client.delete(API, headers=foreign).status_code == 403
    assert campaign.runs == before and not campaign.is_deleted


def test_as_many_suggestions_as_the_budget_of_failures_allows(site: Site, where: Path) -> None:
    careful = Campaign.create({**COATING, "name": "careful", "failures": {"budget": 2}}, where)
    path = "/api/campaigns/careful/suggest"
    answer = site.json(path, {"q": 5})
    assert answer.status_code == 201
    assert (
        [run["number"] for run in answer.json()] == [run.number for run in careful.runs] == [0, 1]
    )
    (job,) = site.get(path).json()
    assert (job["q"], job["n_done"]) == (5, 2) and "budget of failures" in job["error"]
    page = site.get("/c/careful").text
    assert f"2 of 5 suggestions were made: {job['error']}" in html.unescape(page)
    refused = site.json(path, {"q": 5})
    assert refused.status_code == 422 and refused.json()["detail"] == job["error"]
    assert len(careful.runs) == 2


def test_the_command_line_prints_the_same(
    site: Site, where: Path, becbo: Callable[..., Done]
) -> None:
    def printed(*arguments: str) -> Any:
        return json.loads(becbo(*arguments, "--file", str(where), "--json").out)

    outlook = site.get(f"{API}/outlook").json()
    status = {**site.get(f"{API}/status").json(), "outlook": outlook}
    runs = site.get(f"{API}/runs").json()
    assert printed("status") == status
    sure = site.get(f"{API}/outlook?margin=2.5").json()
    assert (sure["margin"], sure["unit"]) == (2.5, "HV") and sure != outlook
    assert printed("status", "--margin", "2.5")["outlook"] == sure
    assert printed("status", "--all") == {**status, "runs": runs}
    assert printed("record", "4", "410") == site.get(f"{API}/runs/4").json()


def test_many_instruments_record_one_run(where: Any, campaign: Campaign) -> None:
    statuses = []
    with serving(make_app(where)) as address:

        def record(value: int) -> None:
            answer = httpx.post(f"{address}{API}/runs/4/record", json={"value": value}, timeout=60)
            statuses.append(answer.status_code)

        threads = [threading.Thread(target=record, args=[value]) for value in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(statuses) == [200] + [409] * 7


def test_the_document_knows_the_token(site: Site, open_site: Any) -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    guarded = open_site(Access(TOKEN)).get("/api/openapi.json", headers=bearer).json()
    assert guarded["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert "securitySchemes" not in site.get("/api/openapi.json").json()["components"]


SLOW = "/api/campaigns/{campaign_id}/suggest"  # what is asked for there is worked out
N_EXAMPLES = 6


@pytest.fixture(scope="module")
def address(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    where = Path(shutil.copy(made, tmp_path_factory.mktemp("contract") / "lab.db"))
    Campaign.create({**COATING, "name": "spare"}, where)
    # The checks guess tokens; between two looks at this clock, a minute passes.
    ticks = itertools.count()
    with serving(make_app(where, Access(TOKEN, lambda: 60.0 * next(ticks)))) as address:
        yield address


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_api_keeps_its_contract(address: str, mode: GenerationMode) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    schema = schemathesis.openapi.from_url(f"{address}/api/openapi.json", headers=bearer)
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) == 23
    for operation in operations:

        @settings(max_examples=N_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def keeps_it(case: Any) -> None:
            if "campaign_id" in case.path_parameters and mode is GenerationMode.POSITIVE:
                is_last = case.operation.method == "delete" or case.path.endswith("/restore")
                case.path_parameters["campaign_id"] = "spare" if is_last else "coating"
            if "number" in case.path_parameters and mode is GenerationMode.POSITIVE:
                case.path_parameters["number"] = 4
            is_slow = case.operation.path == SLOW and case.operation.method == "post"
            if is_slow and mode is GenerationMode.POSITIVE:
                case.body = {"q": 1}
            # What fits the schema may still not fit the campaign, whose parameters it cannot know.
            case.call_and_validate(
                headers=bearer, timeout=60, excluded_checks=[positive_data_acceptance]
            )

        keeps_it()


def test_suggestions_say_what_they_wait_for(site: Site) -> None:
    assert site.get(f"{API}/suggest").json() == []
    asking = [threading.Thread(target=site.json, args=(f"{API}/suggest", {"q": q})) for q in (1, 2)]
    for thread in asking:
        thread.start()
    seen = []
    while any(thread.is_alive() for thread in asking):
        seen += site.get(f"{API}/suggest").json()
    assert {"q": 2, "n_done": 0, "n_others": 1, "error": ""} in seen
    assert site.get(f"{API}/suggest").json() == []


def test_failures_are_described(site: Site) -> None:
    components = site.get("/api/openapi.json").json()["components"]["schemas"]
    schema = components["CreateRequest"]["properties"]["failures"]
    assert set(schema["properties"]) == set(Failures.__dataclass_fields__)
    assert schema["additionalProperties"] is False
    described = {
        "name": "brittle",
        "parameters": {"heat": {"low": 0, "high": 100}},
        "failures": {"chance": 0.1, "price": 3, "budget": 10},
    }
    assert site.json("/api/campaigns", described).status_code == 201
    assert site.get("/api/campaigns/brittle").json()["failures"] == described["failures"]
    again = {**described, "name": "again", "failures": None}
    assert site.json("/api/campaigns", again).status_code == 201
    assert "failures" not in site.get("/api/campaigns/again").json()


def test_several_outputs(site: Site) -> None:
    glue = {
        "name": "glue",
        "objectives": {"strength": {"direction": "maximize"}, "ph": {"target": 7}},
        "limits": {"viscosity": {"upper": 200}},
        "parameters": {"heat": {"low": 0, "high": 100}},
    }
    assert site.json("/api/campaigns", glue).status_code == 201
    (first, second) = site.json("/api/campaigns/glue/suggest", {"q": 2}).json()
    runs = "/api/campaigns/glue/runs"
    values = {"strength": 80, "ph": None}
    recorded = site.json(f"{runs}/{first['number']}/record", {"value": values}).json()
    assert recorded["values"] == {"strength": 80, "ph": None, "viscosity": None}
    entry = {"failed": "gel", "measured": {"viscosity": 340}}
    failed = site.json(f"{runs}/{second['number']}/record", entry).json()
    assert (failed["outcome"], failed["values"]["viscosity"]) == ("failed", 340)
    complete = {"params": {"heat": 3}, "value": {"strength": 90, "ph": 7}}
    added = site.json(runs, complete).json()
    status = site.get("/api/campaigns/glue/status").json()
    assert status["best"] is None
    assert [run["number"] for run in status["front"]] == [added["number"]]
    bad = site.json(f"{runs}/{added['number']}/correct", {"value": 3})
    assert bad.status_code == 422 and "several outputs" in bad.json()["detail"]
    for page in ("/", "/c/glue", f"/c/glue/runs/{first['number']}"):
        assert site.get(page).status_code == 200
