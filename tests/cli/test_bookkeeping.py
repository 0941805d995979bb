"""Who made which entry, and campaigns that are deleted and come back."""

import getpass
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from coating import COATING, used_campaign
from commands import Done

from becbo.campaign.campaign import Campaign

Becbo = Callable[..., Done]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BECBO_FILE", "BECBO_NAME"):
        monkeypatch.delenv(name, raising=False)


def test_entries_have_names(becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = used_campaign(tmp_path)
    monkeypatch.setenv("LOGNAME", "ann")
    becbo("record", "0", "610")
    becbo("correct", "0", "611", "--by", "Bob Ross")
    corrected = campaign.run(0)
    assert (corrected.by, [state.by for state in corrected.history]) == ("Bob Ross", ["ann"])
    monkeypatch.setenv("BECBO_NAME", "Cleo")
    becbo("add", "temperature=210", "layers=3", "gas=argon", "541")
    Path("old.csv").write_text("temperature,layers,gas,hardness\n220,3,argon,551\n")
    becbo("import", "old.csv")
    assert [run.by for run in campaign.runs[3:]] == ["Cleo", "Cleo"]
    assert json.loads(becbo("withdraw", str(campaign.suggest()[0].number), "--json").out)["by"] == (
        "Cleo"
    )
    table = becbo("status", "--all").out
    assert "by" in table and "Bob Ross" in table and "Cleo" in table
    assert json.loads(becbo("status", "--json").out)["last_entry"]["by"] == "Cleo"


def test_a_name_that_is_too_long(becbo: Becbo, tmp_path: Path) -> None:
    before = used_campaign(tmp_path).runs
    done = becbo("record", "0", "610", "--by", "x" * 101)
    assert (done.code, "101 characters are too many; use at most 100" in done.err) == (2, True)
    assert Campaign.open("becbo.db").runs == before


def test_a_system_without_user_names(
    becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise OSError("No username set in the environment")

    campaign = used_campaign(tmp_path)
    monkeypatch.setattr(getpass, "getuser", unknown)
    assert becbo("record", "0", "610").code == 0
    assert campaign.run(0).by == ""


def test_a_deleted_campaign_comes_back(becbo: Becbo, tmp_path: Path) -> None:
    before = used_campaign(tmp_path).runs
    done = becbo("delete", "coating")
    assert (done.code, done.err) == (0, "")
    assert done.out == "Deleted: coating with 3 runs.\nTo bring it back: becbo restore coating\n"
    done = becbo("status")
    assert (done.code, "has no campaign" in done.err) == (2, True)
    done = becbo("record", "0", "610", "-c", "coating")
    assert "is among the deleted campaigns of becbo.db" in done.err
    assert "`becbo restore coating`" in done.err
    assert "coating (deleted): " in becbo("check").out
    assert becbo("restore").out == "Restored: coating with 3 runs.\n"
    assert Campaign.open("becbo.db").runs == before


def test_the_deleted_campaign_has_to_be_named(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    Campaign.create({**COATING, "name": "hot glue"}, "becbo.db")
    assert becbo("restore").err.strip() == "error: becbo.db has no deleted campaign"
    assert "becbo restore 'hot glue'" in becbo("delete", "hot glue").out
    becbo("delete", "coating")
    assert "several deleted campaigns: coating, hot glue; name one" in becbo("restore").err
    assert "has no deleted campaign 'gleu'; it has coating" in becbo("restore", "gleu").err
    assert becbo("restore", "hot glue").code == 0
    assert "it has hot glue" in becbo("delete", "gleu").err
    assert becbo("delete").code == 2  # never without a name
    assert Campaign.open("becbo.db").name == "hot glue"
