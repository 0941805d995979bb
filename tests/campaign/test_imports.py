"""Who records a result does not wait for the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ENGINE = ("becbo.proposers", "becbo.surrogates", "becbo.models", "becbo.optimizer", "scipy")
RECORD = """
import sys
from becbo import Campaign

campaign = Campaign.open(sys.argv[1])
campaign.record(0, {"hardness": 410.0, "roughness": 2.1})
campaign.record(1, failed="cracked", measured={"roughness": 9.0})
assert [run.number for run in campaign.status.front] == [0]
print(*sorted(sys.modules))
"""
DESCRIPTION = {
    "name": "coating",
    "objective": {"name": "hardness", "direction": "maximize"},
    "limits": {"roughness": {"upper": 3}},
    "parameters": {"temperature": {"low": 150, "high": 450}, "gas": {"choices": ["Ar", "N2"]}},
    "constraints": ["temperature <= 440"],
}


def test_recording_a_result_does_not_load_the_engine(tmp_path: Path) -> None:
    from becbo import Campaign

    where = str(tmp_path / "lab.db")
    Campaign.create(DESCRIPTION, where).suggest(2)
    done = subprocess.run(
        [sys.executable, "-c", RECORD, where], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "becbo.campaign.campaign" in loaded
    found = [name for name in loaded if any(f"{name}.".startswith(f"{e}.") for e in ENGINE)]
    assert found == []
