"""A changed description of a campaign with runs: what can change, and what does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from becbo.campaign.description import Description
from becbo.campaign.runs import Run
from becbo.errors import InvalidInput
from becbo.outputs import Outputs
from becbo.space import Categorical, Parameter
from becbo.trial import Outcome

_NEW_CAMPAIGN = (
    "create a new campaign for that, and import an export of this one without the column 'number'"
)


def check_change(old: Description, new: Description, runs: Sequence[Run]) -> None:
    """Refuses a description that does not fit the runs so far.

    Args:
        old: The present description.
        new: The description to replace it with.
        runs: The runs so far.

    Raises:
        InvalidInput: A run would no longer be valid, or would mean something else.
    """
    if new.name != old.name:
        raise InvalidInput(f"the name is {new.name!r}, not {old.name!r}; {_NEW_CAMPAIGN}")
    _check_objectives(old.outputs, new.outputs)
    if set(new.space.names) != set(old.space.names):
        odd = sorted(set(new.space.names) ^ set(old.space.names))
        raise InvalidInput(f"parameters: {', '.join(odd)} were added or removed; {_NEW_CAMPAIGN}")
    before = dict(zip(old.space.names, old.space.parameters, strict=True))
    for name, parameter in zip(new.space.names, new.space.parameters, strict=True):
        if _nature(parameter) != _nature(before[name]):
            raise InvalidInput(
                f"parameter {name!r}: a choice, a whole number and the logarithmic scale remain "
                f"what they are; {_NEW_CAMPAIGN}"
            )
        _check_choices(parameter, runs)
    for run in runs:
        _check_run(run, new)


def _check_objectives(old: Outputs, new: Outputs) -> None:
    """The study has a value for each objective; values of several outputs are kept by name."""
    before, after = (
        [(o.name if not new.is_single else "", o.direction) for o in outputs.objectives]
        for outputs in (old, new)
    )
    if before != after:
        wanted = ", ".join(f"{o.name} {o.wish}" for o in new.objectives)
        raise InvalidInput(f"{wanted}: these are other objectives; {_NEW_CAMPAIGN}")


def _nature(parameter: Parameter) -> object:
    """What a study fixes about a parameter."""
    if isinstance(parameter, Categorical):
        return Categorical
    return type(parameter), parameter.log


def _check_choices(parameter: Parameter, runs: Sequence[Run]) -> None:
    """Choices can be added, and those removed that no run has had, not even a lost one."""
    if isinstance(parameter, Categorical):
        for run in runs:
            try:
                parameter.check(run.params[parameter.name])
            except InvalidInput as error:
                raise InvalidInput(
                    f"run {run.number} would no longer be valid: {error}; keep the choice"
                ) from error


def _check_run(run: Run, description: Description) -> None:
    if run.outcome is Outcome.LOST:
        return
    try:
        description.space.validate(run.params)
    except InvalidInput as error:
        numbers = [p for p in description.space.parameters if not isinstance(p, Categorical)]
        example = next((f"{p.name} <= {p.high:g}" for p in numbers if p.name in str(error)), "")
        raise InvalidInput(
            f"run {run.number} would no longer be valid: {error}; keep the range, and add a "
            f"constraint such as `{example}`, which restricts suggestions only"
        ) from error


def changes(old: Description, new: Description) -> list[str]:
    """The differences between two descriptions.

    Args:
        old: The present description.
        new: The new one.

    Returns:
        One line for each difference.
    """
    before, after = (dict(_flat(d.to_dict())) for d in (old, new))
    return [
        f"{' '.join(key)}: {_said(before, key)} -> {_said(after, key)}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]


def _flat(content: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Everything in a description by its path of keys."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*path, key))
        else:
            yield (*path, key), value


def _said(content: Mapping[Any, Any], key: tuple[str, ...]) -> str:
    value = content.get(key, "not set")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
