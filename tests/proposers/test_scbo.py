"""SCBO: the trust region as a function of the history, its candidates, and the draws."""

import numpy as np
import pytest
from goals import cube, region, unexplained
from scipy.stats import norm, rankdata

from becbo import Categorical, Integer, InvalidInput, Real, Settings, Space, minimize
from becbo.errors import Infeasible
from becbo.methods import build
from becbo.proposers.scbo import (
    LENGTH_INIT,
    LENGTH_MAX,
    LENGTH_MIN,
    N_RESTART,
    SUCCESS_TOLERANCE,
    Scbo,
    box,
    candidates,
    copula,
    n_candidates,
    perturbation_mask,
    replay,
)
from becbo.search.choice import TOLERANCE, UNSAFE
from becbo.surrogates.gp import GaussianProcess, GPModel, frequencies, prior_path
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import fixed
from becbo.surrogates.kernels import matern52, rbf, squared_distance

FAILED = np.nan
DESIGN = [FAILED] * 4 + [0.0] * 6  # ten experiments, the best value is 0


def state(*later: float, d: int = 2, design: list[float] = DESIGN):
    return replay(np.array([*design, *later]), d, len(design))


# -- the trust region -------------------------------------------------------------------------


def test_the_design_neither_grows_nor_shrinks() -> None:
    for n in range(11):
        now = replay(np.array(DESIGN[:n]), 2, 10)
        assert (now.length, now.n_successes, now.n_failures) == (LENGTH_INIT, 0, 0)
        assert now.n_design == 10 - n and not now.is_restarting
    assert now.best == 0.0


def test_ten_improvements_in_a_row_double_it() -> None:
    better = np.arange(1.0, SUCCESS_TOLERANCE + 1)
    assert state(*better[:-1]).length == LENGTH_INIT
    grown = state(*better)
    assert (grown.length, grown.n_successes, grown.best) == (2 * LENGTH_INIT, 0, 10.0)
    assert state(*np.arange(1.0, 41)).length == LENGTH_MAX


def test_an_interruption_starts_the_count_again() -> None:
    assert state(*range(1, 10), FAILED, *range(10, 19)).length == LENGTH_INIT
    assert state(*range(1, 10), FAILED, *range(10, 19)).n_successes == 9
    assert state(-1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0).length == LENGTH_INIT


@pytest.mark.parametrize("d, tolerance", [(1, 4), (4, 4), (7, 7), (30, 30)])
@pytest.mark.parametrize("value", [FAILED, -1.0, 0.0])  # equal is no improvement
def test_failures_in_a_row_halve_it(d: int, tolerance: int, value: float) -> None:
    assert state(*[value] * (tolerance - 1), d=d).length == LENGTH_INIT
    halved = state(*[value] * tolerance, d=d)
    assert (halved.length, halved.n_failures) == (LENGTH_INIT / 2, 0)


def test_the_smallest_region_restarts() -> None:
    n_halvings = 7  # 0.8 / 2^7 is the first below 2^-7
    assert LENGTH_INIT / 2**n_halvings < LENGTH_MIN < LENGTH_INIT / 2 ** (n_halvings - 1)
    stalled = [-1.0] * 4 * n_halvings
    assert state(*stalled[:-1]).begin == 0
    fresh = state(*stalled)
    assert fresh.begin == 10 + len(stalled) and fresh.is_restarting
    assert (fresh.length, fresh.best, fresh.n_design) == (LENGTH_INIT, -np.inf, N_RESTART)
    # Values since the restart count, and no others.
    later = state(*stalled, *[-5.0] * N_RESTART, -4.0)
    assert (later.best, later.n_successes, later.is_restarting) == (-4.0, 1, False)


def test_a_restart_without_success_takes_another_set_of_ten() -> None:
    stalled = [-1.0] * 28
    for n_sets in (1, 2, 3):
        still = state(*stalled, *[FAILED] * N_RESTART * n_sets)
        assert still.is_restarting and still.n_design == N_RESTART
    late = state(*stalled, *[FAILED] * N_RESTART, 1.0)
    assert late.is_restarting and late.n_design == N_RESTART - 1
    assert not state(*stalled, *[FAILED] * N_RESTART, 1.0, *[FAILED] * 9).is_restarting


