"""Runs: experiments as people see them, read from the trials of a study.

A finished Optuna trial never changes; a correction is therefore a new trial that replaces an old
one, and a run is the chain of trials that replace each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from becbo.errors import InvalidInput
from becbo.optimizer import finite_value, reason_in
from becbo.optuna.beliefs import StoredProposal, proposal_of
from becbo.optuna.outcomes import (
    FIXED,
    MAX_RETRIES,
    RETRIES,
    corrections,
    final_value,
    lost_among,
    outcome,
    reason,
)
from becbo.optuna.study_data import StudyData
from becbo.space import Space
from becbo.trial import Outcome, Prediction

NOTE = "becbo:note"  # attribute of a trial: what somebody wrote about it
REOPENED = "becbo:reopened"  # attribute of a trial: pending again, because an entry was undone
RESTORES = "becbo:restores"  # attribute of a trial: the number of one whose entry it brings back
NOTHING = -1  # instead of that number: everything that was written about the run is taken back
BATCH = "becbo:batch"  # attribute of a trial: the import that wrote its entry, among others
REPEAT = "repeat of a lost run"  # origin of a run
WITHDRAWN = "withdrawn"  # reason of a lost run that is not to be repeated
TAKEN_BACK = "taken back"  # reason of a lost run that was added, and then undone


@dataclass(frozen=True)
class Result:
    """What came out of an experiment: a value, a failure, a loss, or nothing yet."""

    outcome: Outcome
    value: float | None = None
    reason: str = ""

    @classmethod
    def of(
        cls,
        value: float | None = None,
        failed: bool | str = False,
        lost: bool | str = False,
    ) -> Result:
        """Exactly one of: a number, `failed` (or why), `lost` (or why)."""
        if (value is not None) + bool(failed) + bool(lost) != 1:
            raise InvalidInput(
                f"value {value!r}, failed {failed!r}, lost {lost!r}: give exactly one of them"
            )
        if value is not None:
            return cls(Outcome.OK, finite_value(value))
        words = clean_text(reason_in(failed or lost) or "")
        return cls(Outcome.FAILED if failed else Outcome.LOST, None, words)

    def __str__(self) -> str:
        if self.outcome is Outcome.OK:
            return f"{self.value:.6g}"
        return f"{self.outcome.value} ({self.reason})" if self.reason else self.outcome.value


def clean_text(text: str) -> str:
    """What somebody wrote, without blanks around it and characters that no file could keep."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t").strip()


@dataclass(frozen=True)
class RunState:
    """What was written about a run at some time."""

    result: Result
    note: str
    written: datetime | None
    entry: int  # the trial in which it was written, or NOTHING


@dataclass(frozen=True)
class Entry:
    """What was written about a run last and has not been taken back."""

    trial: int
    written: datetime
    batch: str  # the same for everything that one import wrote; "": written by itself
    before: RunState  # what the run becomes without it


@dataclass(frozen=True)
class Run:
    """One experiment as people see it."""

    number: int  # stays the same when the entry is corrected
    params: dict[str, Any]
    result: Result
    believed: Prediction | None  # before the experiment, if the models proposed it
    origin: str  # how the design was chosen
    note: str
    suggested: datetime | None  # None: the experiment was not suggested here
    recorded: datetime | None
    version: int  # changes with every entry: see `Campaign.record`
    before: RunState  # what it was before its last change, which may have been to take one back
    history: tuple[RunState, ...]  # earlier entries, the oldest first
    repeats: tuple[int, ...] = ()  # lost runs with the same design, the last of which it repeats
    remark: str = ""  # anything unusual about how the design was chosen
    entry: Entry | None = None  # None: nothing was written, or all of it was taken back

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.result.outcome

    @property
    def value(self) -> float | None:
        """What came out, if it worked."""
        return self.result.value

    @property
    def is_open(self) -> bool:
        """Whether it is pending, or what was written about it was taken back."""
        taken_back = Result(Outcome.LOST, reason=TAKEN_BACK)
        return self.outcome is Outcome.PENDING or self.result == taken_back


def read_runs(study: StudyData, names: Collection[str]) -> list[Run]:
    """The runs of a study.

    Args:
        study: What the study holds.
        names: The parameters of the campaign.

    Returns:
        All experiments by number, each in its present state.
    """
    started = [trial for trial in study.trials if trial.state is not TrialState.WAITING]
    chains: dict[int, list[FrozenTrial]] = {}
    first: dict[int, int] = {}
    corrected = corrections(started)
    for trial in started:
        before = corrected.get(trial.number, -1)
        first[trial.number] = first.get(before, trial.number)
        chains.setdefault(first[trial.number], []).append(trial)
    lost = lost_among(started, study.user_attrs)
    # A design that is being worked out at this moment, or was when a program died, is incomplete.
    return [
        _run(chain, lost, names)
        for _, chain in sorted(chains.items())
        if set(names) <= set(chain[-1].params)
    ]


