"""Histories as pandas DataFrames: a row per experiment, a column per parameter and output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from becbo.errors import InvalidInput
from becbo.extras import needed_extras
from becbo.outputs import Outputs
from becbo.space import Space
from becbo.trial import PENDING, Outcome, Result, Trial

if TYPE_CHECKING:
    from pandas import DataFrame

OUTCOME, REASON = "outcome", "reason"


def trials_to_frame(trials: Iterable[Trial], space: Space, outputs: Outputs) -> DataFrame:
    """A table of trials.

    Args:
        trials: the experiments.
        space: what was set.
        outputs: what was measured.

    Returns:
        A row per trial, indexed by its number: parameters, outputs (NaN where one was not
        measured), "outcome" ("ok", "failed", "lost" or "pending") and "reason".

    Raises:
        MissingExtra: if pandas is not installed.
        InvalidInput: if a parameter and an output have the same name.

    Examples:
        >>> frame = trials_to_frame(optimizer.trials, optimizer.space, optimizer.outputs)
        >>> failed = frame[frame["outcome"] == "failed"]
    """
    with needed_extras():
        import pandas
    columns = _columns(space, outputs)
    listed = list(trials)
    rows = [
        [
            *(trial.params[name] for name in space.names),
            *(trial.values.get(name) for name in outputs.names),
            trial.outcome.value,
            trial.reason,
        ]
        for trial in listed
    ]
    index = pandas.Index([trial.number for trial in listed], name="number")
    frame = pandas.DataFrame(rows, index=index, columns=columns)
    return frame.astype(dict.fromkeys(outputs.names, float))


def trials_from_frame(frame: DataFrame, space: Space, outputs: Outputs) -> list[Trial]:
    """The trials in a table.

    Args:
        frame: a row per experiment, with a column per parameter and objective. Columns of limits
            and recorded outputs, "outcome" and "reason" may be missing. Without an outcome, an
            experiment worked if an objective was measured, and failed otherwise. Other columns
            are ignored.
        space: what was set.
        outputs: what was measured.

    Returns:
        The trials, in the order of the rows.

    Raises:
        InvalidInput: if a column is missing or a cell cannot be used; the message names the row.

    Examples:
        >>> frame = pandas.DataFrame({"x": [0.2, 0.9], "value": [3.2, None]})
        >>> trials = trials_from_frame(frame, optimizer.space, optimizer.outputs)
    """
    needed = [*space.names, *(objective.name for objective in outputs.objectives)]
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InvalidInput(f"the frame has no column {missing}; it has {list(frame.columns)}")
    known = [name for name in _columns(space, outputs) if name in frame.columns]
    cells = frame[known].astype(object)
    rows = cells.where(cells.notna(), None).to_dict("records")
    return [
        _trial(i, label, row, space, outputs)
        for i, (label, row) in enumerate(zip(frame.index, rows, strict=True))
    ]


def _columns(space: Space, outputs: Outputs) -> list[str]:
    columns = [*space.names, *outputs.names, OUTCOME, REASON]
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise InvalidInput(f"columns {twice} would stand twice; rename the parameter or output")
    return columns


def _trial(
    number: int, label: Any, row: Mapping[Any, Any], space: Space, outputs: Outputs
) -> Trial:
    try:
        params = space.validate({name: row[name] for name in space.names})
        values = outputs.values({name: row.get(name) for name in outputs.names})
        return Trial(number, params, _result(row, values, outputs.objectives))
    except InvalidInput as error:
        raise InvalidInput(f"row {label!r} of the frame: {error}") from error


def _result(
    row: Mapping[Any, Any], values: Mapping[str, float | None], objectives: Sequence[Any]
) -> Result:
    """What the cells of a row say of its outcome."""
    given, reason = row.get(OUTCOME), row.get(REASON)
    if given is None:
        is_measured = any(values[objective.name] is not None for objective in objectives)
        given = Outcome.OK.value if is_measured else Outcome.FAILED.value
    results = {
        Outcome.OK.value: lambda: Result.ok(values),
        Outcome.FAILED.value: lambda: Result.failed(reason, values),
        Outcome.LOST.value: lambda: Result.lost(reason),
        Outcome.PENDING.value: lambda: PENDING,
    }
    if given not in results:
        raise InvalidInput(f"outcome {given!r} must be one of {', '.join(results)}")
    return results[given]()
