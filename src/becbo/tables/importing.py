"""The experiments of a table as runs of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from becbo.campaign.campaign import Campaign
from becbo.campaign.runs import Run
from becbo.tables.files import Cell, read_table
from becbo.tables.matching import match_rows
from becbo.tables.reading import Row, read_rows
from becbo.trial import Outcome

MAX_NAMED = 20  # runs that a sentence names


@dataclass(frozen=True)
class ImportSummary:
    """What an import did."""

    added: list[Run]  # new runs
    recorded: list[Run]  # runs that were pending, or undone, and got their result
    corrected: list[Run]  # known runs whose missing reason or note the table has
    blank: list[Run]  # taken as failed, only because the table has no value of an objective
    differing: list[Run]  # known runs with the table's reason or note, which was not taken over
    doubtful: list[tuple[Run, Run]]  # new runs, and known ones that they perhaps correct
    n_known: int  # rows that were known already, or are still pending
    n_pending: int  # rows among them that have no result yet
    noted: list[str]  # columns of other names, now in the notes

    @property
    def counts(self) -> Counter[Outcome]:
        """The number of added and recorded experiments by outcome."""
        return Counter(run.outcome for run in (*self.added, *self.recorded))


def import_table(campaign: Campaign, path: str | Path) -> ImportSummary:
    """Imports the experiments of a table, all of them or none.

    Columns are headed by the names of the parameters and of the outputs, with or without the unit.
    `failed` in the cell of an output, or no value of any objective, means that the experiment
    failed; what was measured all the same is kept. Columns of other names go into the notes.

    A row with the number or the design of a pending run records that run, or leaves it pending if
    it has a number and no result. A row that is known already is skipped, except that a missing
    reason or note is taken over. A table that has grown can therefore be imported again, and so
    can one whose import was undone.

    Args:
        campaign: The campaign to import into.
        path: A .csv or .xlsx file; of an xlsx file, the first sheet is read.

    Returns:
        What was imported.

    Raises:
        BadTable: Some rows cannot be imported; it lists every problem.
        InvalidInput: The file cannot be read, or its headings do not fit.

    Examples:
        >>> summary = import_table(campaign, "old.csv")
        >>> print(summary)
    """
    return import_cells(campaign, read_table(path))


def import_cells(campaign: Campaign, cells: Sequence[Sequence[Cell]]) -> ImportSummary:
    """Imports the experiments of a table given as cells.

    Args:
        campaign: The campaign to import into.
        cells: The rows of the table; see `import_table`.

    Returns:
        What was imported.

    Raises:
        BadTable: Some rows cannot be imported; it lists every problem.
        InvalidInput: The table is empty or too long, or its headings do not fit.
    """
    table = read_rows(campaign.description, cells)
    with campaign.batch() as batch:
        plan = match_rows(batch.description, table.rows, batch.runs)
        for run, row in plan.to_record:
            batch.record(run, row.result, row.note)
        for run in plan.to_correct:
            batch.record(run, run.result, run.note)
        for row in plan.to_add:
            batch.add(row.params, row.result, row.note)
    added = dict(zip(batch.trials, plan.to_add, strict=True))
    recorded = {run.trial: row for run, row in plan.to_record}
    corrected = {run.trial for run in plan.to_correct}
    taken, runs = added | recorded, campaign.runs
    return ImportSummary(
        added=[run for run in runs if run.trial in added],
        recorded=[run for run in runs if run.trial in recorded],
        corrected=[run for run in runs if run.trial in corrected],
        blank=[run for run in runs if run.trial in taken and taken[run.trial].is_blank],
        differing=plan.differing,
        doubtful=_doubtful(plan.doubtful, added, runs),
        n_known=len(table.rows) - len(taken) - len(corrected),
        n_pending=sum(row.result.outcome is Outcome.PENDING for row in table.rows),
        noted=table.noted if taken or corrected else [],
    )


def _doubtful(
    found: Sequence[tuple[Row, Run]], added: Mapping[int, Row], runs: Sequence[Run]
) -> list[tuple[Run, Run]]:
    """The runs that were made of doubtful rows, by the trials and rows that were added."""
    known = {row.line: run for row, run in found}
    new = [(run, added[run.trial].line) for run in runs if run.trial in added]
    return [(run, known[line]) for run, line in new if line in known]


def import_to_dict(summary: ImportSummary) -> dict[str, Any]:
    """What an import did as plain data: runs by their numbers."""
    lists = ("added", "recorded", "corrected", "blank", "differing")
    return {
        **{name: [run.number for run in getattr(summary, name)] for name in lists},
        "n_known": summary.n_known,
        "n_pending": summary.n_pending,
        "noted": summary.noted,
    }


def import_messages(noted: Sequence[str], differing: Sequence[int]) -> list[str]:
    """Sentences about an import.

    Args:
        noted: Columns that went into the notes.
        differing: Numbers of known runs with another reason or note than in the table.

    Returns:
        One sentence for each that is not empty.
    """
    messages = []
    if noted:
        messages.append(f"Added to the notes: {', '.join(noted)}.")
    if differing:
        messages.append(
            f"The table has another reason or note for {named(differing)}; the recorded one was "
            "kept."
        )
    return messages


def named(numbers: Sequence[int]) -> str:
    """Runs in a sentence: `run 4`, `runs 4, 7`; of many the first ones.

    Args:
        numbers: Their numbers.

    Returns:
        The words.
    """
    shown = ", ".join(map(str, numbers[:MAX_NAMED]))
    others = " and others" if len(numbers) > MAX_NAMED else ""
    return f"run{'s' * (len(numbers) > 1)} {shown}{others}"