def test_before_the_first_success_nothing_counts() -> None:
    nothing = state(*[FAILED] * 50, design=[FAILED] * 10)
    assert (nothing.length, nothing.n_failures, nothing.begin) == (LENGTH_INIT, 0, 0)
    assert not nothing.is_restarting
    found = state(*[FAILED] * 50, 1.0, 2.0, design=[FAILED] * 10)
    assert (found.best, found.n_successes, found.n_design) == (2.0, 1, 0)


# -- candidates -------------------------------------------------------------------------------


def test_sides_follow_the_length_scales() -> None:
    low, high = box(np.full(3, 0.5), 0.2, np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(high - low, 0.2 * np.array([0.5, 1.0, 2.0]))
    np.testing.assert_allclose(high + low, 1.0)
    low, high = box(np.array([0.05, 1.0]), 0.4, np.ones(2))
    np.testing.assert_allclose([low, high], [[0.0, 0.8], [0.25, 1.0]])


@pytest.mark.parametrize("d", [1, 20, 30, 100])
def test_the_mask_moves_twenty_dimensions_and_may_move_any(d: int) -> None:
    mask = perturbation_mask(4000, d, np.random.default_rng(0))
    assert mask.any(axis=1).all()
    np.testing.assert_allclose(mask.mean(axis=0), min(20 / d, 1), atol=0.04)


class NothingDrawn:
    """Random numbers that select no dimension."""

    def __init__(self) -> None:
        self.integers = np.random.default_rng(0).integers

    def random(self, shape: tuple[int, int]) -> np.ndarray:
        return np.ones(shape)


def test_a_row_without_any_dimension_gets_one_at_random() -> None:
    mask = perturbation_mask(2000, 5, NothingDrawn())
    assert (mask.sum(axis=1) == 1).all()
    np.testing.assert_allclose(mask.mean(axis=0), 0.2, atol=0.04)  # the last one included


@pytest.mark.parametrize("d, n", [(1, 2000), (10, 2000), (20, 4000), (30, 5000)])
def test_candidates_lie_in_the_box(d: int, n: int) -> None:
    centre, scales = np.full(d, 0.3), np.linspace(0.5, 2.0, d)
    X = candidates(centre, 0.1, scales, region(cube(min(d, 26))), np.random.default_rng(0))
    low, high = box(centre, 0.1, scales)
    assert X.shape == (n, d) == (n_candidates(d), d)
    assert (X >= low).all() and (X <= high).all() and (X != centre).any(axis=1).all()
    if d > 20:
        assert (X == centre).mean() == pytest.approx(1 - 20 / d, abs=0.02)


def test_a_small_region_still_changes_categories() -> None:
    space = Space([Real("a", 0, 1), Categorical("b", "xyz"), Integer("c", 1, 4)])
    centre = space.encode([{"a": 0.5, "b": "x", "c": 1}])[0]
    X = candidates(centre, 0.01, np.ones(space.dim), region(space), np.random.default_rng(0))
    seen = space.decode(space.snap(X))
    assert {p["b"] for p in seen} == set("xyz") and {p["c"] for p in seen} == {1, 2, 3, 4}
    assert max(abs(p["a"] - 0.5) for p in seen) < 0.02


# -- the copula -------------------------------------------------------------------------------


def test_the_copula_is_normal_whatever_the_values() -> None:
    y = np.random.default_rng(0).standard_cauchy(101) ** 3
    z = copula(y)
    np.testing.assert_allclose(z, norm.ppf((rankdata(y) - 0.5) / 101))
    np.testing.assert_array_equal(np.argsort(z), np.argsort(y))
    assert z.mean() == pytest.approx(0, abs=1e-9) and z.std() == pytest.approx(1, abs=0.05)


def test_equal_values_have_equal_ranks() -> None:
    np.testing.assert_allclose(
        copula(np.array([2.0, 1.0, 2.0, 2.0])), norm.ppf([5, 1, 5, 5] / np.array(8))
    )
    np.testing.assert_array_equal(copula(np.full(3, 7.0)), np.zeros(3))


# -- draws ------------------------------------------------------------------------------------


def exact(kernel, X, Z, noise, variance, scales, bias=0.0):
    """Posterior covariance at Z (m, m) of a GP observed at X with that noise (n,)."""

    def k(A, B):
        return variance * (kernel(squared_distance(A, B, scales))[0] + bias)

    K = k(X, X) + np.diag(noise)
    return k(Z, Z) - k(Z, X) @ np.linalg.solve(K, k(X, Z))


def draws(model, Z: np.ndarray, n: int = 1500) -> np.ndarray:  # (n, m)
    return np.stack([model.path(np.random.default_rng(seed))(Z) for seed in range(n)])


def assert_moments(drawn, mean, covariance) -> None:
    """Sample mean and covariance within five standard errors."""
    n, std = len(drawn), np.sqrt(np.diagonal(covariance))
    np.testing.assert_array_less(np.abs(drawn.mean(0) - mean), 5 * std / np.sqrt(n) + 1e-6)
    error = np.abs(np.cov(drawn.T) - covariance)
    np.testing.assert_array_less(error, 5 * np.sqrt(2 / n) * np.outer(std, std) + 1e-6)


@pytest.mark.parametrize("kernel", [matern52, rbf])
@pytest.mark.parametrize("noise", [1e-10, 1e-2])
@pytest.mark.parametrize("n_pending", [0, 2])
def test_draws_of_the_value_have_the_moments_of_the_posterior(kernel, noise, n_pending) -> None:
    rng = np.random.default_rng(0)
    X, Z, pending = rng.random((12, 2)), rng.random((6, 2)), rng.random((n_pending, 2))
    settings = GaussianProcess(kernel=kernel, noise=fixed(noise))
    model: GPModel = settings.fit(X, 50 + 9 * np.sin(7 * X[:, 0]) * X[:, 1])
    model = model.believe(pending) if n_pending else model
    level = np.full(len(model.X), noise + settings.nugget * model.variance)
    mean, std = model.predict(Z)
    covariance = model.unit**2 * exact(kernel, model.X, Z, level, model.variance, model.scales)
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), std, rtol=1e-3)
    assert_moments(draws(model, Z), mean, covariance)


