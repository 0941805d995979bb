"""Known constraints as people write them: `2*a + b <= 10`, `a + b + c == 100`, `a * b <= 900`."""

from __future__ import annotations

import ast
import math
import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from becbo.arrays import Array, Mask
from becbo.campaign.bounds import MAX_FORMULA, check_count
from becbo.errors import InvalidInput
from becbo.space import LinearConstraint

_RISING, _FALLING, _EQUAL = {ast.LtE, ast.Lt}, {ast.GtE, ast.Gt}, {ast.Eq}
_LABEL = re.compile(r"\s*([^\W\d][\w ]*?)\s*=(?!=)(?=.*[<>=])", re.DOTALL)
_ONE_SIGN = re.compile(r"(?<![<>=!])=(?!=)")

_Form = dict[str, float]  # name -> coefficient; "" -> the constant


@dataclass(frozen=True)
class Formula:
    """A constraint that is not linear, such as `pressure * flow <= 900`.

    Args:
        text: As it was written.
        sides: What is compared, from left to right.
        is_rising: Whether each side is at most the next one, or at least.
        known: The parameter of each name in the sides.
    """

    text: str
    sides: tuple[ast.expr, ...]
    is_rising: bool
    known: Mapping[str, str]

    def __call__(self, params: Mapping[str, Any]) -> bool:
        """Whether `params` satisfy it; not where it cannot be computed."""
        numbers = {name: np.array([float(params[name])]) for name in self.known.values()}
        return bool(self.holds(numbers)[0])

    def holds(self, values: Mapping[str, Array]) -> Mask:  # (n,) each -> (n,)
        """Whether many designs satisfy it, given the values of each parameter."""
        with np.errstate(all="ignore"):  # what cannot be computed is NaN, and no NaN compares
            sides = [_value(side, self.known, values) for side in self.sides]
            rising = sides if self.is_rising else sides[::-1]
            kept = [a <= b + 1e-12 * (abs(a) + abs(b)) for a, b in pairwise(rising)]
        return np.asarray(np.all(kept, axis=0) & np.all(np.isfinite(sides), axis=0))


def read_constraint(text: str, names: Sequence[str]) -> LinearConstraint | Formula:
    """Reads a constraint.

    Args:
        text: As in `2*a + b <= 10`, `a >= b`, `1 <= a + b <= 3`, `a + b + c == 100` or
            `power = a * b <= 900`, in which `power` is only a name for people. A name of several
            words is written in backticks: `` `cooling rate` <= 3``.
        names: The parameters that are numbers.

    Returns:
        The constraint, a linear one if it is linear.

    Raises:
        InvalidInput: The text is not a constraint on these parameters.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"constraint {text!r}: write it as in {constraint_examples(names)}")
    check_count(f"constraint {text[:40]!r}...", len(text), MAX_FORMULA, "characters")
    try:
        tree, known = _parse(text, names)
        sides, ops = (tree.left, *tree.comparators), {type(op) for op in tree.ops}
        for side in sides:
            _check(side, known)
        if not any(ops <= kind for kind in (_RISING, _FALLING, _EQUAL)):
            raise _Unreadable("compare with <=, >= or ==")
        forms = [_linear(side, known) for side in sides]
        linear = [form for form in forms if form is not None]
        if len(linear) == len(forms):
            coefficients, lower, upper = _between(linear, ops)
            return LinearConstraint(coefficients, upper, lower)
        if ops <= _EQUAL:
            raise _Unreadable("only sums of parameters times numbers can be equal to something")
        return Formula(text, sides, ops <= _RISING, known)
    except _Unreadable as error:
        advice = f"; write it as in {constraint_examples(names)}" if error.needs_example else ""
        raise InvalidInput(f"constraint {text!r}: {error}{advice}") from None
    except InvalidInput as error:
        raise InvalidInput(f"constraint {text!r}: {error}") from None
    except RecursionError:
        raise InvalidInput(f"constraint {text[:40]!r}... is nested too deeply") from None


def constraint_examples(names: Sequence[str]) -> str:
    """Constraints on the user's own parameters: `` `a + b == 100` or `a * b <= 900` ``."""
    quoted = [name if name.isidentifier() else f"`{name}`" for name in names[:3]]
    if not quoted:
        return "a <= 10"
    if len(quoted) == 1:
        return f"{quoted[0]} <= 10"
    return f"{' + '.join(quoted)} == 100 or {quoted[0]} * {quoted[1]} <= 900"


class _Unreadable(Exception):
    """The text is not a constraint; the message says why."""

    def __init__(self, message: str, needs_example: bool = False) -> None:
        super().__init__(message)
        self.needs_example = needs_example


