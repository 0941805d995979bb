"""The history as arrays: designs in the unit cube, outputs, what worked and why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from becbo.arrays import Array, Indices, Mask
from becbo.outputs import Output, Outputs
from becbo.reasons import Reasons, recurring
from becbo.space import Space
from becbo.trial import MAX_LOSSES, Outcome, Trial

Rows = slice | Indices
_CLOSE = 0.01  # of the range of every parameter


@dataclass(frozen=True)
class Causes:
    """What is known of why n experiments failed."""

    kinds: Mask  # (n, k) which failures were for which recurring reason
    complete: Mask  # (n,) failures whose reasons are all that was wrong
    broken: Mask  # (n, l) failures for which a limit was named without a measured value

    def take(self, rows: Rows) -> Causes:
        """The causes of some experiments."""
        return Causes(self.kinds[rows], self.complete[rows], self.broken[rows])


@dataclass(frozen=True)
class Dataset:
    """Finished experiments.

    Attributes:
        X: designs in the unit cube (n, d).
        Y: what was measured (n, m), NaN where an output was not; a column per output as
            `Output.orient` turns it: objectives are to be maximised.
        worked: which experiments worked (n,).
        outputs: what the columns of Y are.
        causes: why the others did not.
        stated: the chance to work that was stated of a proposal of models (n,); NaN of others.
        corrected: which of these chances were corrected for the optimism of a choice (n,).
    """

    X: Array
    Y: Array
    worked: Mask
    outputs: Outputs
    causes: Causes
    stated: Array
    corrected: Mask

    @property
    def y(self) -> Array:  # (n,)
        """The only objective, to be maximised; NaN where it was not measured."""
        return self.Y[:, 0]

    @cached_property
    def gains(self) -> Array:  # (n, k)
        """The objectives, to be maximised; NaN where they were not measured."""
        columns = [
            self.Y[:, i] if objective.target is None else -np.abs(self.Y[:, i])
            for i, objective in enumerate(self.outputs.objectives)
        ]
        return np.column_stack(columns)

    @cached_property
    def beyond(self) -> Mask:  # (n, l)
        """Which limits were measured and found broken."""
        limits = self.outputs.limits
        first = len(self.outputs.objectives)
        values = self.Y[:, first : first + len(limits)]
        bounds = np.array([limit.bounds for limit in limits]).reshape(-1, 2)
        return np.asarray((values < bounds[:, 0]) | (values > bounds[:, 1]))

    @property
    def proposed(self) -> Mask:  # (n,)
        """Which designs the models had proposed."""
        return ~np.isnan(self.stated)

    @cached_property
    def kept(self) -> Mask:  # (n,)
        """Which experiments worked and broke no limit that was measured."""
        return np.asarray(self.worked & ~self.beyond.any(axis=1))

    @cached_property
    def acceptable(self) -> Mask:  # (n,)
        """Which experiments worked, kept their limits and have a value for every objective."""
        is_measured = ~np.isnan(self.gains).any(axis=1)
        return np.asarray(self.kept & is_measured)

    @cached_property
    def unexplained(self) -> Mask:  # (n,)
        """Which failures no measured or named limit explains."""
        explained = self.beyond.any(axis=1) | self.causes.broken.any(axis=1)
        return np.asarray(~self.worked & (~explained | self.causes.kinds.any(axis=1)))

    def take(self, rows: Rows) -> Dataset:
        """Some of the experiments, in the order of `rows`."""
        return Dataset(
            self.X[rows],
            self.Y[rows],
            self.worked[rows],
            self.outputs,
            self.causes.take(rows),
            self.stated[rows],
            self.corrected[rows],
        )

    def head(self, n: int) -> Dataset:
        """The first n experiments."""
        return self.take(slice(n))

    def measured(self, column: int) -> tuple[Array, Array]:  # (k, d), (k,)
        """The designs at which an output was measured, and its values."""
        rows = ~np.isnan(self.Y[:, column])
        return self.X[rows], self.Y[rows, column]


def dataset(trials: Sequence[Trial], space: Space, outputs: Outputs) -> Dataset:
    """Turns finished trials into arrays.

    Args:
        trials: in order of their numbers; lost and pending ones say nothing and are left out.
        space: what was set.
        outputs: what was measured.

    Returns:
        The finished experiments, in order.
    """
    done = [t for t in trials if t.outcome.is_answer]
    rows = [
        [_oriented(output, trial.values.get(output.name)) for output in outputs] for trial in done
    ]
    Y = np.array(rows, dtype=float).reshape(len(done), len(outputs.names))
    worked = np.array([t.outcome is Outcome.OK for t in done], dtype=bool)
    X = space.encode([t.params for t in done])
    believed = [t.believed for t in done]
    stated = np.array([np.nan if b is None else b.p_feasible for b in believed], dtype=float)
    corrected = np.array([b is not None and b.optimism > 0.0 for b in believed], dtype=bool)
    return Dataset(X, Y, worked, outputs, _causes(done, Y, outputs), stated, corrected)


def _oriented(output: Output, value: float | None) -> float:
    return np.nan if value is None else output.orient(value)


def _causes(done: Sequence[Trial], Y: Array, outputs: Outputs) -> Causes:
    """Limits that were measured at least once explain the failures that name them."""
    given = [t.result.reasons if t.outcome is Outcome.FAILED else Reasons() for t in done]
    first = len(outputs.objectives)
    is_measured = ~np.isnan(Y[:, first : first + len(outputs.limits)])  # (n, l)
    one_sided = [np.isinf(limit.bounds).any() for limit in outputs.limits]
    modelled = is_measured.any(axis=0) & np.array(one_sided, dtype=bool)
    names = [limit.name for limit, has in zip(outputs.limits, modelled, strict=True) if has]
    named = [[reasons.mentions(limit.name) for limit in outputs.limits] for reasons in given]
    broken = np.array(named, dtype=bool).reshape(is_measured.shape) & modelled & ~is_measured
    _, kinds = recurring([reasons.without(names) for reasons in given])
    return Causes(
        np.array(kinds, dtype=bool).reshape(len(done), -1 if done else 0),
        np.array([reasons.complete for reasons in given], dtype=bool),
        broken,
    )


def pending_points(trials: Sequence[Trial], space: Space) -> Array:  # (p, d)
    """Designs that are out for evaluation, and those given up, which stay so."""
    pending = space.encode([t.params for t in trials if t.outcome is Outcome.PENDING])
    return np.vstack([pending, given_up(trials, space)])


def given_up(trials: Sequence[Trial], space: Space) -> Array:  # (p, d)
    """Designs where experiments are lost again and again: perhaps the designs are the cause.

    That is so where `MAX_LOSSES` close to each other were lost and none was answered since.
    """
    lost = [t for t in trials if t.outcome is Outcome.LOST]
    if len(lost) < MAX_LOSSES:
        return np.empty((0, space.dim))
    X = space.encode([t.params for t in lost])
    known = [t for t in trials if t.outcome.is_answer]
    since = np.array([[k.number > t.number for k in known] for t in lost], dtype=bool)
    answered = _close(X, space.encode([t.params for t in known])) & since
    unclear = X[~answered.any(axis=1)]
    return np.asarray(unclear[_close(unclear, unclear).sum(axis=1) >= MAX_LOSSES])


def _close(A: Array, B: Array) -> Mask:  # (n, d), (m, d) -> (n, m)
    return np.asarray(np.abs(A[:, None] - B[None]).max(axis=-1, initial=0.0) <= _CLOSE)
