"""From what a lab writes down to a description: files and plain data, checked entry by entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from becbo.campaign.bounds import MAX_CHOICES, check_count
from becbo.campaign.description import DEFAULTS, Description, LabParameter
from becbo.campaign.names import check_column, check_name, check_text
from becbo.campaign.notation import PARSERS, parse
from becbo.errors import InvalidInput
from becbo.outputs import Limit, Objective, Output, Outputs, Recorded
from becbo.space import Categorical, Integer, Real

_SETTINGS = ("method", "risk", "failures", "noisy", "n_initial", "seed")
_OUTPUT_SECTIONS: dict[Callable[..., Output], str] = {
    Objective: "objectives",
    Limit: "limits",
    Recorded: "recorded",
}
_KEYS = (
    "name", "objective", *_OUTPUT_SECTIONS.values(), "parameters", "constraints", "budget",
    *_SETTINGS, "note",
)  # fmt: skip
_OUTPUT_KEYS: dict[Callable[..., Output], tuple[str, ...]] = {
    Objective: ("name", "unit", "direction", "target", "reference", "note"),
    Limit: ("name", "unit", "lower", "upper", "note"),
    Recorded: ("name", "unit", "note"),
}
_EXAMPLES = {
    "objectives": "strength: {direction: maximize, unit: kPa}",
    "limits": "viscosity: {upper: 200, unit: mPas}",
    "recorded": "colour: {unit: ''}",
}
_NUMBER_KEYS = ("low", "high", "log", "step", "integer", "unit", "note")
_CHOICE_KEYS = ("choices", "unit", "note")


def read_description(path: str | Path) -> Description:
    """Reads a description.

    Args:
        path: A .yaml, .yml, .toml or .json file.

    Returns:
        The description.

    Raises:
        InvalidInput: The file cannot be read, or its content is not a description.
    """
    path = Path(path)
    if path.suffix.lower() not in PARSERS:
        raise InvalidInput(f"{path}: a description must be a {', '.join(PARSERS)} file")
    try:
        content = parse(path.suffix.lower(), path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # of TOML, JSON, YAML and of the encoding
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    try:
        return describe(content)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def describe(content: Any) -> Description:
    """Makes a description from plain data.

    Args:
        content: A mapping with the keys of a description file.

    Returns:
        The description.

    Raises:
        InvalidInput: Something is missing, unknown or cannot be used; the message names it.
    """
    _check_keys("the description", content, _KEYS)
    parameters = content.get("parameters")
    if not isinstance(parameters, Mapping) or not parameters:
        raise InvalidInput(
            "parameters: give at least one, as in `temperature: {low: 20, high: 90, unit: °C}`"
        )
    constraints = content.get("constraints") or ()
    if isinstance(constraints, str) or not isinstance(constraints, Sequence):
        raise InvalidInput(f"constraints: {constraints!r} must be a list, as in `- a + b <= 10`")
    outputs, output_notes = _outputs(content)
    return Description(
        name=content.get("name", ""),
        parameters=tuple(_parameter(name, given) for name, given in parameters.items()),
        outputs=outputs,
        constraints=tuple(constraints),
        settings=replace(DEFAULTS, **_given(content, _SETTINGS)),
        output_notes=output_notes,
        **_given(content, ("budget", "note")),
    )


def _parameter(name: Any, given: Any) -> LabParameter:
    check_name("a parameter", name)
    what = f"parameter {name!r}"
    is_choice = isinstance(given, Mapping) and "choices" in given
    _check_keys(what, given, _CHOICE_KEYS if is_choice else _NUMBER_KEYS)
    settings = _given(given, _NUMBER_KEYS)
    texts = {key: settings.pop(key) for key in ("unit", "note") if key in settings}
    if is_choice:
        return LabParameter(Categorical(name, _choices(what, given["choices"])), **texts)
    if "low" not in settings or "high" not in settings:
        raise InvalidInput(f"{what} needs low and high, or choices")
    for key in ("log", "integer"):
        if not isinstance(settings.get(key, False), bool):
            raise InvalidInput(f"{what}: {key} {settings[key]!r} must be true or false")
    kind = Integer if settings.pop("integer", False) else Real
    return LabParameter(kind(name, **settings), **texts)


def _choices(what: str, choices: Any) -> list[Any]:
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        raise InvalidInput(f"{what}: choices {choices!r} must be a list, as in [argon, nitrogen]")
    check_count(what, len(choices), MAX_CHOICES, "choices")
    for choice in choices:
        if not isinstance(choice, str | int | float):
            raise InvalidInput(f"{what}: choice {choice!r} must be text or a number")
        if isinstance(choice, str):
            check_text(f"{what}: choice", choice)
            if choice.strip() != choice or not choice:
                raise InvalidInput(
                    f"{what}: choice {choice!r} must not be empty or have spaces around it"
                )
        elif not math.isfinite(choice):
            raise InvalidInput(f"{what}: choice {choice!r} must be a finite number, or in quotes")
    if len({str(choice) for choice in choices}) < len(choices):
        raise InvalidInput(f"{what}: choices {choices!r} must look different from each other")
    return list(choices)


def _outputs(content: Mapping[str, Any]) -> tuple[Outputs, dict[str, str]]:
    """The outputs, and the notes about them by name."""
    entries: list[Output] = []
    notes: dict[str, str] = {}
    for kind, what, given in _output_entries(content):
        _check_keys(what, given, _OUTPUT_KEYS[kind])
        settings = _given(given, _OUTPUT_KEYS[kind])
        note = settings.pop("note", "")
        check_column(what, settings.get("name", "value"))
        entries.append(kind(**settings))
        notes |= {entries[-1].name: note} if note else {}
    return Outputs.of(entries), notes


def _output_entries(
    content: Mapping[str, Any],
) -> Iterator[tuple[Callable[..., Output], str, Any]]:
    """The type of each output, what it is called in messages, and its keys."""
    if content.get("objective") is not None and content.get("objectives") is not None:
        raise InvalidInput("give either `objective`, for one, or `objectives`, for several")
    if content.get("objectives") is None:
        given = content.get("objective")
        others = [key for key in _OUTPUT_SECTIONS.values() if content.get(key) is not None]
        if given is None and others:
            raise InvalidInput(
                f"{' and '.join(others)} alone say nothing about what to optimise; add an "
                "objective, as in `objective: {name: strength, direction: maximize}`"
            )
        given = given or {}
        yield Objective, "objective", {"name": given} if isinstance(given, str) else given
    for kind, section in _OUTPUT_SECTIONS.items():
        named = content.get(section)
        if named is None:
            continue
        if not isinstance(named, Mapping):
            raise InvalidInput(
                f"{section}: {named!r} must have entries such as `{_EXAMPLES[section]}`"
            )
        for name, given in named.items():
            check_name(section, name)
            what, keys = f"{section}: {name!r}", _OUTPUT_KEYS[kind][1:]
            _check_keys(what, {} if given is None else given, keys)
            yield kind, what, {"name": name, **(given or {})}


def _given(content: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: content[key] for key in keys if content.get(key) is not None}


def _check_keys(what: str, given: Any, keys: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{what}: {given!r} must have entries such as `{keys[0]}: ...`")
    unknown = [key for key in given if key not in keys]
    if unknown:
        raise InvalidInput(f"{what}: unknown {unknown[0]!r}; it can have {', '.join(keys)}")
