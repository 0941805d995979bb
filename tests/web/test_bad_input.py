"""What people and programs send by mistake, and what they are told. Nothing is ever written."""

import io
import zipfile
from typing import Any

import pytest
from web.lab import Site

from becbo.tables.files import MAX_ROWS, MAX_UNPACKED

_OK = {"outcome": "ok"}

Y = {"output-0-name": "y", "output-0-kind": "minimize"}
NEW = {"name": "new", **Y}
PH = {"output-1-name": "ph", "output-1-kind": "target"}
GEL = {"output-1-name": "gel", "output-1-kind": "limit"}
A = {"parameter-0-name": "a", "parameter-0-kind": "number"}
RANGE = {**A, "parameter-0-low": "0", "parameter-0-high": "1"}


def xlsx_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(MAX_UNPACKED + 1))
    return out.getvalue()


def upload(name: str, content: bytes | str) -> dict[str, Any]:
    return {"files": {"file": (name, content)}}


FORMS: list[tuple[str, dict[str, str], dict[str, Any], str]] = [
    # A new campaign.
    ("/new", {}, {}, "nothing is to be optimised"),
    ("/new", NEW, {}, "parameters"),
    ("/new", {**NEW, **RANGE, "name": " "}, {}, "name"),
    ("/new", {**NEW, **RANGE, "name": "x" * 101}, {}, "longer than 100 characters"),
    ("/new", {**NEW, **RANGE, "name": "coating"}, {}, "already has &#39;coating"),
    ("/new", {**NEW, **RANGE, "output-0-kind": "up"}, {}, "&#39;up&#39; must be one of"),
    ("/new", {**NEW, **RANGE, "output-0-name": "a"}, {}, "is a parameter and an output"),
    ("/new", {**NEW, **RANGE, "output-0-name": "number"}, {}, "is a column of every table"),
    ("/new", {**NEW, **RANGE, "output-0-kind": "recorded"}, {}, "nothing is to be optimised"),
    ("/new", {**NEW, **RANGE, "output-0-kind": "target"}, {}, "needs the value to hit"),
    ("/new", {**NEW, **RANGE, **PH, "output-1-target": "acid"}, {}, "ph, target = &#39;acid&#39;"),
    ("/new", {**NEW, **RANGE, **GEL}, {}, "needs a lowest or a highest acceptable value"),
    ("/new", {**NEW, **RANGE, **GEL, "output-1-upper": "1,500"}, {}, "write 1500 or 1.500"),
    (
        "/new",
        {**NEW, **RANGE, **GEL, "output-1-lower": "3", "output-1-upper": "2"},
        {},
        "must be below upper",
    ),
    ("/new", {**NEW, **RANGE, **GEL, "output-1-name": "y"}, {}, "two outputs called"),
    ("/new", {**NEW, **RANGE, **GEL, "output-1-name": "", "output-1-upper": "2"}, {}, "name"),
    ("/new", {**NEW, **A}, {}, "needs a lowest and a highest value"),
    ("/new", {**NEW, **RANGE, "parameter-0-low": "1,500"}, {}, "write 1500 or 1.500"),
    ("/new", {**NEW, **RANGE, "parameter-0-low": "ten"}, {}, "is not a number"),
    ("/new", {**NEW, **RANGE, "parameter-0-low": "2"}, {}, "low"),
    ("/new", {**NEW, **RANGE, "parameter-0-kind": "log"}, {}, "log"),
    ("/new", {**NEW, **RANGE, "parameter-0-step": "few"}, {}, "a, in steps of = &#39;few&#39;"),
    ("/new", {**NEW, **RANGE, "parameter-0-step": "2"}, {}, "step 2.0 must be positive"),
    ("/new", {**NEW, **RANGE, "parameter-0-name": ""}, {}, "name"),
    ("/new", {**NEW, **RANGE, "parameter-1-name": "a"}, {}, "two parameters called"),
    (
        "/new",
        {**NEW, **A, "parameter-0-kind": "choices", "parameter-0-choices": "x"},
        {},
        "choices",
    ),
    ("/new", {**NEW, **RANGE, "budget": "many"}, {}, "budget = &#39;many&#39; is not a number"),
    ("/new", {**NEW, **RANGE, "budget": "0"}, {}, "budget"),
    ("/new", {**NEW, **RANGE, "risk": "2"}, {}, "risk"),
    ("/new", {**NEW, **RANGE, "risk": "20%"}, {}, "without %, such as 0.2 for 20 %"),
    ("/new", {**NEW, **RANGE, "failures-price": "-1"}, {}, "failures: price -1 must be"),
    ("/new", {**NEW, **RANGE, "failures-budget": "few"}, {}, "failures, budget = &#39;few&#39;"),
    ("/new", {**NEW, **RANGE, "constraints": "a + b <= 1"}, {}, "b"),
    ("/new", {**NEW, **RANGE, "constraints": "__import__('os')"}, {}, "constraint"),
    ("/new/file", {"yaml": ""}, {}, "paste it, or choose a file"),
    ("/new/file", {"yaml": "name: [1"}, {}, "cannot be read"),
    ("/new/file", {"yaml": "just a text"}, {}, "must have"),
    ("/new/file", {"yaml": "a: &a [x]\nb: [*a, *a]"}, {}, "aliases"),
    ("/new/file", {"yaml": "[" * 20_000}, {}, "and 1000 brackets"),
    ("/new/file", {"yaml": "- " * 10_000}, {}, "cannot be read"),
    ("/new/file", {"yaml": "x" * 50_001}, {}, "at most 50000 characters"),
    ("/new/file", {"yaml": "name: !!python/object:os.system x"}, {}, "cannot be read"),
    ("/new/file", {}, upload("lab.exe", "MZ"), "must be a .yaml"),
    ("/new/file", {}, upload("lab.toml", "name = "), "cannot be read"),
    ("/new/file", {}, upload("lab.yaml", "name: °".encode("cp1252")), "save it as UTF-8"),
    ("/new/file", {}, upload("lab.json", b"\xff\xfe"), "cannot be read"),
    # Another description.
    ("/c/coating/change", {}, {}, "nothing is to be optimised"),
    ("/c/coating/change", {**Y, **RANGE}, {}, "Nothing was changed"),
    ("/c/coating/change/file", {"yaml": "name: other"}, {}, "Nothing was changed"),
    ("/c/coating/change/file", {}, upload("a.exe", "MZ"), "must be a .yaml"),
    # Entries to take back.
    ("/c/coating/undo", {}, {}, "contain the entry"),
    ("/c/coating/undo", {"entry": "-1"}, {}, "contain the entry"),
    # Suggestions.
    ("/c/coating/suggest", {"q": "0"}, {}, "whole number from 1 to 50"),
    ("/c/coating/suggest", {"q": "51"}, {}, "whole number from 1 to 50"),
    ("/c/coating/suggest", {"q": "2.5"}, {}, "whole number from 1 to 50"),
    ("/c/coating/suggest", {"q": "²"}, {}, "whole number from 1 to 50"),
    # Results.
    ("/c/coating/runs/4/record", {"version": "4"}, {}, "worked, failed or was lost"),
    ("/c/coating/runs/4/record", {"version": "4", "outcome": "ok"}, {}, "hardness is empty"),
    (
        "/c/coating/runs/4/record",
        {"version": "4", "outcome": "ok", "output-0": "4,125"},
        {},
        "ambiguous",
    ),
    (
        "/c/coating/runs/4/record",
        {"version": "4", "outcome": "ok", "output-0": "nan"},
        {},
        "finite",
    ),
    (
        "/c/coating/runs/4/record",
        {"version": "4", "outcome": "ok", "output-0": "1e999"},
        {},
        "finite",
    ),
    ("/c/coating/runs/4/record", {"outcome": "ok", "output-0": "1"}, {}, "contain the version"),
    ("/c/coating/runs/4/record", {"version": "x", "outcome": "lost"}, {}, "contain the version"),
    (
        "/c/coating/runs/4/record",
        {"version": "4", "outcome": "failed", "reason": "x" * 501},
        {},
        "at most 500",
    ),
    ("/c/coating/runs/4/correct", {"version": "4", "outcome": "lost"}, {}, "record it"),
    ("/c/coating/runs/4/undo", {"version": "4"}, {}, "no entry to undo"),
    # Designs of one's own.
    ("/c/coating/plan", {}, {}, "Temperature is empty"),
    ("/c/coating/plan", {"setting-0": "900", "setting-1": "argon"}, {}, "outside 150 .. 450"),
    # Experiments from elsewhere.
    ("/c/coating/add", {}, {}, "temperature is empty; allowed: 150 .. 450"),
    ("/c/coating/add", {"setting-0": "hot", "setting-1": "argon"}, {}, "is not a number"),
    (
        "/c/coating/add",
        {"setting-0": "900", "setting-1": "argon", "outcome": "failed"},
        {},
        "temperature",
    ),
    (
        "/c/coating/add",
        {"setting-0": "300", "setting-1": "neon", "outcome": "failed"},
        {},
        "gas",
    ),
    # Tables.
    ("/c/coating/import", {}, {}, "no file was chosen"),
    ("/c/coating/import", {}, upload("t.ods", "x"), "must be a .csv or .xlsx"),
    ("/c/coating/import", {}, upload("../../t.csv", ""), "empty"),
    ("/c/coating/import", {}, upload("t.csv", b"\0\1"), "not a CSV file"),
    ("/c/coating/import", {}, upload("t.csv", "depth\n1"), "headings are &#39;depth&#39;"),
    ("/c/coating/import", {}, upload("t.csv", "temperature [K],gas,hardness\n1,argon,2"), "°C"),
    (
        "/c/coating/import",
        {},
        upload("t.csv", "temperature,gas,hardness\n" + "200,argon,1\n" * (MAX_ROWS + 1)),
        f"at most {MAX_ROWS}",
    ),
    ("/c/coating/import", {}, upload("t.xlsx", "not a zip"), "not an xlsx file"),
    ("/c/coating/import", {}, upload("t.xlsx", xlsx_bomb()), "more than 50 MB"),
]


