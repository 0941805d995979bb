"""Where a campaign stands, and what comes next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from becbo.campaign.description import Description
from becbo.campaign.runs import REPEAT, Run, runs_to_repeat
from becbo.data import reasons_in
from becbo.optuna.proposal import Plan, next_proposal
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData
from becbo.trial import Outcome, Trial


@dataclass(frozen=True)
class Status:
    """Where a campaign stands."""

    counts: Mapping[Outcome, int]
    best: Run | None
    budget: int | None
    # Why experiments failed, the most frequent reason first; "": not said. A run counts for each
    # reason that was given for it.
    reasons: Mapping[str, int]

    @property
    def n_done(self) -> int:
        """Experiments that worked or failed."""
        return self.counts[Outcome.OK] + self.counts[Outcome.FAILED]

    @property
    def n_left(self) -> int | None:
        """Experiments left of the budget, pending ones not counted; None without a budget."""
        return None if self.budget is None else max(self.budget - self.n_done, 0)

    @property
    def has_lists(self) -> bool:
        """Whether some run counts for several reasons."""
        return sum(self.reasons.values()) > self.counts[Outcome.FAILED]


def status_of(description: Description, runs: Sequence[Run]) -> Status:
    """Where a campaign with these runs stands."""
    worked = [run for run in runs if run.outcome is Outcome.OK]
    best = min if description.objective.direction == "minimize" else max
    return Status(
        Counter(run.outcome for run in runs),
        best(worked, key=lambda run: run.value or 0.0) if worked else None,
        description.budget,
        _reasons([run.result.reason for run in runs if run.outcome is Outcome.FAILED]),
    )


def _reasons(texts: Sequence[str]) -> dict[str, int]:
    """How often each reason was given, in the words that were used for it first."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for text in texts:
        given = {" ".join(word.casefold().split()): word for word in reasons_in(text) or [""]}
        spelled = given | spelled
        counts.update(given.keys())
    return {spelled[reason]: n for reason, n in counts.most_common()}


def plan_of(description: Description) -> Plan:
    """How the study of a campaign is continued."""
    settings = {
        name: getattr(description, name)
        for name in ("method", "seed", "n_initial", "noisy", "risk")
    }
    return Plan(StudySpace.of(description.space), settings)


def next_suggestion(description: Description, study: StudyData, runs: Sequence[Run]) -> Trial:
    """What `Campaign.suggest` would suggest now. Nothing becomes pending.

    Args:
        description: that of the campaign.
        study: what its study holds.
        runs: the runs in that study.
    """
    for run in runs_to_repeat(runs, description.space):
        return Trial(0, run.params, origin=REPEAT)
    return next_proposal(study, plan_of(description))
