"""The cells of a table as rows that can be imported.

A row is one experiment. An empty or `failed` cell of the objective means that the experiment
failed; empty beside the number of a run means that the run is still pending. Columns of other
names, such as a date or an operator, go into the note.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from becbo.campaign.description import Description
from becbo.campaign.runs import clean_text
from becbo.errors import InvalidInput
from becbo.outputs import Objective
from becbo.reasons import Reasons
from becbo.tables.files import MAX_ROWS, Cell
from becbo.tables.headings import NOTE, NUMBER, OUTCOME, REASON, find_columns, headings_below
from becbo.tables.parsing import cell_text, parameter_value, parse_number, starts_with_number
from becbo.trial import Outcome, Result

_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


@dataclass(frozen=True)
class Problem:
    """What is wrong with a row; lines count from 1 at the top."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class BadTable(InvalidInput):
    """A table that cannot be imported, with everything that is wrong with it.

    Attributes:
        problems: All problems, sorted by line.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line))
        shown = "\n".join(f"  {problem}" for problem in self.problems)
        n = len({problem.line for problem in problems})
        super().__init__(f"nothing was imported, because of {n} row{'s' * (n > 1)}:\n{shown}")


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    line: int
    number: int | None  # of a run here
    params: Mapping[str, Any]
    result: Result
    note: str
    is_blank: bool  # neither value nor outcome nor reason


def read_rows(description: Description, cells: Sequence[Sequence[Cell]]) -> list[Row]:
    """The rows of a table.

    Args:
        description: The campaign to import into.
        cells: The table, headings first.

    Returns:
        One `Row` per experiment.

    Raises:
        BadTable: Some rows cannot be used; it lists every problem.
        InvalidInput: The table is empty or too long, or its headings do not fit.
    """
    (_, headings), *lines = _lines(cells)
    if len(lines) > MAX_ROWS:
        raise InvalidInput(
            f"the table is too long: split it, at most {MAX_ROWS} rows can be imported at once"
        )
    try:
        columns, others = find_columns(description, headings)
    except InvalidInput as error:
        raise InvalidInput(f"{error}{headings_below(description, lines)}") from None
    rows, problems = [], []
    for line, row in lines:
        texts = dict(enumerate(map(cell_text, row)))
        named = {name: row[i] if i in texts else None for name, i in columns.items()}
        wrong = [
            f"{text!r} is in a column without a heading; add a heading, or clear the cell"
            for i, text in texts.items()
            if text and not cell_text(headings[i] if i < len(headings) else None)
        ]
        remarks = [(name, _remark(texts.get(i, ""))) for name, i in others]
        read = _row(line, named, remarks, description, wrong)
        problems += [Problem(line, message) for message in wrong]
        rows += [read] if read else []
    numbers = Counter(row.number for row in rows if row.number is not None)
    problems += [
        Problem(row.line, f"number {row.number} is in more than one line")
        for row in rows
        if row.number is not None and numbers[row.number] > 1
    ]
    if problems:
        raise BadTable(problems)
    if not rows:
        raise InvalidInput("the table has headings but no rows")
    return rows


def noted_columns(description: Description, cells: Sequence[Sequence[Cell]]) -> list[str]:
    """The columns whose content goes into the notes."""
    (_, headings), *_ = _lines(cells)
    return [name for name, _ in find_columns(description, headings)[1]]


def _lines(cells: Sequence[Sequence[Cell]]) -> list[tuple[int, Sequence[Cell]]]:
    """The lines that are not empty, headings first, with their numbers from 1."""
    lines = [(i, row) for i, row in enumerate(cells, start=1) if any(map(cell_text, row))]
    if not lines:
        raise InvalidInput("the table is empty: its first line must name the columns")
    return lines


def _row(
    line: int,
    cells: Mapping[str, Cell],
    remarks: Sequence[tuple[str, str]],
    description: Description,
    wrong: list[str],
) -> Row | None:
    """The row; what cannot be read in it is added to `wrong`."""

    def attempt(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except InvalidInput as error:
            wrong.append(str(error))

    params = {
        p.name: attempt(partial(parameter_value, p.parameter, cells[p.name], p.unit))
        for p in description.parameters
    }
    result = attempt(partial(_result, cells, description.objective))
    number = attempt(partial(_number, cells.get(NUMBER)))
    said = [cell_text(cells.get(NOTE)), *(f"{name}: {text}" for name, text in remarks if text)]
    note = clean_text("; ".join(filter(None, said)))
    of_result = (description.objective.name, OUTCOME, REASON)
    is_blank = not any(cell_text(cells.get(name)) for name in of_result)
    return None if wrong else Row(line, number, params, result, note, is_blank)


def _result(cells: Mapping[str, Cell], objective: Objective) -> Result:
    name = objective.name
    text, said = cell_text(cells[name]), cell_text(cells.get(OUTCOME)).lower()
    if said and said not in _OUTCOMES:
        raise InvalidInput(f"outcome {said!r} must be {', '.join(_OUTCOMES)}, or left empty")
    if text.lower() in (Outcome.FAILED.value, Outcome.LOST.value):
        said, text = text.lower(), ""
    why = clean_text(cell_text(cells.get(REASON)))
    if text:
        value = _value(text, objective)
        if said in (Outcome.FAILED.value, Outcome.LOST.value):
            raise InvalidInput(f"outcome {said!r}, but {name} is {text}; clear one of them")
        if why:
            raise InvalidInput(f"reason {why!r}, but {name} is {text}; move it to the note")
        return Result.ok({name: value})
    if said == Outcome.OK.value:
        raise InvalidInput(f"outcome 'ok', but {name} is empty; give the value, or 'failed'")
    # Beside a number it is a run that nobody has filled in yet.
    unsaid = Outcome.PENDING if cell_text(cells.get(NUMBER)) and not why else Outcome.FAILED
    ended = _OUTCOMES.get(said, unsaid)
    if ended is Outcome.PENDING and why:
        raise InvalidInput(f"reason {why!r}, but outcome 'pending'; write 'failed' if it failed")
    return Result(ended, {}, Reasons.parse(why))


def _value(text: str, objective: Objective) -> float:
    try:
        return parse_number(text, objective.name, objective.unit)
    except InvalidInput as error:
        remedy = "" if starts_with_number(text) else "; write failed, or leave it empty"
        raise InvalidInput(f"{error}{remedy}") from None


def _number(cell: Cell) -> int | None:
    text = cell_text(cell)
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise InvalidInput(f"number {text!r} must be the whole number of a run, or left empty")
    return int(number)


def _remark(text: str) -> str:
    return text.removesuffix(" 00:00:00")  # Excel's dates come with a time