def test_draws_interpolate_exact_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    y = 1e3 * X.sum(axis=1) ** 2
    drawn = draws(GaussianProcess().fit(X, y), X, 20)
    np.testing.assert_allclose(drawn, np.tile(y, (20, 1)), atol=1e-3 * np.ptp(y))


@pytest.mark.parametrize("n_pending", [0, 2])
@pytest.mark.parametrize("is_mixed", [True, False])
def test_draws_of_the_latent_have_the_moments_of_the_posterior(n_pending, is_mixed) -> None:
    rng = np.random.default_rng(0)
    X, Z, pending = rng.random((20, 2)), rng.random((6, 2)), rng.random((n_pending, 2))
    settings = GPClassifier(kernel=rbf, ard=False, scale=fixed(4.0))
    model = settings.fit(X, X.sum(axis=1) < 1 if is_mixed else np.full(20, True))
    model = model.believe(pending) if n_pending else model
    level = 1 / model.sites[:, 0]
    mean, std = model.latent(Z)
    covariance = exact(rbf, model.X, Z, level, model.variance, model.scales, settings.bias)
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), std, rtol=1e-4)
    assert_moments(draws(model, Z), mean, covariance)


@pytest.mark.parametrize("kernel", [matern52, rbf])
@pytest.mark.parametrize("d", [1, 10])
def test_frequencies_reproduce_the_kernel(kernel, d: int) -> None:
    rng = np.random.default_rng(0)
    omega = frequencies(kernel, 100_000, d, rng)
    for step in 0.5, 1.0, 2.0:
        x = np.full(d, step / np.sqrt(d))
        assert np.cos(omega @ x).mean() == pytest.approx(kernel(np.array(step**2))[0], abs=0.01)


def test_single_precision_is_not_seen() -> None:
    X = np.random.default_rng(0).random((100, 5))
    path = prior_path(matern52, np.full(5, 0.01), 1.0, np.random.default_rng(1))
    np.testing.assert_allclose(path(X), path(X, np.float64), atol=2e-3)


# -- the method -------------------------------------------------------------------------------


def propose(X, y, q=1, pending=None, space=None, seed=0, method=None):
    space = space or cube(X.shape[1])
    pending = np.empty((0, X.shape[1])) if pending is None else pending
    where = region(space, np.vstack([X, pending]))
    method = method or build(Settings(method="scbo"))
    return method.propose(unexplained(X, y), where, pending, q, np.random.default_rng(seed))


