"""Beliefs computed again from a record."""

import numpy as np
import pytest
from bench.sample import make_run

from becbo import Optimizer
from becbo.bench.cases import random_record
from becbo.bench.records import Record
from becbo.bench.replay import beliefs, fit, snapshot, truth
from becbo.problems import get

LSQ = get("lsq")
RUN = random_record("lsq", "edge", seed=0, n=30)


def optimizer_of(record: Record, n: int) -> Optimizer:
    optimizer = Optimizer(LSQ.space, method=record.run.method, seed=record.run.seed)
    for x, y in list(zip(record.x, record.y, strict=True))[:n]:
        optimizer.add(dict(zip(LSQ.space.names, x, strict=True)), y, failed=y is None)
    return optimizer


@pytest.mark.parametrize("method", ["edge", "cei", "scbo", "svm-cbo", "sobol"])
def test_beliefs_are_those_of_the_optimizer(method: str) -> None:
    record = random_record("lsq", method, seed=3, n=25)
    U = np.random.default_rng(1).random((7, 2))
    believed = beliefs(record, 20, U)
    told = optimizer_of(record, 20).predict([{"x1": a, "x2": b} for a, b in U.tolist()])
    np.testing.assert_allclose(believed.objective, [p.mean for p in told])
    np.testing.assert_allclose(believed.p_feasible, [p.p_feasible for p in told])


def test_beliefs_can_be_repeated() -> None:
    record = random_record("lsq", "be-cbo", seed=3, n=5)
    U = np.random.default_rng(1).random((7, 2))
    first, second = beliefs(record, 5, U), beliefs(record, 5, U)
    np.testing.assert_array_equal(first.p_feasible, second.p_feasible)


def test_options_of_the_run_count() -> None:
    run = make_run(label="be-cbo-networks-3", method="be-cbo", options={"n_networks": 3})
    _, models = fit(Record(run, "lit", x=RUN.x[:5], y=RUN.y[:5]), 5)
    assert models.feasibility.layers[0].shape[0] == 3


@pytest.mark.parametrize(
    ("method", "lowest"), [("edge", 0.1), ("be-cbo-c", 0.5), ("be-cbo-gp", None), ("scbo", None)]
)
def test_the_bound_is_where_the_method_may_search(method: str, lowest: float | None) -> None:
    U = np.random.default_rng(1).random((50, 2))
    believed = beliefs(random_record("lsq", method, seed=0, n=20), 20, U)
    if method == "scbo":
        assert believed.bound is None
    elif lowest is not None:  # for `edge` the most daring of the limits it draws
        np.testing.assert_array_equal(believed.bound >= 0, believed.p_feasible >= lowest)
    else:  # 0.5 - sigma(x)
        assert (believed.bound >= believed.p_feasible - 0.5).all()


def test_nothing_has_worked() -> None:
    failed = Record(RUN.run, "lit", x=RUN.x[:5], y=(None,) * 5)
    assert beliefs(failed, 5, np.array([[0.5, 0.5]])).objective is None
    panel = snapshot(failed, 5, n_grid=5)
    assert (panel.objective, panel.best) == (None, None)
    assert "best none, 5 failed" in panel.title


def test_the_truth_on_a_grid() -> None:
    townsend = get("townsend")
    panel = truth(townsend, n_grid=11)
    assert (panel.x[0], panel.x[-1], panel.y[0], panel.y[-1]) == (-2.25, 2.25, -2.5, 1.75)
    point = np.array([[panel.x[7], panel.y[4]]])
    assert panel.objective[4, 7] == townsend.objective(point)[0]
    assert panel.slack[4, 7] == townsend.slacks(point)[0, 0]
    assert panel.p_feasible is None
    np.testing.assert_array_equal(panel.chance, panel.slack >= 0)


def test_a_snapshot_holds_the_first_evaluations() -> None:
    panel = snapshot(RUN, 20, n_grid=11)
    believed = beliefs(RUN, 20, np.array([[0.7, 0.4]]))
    np.testing.assert_allclose(panel.p_feasible[4, 7], believed.p_feasible[0])
    np.testing.assert_allclose(panel.objective[4, 7], believed.objective[0])
    assert panel.points.shape == (20, 2)
    worked = [y for y in RUN.y[:20] if y is not None]
    assert panel.worked.sum() == len(worked)
    assert LSQ.objective(panel.best[None])[0] == pytest.approx(min(worked))
    assert panel.title.startswith("edge after 20 evaluations")
