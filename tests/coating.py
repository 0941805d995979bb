"""A small campaign to try things on, made once and then copied: creating tables takes time."""

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from becbo.campaign.campaign import Campaign

COATING: dict[str, Any] = {
    "name": "coating",
    "objective": {"name": "hardness", "unit": "HV", "direction": "maximize"},
    "parameters": {
        "temperature": {"low": 100, "high": 500, "unit": "°C"},
        "layers": {"low": 1, "high": 6, "integer": True},
        "gas": {"choices": ["argon", "nitrogen"]},
    },
    "n_initial": 4,
    "budget": 20,
}
DESIGN = {"temperature": 200.0, "layers": 2, "gas": "argon"}


def new_campaign(folder: Path) -> Campaign:
    """An empty campaign in folder/becbo.db."""
    return Campaign.open(shutil.copy(_empty(), folder / "becbo.db"))


def used_campaign(folder: Path) -> Campaign:
    """Run 0 is pending, run 1 is 600, run 2 has failed."""
    return Campaign.open(shutil.copy(_used(), folder / "becbo.db"))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()  # until the tests end


@cache
def _empty() -> Path:
    path = Path(_folder().name) / "empty.db"
    Campaign.create(COATING, path)
    return path


@cache
def _used() -> Path:
    path = Path(shutil.copy(_empty(), Path(_folder().name) / "used.db"))
    campaign = Campaign.open(path)
    campaign.suggest()
    campaign.add(DESIGN, 600)
    campaign.add({**DESIGN, "temperature": 450.0}, failed="cracked")
    return path
