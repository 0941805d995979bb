"""Figures in optuna-dashboard, for any study."""

from __future__ import annotations

import logging
from collections.abc import Container
from dataclasses import replace
from itertools import chain, count

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial

from becbo.campaign.description import Description, LabParameter
from becbo.campaign.store import DESCRIPTION, description_in
from becbo.errors import InvalidInput
from becbo.extras import needed_extras
from becbo.insight.insight import analyze_study
from becbo.optuna.measured import outputs_of
from becbo.optuna.sampler import declared_outputs
from becbo.optuna.spaces import common_distributions, distinct_choices, parameter_of
from becbo.optuna.study_data import StudyData
from becbo.outputs import Outputs
from becbo.report.figures import report_figures
from becbo.space import Categorical, Parameter

_logger = logging.getLogger(__name__)


def attach_plots(study: optuna.Study, trial: FrozenTrial | None = None) -> list[str]:
    """Adds becbo's figures to the page of a study in optuna-dashboard, or updates them.

    Needs `pip install 'becbo[dashboard]'`.

    Args:
        study: Any study. Its constraints are limits, and so are those among the `outputs` of its
            `BECBOSampler`.
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
        description, data = described_study(study)
    except InvalidInput as error:
        if trial is None:
            raise
        _logger.warning(error)  # a callback must not end the study
        return []
    figures = report_figures(analyze_study(description, data))
    for name, shown in figures.items():
        shown.figure.update_layout(title=shown.alt.partition(":")[0])
        save_plotly_graph_object(study, shown.figure, graph_object_id=f"becbo-{name}")
    return list(figures)


def described_study(study: optuna.Study) -> tuple[Description, StudyData]:
    """The description of a campaign, or one made from the trials of another study, and its data."""
    if DESCRIPTION in study.user_attrs:
        description = description_in(study)
        return description, StudyData.of(study, description.outputs)
    common = common_distributions(study.get_trials(deepcopy=False))
    described = (_described(name, d) for name, d in common.items() if not d.single())
    parameters = tuple(filter(None, described))
    if not parameters:
        raise InvalidInput(
            f"study {study.study_name!r} has no parameters to draw that all its finished trials "
            "share; run some first"
        )
    outputs = declared_outputs(study)
    if outputs is None:
        objectives = outputs_of(study, ()).objectives
        renamed = [replace(each, name=_free_name(each.name, common)) for each in objectives]
        outputs = Outputs.of(renamed)
    data = StudyData.of(study, outputs)
    return Description("study", parameters, data.outputs), data


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


def _free_name(wanted: str, taken: Container[str]) -> str:
    """A name for an objective that no parameter has."""
    names = chain([wanted], (f"{wanted} {i}" for i in count(2)))
    return next(name for name in names if name not in taken)
