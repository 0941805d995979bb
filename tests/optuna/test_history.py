"""From a study to a history: order, corrections, and what an optimizer then knows."""

from __future__ import annotations

from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState

from becbo import Categorical, Outcome, Real, Settings, Space
from becbo.optuna import BECBOSampler, mark_failed, mark_lost
from becbo.optuna.history import History, Rules, read_history
from becbo.optuna.outcomes import REPLACES
from becbo.optuna.proposal import Plan, next_proposal, optimizer_of
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData

SPACE = Space([Real("x", 0, 1), Categorical("gas", ["argon", "none"])])
DISTRIBUTIONS: dict[str, BaseDistribution] = {
    "x": FloatDistribution(0, 1),
    "gas": CategoricalDistribution(["argon", "none"]),
}
SETTINGS = Settings(seed=3, n_initial=2)


@pytest.fixture
def study() -> optuna.Study:
    """Three trials that ended in another order than they began; the first one failed."""
    made = optuna.create_study(sampler=BECBOSampler(space=SPACE, seed=3))
    trials = [made.ask(DISTRIBUTIONS) for _ in range(3)]
    made.tell(trials[2], 2.0)
    mark_failed(trials[0], "it melted")
    made.tell(trials[0], state=TrialState.FAIL)
    made.tell(trials[1], 1.0)
    return made


def correct(study: optuna.Study, number: int, value: float | None, **state: Any) -> None:
    """Replaces a trial as a campaign does."""
    old = study.trials[number]
    new = optuna.create_trial(
        value=value,
        params=old.params,
        distributions=old.distributions,
        system_attrs={REPLACES: number},
        **state,
    )
    study.add_trial(new)


def history_of(study: optuna.Study, space: Any = SPACE, **rules: Any) -> History:
    return read_history(StudyData.of(study), StudySpace.of(space), Rules(**rules))


def known(study: optuna.Study, **rules: Any) -> list[tuple[Outcome, float | None, str | None]]:
    return [(t.outcome, t.value, t.reason) for t in history_of(study, **rules).trials]


MELTED = (Outcome.FAILED, None, "it melted")


def test_trials_are_in_the_order_in_which_they_ended(study: optuna.Study) -> None:
    study.ask(DISTRIBUTIONS)
    assert known(study) == [
        (Outcome.OK, 2.0, None),
        MELTED,
        (Outcome.OK, 1.0, None),
        (Outcome.PENDING, None, None),
    ]


def test_a_correction_takes_the_place_of_what_it_corrects(study: optuna.Study) -> None:
    before = history_of(study).trials
    correct(study, 2, 2.0)
    assert history_of(study).trials == before
    correct(study, 3, 5.0)  # the correction is corrected in turn
    assert known(study) == [(Outcome.OK, 5.0, None), MELTED, (Outcome.OK, 1.0, None)]
    assert history_of(study).lost == {2, 3}


def test_a_trial_that_is_pending_again_comes_last(study: optuna.Study) -> None:
    correct(study, 2, None, state=TrialState.RUNNING)
    assert known(study) == [MELTED, (Outcome.OK, 1.0, None), (Outcome.PENDING, None, None)]


def test_a_correction_keeps_what_was_believed(study: optuna.Study) -> None:
    study.sampler = BECBOSampler(space=SPACE, n_initial=1, seed=3)
    study.tell(study.ask(DISTRIBUTIONS), 3.0)
    before = history_of(study).trials[-1]
    assert before.believed is not None and before.origin != "user"
    correct(study, 3, 3.0)
    assert history_of(study).trials[-1] == before


def test_lost_trials_stay(study: optuna.Study) -> None:
    trial = study.ask(DISTRIBUTIONS)
    mark_lost(trial, "power cut")
    study.tell(trial, state=TrialState.FAIL)  # and is queued again
    assert known(study)[-2:] == [
        (Outcome.LOST, None, "power cut"),
        (Outcome.PENDING, None, None),
    ]


def test_the_engine_sees_choices_of_a_space_and_indices_of_distributions(
    study: optuna.Study,
) -> None:
    seen = [t.params["gas"] for t in history_of(study).trials]
    indices = [t.params["gas"] for t in history_of(study, DISTRIBUTIONS).trials]
    assert set(seen) == {"argon", "none"}
    assert [SPACE.parameters[1].choices[i] for i in indices] == seen  # type: ignore[union-attr]


@pytest.mark.parametrize("space", [SPACE, DISTRIBUTIONS])
def test_the_next_proposal_is_the_one_that_ask_then_makes(study: optuna.Study, space: Any) -> None:
    study.sampler = BECBOSampler(space=space, seed=3, n_initial=2)
    plan = Plan(StudySpace.of(space), SETTINGS)
    for value in (0.5, None, 0.1):
        said = next_proposal(StudyData.of(study), plan)
        trial = study.ask(DISTRIBUTIONS)
        assert said.params == trial.params
        study.tell(trial, value, state=TrialState.FAIL if value is None else None)


def test_an_optimizer_of_a_study_is_a_copy(study: optuna.Study) -> None:
    data = StudyData.of(study)
    optimizer = optimizer_of(data, Plan(StudySpace.of(SPACE), SETTINGS))
    optimizer.tell(optimizer.ask(), 0.0)
    assert len(optimizer.trials) == 4
    assert len(study.trials) == 3
    assert optimizer.predict(study.trials[0].params).p_feasible < 0.5
