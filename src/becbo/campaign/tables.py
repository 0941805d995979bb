"""Spreadsheets in and out: CSV, xlsx and JSON.

A row is one experiment. Columns are headed by name and unit as in `temperature [°C]`; the unit may
be left out. An empty or `failed` cell of the objective means that the experiment failed; empty
beside the number of a run means that it is still pending. What stands in columns of other names,
such as a date or an operator, is kept in the note.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from becbo.campaign.description import FURTHER_COLUMNS, Description, Objective
from becbo.campaign.files import MAX_ROWS, Cell, write_csv, write_xlsx
from becbo.campaign.runs import Result, Run, clean
from becbo.errors import InvalidInput
from becbo.space import Categorical, Parameter, Real, Space
from becbo.trial import Outcome

NUMBER, OUTCOME, REASON, NOTE, CHANCE, EXPECTED, SPREAD = FURTHER_COLUMNS
IGNORED = (CHANCE, EXPECTED, SPREAD)  # when an export comes back
WORDS = {outcome.value: outcome for outcome in Outcome}  # in the cell of the objective or outcome
# Of a setting: becbo shows six digits, and a spreadsheet keeps six of a small number in a CSV file.
_TOLERANCE = 1e-5


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
    is_blank: bool  # neither value nor outcome nor reason


@dataclass(frozen=True)
class Todo:
    """What an import has to do."""

    to_add: list[Row]
    to_record: list[tuple[Run, Row]]  # pending, or taken back
    to_correct: list[Run]  # with the reason or note that was missing
    differing: list[Run]  # as the table has them, with another reason or note than here


def understand(description: Description, cells: Sequence[Sequence[Cell]]) -> list[Row]:
    """The rows of a table, or `BadTable` with everything that is wrong with them."""
    (_, headings), *lines = _lines(cells)
    if len(lines) > MAX_ROWS:
        raise InvalidInput(
            f"the table is too long: split it, at most {MAX_ROWS} rows go in at once"
        )
    try:
        columns, others = _columns(description, headings)
    except InvalidInput as error:
        raise InvalidInput(f"{error}{_headings_below(description, lines)}") from None
    rows, problems = [], []
    for line, row in lines:
        texts = dict(enumerate(map(_text, row)))
        named = {name: row[i] if i in texts else None for name, i in columns.items()}
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


def sort_out(space: Space, rows: Sequence[Row], runs: Sequence[Run]) -> Todo:
    """Which rows are new, and which are results of pending runs, or `BadTable`."""
    todo, problems = Todo([], [], [], []), []
    free = {run.number: run for run in runs}  # no row stands for them yet
    designs = _Designs(space, runs)
    # A row without a number must not take the run of a row that names it, nor a row with fewer
    # digits that of a row with all of them.
    for row in sorted(rows, key=lambda row: (row.number is None, not designs.has(row.params))):
        if row.result.outcome is Outcome.PENDING:
            continue
        same = [run for run in designs.like(row.params) if run.number in free]
        run = _run_of(row, free, same)
        if run is not None:
            del free[run.number]
        if run is None and row.number is not None and runs:
            problems.append(Problem(row.line, _unknown_number(row.number, runs)))
        elif run is None:  # with a number, it is that of another campaign
            todo.to_add.append(row)
        elif run.is_open and run.result != row.result:
            todo.to_record.append((run, row))
        elif not _is_same_result(run.result, row.result):
            words = f"run {run.number} is recorded as {run.result}, not {row.result}"
            problems.append(Problem(row.line, f"{words}; correct it instead"))
        else:
            _compare_words(run, row, todo)
    if problems:
        raise BadTable(sorted(problems, key=lambda problem: problem.line))
    todo.to_add.sort(key=lambda row: row.line)
    return todo


def _run_of(row: Row, free: Mapping[int, Run], same: Sequence[Run]) -> Run | None:
    """The run that a row is about: it has the number, the same result, or waits for one."""
    if row.number is not None:
        named = free.get(row.number)
        if named is not None and _is_same_design(named, row):
            return named
    told = [run for run in same if _is_same_result(run.result, row.result)]
    if told:
        return min(told, key=lambda run: _n_different_words(run, row))
    waiting = [run for run in same if run.is_open and row.number is None]
    return min(waiting, key=lambda run: run.outcome is not Outcome.PENDING, default=None)


def _unknown_number(number: int, runs: Sequence[Run]) -> str:
    is_there = any(run.number == number for run in runs)
    has = f"run {number} has other parameters here" if is_there else f"there is no run {number}"
    return (
        f"{has}; leave the number empty for a new run, and if these are numbers of your own, call "
        "the column otherwise"
    )


def _compare_words(run: Run, row: Row, todo: Todo) -> None:
    """A reason or note that the run lacks is taken over; one that differs is not."""
    here, told = run.result.reason, row.result.reason
    filled = replace(
        run, result=replace(run.result, reason=here or told), note=run.note or row.note
    )
    other = replace(run, result=replace(run.result, reason=told or here), note=row.note or run.note)
    if filled != run:
        todo.to_correct.append(filled)
    if other != filled:
        todo.differing.append(other)


def _n_different_words(run: Run, row: Row) -> int:
    return (run.result.reason != row.result.reason) + (run.note != row.note)


class _Designs:
    """Runs by their settings: close is enough for numbers on no grid, everything else is exact."""

    def __init__(self, space: Space, runs: Sequence[Run]) -> None:
        self._smooth = [p.name for p in space.parameters if isinstance(p, Real) and p.step is None]
        self._known = {_key(run.params) for run in runs}
        self._groups: dict[Any, list[Run]] = {}
        for run in runs:
            self._groups.setdefault(self._group(run.params), []).append(run)
        self._settings = {
            group: np.array([self._numbers(run.params) for run in members])
            for group, members in self._groups.items()
        }

    def has(self, params: Mapping[str, Any]) -> bool:
        """Whether a run has these settings to all digits that a spreadsheet keeps."""
        return _key(params) in self._known

    def like(self, params: Mapping[str, Any]) -> list[Run]:
        """The runs with these settings, those with all of their digits first."""
        group = self._group(params)
        if group not in self._groups:
            return []
        mine = np.array(self._numbers(params))
        is_close = np.abs(self._settings[group] - mine) <= _TOLERANCE * np.abs(mine)
        close = [self._groups[group][i] for i in np.flatnonzero(is_close.all(axis=1))]
        return sorted(close, key=lambda run: _key(run.params) != _key(params))

    def _group(self, params: Mapping[str, Any]) -> Any:
        return _key({name: value for name, value in params.items() if name not in self._smooth})

    def _numbers(self, params: Mapping[str, Any]) -> list[float]:
        return [params[name] for name in self._smooth]


def _is_same_design(run: Run, row: Row) -> bool:
    return all(
        math.isclose(value, run.params[name], rel_tol=_TOLERANCE)
        if isinstance(value, float)
        else value == run.params[name]
        for name, value in row.params.items()
    )


def _key(params: Mapping[str, Any]) -> tuple[Any, ...]:
    """To compare designs."""
    return tuple((name, _rounded(value)) for name, value in sorted(params.items()))


def _is_same_result(here: Result, told: Result) -> bool:
    """Up to the digits that spreadsheets keep, or to those that becbo shows."""
    shown = None if here.value is None else float(f"{here.value:.6g}")
    is_same_value = _rounded(here.value) == _rounded(told.value) or told.value == shown
    return here.outcome is told.outcome and is_same_value


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


def _headings_below(description: Description, lines: Sequence[tuple[int, Sequence[Cell]]]) -> str:
    """Advice, if a line further down names all columns."""
    units = _units(description)
    for line, row in lines:
        found = [_recognise(text, units, str.lower) for text in map(_text, row) if text]
        if units.keys() <= {name for name, _ in filter(None, found)}:
            return f"; the headings stand in line {line}: delete the lines above them"
    return ""


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
        p.name: attempt(partial(parameter_value, p.parameter, cells[p.name], p.unit))
        for p in description.parameters
    }
    result = attempt(partial(_result, cells, description.objective))
    number = attempt(partial(_number, cells.get(NUMBER)))
    said = [_text(cells.get(NOTE)), *(f"{name}: {text}" for name, text in remarks if text)]
    note = clean("; ".join(filter(None, said)))
    of_result = (description.objective.name, OUTCOME, REASON)
    is_blank = not any(_text(cells.get(name)) for name in of_result)
    return None if wrong else Row(line, number, params, result, note, is_blank)


def parameter_value(parameter: Parameter, cell: Cell, unit: str = "") -> Any:
    """A setting as somebody typed it, with or without its unit, checked."""
    text = _text(cell)
    if not text:
        raise InvalidInput(f"{parameter.name} is empty; allowed: {parameter.allowed}")
    if isinstance(parameter, Categorical):
        return _choice(parameter, cell, unit)
    return parameter.check(parse_number(text, f"{parameter.name} ({parameter.allowed})", unit))


def _choice(parameter: Categorical, cell: Cell, unit: str) -> Any:
    """The choice that somebody typed; capitals matter only where choices differ in nothing else."""
    text = _text(cell)
    for written in (text, _without_unit(text, unit)):
        exact = [c for c in parameter.choices if cell == c or written == str(c)]
        loose = [c for c in parameter.choices if written.casefold() == str(c).casefold()]
        if exact or len(loose) == 1:
            return (exact or loose)[0]
    return parameter.check(text)


def _result(cells: Mapping[str, Cell], objective: Objective) -> Result:
    name = objective.name
    text, said = _text(cells[name]), _text(cells.get(OUTCOME)).lower()
    if said and said not in WORDS:
        raise InvalidInput(f"outcome {said!r} must be {', '.join(WORDS)}, or left empty")
    if text.lower() in (Outcome.FAILED.value, Outcome.LOST.value):
        said, text = text.lower(), ""
    why = clean(_text(cells.get(REASON)))
    if text:
        value = _value(text, objective)
        if said in (Outcome.FAILED.value, Outcome.LOST.value):
            raise InvalidInput(f"outcome {said!r}, but {name} is {text}; clear one of them")
        if why:
            raise InvalidInput(f"reason {why!r}, but {name} is {text}; move it to the note")
        return Result(Outcome.OK, value)
    if said == Outcome.OK.value:
        raise InvalidInput(f"outcome 'ok', but {name} is empty; give the value, or 'failed'")
    # Beside a number it is a run that nobody has filled in yet.
    unsaid = Outcome.PENDING if _text(cells.get(NUMBER)) and not why else Outcome.FAILED
    ended = WORDS.get(said, unsaid)
    if ended is Outcome.PENDING and why:
        raise InvalidInput(f"reason {why!r}, but outcome 'pending'; write 'failed' if it failed")
    return Result(ended, None, why)


def _value(text: str, objective: Objective) -> float:
    try:
        return parse_number(text, objective.name, objective.unit)
    except InvalidInput as error:
        remedy = "" if _NUMBER.match(text) else "; write failed, or leave it empty"
        raise InvalidInput(f"{error}{remedy}") from None


def parse_number(text: str, what: str, unit: str = "") -> float:
    """A finite number as somebody typed it, with or without its unit, or an error that names it.

    A comma is a decimal one, unless it may as well separate thousands.
    """
    plain = _without_unit(text, unit)
    if _UNCLEAR.fullmatch(plain):
        whole, broken = plain.replace(",", ""), plain.replace(",", ".")
        raise InvalidInput(f"{what} = {text!r} is not clear; write {whole} or {broken}")
    if _DECIMAL_COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    try:
        number = float(plain.replace("_", "?"))  # 1_000 is Python, and elsewhere a slip
    except ValueError:
        raise InvalidInput(f"{what} = {text!r} is not a number{_advice(plain, unit)}") from None
    if not math.isfinite(number):
        raise InvalidInput(f"{what} = {text!r} is not a finite number")
    return number


_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_NUMBER = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?")
_UNIT = re.compile(r"\s*°?[^\W\d_]\S*")


def _without_unit(text: str, unit: str) -> str:
    """`45 %` in a column of per cent is 45."""
    number, rest = _split_number(text)
    return number if rest and _same_signs(rest) == _same_signs(unit) else text


def _split_number(text: str) -> tuple[str, str]:
    """The number that a text begins with, and what follows."""
    begins = _NUMBER.match(text)
    end = begins.end() if begins else 0
    return text[:end], text[end:]


def _advice(text: str, unit: str) -> str:
    """How to write a number that people understand."""
    if text.endswith("%"):
        return "; write it without %, as large as the unit asks for"
    number, rest = _split_number(text)
    if number and _UNIT.fullmatch(rest):
        return f"; convert it to {unit}, and leave the unit out" if unit else "; leave the unit out"
    return "; write a decimal point, and nothing between thousands" if "," in text else ""


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
