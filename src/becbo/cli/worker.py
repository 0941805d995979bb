"""`becbo worker`: run trials of a study that any number of workers share."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from becbo.cli.common import split_names
from becbo.errors import InvalidInput
from becbo.failures import Failures
from becbo.outputs import Outputs

if TYPE_CHECKING:
    import optuna
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

    from becbo.optuna.evaluation import TrialFunction
    from becbo.optuna.outcomes import Pruned
    from becbo.optuna.worker import Standing, TrialCounts

EXAMPLE = (
    "Example, with a function run(trial) in simulation.py: [bold]becbo worker --storage study.db "
    "--study wing --objective simulation:run --trials 200[/bold]. Give the same command in several "
    "terminals, or with a postgresql:// URL on several machines."
)

_SHOWN = 10  # trials of a front at the end


def worker(
    storage: Annotated[
        str,
        typer.Option(
            envvar="BECBO_STORAGE",
            help="study.db: this machine. study.journal: a shared folder. "
            "postgresql://user:password@host/name: any machines.",
        ),
    ],
    study: Annotated[str, typer.Option(help="Its name; a new name begins a new study.")],
    objective: Annotated[
        str,
        typer.Option(
            help="module:function. It gets an Optuna trial and returns a number, a number for "
            "each direction, or a dict of outputs."
        ),
    ],
    trials: Annotated[
        int, typer.Option(min=1, help="Stop when the study has so many, all workers together.")
    ] = 100,
    direction: Annotated[
        str | None,
        typer.Option(
            help="minimize or maximize; for several objectives minimize,maximize. Without it: "
            "minimize, or as the study began."
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(
            help="Instead of --direction, module:list of becbo.Objective, Limit and Recorded."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="How: a name from `becbo methods`.")] = "edge",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Workers may share one: they still differ.")
    ] = None,
    noisy: Annotated[
        bool, typer.Option("--noisy", help="Repeating a trial gives a different value.")
    ] = False,
    risk: Annotated[
        float | None,
        typer.Option(help="Largest chance of failure of a proposal. Without it: about one half."),
    ] = None,
    chance: Annotated[
        float | None,
        typer.Option(
            help="How often a design that works fails by bad luck, such as 0.1; 0: never. "
            "Without it the rate is learned."
        ),
    ] = None,
    failure_price: Annotated[
        float, typer.Option(help="What a failure costs besides the experiment, in experiments.")
    ] = 0.0,
    failure_budget: Annotated[
        int | None, typer.Option(help="How many trials may fail. Without it: any number.")
    ] = None,
    pruned: Annotated[
        str,
        typer.Option(help="What a pruned trial counts as: value (reported last), failed, ignore."),
    ] = "value",
    catch: Annotated[
        str,
        typer.Option(help="Exceptions that mean failed: RuntimeError,simulation.SolverError"),
    ] = "",
    stop_when: Annotated[
        str | None,
        typer.Option(
            callback=_stop_rule,
            help="End before --trials when little is to be gained: advised, or the gain of the "
            "next 10 trials that is worth them, as 0.5.",
        ),
    ] = None,
    heartbeat: Annotated[
        int,
        typer.Option(
            min=1, help="Seconds between signs of life; after three missed a trial is lost."
        ),
    ] = 30,
    patience: Annotated[
        float,
        typer.Option(min=0, help="Seconds to wait for a storage that does not answer."),
    ] = 600.0,
) -> None:
    """Run trials of a study until it has enough of them. Start as many workers as you like.

    The objective returns a number if the experiment worked, or several. It
    failed if it returns None or no finite number, raises becbo.Infeasible, or
    raises an exception named in --catch. Any other exception is a bug: the worker shows
    it and stops, and the design is tried again by the next one.

    Ctrl-C finishes the trial under way and stops; a second Ctrl-C stops at
    once, and the design is tried again. So it is when a worker is killed.

    Exit codes: 0 enough trials; 1 the objective broke, or the storage was away
    for longer than --patience; 2 bad input, or the budget of failures is spent
    and nothing has worked; 130 Ctrl-C, 143 terminated.
    """
    import optuna

    from becbo.optuna import BECBOSampler, StopCallback, open_storage
    from becbo.optuna.breakage import Patience, PatientStorage
    from becbo.optuna.evaluation import Evaluation
    from becbo.optuna.measured import outputs_of, plain_outputs, study_directions
    from becbo.optuna.sampler import check_method
    from becbo.optuna.storage import study_lock
    from becbo.optuna.worker import Worker
    from becbo.settings import Settings

    counts_as = cast("Pruned", pruned)
    settings: dict[str, Any] = {"method": method, "seed": seed, "noisy": noisy, "risk": risk}
    settings["failures"] = Failures(chance, failure_price, failure_budget)
    settings["n_planned"] = trials
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # it would repeat every failed trial
    console = Console(force_terminal=sys.stdout.isatty())  # not for what FORCE_COLOR says
    with _reporting_breakage(patience), _Stop() as stop:
        function = _function(objective)
        catches = _exceptions(catch)  # which may be of the same module
        measured = _outputs(outputs, direction)
        sampler = BECBOSampler(outputs=measured, pruned=counts_as, **settings)
        ending = {}
        if stop_when is not None:
            ending = {"ending": StopCallback(stop_when).reason}
        waiting = Patience(patience, lambda text: _note(text, console))
        found = waiting.repeat(lambda: open_storage(storage, heartbeat=heartbeat))
        opened = PatientStorage(found, waiting)
        wanted = _directions(direction) if measured is None else study_directions(measured)
        if wanted is not None:  # before there is a study that nothing fits
            check_method(Settings(**settings), plain_outputs(wanted))
        shared = _study(opened, study, wanted, sampler)
        lock = study_lock(storage, heartbeat)
        if measured is not None:
            waiting.repeat(lambda: _name_values(shared, measured, lock))
        known = outputs_of(shared, (), measured)
        check_method(Settings(**settings), known)  # where a study had begun
        with _Report(known, trials, console) as report:
            Worker(
                study=shared,
                evaluation=Evaluation(function, known, catches, stop.is_asked_for),
                pruned=counts_as,
                budget=trials,
                lock=lock,
                patience=waiting,
                report=report,
                **ending,
            ).run()
        _print_end(shared, known, counts_as, trials, console)
    if stop.signal is not None:
        raise typer.Exit(128 + stop.signal)


class _Stop:
    """The first signal asks to stop after the trial under way, the second stops at once."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __enter__(self) -> _Stop:
        self._before = {s: signal.signal(s, self._on) for s in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return kind is KeyboardInterrupt and self.signal is not None

    def is_asked_for(self) -> bool:
        """Whether there was a first signal."""
        return self.signal is not None

    def _on(self, number: int, frame: object) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        # Not print: the signal may have come in the middle of one.
        os.write(2, b"\nstopping after the trial under way; once more to stop at once\n")


def _function(name: str) -> TrialFunction:
    """The function that `module:function` names."""
    found = _load(name, "--objective", "simulation:run is the function run in simulation.py")
    if not callable(found):
        raise InvalidInput(f"--objective {name}: {found!r} is not a function")
    return found  # type: ignore[no-any-return]


def _outputs(name: str | None, direction: str | None) -> Outputs | None:
    """The outputs that `module:list` names; None: the values of the study."""
    if name is None:
        return None
    if direction is not None:
        raise InvalidInput("--outputs have directions of their own; leave out --direction")
    hint = "simulation:OUTPUTS is the list OUTPUTS in simulation.py"
    return Outputs.of(_load(name, "--outputs", hint))


def _load(name: str, option: str, hint: str) -> Any:
    """What `module:name` names; the current folder is searched first."""
    from becbo.optuna.evaluation import BrokenObjective, trace

    module, _, function = name.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), function]):
        raise InvalidInput(f"{option} {name!r} must be module:name; {hint}")
    sys.path.insert(0, os.getcwd())
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and _is_in(error.name or "", module):
            raise InvalidInput(
                f"{option} {name}: there is no module {error.name} in {os.getcwd()} "
                "or among the installed packages"
            ) from error
        raise BrokenObjective(f"{trace(error)}\n{option} {name} cannot be imported") from error
    if function not in vars(loaded):
        raise InvalidInput(f"{option} {name}: {module} has no {function}")
    return vars(loaded)[function]


