"""Designs for a history that the caller keeps: the same as from an Optimizer, nothing stored."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from web.lab import COATING, TOKEN, Site, serving

from becbo import Optimizer, Outcome
from becbo.campaign.describing import describe
from becbo.web.app import make_app
from becbo.web.context import MAX_HISTORY
from becbo.web.security import Access

DESCRIPTION = {**COATING, "seed": 3, "n_initial": 2}
TRIALS: list[dict[str, Any]] = [
    {"params": {"temperature": 200.0, "gas": "argon"}, "values": {"hardness": 300.0}},
    {"params": {"temperature": 260.0, "gas": "nitrogen"}, "values": {"hardness": 310.0}},
    {"params": {"temperature": 440.0, "gas": "argon"}, "outcome": "failed", "reason": "cracked"},
    {"params": {"temperature": 400.0, "gas": "argon"}, "outcome": "lost", "reason": "power cut"},
    {"params": {"temperature": 300.0, "gas": "argon"}, "outcome": "pending"},
]


def expected(q: int) -> list[dict[str, Any]]:
    described = describe(DESCRIPTION)
    optimizer = Optimizer(described.space, described.outputs, seed=3, n_initial=2)
    optimizer.add(TRIALS[0]["params"], TRIALS[0]["values"])
    optimizer.add(TRIALS[1]["params"], TRIALS[1]["values"])
    optimizer.add(TRIALS[2]["params"], failed="cracked")
    known = list(optimizer.trials)
    lost = known[0].from_dict(
        {
            **known[0].to_dict(),
            "number": 3,
            "params": TRIALS[3]["params"],
            "result": {"outcome": "lost", "values": {}, "reason": "power cut"},
        }
    )
    pending = known[0].from_dict(
        {
            **known[0].to_dict(),
            "number": 4,
            "params": TRIALS[4]["params"],
            "result": {"outcome": "pending", "values": {}, "reason": None},
        }
    )
    again = Optimizer(
        described.space, described.outputs, trials=[*known, lost, pending], seed=3, n_initial=2
    )
    return [trial.to_dict() for trial in again.ask(q)]


def test_the_same_designs_as_an_optimizer_proposes(site: Site) -> None:
    before = site.get("/api/campaigns").json()
    asked = {"description": DESCRIPTION, "trials": TRIALS, "q": 2}
    response = site.json("/api/suggest", asked)
    assert response.status_code == 200, response.text
    keys = ("params", "origin", "note", "believed")
    told = json.loads(json.dumps(expected(2)))
    assert response.json() == [{key: trial[key] for key in keys} for trial in told]
    assert response.json() == site.json("/api/suggest", asked).json()
    assert site.get("/api/campaigns").json() == before


def test_designs_may_be_sent_back_as_they_were_answered(site: Site) -> None:
    """A limit of risk counts what was suggested, so an experiment has to say that it was."""
    description = {**DESCRIPTION, "risk": 0.1}
    described = describe(description)
    optimizer = Optimizer(described.space, described.outputs, **vars(described.planned))
    history: list[dict[str, Any]] = []
    for _ in range(9):
        response = site.json("/api/suggest", {"description": description, "trials": history})
        (design,) = response.json()
        trial = optimizer.ask()
        assert design["params"] == trial.params
        hot = trial.params["temperature"]
        if hot > 300:
            optimizer.fail(trial, "cracked")
            history.append({**design, "outcome": "failed", "reason": "cracked"})
        else:
            optimizer.tell(trial, hot)
            history.append({**design, "values": {"hardness": hot}})
    assert sum(each["believed"] is not None for each in history) > 5


def test_without_a_history_the_initial_design_begins(site: Site) -> None:
    (design,) = site.json("/api/suggest", {"description": DESCRIPTION}).json()
    assert design["origin"] == "initial design" and design["believed"] is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"description": {**DESCRIPTION, "method": "magic"}}, "magic"),
        ({"description": {"name": "x", "parameters": {}}}, "parameter"),
        ({"trials": [{**TRIALS[0], "params": {"temperature": 999, "gas": "argon"}}]}, "999"),
        ({"trials": [{"params": TRIALS[0]["params"]}]}, "value"),
        ({"trials": [{**TRIALS[0], "values": {"softness": 1.0}}]}, "softness"),
        ({"trials": [{**TRIALS[0], "outcome": "great"}]}, "outcome"),
        ({"trials": [TRIALS[0]] * (MAX_HISTORY + 1)}, "trials"),
        ({"q": 51}, "q"),
        ({"trials": [{**TRIALS[0], "believed": {"p_feasible": 0.5}}]}, "believed"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_bad_input_is_named(site: Site, change: dict[str, Any], named: str) -> None:
    asked = {"description": DESCRIPTION, "trials": TRIALS, **change}
    response = site.json("/api/suggest", asked)
    assert response.status_code == 422
    assert named in response.json()["detail"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"params": {"temperature": 999, "gas": "argon"}}, "temperature = 999 is outside"),
        ({"params": {"temperature": 200}}, "params have missing ['gas']"),
        ({"values": {"softness": 1.0}}, "output 'softness' does not exist"),
        ({"values": {}}, "outcome 'ok' without a value; give `values`, or the outcome 'failed'"),
        ({"values": {"hardness": None}}, "outcome 'ok' without a value"),
        ({"outcome": "lost"}, "values of an experiment with outcome 'lost' cannot be used"),
        ({"outcome": "pending"}, "values of an experiment with outcome 'pending' cannot be used"),
    ],
)
def test_the_experiment_that_cannot_be_used_is_named(
    site: Site, change: dict[str, Any], why: str
) -> None:
    asked = {"description": DESCRIPTION, "trials": [*TRIALS, {**TRIALS[0], **change}]}
    response = site.json("/api/suggest", asked)
    assert response.status_code == 422
    assert f"trials[{len(TRIALS)}]: {why}" in response.json()["detail"]


def test_the_token_is_asked_for(open_site: Any) -> None:
    guarded = open_site(Access(TOKEN))
    assert guarded.json("/api/suggest", {"description": DESCRIPTION}).status_code == 401


CLIENT = Path(__file__).parents[2] / "examples" / "suggest_client.py"


@pytest.mark.parametrize("client", ["python", "curl"])
def test_clients(where: Path, tmp_path: Path, client: str) -> None:
    if client == "curl" and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    history = tmp_path / "history.json"
    history.write_text(json.dumps({"description": DESCRIPTION, "trials": TRIALS}))
    with serving(make_app(where, Access(TOKEN))) as address:
        python = [sys.executable, str(CLIENT), address, TOKEN, str(history)]
        curl = ["curl", "-sS", "-H", f"Authorization: Bearer {TOKEN}"]
        curl += ["-H", "Content-Type: application/json", "-d", f"@{history}"]
        command = python if client == "python" else [*curl, f"{address}/api/suggest"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert expected(1)[0]["params"]["gas"] in done.stdout
    assert Outcome.PENDING.value not in done.stdout


def test_the_client_shows_what_cannot_be_used(where: Path, tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    useless = [TRIALS[0], {**TRIALS[1], "values": {}}]
    history.write_text(json.dumps({"description": DESCRIPTION, "trials": useless}))
    with serving(make_app(where, Access(TOKEN))) as address:
        command = [sys.executable, str(CLIENT), address, TOKEN, str(history)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "trials[1]: outcome 'ok' without a value" in done.stderr
    assert "Traceback" not in done.stderr
