"""What if: the answer of the models to a design of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.formatting import number, result_text
from becbo.campaign.proposals import plan_of
from becbo.campaign.runs import Run
from becbo.campaign.status import status_of
from becbo.insight.chances import chance_to_improve
from becbo.insight.maps import parameter_distances
from becbo.insight.suggestions import nearest_run, suggestion_context
from becbo.insight.views import ModelView, model_view
from becbo.optuna.proposal import optimizer_of
from becbo.threads import one_thread
from becbo.trial import Prediction

_SAME = 1e-9  # distance of a repeat
_CLOSE = 0.1  # distance in the unit cube that people would call close
_NAMED = 3  # differences that are worth naming


@dataclass(frozen=True)
class Answer:
    """What is known about a design that somebody thought of.

    Attributes:
        params: The design.
        prediction: What the models expect; None while there are no results.
        p_better: The chance that it beats the best, or improves the front; None without results or
            with more than three objectives.
        violated: The known constraints that it violates, as they were written.
        nearest: The most similar experiment that worked or failed; None if there is none.
        distance: How far away that is, from 0 in the unit cube.
        how_far: The same in a sentence.
    """

    params: dict[str, Any]
    prediction: Prediction | None
    p_better: float | None
    violated: tuple[str, ...]
    nearest: Run | None
    distance: float | None
    how_far: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for programs."""
        return {
            "params": self.params,
            "believed": None if self.prediction is None else self.prediction.to_dict(),
            "p_better": self.p_better,
            "violated": list(self.violated),
            "nearest": None if self.nearest is None else self.nearest.number,
            "distance": self.distance,
            "how_far": self.how_far,
        }


def what_if(campaign: Campaign, params: Mapping[str, Any]) -> Answer:
    """Asks about a design of one's own. Fits the models, which can take seconds.

    Args:
        campaign: The campaign.
        params: A value for every parameter. Known constraints and steps may be violated.

    Returns:
        What the models expect of it, and how it compares with what was tried.

    Raises:
        InvalidInput: A parameter cannot have its value.
    """
    description = campaign.description
    checked = description.space.validate(params)  # before anything slow
    optimizer = optimizer_of(campaign.study_data, plan_of(description))
    with one_thread():
        models = model_view(optimizer)
    return answer(description, campaign.runs, models, checked)


def answer(
    description: Description,
    runs: Sequence[Run],
    models: ModelView | None,
    params: Mapping[str, Any],
) -> Answer:
    """The same, with models that are fitted already.

    Args:
        description: The campaign.
        runs: All of its runs.
        models: Their models; None while there are no results.
        params: A value for every parameter.

    Returns:
        What the models expect of it.

    Raises:
        InvalidInput: A parameter cannot have its value.
    """
    space = description.space
    checked = space.validate(params)
    front = status_of(description, runs).front
    prediction = p_better = None
    if models is not None:
        with one_thread():
            (prediction,) = models.models.describe(space.encode([checked]))
        p_better = chance_to_improve(prediction, description.outputs, front)
    pairs = zip(description.constraints, space.constraints, strict=True)
    violated = tuple(text for text, constraint in pairs if not constraint(checked))
    rng = np.random.default_rng(description.settings.seed)
    context = suggestion_context(description, runs, front, rng)
    if not context.done:
        return Answer(checked, prediction, p_better, violated, None, None, "Nothing was tried yet.")
    nearest, distance = nearest_run(context, checked, context.done)
    how_far = _how_far(description, checked, nearest, distance, context.far)
    return Answer(checked, prediction, p_better, violated, nearest, distance, how_far)


def _how_far(
    description: Description, params: Mapping[str, Any], nearest: Run, distance: float, far: float
) -> str:
    result = result_text(nearest.result, description.outputs)
    name = f"run {nearest.number} ({result})" if result else f"run {nearest.number}"
    if distance <= _SAME:
        return f"It repeats {name}."
    changes = _differences(description, params, nearest.params)
    if distance <= min(_CLOSE, far):
        return f"It is close to {name}: {changes}."
    if distance <= far:
        return f"The nearest is {name}: {changes}."
    return f"It is far from all runs. The nearest is {name}: {changes}."


def _differences(
    description: Description, params: Mapping[str, Any], others: Mapping[str, Any]
) -> str:
    """`temperature 320 instead of 300 °C`, the largest differences first."""
    space = description.space
    gaps = parameter_distances(space, space.encode([params]), space.encode([others]))[0, 0]
    units = [described.unit for described in description.parameters]
    order = [i for i in np.argsort(-gaps, kind="stable").tolist() if gaps[i] > _SAME]
    texts = []
    for i in order[:_NAMED]:
        name = space.names[i]
        texts.append(f"{name} {number(params[name])} instead of {number(others[name], units[i])}")
    left = len(order) - _NAMED
    return ", ".join(texts) + (f" and {left} more" if left > 0 else "")
