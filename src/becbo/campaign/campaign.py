"""A campaign: an Optuna study with a description, used by people instead of a program.

Everything is kept in the study, so that Python, the web page and optuna-dashboard show the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import FrozenTrial

from becbo.campaign import store
from becbo.campaign.bounds import MAX_NAME, check_count
from becbo.campaign.changes import changes, check_change
from becbo.campaign.description import Description
from becbo.campaign.errors import Conflict, NotFound
from becbo.campaign.formatting import result_text
from becbo.campaign.proposals import ask_study, check_budget, plan_of
from becbo.campaign.runs import (
    BY,
    WITHDRAWN,
    KnownRuns,
    Run,
    Value,
    clean_text,
    entered_result,
    last_entries,
    read_runs,
    runs_to_repeat,
)
from becbo.campaign.status import Status, status_of
from becbo.campaign.store import FILE, AnyDescription, Batch
from becbo.checks import whole_number
from becbo.errors import InvalidInput
from becbo.optuna.proposal import optimizer_of
from becbo.optuna.storage import open_storage, study_lock
from becbo.optuna.study_data import StudyData
from becbo.trial import Outcome, Result

if TYPE_CHECKING:
    from becbo.optimizer import Optimizer


class Campaign:
    """Experiments that can fail, planned and recorded by people.

    Make one with `Campaign.create` and return to it with `Campaign.open`. `becbo.tables`
    imports and exports spreadsheets, `becbo.report` writes what was learned.

    Several people and programs may use a campaign at once, through Python, the command line, the
    web page or optuna-dashboard. An entry is written completely or not at all, and nobody
    overwrites an entry that they have not seen. Every error is an `InvalidInput` (`NotFound`: there
    is no run with this number) or, if somebody else was faster, a `Conflict`; a suggestion that the
    budget of failures does not allow is a plain `BecboError`. Nothing has changed then.

    Args:
        where: The file or database in which it is kept.
        study: The study that holds it.

    Examples:
        >>> campaign = Campaign.create("coating.yaml", "lab.db")
        >>> campaign = Campaign.open("lab.db")  # from then on
        >>> run = campaign.suggest()[0]
        >>> run = campaign.record(run.number, 812.5, note="slight haze")
        >>> run = campaign.record(campaign.suggest()[0].number, failed="it peeled off")
    """

    def __init__(self, where: str | Path, study: optuna.Study) -> None:
        """Use `create` or `open`."""
        self.where = where
        self._study = study
        self._by = ""
        self._known = KnownRuns()
        self._lock = study_lock(where)

    @classmethod
    def create(cls, description: AnyDescription, where: str | Path = FILE) -> Campaign:
        """Creates a campaign.

        Args:
            description: A `Description`, the same as a dict, or a .yaml, .toml or .json file.
            where: A file such as becbo.db, which can hold many campaigns, or the URL of a database.

        Returns:
            The campaign, without runs.

        Raises:
            InvalidInput: The description is not valid, or the name is taken.
        """
        checked = store.checked_description(description)
        storage = open_storage(where, heartbeat=None)
        return cls(where, store.create_study(checked, where, storage))

    @classmethod
    def open(
        cls, where: str | Path = FILE, name: str | None = None, *, deleted: bool = False
    ) -> Campaign:
        """Opens a campaign that exists.

        Args:
            where: The file or database in which it is kept.
            name: Its name; not needed if there is only one campaign.
            deleted: Whether to look among the deleted campaigns, to restore one.

        Returns:
            The campaign.

        Raises:
            NotFound: There is no such campaign, or several and no name was given.
        """
        return cls(where, store.open_study(where, name, deleted=deleted))

    def signed(self, by: str) -> Campaign:
        """The same campaign for one person.

        Args:
            by: The name of whoever makes the entries; `Run.by` shows it.

        Returns:
            The campaign, whose entries have that name from now on.

        Raises:
            InvalidInput: The name is too long.
        """
        name = " ".join(clean_text(by).split())
        check_count("the name of whoever makes the entries", len(name), MAX_NAME, "characters")
        signed = copy.copy(self)
        signed._by = name
        return signed

    @property
    def name(self) -> str:
        """The name of the campaign."""
        return self._study.study_name

    @property
    def is_deleted(self) -> bool:
        """Whether somebody deleted it."""
        return store.is_deleted(self._study)

    def delete(self) -> None:
        """Removes the campaign from every list. Nothing is lost: `restore` brings it back.

        To restore it later, open it with `Campaign.open(where, name, deleted=True)`.
        """
        store.set_deleted(self._study, datetime.now().isoformat(timespec="seconds"))

    def restore(self) -> None:
        """Brings back a deleted campaign with all of its runs."""
        store.set_deleted(self._study, "")

    @property
    def description(self) -> Description:
        """The present description: somebody may have changed it."""
        return store.description_in(self._study)

    def change(self, description: AnyDescription) -> list[str]:
        """Replaces the description.

        Ranges, steps, choices, constraints, limits, units, notes, the budget and all settings can
        change, as long as every run so far remains valid. The kind of a parameter and what an
        objective wants cannot.

        Args:
            description: The new one, as for `create`.

        Returns:
            What is different, one line each.

        Raises:
            InvalidInput: The description is not valid, or does not fit the runs so far.
        """
        new = store.checked_description(description)
        with self._lock():
            old = self.description
            check_change(old, new, self.runs)
            if different := changes(old, new):
                store.describe_study(self._study, new)
        return different

    @property
    def runs(self) -> list[Run]:
        """All experiments by number, each in its present state."""
        return read_runs(self.study_data, self.description.space.names, self._known)

    @property
    def study_data(self) -> StudyData:
        """What the study of the campaign holds now."""
        return StudyData.of(self._study, self.description.outputs)

    @property
    def status(self) -> Status:
        """The number of experiments by outcome, the best ones, and what is left of the budget."""
        return status_of(self.description, self.runs)

    def run(self, number: int) -> Run:
        """One experiment.

        Args:
            number: The number of the run.

        Returns:
            The run in its present state.

        Raises:
            NotFound: There is no run with this number.
        """
        for run in self.runs:
            if run.number == number:
                return run
        raise NotFound(f"there is no run {number!r} in {self.name}")

    def suggest(self, q: int = 1) -> list[Run]:
        """Suggests the next experiments, which are pending from now on.

        A suggested design whose experiment was lost is suggested again first, as a new run. Others
        who ask at the same time get other suggestions.

        Args:
            q: How many experiments.

        Returns:
            The new runs. `Run.believed` is what the models predict; it is None for the initial
            experiments, which are spread over the space.

        Raises:
            InvalidInput: `q` is not a positive whole number, or no further design is possible.
            BecboError: The budget of failures does not allow so many, and nothing has worked yet
                that could be repeated. Nothing is suggested then.
        """
        q = whole_number("suggest: the number of experiments", q)
        check_budget(self.description, self.study_data, self.runs, q)
        trials = self._retry_lost(q)
        trials += ask_study(self._study, self.description, q - len(trials))
        return [run for run in self.runs if run.trial in trials]

    def plan(self, params: Mapping[str, Any], note: str = "") -> Run:
        """Adds a design of one's own as a pending run, as if it had been suggested.

        Args:
            params: A value for every parameter. Known constraints may be violated. To repeat a
                run, give its `Run.params`.
            note: Anything worth keeping.

        Returns:
            The pending run.

        Raises:
            InvalidInput: A parameter cannot be used.
        """
        description = self.description
        checked = description.space.validate(params)
        return self._added(store.planned_run(description, checked, clean_text(note)))

    def record(
        self,
        number: int,
        value: Value | None = None,
        *,
        failed: bool | str = False,
        lost: bool | str = False,
        measured: Mapping[str, float | None] | None = None,
        note: str | None = None,
        version: int | None = None,
    ) -> Run:
        """Records the result of a pending experiment.

        Give exactly one of `value`, `failed` and `lost`.

        Args:
            number: The number of the run.
            value: The measured value; with several outputs, a dict of values by name, in which
                what was not measured is None or left out.
            failed: The design does not work: the reason, or True. Commas separate several
                reasons, which are then taken to be complete. The models learn from failures.
            lost: The experiment says nothing about its design (power cut, broken sensor): the
                reason, or True. The design is suggested again.
            measured: What was measured although it failed, by the name of the output.
            note: Anything worth keeping.
            version: The `Run.version` that you have seen. If the run has changed since, nothing
                is written.

        Returns:
            The run with its result.

        Raises:
            InvalidInput: The result cannot be used.
            Conflict: The run is recorded already, or has changed since `version`.
        """
        result = entered_result(self.description.outputs, value, failed, lost, measured)
        with self._lock():
            run = self._current(number, version)
            if run.outcome is not Outcome.PENDING:
                raise Conflict(f"{self._recorded(run)}; correct it instead")
            self._finish(run, result, note)
        return self.run(number)

    def correct(
        self,
        number: int,
        value: Value | None = None,
        *,
        failed: bool | str = False,
        lost: bool | str = False,
        measured: Mapping[str, float | None] | None = None,
        note: str | None = None,
        version: int | None = None,
    ) -> Run:
        """Replaces the result of a recorded experiment; the models learn from the new one only.

        Args:
            number: The number of the run, which it keeps.
            value: The measured value, or a dict of values. It replaces the whole result: an output
                that is left out counts as not measured, whatever was recorded before.
            failed: The design does not work: the reason, or True.
            lost: The experiment says nothing about its design: the reason, or True.
            measured: What was measured although it failed.
            note: The new note; None keeps the present one.
            version: The `Run.version` that you have seen.

        Returns:
            The run with its new result. `Run.history` has the old one.

        Raises:
            InvalidInput: The result cannot be used, or the run is pending.
            Conflict: The run has changed since `version`.
        """
        result = entered_result(self.description.outputs, value, failed, lost, measured)
        with self._lock():
            run = self._current(number, version)
            if run.outcome is Outcome.PENDING:
                raise InvalidInput(f"run {number} has no entry to correct; record it")
            note = run.note if note is None else clean_text(note)
            new = store.replaced_run(self.description, run, result, note, self._signature)
            store.write(self._study, [new])
        return self.run(number)

    def undo(self, number: int, *, version: int | None = None) -> Run:
        """Takes back the last entry about a run.

        The run returns to its previous state: pending, or with its earlier result. A second `undo`
        in a row restores the entry. An experiment that was added or imported has no previous state
        and becomes lost.

        Args:
            number: The number of the run.
            version: The `Run.version` that you have seen.

        Returns:
            The run in its previous state.

        Raises:
            InvalidInput: Nothing was recorded about the run.
            Conflict: The run has changed since `version`.
        """
        with self._lock():
            run, description = self._current(number, version), self.description
            if run.outcome is not Outcome.PENDING:
                store.write(self._study, [store.restored_run(description, run, run.before)])
            elif run.before.result.outcome is not Outcome.PENDING:  # its entry was undone
                store.write(self._study, endings=[store.restored_entry(description.outputs, run)])
            else:
                raise InvalidInput(
                    f"run {number} has no entry to undo; withdraw it if nobody will carry it out"
                )
        return self.run(number)

    def undo_last(self, *, entry: int | None = None) -> list[Run]:
        """Takes back the last entry of the campaign; an import counts as one entry.

        Repeated calls walk back through all entries.

        Args:
            entry: The `Entry.trial` of the last entry that you have seen.

        Returns:
            The runs that have changed.

        Raises:
            InvalidInput: There is no entry to take back.
            Conflict: Somebody made another entry since `entry`.
        """
        with self._lock():
            written_last = last_entries(self.runs)
            if not written_last:
                raise InvalidInput("nothing has been recorded yet, or every entry was undone")
            if entry is not None and entry not in [each.trial for _, each in written_last]:
                raise Conflict("there is a newer entry by now")
            description = self.description
            store.write(
                self._study,
                [store.restored_run(description, run, last.before) for run, last in written_last],
            )
        numbers = {run.number for run, _ in written_last}
        return [run for run in self.runs if run.number in numbers]

    def withdraw(self, number: int, *, version: int | None = None) -> Run:
        """Takes back a suggestion that nobody will carry out.

        The run becomes lost, but unlike other lost runs it is not repeated. The models may suggest
        the same design again later; while it is pending they avoid it.

        Args:
            number: The number of the pending run.
            version: The `Run.version` that you have seen.

        Returns:
            The lost run.

        Raises:
            Conflict: The run is recorded already, or has changed since `version`.
        """
        with self._lock():
            run = self._current(number, version)
            if run.outcome is not Outcome.PENDING:
                raise Conflict(f"{self._recorded(run)}; undo that first")
            self._finish(run, WITHDRAWN, None)
        return self.run(number)

    def add(
        self,
        params: Mapping[str, Any],
        value: Value | None = None,
        *,
        failed: bool | str = False,
        measured: Mapping[str, float | None] | None = None,
        note: str = "",
    ) -> Run:
        """Records an experiment that was not suggested here.

        Args:
            params: A value for every parameter. The known constraints may be violated: they
                restrict suggestions, not experiments that were carried out.
            value: The measured value, or a dict of values.
            failed: The design does not work: the reason, or True.
            measured: What was measured although it failed.
            note: Anything worth keeping.

        Returns:
            The new run.

        Raises:
            InvalidInput: A parameter or the result cannot be used.
        """
        description = self.description
        checked = description.space.validate(params)
        result = entered_result(description.outputs, value, failed, measured=measured)
        text = clean_text(note)
        return self._added(store.new_run(description, checked, result, text, self._signature))

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """Several entries that are written, and that `undo_last` takes back, together.

        They are written at the end, all of them or none. Nobody else can write meanwhile.

        Yields:
            The batch, with the runs as they are now.

        Raises:
            Conflict: Another program, such as optuna-dashboard, has ended the trial of a run.
        """
        with self._lock():
            batch = Batch(self.description, self.runs, self._by)
            yield batch
            batch.write(self._study)

    def optimizer(self) -> Optimizer:
        """The runs as an `Optimizer`, for predictions. It is a copy: using it changes nothing."""
        return optimizer_of(self.study_data, plan_of(self.description))

    @property
    def _signature(self) -> dict[str, str]:
        return {BY: self._by} if self._by else {}

    def _added(self, trial: FrozenTrial) -> Run:
        """Adds a trial; returns its run."""
        (number,) = store.write(self._study, [trial])
        return next(run for run in self.runs if run.trial == number)

    def _finish(self, run: Run, result: Result, note: str | None) -> None:
        outputs = self.description.outputs
        ending = store.finished_run(outputs, run, result, note, self._signature)
        store.write(self._study, endings=[ending])

    def _retry_lost(self, at_most: int) -> list[int]:
        """Adds runs with the designs of lost ones; returns the numbers of their trials."""
        description = self.description
        if not runs_to_repeat(self.runs, description.space):
            return []  # so that nobody waits here for a long import, which has the lock
        with self._lock():
            due = runs_to_repeat(self.runs, description.space)[:at_most]
            new = [store.retried_run(self._study, description, run) for run in due]
            return store.write(self._study, new)

    def _current(self, number: int, version: int | None) -> Run:
        run = self.run(number)
        if version is not None and version != run.version:
            now = result_text(run.result, self.description.outputs)
            raise Conflict(f"run {number} has changed meanwhile: it is {now} now")
        return run

    def _recorded(self, run: Run) -> str:
        now = result_text(run.result, self.description.outputs)
        return f"run {run.number} is recorded already: {now}"