def _is_in(package: str, module: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _exceptions(text: str) -> tuple[type[Exception], ...]:
    """The classes that `RuntimeError,subprocess.TimeoutExpired` names."""
    return tuple(map(_exception, split_names(text)))


def _exception(name: str) -> type[Exception]:
    module, _, kind = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module or "builtins"), kind, None)
    except ImportError:
        found = None
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    raise InvalidInput(
        f"--catch {name}: no such exception; write it as RuntimeError or subprocess.TimeoutExpired"
    )


def _directions(text: str | None) -> list[str] | None:
    """The directions that `minimize,maximize` names; None: those of the study."""
    if text is None:
        return None
    names = split_names(text)
    if not names or not set(names) <= {"minimize", "maximize"}:
        raise InvalidInput(
            f"--direction {text!r} must be minimize or maximize, or one of them for each "
            "objective: minimize,maximize"
        )
    return names


def _stop_rule(text: str | None) -> str | None:
    """Checks --stop-when, which `Stop.of` reads."""
    if text is None:
        return None
    from becbo.outlook import Stop

    try:
        Stop.of(text)
    except InvalidInput:
        raise InvalidInput(
            f"--stop-when {text!r} must be advised, or the gain of the next 10 trials that is "
            "worth them, such as 0.5"
        ) from None
    return text


