"""From a history to models: one per output, and feasibility as a product of factors."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from becbo import Limit, Objective, Real, Recorded, Result, Space, Trial
from becbo.data import Dataset, dataset
from becbo.methods import build
from becbo.models.base import Models
from becbo.models.feasibility import Networks, OneGP, PerConstraint
from becbo.models.values import MEASURED_DOUBT, fit_limit, fit_value
from becbo.models.warm import checkpoint
from becbo.outputs import Output, Outputs
from becbo.settings import Settings
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifierModel
from becbo.surrogates.product import Product
from becbo.surrogates.thresholds import Thresholds
from becbo.surrogates.warped import Bilog, Plain

SPACE = Space([Real("x", 0, 1), Real("y", 0, 1)])
COST, HEAT = Objective("cost"), Limit("heat", upper=2.0)
# A jittered grid, in random order.
GRID = np.array([[x, y] for x in range(4) for y in range(4)])
DESIGNS = ((GRID + np.random.default_rng(0).random((16, 2))) / 4).round(3)
DESIGNS = np.random.default_rng(1).permutation(DESIGNS)


def history(outputs: Sequence[Output], results: Sequence[Result], X=DESIGNS) -> Dataset:
    rows = zip(X.tolist(), results, strict=False)
    trials = [Trial(i, {"x": x, "y": y}, result) for i, ((x, y), result) in enumerate(rows)]
    return dataset(trials, SPACE, Outputs.of(outputs))


def fit(data: Dataset, **settings) -> Models:
    return build(Settings(seed=0, **settings)).fit(data, np.random.default_rng(0))


def heat_of(X):
    return 4.0 * X[:, 0]


def measured(n: int = 16, fails: bool = False) -> list[Result]:
    """Heat is 4 x; too hot right of 0.5, which is a failure or not."""
    rows = zip(DESIGNS[:n], heat_of(DESIGNS[:n]).tolist(), strict=True)
    return [
        Result.failed(f"heat {heat}", {"heat": heat})
        if fails and heat > 2
        else Result.ok({"cost": float(x.sum()), "heat": heat})
        for x, heat in rows
    ]


# -- factors of feasibility --------------------------------------------------------------------


def test_a_limit_that_was_never_measured_adds_no_factor() -> None:
    results = [Result.ok({"cost": float(x.sum())}) for x in DESIGNS]
    plain = fit(history([COST], results))
    limited = fit(history([COST, HEAT, Recorded("colour")], results))
    assert (limited.limits, limited.recorded) == ((None,), (None,))
    assert list(limited.predictors) == ["cost"]
    assert isinstance(limited.feasibility, GPClassifierModel)
    np.testing.assert_array_equal(
        limited.feasibility.score(DESIGNS), plain.feasibility.score(DESIGNS)
    )


@pytest.mark.parametrize("fails", [False, True])
def test_a_measured_limit_is_one_more_factor(fails: bool) -> None:
    models = fit(history([COST, HEAT], measured(fails=fails)))
    assert isinstance(models.feasibility, Product)
    unknown, heat = models.feasibility.factors
    assert isinstance(heat, Thresholds) and heat.parts[0].model == models.limits[0]
    assert models.feasibility.doubt == MEASURED_DOUBT
    P = np.random.default_rng(1).random((200, 2))
    P = P[np.abs(P[:, 0] - 0.5) > 0.05]
    np.testing.assert_array_equal(models.chance(P) > 0.5, heat_of(P) < 2)
    np.testing.assert_allclose(
        models.chance(P), ndtr(unknown.score(P)[0]) * ndtr(heat.score(P)[0]), rtol=1e-6
    )


def test_a_failure_explained_by_a_limit_does_not_teach_the_classifier() -> None:
    models = fit(history([COST, HEAT], measured(fails=True)))
    unknown = models.feasibility.factors[0]
    # It has seen successes alone, so it expects no other failures.
    assert isinstance(unknown, GPClassifierModel)
    assert len(unknown.X) == (heat_of(DESIGNS) <= 2).sum() < len(DESIGNS)
    assert (ndtr(unknown.score(DESIGNS)[0]) > 0.5).all()


def test_a_failure_named_after_a_limit_does_not_teach_the_classifier_either() -> None:
    results = measured(fails=True)
    hot = [i for i, result in enumerate(results) if result.values["heat"] > 2]
    for i in hot[1:]:  # one was measured, the others were only called by name
        results[i] = Result.failed("heat")
    data = history([COST, HEAT], results)
    models = fit(data)
    unknown = models.feasibility.factors[0]
    assert len(unknown.X) == len(DESIGNS) - len(hot)
    assert (models.chance(DESIGNS[hot]) < 0.5).all()
    assert (models.limits[0].predict(DESIGNS[hot[1:]])[0] > 2).all()


def test_other_failures_do_teach_the_classifier() -> None:
    results = measured(fails=True)
    high = np.flatnonzero((DESIGNS[:, 1] > 0.6) & (DESIGNS[:, 0] < 0.45))
    assert len(high) > 1
    for i in high:
        results[i] = Result.failed("leaked", {"heat": float(heat_of(DESIGNS)[i])})
    models = fit(history([COST, HEAT], results))
    assert (models.chance(DESIGNS[high]) < 0.5).all()
    unknown = models.feasibility.factors[0]
    assert (ndtr(unknown.score(DESIGNS[high])[0]) < 0.5).all()
    assert models.feasibility.factors[-1].parts[0].model == models.limits[0]
    cool = (heat_of(DESIGNS) < 2) & (DESIGNS[:, 1] < 0.5)
    assert (models.chance(DESIGNS[cool]) > 0.5).all()


def test_a_limit_with_two_bounds_is_modelled_from_numbers_alone() -> None:
    band = Limit("heat", lower=1.0, upper=2.0)
    results = measured()
    results[3] = Result.failed("heat")  # on which side?
    data = history([COST, band], results)
    models = fit(data)
    assert len(models.limits[0].inner.X) == 15
    assert len(models.feasibility.factors[0].X) == 16
    P = np.column_stack([[0.1, 0.4, 0.9], [0.3] * 3])
    assert (models.chance(P) > 0.5).tolist() == [False, True, False]


def test_several_limits_must_all_be_kept() -> None:
    cold = Limit("cold", lower=-1.0)
    results = [
        Result.ok({"cost": 1.0 + x + y, "heat": 4 * x, "cold": -2 * y}) for x, y in DESIGNS.tolist()
    ]
    models = fit(history([COST, HEAT, cold], results))
    assert len(models.feasibility.factors[1].parts) == 2
    P = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]])
    assert (models.chance(P) > 0.5).tolist() == [True, False, False, False]


# -- limits ------------------------------------------------------------------------------------

GP = GaussianProcess()


def of_limit(values, bound: float = 1.0) -> Dataset:
    results = [Result.ok({"cost": 1.0, "heat": float(v)}) for v in values]
    return history([COST, Limit("heat", upper=bound)], results)


def test_the_evidence_warps_what_varies_over_orders_of_magnitude() -> None:
    model = fit_limit(GP, of_limit(np.exp(8 * DESIGNS[:, 0] + 3 * DESIGNS[:, 1]), 20.0), 0)
    assert isinstance(model.warp, Bilog) and model.warp.centre == 20.0


def test_the_evidence_leaves_straight_values_as_they_are() -> None:
    model = fit_limit(GP, of_limit(DESIGNS @ [3.0, -2.0]), 0)
    assert model.warp == Plain()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
def test_a_limit_can_be_fitted_from_the_first_value_on(n: int) -> None:
    values = DESIGNS[:n] @ [3.0, -2.0]
    model = fit_limit(GP, of_limit(values), 0)
    mean, std = model.predict(DESIGNS[:n])
    np.testing.assert_allclose(mean, values, atol=0.01)
    assert np.isfinite(std).all()


def test_a_limit_measured_late_can_be_fitted() -> None:
    results = [Result.ok({"cost": 1.0})] * 11 + measured()[11:13]
    model = fit_limit(GP, history([COST, HEAT], results), 0)
    assert model is not None and model.warp == Plain() and len(model.inner.X) == 2


def test_without_censored_values_the_fit_is_that_of_the_numbers() -> None:
    results = measured()
    data = history([COST, HEAT], results)
    model = fit_limit(GP, data, 0)
    alone = fit_value(replace(GP, n_warm_iterations=3), data, 1)
    assert model.warp == Plain()
    np.testing.assert_allclose(model.predict(DESIGNS), alone.predict(DESIGNS), rtol=1e-6, atol=1e-9)
    # A failure for another reason says nothing of the limit.
    more = history([COST, HEAT], [*results[:15], Result.failed("leaked")])
    less = history([COST, HEAT], results[:15])
    np.testing.assert_array_equal(fit_limit(GP, more, 0).inner.X, fit_limit(GP, less, 0).inner.X)


def test_repeated_designs_and_censored_ones_go_together() -> None:
    X = np.vstack([DESIGNS[:8], DESIGNS[:4], [[0.95, 0.5]]])
    results = [Result.ok({"cost": 1.0, "heat": float(v)}) for v in heat_of(X[:-1])]
    data = history([COST, HEAT], [*results, Result.failed("heat")], X)
    assert data.causes.broken[-1, 0]
    model = fit_limit(GP, data, 0)
    mean, _ = model.predict(X)
    np.testing.assert_allclose(mean[:-1], heat_of(X[:-1]), atol=0.02)
    assert mean[-1] > 2


@pytest.mark.parametrize("bounds", [{"upper": 20.0}, {"lower": -20.0}])
def test_censored_values_lie_beyond_the_bound_of_a_warped_limit(bounds: dict) -> None:
    sign = 1.0 if "upper" in bounds else -1.0
    values = sign * np.exp(6 * DESIGNS[:, 0])
    results = [
        Result.ok({"cost": 1.0, "heat": float(v)})
        if abs(v) < 20 or i < 6
        else Result.failed("heat")
        for i, v in enumerate(values)
    ]
    data = history([COST, Limit("heat", **bounds)], results)
    broken = data.causes.broken[:, 0]
    assert 2 <= broken.sum() < len(DESIGNS) - 4
    model = fit_limit(GP, data, 0)
    assert (sign * model.predict(DESIGNS[broken])[0] > 20).all()


def test_the_fit_depends_on_the_history_alone() -> None:
    data = of_limit(np.exp(8 * DESIGNS[:, 0]), 20.0)
    first = fit_limit(GP, data, 0).predict(DESIGNS)
    fit_limit(GP, of_limit(DESIGNS[:7] @ [3.0, -2.0]), 0)
    np.testing.assert_array_equal(fit_limit(GP, data, 0).predict(DESIGNS), first)


def test_checkpoints_are_rare() -> None:
    counts = (1, 4, 5, 9, 49, 50, 59, 199, 200, 249)
    assert [checkpoint(n) for n in counts] == [1, 1, 5, 5, 45, 50, 50, 190, 200, 200]


# -- predictions -------------------------------------------------------------------------------


def test_every_output_is_described_in_its_own_units() -> None:
    outputs = [
        Objective("down"),
        Objective("up", "maximize"),
        Objective("ph", target=7.0),
        Limit("heat", upper=2),
        Recorded("colour"),
    ]
    rows = [
        {"down": 100 + x, "up": 1e3 * y, "ph": 6 + 2 * x, "heat": 4 * x, "colour": x - y}
        for x, y in DESIGNS.tolist()
    ]
    models = fit(history(outputs, [Result.ok(row) for row in rows]))
    assert list(models.predictors) == ["down", "up", "ph", "heat", "colour"]
    for said, row in zip(models.describe(DESIGNS), rows, strict=True):
        assert list(said.outputs) == list(row)
        for name, value in row.items():
            estimate = said.outputs[name]
            assert estimate.mean == pytest.approx(value, rel=0.02, abs=0.02)
            assert estimate.std >= 0
        assert said.band[0] <= said.p_feasible <= said.band[1]


def test_believing_narrows_the_objectives_and_the_limits() -> None:
    models = fit(history([COST, HEAT, Recorded("colour")], measured()))
    P = np.array([[0.02, 0.98]])
    believed = models.believe(P)
    assert believed.objectives[0].predict(P)[1] < 0.5 * models.objectives[0].predict(P)[1]
    assert believed.feasibility.score(P)[0] > models.feasibility.score(P)[0]
    assert believed.recorded == (None,)
    assert models.believe(P[:0]) is models


# -- classifiers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classifier", [OneGP(), PerConstraint(), Networks()], ids=lambda c: type(c).__name__
)
def test_classifiers_learn_from_the_history(classifier) -> None:
    results = [
        Result.failed() if x > 0.6 else Result.ok({"cost": x + y}) for x, y in DESIGNS.tolist()
    ]
    data = history([COST], results)
    model = classifier.fit(data, np.random.default_rng(0))
    chances = ndtr(model.score(np.array([[0.1, 0.5], [0.95, 0.5]]))[0])
    assert chances[0] > 0.5 > chances[1]


def test_caution_gives_up_attribution_and_the_discount_of_stated_chances() -> None:
    assert PerConstraint().cautious() == PerConstraint(max_points=0, optimism=0.0)
    assert OneGP().cautious() == OneGP() and Networks().cautious() == Networks()