@pytest.mark.parametrize(("path", "fields", "more", "words"), FORMS)
def test_forms(
    shared_site: Site, path: str, fields: dict[str, str], more: dict[str, Any], words: str
) -> None:
    answer = shared_site.send(path, fields, **more)
    assert answer.status_code == 422
    assert words in answer.text
    assert "Traceback" not in answer.text


A_CAMPAIGN = {"name": "x", "parameters": {"a": {"low": 0, "high": 1}}}
# Each answer names the value and what to write instead.
WRONG_FAILURES = (
    ({"odds": 3}, "failures: unknown 'odds'; it can have chance, price, budget"),
    ({"chance": 1.5}, "failures: chance 1.5 must be a rate from 0 to below 1, such as 0.1"),
    ({"chance": "often"}, "failures: chance 'often' must be a rate from 0 to below 1"),
    ({"chance": True}, "failures: chance True must be a rate from 0 to below 1"),
    ({"price": -1}, "failures: price -1 must be a number of experiments from 0 to"),
    ({"price": None}, "failures: price None must be a number of experiments from 0 to"),
    ({"budget": 0}, "failures: budget 0 must be a whole number of at least 1"),
    ({"budget": "10"}, "failures: budget '10' must be a whole number of at least 1"),
    ({"budget": 2.5}, "failures: budget 2.5 must be a whole number of at least 1"),
    (0.1, "failures 0.1 must be becbo.Failures or a mapping of chance, price, budget"),
    (["chance"], "failures ['chance'] must be becbo.Failures or a mapping of chance"),
)

