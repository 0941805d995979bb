"""What a campaign has taught so far: the numbers of the report and of the page.

Everything is computed from the runs and from the models that the campaign's own method fits to
them. Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from becbo.arrays import Array
from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.errors import NotFound
from becbo.campaign.formatting import chance_text, plural, sentence
from becbo.campaign.proposals import next_suggestion, plan_of
from becbo.campaign.runs import Run, read_runs
from becbo.campaign.status import Status, status_of
from becbo.errors import BecboError
from becbo.insight.calibration import Calibration, calibration
from becbo.insight.importance import Function, Importance, RegionPredicate, importances
from becbo.insight.maps import DesignMap, allowed, design_map, mapped_pairs, parameter_distances
from becbo.insight.standing import (
    Growth,
    Standing,
    believed_status,
    confirmation,
    growth,
    standings,
)
from becbo.insight.suggestions import Suggestion, explain_suggestion, suggestion_context
from becbo.insight.views import ModelView, model_view
from becbo.insight.whatif import Answer, answer
from becbo.models.optimism import as_chosen
from becbo.optimizer import Optimizer
from becbo.optuna.proposal import optimizer_of
from becbo.optuna.study_data import StudyData
from becbo.outlook import Outlook
from becbo.outputs import Outputs
from becbo.threads import one_thread
from becbo.trial import Outcome, Prediction

_MAPPED = 5  # parameters, hence at most ten maps
_ENOUGH_FOR_MAPS = 3  # experiments
_ENOUGH_OF_EACH = 3  # successes, and failures, before importances are computed
_ENOUGH_VALUES = 5
_ROUGH = 10  # experiments per parameter, below which importances are only a hint
_CLEAR_CHANCE = 0.02  # standard deviation of the probability that is more than nothing
_CLEAR_VALUE = 0.02  # the same of the value, as a share of that of the values seen


@dataclass(frozen=True)
class Importances:
    """How important each parameter is.

    Attributes:
        parameters: The most important first; empty if nothing can be said.
        note: Why it is empty, or how far to trust it.
    """

    parameters: tuple[Importance, ...]
    note: str


@dataclass(frozen=True)
class Maps:
    """Slices through one design.

    Attributes:
        maps: One for each pair of the most important parameters; in a mixture along it.
        anchor_name: Which design all maps go through.
        nearness: For each map, how near each run is to the slice, from 0 to 1.
        note: Why there are no maps, or which parameters were left out.
    """

    maps: tuple[DesignMap, ...]
    anchor_name: str
    nearness: tuple[tuple[float, ...], ...]
    note: str


@dataclass(frozen=True)
class Insight:
    """What a campaign has taught so far.

    Attributes:
        description: The campaign.
        status: Its counts and its best run; of noisy values, the one that is believed to be best.
        runs: All runs.
        front: The best run, or the front, with what is believed of it.
        growth: How the front of several objectives grew.
        outlook: What more experiments may bring.
        suggestions: The pending runs, or the design that would be suggested next.
        obstacle: Why nothing can be suggested next; "" if something can.
        failure_importances: Which parameters decide whether a design works.
        output_importances: Which parameters decide each objective and each limit, by name.
        maps: What the models say over pairs of parameters, through the best design.
        calibration: Whether the stated probabilities came true.
        models: The models, for further questions; None while there are no results.
    """

    description: Description
    status: Status
    runs: tuple[Run, ...]
    front: tuple[Standing, ...]
    growth: Growth | None
    outlook: Outlook
    suggestions: tuple[Suggestion, ...]
    obstacle: str
    failure_importances: Importances
    output_importances: Mapping[str, Importances]
    maps: Maps
    calibration: Calibration
    models: ModelView | None

    @property
    def value_importances(self) -> Importances:
        """Which parameters decide the first objective of designs that work."""
        return self.output_importances[self.description.outputs.objectives[0].name]

    def maps_through(self, number: int) -> Maps:
        """The same maps through the design of any run.

        Args:
            number: The number of the run.

        Returns:
            The maps.

        Raises:
            NotFound: There is no run with this number.
        """
        for run in self.runs:
            if run.number == number:
                with one_thread():
                    return _maps(self, run.params, f"run {number}")
        raise NotFound(f"there is no run {number!r} in {self.description.name}")

    def what_if(self, params: Mapping[str, Any]) -> Answer:
        """What is known about a design of one's own; see `becbo.insight.what_if`."""
        return answer(self.description, self.runs, self.models, params)

    @property
    def confirmation(self) -> str:
        """What is believed of the best, and whether to repeat it; "" if values are exact."""
        return confirmation(self.description, self.front)

    @property
    def chance(self) -> str:
        """What the predicted chance of a design is called."""
        return chance_text(self.description.outputs)

    @property
    def n_beyond(self) -> int:
        """Experiments that worked and broke a limit."""
        are_kept = self.description.outputs.are_kept
        return sum(r.outcome is Outcome.OK and not are_kept(r.values) for r in self.runs)

    @property
    def n_failed(self) -> int:
        """Experiments that failed."""
        return self.status.counts[Outcome.FAILED]

    @property
    def n_pending(self) -> int:
        """Experiments without a result yet."""
        return self.status.counts[Outcome.PENDING]

    @property
    def n_lost(self) -> int:
        """Experiments that were lost."""
        return self.status.counts[Outcome.LOST]


