"""Spreadsheets in and out: CSV, xlsx and JSON.

A row is one experiment. Columns are headed by name and unit as in `temperature [°C]`; the unit may
be left out. An empty or `failed` cell of the objective means that the experiment failed. What
stands in columns of other names, such as a date or an operator, is kept in the note.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from becbo.campaign.description import FURTHER_COLUMNS, Description
from becbo.campaign.files import MAX_ROWS, Cell, write_csv, write_xlsx
from becbo.campaign.runs import Result, Run, clean
from becbo.errors import InvalidInput
from becbo.space import Categorical, Parameter
from becbo.trial import Outcome

NUMBER, OUTCOME, REASON, NOTE, CHANCE, EXPECTED, SPREAD = FURTHER_COLUMNS
IGNORED = (CHANCE, EXPECTED, SPREAD)  # when an export comes back
WORDS = {outcome.value: outcome for outcome in Outcome}  # in the cell of the objective or outcome


@dataclass(frozen=True)
class Problem:
    """What is wrong with a row, in words; line 1 has the headings."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


class BadTable(InvalidInput):
    """A table that cannot be imported, with everything that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = "\n".join(f"  {problem}" for problem in problems)
        n = len({problem.line for problem in problems})
        super().__init__(f"nothing was imported, because of {n} row{'s' * (n > 1)}:\n{shown}")


@dataclass(frozen=True)
class Row:
    """One row, understood."""

    line: int
    number: int | None  # of a run here
    params: Mapping[str, Any]
    result: Result
    note: str


@dataclass(frozen=True)
class Todo:
    """What an import has to do."""

    to_add: list[Row]
    to_record: list[tuple[Run, Row]]


def understand(description: Description, cells: Sequence[Sequence[Cell]]) -> list[Row]:
    """The rows of a table, or `BadTable` with everything that is wrong with them."""
    if not cells or not any(map(_text, cells[0])):
        raise InvalidInput("the table is empty: its first line must name the columns")
    if len(cells) - 1 > MAX_ROWS:
        raise InvalidInput(
            f"the table is too long: split it, at most {MAX_ROWS} rows go in at once"
        )
    columns, others = _columns(description, cells[0])
    rows, problems = [], []
    for line, row in enumerate(cells[1:], start=2):
        if not any(map(_text, row)):
            continue
        named = {name: row[i] if i < len(row) else None for name, i in columns.items()}
        beyond = [_text(cell) for cell in row[len(cells[0]) :] if _text(cell)]
        wrong = [f"{text!r} stands beyond the last column" for text in beyond]
        remarks = [(name, _remark(row[i])) for name, i in others if i < len(row)]
        understood = _row(line, named, remarks, description, wrong)
        problems += [Problem(line, words) for words in wrong]
        rows += [understood] if understood else []
    numbers = Counter(row.number for row in rows if row.number is not None)
    problems += [
        Problem(row.line, f"number {row.number} stands in more than one line")
        for row in rows
        if row.number is not None and numbers[row.number] > 1
    ]
    if problems:
        raise BadTable(sorted(problems, key=lambda problem: problem.line))
    if not rows:
        raise InvalidInput("the table has headings but no rows")
    return rows


def noted(description: Description, headings: Sequence[Cell]) -> list[str]:
    """The columns whose content goes into the notes."""
    return [name for name, _ in _columns(description, headings)[1]]


def sort_out(rows: Sequence[Row], runs: Sequence[Run]) -> Todo:
    """Which rows are new, and which are results of pending runs, or `BadTable`."""
    by_number = {run.number: run for run in runs}
    pending = {_key(run.params): run for run in runs if run.outcome is Outcome.PENDING}
    there = Counter((_key(run.params), _said(run.result)) for run in runs)
    todo, problems = Todo([], []), []
    for row in rows:
        key, said = _key(row.params), _said(row.result)
        if row.result.outcome is Outcome.PENDING:
            continue
        if row.number is not None and runs:  # in an empty campaign, it is that of another one
            try:
                if _is_news(by_number.get(row.number), row):
                    todo.to_record.append((by_number[row.number], row))
                    pending.pop(key, None)
            except InvalidInput as error:
                problems.append(Problem(row.line, str(error)))
        elif there[key, said]:
            there[key, said] -= 1  # the same experiment done twice is two rows
        elif key in pending:
            todo.to_record.append((pending.pop(key), row))
        else:
            todo.to_add.append(row)
    if problems:
        raise BadTable(problems)
    return todo


def _is_news(run: Run | None, row: Row) -> bool:
    """Whether a row tells the result of a pending run."""
    if run is None:
        raise InvalidInput(f"there is no run {row.number}; leave the number empty for a new run")
    if _key(run.params) != _key(row.params):
        raise InvalidInput(
            f"run {run.number} has other parameters here; leave the number empty for a new run"
        )
    if run.outcome is Outcome.PENDING:
        return True
    if _said(run.result) != _said(row.result):
        raise InvalidInput(
            f"run {run.number} is recorded as {run.result}, not {row.result}; correct it instead"
        )
    return False


def _key(params: Mapping[str, Any]) -> tuple[Any, ...]:
    """To compare designs."""
    return tuple((name, _rounded(value)) for name, value in sorted(params.items()))


def _said(result: Result) -> tuple[Outcome, Any]:
    """To compare results."""
    return result.outcome, _rounded(result.value)


def _rounded(value: Any) -> Any:
    """Spreadsheets keep fewer digits than a study."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def table(description: Description, runs: Iterable[Run]) -> list[list[Cell]]:
    """All runs as cells, headings first."""
    headings: list[Cell] = [
        NUMBER,
        *(parameter.heading for parameter in description.parameters),
        description.objective.heading,
        *(OUTCOME, REASON, NOTE, CHANCE, EXPECTED, SPREAD),
    ]
    return [headings, *(_cells(run, description) for run in runs)]