def last_entries(runs: Sequence[Run]) -> list[tuple[Run, Entry]]:
    """The entry that was written last, with all of its batch."""
    written = [(run, run.entry) for run in runs if run.entry is not None]
    if not written:
        return []
    _, last = max(written, key=lambda each: (each[1].written, each[1].trial))
    return [
        (run, entry)
        for run, entry in written
        if entry == last or (last.batch and entry.batch == last.batch)
    ]


def runs_to_repeat(runs: Sequence[Run], space: Space) -> list[Run]:
    """The lost runs whose designs are suggested again, before any new one.

    Args:
        runs: All runs of a campaign.
        space: What may be suggested now; it may have become smaller since.

    Returns:
        Those runs, by number.
    """
    repeated = {number for run in runs for number in run.repeats}
    return [
        run
        for run in runs
        if run.outcome is Outcome.LOST
        and run.suggested is not None
        and run.result.reason != WITHDRAWN
        and run.number not in repeated
        and len(run.repeats) < MAX_RETRIES
        and _is_possible(run.params, space)
    ]


def _is_possible(params: Mapping[str, Any], space: Space) -> bool:
    try:
        return space.is_allowed(space.validate(params))
    except InvalidInput:
        return False


def _run(chain: Sequence[FrozenTrial], lost: frozenset[int], names: Collection[str]) -> Run:
    """The run that a chain of trials, each of which replaces the one before, stands for."""
    original, current = chain[0], chain[-1]
    proposal = proposal_of(original)
    history = {
        trial.number: RunState(
            _result(trial, lost - {trial.number}),
            _note(trial),
            trial.datetime_complete,
            _entry_in(trial),
        )
        for trial in chain[:-1]
        if trial.state.is_finished()
    }
    repeats = tuple(original.system_attrs.get(RETRIES, ()))
    return Run(
        number=original.number,
        params={name: value for name, value in current.params.items() if name in names},
        result=_result(current, lost),
        believed=None if proposal is None else proposal.believed,
        origin=_origin(proposal, repeats),
        note=_note(current),
        suggested=original.datetime_start if _was_pending(original) else None,
        recorded=current.datetime_complete,
        version=current.number,
        before=_before(current, history),
        history=tuple(history.values()),
        repeats=repeats,
        remark="" if proposal is None else proposal.note or "",
        entry=_entry(chain, history),
    )


def _origin(proposal: StoredProposal | None, repeats: Sequence[int]) -> str:
    if repeats:
        return REPEAT
    return "user" if proposal is None else proposal.origin


def _was_pending(trial: FrozenTrial) -> bool:
    """Whether the trial waited for its result, instead of being added with it."""
    waits = (FIXED, RETRIES, REOPENED)
    return proposal_of(trial) is not None or any(key in trial.system_attrs for key in waits)


def _before(trial: FrozenTrial, history: Mapping[int, RunState]) -> RunState:
    """What the run was before that trial of it, given the finished ones by number."""
    if _was_pending(trial):
        return RunState(Result(Outcome.PENDING), "", None, NOTHING)
    if earlier := [number for number in history if number < trial.number]:
        return history[max(earlier)]
    return RunState(Result(Outcome.LOST, reason=TAKEN_BACK), _note(trial), None, NOTHING)


def _entry_in(trial: FrozenTrial) -> int:
    """The trial whose entry stands as long as this one is the last of its run."""
    number: int = trial.system_attrs.get(RESTORES, trial.number)
    return number


def _entry(chain: Sequence[FrozenTrial], history: Mapping[int, RunState]) -> Entry | None:
    number = _entry_in(chain[-1])
    for trial in chain:
        if trial.number == number and trial.datetime_complete is not None:
            batch = trial.system_attrs.get(BATCH, "")
            return Entry(number, trial.datetime_complete, batch, _before(trial, history))
    return None


def _note(trial: FrozenTrial) -> str:
    note: str = trial.user_attrs.get(NOTE, "")
    return note


def _result(trial: FrozenTrial, lost: frozenset[int]) -> Result:
    ended = outcome(trial, lost)
    value = final_value(trial) if ended is Outcome.OK else None
    return Result(ended, value, reason(trial) or "")
