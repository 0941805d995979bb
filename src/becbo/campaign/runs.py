"""Runs: experiments as people see them, read from the trials of a study.

A finished Optuna trial never changes; a correction is therefore a new trial that replaces an old
one, and a run is the chain of trials that replace each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from becbo.errors import InvalidInput
from becbo.optuna.beliefs import StoredProposal, proposal_of
from becbo.optuna.outcomes import (
    FIXED,
    RETRIES,
    corrections,
    lost_among,
    result_of,
)
from becbo.optuna.repeats import MAX_RETRIES
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.space import Space
from becbo.trial import PENDING, Outcome, Prediction, Result

Value = float | Mapping[str, float | None]  # what was measured; with several outputs, by name

# Attributes of trials.
NOTE = "becbo:note"  # what somebody noted
REOPENED = "becbo:reopened"  # pending again, because an entry was undone
RESTORES = "becbo:restores"  # the number of the trial whose entry it restores
NOTHING = -1  # instead of that number: every entry about the run was undone
BATCH = "becbo:batch"  # the import that wrote its entry, among others
BY = "becbo:by"  # who wrote its entry

REPEAT = "repeat of a lost run"  # origin of a run
WITHDRAWN = Result.lost("withdrawn")  # a suggestion that is not to be repeated
UNDONE = Result.lost("taken back")  # a run that was added, and then undone


def entered_result(
    outputs: Outputs,
    value: Value | None = None,
    failed: bool | str = False,
    lost: bool | str = False,
    measured: Mapping[str, float | None] | None = None,
) -> Result:
    """The result that somebody enters.

    Args:
        outputs: What experiments return.
        value: The measured value; with several outputs, the values by name.
        failed: The design does not work: the reason, or True.
        lost: The experiment says nothing about its design: the reason, or True.
        measured: What was measured although it failed, by the name of the output.

    Returns:
        The result.

    Raises:
        InvalidInput: A value is not a finite number or has no output, a reason is not text, or not
            exactly one of `value`, `failed` and `lost` was given.
    """
    if (value is not None) + bool(failed) + bool(lost) != 1:
        raise InvalidInput(
            f"value {value!r}, failed {failed!r}, lost {lost!r}: give exactly one of them"
        )
    if measured and not failed:
        raise InvalidInput(f"measured {dict(measured)!r} goes with failed; give it as the value")
    if value is not None:
        values = outputs.values(value)
        if all(number is None for number in values.values()):
            raise InvalidInput(f"no value was given; give at least one of {', '.join(values)}")
        return Result.ok(values)
    given = failed or lost
    reason = None if isinstance(given, bool | np.bool_) else given
    reason = clean_text(reason) if isinstance(reason, str) else reason
    if not failed:
        return Result.lost(reason)
    return Result.failed(reason, outputs.values(measured) if measured else None)


def clean_text(text: str) -> str:
    """Text without spaces around it and without characters that cannot be printed."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t").strip()


@dataclass(frozen=True)
class RunState:
    """A run at some time.

    Attributes:
        result: What had come out.
        note: What was noted.
        written: When it was written.
        entry: The number of the trial in which it was written, or NOTHING.
        by: Who wrote it; "" if nobody gave a name.
    """

    result: Result
    note: str
    written: datetime | None
    entry: int
    by: str = ""


@dataclass(frozen=True)
class Entry:
    """The last entry about a run that was not undone.

    Attributes:
        trial: The number of the trial in which it was written.
        written: When it was written.
        batch: The same for all entries of one import; "" for a single entry.
        before: What the run becomes without it.
    """

    trial: int
    written: datetime
    batch: str
    before: RunState


@dataclass(frozen=True)
class Run:
    """One experiment as people see it.

    Attributes:
        number: Its number; runs are numbered from 0 without gaps, and corrections change nothing.
        params: The design.
        result: What came out.
        believed: What the models predicted before the experiment, if they proposed it.
        origin: How the design was chosen.
        note: Anything that somebody noted.
        suggested: When it was suggested; None if it was not suggested here.
        recorded: When its result was recorded.
        version: Changes with every entry: see `Campaign.record`.
        before: Its state before the last change, which may have been an undo.
        history: Its earlier entries, the oldest first.
        repeats: Numbers of lost runs with the same design; it repeats the last of them.
        remark: Anything unusual about how the design was chosen.
        entry: The last entry; None if there is none, or every entry was undone.
        trial: The number of its first trial in the study.
        by: Who recorded its result; "" if nobody gave a name.
    """

    number: int
    params: dict[str, Any]
    result: Result
    believed: Prediction | None
    origin: str
    note: str
    suggested: datetime | None
    recorded: datetime | None
    version: int
    before: RunState
    history: tuple[RunState, ...]
    repeats: tuple[int, ...] = ()
    remark: str = ""
    entry: Entry | None = None
    trial: int = NOTHING
    by: str = ""

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.result.outcome

    @property
    def values(self) -> Mapping[str, float | None]:
        """For every output what was measured, or None; empty if there is no result."""
        return self.result.values

    @property
    def value(self) -> float | None:
        """The value of the only output; with several outputs, see `values`."""
        return self.result.value

    @property
    def reason(self) -> str:
        """Why it failed or was lost; "" if nobody said."""
        return self.result.reason or ""

    @property
    def is_open(self) -> bool:
        """Whether it is pending, or its only entry was undone."""
        return self.outcome is Outcome.PENDING or self.result == UNDONE