def _study(
    storage: BaseStorage, name: str, wanted: Sequence[str] | None, sampler: BaseSampler
) -> optuna.Study:
    """The study of that name, created if there is none."""
    import optuna

    directions = [optuna.study.StudyDirection[d.upper()] for d in wanted or ["minimize"]]
    study = optuna.create_study(
        storage=storage,
        sampler=sampler,
        study_name=name,
        directions=directions,
        load_if_exists=True,
    )
    begun = [direction.name.lower() for direction in study.directions]
    if wanted is not None and begun != list(wanted):
        raise InvalidInput(
            f"study {name!r} has begun with {','.join(begun)}, not {','.join(wanted)}; "
            "leave out --direction, mend --outputs or choose another --study"
        )
    return study


def _name_values(
    study: optuna.Study, outputs: Outputs, lock: Callable[[], AbstractContextManager[object]]
) -> None:
    """Names the values of a study, or checks the names that they have."""
    from becbo.optuna.measured import name_values, value_names

    names = value_names(outputs)
    with lock():  # else workers that start at the same time could each give other names
        if study.metric_names is None:
            name_values(study, names)
    if study.metric_names != names:
        raise InvalidInput(
            f"study {study.study_name!r} has begun with the objectives {study.metric_names}, not "
            f"{names}; mend --outputs, also their order, or choose another --study"
        )


@contextmanager
def _reporting_breakage(patience: float) -> Iterator[None]:
    """What is neither bad input nor a bug of becbo: its text and exit code 1."""
    from becbo.optuna.breakage import BREAKAGE, last_words
    from becbo.optuna.evaluation import BrokenObjective

    try:
        yield
    except BrokenObjective as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    except BREAKAGE as error:
        typer.echo(
            f"the storage did not answer for {patience:g} seconds: {last_words(error)}\n"
            "The same command continues; a trial under way is offered again.",
            err=True,
        )
        raise typer.Exit(1) from None


