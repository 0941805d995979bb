"""Known constraints as people write them: `2*a + b <= 10`."""

from __future__ import annotations

import ast
import math
import unicodedata
import warnings
from collections.abc import Mapping, Sequence

from becbo.campaign.bounds import MAX_FORMULA, check_count
from becbo.errors import InvalidInput
from becbo.space import LinearConstraint

_EXAMPLE = "write it as in `2*a + b <= 10`"
_RISING, _FALLING = {ast.LtE, ast.Lt}, {ast.GtE, ast.Gt}

_Form = dict[str, float]  # name -> coefficient; "" -> the constant


def linear_constraint(text: str, names: Sequence[str]) -> LinearConstraint:
    """Reads a constraint.

    Args:
        text: As in `2*a + b <= 10`, `a >= b` or `1 <= a + b <= 3`. A name of several words is
            written in backticks: `` `cooling rate` <= 3``.
        names: The parameters that are numbers.

    Returns:
        The constraint.

    Raises:
        InvalidInput: The text is not a linear constraint on these parameters.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"constraint {text!r}: {_EXAMPLE}")
    check_count(f"constraint {text[:40]!r}...", len(text), MAX_FORMULA, "characters")
    try:
        tree, known = _parse(text, names)
        sides = [_linear(side, known) for side in (tree.left, *tree.comparators)]
        coefficients, lower, upper = _between(sides, [type(op) for op in tree.ops])
        return LinearConstraint(coefficients, upper, lower)
    except (_Unreadable, InvalidInput) as error:
        raise InvalidInput(f"constraint {text!r}: {error}") from None
    except RecursionError:
        raise InvalidInput(
            f"constraint {text[:40]!r}... is nested too deeply; {_EXAMPLE}"
        ) from None


class _Unreadable(Exception):
    """The text is not a linear constraint; the message says why."""


def _parse(text: str, names: Sequence[str]) -> tuple[ast.Compare, dict[str, str]]:
    """The syntax tree, and the parameter of each name in it."""
    known = {unicodedata.normalize("NFKC", name): name for name in names}  # as Python reads them
    plain = text.strip()
    for i, name in enumerate(names):
        plain = plain.replace(f"`{name}`", f" _{i}_ ")
        known[f"_{i}_"] = name
    try:
        with warnings.catch_warnings():  # the code is never run
            warnings.simplefilter("ignore")
            tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError):
        raise _Unreadable(
            f"it cannot be read; {_EXAMPLE}, with names of several words in backticks"
        ) from None
    if not isinstance(tree, ast.Compare):
        raise _Unreadable(f"it has no <= or >=; {_EXAMPLE}")
    return tree, known


def _linear(node: ast.expr, known: Mapping[str, str]) -> _Form:
    """A sum of multiples of parameters."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return {"": _float(number)}
        case ast.Name(id=word) if word in known:
            return {known[word]: 1.0}
        case ast.Name(id=word):
            numbers = ", ".join(dict.fromkeys(known.values()))
            raise _Unreadable(f"{word!r} is not one of the numeric parameters ({numbers})")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=inner):
            return _scaled(_linear(inner, known), -1.0 if isinstance(op, ast.USub) else 1.0)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            factor = 1.0 if isinstance(op, ast.Add) else -1.0
            return _sum(_linear(left, known), _scaled(_linear(right, known), factor))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _linear(left, known), _linear(right, known)
            if set(a) == {""}:
                return _scaled(b, a[""])
            if set(b) == {""}:
                return _scaled(a, b[""])
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            a, b = _linear(left, known), _linear(right, known)
            if set(b) == {""} and b[""] != 0:
                return _scaled(a, 1 / b[""])
    raise _Unreadable(f"only sums of parameters times numbers are possible; {_EXAMPLE}")


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


def _between(sides: Sequence[_Form], ops: Sequence[type[ast.cmpop]]) -> tuple[_Form, float, float]:
    """Coefficients, lower and upper bound of `a <= b`, `a >= b` or `1 <= a <= 3`."""
    is_rising = set(ops) <= _RISING
    if not is_rising and not set(ops) <= _FALLING:
        raise _Unreadable("compare with <= or >=")
    least, most = -math.inf, math.inf
    if len(sides) == 2:
        form = _sum(sides[0], _scaled(sides[1], -1.0))
        least, most = (least, 0.0) if is_rising else (0.0, most)
    elif len(sides) == 3 and set(sides[0]) == set(sides[2]) == {""}:
        form = dict(sides[1])
        least, most = [side[""] for side in (sides if is_rising else sides[::-1])[::2]]
    else:
        raise _Unreadable("write it as in `1 <= a + b <= 3`")
    shift = form.pop("", 0.0)
    coefficients = {name: c for name, c in form.items() if c}
    if not coefficients:
        raise _Unreadable("it contains no parameter")
    return coefficients, least - shift, most - shift
