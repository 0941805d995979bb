"""The Optuna study behind a campaign: how it is created, found and written to.

A finished Optuna trial never changes. A correction is therefore a new trial that replaces an old
one; `becbo.campaign.runs` reads the chains back.
"""

from __future__ import annotations

import json
import uuid
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.trial import TrialState

from becbo.campaign.description import Description, describe, read_description
from becbo.campaign.errors import Conflict, NotFound
from becbo.campaign.proposals import plan_of
from becbo.campaign.runs import BATCH, NOTE, REOPENED, RESTORES, Run, RunState, clean_text
from becbo.errors import InvalidInput
from becbo.optuna.internals import add_trial, set_system_attr, set_user_attr
from becbo.optuna.outcomes import OUTCOME, REASON, REPLACES, RETRIES
from becbo.optuna.proposal import next_proposal
from becbo.optuna.spaces import distributions_of
from becbo.optuna.storage import open_storage, study_lock, without_password
from becbo.optuna.study_data import StudyData
from becbo.space import Space
from becbo.trial import PENDING, Outcome, Result

DESCRIPTION = "becbo:campaign"  # attribute of the study
FILE = "becbo.db"  # where campaigns are kept unless another place is given

AnyDescription = Description | Mapping[str, Any] | str | Path  # a path names a file

_STATES = {
    Outcome.PENDING: TrialState.RUNNING,
    Outcome.OK: TrialState.COMPLETE,
    Outcome.FAILED: TrialState.FAIL,
    Outcome.LOST: TrialState.FAIL,
}


def campaign_names(where: str | Path = FILE) -> list[str]:
    """The names of the campaigns in a storage.

    Args:
        where: A file such as becbo.db, or the URL of a database.

    Returns:
        The names in alphabetical order; none if there is no such file.
    """
    return [] if _is_missing(where) else names_in(open_storage(where, heartbeat=None))


def _is_missing(where: str | Path) -> bool:
    """Whether `where` is a file that does not exist: opening it would create it."""
    return "://" not in str(where) and not Path(where).expanduser().exists()


def names_in(storage: BaseStorage) -> list[str]:
    """The names of the campaigns in an open storage, in alphabetical order."""
    summaries = optuna.get_all_study_summaries(storage)
    return sorted(s.study_name for s in summaries if DESCRIPTION in s.user_attrs)


def checked_description(given: AnyDescription) -> Description:
    """A description that a campaign can have, or InvalidInput."""
    if isinstance(given, str | Path):
        description = read_description(given)
    else:
        description = given if isinstance(given, Description) else describe(given)
    # Constraints that contradict each other are an error now, not at the first suggestion.
    next_proposal(StudyData(description.outputs), plan_of(description))
    return description


def create_study(description: Description, where: str | Path, storage: BaseStorage) -> optuna.Study:
    """A new study for a campaign, or InvalidInput if the name is taken."""
    with study_lock(where)():
        # A study without description and trials was left by a program that died just here.
        study = optuna.create_study(
            storage=storage,
            study_name=description.name,
            direction=description.direction,
            load_if_exists=True,
        )
        if not _is_unused(study, description):
            shown = without_password(where)
            raise InvalidInput(f"{shown} already has {description.name!r}; choose another name")
        describe_study(study, description)
    return study


def _is_unused(study: optuna.Study, description: Description) -> bool:
    is_used = DESCRIPTION in study.user_attrs or bool(study.get_trials(deepcopy=False))
    return not is_used and study.direction.name.lower() == description.direction


def open_study(where: str | Path, name: str | None) -> optuna.Study:
    """The study of a campaign, or NotFound."""
    if _is_missing(where):
        raise NotFound(f"there is no file {where}; create a campaign first")
    storage = open_storage(where, heartbeat=None)
    names, shown = names_in(storage), without_password(where)
    if not names:
        raise NotFound(f"{shown} has no campaign; create one first")
    if name is None and len(names) > 1:
        raise NotFound(f"{shown} has several campaigns: {', '.join(names)}; name one of them")
    if name is not None and name not in names:
        raise NotFound(f"{shown} has no campaign {name!r}; it has {', '.join(names)}")
    return load_study(storage, name or names[0])


def load_study(storage: BaseStorage, name: str) -> optuna.Study:
    """The study of a campaign that exists in an open storage."""
    return optuna.load_study(study_name=name, storage=storage)