def analyze_campaign(campaign: Campaign) -> Insight:
    """Computes what a campaign has taught so far. Fits the models, which can take seconds.

    Args:
        campaign: The campaign.

    Returns:
        What its runs have taught.
    """
    return analyze_study(campaign.description, campaign.study_data)


def analyze_study(description: Description, study: StudyData) -> Insight:
    """Computes what a study has taught so far.

    Args:
        description: What the study is about.
        study: What the study holds.

    Returns:
        What its runs have taught.
    """
    runs = tuple(read_runs(study, description.space.names))
    optimizer = optimizer_of(study, plan_of(description))
    rng = np.random.default_rng(description.settings.seed)
    with one_thread():
        status = believed_status(description, status_of(description, runs), runs, optimizer)
        models = model_view(optimizer)
        suggestions, obstacle = _suggestions(description, study, status, runs, optimizer, rng)
        failure = _failure_importances(description, runs, models, rng)
        outputs = description.outputs
        wanted = [o.name for o in outputs.objectives] + [limit.name for limit in outputs.limits]
        drivers = {
            name: _output_importances(description, name, runs, models, rng) for name in wanted
        }
    found = Insight(
        description,
        status,
        runs,
        standings(description, status, runs, optimizer),
        growth(description.outputs, runs, optimizer),
        optimizer.outlook,
        suggestions,
        obstacle,
        failure,
        drivers,
        Maps((), "", (), ""),
        calibration_of(description.outputs, runs),
        models,
    )
    with one_thread():
        return replace(found, maps=_best_maps(found))


def calibration_of(outputs: Outputs, runs: Sequence[Run]) -> Calibration:
    """The probabilities that were stated before experiments against their outcomes.

    A design that broke a limit has not done what its chance was stated for.
    """
    told = [
        (run.believed.p_feasible, run.outcome is Outcome.OK and outputs.are_kept(run.values))
        for run in _done(runs)
        if run.believed is not None
    ]
    return calibration([p for p, _ in told], [came for _, came in told])


def _done(runs: Sequence[Run]) -> list[Run]:
    """The runs that worked or failed."""
    return [run for run in runs if run.outcome.is_answer]


def _suggestions(
    description: Description,
    study: StudyData,
    status: Status,
    runs: Sequence[Run],
    optimizer: Optimizer,
    rng: np.random.Generator,
) -> tuple[tuple[Suggestion, ...], str]:
    """The pending runs; if there are none, what would be suggested now, or why nothing can be."""
    context = suggestion_context(description, runs, status.front, rng)
    pending = [run for run in runs if run.outcome is Outcome.PENDING]
    if not pending:
        try:
            trial = next_suggestion(description, study, runs)
        except BecboError as error:  # such as a budget of failures that is spent
            if not runs:
                raise
            return (), sentence(f"nothing can be suggested: {error}")
        now = trial.believed or optimizer.predict(trial.params)
        said = explain_suggestion(
            context, None, trial.params, trial.origin, now, remark=trial.note or ""
        )
        return (said,), ""
    predictions = optimizer.predict([run.params for run in pending])
    explained = tuple(
        explain_suggestion(
            context, run.number, run.params, run.origin, now, run.believed, run.remark
        )
        for run, now in zip(pending, map(_as_suggested, predictions, pending), strict=True)
    )
    return explained, ""


def _as_suggested(now: Prediction, run: Run) -> Prediction:
    """A prediction of today that can be compared with the one when the run was suggested."""
    return now if run.believed is None else as_chosen(now, run.believed.optimism)


def _failure_importances(
    description: Description,
    runs: Sequence[Run],
    models: ModelView | None,
    rng: np.random.Generator,
) -> Importances:
    """For the probability to work, over all designs that the known constraints allow."""
    done = _done(runs)
    n_worked = sum(run.outcome is Outcome.OK for run in done)
    if models is None or min(n_worked, len(done) - n_worked) < _ENOUGH_OF_EACH:
        return Importances(
            (), f"Not enough yet: this needs {_ENOUGH_OF_EACH} successes and as many failures."
        )
    space = description.space
    return _importances(
        description,
        runs,
        models.p_feasible,
        lambda X: allowed(space, X),
        _CLEAR_CHANCE,
        len(done),
        rng,
    )


