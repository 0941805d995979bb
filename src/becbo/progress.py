"""A progress bar for `minimize`: evaluations, failures and the best value so far."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from becbo.optimizer import Optimizer
from becbo.trial import Outcome, Trial


class ProgressBar:
    """A context manager that is also a callback of `minimize`."""

    def __init__(self, budget: int) -> None:
        self._progress = Progress(
            TextColumn("experiments"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
        )
        self._task = self._progress.add_task("run", total=budget, state="")

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def __call__(self, optimizer: Optimizer, trial: Trial) -> None:
        """Shows the state after one more experiment."""
        n_failed = sum(t.outcome is Outcome.FAILED for t in optimizer.trials)
        self.advance(n_failed, _found(optimizer))

    def advance(self, n_failed: int, found: str) -> None:
        """One more experiment is done."""
        self._progress.update(self._task, advance=1, state=f"{n_failed} failed, {found}")


def _found(optimizer: Optimizer) -> str:
    """The best value, or the size of the front, in words."""
    front, objectives = optimizer.front, optimizer.outputs.objectives
    if not front:
        return "nothing acceptable yet"
    if len(objectives) > 1:
        return f"front of {len(front)}"
    return f"best {front[0].values[objectives[0].name]:.6g}"
