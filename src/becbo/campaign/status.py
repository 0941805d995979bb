"""The status of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from becbo.campaign.description import Description
from becbo.campaign.runs import Run
from becbo.front import front_rows
from becbo.reasons import Reasons
from becbo.trial import Outcome


@dataclass(frozen=True)
class Status:
    """The status of a campaign.

    Attributes:
        counts: The number of experiments by outcome.
        front: The acceptable runs that no other beats, by number: they worked, keep every limit
            and have a value of every objective. With one objective it is the best run.
        has_best: Whether there is one objective, hence a best run.
        is_reading: Whether that run only has the best reading, because measurements vary. What the
            models believe to be best may be another run; see `believing`.
        budget: How many experiments are planned.
        reasons: How often each reason of failure was given, the most frequent first; "" counts
            failures without a reason. A run counts for each of its reasons.
    """

    counts: Mapping[Outcome, int]
    front: tuple[Run, ...]
    has_best: bool
    is_reading: bool
    budget: int | None
    reasons: Mapping[str, int]

    @property
    def best(self) -> Run | None:
        """The best run, if there is one objective and anything acceptable."""
        return self.front[0] if self.has_best and self.front else None

    @property
    def best_title(self) -> str:
        """What the best run is called."""
        return "best reading so far" if self.is_reading else "best so far"

    def believing(self, best: Run) -> Status:
        """The same status with the run that the models believe to be best.

        Args:
            best: A run with the design that they believe to be best.

        Returns:
            The status.
        """
        return replace(self, front=(best,), is_reading=False)

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
    """Computes the status of a campaign.

    Args:
        description: The campaign.
        runs: All of its runs.

    Returns:
        Its status.
    """
    outputs = description.outputs
    has_best = len(outputs.objectives) == 1
    return Status(
        Counter(run.outcome for run in runs),
        tuple(runs[row] for row in front_rows([run.result for run in runs], outputs)),
        has_best,
        has_best and description.settings.noisy,
        description.budget,
        _reasons([run.result.reasons for run in runs if run.outcome is Outcome.FAILED]),
    )


def _reasons(given_reasons: Sequence[Reasons]) -> dict[str, int]:
    """How often each reason was given, in the words that were used for it first."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for reasons in given_reasons:
        given = {" ".join(name.casefold().split()): name for name in reasons.names or [""]}
        spelled = given | spelled
        counts.update(given.keys())
    return {spelled[reason]: n for reason, n in counts.most_common()}