def write_json(description: Description, runs: Iterable[Run]) -> bytes:
    """Description and runs with all earlier entries."""
    written = {"description": description.to_dict(), "runs": [run_dict(run) for run in runs]}
    return json.dumps(written, indent=1, ensure_ascii=False).encode()


WRITERS: dict[str, Callable[[Description, Iterable[Run]], bytes]] = {
    ".csv": lambda description, runs: write_csv(table(description, runs)),
    ".xlsx": lambda description, runs: write_xlsx(table(description, runs)),
    ".json": write_json,
}


def content(suffix: str, description: Description, runs: Iterable[Run]) -> bytes:
    """The runs as a file of that kind."""
    if suffix.lower() not in WRITERS:
        raise InvalidInput(f"an export must be a {', '.join(WRITERS)} file, not {suffix!r}")
    return WRITERS[suffix.lower()](description, runs)


def _columns(
    description: Description, headings: Sequence[Cell]
) -> tuple[dict[str, int], list[tuple[str, int]]]:
    """Positions of the parameters, the objective and further columns, and of all others."""
    units = {p.name: p.unit for p in description.parameters}
    units[description.objective.name] = description.objective.unit
    found: dict[str, int] = {}
    others = []
    for i, heading in enumerate(map(_text, headings)):
        if not heading or heading in IGNORED:
            continue
        name, unit = _recognise(heading, units)
        if name is None:
            others.append((heading, i))
            continue
        if unit is not None and _same_signs(unit) != _same_signs(units[name]):
            wanted = f"in {units[name]}" if units[name] else "without a unit"
            raise InvalidInput(f"column {heading!r}: {name} is {wanted} here; convert it first")
        if name in found:
            raise InvalidInput(f"column {heading!r} stands there twice; remove one of them")
        found[name] = i
    if missing := [name for name in units if name not in found]:
        raise InvalidInput(f"the table has no column {missing[0]!r}; its first line must name it")
    return found, others


def _recognise(heading: str, units: Mapping[str, str]) -> tuple[str | None, str | None]:
    """`temperature [°C]` -> name and unit; no brackets, no unit."""
    for name in sorted(units, key=len, reverse=True):  # one name may begin with another
        rest = heading.removeprefix(name).strip() if heading.startswith(name) else "no"
        if not rest:
            return name, None
        if rest[0] + rest[-1] in ("[]", "()"):
            return name, rest[1:-1].strip()
    if heading.lower() in FURTHER_COLUMNS:
        return heading.lower(), None
    return None, None


def _same_signs(unit: str) -> str:
    """There are two signs for micro, and two ways to write °C."""
    return unicodedata.normalize("NFKC", unit)