def describe_study(study: optuna.Study, description: Description) -> None:
    """Stores the description in the study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names([description.objective_heading])  # for optuna-dashboard
    study.set_user_attr(DESCRIPTION, description.to_dict())


def description_in(study: optuna.Study) -> Description:
    """The description that the study stores."""
    return _described(json.dumps(study.user_attrs[DESCRIPTION]))


@lru_cache(maxsize=64)  # every property of a campaign needs it
def _described(content: str) -> Description:
    return describe(json.loads(content))


def add_run(
    study: optuna.Study,
    space: Space,
    params: Mapping[str, Any],
    result: Result,
    note: str = "",
    system_attrs: Mapping[str, Any] | None = None,
) -> int:
    """Adds a trial with these settings and this result; returns its number."""
    trial = optuna.create_trial(
        state=_STATES[result.outcome],
        value=result.value,
        params=dict(params),
        distributions=distributions_of(space),
        user_attrs=_attributes(result, note or None),
        system_attrs=dict(system_attrs or {}),
    )
    return add_trial(study, trial)


def finish_run(
    study: optuna.Study, run: Run, result: Result, note: str | None, batch: str = ""
) -> None:
    """Ends the trial of a pending run."""
    trial = study.get_trials(deepcopy=False)[run.version]
    try:
        # Also without a batch: an import that was killed just here may have left its own.
        set_system_attr(study, trial, BATCH, batch)
        for key, text in _attributes(result, note and clean_text(note)).items():
            set_user_attr(study, trial, key, text)
        study.tell(run.version, result.value, _STATES[result.outcome])
    except (ValueError, optuna.exceptions.UpdateFinishedTrialError) as error:
        # Another program, such as optuna-dashboard, ended it without taking the lock.
        raise Conflict(f"run {run.number} has been recorded meanwhile") from error


def replace_run(
    study: optuna.Study,
    space: Space,
    run: Run,
    result: Result,
    note: str,
    system_attrs: Mapping[str, Any] | None = None,
) -> None:
    """Adds a trial that represents the run from now on."""
    attrs = {REPLACES: run.version, **(system_attrs or {})}
    add_run(study, space, run.params, result, note, attrs)


def repeat_run(study: optuna.Study, space: Space, run: Run) -> int:
    """Adds a pending run with the design of a lost one; returns its number."""
    attrs = {RETRIES: [*run.repeats, run.number]}
    return add_run(study, space, run.params, PENDING, system_attrs=attrs)


def restore_run(study: optuna.Study, space: Space, run: Run, earlier: RunState) -> None:
    """Returns the run to an earlier state."""
    is_pending = earlier.result.outcome is Outcome.PENDING
    attrs = {REOPENED: True} if is_pending else {RESTORES: earlier.entry}
    replace_run(study, space, run, earlier.result, earlier.note, attrs)


def _attributes(result: Result, note: str | None) -> dict[str, str]:
    """What a trial keeps besides its value; the outcome last, because it is what counts."""
    attrs = {} if note is None else {NOTE: note}
    if result.outcome in (Outcome.FAILED, Outcome.LOST):
        attrs |= {REASON: str(result.reasons), OUTCOME: result.outcome.value}
    return attrs


@dataclass(frozen=True)
class Batch:
    """Entries that `Campaign.undo_last` takes back together; see `Campaign.batch`.

    Attributes:
        runs: The runs when the batch began.
    """

    study: optuna.Study
    space: Space
    runs: list[Run]
    _id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def add(self, params: Mapping[str, Any], result: Result, note: str = "") -> int:
        """Adds an experiment that was not suggested here.

        Args:
            params: A valid value for every parameter.
            result: What came out.
            note: Anything worth keeping.

        Returns:
            The number of the new run.
        """
        return add_run(self.study, self.space, params, result, note, {BATCH: self._id})

    def record(self, run: Run, result: Result, note: str) -> None:
        """Records a pending run, or replaces what was recorded about another one.

        Args:
            run: One of `runs`.
            result: What came out.
            note: Anything worth keeping.

        Raises:
            Conflict: Another program ended the trial of the run.
        """
        if run.outcome is Outcome.PENDING:
            finish_run(self.study, run, result, note or None, self._id)
        else:
            replace_run(self.study, self.space, run, result, note, {BATCH: self._id})
