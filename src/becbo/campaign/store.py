"""The Optuna study behind a campaign: how it is created, found and written to.

A finished Optuna trial never changes. A correction is therefore a new trial that replaces an old
one; `becbo.campaign.runs` reads the chains back.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from becbo.campaign.describing import describe, read_description
from becbo.campaign.description import Description
from becbo.campaign.errors import Conflict, NotFound
from becbo.campaign.proposals import plan_of
from becbo.campaign.runs import BATCH, BY, NOTE, REOPENED, RESTORES, Run, RunState, clean_text
from becbo.errors import InvalidInput
from becbo.optuna.bulk import Ending, write_trials
from becbo.optuna.internals import replace_choices
from becbo.optuna.measured import (
    VALUES,
    name_values,
    study_directions,
    study_values,
    value_names,
)
from becbo.optuna.outcomes import FIXED, OUTCOME, REASON, REPLACES, RETRIES
from becbo.optuna.proposal import next_proposal
from becbo.optuna.spaces import distributions_of
from becbo.optuna.storage import open_storage, study_lock, without_password
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.trial import PENDING, Outcome, Result

DESCRIPTION = "becbo:campaign"  # attribute of the study
DELETED = "becbo:deleted"  # attribute of the study: when somebody deleted it, or ""
FILE = "becbo.db"  # where campaigns are kept unless another place is given

AnyDescription = Description | Mapping[str, Any] | str | Path  # a path names a file

_STATES = {
    Outcome.PENDING: TrialState.RUNNING,
    Outcome.OK: TrialState.COMPLETE,
    Outcome.FAILED: TrialState.FAIL,
    Outcome.LOST: TrialState.FAIL,
}


def campaign_names(where: str | Path = FILE, *, deleted: bool = False) -> list[str]:
    """The names of the campaigns in a storage.

    Args:
        where: A file such as becbo.db, or the URL of a database.
        deleted: Whether to name those that somebody deleted instead.

    Returns:
        The names in alphabetical order; none if there is no such file.
    """
    if _is_missing(where):
        return []
    return names_in(open_storage(where, heartbeat=None), deleted=deleted)


def _is_missing(where: str | Path) -> bool:
    """Whether `where` is a file that does not exist: opening it would create it."""
    return "://" not in str(where) and not Path(where).expanduser().exists()


def names_in(storage: BaseStorage, *, deleted: bool = False) -> list[str]:
    """The names of the campaigns in an open storage, or of deleted ones, in alphabetical order."""
    return sorted(
        study.study_name
        for study in storage.get_all_studies()
        if DESCRIPTION in study.user_attrs and bool(study.user_attrs.get(DELETED)) is deleted
    )


def is_deleted(study: optuna.Study) -> bool:
    """Whether somebody deleted the campaign."""
    return bool(study.user_attrs.get(DELETED))


def set_deleted(study: optuna.Study, when: str) -> None:
    """Hides a campaign from every list, or shows it again if `when` is empty."""
    study.set_user_attr(DELETED, when)


def checked_description(given: AnyDescription) -> Description:
    """A description that a campaign can have, or InvalidInput."""
    if isinstance(given, str | Path):
        description = read_description(given)
    else:
        description = given if isinstance(given, Description) else describe(given)
    # A method that does not fit and constraints that contradict each other are errors now, not at
    # the first suggestion.
    next_proposal(StudyData(description.outputs), plan_of(description))
    return description


def create_study(description: Description, where: str | Path, storage: BaseStorage) -> optuna.Study:
    """A new study for a campaign, or InvalidInput if the name is taken."""
    with study_lock(where)():
        # A study without description and trials was left by a program that died just here.
        study = optuna.create_study(
            storage=storage,
            study_name=description.name,
            directions=study_directions(description.outputs),
            load_if_exists=True,
        )
        if not _is_unused(study, description):
            state = " among its deleted campaigns" if is_deleted(study) else ""
            raise InvalidInput(
                f"{without_password(where)} already has {description.name!r}{state}; choose "
                "another name"
            )
        describe_study(study, description)
    return study


def _is_unused(study: optuna.Study, description: Description) -> bool:
    is_used = DESCRIPTION in study.user_attrs or bool(study.get_trials(deepcopy=False))
    directions = [direction.name.lower() for direction in study.directions]
    return not is_used and directions == study_directions(description.outputs)


def open_study(where: str | Path, name: str | None, *, deleted: bool = False) -> optuna.Study:
    """The study of a campaign, or of a deleted one, or NotFound."""
    if _is_missing(where):
        raise NotFound(f"there is no file {where}; create a campaign first")
    storage = open_storage(where, heartbeat=None)
    names, shown = names_in(storage, deleted=deleted), without_password(where)
    campaign = "deleted campaign" if deleted else "campaign"
    if not deleted and name is not None and name in names_in(storage, deleted=True):
        raise NotFound(f"{name!r} is among the deleted campaigns of {shown}; restore it first")
    if not names:
        remedy = "" if deleted else "; create one first"
        raise NotFound(f"{shown} has no {campaign}{remedy}")
    if name is None and len(names) > 1:
        raise NotFound(f"{shown} has several {campaign}s: {', '.join(names)}; name one of them")
    if name is not None and name not in names:
        raise NotFound(f"{shown} has no {campaign} {name!r}; it has {', '.join(names)}")
    return load_study(storage, name or names[0])


def load_study(storage: BaseStorage, name: str) -> optuna.Study:
    """The study of a campaign that exists in an open storage."""
    return optuna.load_study(study_name=name, storage=storage)


def describe_study(study: optuna.Study, description: Description) -> None:
    """Stores the description in the study; the trials get choices that were added or removed."""
    name_values(study, value_names(description.outputs, description.headings))
    before = study.user_attrs.get(DESCRIPTION)
    choices = {} if before is None else _changed_choices(describe(before), description)
    if choices:
        replace_choices(study, choices, {DESCRIPTION: description.to_dict()})
    else:
        study.set_user_attr(DESCRIPTION, description.to_dict())


def _changed_choices(
    old: Description, new: Description
) -> dict[str, optuna.distributions.BaseDistribution]:
    before, after = distributions_of(old.space), distributions_of(new.space)
    return {
        name: distribution
        for name, distribution in after.items()
        if isinstance(distribution, optuna.distributions.CategoricalDistribution)
        and distribution != before[name]
    }


def description_in(study: optuna.Study) -> Description:
    """The description that the study stores."""
    return _described(json.dumps(study.user_attrs[DESCRIPTION]))


@lru_cache(maxsize=64)  # every property of a campaign needs it
def _described(content: str) -> Description:
    return describe(json.loads(content))


def new_run(
    description: Description,
    params: Mapping[str, Any],
    result: Result,
    note: str = "",
    system_attrs: Mapping[str, Any] | None = None,
) -> FrozenTrial:
    """A trial with these settings and this result, which `write` adds."""
    state, values = _as_told(result, description.outputs)
    return optuna.create_trial(
        state=state,
        values=values,
        params=dict(params),
        distributions=distributions_of(description.space, params),
        user_attrs=_attributes(result, note or None, description.outputs),
        system_attrs=dict(system_attrs or {}),
    )


def planned_run(description: Description, params: Mapping[str, Any], note: str) -> FrozenTrial:
    """A pending trial with a design that somebody chose."""
    return new_run(description, params, PENDING, note, {FIXED: dict(params)})


def retried_run(study: optuna.Study, description: Description, run: Run) -> FrozenTrial:
    """A pending trial with the design of a lost run."""
    lost = study.get_trials(deepcopy=False)[run.trial]
    attrs = {RETRIES: [*lost.system_attrs.get(RETRIES, ()), run.trial]}
    return new_run(description, run.params, PENDING, system_attrs=attrs)


def replaced_run(
    description: Description,
    run: Run,
    result: Result,
    note: str,
    system_attrs: Mapping[str, Any] | None = None,
) -> FrozenTrial:
    """A trial that represents the run from now on."""
    attrs = {REPLACES: run.version, **(system_attrs or {})}
    return new_run(description, run.params, result, note, attrs)


def restored_run(description: Description, run: Run, earlier: RunState) -> FrozenTrial:
    """A trial with which the run returns to an earlier state."""
    is_pending = earlier.result.outcome is Outcome.PENDING
    attrs = {REOPENED: True} if is_pending else {RESTORES: earlier.entry, BY: earlier.by}
    return replaced_run(description, run, earlier.result, earlier.note, attrs)


def restored_entry(outputs: Outputs, run: Run) -> Ending:
    """How the trial of a run ends that is pending only because its entry was undone."""
    earlier = run.before
    attrs = {RESTORES: earlier.entry, BY: earlier.by}
    return finished_run(outputs, run, earlier.result, earlier.note, attrs)


def finished_run(
    outputs: Outputs,
    run: Run,
    result: Result,
    note: str | None,
    system_attrs: Mapping[str, Any] | None = None,
) -> Ending:
    """How the trial of a pending run ends."""
    state, values = _as_told(result, outputs)
    attrs = _attributes(result, note and clean_text(note), outputs)
    return Ending(run.version, state, values, attrs, system_attrs or {})


def write(
    study: optuna.Study, new: Sequence[FrozenTrial] = (), endings: Sequence[Ending] = ()
) -> list[int]:
    """Writes entries, all of them or none; returns the numbers of the new trials.

    Raises:
        Conflict: Another program, such as optuna-dashboard, ended a trial without taking the lock.
    """
    try:
        return write_trials(study, new, endings)
    except optuna.exceptions.UpdateFinishedTrialError as error:
        what = "the run has" if len(endings) == 1 else "one of the runs has"
        raise Conflict(f"{what} been recorded meanwhile") from error


def _as_told(result: Result, outputs: Outputs) -> tuple[TrialState, list[float] | None]:
    """State and values of a trial in Optuna, where a part of the objectives is none."""
    state = _STATES[result.outcome]
    if state is not TrialState.COMPLETE:
        return state, None
    values = study_values(result.values, outputs)
    return (TrialState.FAIL if values is None else state), values


def _attributes(result: Result, note: str | None, outputs: Outputs) -> dict[str, Any]:
    """What a trial keeps besides its value; the outcome last, because it is what counts.

    A single value that Optuna keeps is not kept twice.
    """
    attrs: dict[str, Any] = {} if note is None else {NOTE: note}
    if result.outcome is Outcome.PENDING or (outputs.is_single and result.outcome is Outcome.OK):
        return attrs
    if result.outcome is not Outcome.OK:
        attrs[REASON] = str(result.reasons)
    return attrs | {VALUES: dict(result.values), OUTCOME: result.outcome.value}


@dataclass(frozen=True)
class Batch:
    """Entries that are written, and that `Campaign.undo_last` takes back, together.

    Attributes:
        description: The campaign.
        runs: The runs when the batch began.
        by: Who writes.
        trials: The numbers of the trials that were added, once everything is written.
    """

    description: Description
    runs: list[Run]
    by: str = ""
    trials: list[int] = field(default_factory=list)
    _added: list[FrozenTrial] = field(default_factory=list)
    _replaced: list[FrozenTrial] = field(default_factory=list)
    _endings: list[Ending] = field(default_factory=list)
    _id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def add(self, params: Mapping[str, Any], result: Result, note: str = "") -> None:
        """Adds an experiment that was not suggested here.

        Args:
            params: A valid value for every parameter.
            result: What came out.
            note: Anything worth keeping.
        """
        self._added.append(new_run(self.description, params, result, note, self._signature))

    def record(self, run: Run, result: Result, note: str) -> None:
        """Records a pending run, or replaces what was recorded about another one.

        Args:
            run: One of `runs`.
            result: What came out.
            note: Anything worth keeping.
        """
        if run.outcome is Outcome.PENDING:
            outputs = self.description.outputs
            ending = finished_run(outputs, run, result, note or None, self._signature)
            self._endings.append(ending)
        else:
            self._replaced.append(
                replaced_run(self.description, run, result, note, self._signature)
            )

    def write(self, study: optuna.Study) -> None:
        """Writes everything, or nothing and raises Conflict."""
        numbers = write(study, [*self._replaced, *self._added], self._endings)
        self.trials.extend(numbers[len(self._replaced) :])

    @property
    def _signature(self) -> dict[str, str]:
        return {BATCH: self._id, BY: self.by}
