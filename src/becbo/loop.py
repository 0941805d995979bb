"""The loop around an optimizer: minimise a function that may fail.

The module is not called `minimize`, because that name belongs to the function in `becbo`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from becbo.errors import Infeasible, InvalidInput, in_words
from becbo.optimizer import Optimizer, number_in, whole_number
from becbo.proposers import Proposer, build
from becbo.search.choice import REPEAT
from becbo.space import Space
from becbo.trial import Outcome, Trial


@dataclass(frozen=True)
class Result:
    """What a run found."""

    best: Trial | None
    trials: tuple[Trial, ...]
    interrupted: bool
    message: str

    @property
    def n_failed(self) -> int:
        """How many experiments failed."""
        return sum(t.outcome is Outcome.FAILED for t in self.trials)


Callback = Callable[[Optimizer, Trial], None]


def minimize(
    fun: Callable[[dict[str, Any]], float | None],
    space: Space,
    budget: int = 100,
    *,
    method: str | Proposer = "edge",
    seed: int | None = None,
    n_initial: int = 10,
    noisy: bool = False,
    risk: float | None = None,
    catch: tuple[type[Exception], ...] = (),
    callbacks: Sequence[Callback] = (),
    progress: bool = False,
    trials: Sequence[Trial] = (),
) -> Result:
    """Minimises a function that may fail.

    `fun(params)` returns a number. It fails by raising `becbo.Infeasible("why")`, by returning
    None, NaN or an infinity, or by raising one of the exceptions in `catch`. Any other exception
    is a bug and comes out, with what was done before as its `becbo_trials`. Ctrl-C ends the run
    and returns what was found. After each evaluation every callback is called with the optimizer
    and the trial. `trials` is a history to continue from; it counts towards the budget. The other
    arguments are those of `Optimizer`.
    """
    budget = whole_number("budget", budget)
    _check_calls(fun, catch, callbacks)
    method = build(method, noisy, budget=budget, n_initial=n_initial, risk=risk)
    optimizer = Optimizer(space, "minimize", method, seed, n_initial, noisy, trials=trials)
    if progress:
        from becbo.progress import ProgressBar

        with ProgressBar(budget) as bar:
            return _run(optimizer, fun, budget, catch, [*callbacks, bar])
    return _run(optimizer, fun, budget, catch, callbacks)


def _run(
    optimizer: Optimizer,
    fun: Callable[[dict[str, Any]], float | None],
    budget: int,
    catch: tuple[type[Exception], ...],
    callbacks: Sequence[Callback],
) -> Result:
    message, interrupted = f"budget of {budget} used", False
    try:
        left = list(optimizer.pending)  # of the history to continue from
        while sum(t.outcome.is_answer for t in optimizer.trials) < budget:
            trial = left.pop(0) if left else optimizer.ask()
            if trial.origin == REPEAT and not optimizer.noisy:
                optimizer.lose(trial, trial.note)
                message = trial.note or REPEAT
                break
            trial = _evaluate(optimizer, trial, fun, catch)
            for callback in callbacks:
                callback(optimizer, trial)
    except KeyboardInterrupt:
        message, interrupted = "interrupted", True
        _lose_pending(optimizer)
    except Exception as error:
        _lose_pending(optimizer)
        vars(error)["becbo_trials"] = tuple(_kept(optimizer).values())
        error.add_note(
            "what was done before is in becbo_trials of the exception: "
            "minimize(..., trials=error.becbo_trials) continues"
        )
        raise
    trials = _kept(optimizer)
    best = optimizer.best and trials[optimizer.best.number]
    return Result(best, tuple(trials.values()), interrupted, message)


def _lose_pending(optimizer: Optimizer) -> None:
    for trial in optimizer.pending:
        optimizer.lose(trial, "interrupted")


def _kept(optimizer: Optimizer) -> dict[int, Trial]:
    """Number -> trial, without lost ones; numbered anew, so that another run can continue."""
    kept = [t for t in optimizer.trials if t.outcome is not Outcome.LOST]
    return {t.number: replace(t, number=i) for i, t in enumerate(kept)}


def _evaluate(
    optimizer: Optimizer,
    trial: Trial,
    fun: Callable[[dict[str, Any]], float | None],
    catch: tuple[type[Exception], ...],
) -> Trial:
    try:
        value = fun(dict(trial.params))
    except Infeasible as error:
        return optimizer.fail(trial, error.reason)
    except catch as error:
        return optimizer.fail(trial, in_words(error))
    except Exception as error:
        error.add_note(
            f"raised for {trial.params}; if such designs just fail, name the exception in catch= "
            "or raise becbo.Infeasible"
        )
        raise
    try:
        if value is None or not math.isfinite(number_in(value)):
            return optimizer.fail(trial, f"returned {value}")
        return optimizer.tell(trial, value)
    except InvalidInput as error:
        raise InvalidInput(
            f"the function returned {value!r} for {trial.params}; it must return a number, or None "
            "if the experiment failed"
        ) from error


def _check_calls(fun: Any, catch: Any, callbacks: Any) -> None:
    """Refuse what could not be called or caught, before the first experiment."""
    if not callable(fun):
        raise InvalidInput(f"fun {fun!r} must be a function of the params")
    kinds = catch if isinstance(catch, tuple) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
        raise InvalidInput(f"catch {catch!r} must be a tuple of exceptions, as in (ValueError,)")
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise InvalidInput(f"callbacks {callbacks!r} must be a list of functions")
