"""What a campaign has taught so far: the numbers of the report and of the page.

Everything is computed from the runs and from the models that the campaign's own method fits to
them. Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from becbo.campaign.calibration import Calibration, calibration
from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.drivers import Function, Inside, Share, shares
from becbo.campaign.maps import ChanceMap, chance_map, differences, within
from becbo.campaign.runs import Run, read_runs
from becbo.campaign.status import Status, next_suggestion, plan_of, status_of
from becbo.campaign.suggestions import Suggestion, knowledge, suggestion
from becbo.campaign.views import View, view
from becbo.optimizer import Optimizer
from becbo.optuna.proposal import optimizer_of
from becbo.optuna.study_data import StudyData
from becbo.space import Array
from becbo.threads import one_thread
from becbo.trial import Outcome

_MAPPED = 5  # parameters, hence at most ten maps
_ENOUGH_FOR_MAPS = 3  # experiments
_ENOUGH_OF_EACH = 3  # successes, and failures, before their causes are told apart
_ENOUGH_VALUES = 5
_ROUGH = 10  # experiments per parameter, below which shares are only a hint
_CLEAR_CHANCE = 0.02  # standard deviation of the chance over the space that is not nothing
_CLEAR_VALUE = 0.02  # the same of the value, as a share of that of the values seen


@dataclass(frozen=True)
class Drivers:
    """Which parameters drive something, the strongest first; none if that cannot be told."""

    shares: tuple[Share, ...]
    note: str  # why there are none, or how far to trust them


@dataclass(frozen=True)
class Maps:
    """Slices through one design."""

    maps: tuple[ChanceMap, ...]
    anchor_name: str  # which design, in words
    nearness: tuple[tuple[float, ...], ...]  # per map: of each run to the slice, from 0 to 1
    note: str  # why there are none, or which parameters were left out


@dataclass(frozen=True)
class Insight:
    """Everything the report shows."""

    description: Description
    status: Status
    runs: tuple[Run, ...]
    suggestions: tuple[Suggestion, ...]  # pending ones, or the one that would come next
    failure: Drivers
    value: Drivers
    maps: Maps
    calibration: Calibration

    @property
    def n_failed(self) -> int:
        """Experiments that failed."""
        return self.status.counts[Outcome.FAILED]

    @property
    def n_pending(self) -> int:
        """Experiments that were suggested and not answered."""
        return self.status.counts[Outcome.PENDING]

    @property
    def n_lost(self) -> int:
        """Experiments that were lost."""
        return self.status.counts[Outcome.LOST]


def insight(campaign: Campaign) -> Insight:
    """What the campaign has taught so far. Fits the models, which may take seconds."""
    return insight_of(campaign.description, campaign.study_data)


def insight_of(description: Description, study: StudyData) -> Insight:
    """What a study has taught so far."""
    runs = tuple(read_runs(study, description.space.names))
    status = status_of(description, runs)
    optimizer = optimizer_of(study, plan_of(description))
    rng = np.random.default_rng(description.seed)
    with one_thread():
        models = view(optimizer)
        suggestions = _suggestions(description, study, status, runs, optimizer, rng)
        failure = _failure_drivers(description, runs, models, rng)
        value = _value_drivers(description, runs, models, rng)
        maps = _maps(description, status, runs, suggestions, models, failure, value)
    return Insight(
        description,
        status,
        runs,
        suggestions,
        failure,
        value,
        maps,
        believed_and_seen(runs),
    )


def believed_and_seen(runs: Sequence[Run]) -> Calibration:
    """The record of the chances that models stated before an experiment."""
    told = [
        (run.believed.p_feasible, run.outcome is Outcome.OK)
        for run in _done(runs)
        if run.believed is not None
    ]
    return calibration([chance for chance, _ in told], [worked for _, worked in told])


def _done(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.outcome.is_answer]


def _suggestions(
    description: Description,
    study: StudyData,
    status: Status,
    runs: Sequence[Run],
    optimizer: Optimizer,
    rng: np.random.Generator,
) -> tuple[Suggestion, ...]:
    """The pending runs; if there are none, what would be suggested now."""
    known = knowledge(description, runs, status.best, rng)
    pending = [run for run in runs if run.outcome is Outcome.PENDING]
    if not pending:
        trial = next_suggestion(description, study, runs)
        now = optimizer.predict(trial.params)
        remark = trial.note or ""
        return (suggestion(known, None, trial.params, trial.origin, now, remark=remark),)
    predictions = optimizer.predict([run.params for run in pending])
    return tuple(
        suggestion(known, run.number, run.params, run.origin, now, run.believed, run.remark)
        for run, now in zip(pending, predictions, strict=True)
    )


def _failure_drivers(
    description: Description, runs: Sequence[Run], models: View | None, rng: np.random.Generator
) -> Drivers:
    """Of the chance to work, over all designs that known constraints allow."""
    done = _done(runs)
    n_worked = sum(run.outcome is Outcome.OK for run in done)
    if models is None or min(n_worked, len(done) - n_worked) < _ENOUGH_OF_EACH:
        return Drivers(
            (), f"Not enough yet: this takes {_ENOUGH_OF_EACH} successes and as many failures."
        )
    space = description.space
    return _drivers(
        description, runs, models.chance, lambda X: within(space, X), _CLEAR_CHANCE, len(done), rng
    )


def _value_drivers(
    description: Description, runs: Sequence[Run], models: View | None, rng: np.random.Generator
) -> Drivers:
    """Of the expected value, over the designs that are more likely to work than not.

    Elsewhere there is no value, and what a model says of it comes from no data.
    """
    values = [run.value for run in runs if run.value is not None]
    if models is None or len(values) < _ENOUGH_VALUES:
        return Drivers((), f"Not enough yet: this takes {_ENOUGH_VALUES} values.")
    space, chance = description.space, models.chance
    return _drivers(
        description,
        runs,
        models.value,
        lambda X: within(space, X) & (chance(X) >= 0.5),
        _CLEAR_VALUE * float(np.std(values)),
        len(values),
        rng,
    )


def _drivers(
    description: Description,
    runs: Sequence[Run],
    function: Function,
    inside: Inside,
    clear: float,
    n: int,
    rng: np.random.Generator,
) -> Drivers:
    space = description.space
    if len(space.names) == 1:
        return Drivers((), "There is only one parameter.")
    starts = space.encode([run.params for run in _done(runs)])
    starts = starts[inside(starts)]
    if not len(starts):
        return Drivers((), "The models see no region in which designs are likely to work.")
    found, spread = shares(function, space, inside, starts, rng)
    if spread <= clear:
        return Drivers((), "The models see no difference between designs yet.")
    d = len(space.names)
    note = f"A hint only: {n} experiments for {d} parameters." if n < _ROUGH * d else ""
    return Drivers(tuple(sorted(found, key=lambda share: -share.total)), note)


def _maps(
    description: Description,
    status: Status,
    runs: Sequence[Run],
    suggestions: Sequence[Suggestion],
    models: View | None,
    failure: Drivers,
    value: Drivers,
) -> Maps:
    """For every pair of the parameters that matter most."""
    space = description.space
    if status.best is not None:
        anchor, name = status.best.params, f"the best design, run {status.best.number}"
    else:
        anchor, name = suggestions[0].params, "the next suggestion"
    if models is None or status.n_done < _ENOUGH_FOR_MAPS:
        note = f"Not enough yet: maps take {_ENOUGH_FOR_MAPS} experiments."
        return Maps((), name, (), note)
    names, note = _mapped(space.names, failure, value)
    pairs = list(combinations(names, 2)) or [(names[0], "")]
    point = space.encode([anchor])[0]
    expected = models.value if models.has_values else None
    found = [chance_map(space, point, x, y, models.chance, expected) for x, y in pairs]
    gaps = differences(space, space.encode([run.params for run in runs]), point[None])[:, 0]
    near = [_nearness(gaps, [space.names.index(n) for n in pair if n]) for pair in pairs]
    return Maps(tuple(found), name, tuple(near), note)


def _mapped(names: Sequence[str], failure: Drivers, value: Drivers) -> tuple[list[str], str]:
    """The parameters to map, in the order of the campaign, and a word about the others."""
    if len(names) <= _MAPPED:
        return list(names), ""
    ranked = [share.name for share in failure.shares or value.shares] or list(names)
    chosen = [name for name in names if name in ranked[:_MAPPED]]
    what = "failure" if failure.shares else "the value"
    which = f"that drive {what} most" if failure.shares or value.shares else "named first"
    return chosen, f"Shown are the {_MAPPED} parameters {which}, of {len(names)}."


def _nearness(gaps: Array, shown: Sequence[int]) -> tuple[float, ...]:  # (n, p) -> n
    """How close designs are to a slice: 1 in it, 0 if the rest differs by half its range."""
    rest = np.delete(gaps, shown, axis=1)
    if not rest.shape[1]:
        return (1.0,) * len(gaps)
    away = np.sqrt((rest**2).mean(axis=1))
    return tuple(np.clip(1 - 2 * away, 0.0, 1.0).tolist())
