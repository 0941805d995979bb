"""What a campaign suggests next: its study and its settings, as the engine takes them."""

from __future__ import annotations

from collections.abc import Sequence

import optuna

from becbo.campaign.description import Description
from becbo.campaign.runs import REPEAT, Run, runs_to_repeat
from becbo.optuna.internals import forget_distributions, storage_of
from becbo.optuna.proposal import Plan, next_proposal, optimizer_of
from becbo.optuna.sampler import BECBOSampler
from becbo.optuna.spaces import StudySpace, distributions_of
from becbo.optuna.study_data import StudyData
from becbo.trial import Trial


def plan_of(description: Description) -> Plan:
    """How the study of a campaign is continued."""
    return Plan(StudySpace.of(description.space), description.planned)


def next_suggestion(description: Description, study: StudyData, runs: Sequence[Run]) -> Trial:
    """What `Campaign.suggest` would suggest now. Nothing becomes pending.

    Args:
        description: The campaign.
        study: What its study holds.
        runs: The runs in that study.

    Returns:
        The suggestion.
    """
    for run in runs_to_repeat(runs, description.space):
        return Trial(0, run.params, origin=REPEAT)
    return next_proposal(study, plan_of(description))


def check_budget(description: Description, study: StudyData, runs: Sequence[Run], n: int) -> None:
    """Refuses what a budget of failures does not allow before anything is written.

    Args:
        description: The campaign.
        study: What its study holds.
        runs: The runs in that study.
        n: How many suggestions somebody asks for; those that repeat lost runs come first.

    Raises:
        BecboError: More failures could break the budget, and nothing has worked that could be
            repeated.
    """
    has_budget = description.planned.failures.budget is not None
    if has_budget and len(runs_to_repeat(runs, description.space)) < n:
        optimizer_of(study, plan_of(description)).check_budget(n)


def ask_study(study: optuna.Study, description: Description, n: int) -> list[int]:
    """Adds pending trials with new designs.

    Args:
        study: The study of the campaign.
        description: The campaign.
        n: How many.

    Returns:
        The numbers of the trials.
    """
    asking = optuna.load_study(
        study_name=study.study_name,
        storage=storage_of(study),
        sampler=BECBOSampler(
            space=description.space, outputs=description.outputs, **vars(description.planned)
        ),
    )
    forget_distributions(study)
    distributions = distributions_of(description.space)
    return [asking.ask(distributions).number for _ in range(n)]