API = "/api/campaigns/coating"
RECORD = f"{API}/runs/4/record"
DESIGN = {"temperature": 300, "gas": "argon"}

BODIES: list[tuple[str, Any, int, str]] = [
    ("/api/campaigns", {}, 422, "name: Field required"),
    ("/api/campaigns", {"name": "x", "parameters": {}}, 422, "parameters"),
    (
        "/api/campaigns",
        {"name": "coating", "parameters": {"a": {"low": 0, "high": 1}}},
        422,
        "already",
    ),
    ("/api/campaigns", {"name": "x", "parameters": {"a": 1}}, 422, "'a'"),
    *[
        ("/api/campaigns", {**A_CAMPAIGN, "failures": given}, 422, words)
        for given, words in WRONG_FAILURES
    ],
    *[
        ("/api/suggest", {"description": {**A_CAMPAIGN, "failures": given}}, 422, words)
        for given, words in WRONG_FAILURES
    ],
    ("/api/campaigns/nobody/suggest", {"q": 1}, 404, "no campaign 'nobody'"),
    (f"{API}/suggest", {"q": 0}, 422, "q: "),
    (f"{API}/suggest", {"q": "1"}, 422, "q: "),
    (f"{API}/suggest", {"q": 1, "n": 2}, 422, "n: Extra inputs"),
    (f"{API}/suggest", [], 422, "dictionary"),
    (RECORD, {}, 422, "exactly one"),
    (RECORD, {"value": 1, "failed": True}, 422, "exactly one"),
    (RECORD, {"value": "1"}, 422, "value."),
    (RECORD, {"value": True}, 422, "value."),
    (RECORD, {"value": None}, 422, "value."),
    (RECORD, {"failed": False}, 422, "failed"),
    (RECORD, {"failed": ""}, 422, "failed"),
    (RECORD, {"failed": "x" * 501}, 422, "500"),
    (RECORD, {"value": 1, "version": 3}, 409, "has changed meanwhile"),
    (f"{API}/runs/0/record", {"value": 1}, 409, "recorded already: 300 HV"),
    (f"{API}/runs/99/record", {"value": 1}, 404, "no run 99"),
    (f"{API}/runs/x/record", {"value": 1}, 404, "no such page"),
    (f"{API}/runs/4/correct", {"value": 1}, 422, "record it"),
    (f"{API}/runs/0/correct", {"value": 1, "version": 7}, 409, "it is 300 HV now"),
    (f"{API}/runs/4/undo", {}, 422, "no entry to undo"),
    (f"{API}/runs/0/withdraw", {}, 409, "undo that first"),
    (f"{API}/runs", {"params": DESIGN}, 422, "exactly one"),
    (f"{API}/runs", {"params": {"temperature": 300}, "value": 1}, 422, "gas"),
    (f"{API}/runs", {"params": {**DESIGN, "time": 3}, "value": 1}, 422, "time"),
    (f"{API}/runs", {"params": {**DESIGN, "temperature": 900}, "value": 1}, 422, "temperature"),
    (f"{API}/runs", {"params": DESIGN, "lost": True}, 422, "lost: Extra inputs"),
    (f"{API}/plan", {"params": {"temperature": 300}}, 422, "gas"),
    (f"{API}/plan", {"params": {**DESIGN, "temperature": 900}}, 422, "temperature"),
    (f"{API}/plan", {"params": DESIGN, "value": 1}, 422, "value: Extra inputs"),
    (RECORD, {"value": {"depth": 1}}, 422, "output 'depth' does not exist"),
    (RECORD, {"value": {"hardness": None}}, 422, "no value was given"),
    (RECORD, {"value": 1, "measured": {"hardness": 1}}, 422, "measured"),
    (RECORD, {"failed": True, "measured": {"depth": 1}}, 422, "output 'depth' does not exist"),
    (f"{API}/what-if", {"params": {"gas": "argon"}}, 422, "temperature"),
    (f"{API}/what-if", {"params": {**DESIGN, "gas": "neon"}}, 422, "gas"),
    (f"{API}/what-if", {"params": {**DESIGN, "time": 3}}, 422, "time"),
    (f"{API}/import", {"rows": []}, 422, "rows"),
    (f"{API}/import", {"rows": [["temperature", "gas"], [300, "argon"]]}, 422, "hardness"),
    (f"{API}/predict", {"designs": []}, 422, "designs"),
    (f"{API}/predict", {"designs": [{"temperature": 300}]}, 422, "gas"),
]


