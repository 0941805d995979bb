"""Figures in optuna-dashboard, for any study with one objective."""

from __future__ import annotations

import logging
from itertools import chain, count

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial

from becbo.campaign.description import (
    Description,
    LabParameter,
)
from becbo.campaign.store import DESCRIPTION, description_in
from becbo.errors import InvalidInput
from becbo.extras import needed_extras
from becbo.insight.insight import analyze_study
from becbo.optuna.spaces import common_distributions, distinct_choices, parameter_of
from becbo.optuna.study_data import StudyData
from becbo.outputs import Objective, Outputs
from becbo.report.figures import report_figures
from becbo.space import Categorical, Parameter

# Titles in optuna-dashboard, by the first part of the names of the figures.
TITLES = {
    "progress": "best value and failures",
    "map": "where designs work",
    "failure": "what drives failure",
    "value": "what drives the value",
    "calibration": "can the chances be trusted",
}


_logger = logging.getLogger(__name__)


def attach_plots(study: optuna.Study, trial: FrozenTrial | None = None) -> list[str]:
    """Adds becbo's figures to the page of a study in optuna-dashboard, or updates them.

    Needs `pip install 'becbo[dashboard]'`.

    Args:
        study: A study with one objective.
        trial: Not used; it makes the function a callback for `study.optimize`.

    Returns:
        The names of the figures.

    Raises:
        MissingExtra: optuna-dashboard is not installed.
        InvalidInput: nothing can be drawn.
    """
    with needed_extras():
        from optuna_dashboard import save_plotly_graph_object
    try:
        description = description_of(study)
    except InvalidInput as error:
        if trial is None:
            raise
        _logger.warning(error)  # a callback must not end the study
        return []
    figures = report_figures(analyze_study(description, StudyData.of(study, description.outputs)))
    for name, shown in figures.items():
        shown.figure.update_layout(title=TITLES[name.partition("-")[0]])
        save_plotly_graph_object(study, shown.figure, graph_object_id=f"becbo-{name}")
    return list(figures)


def description_of(study: optuna.Study) -> Description:
    """The description of a campaign; of other studies, one made from their trials."""
    if DESCRIPTION in study.user_attrs:
        return description_in(study)
    common = common_distributions(study.get_trials(deepcopy=False))
    described = (_described(name, d) for name, d in common.items() if not d.single())
    parameters = tuple(filter(None, described))
    if not parameters:
        raise InvalidInput(
            f"study {study.study_name!r} has no parameters to draw that all its finished trials "
            "share; run some first"
        )
    is_maximised = study.direction is optuna.study.StudyDirection.MAXIMIZE
    direction = "maximize" if is_maximised else "minimize"
    objective = Objective(_free_name(common), direction=direction)
    return Description("study", parameters, Outputs.of(objective))


def _described(name: str, distribution: BaseDistribution) -> LabParameter | None:
    """The parameter; None if it cannot be drawn."""
    try:
        return LabParameter(_parameter(name, distribution))
    except InvalidInput as error:
        _logger.warning(f"{error}; {name!r} is not in the plots")
        return None


def _parameter(name: str, distribution: BaseDistribution) -> Parameter:
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(name, distinct_choices(distribution))
    return parameter_of(name, distribution)


def _free_name(taken: dict[str, BaseDistribution]) -> str:
    """A name for the objective that no parameter has."""
    names = chain(["value"], (f"value {i}" for i in count(2)))
    return next(name for name in names if name not in taken)