def _row(
    line: int,
    cells: Mapping[str, Cell],
    remarks: Sequence[tuple[str, str]],
    description: Description,
    wrong: list[str],
) -> Row | None:
    """The row; what cannot be understood in it is added to `wrong`."""

    def attempt(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except InvalidInput as error:
            wrong.append(str(error))

    params = {
        p.name: attempt(partial(parameter_value, p.parameter, cells[p.name]))
        for p in description.parameters
    }
    result = attempt(partial(_result, cells, description.objective.name))
    number = attempt(partial(_number, cells.get(NUMBER)))
    said = [_text(cells.get(NOTE)), *(f"{name}: {text}" for name, text in remarks if text)]
    note = clean("; ".join(filter(None, said)))
    return None if wrong else Row(line, number, params, result, note)


def parameter_value(parameter: Parameter, cell: Cell) -> Any:
    """A setting as somebody typed it, checked."""
    text = _text(cell)
    if not text:
        raise InvalidInput(f"{parameter.name} is empty; allowed: {parameter.allowed}")
    if isinstance(parameter, Categorical):
        chosen = [c for c in parameter.choices if text == str(c) or cell == c]
        return parameter.check(chosen[0] if chosen else text)
    return parameter.check(parse_number(text, f"{parameter.name} ({parameter.allowed})"))


def _result(cells: Mapping[str, Cell], objective: str) -> Result:
    text, said = _text(cells[objective]), _text(cells.get(OUTCOME)).lower()
    if said and said not in WORDS:
        raise InvalidInput(f"outcome {said!r} must be {', '.join(WORDS)}, or left empty")
    if text.lower() in (Outcome.FAILED.value, Outcome.LOST.value):
        said, text = text.lower(), ""
    if text:
        if said in (Outcome.FAILED.value, Outcome.LOST.value):
            raise InvalidInput(f"outcome {said!r}, but {objective} is {text}; clear one of them")
        return Result(Outcome.OK, parse_number(text, objective))
    if said == Outcome.OK.value:
        raise InvalidInput(f"outcome 'ok', but {objective} is empty; give the value, or 'failed'")
    ended = WORDS.get(said, Outcome.FAILED)
    why = "" if ended is Outcome.PENDING else clean(_text(cells.get(REASON)))
    return Result(ended, None, why)


def parse_number(text: str, what: str) -> float:
    """A finite number as somebody typed it, or an error that names it."""
    try:
        number = float(text)
    except ValueError:
        comma = "; write a decimal point, not a comma" if "," in text else ""
        raise InvalidInput(f"{what} = {text!r} is not a number{comma}") from None
    if not math.isfinite(number):
        raise InvalidInput(f"{what} = {text!r} is not a finite number")
    return number


def _number(cell: Cell) -> int | None:
    text = _text(cell)
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise InvalidInput(f"number {text!r} must be the whole number of a run, or left empty")
    return int(number)


def _text(cell: Cell) -> str:
    return "" if cell is None else str(cell).strip()


def _remark(cell: Cell) -> str:
    return _text(cell).removesuffix(" 00:00:00")  # Excel's dates come with a time


def _cells(run: Run, description: Description) -> list[Cell]:
    believed = run.believed
    chances = (
        [None, None, None]
        if believed is None
        else [believed.p_feasible, believed.mean, believed.std]
    )
    return [
        run.number,
        *(run.params[name] for name in description.space.names),
        run.value,
        *(run.outcome.value, run.result.reason, run.note),
        *chances,
    ]


def run_dict(run: Run) -> dict[str, Any]:
    """A run in plain numbers and texts; programs rely on these names."""
    return {
        "number": run.number,
        "params": run.params,
        **_result_dict(run.result),
        "note": run.note,
        "origin": run.origin,
        "believed": None if run.believed is None else asdict(run.believed),
        "suggested": _when(run.suggested),
        "recorded": _when(run.recorded),
        "history": [
            {**_result_dict(version.result), "recorded": _when(version.written)}
            for version in run.history
        ],
    }


def _result_dict(result: Result) -> dict[str, Any]:
    return {"outcome": result.outcome.value, "value": result.value, "reason": result.reason}


def _when(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
