"""Numbers against numbers worked out otherwise."""

import numpy as np
import pytest
from bench.sample import make_record, make_run
from scipy import stats

from becbo.bench import summary
from becbo.bench.summary import CEILING, FLOOR, TARGETS

NAN, INF = np.nan, np.inf


def test_best_so_far() -> None:
    y = np.array([[NAN, 3.0, NAN, 4.0, 1.0], [NAN, NAN, NAN, NAN, NAN]])
    best = summary.best_so_far(y)
    assert best.tolist() == [[INF, 3.0, 3.0, 3.0, 1.0], [INF] * 5]


def test_values_of_a_record() -> None:
    y = summary.values(make_record(make_run(), [None, 2.0, None]))
    np.testing.assert_array_equal(y, [NAN, 2.0, NAN])


def test_regret_is_normalised_and_limited() -> None:
    best = np.array([11.0, 1.0 + 1e-2, 1.0, 0.9, 1e9, INF])
    regret = summary.log_regret(best, optimum=1.0, typical=11.0)
    np.testing.assert_allclose(regret, [0, -3, FLOOR, FLOOR, CEILING, CEILING])


@pytest.mark.parametrize(
    ("problem", "value"),
    [("welded_beam", 90.998), ("spring", 0.064299), ("rolling_bearing", -34917.4)],
)
def test_typical_value(problem: str, value: float) -> None:
    assert summary.typical_value(problem) == pytest.approx(value, rel=1e-5)


def test_typical_value_where_nothing_random_works() -> None:
    assert summary.typical_value("refrigeration") > 1e6


def test_regret_curve_of_a_record() -> None:
    typical = summary.typical_value("lsq")
    curve = summary.regret_curve(make_record(make_run("lsq"), [None, typical, 0.6]))
    assert curve[:2].tolist() == pytest.approx([CEILING, 0.0])
    assert curve[2] < -3


def test_failures_and_first_success() -> None:
    record = make_record(make_run(), [None, None, 1.0, None, 2.0, 3.0])
    found = summary.feasible(record)
    assert summary.failure_share(found, n_initial=2) == 0.25
    assert np.isnan(summary.failure_share(found, n_initial=6))
    assert summary.first_feasible(found) == 3
    assert summary.first_feasible(found[:2]) == INF


def test_curves_of_different_lengths() -> None:
    curves = summary.stack([np.array([1.0, 2.0]), np.array([3.0])])
    np.testing.assert_array_equal(summary.at(curves, 2), [2.0, NAN])
    np.testing.assert_array_equal(summary.at(curves, 3), [NAN, NAN])


def test_bootstrap_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    problems = np.array([[0.0], [7.0]])  # their difference is no uncertainty
    samples = rng.normal(0.0, 1.0, (300, 2, 20)) + problems
    intervals = [summary.bootstrap_interval(list(s), n_resamples=400) for s in samples]
    assert 0.88 <= np.mean([low <= 3.5 <= high for low, high in intervals]) <= 0.98
    assert np.mean([high - low for low, high in intervals]) < 1.0
    pairs = rng.normal(0.0, 1.0, (300, 12, 2))
    intervals = [summary.bootstrap_interval(list(s), n_resamples=400) for s in pairs]
    assert 0.88 <= np.mean([low <= 0 <= high for low, high in intervals]) <= 0.98
    again = summary.bootstrap_interval(list(samples[0]))
    assert summary.bootstrap_interval(list(samples[0])) == again


@pytest.mark.parametrize(("n_problems", "n_runs"), [(1, 3), (3, 2), (3, 3), (4, 3), (12, 2)])
@pytest.mark.parametrize("scale", [0.0, 1.0], ids=["alike", "unlike"])
def test_few_runs_are_covered_as_often(n_problems: int, n_runs: int, scale: float) -> None:
    """As few as the claims rest on, also where the problems differ in how runs scatter."""
    rng = np.random.default_rng(3)
    scales = np.exp(scale * rng.normal(size=(500, n_problems, 1)))
    samples = scales * rng.normal(size=(500, n_problems, n_runs))
    intervals = [summary.bootstrap_interval(list(s), n_resamples=400) for s in samples]
    assert np.mean([low <= 0 <= high for low, high in intervals]) >= 0.92


def test_single_runs_have_no_interval() -> None:
    low, high = summary.bootstrap_interval([np.ones(1), np.arange(5.0)])
    assert np.isnan([low, high]).all()
    assert summary.with_interval(1.5, low, high) == "1.50 (single runs)"
    assert summary.with_interval(-0.5, -1, 0.25, "+.1f") == "-0.5 (-1.0 to +0.2)"


def test_wilcoxon() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 10))
    assert summary.wilcoxon(a, b) == pytest.approx(stats.wilcoxon(a, b, method="exact").pvalue)
    assert summary.wilcoxon(a, a) == 1.0
    assert summary.wilcoxon(np.arange(10.0), np.arange(10.0) + 1) < 0.01  # all ties
    assert summary.wilcoxon(np.zeros(6), np.array([0.0, 0, 1, -1, 2, -2])) == pytest.approx(1.0)


def test_holm() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert summary.holm(p).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert summary.holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    assert summary.holm(np.empty(0)).tolist() == []


def test_wins_ties_losses() -> None:
    a = np.array([-3.0, -1.0, -2.0, FLOOR])
    b = np.array([-2.0, -2.0, -2.01, FLOOR])
    assert summary.wins_ties_losses(a, b) == (1, 2, 1)
    assert summary.wins_ties_losses(a, b, tie=0.0) == (1, 1, 2)


def test_ecdf_counts_targets_reached() -> None:
    curves = np.array([[CEILING, -1.0, -9.0], [CEILING, CEILING, CEILING]])
    share = np.mean(TARGETS >= -1.0)
    assert summary.ecdf(curves).tolist() == pytest.approx([0, share / 2, 0.5])
    areas = summary.ecdf_area(curves)
    assert areas.tolist() == pytest.approx([(share + 1) / 3, 0])
    assert areas.mean() == pytest.approx(summary.ecdf(curves).mean())


def test_ranks() -> None:
    scores = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 2.0]])
    assert summary.mean_ranks(scores).tolist() == [2.0, 1.75, 2.25]
    # Demsar (2006), section 3.2.4: four classifiers on 14 data sets.
    assert summary.critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