class _Report:
    """A bar in a terminal; elsewhere one line per trial of this worker."""

    def __init__(self, outputs: Outputs, budget: int, console: Console) -> None:
        self._outputs, self._budget, self._console = outputs, budget, console
        self._waits = 0
        self._bar = Progress(
            TextColumn("trials"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("trials", total=budget, state="")

    def __enter__(self) -> _Report:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def trial(self, trial: FrozenTrial, standing: Standing) -> None:
        """One more trial of this worker has ended."""
        state = f"{standing.failed} failed, {_found(standing.front)}"
        self._bar.update(self._task, completed=standing.finished, state=state)
        if not self._console.is_terminal:
            self._print(
                f"{standing.finished}/{self._budget} trial {trial.number}: "
                f"{_ended(trial, self._outputs)}; {state}"
            )

    def waiting(self, counts: TrialCounts) -> None:
        """There is nothing to do until a trial of another worker has ended."""
        state = f"waiting for trials of other workers: {counts.running}"
        self._bar.update(self._task, completed=counts.finished, state=state)
        self._waits += 1
        if self._waits == 1 and not self._console.is_terminal:
            self._print(f"{counts.finished}/{self._budget} {state}")

    def note(self, text: str) -> None:
        """Something to know that is not the end of a trial."""
        _note(text, self._console)

    def _print(self, text: str) -> None:
        self._console.print(_shown(text), soft_wrap=True, highlight=False)


def _note(text: str, console: Console) -> None:
    console.print(f"[yellow]note:[/] {_shown(text)}", soft_wrap=True, highlight=False)


def _shown(text: str) -> str:
    """Text of an objective as a log may have it: what is not printable is spelled out."""
    return escape("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


def _found(front: Sequence[FrozenTrial]) -> str:
    """The best value, or how large the front is."""
    if not front:
        return "nothing has worked yet"
    if len(front[0].values) == 1:
        return f"best {front[0].values[0]:.6g}"
    return f"front of {len(front)}"


def _ended(trial: FrozenTrial, outputs: Outputs) -> str:
    from becbo.optuna import result_of
    from becbo.optuna.measured import with_constraints
    from becbo.trial import Outcome

    result = result_of(trial, outputs=with_constraints(outputs, [trial]))
    is_ok = result.outcome is Outcome.OK
    if trial.state.name == "PRUNED":
        return f"pruned at {_numbers(result.values, outputs)}" if is_ok else "pruned"
    if is_ok:
        return _numbers(result.values, outputs)
    reason = f" ({result.reason})" if result.reason else ""
    return f"{result.outcome.value}{reason}"


def _numbers(values: Mapping[str, float | None], outputs: Outputs) -> str:
    """The value of the only output, or all that were measured by name."""
    known = {name: v for name, v in values.items() if v is not None}
    if outputs.is_single and len(values) == 1:
        return ", ".join(f"{v:.6g}" for v in known.values())
    return _settings(known)


def _print_end(
    study: optuna.Study, outputs: Outputs, pruned: Pruned, budget: int, console: Console
) -> None:
    from becbo.optuna.worker import count_trials, standing

    end, n_running = standing(study, pruned, outputs), count_trials(study).running
    front = end.front
    lines = [f"{end.finished} of {budget} trials finished, {end.failed} of them failed"]
    if end.finished < budget and n_running:
        lines.append(f"under way: {n_running}; the same command continues the study")
    what = "best" if len(outputs.objectives) == 1 else "on the front"
    lines += [
        f"{what}: {_ended(trial, outputs)} in trial {trial.number}: {_settings(trial.params)}"
        for trial in front[: 1 if what == "best" else _SHOWN]
    ]
    if len(front) > _SHOWN:
        lines.append(f"and {len(front) - _SHOWN} more on the front")
    for line in lines:
        console.print(_shown(line), soft_wrap=True, highlight=False)


def _settings(params: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in params.items()
    )
