"""A campaign: an Optuna study with a description, used by people instead of a program.

The study is the only place where anything is kept, so that Python, the page and optuna-dashboard
see the same.
"""

from __future__ import annotations

import json
import uuid
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.trial import TrialState

from becbo.campaign import tables
from becbo.campaign.changes import changes, check_change
from becbo.campaign.description import Description, describe, read_description
from becbo.campaign.files import Cell, read_table
from becbo.campaign.runs import (
    BATCH,
    NOTE,
    REOPENED,
    RESTORES,
    WITHDRAWN,
    Result,
    Run,
    Version,
    clean,
    read_runs,
    runs_to_repeat,
)
from becbo.campaign.status import Status, plan_of, status_of
from becbo.errors import BecboError, InvalidInput
from becbo.optimizer import Optimizer, whole_number
from becbo.optuna.internals import add_trial, set_system_attr, set_user_attr, storage_of
from becbo.optuna.outcomes import OUTCOME, REASON, REPLACES, RETRIES
from becbo.optuna.proposal import next_proposal, optimizer_of
from becbo.optuna.sampler import BECBOSampler
from becbo.optuna.spaces import distributions_of
from becbo.optuna.storage import open_storage, study_lock
from becbo.optuna.study_data import StudyData
from becbo.trial import Outcome

DESCRIPTION = "becbo:campaign"  # attribute of the study
FILE = "becbo.db"  # where campaigns live unless told otherwise

_STATES = {
    Outcome.PENDING: TrialState.RUNNING,
    Outcome.OK: TrialState.COMPLETE,
    Outcome.FAILED: TrialState.FAIL,
    Outcome.LOST: TrialState.FAIL,
}


class Conflict(BecboError):
    """Somebody else was faster; the message says what is there now."""


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    added: list[Run]  # new runs
    recorded: list[Run]  # runs that were pending, or taken back, and the table has results of
    n_known: int  # rows that were here already, or are still pending
    noted: list[str]  # columns of other names, now in the notes
    differing: list[Run]  # known runs as the table has them, with another reason or note than here
    corrected: list[Run]  # known runs whose missing reason or note the table has
    blank: list[Run]  # taken as failed, because the table has no value, outcome or reason
    n_pending: int  # of the rows in `n_known`, those that have no result yet

    @property
    def counts(self) -> Counter[Outcome]:
        """How the experiments that were added or recorded ended."""
        return Counter(run.outcome for run in (*self.added, *self.recorded))


def _given(description: Description | Mapping[str, Any] | str | Path) -> Description:
    """A description, a dict or a file as a description that a campaign can have."""
    if isinstance(description, str | Path):
        description = read_description(description)
    elif not isinstance(description, Description):
        description = describe(description)
    # Constraints that contradict each other are an error now, not at the first suggestion.
    next_proposal(StudyData(description.objective.direction), plan_of(description))
    return description


@lru_cache(maxsize=64)  # it is asked for again and again
def _described(content: str) -> Description:
    return describe(json.loads(content))


def _describe_study(study: optuna.Study, description: Description) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names([description.objective.heading])  # for optuna-dashboard
    study.set_user_attr(DESCRIPTION, description.to_dict())


def campaigns(where: str | Path = FILE) -> list[str]:
    """The names of the campaigns in a storage."""
    return [] if _is_missing(where) else _names(open_storage(where, heartbeat=None))


def _is_missing(where: str | Path) -> bool:
    """Whether a file is meant that is not there: opening it would create it."""
    return "://" not in str(where) and not Path(where).expanduser().exists()


def _names(storage: BaseStorage) -> list[str]:
    summaries = optuna.get_all_study_summaries(storage)
    return sorted(s.study_name for s in summaries if DESCRIPTION in s.user_attrs)


