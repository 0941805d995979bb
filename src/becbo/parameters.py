"""Parameters: between what a user can set and the unit cube the models see.

Every parameter owns one or more columns of the unit cube:

* `Real` one column, linear or logarithmic; with `step` only the grid values exist;
* `Integer` one column, linear or logarithmic, every value owning a cell of it;
* `Categorical` one column per choice (one-hot).

`decode` always returns exactly what a user can set, so `decode(encode(x)) == x` for every
settable x, and `encode(decode(u))` is a projection. A `step` binds what is proposed: a design that
was carried out may lie between the steps, and is encoded as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from becbo.arrays import Array
from becbo.checks import finite_value
from becbo.errors import InvalidInput

# A real value is settable to 12 digits of its range: finer differences are rounding noise.
_REAL_DIGITS = 12
# Settable values that are further apart than this share of the range are told apart by the search.
_COARSE = 1e-8
_MIN_SPAN = 1e-290  # between bounds, so that their digits can be told apart
# Larger whole numbers do not survive the way to the unit cube and back.
_MAX_INTEGER = 10**13
_MIN_LOG = 1e-305  # a twelfth digit of smaller numbers would be zero
# Above this many values a grid is searched as if it were continuous and then rounded.
_MAX_OPTIONS = 32


def finite_number(name: str, value: Any, allowed: str) -> float:
    """`value` as a float, or an error that names it and what is allowed."""
    return finite_value(value, f"{name} =", f"allowed: {allowed}")


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"a parameter needs a non-empty name, got {name!r}")


def _check_bounds(name: str, low: float, high: float, log: bool) -> None:
    if not isinstance(log, bool | np.bool_):
        raise InvalidInput(f"{name}: log {log!r} must be True or False; write a step as step=")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidInput(f"{name}: bounds {low} .. {high} must be finite")
    if not low < high:
        raise InvalidInput(
            f"{name}: low {low} must be below high {high}; leave a fixed parameter out of the space"
        )
    if log and low <= 0:
        raise InvalidInput(f"{name}: a logarithmic parameter needs low > 0, got {low}")
    if log and low < _MIN_LOG:
        raise InvalidInput(f"{name}: low {low} is too small for a logarithmic parameter")
    span = math.log(high) - math.log(low) if log else high - low
    if not _MIN_SPAN < span < math.inf:
        raise InvalidInput(f"{name}: bounds {low} .. {high} are too far apart or too close")


@dataclass(frozen=True)
class Real:
    """A real parameter in [low, high]; `step` keeps only low, low + step, ...

    Args:
        name: what it is called in designs.
        low: the smallest value.
        high: the largest value.
        log: whether factors matter instead of differences; needs low > 0.
        step: keeps only low, low + step, ...; None keeps all. Not together with `log`.

    Raises:
        InvalidInput: if the name, the bounds or the step cannot be used.

    Examples:
        >>> pressure, temperature = Real("p", 1, 200, log=True), Real("t", 20, 90, step=0.5)
        >>> space = Space([pressure, temperature])
    """

    name: str
    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        for bound in ("low", "high"):
            value = finite_number(f"{self.name}: {bound}", getattr(self, bound), "a finite number")
            object.__setattr__(self, bound, value)
        _check_bounds(self.name, self.low, self.high, self.log)
        if self.step is not None:
            if self.log:
                raise InvalidInput(f"{self.name}: step and log exclude each other")
            step = finite_number(f"{self.name}: step", self.step, "a positive number")
            if not 0 < step <= (1 + 1e-9) * (self.high - self.low):  # forgives 4.1 - 4 < 0.1
                raise InvalidInput(
                    f"{self.name}: step {step} must be positive and at most {self.high - self.low}"
                )
            if step < 10 * self._resolution(self.high):
                raise InvalidInput(
                    f"{self.name}: step {step} is too fine for {self.low} .. {self.high}; "
                    "leave it out"
                )
            object.__setattr__(self, "step", step)

    width = 1

    @property
    def allowed(self) -> str:
        """The range in words."""
        steps = f" in steps of {self.step:g}" if self.step is not None else ""
        return f"{self.low:g} .. {self.high:g}{steps}"

    @property
    def n_values(self) -> float:
        """How many different values there are."""
        if self.step is None:
            return math.inf
        return math.floor((self.high - self.low) / self.step + 1e-9) + 1

    @property
    def ends(self) -> tuple[float, float]:
        """The values at 0 and 1 of its column; a grid value lies in the middle of its cell."""
        if self.step is None:
            return self.low, self.high
        return _cell_ends(self.low, self.step, self.n_values)

    @property
    def highest(self) -> float:
        """The largest value that can be proposed."""
        return self.high if self.step is None else self._grid_value(int(self.n_values) - 1)

    def check(self, value: Any) -> float:
        """`value` as this parameter stores it, or an error."""
        number = finite_number(self.name, value, self.allowed)
        slip = 1e-12 * (self.high - self.low)  # forgives 0.1 + 0.2 > 0.3
        if not self.low - slip <= number <= self.high + slip:
            raise InvalidInput(f"{self.name} = {value!r} is outside {self.allowed}")
        number = min(max(number, self.low), self.high)
        if self.step is not None:
            k = round((number - self.low) / self.step)
            slip = max(1e-6 * self.step, self._resolution(number))
            if k < self.n_values and abs(self.low + k * self.step - number) <= slip:
                return self._grid_value(k)
        return number

    def encode(self, value: float) -> list[float]:
        """The unit-cube column of a checked value."""
        if self.step is not None:
            position = (value - self.low) / self.step
            k = round(position)
            if k < self.n_values and self._grid_value(k) == value:
                position = k
            return [min((position + 0.5) / self.n_values, 1.0)]
        if self.log:
            return [_log_encode(value, self.low, self.high)]
        return [(value - self.low) / (self.high - self.low)]

    def decode(self, u: Sequence[float]) -> float:
        """The settable value at (or nearest to) a unit-cube column."""
        if self.step is not None:
            return self._grid_value(_cell(u[0], int(self.n_values)))
        if not 0.0 < u[0] < 1.0:  # a bound may have more digits than the values between
            return self.low if u[0] <= 0.0 else self.high
        if self.log:
            value = _log_decode(u[0], self.low, self.high)
        else:
            value = self.low + u[0] * (self.high - self.low)
        return self._rounded(value)

    def snap(self, U: Array) -> Array:  # (n, 1) -> (n, 1)
        """Columns moved to the nearest settable value, unless these are too many to matter."""
        if self.step is not None:
            return _snap_cells(U, int(self.n_values))
        if self._resolution(self.high) <= _COARSE * (self.high - self.low):
            return U
        # A narrow range far from zero, such as 1 .. 1 + 1e-11.
        return np.array([self.encode(self.decode(u)) for u in U.tolist()]).reshape(U.shape)

    def options(self) -> Array | None:  # (k, 1)
        """The columns of all values, if they are few."""
        return None if self.step is None else _cell_options(int(self.n_values))

    def _grid_value(self, k: int) -> float:
        assert self.step is not None
        return self._rounded(self.low + k * self.step) if k else self.low

    def _rounded(self, value: float) -> float:
        return min(max(round(value, self._decimals(value)), self.low), self.high)

    def _resolution(self, value: float) -> float:
        """Distance of the settable values next to `value`."""
        return 10.0 ** -self._decimals(value)

    def _decimals(self, value: float) -> int:
        """Decimal places that keep `_REAL_DIGITS` digits of the range (of the value, if log)."""
        scale = value if self.log else self.high - self.low
        float_limit = 0.0 if self.log else 1e-14 * max(abs(self.low), abs(self.high))
        return math.floor(-math.log10(max(scale * 10.0**-_REAL_DIGITS, float_limit)))


@dataclass(frozen=True)
class Integer:
    """A whole number low, low + step, ... up to high.

    Args:
        name: what it is called in designs.
        low: the smallest value.
        high: the largest value.
        log: whether factors matter instead of differences; needs low > 0.
        step: keeps only low, low + step, .... Not together with `log`.

    Raises:
        InvalidInput: if the name, the bounds or the step cannot be used.

    Examples:
        >>> space = Space([Integer("coils", 2, 15), Integer("neurons", 4, 256, log=True)])
    """

    name: str
    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        _check_name(self.name)
        for field in ("low", "high", "step"):
            value = finite_number(f"{self.name}: {field}", getattr(self, field), "a whole number")
            if value != math.floor(value):
                raise InvalidInput(f"{self.name}: {field} {value} must be a whole number")
            object.__setattr__(self, field, int(value))
        _check_bounds(self.name, self.low, self.high, self.log)
        if self.step < 1 or self.step > self.high - self.low:
            raise InvalidInput(
                f"{self.name}: step {self.step} must be between 1 and {self.high - self.low}"
            )
        if max(abs(self.low), abs(self.high)) > _MAX_INTEGER:
            raise InvalidInput(
                f"{self.name}: {self.low} .. {self.high} goes beyond {_MAX_INTEGER:.0e}; use a Real"
            )
        if self.log and self.step != 1:
            raise InvalidInput(f"{self.name}: step and log exclude each other")

    width = 1

    @property
    def allowed(self) -> str:
        """The range in words."""
        steps = f" in steps of {self.step}" if self.step != 1 else ""
        return f"whole numbers {self.low} .. {self.high}{steps}"

    @property
    def n_values(self) -> float:
        """How many different values there are."""
        return (self.high - self.low) // self.step + 1

    @property
    def ends(self) -> tuple[float, float]:
        """The values at 0 and 1 of its column; a grid value lies in the middle of its cell."""
        return _cell_ends(self.low, self.step, self.n_values)

    @property
    def highest(self) -> int:
        """The largest value that can be proposed."""
        return self.low + (int(self.n_values) - 1) * self.step

    def check(self, value: Any) -> int:
        """`value` as this parameter stores it, or an error."""
        number = finite_number(self.name, value, self.allowed)
        if number != math.floor(number):
            raise InvalidInput(f"{self.name} = {value!r} is not a whole number; {self.allowed}")
        if not self.low <= number <= self.high:
            raise InvalidInput(f"{self.name} = {value!r} is outside {self.allowed}")
        return int(number)

    def encode(self, value: int) -> list[float]:
        """The unit-cube column of a checked value."""
        if self.log:
            return [_log_encode(value, self.low - 0.5, self.high + 0.5)]
        return [min(((value - self.low) / self.step + 0.5) / self.n_values, 1.0)]

    def decode(self, u: Sequence[float]) -> int:
        """The value whose cell holds a unit-cube column."""
        if self.log:
            low, high = self.low - 0.5, self.high + 0.5
            value = math.floor(_log_decode(u[0], low, high) + 0.5)
            return min(max(value, self.low), self.high)
        return self.low + self.step * _cell(u[0], int(self.n_values))

    def snap(self, U: Array) -> Array:  # (n, 1) -> (n, 1)
        """Columns moved to the value whose cell they are in."""
        if not self.log:
            return _snap_cells(U, int(self.n_values))
        low, high = self.low - 0.5, self.high + 0.5
        values = np.clip(np.floor(low * (high / low) ** U + 0.5), self.low, self.high)
        return np.asarray(np.log(values / low) / math.log(high / low))

    def options(self) -> Array | None:  # (k, 1)
        """The columns of all values, if they are few."""
        if self.n_values > _MAX_OPTIONS:
            return None
        values = range(self.low, self.high + 1, self.step)
        return np.array([self.encode(value) for value in values])


@dataclass(frozen=True)
class Categorical:
    """One of several choices without an order.

    Args:
        name: what it is called in designs.
        choices: at least two values of any type, without an order.

    Raises:
        InvalidInput: if there are too few choices, or one is listed twice.

    Examples:
        >>> space = Space([Categorical("alloy", ["A", "B", "C"])])
    """

    name: str
    choices: tuple[Any, ...]

    def __init__(self, name: str, choices: Iterable[Any]) -> None:
        _check_name(name)
        if not isinstance(choices, Iterable):
            raise InvalidInput(f"{name}: choices {choices!r} must be a list")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "choices", tuple(map(_as_python, choices)))
        if len(self.choices) < 2:
            raise InvalidInput(
                f"{name}: needs at least two choices, got {list(self.choices)}; "
                "leave a fixed parameter out of the space"
            )
        for i, choice in enumerate(self.choices):
            if not _same_choice(choice, choice):
                raise InvalidInput(f"{name}: choice {choice!r} does not equal itself")
            if any(_same_choice(choice, other) for other in self.choices[:i]):
                raise InvalidInput(f"{name}: choice {choice!r} is listed twice")

    @property
    def width(self) -> int:
        """One column per choice."""
        return len(self.choices)

    @property
    def allowed(self) -> str:
        """The choices in words."""
        return "one of " + ", ".join(repr(choice) for choice in self.choices)

    @property
    def n_values(self) -> float:
        """How many different values there are."""
        return len(self.choices)

    def check(self, value: Any) -> Any:
        """The choice equal to `value`, or an error."""
        for choice in self.choices:
            if _same_choice(choice, value):
                return choice
        raise InvalidInput(f"{self.name} = {value!r} is not {self.allowed}")

    def encode(self, value: Any) -> list[float]:
        """One-hot columns."""
        return [1.0 if _same_choice(choice, value) else 0.0 for choice in self.choices]

    def decode(self, u: Sequence[float]) -> Any:
        """The choice with the largest column."""
        return self.choices[int(np.argmax(u))]

    def snap(self, U: Array) -> Array:  # (n, k) -> (n, k)
        """Columns moved to the nearest one-hot row."""
        return np.asarray(np.eye(self.width)[np.argmax(U, axis=1)])

    def options(self) -> Array | None:  # (k, k)
        """The columns of all choices."""
        return np.eye(self.width)


Parameter = Real | Integer | Categorical


def _same_choice(a: Any, b: Any) -> bool:
    """Equality that keeps True apart from 1, as a user who lists both would expect."""
    same = _as_python(a == b)
    return same is True and isinstance(a, bool | np.bool_) == isinstance(b, bool | np.bool_)


def _as_python(value: Any) -> Any:
    """NumPy scalars as Python ones; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _log_encode(value: float, low: float, high: float) -> float:
    return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))


def _log_decode(u: float, low: float, high: float) -> float:
    return math.exp(math.log(low) + u * (math.log(high) - math.log(low)))


def _cell_ends(low: float, step: float, n: float) -> tuple[float, float]:
    return low - step / 2, low - step / 2 + n * step


def _cell(u: float, n: int) -> int:
    return min(max(math.floor(u * n), 0), n - 1)


def _snap_cells(U: Array, n: int) -> Array:
    return np.asarray((np.clip(np.floor(U * n), 0, n - 1) + 0.5) / n)


def _cell_options(n: int) -> Array | None:
    return None if n > _MAX_OPTIONS else ((np.arange(n) + 0.5) / n)[:, None]