class KnownRuns:
    """Runs that were read before: a trial that has ended never changes again.

    A server reads all runs of a campaign for every answer. Threads may share this.
    """

    def __init__(self) -> None:
        self._state: tuple[Any, dict[Any, Run]] = (None, {})

    def under(self, description: Any) -> dict[Any, Run]:
        """The runs that were read with the same parameters and outputs."""
        if self._state[0] != description:
            self._state = (description, {})
        return self._state[1]


def read_runs(
    study: StudyData, names: Collection[str], known: KnownRuns | None = None
) -> list[Run]:
    """The runs of a study.

    Args:
        study: What the study holds.
        names: The parameters of the campaign.
        known: Those read before, which are read no more; new ones are added.

    Returns:
        All experiments by number, each in its present state.
    """
    chains: dict[int, list[FrozenTrial]] = {}
    first: dict[int, int] = {}
    corrected = corrections(study.trials)
    for trial in study.trials:
        before = corrected.get(trial.number, -1)
        first[trial.number] = first.get(before, trial.number)
        chains.setdefault(first[trial.number], []).append(trial)
    # Trials that are waiting or incomplete count, so that no number changes when they are ready.
    ranks = {trial: number for number, trial in enumerate(sorted(chains))}
    numbers = {trial: ranks[head] for trial, head in first.items()}
    lost = lost_among(study.trials, study.user_attrs)
    runs = (known or KnownRuns()).under((names, study.outputs))

    def read(chain: Sequence[FrozenTrial]) -> Run:
        if not all(trial.state.is_finished() for trial in chain):
            return _run(chain, numbers, lost, names, study.outputs)
        entries = tuple((trial.number, trial.number in lost) for trial in chain)
        key = (numbers[chain[0].number], entries, _repeats(chain[0], numbers))
        if key not in runs:
            runs[key] = _run(chain, numbers, lost, names, study.outputs)
        return runs[key]

    return [read(chain) for _, chain in sorted(chains.items()) if _is_complete(chain[-1], names)]


def _is_complete(trial: FrozenTrial, names: Collection[str]) -> bool:
    """Whether it has a design: that of others is being computed, or was when a program died."""
    return trial.state is not TrialState.WAITING and set(names) <= set(trial.params)


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
        and run.result != WITHDRAWN
        and run.number not in repeated
        and len(run.repeats) < MAX_RETRIES
        and _is_possible(run.params, space)
    ]


def _is_possible(params: Mapping[str, Any], space: Space) -> bool:
    try:
        return space.is_allowed(space.validate(params))
    except InvalidInput:
        return False


def _run(
    chain: Sequence[FrozenTrial],
    numbers: Mapping[int, int],
    lost: frozenset[int],
    names: Collection[str],
    outputs: Outputs,
) -> Run:
    """The run of a chain of trials, each of which replaces the one before.

    Args:
        chain: The trials.
        numbers: The number of its run by the number of each trial of the study.
        lost: The numbers of lost trials.
        names: The parameters.
        outputs: What is measured.
    """
    original, current = chain[0], chain[-1]
    proposal = proposal_of(original)
    history = {
        trial.number: RunState(
            result_of(trial, lost - {trial.number}, outputs=outputs),
            _note(trial),
            trial.datetime_complete,
            _entry_in(trial),
            _by(trial),
        )
        for trial in chain[:-1]
        if trial.state.is_finished()
    }
    repeats = _repeats(original, numbers)
    return Run(
        number=numbers[original.number],
        params={name: value for name, value in current.params.items() if name in names},
        result=result_of(current, lost, outputs=outputs),
        believed=_believed(proposal, outputs),
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
        trial=original.number,
        by=_by(current) if current.state.is_finished() else "",
    )


def _repeats(original: FrozenTrial, numbers: Mapping[int, int]) -> tuple[int, ...]:
    """The lost runs with the same design that a run repeats."""
    repeated = original.system_attrs.get(RETRIES, ())
    return tuple(numbers[trial] for trial in repeated if trial in numbers)


def _believed(proposal: StoredProposal | None, outputs: Outputs) -> Prediction | None:
    """What was predicted, under the present name of the only output: a change may rename it."""
    if proposal is None or proposal.believed is None:
        return None
    estimates = proposal.believed.outputs
    if outputs.is_single:
        estimates = dict(zip(outputs.names, estimates.values(), strict=False))
    return replace(proposal.believed, outputs=estimates)


def _origin(proposal: StoredProposal | None, repeats: Sequence[int]) -> str:
    if repeats:
        return REPEAT
    return "user" if proposal is None else proposal.origin


def _was_pending(trial: FrozenTrial) -> bool:
    """Whether the trial waited for its result, instead of being added with it."""
    waits = (FIXED, RETRIES, REOPENED)
    return proposal_of(trial) is not None or any(key in trial.system_attrs for key in waits)


def _before(trial: FrozenTrial, history: Mapping[int, RunState]) -> RunState:
    """The run before one of its trials, given the finished ones by number."""
    earlier = [number for number in history if number < trial.number]
    is_reopened = REOPENED in trial.system_attrs and not trial.state.is_finished()
    if _was_pending(trial) and not is_reopened:
        return RunState(PENDING, "", None, NOTHING)
    if earlier:
        return history[max(earlier)]
    return RunState(UNDONE, _note(trial), None, NOTHING)


def _entry_in(trial: FrozenTrial) -> int:
    """The trial whose entry counts while this one is the last of its run."""
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


def _by(trial: FrozenTrial) -> str:
    name: str = trial.system_attrs.get(BY, "")
    return name
