"""What a method believed in the course of a run, computed again from its record.

Models are fitted by the method's own `fit` to the first n evaluations. A record holds seven
digits of each parameter and the random numbers of an ensemble are drawn anew, so beliefs are
those of the run up to that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from becbo.arrays import Array
from becbo.bench.plan import make_proposer
from becbo.bench.records import Record
from becbo.bench.summary import values
from becbo.data import Dataset, dataset
from becbo.models.base import Models
from becbo.outputs import Outputs
from becbo.problems import Problem, get_single
from becbo.proposers.base import Proposer
from becbo.proposers.boundary import Boundary
from becbo.threads import one_thread
from becbo.trial import Result, Trial

if TYPE_CHECKING:
    from becbo.plots.landscape import Landscape


GRID = 121  # points per side of a landscape
_N_DRAWS = 64  # of a band, to see all there are
_OUTPUTS = Outputs.of("minimize")


@dataclass(frozen=True)
class Beliefs:
    """What models say about m points; values are minimised."""

    objective: Array | None  # (m,) None: nothing has worked
    p_feasible: Array  # (m,)
    bound: Array | None  # (m,) at least 0 where the method may search; None: it has no such limit


def fit(record: Record, n: int) -> tuple[Proposer, Models]:
    """The method of a run, and its models of the first n evaluations."""
    proposer = make_proposer(record.run, budget=record.run.budget)
    with one_thread():
        return proposer, proposer.fit(history(record, n), generator(record, n))


def generator(record: Record, n: int) -> np.random.Generator:
    """For whatever is random after n evaluations."""
    return np.random.default_rng((record.run.seed, n))


def history(record: Record, n: int) -> Dataset:
    """The first n evaluations of a run."""
    space = problem_of(record).space
    trials = [
        Trial(i, dict(zip(space.names, x, strict=True)), _result(y))
        for i, (x, y) in enumerate(zip(record.x[:n], values(record)[:n].tolist(), strict=True))
    ]
    return dataset(trials, space, _OUTPUTS)


def _result(value: float) -> Result:
    return Result.failed() if np.isnan(value) else Result.ok({"value": value})


def beliefs(record: Record, n: int, U: Array) -> Beliefs:  # (m, d)
    """What the method said after n evaluations about points of the unit cube."""
    proposer, models = fit(record, n)
    with one_thread():
        regressor = models.objectives[0]
        objective = None if regressor is None else -regressor.predict(U)[0]
        return Beliefs(objective, models.chance(U), _bound(proposer, models, U))


def _bound(proposer: Proposer, models: Models, U: Array) -> Array | None:  # (m, d) -> (m,)
    """The slack of the band; where it is drawn anew for each proposal, of all bands together."""
    if not isinstance(proposer, Boundary):
        return None
    rng = np.random.default_rng(0)
    bands = {proposer.band.draw(U.shape[1], rng) for _ in range(_N_DRAWS)}
    return np.asarray(np.max([band.slack(models.feasibility, U) for band in bands], axis=0))


def problem_of(record: Record) -> Problem:
    """The problem of a run, in the variant that was run."""
    return get_single(record.run.problem, record.variant)


def truth(problem: Problem, n_grid: int = GRID) -> Landscape:
    """The problem itself: its value, its edge and its best designs."""
    from becbo.plots.landscape import Landscape

    X = problem.from_unit(_grid(n_grid))
    return Landscape(
        x=X[:n_grid, 0],
        y=X[::n_grid, 1],
        p_feasible=None,
        points=np.empty((0, 2)),
        worked=np.empty(0, dtype=bool),
        objective=problem.objective(X).reshape(n_grid, n_grid),
        slack=problem.slacks(X).min(axis=1).reshape(n_grid, n_grid),
        optima=np.array(problem.optimizers),
        title=f"{problem.name}, in truth\nbest possible {problem.optimum:.4f}",
    )


def snapshot(record: Record, n: int, n_grid: int = GRID) -> Landscape:
    """The state of a run after n evaluations, next to the truth."""
    believed = beliefs(record, n, _grid(n_grid))

    def on_grid(column: Array | None) -> Array | None:
        return None if column is None else column.reshape(n_grid, n_grid)

    X, y = np.array(record.x[:n]), values(record)[:n]
    worked = ~np.isnan(y)
    best = int(np.nanargmin(y)) if worked.any() else None
    return replace(
        truth(problem_of(record), n_grid),
        p_feasible=on_grid(believed.p_feasible),
        objective=on_grid(believed.objective),
        bound=on_grid(believed.bound),
        points=X,
        worked=worked,
        best=None if best is None else X[best],
        n_initial=record.n_initial,
        title=f"{record.run.label} after {n} evaluations\n"
        f"best {'none' if best is None else f'{y[best]:.4f}'}, {(~worked).sum()} failed",
    )


def _grid(n_grid: int) -> Array:  # (n_grid^2, 2)
    """A regular grid on the unit square, row by row."""
    side = np.linspace(0, 1, n_grid)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