@pytest.mark.parametrize(("path", "body", "status", "words"), BODIES)
def test_json(shared_site: Site, path: str, body: Any, status: int, words: str) -> None:
    answer = shared_site.json(path, body)
    assert answer.status_code == status
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    "text", ['{"value": 1', '{"value": NaN}', '{"value": 1e999}', "", '{"failed": "\\ud800"}']
)
def test_what_is_hardly_json(shared_site: Site, text: str) -> None:
    headers = {"content-type": "application/json"}
    answer = shared_site.client.post(RECORD, content=text, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("setting-0=hot&setting-1=argon", "is not a number"),
        ("setting-0=&setting-1=argon", "temperature is empty"),
        ("setting-0=900&setting-1=argon", "temperature"),
        ("setting-0=300&setting-1=neon", "gas"),
        ("setting-0=300 K&setting-1=argon", "°C"),
        ("setting-9=1", "temperature is empty"),
    ],
)
def test_questions_about_a_design(shared_site: Site, query: str, words: str) -> None:
    answer = shared_site.get(f"/c/coating/what-if?{query}")
    assert answer.status_code == 422 and words in answer.text
    assert "Ask the models" in answer.text


def test_everything_that_is_wrong_with_a_table(shared_site: Site) -> None:
    bad = "temperature,gas,hardness\n200,argon,1\nhot,argon,2\n300,neon,3\n"
    page = shared_site.send("/c/coating/import", {}, **upload("t.csv", bad))
    assert "2 rows must be corrected" in page.text
    assert "line 3: " in page.text and "line 4: " in page.text
    rows = [line.split(",") for line in bad.splitlines()]
    api = shared_site.json(f"{API}/import", {"rows": rows}).json()
    assert [problem["line"] for problem in api["problems"]] == [3, 4]


def test_what_was_typed_is_still_there(shared_site: Site) -> None:
    fields = {"version": "4", "outcome": "ok", "output-0": "4,125", "note": "warm"}
    record = shared_site.send("/c/coating/runs/4/record", fields)
    assert 'value="4,125"' in record.text and 'value="warm"' in record.text
    new = shared_site.send("/new", {**NEW, **RANGE, "parameter-0-low": "nothing"})
    assert 'value="nothing"' in new.text
    for gas in ("argon", "nitrogen"):
        add = shared_site.send("/c/coating/add", {"setting-0": "hot", "setting-1": gas})
        assert 'value="hot"' in add.text and f"<option selected>{gas}" in add.text


def test_nothing_was_written(shared_site: Site) -> None:
    """The last test of this file: none of the above has changed anything."""
    campaigns = shared_site.get("/api/campaigns").json()
    runs = shared_site.get(f"{API}/runs").json()
    assert [campaign["name"] for campaign in campaigns] == ["coating"]
    assert [run["outcome"] for run in runs] == ["ok", "ok", "ok", "failed", "pending"]
    assert all(run["history"] == [] for run in runs)
