"""Spreadsheets in and out: CSV, xlsx and JSON.

A row is one experiment. Columns are headed by name and unit as in `temperature [°C]`; the unit may
be left out. An empty or `failed` cell of the objective means that the experiment failed. What
stands in columns of other names, such as a date or an operator, is kept in the note.
"""

from __future__ import annotations

import json
import math
import re
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
    """What is wrong with a row, in words; lines count from 1 at the top."""

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
    differing: list[Run]  # recorded already, with another reason or note


def understand(description: Description, cells: Sequence[Sequence[Cell]]) -> list[Row]:
    """The rows of a table, or `BadTable` with everything that is wrong with them."""
    (_, headings), *lines = _lines(cells)
    if len(lines) > MAX_ROWS:
        raise InvalidInput(
            f"the table is too long: split it, at most {MAX_ROWS} rows go in at once"
        )
    columns, others = _columns(description, headings)
    units = _units(description)
    rows, problems = [], []
    for line, row in lines:
        texts = dict(enumerate(map(_text, row)))
        named = {
            name: _in_unit(row[i], units.get(name, "")) if i in texts else None
            for name, i in columns.items()
        }
        wrong = [
            f"{text!r} stands in a column without a heading; give it one, or clear it"
            for i, text in texts.items()
            if text and not _text(headings[i] if i < len(headings) else None)
        ]
        remarks = [(name, _remark(texts.get(i, ""))) for name, i in others]
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


def noted(description: Description, cells: Sequence[Sequence[Cell]]) -> list[str]:
    """The columns whose content goes into the notes."""
    (_, headings), *_ = _lines(cells)
    return [name for name, _ in _columns(description, headings)[1]]


def _lines(cells: Sequence[Sequence[Cell]]) -> list[tuple[int, Sequence[Cell]]]:
    """The lines in which something stands, headings first, with their numbers from 1."""
    lines = [(i, row) for i, row in enumerate(cells, start=1) if any(map(_text, row))]
    if not lines:
        raise InvalidInput("the table is empty: its first line must name the columns")
    return lines


def sort_out(rows: Sequence[Row], runs: Sequence[Run]) -> Todo:
    """Which rows are new, and which are results of pending runs, or `BadTable`."""
    todo, problems = Todo([], [], []), []
    # Runs that no row stands for yet.
    by_number = {run.number: run for run in runs}
    by_design: dict[Any, list[Run]] = {}
    for known in runs:
        by_design.setdefault(_key(known.params), []).append(known)
    # Numbers first: a row without one must not take the run of a row that names it.
    for row in sorted(rows, key=lambda row: row.number is None):
        if row.result.outcome is Outcome.PENDING:
            continue
        run = _run_of(row, by_number, by_design.get(_key(row.params), ()))
        if run is not None:
            del by_number[run.number]
            by_design[_key(run.params)].remove(run)
        if run is None and row.number is not None and runs:
            problems.append(Problem(row.line, _unknown_number(row.number, runs)))
        elif run is None:  # with a number, it is that of another campaign
            todo.to_add.append(row)
        elif run.outcome is Outcome.PENDING:
            todo.to_record.append((run, row))
        elif _said(run.result) != _said(row.result):
            words = f"run {run.number} is recorded as {run.result}, not {row.result}"
            problems.append(Problem(row.line, f"{words}; correct it instead"))
        elif _says_more(row, run):
            todo.differing.append(run)
    if problems:
        raise BadTable(sorted(problems, key=lambda problem: problem.line))
    todo.to_add.sort(key=lambda row: row.line)
    return todo


def _run_of(row: Row, by_number: Mapping[int, Run], same: Sequence[Run]) -> Run | None:
    """The run that a row is about: it has the number, the same result, or waits for one."""
    if row.number is not None:
        named = by_number.get(row.number)
        if named is not None and _is_same_design(named, row):
            return named
    told = [run for run in same if _said(run.result) == _said(row.result)]
    if told:
        return min(told, key=lambda run: run.note != row.note)
    waiting = [run for run in same if run.outcome is Outcome.PENDING and row.number is None]
    return waiting[0] if waiting else None


def _unknown_number(number: int, runs: Sequence[Run]) -> str:
    is_there = any(run.number == number for run in runs)
    has = f"run {number} has other parameters here" if is_there else f"there is no run {number}"
    return (
        f"{has}; leave the number empty for a new run, and if these are numbers of your own, call "
        "the column otherwise"
    )


def _says_more(row: Row, run: Run) -> bool:
    """Whether a row has words that the run does not have."""
    return row.note not in ("", run.note) or row.result.reason not in ("", run.result.reason)


def _is_same_design(run: Run, row: Row) -> bool:
    """A spreadsheet that writes a CSV file keeps six digits of a small number."""
    return all(
        math.isclose(value, run.params[name], rel_tol=1e-5)
        if isinstance(value, float)
        else value == run.params[name]
        for name, value in row.params.items()
    )


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


def _units(description: Description) -> dict[str, str]:
    """Units of the parameters and the objective by name."""
    units = {p.name: p.unit for p in description.parameters}
    return {**units, description.objective.name: description.objective.unit}


