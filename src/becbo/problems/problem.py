"""What a benchmark problem is: a box, an objective, named slacks, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from becbo.errors import Infeasible, InvalidInput
from becbo.space import Categorical, Parameter, Real, Space

Array = NDArray[np.float64]
Objective = Callable[[Array], Array]  # (n, d) -> (n,)
Slacks = Callable[[Array], dict[str, Array]]  # (n, d) -> (n,) per constraint, in order


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Minimise `objective` where every slack is finite and >= 0.

    Arrays hold natural units, one column per parameter; of a categorical parameter, the index
    of the choice.
    """

    name: str
    variant: str
    space: Space
    objective_formula: Objective = field(repr=False)
    slack_formulas: Slacks = field(repr=False)
    optimum: float  # best feasible value known
    optimizers: tuple[tuple[float, ...], ...] = field(repr=False)  # where it is attained
    active: tuple[int, ...]  # constraints (from 0) active at the first of them
    feasibility_ratio: float | None  # feasible share of the box; None: too small to sample
    paper_value: float | None = None  # optimum in the paper's table; synthetic: in its code
    notes: str = field(repr=False)

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return len(self.space.names)

    @property
    def constraints(self) -> tuple[str, ...]:
        """The constraints in words, in the order of the slacks."""
        return tuple(self._named_slacks(np.array(self.optimizers[:1])))

    def objective(self, X: Array) -> Array:  # (n, d) -> (n,)
        """Values to minimise, also where the design is infeasible (there possibly NaN)."""
        X = self._points(X)
        with _outside_the_domain():
            return self.objective_formula(X)

    def slacks(self, X: Array) -> Array:  # (n, d) -> (n, m)
        """Distance from violation per constraint: feasible where finite and >= 0."""
        return np.column_stack(list(self._named_slacks(X).values()))

    def feasible(self, X: Array) -> NDArray[np.bool_]:  # (n, d) -> (n,)
        """Whether every constraint holds."""
        return np.asarray(_holds(self.slacks(X)).all(axis=1))

    def from_unit(self, U: Array) -> Array:  # (n, d) -> (n, d)
        """Designs at points of the unit cube, where discrete values own cells of equal width."""
        columns = zip(self.space.parameters, self._points(U).T, strict=True)
        return np.column_stack([_spread(p, u) for p, u in columns])

    def encode(self, X: Array) -> Array:  # (n, d) -> (n, space.dim)
        """Designs as models see them: in the unit cube, with a column for each choice."""
        parameters = self.space.parameters
        rows = [map(_value, parameters, x) for x in self._points(X).tolist()]
        return self.space.encode([dict(zip(self.space.names, row, strict=True)) for row in rows])

    def __call__(self, params: Mapping[str, Any]) -> float:
        """One experiment: its value, or `Infeasible` naming the violated constraints."""
        valid = self.space.validate(params)
        X = np.array([[_entry(p, valid[p.name]) for p in self.space.parameters]])
        violated = [name for name, slack in self._named_slacks(X).items() if not _holds(slack)[0]]
        if violated:
            raise Infeasible("violated: " + ", ".join(violated))
        return float(self.objective(X)[0])

    def _named_slacks(self, X: Array) -> dict[str, Array]:
        X = self._points(X)
        with _outside_the_domain():
            return self.slack_formulas(X)

    def _points(self, X: Array) -> Array:
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.dim:
            raise InvalidInput(f"{self.name}: X has shape {X.shape}, expected (n, {self.dim})")
        return X


def box(**bounds: tuple[float, float]) -> Space:
    """A space of real parameters, name=(low, high)."""
    return Space([Real(name, low, high) for name, (low, high) in bounds.items()])


def series(name: str, n: int, low: float, high: float) -> dict[str, tuple[float, float]]:
    """The bounds of name1 .. name<n>, for `box`."""
    return {f"{name}{i}": (low, high) for i in range(1, n + 1)}


def _entry(parameter: Parameter, value: Any) -> float:
    """A checked value as arrays hold it."""
    if isinstance(parameter, Categorical):
        return parameter.choices.index(value)
    return float(value)


def _value(parameter: Parameter, entry: float) -> Any:
    """The value that an entry of an array stands for."""
    return parameter.choices[int(entry)] if isinstance(parameter, Categorical) else entry


def _spread(parameter: Parameter, u: Array) -> Array:  # (n,) -> (n,)
    """Values of a parameter at shares of its range."""
    if isinstance(parameter, Real) and parameter.step is None:
        return np.asarray(parameter.low + u * (parameter.high - parameter.low))
    index = np.minimum(np.floor(u * parameter.n_values), parameter.n_values - 1)
    if isinstance(parameter, Categorical):
        return np.asarray(index)
    return np.asarray(parameter.low + index * parameter.step)


def _holds(slacks: Array) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(slacks) & (slacks >= 0))


def _outside_the_domain() -> np.errstate:
    """Silence for corners of a box where a formula divides by zero or takes acos(1.2).

    Nothing is lost: the slack there is not finite, which means infeasible.
    """
    return np.errstate(divide="ignore", invalid="ignore", over="ignore")