def _output_importances(
    description: Description,
    name: str,
    runs: Sequence[Run],
    models: ModelView | None,
    rng: np.random.Generator,
) -> Importances:
    """For the expected value of an output, over the designs that are more likely to work than not.

    Elsewhere there is no value, and the model has no data to predict one from.
    """
    measured = [run.values.get(name) for run in runs if run.outcome is Outcome.OK]
    values = [value for value in measured if value is not None]
    if models is None or len(values) < _ENOUGH_VALUES:
        return Importances((), f"Not enough yet: this needs {_ENOUGH_VALUES} values.")
    space, view = description.space, models
    return _importances(
        description,
        runs,
        lambda X: view.predict(name, X)[0],
        lambda X: allowed(space, X) & (view.p_feasible(X) >= 0.5),
        _CLEAR_VALUE * float(np.std(values)),
        len(values),
        rng,
    )


def _importances(
    description: Description,
    runs: Sequence[Run],
    function: Function,
    inside: RegionPredicate,
    clear: float,
    n: int,
    rng: np.random.Generator,
) -> Importances:
    space = description.space
    if len(space.names) == 1:
        return Importances((), "There is only one parameter.")
    starts = space.encode([run.params for run in _done(runs)])
    if space.mixtures is not None:
        starts = space.mixtures.project(starts)
    starts = starts[inside(starts)]
    if not len(starts):
        return Importances((), "The models see no region in which designs are likely to work.")
    found, spread = importances(function, space, inside, starts, rng)
    if spread <= clear:
        return Importances((), "The models see no difference between designs yet.")
    d = len(space.names)
    note = f"Only a hint: {plural(n, 'experiment')} for {d} parameters." if n < _ROUGH * d else ""
    return Importances(tuple(sorted(found, key=lambda each: -each.total)), note)


def _best_maps(found: Insight) -> Maps:
    """Maps through the best design, or through what comes next to it."""
    status = found.status
    if status.best is not None:
        return _maps(found, status.best.params, f"the best design, run {status.best.number}")
    if status.front:
        return _maps(found, status.front[0].params, f"run {status.front[0].number} of the front")
    if found.suggestions:
        return _maps(found, found.suggestions[0].params, "the next suggestion")
    last = found.runs[-1]
    return _maps(found, last.params, f"run {last.number}, the last")


def _maps(found: Insight, anchor: Mapping[str, Any], name: str) -> Maps:
    """A map for each pair of the most important parameters."""
    space, models = found.description.space, found.models
    if models is None or found.status.n_done < _ENOUGH_FOR_MAPS:
        note = f"Not enough yet: maps need {_ENOUGH_FOR_MAPS} experiments."
        return Maps((), name, (), note)
    names, note = _mapped(space.names, found.failure_importances, found.value_importances)
    pairs = mapped_pairs(space, names)
    point = space.encode([anchor])[0]
    maps = [design_map(space, point, x, y, models, found.status.front) for x, y in pairs]
    X = space.encode([run.params for run in found.runs])
    gaps = parameter_distances(space, X, point[None])[:, 0]
    near = [
        _nearness(gaps, [space.names.index(n) for n in (each.x, each.y, *each.rest) if n])
        for each in maps
    ]
    return Maps(tuple(maps), name, tuple(near), note)


def _mapped(
    names: Sequence[str], failure: Importances, value: Importances
) -> tuple[list[str], str]:
    """The parameters to map, in the order of the campaign, and a note about the others."""
    if len(names) <= _MAPPED:
        return list(names), ""
    ranked = [each.name for each in failure.parameters or value.parameters] or list(names)
    chosen = [name for name in names if name in ranked[:_MAPPED]]
    what = "failure" if failure.parameters else "the value"
    which = f"that drive {what} most" if failure.parameters or value.parameters else "named first"
    return chosen, f"Shown are the {_MAPPED} parameters {which}, of {len(names)}."


def _nearness(gaps: Array, shown: Sequence[int]) -> tuple[float, ...]:  # (n, p) -> n
    """How close designs are to a slice: 1 in it, 0 if the rest differs by half its range."""
    rest = np.delete(gaps, shown, axis=1)
    if not rest.shape[1]:
        return (1.0,) * len(gaps)
    away = np.sqrt((rest**2).mean(axis=1))
    return tuple(np.clip(1 - 2 * away, 0.0, 1.0).tolist())