def _columns(
    description: Description, headings: Sequence[Cell]
) -> tuple[dict[str, int], list[tuple[str, int]]]:
    """Positions of the parameters, the objective and further columns, and of all others."""
    units = _units(description)
    texts = {i: text for i, text in enumerate(map(_text, headings)) if text and text not in IGNORED}
    exact = {i: _recognise(text, units) for i, text in texts.items()}
    # `Temperature` is the temperature, unless that has a column of its own or a rival.
    taken = {name for name, _ in filter(None, exact.values())}
    rivals = Counter(name.lower() for name in units)
    loose = {
        name: unit
        for name, unit in units.items()
        if name not in taken and rivals[name.lower()] == 1
    }
    found: dict[str, int] = {}
    others = []
    for i, text in texts.items():
        name, unit = exact[i] or _recognise(text, loose, str.lower) or ("", None)
        if not name:
            others.append((text, i))
            continue
        if unit is not None and _same_signs(unit) != _same_signs(units[name]):
            wanted = f"in {units[name]}" if units[name] else "without a unit"
            raise InvalidInput(f"column {text!r}: {name} is {wanted} here; convert it first")
        if name in found:
            raise InvalidInput(f"column {text!r} stands there twice; remove one of them")
        found[name] = i
    if missing := [name for name in units if name not in found]:
        there = ", ".join(map(repr, texts.values()))
        raise InvalidInput(
            f"the table has no column {missing[0]!r}; its first line must name it, and has {there}"
        )
    return found, others


def _recognise(
    heading: str, units: Mapping[str, str], spelled: Callable[[str], str] = str
) -> tuple[str, str | None] | None:
    """`temperature [°C]` or `temperature °C` -> name and unit; without a unit, it is None."""
    for name in sorted(units, key=len, reverse=True):  # one name may begin with another
        start, rest = heading[: len(name)], heading[len(name) :]
        if spelled(start) != spelled(name):
            continue
        unit = rest.strip()
        if not unit:
            return name, None
        if unit[0] + unit[-1] in ("[]", "()"):
            return name, unit[1:-1].strip()
        if rest[0].isspace() and _same_signs(unit) == _same_signs(units[name]):
            return name, unit
    return (heading.lower(), None) if heading.lower() in FURTHER_COLUMNS else None


def _same_signs(unit: str) -> str:
    """There are two signs for micro, and more than two ways to write °C."""
    return unicodedata.normalize("NFKC", unit.replace("º", "°")).replace(" ", "")


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
        chosen = [c for c in parameter.choices if cell == c or text == _written(c, text)]
        return parameter.check(chosen[0] if chosen else text)
    return parameter.check(parse_number(text, f"{parameter.name} ({parameter.allowed})"))


def _written(choice: Any, text: str) -> str:
    """A choice as people write it: TRUE is True."""
    return str(choice).upper() if isinstance(choice, bool) and text.isupper() else str(choice)


def _result(cells: Mapping[str, Cell], objective: str) -> Result:
    text, said = _text(cells[objective]), _text(cells.get(OUTCOME)).lower()
    if said and said not in WORDS:
        raise InvalidInput(f"outcome {said!r} must be {', '.join(WORDS)}, or left empty")
    if text.lower() in (Outcome.FAILED.value, Outcome.LOST.value):
        said, text = text.lower(), ""
    why = clean(_text(cells.get(REASON)))
    if text:
        if said in (Outcome.FAILED.value, Outcome.LOST.value):
            raise InvalidInput(f"outcome {said!r}, but {objective} is {text}; clear one of them")
        if why:
            raise InvalidInput(f"reason {why!r}, but {objective} is {text}; move it to the note")
        return Result(Outcome.OK, parse_number(text, objective))
    if said == Outcome.OK.value:
        raise InvalidInput(f"outcome 'ok', but {objective} is empty; give the value, or 'failed'")
    ended = WORDS.get(said, Outcome.FAILED)
    if ended is Outcome.PENDING and why:
        raise InvalidInput(f"reason {why!r}, but outcome 'pending'; write 'failed' if it failed")
    return Result(ended, None, why)


def parse_number(text: str, what: str) -> float:
    """A finite number as somebody typed it, or an error that names it."""
    try:
        number = float(text.replace("_", "?"))  # 1_000 is Python, and elsewhere a slip
    except ValueError:
        raise InvalidInput(f"{what} = {text!r} is not a number{_advice(text)}") from None
    if not math.isfinite(number):
        raise InvalidInput(f"{what} = {text!r} is not a finite number")
    return number


def _advice(text: str) -> str:
    """How to write a number that people understand."""
    if text.endswith("%"):
        return "; write it without %, as large as the unit asks for"
    if _THOUSANDS.fullmatch(text):
        return f"; write {text.replace(',', '')}, or a decimal point if the comma is one"
    return "; write a decimal point, not a comma" if "," in text else ""


_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


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


def _in_unit(cell: Cell, unit: str) -> Cell:
    """`45 %` in a column of per cent is 45."""
    text = _text(cell)
    return text[:-1].rstrip() if unit == "%" and text.endswith("%") else cell


def _remark(text: str) -> str:
    return text.removesuffix(" 00:00:00")  # Excel's dates come with a time


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
            {
                **_result_dict(version.result),
                "note": version.note,
                "recorded": _when(version.written),
            }
            for version in run.history
        ],
    }


def _result_dict(result: Result) -> dict[str, Any]:
    return {"outcome": result.outcome.value, "value": result.value, "reason": result.reason}


def _when(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
