"""Runs as files: CSV, xlsx and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.names import BELIEVED
from becbo.campaign.runs import Run
from becbo.campaign.serialization import run_to_dict
from becbo.errors import InvalidInput
from becbo.files import write_file
from becbo.tables.files import Cell, write_csv, write_xlsx
from becbo.tables.headings import NOTE, NUMBER, OUTCOME, REASON

_SPREAD = ", standard deviation"


def export_table(campaign: Campaign, path: str | Path, *, overwrite: bool = False) -> Path:
    """Writes all runs to a file, which `import_table` can read if it is a table.

    Args:
        campaign: The campaign.
        path: A .csv, .xlsx or .json file; .json has the earlier entries of each run too.
        overwrite: Whether it may replace a file: it may be the table that was to be imported.

    Returns:
        The path.

    Raises:
        InvalidInput: The file has another ending, exists already or cannot be written.

    Examples:
        >>> path = export_table(campaign, "runs.xlsx")
    """
    path = Path(path)
    content = table_bytes(path.suffix, campaign.description, campaign.runs)
    write_file(path, content, overwrite=overwrite)
    return path


def table_bytes(suffix: str, description: Description, runs: Iterable[Run]) -> bytes:
    """Runs as the content of a file.

    Args:
        suffix: The kind of file: .csv, .xlsx or .json.
        description: The campaign of the runs.
        runs: The runs to write.

    Returns:
        The content.

    Raises:
        InvalidInput: There is no such kind.
    """
    if suffix.lower() not in WRITERS:
        raise InvalidInput(f"an export must be a {', '.join(WRITERS)} file, not {suffix!r}")
    return WRITERS[suffix.lower()](description, runs)


def table_cells(description: Description, runs: Iterable[Run]) -> list[list[Cell]]:
    """All runs as cells, headings first."""
    headings: list[Cell] = [
        NUMBER,
        *(parameter.heading for parameter in description.parameters),
        *description.headings.values(),
        *(OUTCOME, REASON, NOTE, f"{BELIEVED}chance"),
        *(
            f"{BELIEVED}{name}{what}"
            for name in description.outputs.names
            for what in ("", _SPREAD)
        ),
    ]
    return [headings, *(_cells(run, description) for run in runs)]


def _cells(run: Run, description: Description) -> list[Cell]:
    names = description.outputs.names
    chance = None if run.believed is None else run.believed.p_feasible
    estimates = {} if run.believed is None else run.believed.outputs
    predicted = [(e.mean, e.std) if (e := estimates.get(n)) else (None, None) for n in names]
    return [
        run.number,
        *(run.params[name] for name in description.space.names),
        *(run.values.get(name) for name in names),
        *(run.outcome.value, run.reason, run.note, chance),
        *chain.from_iterable(predicted),
    ]


def _write_json(description: Description, runs: Iterable[Run]) -> bytes:
    written = {"description": description.to_dict(), "runs": [run_to_dict(run) for run in runs]}
    return json.dumps(written, indent=1, ensure_ascii=False).encode()


WRITERS: dict[str, Callable[[Description, Iterable[Run]], bytes]] = {
    ".csv": lambda description, runs: write_csv(table_cells(description, runs)),
    ".xlsx": lambda description, runs: write_xlsx(table_cells(description, runs)),
    ".json": _write_json,
}
