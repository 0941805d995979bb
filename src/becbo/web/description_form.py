"""The form that describes a campaign: its fields as a description, and back again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from becbo.campaign.description import Description, LabParameter
from becbo.errors import InvalidInput
from becbo.outputs import Limit, Objective, Output
from becbo.space import Categorical, Integer
from becbo.tables.parsing import parse_number

Fields = Mapping[str, str]

PARAMETER_KINDS = {
    "number": "number",
    "log": "number, logarithmic",
    "integer": "whole number",
    "integer-log": "whole number, logarithmic",
    "choices": "one of a list",
}
OUTPUT_KINDS = {
    "maximize": "as large as possible",
    "minimize": "as small as possible",
    "target": "close to a target",
    "limit": "within a limit",
    "recorded": "only recorded",
}
_PARAMETER_KEYS = ("name", "kind", "low", "high", "step", "unit", "choices")
_OUTPUT_KEYS = ("name", "kind", "target", "lower", "upper", "unit")
_SETTINGS = ("budget", "n_initial", "risk")
_FAILURES = ("chance", "price", "budget")  # of failures
_KEPT = ("note", "reference")  # of a parameter or an output: the form does not show them
_SECTIONS = ("objectives", "limits", "recorded")


def description_of(fields: Fields) -> dict[str, Any]:
    """A form as an argument of `describe`.

    Args:
        fields: What was sent.

    Returns:
        The keys of a description file.

    Raises:
        InvalidInput: A field cannot be read; the message names it.
    """
    described: dict[str, Any] = {
        "name": _text(fields, "name"),
        **_outputs(fields),
        "parameters": _parameters(fields),
        "constraints": _lines(fields.get("constraints", "")),
        "note": _text(fields, "note"),
        "noisy": "noisy" in fields,
    }
    for key in _SETTINGS:
        if text := _text(fields, key):
            described[key] = _number(text, key)
    described["failures"] = {
        key: _number(text, f"failures, {key}")
        for key in _FAILURES
        if (text := _text(fields, f"failures-{key}"))
    }
    return described


def changed_description(old: Description, fields: Fields) -> dict[str, Any]:
    """A changed form as an argument of `describe`; what the form does not show stays.

    Args:
        old: The present description, whose name stays.
        fields: What was sent.

    Returns:
        The keys of a description file.
    """
    new, before = description_of({**fields, "name": old.name}), old.to_dict()
    shown = {
        *(*_SECTIONS, *_SETTINGS, "objective", "parameters", "constraints"),
        *("note", "noisy", "failures"),
    }
    kept = {key: value for key, value in before.items() if key not in shown}
    if objective := before.pop("objective", None):
        before["objectives"] = {objective.get("name", "value"): objective}
    for section in ("parameters", *_SECTIONS):
        for name, entry in new[section].items():
            there = before.get(section, {}).get(name, {})
            entry |= {key: there[key] for key in _KEPT if key in there}
            if "choices" in entry:
                spelled = {str(choice): choice for choice in there.get("choices", ())}
                entry["choices"] = [spelled.get(choice, choice) for choice in entry["choices"]]
    return {**kept, **new}


def fields_of(description: Description) -> dict[str, str]:
    """The fields of the form that has this description.

    Args:
        description: A campaign.

    Returns:
        What `description_of` reads again, except what the form does not show.
    """
    settings = description.settings
    rest = {
        "name": description.name,
        "note": description.note,
        "budget": description.budget,
        "n_initial": settings.n_initial,
        "risk": settings.risk,
    }
    fields = {key: str(value) for key, value in rest.items() if value not in (None, "")}
    told = settings.failures.to_dict()
    fields |= {f"failures-{key}": f"{value:.12g}" for key, value in told.items()}
    fields["constraints"] = "\n".join(description.constraints)
    if settings.noisy:
        fields["noisy"] = "on"
    for i, output in enumerate(description.outputs):
        fields |= {f"output-{i}-{key}": text for key, text in _output_fields(output).items()}
    for i, described in enumerate(description.parameters):
        row = _parameter_fields(described)
        fields |= {f"parameter-{i}-{key}": text for key, text in row.items()}
    return fields


def row_numbers(fields: Fields, group: str) -> list[int]:
    """The numbers of the rows of a group, "parameter" or "output", in a form."""
    pattern = re.compile(rf"{group}-(\d{{1,4}})-name")
    return sorted(int(found[1]) for key in fields if (found := pattern.fullmatch(key)))


def _rows(fields: Fields, group: str, keys: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of a group that are not empty."""
    rows = [
        {key: _text(fields, f"{group}-{i}-{key}") for key in keys}
        for i in row_numbers(fields, group)
    ]
    filled = [row for row in rows if any(row[key] for key in keys if key not in ("kind", "unit"))]
    names = [row["name"] for row in filled]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise InvalidInput(f"there are two {group}s called {twice[0]!r}")
    return filled


