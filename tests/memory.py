"""Campaigns in memory, for tests that read them: much faster than a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import optuna

from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.campaign.store import DESCRIPTION
from becbo.optuna.measured import study_directions
from becbo.tables import import_cells


def campaign_in_memory(
    folder: Path, plan: Mapping[str, Any], rows: Sequence[Sequence[Any]] = ()
) -> Campaign:
    """A campaign with the experiments of a table, headings first."""
    described = describe(plan)
    directions = study_directions(described.outputs)
    study = optuna.create_study(study_name=described.name, directions=directions)
    study.set_user_attr(DESCRIPTION, described.to_dict())
    made = Campaign(folder / "lab.db", study)
    if rows:
        import_cells(made, rows)
    return made
