"""What a benchmark problem is: a box, objectives, named slacks, and what is known about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from becbo.arrays import Array, Mask
from becbo.errors import Infeasible, InvalidInput
from becbo.space import Categorical, Parameter, Real, Space

Formula = Callable[[Array], Array]  # (n, d) -> (n,)
Formulas = Callable[[Array], dict[str, Array]]  # (n, d) -> (n,) per name, in order


@dataclass(frozen=True, kw_only=True)
class ConstrainedProblem(ABC):
    """Objectives to minimise where every slack is finite and >= 0.

    Arrays hold natural units, one column per parameter; for a categorical parameter, the index
    of the choice.
    """

    name: str
    variant: str
    space: Space
    slack_formulas: Formulas = field(repr=False)
    feasibility_ratio: float | None  # feasible share of the box; None: too small to sample
    notes: str = field(repr=False)

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return len(self.space.names)

    @cached_property
    def objective_names(self) -> tuple[str, ...]:
        """The names of the objectives, in the order of the columns of `objectives`."""
        return tuple(self._named_objectives(self._centre()))

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """The names of the constraints, in the order of the columns of `slacks`."""
        return tuple(self._named_slacks(self._centre()))

    @property
    @abstractmethod
    def best_known(self) -> str:
        """What the best feasible designs known attain, in words."""

    def objectives(self, X: Array) -> Array:  # (n, d) -> (n, m)
        """Values to minimise, also where the design is infeasible (there possibly NaN)."""
        return np.column_stack(list(self._named_objectives(X).values()))

    def slacks(self, X: Array) -> Array:  # (n, d) -> (n, k)
        """Distance from violation per constraint: feasible where finite and >= 0."""
        return np.column_stack(list(self._named_slacks(X).values()))

    def feasible(self, X: Array) -> Mask:  # (n, d) -> (n,)
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

    def measure(self, params: Mapping[str, Any]) -> dict[str, float]:
        """One experiment in which everything is measured, also where the design is infeasible.

        Args:
            params: The design, a value per parameter.

        Returns:
            The value of every objective, and the slack of every constraint, which has to be at
            least 0. What is not finite could not be measured and is left out.
        """
        X = self._design(params)
        columns = self._named_objectives(X) | self._named_slacks(X)
        return {name: float(v[0]) for name, v in columns.items() if np.isfinite(v[0])}

    @abstractmethod
    def _formulas(self, X: Array) -> dict[str, Array]:  # (n, d) -> (n,) per objective
        """The objectives by name."""

    def _named_objectives(self, X: Array) -> dict[str, Array]:
        X = self._points(X)
        with _outside_the_domain():
            return self._formulas(X)

    def _named_slacks(self, X: Array) -> dict[str, Array]:
        X = self._points(X)
        with _outside_the_domain():
            return self.slack_formulas(X)

    def _feasible_objectives(self, params: Mapping[str, Any]) -> dict[str, float]:
        """The objectives of one design, or `Infeasible` naming the violated constraints."""
        X = self._design(params)
        violated = [name for name, slack in self._named_slacks(X).items() if not _holds(slack)[0]]
        if violated:
            raise Infeasible("violated: " + ", ".join(violated))
        return {name: float(values[0]) for name, values in self._named_objectives(X).items()}

    def _design(self, params: Mapping[str, Any]) -> Array:  # (1, d)
        valid = self.space.validate(params)
        return np.array([[_entry(p, valid[p.name]) for p in self.space.parameters]])

    def _centre(self) -> Array:  # (1, d)
        return self.from_unit(np.full((1, self.dim), 0.5))

    def _points(self, X: Array) -> Array:
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.dim:
            raise InvalidInput(f"{self.name}: X has shape {X.shape}, expected (n, {self.dim})")
        return X


@dataclass(frozen=True, kw_only=True)
class Problem(ConstrainedProblem):
    """A problem with one objective, called "value", and a known optimum."""

    objective_formula: Formula = field(repr=False)
    optimum: float  # best feasible value known
    optimizers: tuple[tuple[float, ...], ...] = field(repr=False)  # where it is attained
    active: tuple[int, ...]  # constraints (from 0) active at the first of them
    paper_value: float | None = None  # optimum in the paper's table; synthetic: in its code

    @property
    def best_known(self) -> str:
        """The best known value in words."""
        return f"{self.optimum:.7g}"

    def objective(self, X: Array) -> Array:  # (n, d) -> (n,)
        """Values to minimise, also where the design is infeasible (there possibly NaN)."""
        return self._named_objectives(X)["value"]

    def __call__(self, params: Mapping[str, Any]) -> float:
        """One experiment: its value, or `Infeasible` naming the violated constraints."""
        return self._feasible_objectives(params)["value"]

    def _formulas(self, X: Array) -> dict[str, Array]:
        return {"value": self.objective_formula(X)}


@dataclass(frozen=True, kw_only=True)
class ParetoProblem(ConstrainedProblem):
    """A problem with several objectives and the best known hypervolume of its Pareto front.

    The best known is a lower bound: what 2 x 50,000 evaluations of NSGA-II (pymoo) and 200,000
    random designs reach together, unless the notes say otherwise.
    """

    objective_formulas: Formulas = field(repr=False)
    reference: tuple[float, ...]  # the corner that hypervolumes are measured from
    hypervolume: float  # best known

    @property
    def best_known(self) -> str:
        """The best known hypervolume in words."""
        return f"hypervolume {self.hypervolume:.5g}"

    def __call__(self, params: Mapping[str, Any]) -> dict[str, float]:
        """One experiment: its objectives, or `Infeasible` naming the violated constraints."""
        return self._feasible_objectives(params)

    def _formulas(self, X: Array) -> dict[str, Array]:
        return self.objective_formulas(X)


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


def _holds(slacks: Array) -> Mask:
    return np.asarray(np.isfinite(slacks) & (slacks >= 0))


def _outside_the_domain() -> np.errstate:
    """Silence for corners of a box where a formula divides by zero or takes acos(1.2).

    Nothing is lost: the slack there is not finite, which means infeasible.
    """
    return np.errstate(divide="ignore", invalid="ignore", over="ignore")
