"""SVM-CBO: two phases, what each of them looks for, and when the machine learns."""

from dataclasses import replace

import numpy as np
import pytest
from goals import cube, region, unexplained

from becbo import Infeasible, InvalidInput, Optimizer, Settings, minimize
from becbo.methods import build
from becbo.proposers.svm_cbo import (
    BETA,
    SvmCbo,
    boundary_goal,
    boundness_grad,
    coverage_grad,
    n_boundary,
    optimum_goal,
    training_size,
)
from becbo.search.choice import TOLERANCE, UNSAFE
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.kernels import rbf
from becbo.surrogates.svm import SupportVectorClassifier, spread

NONE = np.empty((0, 2))


def disc(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of the square and their values: -|x|^2 inside a disc, NaN outside."""
    X = np.random.default_rng(seed).random((n, 2))
    inside = ((X - 0.5) ** 2).sum(axis=1) < 0.1
    return X, np.where(inside, -(X**2).sum(axis=1), np.nan)


def machine_of(X: np.ndarray, y: np.ndarray):
    return SupportVectorClassifier().fit(X, ~np.isnan(y))


def propose(method: SvmCbo, X, y, pending=NONE, q: int = 1, seed: int = 0):
    where = region(cube(2), np.vstack([X, pending]))
    return method.propose(unexplained(X, y), where, pending, q, np.random.default_rng(seed))


# -- phases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "budget, n_initial, n", [(200, 10, 127), (100, 10, 60), (20, 10, 7), (10, 10, 0)]
)
def test_phase_one_gets_two_thirds(budget: int, n_initial: int, n: int) -> None:
    assert n_boundary(budget, n_initial) == n
    assert SvmCbo(budget=budget, n_initial=n_initial).n_switch == n + n_initial


def test_the_preset_has_the_split_of_the_paper() -> None:
    method = build(Settings(method="svm-cbo"))
    assert isinstance(method, SvmCbo) and method.n_switch == 137


def test_the_phase_follows_from_the_number_of_experiments() -> None:
    X, y = disc(40)
    method = SvmCbo(budget=40)  # phase 2 from 30 experiments on

    def winner(n: int, pending=NONE) -> str:
        return propose(method, X[:n], y[:n], pending).found[0].winner

    assert "phase 2" not in winner(29)
    assert winner(30) == winner(40) == "phase 2"
    assert winner(28, X[38:]) == "phase 2"  # pending ones count
    batch = [f.winner == "phase 2" for f in propose(method, X[:28], y[:28], q=4).found]
    assert batch == [False, False, True, True]


def test_without_a_success_phase_one_goes_on() -> None:
    X, _ = disc(40)
    found = propose(SvmCbo(budget=40), X, np.full(40, np.nan)).found[0]
    assert found.winner != "phase 2"


def test_in_phase_two_only_failures_teach_the_machine() -> None:
    ok, failed = True, False
    phase_one = [ok, failed, ok, ok]
    for later, size in [
        ([], 4),
        ([ok, ok], 4),
        ([ok, failed], 6),
        ([ok, failed, ok, ok], 6),
        ([failed, ok, failed], 7),
    ]:
        assert training_size(np.array(phase_one + later), 4) == size
    assert training_size(np.array(phase_one), 10) == 4
    assert training_size(np.array([ok] * 6), 4) == 4


def test_the_machine_of_a_proposal_is_the_one_that_was_taught() -> None:
    X, y = disc(40)
    y[34:] = -1.0  # successes after the last failure that counts
    y[33] = np.nan
    method = SvmCbo(budget=40)
    model = method.fit(unexplained(X, y), np.random.default_rng(0)).feasibility
    taught = machine_of(X[:34], y[:34])
    np.testing.assert_array_equal(model.decision(X), taught.decision(X))


@pytest.mark.parametrize("budget, n_initial", [(5, 10), (10, -1)])
def test_bad_settings_are_named(budget: int, n_initial: int) -> None:
    with pytest.raises(InvalidInput, match=f"budget {budget}.*{n_initial}"):
        SvmCbo(budget=budget, n_initial=n_initial)


# -- phase 1 ----------------------------------------------------------------------------------


def test_coverage_and_boundness_are_what_the_paper_says() -> None:
    X, y = disc(20)
    Z, w = np.random.default_rng(1).random((7, 2)), 0.2
    coverage, _ = coverage_grad(Z, X, w)
    squares = ((Z[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(coverage, np.exp(-squares / (2 * w**2)).sum(axis=1))
    machine = machine_of(X, y)
    np.testing.assert_allclose(boundness_grad(Z, machine)[0], np.abs(machine.decision(Z)))
    a, g = boundary_goal(X, machine).values(Z)
    want = coverage_grad(Z, X, X.var())[0] + np.abs(machine.decision(Z))
    np.testing.assert_allclose(a, -want)
    assert (g > 0).all() and spread(X) == X.var()


def test_the_gradient_of_phase_one_is_the_derivative() -> None:
    X, y = disc(20)
    goal, h = boundary_goal(X, machine_of(X, y)), 1e-6
    Z = np.random.default_rng(1).random((7, 2))
    numeric = np.stack(
        [(goal.values(Z + s)[0] - goal.values(Z - s)[0]) / (2 * h) for s in h * np.eye(2)], axis=1
    )
    np.testing.assert_allclose(goal.values_grad(Z)[2], numeric, atol=1e-5)


def test_phase_one_finds_the_minimum_of_its_criterion() -> None:
    X, y = disc(30)
    found = propose(SvmCbo(), X, y).found[0]
    axis = np.linspace(0, 1, 201)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    best = boundary_goal(X, machine_of(X, y)).values(grid)[0].max()
    assert found.value > best - 0.02


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_of_one_class_coverage_alone_decides(value: float) -> None:
    X = np.random.default_rng(0).random((12, 2))
    found = propose(SvmCbo(), X, np.full(12, value)).found[0]
    axis = np.linspace(0, 1, 101)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    least = coverage_grad(grid, X, X.var())[0].min()
    assert coverage_grad(found.x[None], X, X.var())[0][0] < least + 0.01


def test_pending_points_are_covered() -> None:
    X, y = disc(30)
    first = propose(SvmCbo(), X, y).X
    second = propose(SvmCbo(), X, y, pending=first).X
    assert np.linalg.norm(first - second) > X.var() / 2


# -- phase 2 ----------------------------------------------------------------------------------


def test_phase_two_is_the_confidence_bound_under_the_decision() -> None:
    X, y = disc(40)
    works = ~np.isnan(y)
    regressor, machine = GaussianProcess(kernel=rbf).fit(X[works], y[works]), machine_of(X, y)
    a, g = optimum_goal(regressor, machine).values(X)
    mean, std = regressor.predict(X)
    np.testing.assert_allclose(a, mean + BETA * std)
    np.testing.assert_allclose(g, machine.decision(X))


@pytest.mark.parametrize("seed", range(5))
def test_phase_two_stays_where_the_machine_predicts_success(seed: int) -> None:
    X, y = disc(60, seed)
    method = SvmCbo(budget=60)
    proposal = propose(method, X, y, q=3, seed=seed)
    machine = method.fit(unexplained(X, y), np.random.default_rng(0)).feasibility
    assert (machine.decision(proposal.X) >= -TOLERANCE).all()
    assert all(f.bound_holds and f.fallback is None for f in proposal.found)


def test_if_failure_is_predicted_everywhere_the_least_sure_is_taken_and_said() -> None:
    X, _ = disc(60)
    y = np.full(60, np.nan)
    y[7] = 1.0  # one success among failures is an outlier to the machine
    found = propose(SvmCbo(budget=60), X, y).found[0]
    assert not found.bound_holds and found.fallback == UNSAFE


# -- the method -------------------------------------------------------------------------------


def bowl(params: dict) -> float:
    x = np.array(list(params.values()))
    if x.sum() > 1.1:
        raise Infeasible("too much")
    return float(((x - 0.45) ** 2).sum())


def test_it_beats_space_filling_in_the_end() -> None:
    method = replace(build(Settings(method="svm-cbo")), budget=40)
    for seed in range(2):
        found = minimize(bowl, cube(2), 40, method=method, seed=seed).best
        other = minimize(bowl, cube(2), 40, method="sobol", seed=seed).best
        assert found is not None and other is not None
        assert found.value < 0.5 * other.value


def test_beyond_its_budget_it_stays_in_phase_two() -> None:
    X, y = disc(50)
    optimizer = Optimizer(cube(2), method=SvmCbo(budget=20), seed=0)
    for x, value in zip(X, y, strict=True):
        params = dict(zip("ab", x.tolist(), strict=True))
        optimizer.add(params, **({"failed": True} if np.isnan(value) else {"value": value}))
    assert optimizer.ask().origin == "phase 2"
