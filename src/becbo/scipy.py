"""Functions that may fail, minimised in the manner of `scipy.optimize`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult
from scipy.optimize import LinearConstraint as ScipyConstraint

from becbo.arrays import Array
from becbo.errors import InvalidInput
from becbo.loop import minimize as minimize_params
from becbo.optimizer import Optimizer
from becbo.space import Integer, LinearConstraint, Real, Space
from becbo.trial import Outcome, Trial


def minimize(
    fun: Callable[..., float | None],
    bounds: Bounds | Sequence[tuple[float, float]],
    args: tuple[Any, ...] = (),
    *,
    budget: int = 100,
    integrality: Sequence[bool] | None = None,
    constraints: Sequence[ScipyConstraint] = (),
    callback: Callable[..., Any] | None = None,
    catch: tuple[type[Exception], ...] = (),
    **settings: Any,
) -> OptimizeResult:
    """Minimises a function of an array that may fail.

    Args:
        fun: `fun(x, *args)` with x (d,) returns a number. It fails by returning None, NaN or an
            infinity, by raising `becbo.Infeasible`, or by raising an exception in `catch`.
        bounds: `scipy.optimize.Bounds`, or a pair (low, high) for every variable.
        args: further arguments of `fun`.
        budget: how many evaluations.
        integrality: which variables are whole numbers, as in
            `scipy.optimize.differential_evolution`.
        constraints: `scipy.optimize.LinearConstraint`, known in advance: no evaluation violates
            one.
        callback: `callback(intermediate_result)` after every evaluation, with an
            `OptimizeResult`; or `callback(x)` with the best x so far. `StopIteration` ends the
            run.
        catch: exceptions that mean a failure.
        **settings: method, seed, n_initial, noisy, risk, failures: see `becbo.Settings`.

    Returns:
        x, fun, success (whether an evaluation worked), status, message, nfev, n_failed, and all
        evaluations as `trials`. x is None while nothing has worked.

    Raises:
        InvalidInput: if an argument, or what the function returned, cannot be used.

    Examples:
        >>> result = minimize(lambda x: x @ x if x[0] > 0.3 else None, [(0, 1), (0, 1)], budget=20)
        >>> result.x, result.fun
    """
    space = _space(bounds, integrality, constraints)
    found = minimize_params(
        lambda params: fun(_array(params), *args),
        space,
        budget,
        catch=catch,
        callbacks=[] if callback is None else [_adapted(callback)],
        **settings,
    )
    return _result(found.best, found.trials, found.message)


def _space(
    bounds: Bounds | Sequence[tuple[float, float]],
    integrality: Sequence[bool] | None,
    constraints: Sequence[ScipyConstraint],
) -> Space:
    """The variables x0, x1, ... of an array."""
    pairs = list(zip(bounds.lb, bounds.ub, strict=True)) if isinstance(bounds, Bounds) else bounds
    whole = [False] * len(pairs) if integrality is None else list(integrality)
    if len(whole) != len(pairs):
        raise InvalidInput(f"integrality has {len(whole)} entries for {len(pairs)} variables")
    names = [f"x{i}" for i in range(len(pairs))]
    parameters = [
        Integer(name, low, high) if is_whole else Real(name, low, high)
        for name, (low, high), is_whole in zip(names, pairs, whole, strict=True)
    ]
    return Space(parameters, [row for c in constraints for row in _rows(c, names)])


def _rows(constraint: ScipyConstraint, names: Sequence[str]) -> list[LinearConstraint]:
    """lb <= A x <= ub, row by row."""
    A = np.atleast_2d(constraint.A)
    if A.shape[1] != len(names):
        raise InvalidInput(f"a constraint has {A.shape[1]} columns for {len(names)} variables")
    lower = np.broadcast_to(constraint.lb, len(A)).tolist()
    upper = np.broadcast_to(constraint.ub, len(A)).tolist()
    return [
        LinearConstraint({n: c for n, c in zip(names, row, strict=True) if c}, high, low)
        for row, low, high in zip(A.tolist(), lower, upper, strict=True)
    ]


def _array(params: dict[str, Any]) -> Array:  # (d,)
    return np.array(list(params.values()), dtype=float)


def _adapted(callback: Callable[..., Any]) -> Callable[[Optimizer, Trial], None]:
    """A callback of SciPy as one of `becbo.minimize`; SciPy, too, tells them by the name."""
    wants_result = list(inspect.signature(callback).parameters) == ["intermediate_result"]

    def call(optimizer: Optimizer, trial: Trial) -> None:
        if wants_result:
            callback(intermediate_result=_result(optimizer.best, optimizer.trials, "running"))
        elif optimizer.best is not None:
            callback(_array(optimizer.best.params))

    return call


def _result(best: Trial | None, trials: Sequence[Trial], message: str) -> OptimizeResult:
    return OptimizeResult(
        x=None if best is None else _array(best.params),
        fun=None if best is None else best.value,
        success=best is not None,
        status=0 if best is not None else 1,
        message=message if best is not None else f"{message}; no evaluation worked",
        nfev=sum(t.outcome.is_answer for t in trials),
        n_failed=sum(t.outcome is Outcome.FAILED for t in trials),
        trials=tuple(trials),
    )