def _outputs(fields: Fields) -> dict[str, Any]:
    sections: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for row in _rows(fields, "output", _OUTPUT_KEYS):
        section, entry = _output(row)
        sections[section][row["name"]] = entry | ({"unit": row["unit"]} if row["unit"] else {})
    if not sections["objectives"]:
        raise InvalidInput("nothing is to be optimised: choose what is wanted of one output")
    return sections


def _output(row: Fields) -> tuple[str, dict[str, Any]]:
    """The section of a row and its entry there."""
    kind, name = row["kind"], row["name"]
    numbers = {
        key: _number(row[key], f"{name}, {words}", row["unit"])
        for key, words in (("target", "target"), ("lower", "lowest"), ("upper", "highest"))
        if row[key]
    }
    if kind in ("minimize", "maximize"):
        return "objectives", {"direction": kind}
    if kind == "target":
        if "target" not in numbers:
            raise InvalidInput(f"{name!r} needs the value to hit")
        return "objectives", {"target": numbers["target"]}
    if kind == "limit":
        bounds = {key: value for key, value in numbers.items() if key != "target"}
        if not bounds:
            raise InvalidInput(f"{name!r} needs a lowest or a highest acceptable value")
        return "limits", bounds
    if kind == "recorded":
        return "recorded", {}
    raise InvalidInput(f"{name!r}: {kind!r} must be one of {', '.join(OUTPUT_KINDS)}")


def _parameters(fields: Fields) -> dict[str, Any]:
    return {row["name"]: _parameter(row) for row in _rows(fields, "parameter", _PARAMETER_KEYS)}


def _parameter(row: Fields) -> dict[str, Any]:
    kind, unit = row["kind"], {"unit": row["unit"]} if row["unit"] else {}
    if kind == "choices":
        choices = [choice for choice in map(str.strip, row["choices"].split(",")) if choice]
        return {"choices": choices, **unit}
    if not row["low"] or not row["high"]:
        raise InvalidInput(f"parameter {row['name']!r} needs a lowest and a highest value")
    name, its_unit = row["name"], row["unit"]
    ends = {end: _number(row[end], f"{name}, {end}est", its_unit) for end in ("low", "high")}
    flags = dict.fromkeys({"log", "integer"} & set(kind.split("-")), True)
    step = {}
    if row["step"]:
        step["step"] = _number(row["step"], f"{name}, in steps of", its_unit)
    return {**ends, **step, **flags, **unit}


def _output_fields(output: Output) -> dict[str, str]:
    fields = {"name": output.name, "unit": output.unit, "kind": "recorded"}
    if isinstance(output, Objective):
        fields["kind"] = output.direction or "target"
        fields |= {} if output.target is None else {"target": f"{output.target:.12g}"}
    elif isinstance(output, Limit):
        bounds = {"lower": output.lower, "upper": output.upper}
        fields["kind"] = "limit"
        fields |= {key: f"{bound:.12g}" for key, bound in bounds.items() if bound is not None}
    return fields


def _parameter_fields(described: LabParameter) -> dict[str, str]:
    parameter = described.parameter
    fields = {"name": described.name, "unit": described.unit}
    if isinstance(parameter, Categorical):
        return fields | {"kind": "choices", "choices": ", ".join(map(str, parameter.choices))}
    is_whole = isinstance(parameter, Integer)
    kind = "-".join(["integer"] * is_whole + ["log"] * parameter.log) or "number"
    fields |= {"kind": kind, "low": f"{parameter.low:.12g}", "high": f"{parameter.high:.12g}"}
    if parameter.step is not None and not (is_whole and parameter.step == 1):
        fields["step"] = f"{parameter.step:.12g}"
    return fields


def _number(text: str, what: str, unit: str = "") -> float | int:
    """A number that somebody typed; an int if it is whole, as a budget must be."""
    number = parse_number(text, what, unit)
    return int(number) if number.is_integer() else number


def _text(fields: Fields, key: str) -> str:
    return fields.get(key, "").strip()


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]
