"""Campaigns in memory, for tests that read them: much faster than a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import optuna

from becbo.campaign.campaign import DESCRIPTION, Campaign
from becbo.campaign.description import describe


def campaign_in_memory(
    folder: Path, plan: Mapping[str, Any], rows: Sequence[Sequence[Any]] = ()
) -> Campaign:
    """A campaign with the experiments of a table, headings first."""
    described = describe(plan)
    study = optuna.create_study(study_name=described.name, direction=described.objective.direction)
    study.set_user_attr(DESCRIPTION, described.to_dict())
    made = Campaign(folder / "lab.db", study)
    if rows:
        made.import_cells(rows)
    return made
