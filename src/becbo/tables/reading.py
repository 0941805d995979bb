"""The cells of a table as rows that can be imported.

A row is one experiment. `failed` in the cell of an output, or no value of any objective, means that
the experiment failed. Nothing at all beside the number of a run means that the run is still
pending. Columns of other names, such as a date or an operator, go into the note.
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
from becbo.outputs import Output, Outputs
from becbo.reasons import Reasons
from becbo.tables.files import MAX_ROWS, Cell, Merged
from becbo.tables.headings import NOTE, NUMBER, OUTCOME, REASON, find_headings
from becbo.tables.parsing import cell_text, parameter_value, parse_number, starts_with_number
from becbo.trial import Outcome, Result

_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_ENDS = {outcome.value: outcome for outcome in (Outcome.FAILED, Outcome.LOST)}
_MAX_TITLE = 20  # lines that may stand above the headings
_TOO_LONG = f"the table is too long: split it, at most {MAX_ROWS} rows can be imported at once"


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
    is_blank: bool  # failed, only because no objective has a value


@dataclass(frozen=True)
class Table:
    """The experiments of a table.

    Attributes:
        rows: One for each experiment.
        noted: The columns whose content goes into the notes.
    """

    rows: list[Row]
    noted: list[str]


def read_rows(description: Description, cells: Sequence[Sequence[Cell]]) -> Table:
    """Reads a table.

    Args:
        description: The campaign to import into.
        cells: The table; lines above its headings are skipped.

    Returns:
        Its experiments.

    Raises:
        BadTable: Some rows cannot be used; it lists every problem.
        InvalidInput: The table is empty or too long, or its headings do not fit.
    """
    lines = _lines(cells)
    if len(lines) > MAX_ROWS + _MAX_TITLE:
        raise InvalidInput(_TOO_LONG)
    begin, columns = find_headings(description, [row for _, row in lines[: _MAX_TITLE + 1]])
    headings, lines = lines[begin][1], lines[begin + 1 :]
    if len(lines) > MAX_ROWS:
        raise InvalidInput(_TOO_LONG)
    rows, problems = [], []
    for line, row in lines:
        texts = dict(enumerate(map(cell_text, row)))
        named = {name: row[i] if i in texts else None for name, i in columns.named.items()}
        wrong = [
            f"{text!r} is in a column without a heading; add a heading, or clear the cell"
            for i, text in texts.items()
            if text and not cell_text(headings[i] if i < len(headings) else None)
        ]
        merged = [
            f"the cell of {name} is merged with {cell}; split it, and fill in every row"
            for name, cell in named.items()
            if isinstance(cell, Merged)
        ]
        remarks = [(name, _remark(texts.get(i, ""))) for name, i in columns.others]
        read = None if merged else _row(line, named, remarks, description, wrong)
        wrong += merged
        problems += [Problem(line, message) for message in wrong]
        rows += [read] if read else []
    problems += _repeated_numbers(rows)
    if problems:
        raise BadTable(problems)
    if not rows:
        raise InvalidInput("the table has headings but no rows")
    return Table(rows, [name for name, _ in columns.others])


def _repeated_numbers(rows: Sequence[Row]) -> list[Problem]:
    numbers = Counter(row.number for row in rows if row.number is not None)
    return [
        Problem(row.line, f"number {row.number} is in more than one line")
        for row in rows
        if row.number is not None and numbers[row.number] > 1
    ]


def _lines(cells: Sequence[Sequence[Cell]]) -> list[tuple[int, Sequence[Cell]]]:
    """The lines that are not empty, headings first, with their numbers from 1."""
    lines = [(i, row) for i, row in enumerate(cells, start=1) if any(map(cell_text, row))]
    if not lines:
        raise InvalidInput("the table is empty: a line must name the columns")
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
    result = attempt(partial(_result, cells, description.outputs))
    number = attempt(partial(_number, cells.get(NUMBER)))
    said = [cell_text(cells.get(NOTE)), *(f"{name}: {text}" for name, text in remarks if text)]
    note = clean_text("; ".join(filter(None, said)))
    if wrong:
        return None
    is_blank = result.outcome is Outcome.FAILED and not _says_failed(cells, description.outputs)
    return Row(line, number, params, result, note, is_blank)


def _result(cells: Mapping[str, Cell], outputs: Outputs) -> Result:
    """What the cells of the outputs, the outcome and the reason say together."""
    texts = {output.name: cell_text(cells.get(output.name)) for output in outputs}
    words = {text.lower() for text in texts.values()} & _ENDS.keys()
    said = cell_text(cells.get(OUTCOME)).lower()
    if said and said not in _OUTCOMES:
        raise InvalidInput(f"outcome {said!r} must be {', '.join(_OUTCOMES)}, or left empty")
    # An exported `pending` stays where somebody fills in the values only.
    if said and (said != Outcome.PENDING.value or not any(texts.values())):
        words.add(said)
    if len(words) > 1:
        raise InvalidInput(f"{' and '.join(sorted(words))} contradict each other; keep one")
    values = {
        output.name: _value(text, output) if text and text.lower() not in _ENDS else None
        for output, text in zip(outputs, texts.values(), strict=True)
    }
    why = clean_text(cell_text(cells.get(REASON)))
    ended = _OUTCOMES[words.pop()] if words else _unsaid(values, why, cells, outputs)
    _check_agreement(ended, values, why, texts)
    return Result(
        ended, values if ended.is_answer and _is_any_measured(values) else {}, Reasons.parse(why)
    )


def _says_failed(cells: Mapping[str, Cell], outputs: Outputs) -> bool:
    """Whether somebody wrote that an experiment failed, or why."""
    words = {cell_text(cells.get(name)).lower() for name in (*outputs.names, OUTCOME)}
    return Outcome.FAILED.value in words or bool(cell_text(cells.get(REASON)))


def _is_any_measured(values: Mapping[str, float | None]) -> bool:
    """Whether any output has a value."""
    return any(value is not None for value in values.values())


def _unsaid(
    values: Mapping[str, float | None], why: str, cells: Mapping[str, Cell], outputs: Outputs
) -> Outcome:
    """How an experiment ended, if nobody wrote it down.

    It worked if an objective was measured; with a reason, all objectives. A number and nothing else
    is a run that nobody has filled in yet.
    """
    objectives = [values[objective.name] is not None for objective in outputs.objectives]
    if all(objectives) if why else any(objectives):
        return Outcome.OK
    is_open = cell_text(cells.get(NUMBER)) and not why and not _is_any_measured(values)
    return Outcome.PENDING if is_open else Outcome.FAILED


def _check_agreement(
    ended: Outcome, values: Mapping[str, float | None], why: str, texts: Mapping[str, str]
) -> None:
    """Refuses an outcome that does not fit the values or the reason."""
    measured = [f"{name} is {texts[name]}" for name, value in values.items() if value is not None]
    is_odd = ended in (Outcome.LOST, Outcome.PENDING) or len(values) == 1
    if measured and ended is not Outcome.OK and is_odd:
        raise InvalidInput(f"outcome {ended.value!r}, but {measured[0]}; clear one of them")
    if why and ended is Outcome.OK:
        raise InvalidInput(
            f"reason {why!r}, but {measured[0]}; move it to the note, or write failed as outcome"
        )
    if ended is Outcome.OK and not measured:
        empty = f"{' and '.join(texts)} {'is' if len(texts) == 1 else 'are'} empty"
        raise InvalidInput(f"outcome 'ok', but {empty}; give the value, or 'failed'")
    if ended is Outcome.PENDING and why:
        raise InvalidInput(f"reason {why!r}, but outcome 'pending'; write 'failed' if it failed")


def _value(text: str, output: Output) -> float:
    try:
        return parse_number(text, output.name, output.unit)
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
