"""Which rows of a table are runs that exist, which are their results, and which are new."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from becbo.campaign.description import Description
from becbo.campaign.formatting import result_text
from becbo.campaign.runs import Run
from becbo.space import Real, Space
from becbo.tables.reading import BadTable, Problem, Row
from becbo.trial import Outcome, Result

# Of a setting: becbo shows six digits, and a spreadsheet keeps six of a small number in a CSV file.
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class ImportPlan:
    """What an import has to write, and what it leaves as it is."""

    to_add: list[Row] = field(default_factory=list)
    to_record: list[tuple[Run, Row]] = field(default_factory=list)  # pending, or undone
    to_correct: list[Run] = field(default_factory=list)  # with the reason or note that was missing
    differing: list[Run] = field(default_factory=list)  # with the table's other reason or note
    doubtful: list[tuple[Row, Run]] = field(default_factory=list)  # new, perhaps a correction


def match_rows(description: Description, rows: Sequence[Row], runs: Sequence[Run]) -> ImportPlan:
    """Finds the run of each row.

    Args:
        description: The campaign.
        rows: The rows of a table.
        runs: The runs of the campaign.

    Returns:
        What has to be written.

    Raises:
        BadTable: Rows contradict what is recorded, or have numbers of other runs.
    """
    plan, problems = ImportPlan(), []
    free = {run.number: run for run in runs}  # no row belongs to them yet
    designs = _Designs(description.space, runs)
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
            plan.to_add.append(row)
        elif run.is_open and run.result != row.result:
            plan.to_record.append((run, row))
        elif not _is_same_result(run.result, row.result):
            outputs = description.outputs
            here, told = result_text(run.result, outputs), result_text(row.result, outputs)
            message = f"run {run.number} is recorded as {here}, not {told}"
            problems.append(Problem(row.line, f"{message}; correct it instead"))
        else:
            _compare_texts(run, row, plan)
    if problems:
        raise BadTable(problems)
    plan.to_add.sort(key=lambda row: row.line)
    if not description.settings.noisy:
        plan.doubtful.extend(_doubtful(plan.to_add, designs, free))
    return plan


def _doubtful(
    rows: Sequence[Row], designs: _Designs, free: Mapping[int, Run]
) -> Iterator[tuple[Row, Run]]:
    """New rows with the settings of a run that the table does not have any more."""
    for row in rows:
        known = [run for run in designs.like(row.params) if run.number in free]
        yield from [(row, run) for run in known if run.outcome.is_answer][:1]


def _run_of(row: Row, free: Mapping[int, Run], same: Sequence[Run]) -> Run | None:
    """The run of a row: it has the row's number, its result, or its design and no result yet."""
    if row.number is not None:
        named = free.get(row.number)
        if named is not None and _is_same_design(named, row):
            return named
    told = [run for run in same if _is_same_result(run.result, row.result)]
    if told:
        return min(told, key=lambda run: _n_different_texts(run, row))
    waiting = [run for run in same if run.is_open and row.number is None]
    return min(waiting, key=lambda run: run.outcome is not Outcome.PENDING, default=None)


def _unknown_number(number: int, runs: Sequence[Run]) -> str:
    is_there = any(run.number == number for run in runs)
    has = f"run {number} has other parameters here" if is_there else f"there is no run {number}"
    return (
        f"{has}; leave the number empty for a new run, and if these are numbers of your own, give "
        "the column another name"
    )


def _compare_texts(run: Run, row: Row, plan: ImportPlan) -> None:
    """A reason or note that the run lacks is taken over; one that differs is not."""
    here, told = run.result.reasons, row.result.reasons
    filled, other = (
        replace(run, result=replace(run.result, reasons=reasons), note=note)
        for reasons, note in (
            (here or told, run.note or row.note),
            (told or here, row.note or run.note),
        )
    )
    if filled != run:
        plan.to_correct.append(filled)
    if other != filled:
        plan.differing.append(other)


def _n_different_texts(run: Run, row: Row) -> int:
    return (run.reason != (row.result.reason or "")) + (run.note != row.note)


class _Designs:
    """Runs by their settings: continuous numbers need only be close, all others are exact."""

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
    names = {*here.values, *told.values}
    return here.outcome is told.outcome and all(
        _is_same_value(here.values.get(name), told.values.get(name)) for name in names
    )


def _is_same_value(here: float | None, told: float | None) -> bool:
    shown = None if here is None else float(f"{here:.6g}")
    return _rounded(here) == _rounded(told) or told == shown


def _rounded(value: Any) -> Any:
    """Spreadsheets keep fewer digits than a study."""
    return float(f"{value:.9g}") if isinstance(value, float) else value
