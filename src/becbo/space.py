"""Spaces: an ordered set of parameters, with constraints on them that are known in advance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from becbo.arrays import Array, Mask
from becbo.errors import InvalidInput
from becbo.mixtures import Mixtures, Total
from becbo.parameters import Categorical, Integer, Parameter, Real, finite_number

__all__ = [
    "Categorical",
    "Constraint",
    "Integer",
    "LinearConstraint",
    "Parameter",
    "Real",
    "Space",
]


@dataclass(frozen=True)
class LinearConstraint:
    """lower <= sum of coefficient * parameter <= upper, over Real and Integer parameters.

    With `equals` instead, a mixture: every proposal adds up, exactly in the steps of the
    parameters, and to nine digits if one of them is continuous.

    Args:
        coefficients: the factor of each parameter, by name.
        upper: the largest sum allowed.
        lower: the smallest sum allowed.
        equals: the sum itself, instead of bounds.

    Raises:
        InvalidInput: if a number or the bounds cannot be used.

    Examples:
        >>> LinearConstraint({"resin": 1, "solvent": 1, "filler": 1}, equals=100)
    """

    coefficients: Mapping[str, float]
    upper: float = math.inf
    lower: float = -math.inf
    equals: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise InvalidInput(
                f"a linear constraint needs a dict of name: number, got {self.coefficients!r}"
            )
        for name, c in self.coefficients.items():
            finite_number(f"linear constraint: coefficient of {name!r}", c, "a finite number")
        if self.equals is not None:
            if math.isfinite(self.lower) or math.isfinite(self.upper):
                raise InvalidInput("linear constraint: give either equals, or lower and upper")
            total = finite_number("linear constraint: equals", self.equals, "a finite number")
            for end in ("lower", "upper"):
                object.__setattr__(self, end, total)
        for end in ("lower", "upper"):
            if not isinstance(getattr(self, end), int | float | np.number):
                raise InvalidInput(
                    f"linear constraint: {end} {getattr(self, end)!r} is not a number"
                )
        if not any(self.coefficients.values()):
            raise InvalidInput("linear constraint: all coefficients are 0")
        if math.isinf(self.lower) and math.isinf(self.upper):
            raise InvalidInput("linear constraint: give upper, lower or both, or equals")
        if not self.lower <= self.upper:
            raise InvalidInput(f"linear constraint: lower {self.lower} is above upper {self.upper}")

    @property
    def is_total(self) -> bool:
        """Whether the sum is to be one number."""
        return self.lower == self.upper

    def __call__(self, params: Mapping[str, Any]) -> bool:
        """Whether `params` satisfy it."""
        terms: list[float] = [c * params[name] for name, c in self.coefficients.items()]
        total = math.fsum(terms)
        is_exact = all(isinstance(params[name], int) for name in self.coefficients)
        # It forgives 0.1 + 0.2 > 0.3; continuous ingredients have twelve digits each.
        slip = (1e-9 if self.is_total and not is_exact else 1e-15) * sum(map(abs, terms))
        return self.lower - slip <= total <= self.upper + slip


Constraint = Callable[[Mapping[str, Any]], bool]


class Space:
    """An ordered set of parameters, with constraints on them that are known in advance.

    A constraint is a `LinearConstraint` or any callable of the params dict that returns
    whether the design is allowed. No proposal ever violates one.

    Attributes:
        mixtures: the parameters that have to add up; None if there are none.

    Args:
        parameters: `Real`, `Integer` and `Categorical` parameters, in order.
        constraints: what every proposal has to satisfy.

    Raises:
        InvalidInput: if a parameter or constraint cannot be used.

    Examples:
        >>> ranges = [Real("pressure", 1, 200, log=True), Categorical("alloy", ["A", "B"])]
        >>> space = Space(ranges, constraints=[lambda p: p["alloy"] == "A" or p["pressure"] < 50])
    """

    def __init__(
        self, parameters: Sequence[Parameter], constraints: Sequence[Constraint] = ()
    ) -> None:
        for what, given in (("parameters", parameters), ("constraints", constraints)):
            if not isinstance(given, Iterable):
                raise InvalidInput(f"a space takes a list of {what}, got {given!r}")
        self.parameters = tuple(parameters)
        self.constraints = tuple(constraints)
        if not self.parameters:
            raise InvalidInput("a space needs at least one parameter")
        for parameter in self.parameters:
            if not isinstance(parameter, Parameter):
                raise InvalidInput(f"{parameter!r} is not a Real, Integer or Categorical")
        names = [p.name for p in self.parameters]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(f"parameter {twice!r} is defined twice")
        self.names = tuple(names)
        ends = np.cumsum([p.width for p in self.parameters]).tolist()
        self.columns = tuple(
            slice(end - p.width, end) for p, end in zip(self.parameters, ends, strict=True)
        )
        self.dim: int = ends[-1]  # columns of the unit cube
        counts = [p.n_values for p in self.parameters]
        self.size = math.inf if math.inf in counts else math.prod(counts)
        for constraint in self.constraints:
            self._check_constraint(constraint)
        self.mixtures = self._mixtures({})

    def __repr__(self) -> str:
        return f"Space({list(self.parameters)!r}, constraints={list(self.constraints)!r})"

    def validate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """`params` in order and in their own types, or an error that names what is wrong.

        Args:
            params: a value for every parameter, by name.

        Returns:
            The same design as the space stores it.

        Raises:
            InvalidInput: if a parameter is missing, unknown or out of range.
        """
        if not isinstance(params, Mapping):
            raise InvalidInput(f"params must be a dict of name: value, got {params!r}")
        missing = [name for name in self.names if name not in params]
        unknown = [name for name in params if name not in self.names]
        if missing or unknown:
            parts = [f"missing {missing}"] * bool(missing) + [f"unknown {unknown}"] * bool(unknown)
            raise InvalidInput(f"params have {' and '.join(parts)}; expected {list(self.names)}")
        return {p.name: p.check(params[p.name]) for p in self.parameters}

    def encode(self, rows: Sequence[Mapping[str, Any]]) -> Array:  # (n, dim)
        """Validated params to points of the unit cube.

        Args:
            rows: n designs, as `validate` returns them.

        Returns:
            Points (n, dim).
        """
        X = [[u for p in self.parameters for u in p.encode(row[p.name])] for row in rows]
        return np.array(X, dtype=float).reshape(len(rows), self.dim)

    def decode(self, X: Array) -> list[dict[str, Any]]:  # (n, dim)
        """Points of the unit cube to params a user can set; ingredients of a mixture add up.

        Args:
            X: points (n, dim).

        Returns:
            n designs.
        """
        X = X if self.mixtures is None else self.snap(X)
        pairs = list(zip(self.parameters, self.columns, strict=True))
        return [{p.name: p.decode(row[cols]) for p, cols in pairs} for row in X.tolist()]

    def snap(self, X: Array) -> Array:  # (n, dim) -> (n, dim)
        """Columns moved to settable values; those of a mixture to values that add up."""
        return self.rounded(X if self.mixtures is None else self.mixtures.settle(X))

    def rounded(self, X: Array) -> Array:  # (n, dim) -> (n, dim)
        """Columns moved to settable values one by one, see `Real.snap`."""
        pairs = zip(self.parameters, self.columns, strict=True)
        return np.hstack([p.snap(X[:, cols]) for p, cols in pairs])

    def options(self) -> list[tuple[slice, Array | None]]:
        """Per grid or categorical parameter: its columns and, if few, all its values."""
        pairs = zip(self.parameters, self.columns, strict=True)
        return [(cols, p.options()) for p, cols in pairs if math.isfinite(p.n_values)]

    def is_allowed(self, params: Mapping[str, Any]) -> bool:
        """Whether the known constraints hold for validated params.

        Args:
            params: a design, as `validate` returns it.

        Returns:
            Whether it satisfies all of them.
        """
        try:
            return all(constraint(params) for constraint in self.constraints)
        except Exception as error:
            error.add_note(f"raised by a known constraint of the space, for {dict(params)}")
            raise

    def allowed(self, X: Array) -> Mask:  # (n,)
        """Whether the known constraints hold at what each point decodes to."""
        if not self.constraints:
            return np.ones(len(X), dtype=bool)
        A, b = self.polytope()
        slip = 1e-9 * (np.abs(A).sum(axis=1) + np.abs(b))  # the last digits are decided below
        allowed: Mask = np.all(self.snap(X) @ A.T <= b + slip, axis=1)
        allowed[allowed] = [self.is_allowed(params) for params in self.decode(X[allowed])]
        return allowed

    def polytope(self) -> tuple[Array, Array]:  # (m, dim), (m,)
        """The linear constraints as A u <= b on the unit cube.

        A total with a logarithmic parameter is not linear there. It bounds the other members.
        """
        rows, bounds = [], []
        for constraint in self.constraints:
            if isinstance(constraint, LinearConstraint):
                a, least, most = self._affine(constraint)
                rows += [a, -a]
                bounds += [constraint.upper - least, most - constraint.lower]
        keep = [i for i, bound in enumerate(bounds) if math.isfinite(bound)]
        A = np.array([rows[i] for i in keep]).reshape(len(keep), self.dim)
        return A, np.array([bounds[i] for i in keep])

    def _affine(self, constraint: LinearConstraint) -> tuple[Array, float, float]:
        """Coefficients in unit-cube columns; the least and the most that is added to them."""
        a, least, most = np.zeros(self.dim), 0.0, 0.0
        for p, cols in zip(self.parameters, self.columns, strict=True):
            if (c := constraint.coefficients.get(p.name)) is not None:
                assert not isinstance(p, Categorical)
                step = p.step or 0.0  # a grid value lies in the middle of its cell
                if p.log:
                    ends = sorted((c * p.low, c * p.high))
                    least += ends[0] - 1e-9 * abs(ends[0])  # rounding must not exclude a bound
                    most += ends[1] + 1e-9 * abs(ends[1])
                else:
                    a[cols] = c * (p.n_values * step if step else p.high - p.low)
                    least += c * (p.low - step / 2)
                    most += c * (p.low - step / 2)
        return a, least, most

    def _mixtures(self, fixed: Mapping[str, float]) -> Mixtures | None:
        """The totals, if there are any; some parameters may have one value only."""
        totals = []
        for constraint in self.constraints:
            if isinstance(constraint, LinearConstraint) and constraint.is_total:
                members = {
                    p: (cols.start, constraint.coefficients[p.name])
                    for p, cols in zip(self.parameters, self.columns, strict=True)
                    if constraint.coefficients.get(p.name) and not isinstance(p, Categorical)
                }
                columns, coefficients = zip(*members.values(), strict=True)
                known = {p.name: fixed[p.name] for p in members if p.name in fixed}
                total = Total(tuple(members), columns, coefficients, constraint.upper, known)
                totals.append(total)
        return Mixtures(totals) if totals else None

    def _check_constraint(self, constraint: Constraint) -> None:
        if not callable(constraint):
            raise InvalidInput(
                f"constraint {constraint!r} is neither a LinearConstraint nor a callable of params"
            )
        if not isinstance(constraint, LinearConstraint):
            return
        kinds = dict(zip(self.names, self.parameters, strict=True))
        for name in constraint.coefficients:
            p = kinds.get(name)
            if p is None:
                raise InvalidInput(
                    f"linear constraint on unknown parameter {name!r}; expected {list(self.names)}"
                )
            if isinstance(p, Categorical) or (p.log and not constraint.is_total):
                raise InvalidInput(
                    f"linear constraint on {name!r}: it must be a Real or Integer without log; "
                    "use a callable constraint instead"
                )
