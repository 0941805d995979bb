"""The loop around an optimizer: minimise a function that may fail.

The module is not called `minimize`, because that name belongs to the function in `becbo`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from becbo.checks import finite_numbers, number_in, whole_number
from becbo.errors import Infeasible, InvalidInput
from becbo.extras import needed_extras
from becbo.optimizer import Optimizer
from becbo.outlook import Advice, Stop, is_due
from becbo.outputs import Output, Outputs
from becbo.reasons import Reasons
from becbo.search.choice import REPEAT
from becbo.space import Space
from becbo.trial import Outcome, Trial


@dataclass(frozen=True)
class MinimizeResult:
    """What a run found.

    Attributes:
        outputs: what the function returns.
        front: the acceptable trials that no other beats; with one objective the best.
        trials: all experiments.
        interrupted: whether Ctrl-C ended the run.
        message: why it ended.

    Examples:
        >>> result = minimize(run, space, budget=12, seed=0)
        >>> result.best.params, result.best.value, result.n_failed
    """

    outputs: Outputs
    front: tuple[Trial, ...]
    trials: tuple[Trial, ...]
    interrupted: bool
    message: str

    @property
    def best(self) -> Trial | None:
        """The best trial of one objective, or None.

        Raises:
            InvalidInput: with several objectives, which have a `front` instead.
        """
        return self.outputs.best_of(self.front)

    @property
    def n_failed(self) -> int:
        """How many experiments failed."""
        return sum(t.outcome is Outcome.FAILED for t in self.trials)

    def __str__(self) -> str:
        """What was found, in two lines."""
        names = [objective.name for objective in self.outputs.objectives]
        found = "nothing is acceptable"
        if self.front and len(names) == 1:
            (best,) = self.front[:1]
            found = f"best {names[0]}: {best.values[names[0]]:.6g} at {best.params}"
        elif self.front:
            found = f"front of {_trials(self.front)} in {', '.join(names)}"
        return f"{found}\n{_trials(self.trials)}, {self.n_failed} failed; {self.message}"


def _trials(trials: Sequence[Trial]) -> str:
    return f"{len(trials)} trial{'s' * (len(trials) != 1)}"


Callback = Callable[[Optimizer, Trial], None]
Returned = float | Mapping[str, float | None] | None


def minimize(
    fun: Callable[[dict[str, Any]], Returned],
    space: Space,
    budget: int = 100,
    *,
    outputs: str | Output | Sequence[Output] | Outputs = "minimize",
    catch: tuple[type[Exception], ...] = (),
    callbacks: Sequence[Callback] = (),
    progress: bool = False,
    trials: Sequence[Trial] = (),
    stop: bool | str | float | Stop = False,
    **settings: Any,
) -> MinimizeResult:
    """Minimises a function that may fail.

    Ctrl-C ends the run and returns what was found. Other exceptions than those in
    `catch` are raised again, `SystemExit` too; `becbo_trials` has the experiments done before.

    Args:
        fun: takes the params and returns a number, or a mapping of the names of outputs to
            numbers. It fails by raising `becbo.Infeasible("why")`, by returning None, NaN or an
            infinity, or by raising one of the exceptions in `catch`. In a mapping, also in
            `Infeasible("why", measured={...})`, a number that is missing, NaN or infinite was not
            measured.
        space: what can be set.
        budget: how many experiments.
        outputs: what the function returns, as in `Optimizer`.
        catch: exceptions that mean a failure.
        callbacks: each is called with the optimizer and the trial after every evaluation.
            `StopIteration("why")` ends the run.
        progress: whether to show a progress bar.
        trials: a history to continue from; it counts towards the budget.
        stop: True ends the run when the outlook no longer advises to go on; a number is the gain
            that is worth going on for; a `Stop` says it in full.
        **settings: method, seed, n_initial, noisy, risk, failures: see `Settings`.

    Returns:
        The best trial, or the front, and all trials.

    Raises:
        InvalidInput: if an argument, or what the function returned, cannot be used.

    Examples:
        >>> result = minimize(lambda p: None if p["x"] > 0.7 else -p["x"], space, budget=12, seed=0)
        >>> print(result.best.params, result.n_failed)
    """
    budget = whole_number("budget", budget)
    _check_calls(fun, catch, callbacks)
    optimizer = Optimizer(space, outputs, trials=trials, n_planned=budget, **settings)
    if stop is not False:
        callbacks = [*callbacks, StopWhen(Stop.of(stop))]
    if progress:
        with needed_extras():
            from becbo.progress import ProgressBar

        with ProgressBar(budget) as bar:
            return _run(optimizer, fun, budget, catch, [*callbacks, bar])
    return _run(optimizer, fun, budget, catch, callbacks)


def _run(
    optimizer: Optimizer,
    fun: Callable[[dict[str, Any]], Returned],
    budget: int,
    catch: tuple[type[Exception], ...],
    callbacks: Sequence[Callback],
) -> MinimizeResult:
    message, interrupted = f"budget of {budget} used", False
    try:
        left = list(optimizer.pending)  # of the history to continue from
        while sum(t.outcome.is_answer for t in optimizer.trials) < budget:
            trial = left.pop(0) if left else optimizer.ask()
            if trial.origin == REPEAT and not optimizer.settings.noisy:
                optimizer.lose(trial, trial.note)
                message = trial.note or REPEAT
                break
            trial = _evaluate(optimizer, trial, fun, catch)
            if why := _stopped(optimizer, trial, callbacks):
                message = why
                break
    except KeyboardInterrupt:
        message, interrupted = "interrupted", True
        _lose_pending(optimizer)
    except BaseException as error:  # also the end of the program, which a caller may stop
        _lose_pending(optimizer)
        vars(error)["becbo_trials"] = tuple(_kept(optimizer).values())
        error.add_note(
            "what was done before is in becbo_trials of the exception: "
            "minimize(..., trials=error.becbo_trials) continues"
        )
        raise
    trials = _kept(optimizer)
    front = tuple(trials[t.number] for t in optimizer.front)
    return MinimizeResult(optimizer.outputs, front, tuple(trials.values()), interrupted, message)


def _stopped(optimizer: Optimizer, trial: Trial, callbacks: Sequence[Callback]) -> str | None:
    """Calls the callbacks; why one of them ends the run, or None."""
    try:
        for callback in callbacks:
            callback(optimizer, trial)
    except StopIteration as stop:
        return str(stop) or "stopped by a callback"
    return None


@dataclass(frozen=True)
class StopWhen:
    """A callback of `minimize` that ends the run when a rule no longer advises to go on.

    Also when the advice is to repeat the best design: that is not for a loop to decide.

    Args:
        rule: when it is not worth going on.
    """

    rule: Stop

    def __call__(self, optimizer: Optimizer, trial: Trial) -> None:
        """Looks ahead after every fifth experiment."""
        if not is_due(sum(t.outcome.is_answer for t in optimizer.trials)):
            return
        seen = optimizer.outlook
        if seen.advice(self.rule) is not Advice.GO_ON:
            raise StopIteration(seen.sentence(self.rule))


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
    fun: Callable[[dict[str, Any]], Returned],
    catch: tuple[type[Exception], ...],
) -> Trial:
    try:
        value = fun(dict(trial.params))
    except Infeasible as error:
        return optimizer.fail(trial, error.reason, finite_numbers(error.measured))
    except catch as error:
        return optimizer.fail(trial, Reasons.parse(error).text)
    except Exception as error:
        error.add_note(
            f"raised for {trial.params}; if such designs just fail, name the exception in catch= "
            "or raise becbo.Infeasible"
        )
        raise
    try:
        return _record(optimizer, trial, value)
    except InvalidInput as error:
        raise InvalidInput(
            f"the function returned {value!r} for {trial.params}; it must return "
            f"{_wanted(optimizer)}, or None if the experiment failed"
        ) from error


def _record(optimizer: Optimizer, trial: Trial, value: Any) -> Trial:
    """Tells what the function returned; without a single finite number it failed."""
    if isinstance(value, Mapping):
        value = finite_numbers(value)
        if all(number is None for number in value.values()):
            return optimizer.fail(trial, "returned no finite number", value)
    elif value is None or not math.isfinite(number_in(value)):
        return optimizer.fail(trial, f"returned {value}")
    return optimizer.tell(trial, value)


def _wanted(optimizer: Optimizer) -> str:
    names = optimizer.outputs.names
    return "a number" if len(names) == 1 else f"a dict of {', '.join(names)}"


def _check_calls(fun: Any, catch: Any, callbacks: Any) -> None:
    """Refuse what could not be called or caught, before the first experiment."""
    if not callable(fun):
        raise InvalidInput(f"fun {fun!r} must be a function of the params")
    kinds = catch if isinstance(catch, tuple) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
        raise InvalidInput(f"catch {catch!r} must be a tuple of exceptions, as in (ValueError,)")
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise InvalidInput(f"callbacks {callbacks!r} must be a list of functions")