def _parse(text: str, names: Sequence[str]) -> tuple[ast.Compare, dict[str, str]]:
    """The syntax tree, and the parameter of each name in it."""
    known = {unicodedata.normalize("NFKC", name): name for name in names}  # as Python reads them
    plain = _without_label(text.strip(), names)
    for i, name in enumerate(names):
        plain = plain.replace(f"`{name}`", f" _{i}_ ")
        known[f"_{i}_"] = name
    try:
        with warnings.catch_warnings():  # the code is never run
            warnings.simplefilter("ignore")
            tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError):
        raise _Unreadable(
            "it cannot be read (names of several words go into backticks)", needs_example=True
        ) from None
    if not isinstance(tree, ast.Compare):
        raise _Unreadable("it has no <=, >= or ==", needs_example=True)
    return tree, known


def _without_label(text: str, names: Sequence[str]) -> str:
    """`power = a * b <= 900` without the name, and `a + b = 100` as an equation of Python."""
    label = _LABEL.match(text)
    if label and label[1] not in names:
        text = text[label.end() :]
    return _ONE_SIGN.sub("==", text)


def _check(node: ast.expr, known: Mapping[str, str]) -> None:
    """Refuses what is not arithmetic with parameters and numbers."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            _float(number)
        case ast.Name(id=word) if word in known:
            pass
        case ast.Name(id=word):
            numbers = ", ".join(dict.fromkeys(known.values()))
            raise _Unreadable(f"{word!r} is not one of the numeric parameters ({numbers})")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check(inner, known)
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=right
        ):
            _check(left, known)
            _check(right, known)
        case _:
            raise _Unreadable("only + - * / and ** of parameters are possible", needs_example=True)


def _value(node: ast.expr, known: Mapping[str, str], values: Mapping[str, Array]) -> Array:
    """What a side amounts to for each design, (n,); it has passed `_check`."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return np.full(len(next(iter(values.values()))), float(number))
        case ast.Name(id=word):
            return values[known[word]]
        case ast.UnaryOp(op=op, operand=inner):
            value = _value(inner, known, values)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, known, values), _value(right, known, values)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
            return np.asarray(a**b)
    raise AssertionError(ast.dump(node))


def _linear(node: ast.expr, known: Mapping[str, str]) -> _Form | None:
    """A sum of multiples of parameters; None if it is something else."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return {"": float(number)}
        case ast.Name(id=word):
            return {known[word]: 1.0}
        case ast.UnaryOp(op=op, operand=inner):
            form = _linear(inner, known)
            return form and _scaled(form, -1.0 if isinstance(op, ast.USub) else 1.0)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _linear(left, known), _linear(right, known)
            if a is None or b is None:
                return None
            match op:
                case ast.Add():
                    return _sum(a, b)
                case ast.Sub():
                    return _sum(a, _scaled(b, -1.0))
                case ast.Mult() if set(a) == {""}:
                    return _scaled(b, a[""])
                case ast.Mult() if set(b) == {""}:
                    return _scaled(a, b[""])
                case ast.Div() if set(b) == {""} and b[""] != 0:
                    return _scaled(a, 1 / b[""])
                case ast.Div() if set(b) == {""}:
                    raise _Unreadable("it divides by 0")
    return None


def _float(number: float) -> float:
    try:
        if math.isfinite(number):
            return float(number)
    except OverflowError:
        pass
    raise _Unreadable("a number in it is too large")


def _scaled(form: _Form, factor: float) -> _Form:
    return {name: factor * c for name, c in form.items()}


def _sum(a: _Form, b: _Form) -> _Form:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}


def _between(sides: Sequence[_Form], ops: set[type[ast.cmpop]]) -> tuple[_Form, float, float]:
    """Coefficients, lower and upper bound of `a <= b`, `a == b` or `1 <= a <= 3`."""
    least, most = -math.inf, math.inf
    if len(sides) == 2:
        form = _sum(sides[0], _scaled(sides[1], -1.0))
        least = 0.0 if not ops <= _RISING else least
        most = 0.0 if not ops <= _FALLING else most
    elif len(sides) == 3 and set(sides[0]) == set(sides[2]) == {""} and not ops <= _EQUAL:
        form = dict(sides[1])
        least, most = [side[""] for side in (sides if ops <= _RISING else sides[::-1])[::2]]
    else:
        raise _Unreadable("of three parts, the first and the last must be numbers")
    shift = form.pop("", 0.0)
    coefficients = {name: c for name, c in form.items() if c}
    if not coefficients:
        raise _Unreadable("it contains no parameter")
    return coefficients, least - shift, most - shift
