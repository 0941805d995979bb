"""Submitted forms and uploads as arguments of `Campaign`."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from becbo.campaign.description import Description
from becbo.campaign.names import heading
from becbo.campaign.notation import PARSERS, parse
from becbo.errors import InvalidInput
from becbo.outputs import Outputs
from becbo.tables.files import READERS, Cell
from becbo.tables.parsing import parameter_value, parse_number
from becbo.trial import Outcome

MAX_TEXT = 500  # characters of a reason or a note
MAX_UNPACKED = 50_000_000  # bytes of an xlsx file, after decompression

Fields = Mapping[str, str]
_ROW = re.compile(r"parameter-(\d{1,4})-name")


@dataclass(frozen=True)
class Upload:
    """An uploaded file; its name only says what kind it is."""

    name: str
    content: bytes

    @property
    def suffix(self) -> str:
        """The ending of the name, as in `.csv`."""
        return PurePath(self.name).suffix.lower()


def description_of(fields: Fields) -> dict[str, Any]:
    """The form of a new campaign, as an argument of `describe`."""
    described: dict[str, Any] = {
        "name": _text(fields, "name"),
        "objective": {
            "name": _text(fields, "objective") or "value",
            "unit": _text(fields, "unit"),
            "direction": _text(fields, "direction") or "minimize",
        },
        "parameters": _parameters(fields),
        "constraints": _lines(fields.get("constraints", "")),
        "note": _text(fields, "note"),
        "noisy": "noisy" in fields,
    }
    for key in ("budget", "n_initial", "risk"):
        if text := _text(fields, key):
            described[key] = _number(text, key)
    return described


def row_numbers(fields: Fields) -> list[int]:
    """The numbers of the parameter rows in a form."""
    return sorted(int(found[1]) for key in fields if (found := _ROW.fullmatch(key)))


def _parameters(fields: Fields) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for i in row_numbers(fields):
        row = {key: _text(fields, f"parameter-{i}-{key}") for key in ROW_KEYS}
        if not any(row[key] for key in ("name", "low", "high", "choices")):
            continue
        if row["name"] in parameters:
            raise InvalidInput(f"there are two parameters called {row['name']!r}")
        parameters[row["name"]] = _parameter(row)
    return parameters


ROW_KEYS = ("name", "kind", "low", "high", "step", "unit", "choices")


def _parameter(row: Fields) -> dict[str, Any]:
    kind, unit = row["kind"], {"unit": row["unit"]} if row["unit"] else {}
    if kind == "choices":
        choices = [choice for choice in map(str.strip, row["choices"].split(",")) if choice]
        return {"choices": choices, **unit}
    if not row["low"] or not row["high"]:
        raise InvalidInput(f"parameter {row['name']!r} needs a lowest and a highest value")
    ends = {end: _number(row[end], f"{row['name']}, {end}est") for end in ("low", "high")}
    flags = {"log": {"log": True}, "integer": {"integer": True}}.get(kind, {})
    step = {"step": _number(row["step"], f"{row['name']}, in steps of")} if row["step"] else {}
    return {**ends, **step, **flags, **unit}


def parsed_description(upload: Upload | None, pasted: str) -> Any:
    """An uploaded or pasted description, as an argument of `describe`."""
    if upload is None:
        suffix, text = ".yaml", pasted
    else:
        suffix, text = upload.suffix, _decoded(upload.content)
    if suffix not in PARSERS:
        raise InvalidInput(f"a description must be a {', '.join(PARSERS)} file, not {suffix!r}")
    if not text.strip():
        raise InvalidInput("the description is empty: paste it, or choose a file")
    try:
        return parse(suffix, text)
    except ValueError as error:
        raise InvalidInput(f"the description cannot be read: {error}") from error


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the description cannot be read: {error}; save it as UTF-8") from error


def table_of(upload: Upload | None) -> list[list[Cell]]:
    """The cells of an uploaded table."""
    if upload is None:
        raise InvalidInput("no file was chosen")
    if upload.suffix not in READERS:
        raise InvalidInput(f"a table must be a {' or '.join(READERS)} file, not {upload.name!r}")
    if upload.suffix == ".xlsx":
        _check_unpacked(upload.content)
    return READERS[upload.suffix](upload.content)


def _check_unpacked(content: bytes) -> None:
    try:
        sizes = [entry.file_size for entry in zipfile.ZipFile(io.BytesIO(content)).infolist()]
    except (zipfile.BadZipFile, ValueError) as error:
        raise InvalidInput("this is not an xlsx file") from error
    if sum(sizes) > MAX_UNPACKED:
        raise InvalidInput(
            f"the xlsx file unpacks to more than {MAX_UNPACKED // 1_000_000} MB; save it as CSV"
        )


def result_of(fields: Fields, outputs: Outputs) -> dict[str, Any]:
    """The result in a form, as arguments of `Campaign.record`."""
    outcome, why = _text(fields, "outcome"), _limited(fields, "reason")
    if outcome == Outcome.OK.value:
        if not (values := _values(fields, outputs)):
            what = " and ".join(outputs.names)
            are = "is" if len(outputs.names) == 1 else "are"
            raise InvalidInput(f"{what} {are} empty; enter what was measured, or choose failed")
        return {"value": values}
    if outcome == Outcome.FAILED.value:
        # A form with one output hides its field where it failed; what is in it was typed before.
        measured = {} if len(outputs.names) == 1 else _values(fields, outputs)
        return {outcome: why or True, "measured": measured}
    if outcome == Outcome.LOST.value:
        return {outcome: why or True}
    raise InvalidInput("choose whether it worked, failed or was lost")


def _values(fields: Fields, outputs: Outputs) -> dict[str, float]:
    """The outputs that were filled in."""
    texts = {output: _text(fields, f"output-{i}") for i, output in enumerate(outputs)}
    return {
        output.name: parse_number(text, heading(output.name, output.unit), output.unit)
        for output, text in texts.items()
        if text
    }


def note_of(fields: Fields) -> str:
    """The note of a form, which may be empty."""
    return _limited(fields, "note")


def version_of(fields: Fields) -> int:
    """The version of the run in a form."""
    text = _text(fields, "version")
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise InvalidInput("the form does not contain the version of the run; reload the page")
    return int(text)


def count_of(fields: Fields, most: int) -> int:
    """The number of experiments in a form."""
    text = _text(fields, "q") or "1"
    if not text.isascii() or not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
        raise InvalidInput(f"{text!r} experiments: enter a whole number from 1 to {most}")
    return int(text)


def params_of(fields: Fields, description: Description) -> dict[str, Any]:
    """The settings in a form."""
    params: dict[str, Any] = {}
    for i, described in enumerate(description.parameters):
        text = _text(fields, f"setting-{i}")
        params[described.name] = parameter_value(described.parameter, text, described.unit)
    return params


def _number(text: str, what: str) -> float | int:
    """A number that somebody typed; an int if it is whole, as a budget must be."""
    number = parse_number(text, what)
    return int(number) if number.is_integer() else number


def _text(fields: Fields, key: str) -> str:
    return fields.get(key, "").strip()


def _limited(fields: Fields, key: str) -> str:
    text = _text(fields, key)
    if len(text) > MAX_TEXT:
        raise InvalidInput(f"the {key} has {len(text)} characters; use at most {MAX_TEXT}")
    return text.replace("\0", "")


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]