class Campaign:
    """Experiments that may fail, planned and recorded by people.

    Make one with `Campaign.create`, come back to it with `Campaign.open`:

        campaign = Campaign.create("coating.yaml", "lab.db")  # once
        campaign = Campaign.open("lab.db")  # ever after
        run = campaign.suggest()[0]
        print(run.number, run.params, run.believed)
        campaign.record(run.number, 812.5, note="slight haze")  # it worked
        # campaign.record(run.number, failed="it peeled off")   this design does not work
        # campaign.record(run.number, lost="power cut")         says nothing about the design
        campaign.export("coating.xlsx")

    A run has the number of its first trial in the study; where entries were corrected, numbers
    are left out. Several people and programs may use it at once, also the command line, the web
    page and optuna-dashboard: an entry is written completely or not at all, and nobody overwrites
    what somebody else has written unseen. Every error is an `InvalidInput` or, where somebody else
    was faster, a `Conflict`; nothing has changed then.
    """

    def __init__(self, where: str | Path, study: optuna.Study) -> None:
        """Use `create` or `open`."""
        self.where = where
        self._study = study
        self._turn = study_lock(where)

    @classmethod
    def create(
        cls,
        description: Description | Mapping[str, Any] | str | Path,
        where: str | Path = FILE,
    ) -> Campaign:
        """A new campaign from a description, a dict or a .yaml, .toml or .json file.

        `where` is a file such as becbo.db, which may hold many campaigns, or the URL of a database.
        """
        description = _given(description)
        storage = open_storage(where, heartbeat=None)
        with study_lock(where)():
            # What exists without a description and without trials was left by a program that
            # died just here.
            study = optuna.create_study(
                storage=storage,
                study_name=description.name,
                direction=description.objective.direction,
                load_if_exists=True,
            )
            if not _is_blank(study, description):
                raise InvalidInput(f"{where} has {description.name!r} already; choose another name")
            _describe_study(study, description)
        return cls(where, study)

    @classmethod
    def open(cls, where: str | Path = FILE, name: str | None = None) -> Campaign:
        """The campaign of that name; the name may be left out where there is only one."""
        if _is_missing(where):
            raise InvalidInput(f"there is no file {where}; make a campaign with `becbo new`")
        storage = open_storage(where, heartbeat=None)
        names = _names(storage)
        if not names:
            raise InvalidInput(f"{where} has no campaign; make one with `becbo new`")
        if name is None and len(names) > 1:
            raise InvalidInput(
                f"{where} has several campaigns: {', '.join(names)}; name one, "
                "with --campaign on the command line"
            )
        if name is not None and name not in names:
            raise InvalidInput(f"{where} has no campaign {name!r}; it has {', '.join(names)}")
        return cls(where, optuna.load_study(study_name=name or names[0], storage=storage))

    @property
    def name(self) -> str:
        """Of the campaign."""
        return self._study.study_name

    @property
    def description(self) -> Description:
        """What the campaign is about, as it stands now: somebody may have changed it."""
        return _described(json.dumps(self._study.user_attrs[DESCRIPTION]))

    def change(self, description: Description | Mapping[str, Any] | str | Path) -> list[str]:
        """Gives the campaign another description; returns what is different, one line each.

        Ranges and steps, constraints, units, notes, the budget and all settings may change, as
        long as every run so far is possible. What a parameter is may not, nor the aim.
        """
        new = _given(description)
        with self._turn():
            old = self.description
            check_change(old, new, self.runs)
            if different := changes(old, new):
                _describe_study(self._study, new)
        return different

    @property
    def runs(self) -> list[Run]:
        """All experiments by number, each as it stands now."""
        return read_runs(self.study_data, self.description.space.names)

    @property
    def study_data(self) -> StudyData:
        """What the study of the campaign holds now."""
        return StudyData.of(self._study)

    @property
    def status(self) -> Status:
        """How many experiments there are, the best one, and what is left of the budget."""
        return status_of(self.description, self.runs)

    def run(self, number: int) -> Run:
        """The experiment with that number."""
        for run in self.runs:
            if run.number == number:
                return run
        raise InvalidInput(f"there is no run {number!r}; `becbo status --all` lists them")

    def suggest(self, q: int = 1) -> list[Run]:
        """The next q experiments, which are pending from now on.

        A suggested design whose experiment was lost is suggested again first, as a run of its own.
        `Run.believed` says what the models expect; it is None for the first experiments, which are
        spread over the space. Others who ask at the same time get other suggestions.
        """
        q = whole_number("suggest: the number of experiments", q)
        numbers = self._repeat_lost(q)
        asking = optuna.load_study(
            study_name=self.name,
            storage=storage_of(self._study),
            sampler=_sampler(self.description),
        )
        distributions = distributions_of(self.description.space)
        while len(numbers) < q:
            numbers.append(asking.ask(distributions).number)
        return [run for run in self.runs if run.number in numbers]

    def record(
        self,
        number: int,
        value: float | None = None,
        *,
        failed: bool | str = False,
        lost: bool | str = False,
        note: str | None = None,
        version: int | None = None,
    ) -> Run:
        """Writes down what came out of a pending experiment.

        Give the value, or `failed` (the design does not work) or `lost` (the experiment says
        nothing: power cut, broken sensor), each with the reason or True; commas separate several
        reasons, which are taken to be all there are. Failures are learned from; a lost run counts
        for nothing, and its design is suggested again.

        `version` is that of the run you looked at: if somebody has written about it since,
        nothing changes and `Conflict` says what is there.
        """
        result = Result.of(value, failed, lost)
        with self._turn():
            run = self._current(number, version)
            if run.outcome is not Outcome.PENDING:
                raise Conflict(
                    f"run {number} is recorded already: {run.result}; correct it instead"
                )
            self._tell(run, result, note)
        return self.run(number)

    def correct(
        self,
        number: int,
        value: float | None = None,
        *,
        failed: bool | str = False,
        lost: bool | str = False,
        note: str | None = None,
        version: int | None = None,
    ) -> Run:
        """Writes something else about a recorded experiment; arguments as in `record`.

        The run keeps its number, and what was there is kept in `Run.history`. The models learn
        from the new entry only. Without a `note` the earlier one stays.
        """
        result = Result.of(value, failed, lost)
        with self._turn():
            run = self._current(number, version)
            if run.outcome is Outcome.PENDING:
                raise InvalidInput(f"run {number} has no entry to correct; record it")
            self._replace(run, result, run.note if note is None else clean(note))
        return self.run(number)

    def undo(self, number: int, *, version: int | None = None) -> Run:
        """Takes the last entry about a run back.

        The run is again what it was before: pending, or with its earlier result; undoing that
        brings the entry back. An experiment that was added by hand or imported has no earlier
        state and becomes lost.
        """
        with self._turn():
            run = self._current(number, version)
            if run.outcome is Outcome.PENDING:
                raise InvalidInput(
                    f"run {number} has no entry to take back; withdraw it if nobody will do it"
                )
            self._restore(run, run.before)
        return self.run(number)

    def undo_last(self) -> list[Run]:
        """Takes the last entry of all back, and an import as a whole; returns the runs concerned.

        Done again and again, it walks back through all entries.
        """
        with self._turn():
            written = [(run, run.entry) for run in self.runs if run.entry is not None]
            if not written:
                raise InvalidInput("nothing has been recorded yet, or everything was taken back")
            _, last = max(written, key=lambda each: (each[1].written, each[1].trial))
            together = [
                (run, entry)
                for run, entry in written
                if entry == last or (last.batch and entry.batch == last.batch)
            ]
            for run, entry in together:
                self._restore(run, entry.before)
        numbers = {run.number for run, _ in together}
        return [run for run in self.runs if run.number in numbers]

    def withdraw(self, number: int, *, version: int | None = None) -> Run:
        """Takes a suggestion back, as if it had not been made.

        The run becomes lost, but is not repeated as other lost runs are. The models may come to
        the same design again; they avoid it as long as it is pending.
        """
        with self._turn():
            run = self._current(number, version)
            if run.outcome is not Outcome.PENDING:
                raise Conflict(f"run {number} is recorded already: {run.result}; undo that first")
            self._tell(run, Result(Outcome.LOST, reason=WITHDRAWN), None)
        return self.run(number)

    def add(
        self,
        params: Mapping[str, Any],
        value: float | None = None,
        *,
        failed: bool | str = False,
        note: str = "",
    ) -> Run:
        """Records an experiment that was not suggested here.

        The known constraints need not hold: they restrict suggestions, not what has been done.
        """
        checked = self.description.space.validate(params)
        result = Result.of(value, failed)
        return self.run(self._write(checked, result, clean(note)))

    def import_table(self, path: str | Path) -> Imported:
        """Adds the experiments of a .csv or .xlsx file, all of them or none.

        Columns are headed by the names of the parameters and of the objective, with or without
        the unit. An empty or `failed` cell of the objective means that the experiment failed.
        Columns of other names go into the notes. Everything that is wrong is in the `BadTable`
        that is raised.

        A row with the number or the design of a pending run records that run, or leaves it
        pending if it has a number and no result. A row that is here already is skipped, so that a
        table that has grown can be imported again. So can one whose import was killed half way, or
        taken back. Of a row that is here already, a reason or note that was missing is taken over.
        """
        return self.import_cells(read_table(path))

    def import_cells(self, cells: Sequence[Sequence[Cell]]) -> Imported:
        """Adds the experiments of a table given as cells, headings first."""
        rows = tables.understand(self.description, cells)
        batch = uuid.uuid4().hex
        with self._turn():
            todo = tables.sort_out(self.description.space, rows, self.runs)
            for run, row in todo.to_record:
                if run.outcome is Outcome.PENDING:
                    self._tell(run, row.result, row.note or None, batch)
                else:
                    self._replace(run, row.result, row.note, {BATCH: batch})
            for run in todo.to_correct:
                self._replace(run, run.result, run.note, {BATCH: batch})
            added = {
                self._write(row.params, row.result, row.note, {BATCH: batch}): row
                for row in todo.to_add
            }
        recorded = {run.number: row for run, row in todo.to_record}
        corrected = {run.number for run in todo.to_correct}
        taken, runs = added | recorded, self.runs
        return Imported(
            added=[run for run in runs if run.number in added],
            recorded=[run for run in runs if run.number in recorded],
            n_known=len(rows) - len(taken) - len(corrected),
            noted=tables.noted(self.description, cells) if taken or corrected else [],
            differing=todo.differing,
            corrected=[run for run in runs if run.number in corrected],
            blank=[run for run in runs if run.number in taken and taken[run.number].is_blank],
            n_pending=sum(row.result.outcome is Outcome.PENDING for row in rows),
        )

    def export(self, path: str | Path) -> Path:
        """Writes all runs to a .csv, .xlsx or .json file."""
        path = Path(path)
        content = tables.content(path.suffix, self.description, self.runs)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise InvalidInput(f"cannot write {path}: {error.strerror}") from error
        return path

    def report(self, path: str | Path) -> Path:
        """Writes what was learned so far to an .html file; needs the extra `becbo[web]`."""
        from becbo.campaign.report import write_report

        return write_report(self, path)

    def optimizer(self) -> Optimizer:
        """The runs as an `Optimizer`, to predict with; it is a copy and changes nothing here."""
        return optimizer_of(self.study_data, plan_of(self.description))

    def _repeat_lost(self, at_most: int) -> list[int]:
        """New runs with the designs of lost ones; returns their numbers."""
        space = self.description.space
        with self._turn():
            return [
                self._write(
                    run.params,
                    Result(Outcome.PENDING),
                    system_attrs={RETRIES: [*run.repeats, run.number]},
                )
                for run in runs_to_repeat(self.runs, space)[:at_most]
            ]

    def _current(self, number: int, version: int | None) -> Run:
        run = self.run(number)
        if version is not None and version != run.version:
            raise Conflict(f"run {number} has changed meanwhile: it is {run.result} now")
        return run

    def _tell(self, run: Run, result: Result, note: str | None, batch: str = "") -> None:
        """Ends the trial of a pending run."""
        trial = self._study.get_trials(deepcopy=False)[run.version]
        try:
            # Also without a batch: an import that was killed just here may have left its own.
            set_system_attr(self._study, trial, BATCH, batch)
            for key, text in _attributes(result, note and clean(note)).items():
                set_user_attr(self._study, trial, key, text)
            self._study.tell(run.version, result.value, _STATES[result.outcome])
        except (ValueError, optuna.exceptions.UpdateFinishedTrialError) as error:
            # Somebody ended it without asking for a turn, such as optuna-dashboard.
            raise Conflict(f"run {run.number} has been recorded meanwhile") from error

    def _restore(self, run: Run, earlier: Version) -> None:
        """Makes the run again what it was."""
        is_open = earlier.result.outcome is Outcome.PENDING
        attrs = {REOPENED: True} if is_open else {RESTORES: earlier.entry}
        self._replace(run, earlier.result, earlier.note, attrs)

    def _replace(
        self,
        run: Run,
        result: Result,
        note: str,
        system_attrs: Mapping[str, Any] | None = None,
    ) -> None:
        """A new trial that stands for the run from now on."""
        self._write(run.params, result, note, {REPLACES: run.version, **(system_attrs or {})})

    def _write(
        self,
        params: Mapping[str, Any],
        result: Result,
        note: str = "",
        system_attrs: Mapping[str, Any] | None = None,
    ) -> int:
        """Adds a trial and returns its number."""
        trial = optuna.create_trial(
            state=_STATES[result.outcome],
            value=result.value,
            params=dict(params),
            distributions=distributions_of(self.description.space),
            user_attrs=_attributes(result, note or None),
            system_attrs=dict(system_attrs or {}),
        )
        return add_trial(self._study, trial)


def _is_blank(study: optuna.Study, description: Description) -> bool:
    """Whether nobody has used the study, so that it can become that campaign."""
    is_used = DESCRIPTION in study.user_attrs or bool(study.get_trials(deepcopy=False))
    return not is_used and study.direction.name.lower() == description.objective.direction


def _attributes(result: Result, note: str | None) -> dict[str, str]:
    """What a trial keeps besides its value; the outcome last, because it is what counts."""
    attrs = {} if note is None else {NOTE: note}
    if result.outcome in (Outcome.FAILED, Outcome.LOST):
        attrs |= {REASON: result.reason, OUTCOME: result.outcome.value}
    return attrs


def _sampler(described: Description) -> BECBOSampler:
    return BECBOSampler(
        space=described.space,
        method=described.method,
        seed=described.seed,
        n_startup=described.n_initial,
        noisy=described.noisy,
        risk=described.risk,
    )
