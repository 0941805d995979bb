"""What is under way in a storage: campaigns, and the studies of programs beside them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from becbo.campaign.campaign import Campaign
from becbo.campaign.store import load_study, names_in
from becbo.errors import InvalidInput
from becbo.optuna.internals import close_connections, last_signs
from becbo.optuna.journal import ALIVE
from becbo.optuna.measured import unknown_names
from becbo.optuna.outcomes import lost_among, result_of
from becbo.optuna.storage import HEARTBEAT, MISSED, open_storage
from becbo.optuna.study_data import StudyData
from becbo.outputs import Objective, Outputs, Recorded
from becbo.trial import Outcome


@dataclass(frozen=True)
class StudyState:
    """What is in a campaign, or in the study of a program.

    Attributes:
        name: Its name.
        is_campaign: Whether people run its experiments.
        is_deleted: Whether it is a campaign that somebody deleted.
        counts: The number of experiments by outcome: `ok`, `failed`, `lost`, `pending`; in the
            study of a program `waiting` too, for designs that no worker has taken yet.
        pending: Numbers of runs or trials without a result.
        stale: Those among them whose worker has given no sign of life for too long.
    """

    name: str
    is_campaign: bool
    is_deleted: bool
    counts: dict[str, int]
    pending: list[int]
    stale: list[int]


def study_states(where: str | Path) -> list[StudyState]:
    """What is in a storage, by name.

    Args:
        where: A file such as becbo.db, or the URL of a database.

    Returns:
        One state for each campaign and each study.
    """
    storage = open_storage(where, heartbeat=None)
    try:
        names = sorted(study.study_name for study in storage.get_all_studies())
        campaigns = {*names_in(storage), *names_in(storage, deleted=True)}
        studies = [load_study(storage, name) for name in names]
        return [
            _of_campaign(Campaign(where, study)) if name in campaigns else _of_study(study)
            for name, study in zip(names, studies, strict=True)
        ]
    finally:
        close_connections(storage)


def _of_campaign(campaign: Campaign) -> StudyState:
    runs = campaign.runs
    counts = Counter(run.outcome.value for run in runs)
    pending = [run.number for run in runs if run.outcome is Outcome.PENDING]
    return StudyState(campaign.name, True, campaign.is_deleted, dict(counts), pending, [])


def _of_study(study: optuna.Study) -> StudyState:
    data = _data_of(study)
    lost = lost_among(data.trials, data.user_attrs)
    # Only programs know what else is measured; a trial with nothing but that worked all the same.
    more = {name for trial in data.trials for name in unknown_names(trial, data.outputs)}
    outputs = Outputs.of([*data.outputs, *(Recorded(name) for name in more if name.strip())])
    counts = Counter(_outcome(trial, lost, outputs) for trial in data.trials)
    running = [trial for trial in data.trials if trial.state is TrialState.RUNNING]
    signs = last_signs(study, running)
    for trial in running:
        if ALIVE in trial.system_attrs:  # where a journal has it
            signs[trial.number] = datetime.fromtimestamp(trial.system_attrs[ALIVE])
    latest = datetime.now() - timedelta(seconds=HEARTBEAT * MISSED)
    stale = [number for number, sign in signs.items() if sign < latest]
    pending = [trial.number for trial in running]
    return StudyState(study.study_name, False, False, dict(counts), pending, stale)


def _data_of(study: optuna.Study) -> StudyData:
    """What a study holds, also one whose metrics have names that are no names of outputs."""
    try:
        return StudyData.of(study)
    except InvalidInput:
        outputs = Outputs.of([Objective(f"value {i}") for i in range(len(study.directions))])
        return StudyData(outputs, study.get_trials(deepcopy=False), study.user_attrs)


def _outcome(trial: FrozenTrial, lost: frozenset[int], outputs: Outputs) -> str:
    if trial.state is TrialState.WAITING:
        return "waiting"
    if trial.state is TrialState.RUNNING:  # also if it is marked already
        return Outcome.PENDING.value
    return str(result_of(trial, lost, outputs=outputs).outcome.value)