def test_a_proposal_stays_in_the_trust_region_of_the_best() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    y = np.where(X[:, 0] > 0.7, np.nan, -((X - 0.4) ** 2).sum(axis=1))
    y[10:] = np.minimum(y[10:], np.nanmax(y[:10]))  # no improvement after the design: 5 halvings
    centre = X[np.nanargmax(y[:10])]
    proposal = propose(X, y, q=3)
    assert {f.winner for f in proposal.found} == {"trust region"}
    assert replay(y, 2, 10).length == LENGTH_INIT / 2**5
    assert np.abs(proposal.X - centre).max() < 0.2


def stalled_history(n_after: int = 0):
    """A history whose region has become too small, and what followed."""
    rng = np.random.default_rng(0)
    X = rng.random((38 + n_after, 2))
    return X, np.array([0.0] * 10 + [-1.0] * 28 + [np.nan] * n_after)


def test_a_restart_proposes_the_points_of_one_new_design() -> None:
    X, y = stalled_history()
    batch = propose(X, y, q=N_RESTART)
    assert {f.winner for f in batch.found} == {"restart"}
    cells = np.unique((batch.X[:8] * 8).astype(int)[:, 0])
    assert len(cells) == 8  # eight points of a Sobol sequence
    # One after the other, with failures as answers, they are the same points.
    for x in batch.X:
        one = propose(X, y, seed=len(X))
        np.testing.assert_array_equal(one.X[0], x)
        X, y = np.vstack([X, x]), np.append(y, np.nan)
    assert propose(X, y).found[0].winner == "restart"  # none worked: the next ten
    X, y = np.vstack([X, np.random.default_rng(9).random((10, 2))]), np.append(y, np.zeros(10))
    assert propose(X, y).found[0].winner == "trust region"


def test_after_a_restart_the_centre_is_the_best_since_then() -> None:
    X, y = stalled_history(10)
    y[38:] = -3.0
    y[40] = -2.0
    y = np.append(y, [-4.0] * 24)  # shrink: 6 halvings
    X = np.vstack([X, np.random.default_rng(5).random((24, 2))])
    now = replay(y, 2, 10)
    assert (now.begin, now.length) == (38, LENGTH_INIT / 2**6)
    assert np.abs(propose(X, y).X[0] - X[40]).max() < 0.1


def test_without_a_success_the_whole_cube_is_searched_for_one() -> None:
    X = np.random.default_rng(0).random((40, 2)) * [0.5, 1.0]
    proposal = propose(X, np.full(40, np.nan), q=6)
    assert {f.winner for f in proposal.found} == {"space"}
    assert (proposal.X[:, 0] > 0.5).mean() > 0.5  # away from the failures
    assert all(b.mean is None for b in proposal.believed)


def test_where_no_draw_is_feasible_the_largest_probability_is_taken_and_said() -> None:
    X = 0.3 + 0.02 * (np.random.default_rng(0).random((34, 2)) - 0.5)
    y = np.append(1.0, np.full(33, np.nan))
    assert replay(y, 2, 10).length == LENGTH_INIT / 2**6
    found = [propose(X, y, seed=seed).found[0] for seed in range(10)]
    missed = [f for f in found if f.slack < -TOLERANCE]
    assert missed and all(f.fallback == UNSAFE for f in missed)


def test_bad_settings_are_named() -> None:
    with pytest.raises(InvalidInput, match="n_initial 0"):
        Scbo(n_initial=0)


def bowl(params: dict) -> float:
    x = np.array(list(params.values()))
    if x.sum() > 1.1:
        raise Infeasible("too much")
    return float(((x - 0.7) ** 2).sum())


def test_it_beats_space_filling_on_a_bowl_with_its_minimum_on_the_boundary() -> None:
    optimum = 2 * (0.7 - 0.55) ** 2
    gap = {
        m: np.mean([minimize(bowl, cube(2), 40, method=m, seed=s).best.value for s in range(2)])
        - optimum
        for m in ("scbo", "sobol")
    }
    assert gap["scbo"] < 0.5 * gap["sobol"]
