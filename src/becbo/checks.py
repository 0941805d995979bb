"""Checks of single values: each returns the value as it is used, or an error that names it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from becbo.errors import InvalidInput

_REMEDY = "use fail(trial), or failed=True, if it failed"


def whole_number(what: str, value: Any, at_least: int = 1, at_most: int | None = None) -> int:
    """Checks a whole number.

    Args:
        what: what the number is, for the message.
        value: an int or a NumPy integer.
        at_least: the smallest number allowed.
        at_most: the largest number allowed; None: any.

    Returns:
        The value as an int.

    Raises:
        InvalidInput: if it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InvalidInput(f"{what} {value!r} must be a whole number of at least {at_least}")
    if at_most is not None and value > at_most:
        raise InvalidInput(f"{what} {value!r} is too large; use at most {at_most}")
    return int(value)


def number_in(value: Any, what: str = "value", remedy: str = _REMEDY) -> float:
    """Checks a number that may be NaN or infinite.

    Args:
        value: what an experiment returned.
        what: what the number is, for the message.
        remedy: what to do about any other value, for the message.

    Returns:
        The value as a float.

    Raises:
        InvalidInput: if it is not a number; True and "3" are not.
    """
    try:
        if isinstance(value, bool | np.bool_ | str | bytes):
            raise TypeError("float would accept True and the string '3'")
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{what} {value!r} is not a number; {remedy}") from None


def finite_value(value: Any, what: str = "value", remedy: str = _REMEDY) -> float:
    """Checks a finite number.

    Args:
        value: what an experiment returned.
        what: what the number is, for the message.
        remedy: what to do about any other value, for the message.

    Returns:
        The value as a float.

    Raises:
        InvalidInput: if it is not a number, NaN or infinite.
    """
    number = number_in(value, what, remedy)
    if not math.isfinite(number):
        raise InvalidInput(f"{what} {value!r} is not finite; {remedy}")
    return number


def finite_numbers(values: Mapping[str, Any]) -> dict[str, float | None]:
    """Checks numbers by name; what is NaN or infinite was not measured.

    Args:
        values: what an experiment returned.

    Returns:
        A finite number or None for every name.

    Raises:
        InvalidInput: if a value is not a number.
    """
    remedy = "give None if it was not measured"
    numbers = {n: None if v is None else number_in(v, n, remedy) for n, v in values.items()}
    return {name: v if v is not None and math.isfinite(v) else None for name, v in numbers.items()}
