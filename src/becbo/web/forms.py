"""Submitted forms and uploads as arguments of `Campaign`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from becbo.campaign.description import Description
from becbo.campaign.names import heading
from becbo.campaign.notation import PARSERS, parse
from becbo.errors import InvalidInput
from becbo.outlook import Stop, gain_unit
from becbo.outputs import Outputs
from becbo.tables.files import READERS, Cell
from becbo.tables.parsing import parameter_value, parse_number
from becbo.trial import Outcome

MAX_REASONS = 6  # that are offered
MAX_TEXT = 500  # characters of a reason or a note

Fields = Mapping[str, str]


@dataclass(frozen=True)
class Upload:
    """An uploaded file; its name only says what kind it is."""

    name: str
    content: bytes

    @property
    def suffix(self) -> str:
        """The ending of the name, as in `.csv`."""
        return PurePath(self.name).suffix.lower()


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
    return READERS[upload.suffix](upload.content)


def result_of(fields: Fields, outputs: Outputs) -> dict[str, Any]:
    """The result in a form, as arguments of `Campaign.record`."""
    outcome, why = _text(fields, "outcome"), _reason(fields)
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


def _reason(fields: Fields) -> str:
    """The reasons that were ticked and the one that was typed."""
    ticked = [_limited(fields, f"reason-{i}") for i in range(MAX_REASONS)]
    return ", ".join(filter(None, [*ticked, _limited(fields, "reason")]))


def note_of(fields: Fields) -> str:
    """The note of a form, which may be empty."""
    return _limited(fields, "note")


def version_of(fields: Fields) -> int:
    """The version of the run in a form."""
    return whole_of(fields, "version")


def whole_of(fields: Fields, key: str) -> int:
    """A whole number that our own page has put into a form."""
    text = _text(fields, key)
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise InvalidInput(f"the form does not contain the {key}; reload the page")
    return int(text)


def count_of(fields: Fields, most: int) -> int:
    """The number of experiments in a form."""
    text = _text(fields, "q") or "1"
    if not text.isascii() or not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
        raise InvalidInput(f"{text!r} experiments: enter a whole number from 1 to {most}")
    return int(text)


def margin_of(text: str, outputs: Outputs) -> float | None:
    """The margin of the outlook that somebody typed; None if there is none."""
    if not text.strip():
        return None
    unit = gain_unit(outputs)
    allowed = "a number of at least 0" + (f", in {unit}" if unit else "")
    return Stop(margin=parse_number(text.strip(), f"margin ({allowed})", unit)).margin


def params_of(fields: Fields, description: Description) -> dict[str, Any]:
    """The settings in a form."""
    params: dict[str, Any] = {}
    for i, described in enumerate(description.parameters):
        text = _text(fields, f"setting-{i}")
        params[described.name] = parameter_value(described.parameter, text, described.unit)
    return params


def _text(fields: Fields, key: str) -> str:
    return fields.get(key, "").strip()


def _limited(fields: Fields, key: str) -> str:
    text = _text(fields, key)
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"the {key.partition('-')[0]} has {len(text)} characters; use at most {MAX_TEXT}"
        )
    return text.replace("\0", "")
