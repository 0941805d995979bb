"""What counts as an improvement: incumbents, fronts, reference points, weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from becbo import Limit, Objective, Real, Result, Space, Trial
from becbo.acquisition import (
    ExpectedImprovement,
    LogExpectedHypervolume,
    LogExpectedImprovement,
    log_expected_improvement,
    log_target_improvement,
)
from becbo.data import Dataset, dataset
from becbo.improvement import OverTheBest, OverTheFront, incumbent, reference
from becbo.methods import build
from becbo.models.base import Models
from becbo.outputs import Outputs
from becbo.pareto import boxes, nondominated
from becbo.settings import Settings
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.warped import Bilog, Plain, WarpedModel

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])
NOBODY = np.empty((0, 2))
EDGE = build(Settings(seed=0))
TWO = [Objective("cost"), Objective("strength", "maximize")]


@dataclass(frozen=True)
class Stated:
    """Feasibility that is stated: the score is the first column minus a half."""

    scales = np.ones(2)
    doubt = 0.0

    def score(self, X):
        return X[:, 0] - 0.5, np.zeros(len(X))

    def believe(self, X):
        return self


def history(outputs, results: Sequence[dict | None], seed: int = 0) -> tuple[Dataset, Models]:
    """A history at random designs, None for a failure, and its models."""
    X = np.random.default_rng(seed).random((len(results), 2))
    trials = [
        Trial(i, {"x": x, "y": y}, Result.failed() if values is None else Result.ok(values))
        for i, ((x, y), values) in enumerate(zip(X.tolist(), results, strict=True))
    ]
    data = dataset(trials, SPACE, Outputs.of(outputs))
    return data, EDGE.fit(data, np.random.default_rng(0))


def over(data: Dataset, models: Models, pending=NOBODY, n_parameters: int = 2, **settings):
    rule = OverTheFront(GaussianProcess(), **settings)
    return rule.over(data, models, pending, n_parameters, np.random.default_rng(0))


# -- the reference point -----------------------------------------------------------------------


def test_the_reference_is_a_tenth_below_the_worst_acceptable() -> None:
    rows = [{"cost": 1.0, "strength": 10.0}, {"cost": 3.0, "strength": 20.0}, None]
    data, _ = history(TWO, rows)
    np.testing.assert_allclose(reference(data), [-3.2, 9.0])


def test_the_reference_is_the_worst_that_was_measured_also_beyond_a_limit() -> None:
    outputs = [*TWO, Limit("heat", upper=1)]
    rows = [
        {"cost": 1.0, "strength": 10.0},
        {"cost": 3.0, "strength": 20.0, "heat": 1.0},
        {"cost": 99.0, "strength": -99.0, "heat": 2.0},  # too hot
        {"cost": 77.0},  # half measured
    ]
    data, _ = history(outputs, rows)
    np.testing.assert_allclose(reference(data), [-99.0, -99.0])


def test_the_user_may_choose_the_reference_in_his_own_units() -> None:
    outputs = [
        Objective("cost", reference=5),
        Objective("strength", "maximize", reference=2),
        Objective("ph", target=7, reference=6.5),
    ]
    rows = [{"cost": 1.0, "strength": 10.0, "ph": 7.1}, {"cost": 3.0, "strength": 20.0, "ph": 8.0}]
    data, _ = history(outputs, rows)
    np.testing.assert_allclose(reference(data), [-5.0, 2.0, -0.5])
    half = [Objective("cost", reference=5), *outputs[1:2]]
    data, _ = history(half, [{k: row[k] for k in ("cost", "strength")} for row in rows])
    np.testing.assert_allclose(reference(data), [-5.0, 2.0])


def test_the_range_of_a_single_acceptable_value_is_that_of_all() -> None:
    outputs = [*TWO, Limit("heat", upper=1)]
    rows = [{"cost": 1.0, "strength": 10.0}, {"cost": -3.0, "strength": 10.0, "heat": 9.0}]
    data, _ = history(outputs, rows)
    np.testing.assert_allclose(reference(data), [-1.0 - 0.4, 10.0 - 0.1])  # 4 wide; 1 if unknown


# -- one objective -----------------------------------------------------------------------------

VALUES = [3.0, 1.0, 2.0, 5.0, 4.0]
ONE = [{"value": v} for v in VALUES]


def test_one_objective_is_log_ei_over_the_best() -> None:
    data, models = history("minimize", [*ONE, None])
    acquisition = over(data, models)
    assert isinstance(acquisition, LogExpectedImprovement)
    assert acquisition.log_gain is log_expected_improvement
    gain = models.objectives[0].inner.resolution
    assert gain > 0 and acquisition.best == pytest.approx(-1.0 + gain, abs=1e-12)
    assert over(data, models, n_parameters=4).best == -1.0
    assert over(data, models, least_gain=0.0).best == -1.0


def test_a_limit_that_is_broken_leaves_the_best_to_others() -> None:
    rows = [{"value": v, "heat": 2.0 if v < 2 else 0.5} for v in VALUES]
    data, models = history([Objective(), Limit("heat", upper=1)], rows)
    assert incumbent(data, models, NOBODY, is_noisy=False) == -2.0


def test_the_best_of_a_warped_objective_is_warped_too() -> None:
    X = np.random.default_rng(0).random((14, 2))
    rows = [{"value": float(np.exp(8 * x)), "heat": float(1 - x)} for x in X[:, 0]]
    data, models = history([Objective(), Limit("heat", upper=0.7)], rows)
    model = models.objectives[0]
    assert isinstance(model.warp, Bilog)
    acquisition = over(data, models, n_parameters=4)
    assert acquisition.regressor is model.inner
    best = incumbent(data, models, NOBODY, is_noisy=False)
    assert best == data.y[data.acceptable].max() == pytest.approx(model.warp.centre)
    assert acquisition.best == pytest.approx(model.warp.forward(np.array([best]))[0])
    # Whatever the unit, what is expected to be better is an improvement.
    P = np.random.default_rng(1).random((50, 2))
    mean, std = model.predict(P)
    likely = (model.inner.predict(P)[0] - acquisition.best) / model.inner.predict(P)[1] > 0
    np.testing.assert_array_equal(likely, mean > best)
    plain = history("minimize", [{"value": row["value"]} for row in rows])[1]
    assert plain.objectives[0].warp == Plain()  # without limits nothing is warped


def test_a_target_improves_on_the_nearest() -> None:
    data, models = history(Objective("ph", target=7.0), [{"ph": p} for p in (5.0, 7.5, 8.0, 6.2)])
    acquisition = over(data, models, n_parameters=9)
    assert (acquisition.best, acquisition.log_gain) == (-0.5, log_target_improvement)
    assert over(data, models).best > -0.5


@pytest.mark.parametrize("is_noisy", [False, True])
def test_noisy_values_are_believed_not_seen(is_noisy: bool) -> None:
    data, models = history("maximize", [{"value": v} for v in (0.0, 1.0, 0.2, 0.8, 0.5, 0.1)])
    noisy = build(Settings(seed=0, noisy=True)).fit(data, np.random.default_rng(0))
    believed = noisy.objectives[0].predict(data.X)[0].max()
    assert believed < 1.0
    want = believed if is_noisy else 1.0
    assert incumbent(data, noisy, NOBODY, is_noisy) == pytest.approx(want)


def test_the_papers_methods_improve_on_the_best_of_one_objective() -> None:
    data, models = history("maximize", ONE)
    rule = OverTheBest(ExpectedImprovement)
    acquisition = rule.over(data, models, NOBODY, 2, np.random.default_rng(0))
    assert isinstance(acquisition, ExpectedImprovement) and acquisition.best == 5.0
    assert not rule.several_outputs and OverTheFront(GaussianProcess()).several_outputs


# -- pending points ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Hopeful:
    """A model that expects more than was seen."""

    model: WarpedModel
    by: float

    @property
    def inner(self):
        return self.model.inner

    def predict(self, X):
        mean, std = self.model.predict(X)
        return mean + self.by, std


LIKELY, UNLIKELY = np.array([[0.9, 0.1]]), np.array([[0.1, 0.9]])


@pytest.mark.parametrize(
    "pending, counts",
    [(LIKELY, True), (UNLIKELY, False), (np.vstack([UNLIKELY, LIKELY]), True)],
)
def test_a_pending_point_counts_as_believed_if_it_is_likely(pending, counts: bool) -> None:
    data, models = history("minimize", ONE)
    hopeful = Hopeful(models.objectives[0], 200.0)
    stated = Models(models.outputs, (hopeful,), (), (), Stated())
    want = hopeful.predict(LIKELY)[0][0] if counts else -1.0
    assert incumbent(data, stated, pending, is_noisy=False) == pytest.approx(want)


def test_likely_pending_points_join_the_front() -> None:
    rows = [{"cost": c, "strength": c} for c in (1.0, 2.0, 3.0, 4.0)]
    data, models = history(TWO, rows)
    shifted = tuple(Hopeful(model, 2.5) for model in models.objectives)
    stated = Models(models.outputs, shifted, (), (), Stated())
    pending = np.array([[0.9, 0.1], [0.1, 0.9]])
    acquisition = over(data, stated, pending)
    believed = np.column_stack([model.predict(pending[:1])[0] for model in shifted])
    want = boxes(-np.vstack([data.gains, believed]), -reference(data))
    np.testing.assert_allclose((acquisition.lower, acquisition.upper), want)
    alone = over(data, stated, pending[1:])
    np.testing.assert_allclose(alone.lower, boxes(-data.gains, -reference(data))[0])


# -- several objectives ------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3])
def test_up_to_three_objectives_are_log_ehvi(m: int) -> None:
    outputs = [Objective("a"), Objective("b", "maximize"), Objective("c", target=0.5)][:m]
    rng = np.random.default_rng(0)
    rows = [dict(zip("abc"[:m], map(float, rng.random(m)), strict=True)) for _ in range(9)]
    data, models = history(outputs, rows)
    acquisition = over(data, models)
    assert isinstance(acquisition, LogExpectedHypervolume)
    assert list(acquisition.regressors) == [model.inner for model in models.objectives]
    kinds = [log_expected_improvement, log_expected_improvement, log_target_improvement]
    assert list(acquisition.log_gains) == kinds[:m]
    want = boxes(-data.gains, -reference(data))
    np.testing.assert_allclose((acquisition.lower, acquisition.upper), want)


FOUR = [Objective("a"), Objective("b", "maximize"), Objective("c", target=0.5), Objective("d")]


def four(n: int = 12) -> list[dict]:
    rng = np.random.default_rng(1)
    return [dict(zip("abcd", map(float, rng.random(4)), strict=True)) for _ in range(n)]


def chebyshev(gains, weights):
    span = np.ptp(gains, axis=0)
    terms = weights * (gains - gains.max(axis=0)) / span
    return terms.min(axis=1) + 0.05 * terms.sum(axis=1)


def test_four_objectives_are_weighted_at_random() -> None:
    data, models = history(FOUR, [*four(), None])
    rng = np.random.default_rng(3)
    acquisition = OverTheFront(GaussianProcess()).over(data, models, NOBODY, 2, rng)
    assert isinstance(acquisition, LogExpectedImprovement)
    weights = np.random.default_rng(3).dirichlet(np.ones(4))
    rows = data.acceptable
    want = chebyshev(data.gains[rows], weights)
    assert acquisition.best == pytest.approx(want.max())
    np.testing.assert_allclose(acquisition.regressor.predict(data.X[rows])[0], want, atol=1e-3)
    other = OverTheFront(GaussianProcess()).over(data, models, NOBODY, 2, rng)
    assert other.best != acquisition.best  # other weights


def test_the_best_of_any_weights_is_on_the_front() -> None:
    data, models = history(FOUR, four(20))
    front = data.gains[nondominated(-data.gains)]
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.dirichlet(np.ones(4))
        values = chebyshev(data.gains, weights)
        assert (front == data.gains[values.argmax()]).all(axis=1).any()


def test_weights_learn_from_what_broke_a_limit_but_do_not_count_it() -> None:
    outputs = [*FOUR, Limit("heat", upper=1)]
    rows = [row | {"heat": 2.0 * (i % 2)} for i, row in enumerate(four())]
    rows[0] |= {"b": None}
    data, models = history(outputs, rows)
    acquisition = over(data, models)
    measured = ~np.isnan(data.gains).any(axis=1)
    assert len(acquisition.regressor.X) == measured.sum() == 11 > data.acceptable.sum() == 5


def test_weights_believe_pending_points() -> None:
    data, models = history(FOUR, four())
    pending = np.array([[0.05, 0.95]])
    stated = Models(models.outputs, models.objectives, (), (), Stated())
    without, with_pending = over(data, stated), over(data, stated, pending)
    assert with_pending.regressor.predict(pending)[1] < 0.1 * without.regressor.predict(pending)[1]
    assert with_pending.best == without.best  # unlikely, so not on the front


@pytest.mark.parametrize("outputs, m", [(TWO, 2), (FOUR, 4)])
def test_one_experiment_is_enough(outputs: list[Objective], m: int) -> None:
    row = dict(zip((o.name for o in outputs), [1.0, 2.0, 3.0, 4.0][:m], strict=True))
    data, models = history(outputs, [row])
    P = np.random.default_rng(0).random((5, 2))
    value, gradient = over(data, models).values_grad(P)
    assert np.isfinite(value).all() and np.isfinite(gradient).all()
