"""Is the optimum at the edge? Active constraints at the optima of the benchmark problems.

Two answers per problem: at the best design known, and at one found from scratch by differential
evolution, refined by SLSQP.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import differential_evolution, minimize

from becbo.arrays import Array
from becbo.bench.table import Table
from becbo.problems import PAPER, Problem, get_single

# The column g* of the paper's table: active constraints at the optimum.
PAPER_ACTIVE = {
    "three_bar_truss": 1,
    "spring": 2,
    "welded_beam": 1,
    "gas_transmission": 1,
    "pressure_vessel": 2,
    "speed_reducer": 2,
    "planetary_gear": 1,
    "rolling_bearing": 3,
    "cantilever_beam": 1,
}

_ACTIVE = 1e-5  # of the usual slack: as good as zero
_AT_BOUND = 1e-6  # of the range of a parameter
_ROUNDING = 1e-9  # of the usual slack: violated by rounding only
_N_RANDOM = 10_000  # designs that tell what is usual
_N_STARTS, _GENERATIONS = 3, 600
_POPULATION = 20, 100, 300  # of a start: members per dimension, at least, at most


@dataclass(frozen=True)
class Scale:
    """What is usual in a problem, so that slacks and values can be compared with it."""

    low: Array  # (d,) of the box
    width: Array  # (d,)
    slack: Array  # (m,) typical size
    value: float  # spread

    def natural(self, U: Array) -> Array:  # (n, d) -> (n, d)
        """Points of the unit cube in natural units."""
        return np.asarray(self.low + U * self.width)


@dataclass(frozen=True)
class Optimum:
    """A best design: its value and the constraints and bounds it touches."""

    x: Array  # (d,)
    value: float
    active: tuple[str, ...]  # constraints
    n_bounds: int  # parameters at an end of their range


@dataclass(frozen=True)
class Row:
    """One problem: the best design known and the best one found."""

    problem: str
    dim: int
    n_constraints: int
    known: Optimum
    found: Optimum
    paper_active: int | None  # None: not in the paper's table


def rows(problems: Iterable[str] = PAPER, seed: int = 0) -> list[Row]:
    """One row per problem; some seconds each."""
    return [_row(get_single(name), seed) for name in problems]


def boundary_table(problems: Iterable[str] = PAPER, seed: int = 0) -> Table:
    """The rows in words."""
    header = (
        "problem",
        "d",
        "g",
        "optimum",
        "found",
        "active constraints",
        "g*",
        "g* found",
        "g* in the paper",
        "parameters at a bound",
        "at the edge",
    )
    return Table(header, tuple(_cells(row) for row in rows(problems, seed)), ())


def scale_of(problem: Problem) -> Scale:
    """Measured on random designs."""
    low, high = np.array([[p.low, p.high] for p in problem.space.parameters]).T  # type: ignore[union-attr]
    X = low + np.random.default_rng(0).random((_N_RANDOM, problem.dim)) * (high - low)
    slacks = np.abs(problem.slacks(X))
    usual = np.nanmedian(np.where(np.isfinite(slacks), slacks, np.nan), axis=0)
    values = problem.objective(X)
    return Scale(low, high - low, usual, float(values[np.isfinite(values)].std()))


def describe(problem: Problem, scale: Scale, x: Array) -> Optimum:  # (d,)
    """What a design touches."""
    slacks = problem.slacks(x[None])[0] / scale.slack
    u = (x - scale.low) / scale.width
    active = tuple(
        name for name, s in zip(problem.constraints, slacks, strict=True) if s <= _ACTIVE
    )
    n_bounds = int(((u < _AT_BOUND) | (u > 1 - _AT_BOUND)).sum())
    return Optimum(x, float(problem.objective(x[None])[0]), active, n_bounds)


def search(problem: Problem, scale: Scale, seed: int = 0) -> Array:  # (d,)
    """The best design from scratch: evolution from several starts, SLSQP for the last digits."""
    rng = np.random.default_rng(seed)
    evolved = [_evolve(problem, scale, rng) for _ in range(_N_STARTS)]
    U = np.array([*evolved, *(_refine(problem, scale, u) for u in evolved)])
    return np.asarray(scale.natural(U[np.argmin(penalised(problem, scale, U))]))


def _evolve(problem: Problem, scale: Scale, rng: np.random.Generator) -> Array:  # (d,)
    per_dimension, least, most = _POPULATION
    size = int(np.clip(per_dimension * problem.dim, least, most))
    result = differential_evolution(
        lambda U: penalised(problem, scale, U.T),
        [(0.0, 1.0)] * problem.dim,
        maxiter=_GENERATIONS,
        init=rng.random((size, problem.dim)),
        rng=rng,
        polish=False,
        vectorized=True,
        updating="deferred",
        tol=1e-8,
    )
    return np.asarray(result.x)


def _refine(problem: Problem, scale: Scale, u: Array) -> Array:  # (d,) -> (d,)
    result = minimize(
        lambda u: problem.objective(scale.natural(u[None]))[0] / scale.value,
        u,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * problem.dim,
        constraints={
            "type": "ineq",
            "fun": lambda u: problem.slacks(scale.natural(u[None]))[0] / scale.slack,
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(np.clip(result.x, 0.0, 1.0))


def penalised(problem: Problem, scale: Scale, U: Array) -> Array:  # (n, d) -> (n,)
    """The value where a design works; elsewhere more than any value, by how much it fails."""
    X = scale.natural(U)
    slacks = np.nan_to_num(problem.slacks(X) / scale.slack, nan=-1e3, posinf=-1e3, neginf=-1e3)
    violation = np.maximum(-slacks - _ROUNDING, 0).sum(axis=1)
    value = np.arctan(problem.objective(X) / scale.value)  # between -pi/2 and pi/2
    return np.where(violation > 0, 2 + violation, value)


def _row(problem: Problem, seed: int) -> Row:
    scale = scale_of(problem)
    known = describe(problem, scale, np.array(problem.optimizers[0]))
    found = describe(problem, scale, search(problem, scale, seed))
    n_constraints = len(problem.constraints)
    paper_active = PAPER_ACTIVE.get(problem.name)
    return Row(problem.name, problem.dim, n_constraints, known, found, paper_active)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.problem,
        str(row.dim),
        str(row.n_constraints),
        f"{row.known.value:.7g}",
        f"{row.found.value:.7g}",
        ", ".join(row.known.active) or "none",
        str(len(row.known.active)),
        str(len(row.found.active)),
        "-" if row.paper_active is None else str(row.paper_active),
        str(row.known.n_bounds),
        "yes" if row.known.active else "no",
    )
