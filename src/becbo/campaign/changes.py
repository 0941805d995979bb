"""Another description for a campaign that has begun: what may change, and what does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from becbo.campaign.description import Description
from becbo.campaign.runs import Run
from becbo.errors import InvalidInput
from becbo.space import Categorical, Parameter
from becbo.trial import Outcome

_BEGIN_ANEW = (
    "begin a new campaign for that, and import there what `becbo export` writes here, without the "
    "column 'number'"
)


def check_change(old: Description, new: Description, runs: Sequence[Run]) -> None:
    """Refuse a description under which the runs so far would not mean the same any more."""
    if new.name != old.name:
        raise InvalidInput(f"the name is {new.name!r}, not {old.name!r}; {_BEGIN_ANEW}")
    if new.objective.direction != old.objective.direction:
        raise InvalidInput(f"objective: {new.objective.direction} is another aim; {_BEGIN_ANEW}")
    if set(new.space.names) != set(old.space.names):
        odd = sorted(set(new.space.names) ^ set(old.space.names))
        raise InvalidInput(f"parameters: {', '.join(odd)} came or went; {_BEGIN_ANEW}")
    before = dict(zip(old.space.names, old.space.parameters, strict=True))
    for name, parameter in zip(new.space.names, new.space.parameters, strict=True):
        if _nature(parameter) != _nature(before[name]):
            raise InvalidInput(
                f"parameter {name!r}: choices, whole numbers and the logarithmic scale stay as "
                f"they are; {_BEGIN_ANEW}"
            )
    for run in runs:
        _check_run(run, new)


def _nature(parameter: Parameter) -> object:
    """What a study keeps of a parameter for good."""
    if isinstance(parameter, Categorical):
        return parameter.choices
    return type(parameter), parameter.log


def _check_run(run: Run, description: Description) -> None:
    if run.outcome is Outcome.LOST:
        return
    try:
        description.space.validate(run.params)
    except InvalidInput as error:
        raise InvalidInput(
            f"run {run.number} would not be a run of this campaign any more: {error}; keep the "
            "range, and add a constraint such as `temperature <= 450`, which holds for suggestions "
            "only"
        ) from error


def changes(old: Description, new: Description) -> list[str]:
    """What is different, one line each."""
    before, after = (dict(_flat(d.to_dict())) for d in (old, new))
    return [
        f"{' '.join(key)}: {_said(before, key)} -> {_said(after, key)}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]


def _flat(content: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Everything in a description, by where it stands."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*path, key))
        else:
            yield (*path, key), value


def _said(content: Mapping[Any, Any], key: tuple[str, ...]) -> str:
    value = content.get(key, "not said")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
