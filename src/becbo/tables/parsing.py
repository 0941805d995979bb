"""What people type: numbers with decimal commas and units, and settings of parameters."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

from becbo.errors import InvalidInput
from becbo.space import Categorical, Parameter
from becbo.tables.files import Cell, Merged

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_NUMBER = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?")
_UNIT = re.compile(r"\s*°?[^\W\d_]\S*")


def cell_text(cell: Cell) -> str:
    """The content of a cell as text."""
    return "" if cell is None or isinstance(cell, Merged) else str(cell).strip()


def parse_number(text: str, what: str = "", unit: str = "") -> float:
    """A finite number that somebody typed. A comma is a decimal comma.

    Args:
        text: The number, with or without its unit.
        what: The name of the number in error messages, if it needs one.
        unit: The unit that may follow it.

    Returns:
        The number.

    Raises:
        InvalidInput: It is not a finite number, or the comma may separate thousands.
    """
    plain, said = _without_unit(text, unit), f"{what} = {text!r}" if what else repr(text)
    if _UNCLEAR.fullmatch(plain):
        whole, broken = plain.replace(",", ""), plain.replace(",", ".")
        raise InvalidInput(f"{said} is ambiguous; write {whole} or {broken}")
    if _DECIMAL_COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    try:
        number = float(plain.replace("_", "?"))  # 1_000 is Python, and elsewhere a slip
    except ValueError:
        raise InvalidInput(f"{said} is not a number{_advice(plain, unit)}") from None
    if not math.isfinite(number):
        raise InvalidInput(f"{said} is not a finite number")
    return number


def parameter_value(parameter: Parameter, cell: Cell, unit: str = "") -> Any:
    """A setting that somebody typed.

    Args:
        parameter: The parameter that it belongs to.
        cell: The setting, with or without its unit.
        unit: The unit that may follow it.

    Returns:
        The value of the parameter.

    Raises:
        InvalidInput: It is empty, or the parameter cannot have this value.
    """
    text = cell_text(cell)
    if not text:
        raise InvalidInput(f"{parameter.name} is empty; allowed: {parameter.allowed}")
    if isinstance(parameter, Categorical):
        return _choice(parameter, cell, unit)
    return parameter.check(parse_number(text, f"{parameter.name} ({parameter.allowed})", unit))


def starts_with_number(text: str) -> bool:
    """Whether the text begins with a number."""
    return _NUMBER.match(text) is not None


def normalized_unit(unit: str) -> str:
    """The unit in one spelling: there are two signs for micro and several ways to write °C."""
    return unicodedata.normalize("NFKC", unit.replace("º", "°")).replace(" ", "")


def _choice(parameter: Categorical, cell: Cell, unit: str) -> Any:
    """The choice that somebody typed; capitals matter only where choices differ in nothing else."""
    text = cell_text(cell)
    for written in (text, _without_unit(text, unit)):
        exact = [c for c in parameter.choices if cell == c or written == str(c)]
        loose = [c for c in parameter.choices if written.casefold() == str(c).casefold()]
        close = [c for c in parameter.choices if _is_close(written, c)]
        for found in (exact[:1], loose, close):
            if len(found) == 1:
                return found[0]
    return parameter.check(text)


def _is_close(text: str, choice: Any) -> bool:
    """Whether a choice is this number, up to the 15 digits that spreadsheets keep."""
    try:
        return isinstance(choice, float) and math.isclose(float(text), choice, rel_tol=1e-14)
    except ValueError:
        return False


def _without_unit(text: str, unit: str) -> str:
    """`45 %` in a column of per cent is 45."""
    number, rest = _split_number(text)
    return number if rest and normalized_unit(rest) == normalized_unit(unit) else text


def _split_number(text: str) -> tuple[str, str]:
    """The number at the beginning of a text, and the rest."""
    begins = _NUMBER.match(text)
    end = begins.end() if begins else 0
    return text[:end], text[end:]


def _advice(text: str, unit: str) -> str:
    """How to write a number so that it can be read."""
    if text.endswith("%"):
        return f"; write it without %, {f'in {unit}' if unit else 'such as 0.2 for 20 %'}"
    number, rest = _split_number(text)
    if number and _UNIT.fullmatch(rest):
        return f"; convert it to {unit}, and leave the unit out" if unit else "; leave the unit out"
    return "; write a decimal point, and nothing between thousands" if "," in text else ""
