"""Mixtures: whatever is proposed adds up, in the steps that can be set."""

import math
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import becbo
from becbo import (
    Categorical,
    Integer,
    InvalidInput,
    LinearConstraint,
    Objective,
    Optimizer,
    Real,
    Space,
)
from becbo.proposers.base import region_of
from becbo.search.ascent import ascend
from becbo.search.candidates import space_filling

ABC = dict.fromkeys("abc", 1)
RECIPE = Space(
    [
        Real("a", 0, 100, step=0.5),
        Real("b", 10, 60, step=0.5),
        Real("c", 5, 90, step=2.5),
        Real("t", 20, 90),
        Categorical("supplier", ["X", "Y", "Z"]),
    ],
    [LinearConstraint(ABC, equals=100)],
)
CONTINUOUS = Space(
    [Real("a", 0, 1), Real("b", 0.1, 0.6), Real("c", 0, 1)], [LinearConstraint(ABC, equals=1)]
)
CATALYST = Space(
    [Real("a", 0, 100), Real("b", 0, 60, step=1), Real("c", 0.01, 5, log=True)],
    [LinearConstraint(ABC, equals=100)],
)
COUNTS = Space(
    [Integer("a", 0, 9), Integer("b", 0, 9, step=3), Integer("c", 0, 40)],
    [LinearConstraint({"a": 2, "b": 3, "c": 1}, equals=40)],
)
SPACES = {"recipe": RECIPE, "continuous": CONTINUOUS, "catalyst": CATALYST, "counts": COUNTS}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def check(space: Space, params: dict) -> None:
    """In decimals if all ingredients have steps, to nine digits otherwise; on the grids."""
    for p in space.parameters:
        assert p.check(params[p.name]) == params[p.name]
        if math.isfinite(p.n_values):  # a grid value survives rounding
            assert p.decode(p.snap(np.array([p.encode(params[p.name])]))[0]) == params[p.name]
    for constraint in space.constraints:
        if not isinstance(constraint, LinearConstraint) or not constraint.is_total:
            continue
        members = [p for p in space.parameters if p.name in constraint.coefficients]
        terms = [constraint.coefficients[p.name] * Decimal(str(params[p.name])) for p in members]
        if all(math.isfinite(p.n_values) for p in members):
            assert sum(terms) == Decimal(str(constraint.upper)), params
        else:
            assert math.isclose(sum(terms), constraint.upper, rel_tol=1e-9), params


@st.composite
def mixtures(draw: st.DrawFn) -> Space:
    """Two to five ingredients of any kind that can add up, beside other parameters."""
    members = []
    for name in "abcde"[: draw(st.integers(2, 5))]:
        low, steps = draw(st.integers(0, 20)), draw(st.integers(1, 60))
        kind = draw(st.sampled_from(["real", "log", "step", "whole"]))
        step = draw(st.sampled_from([0.1, 0.25, 0.5, 1, 2, 3]))
        if kind == "real":
            members.append(Real(name, low, low + steps))
        elif kind == "log":
            members.append(Real(name, 0.01 + low, 1 + low + steps, log=True))
        elif kind == "step":
            members.append(Real(name, low, low + steps * step, step=step))
        else:
            members.append(Integer(name, low, low + steps * math.ceil(step), step=math.ceil(step)))
    # A total that some settable values have.
    inside = [p.decode([draw(st.floats(0, 1))]) for p in members]
    total = float(sum(Decimal(str(value)) for value in inside))
    other = [Real("t", 20, 90), Categorical("k", ["x", "y"])][: draw(st.integers(0, 2))]
    constraint = LinearConstraint({p.name: 1 for p in members}, equals=total)
    return Space([*members, *other], [constraint])


@settings(max_examples=200, deadline=None)
@given(space=mixtures(), seed=st.integers(0, 9))
def test_every_point_settles_on_the_mixture(space: Space, seed: int) -> None:
    X = rng(seed).random((20, space.dim))
    decoded = space.decode(X)
    allowed = space.allowed(X)
    # Narrow grids with different steps may have a total that is out of reach from some points.
    steps = {p.step for p in space.parameters if p.name in "abcde"}
    assert allowed.all() or len(steps) > 1
    for params, is_allowed in zip(decoded, allowed, strict=True):
        if is_allowed:
            check(space, params)
            (again,) = space.decode(space.encode([params]))
            assert again == {
                name: pytest.approx(value, rel=1e-9, abs=1e-9)
                if isinstance(value, float)
                else value
                for name, value in params.items()
            }
    snapped = space.snap(X)
    np.testing.assert_allclose(space.snap(snapped)[allowed], snapped[allowed], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(space=mixtures(), seed=st.integers(0, 9))
def test_initial_designs_add_up(space: Space, seed: int) -> None:
    optimizer = Optimizer(space, seed=seed, n_initial=6)
    try:
        trials = optimizer.ask(6)
    except InvalidInput as error:
        pytest.fail(str(error))
    for trial in trials:
        check(space, trial.params)


@pytest.mark.parametrize("method", ["edge", "scbo", "sobol"])
@pytest.mark.parametrize("name", SPACES)
def test_every_proposal_adds_up(name: str, method: str) -> None:
    """Also in batches, beside pending designs and after designs off the mixture."""
    space = SPACES[name]
    optimizer = Optimizer(space, "maximize", seed=1, method=method, n_initial=4)
    outside = {p.name: p.decode([0.9] * p.width) for p in space.parameters}
    optimizer.add(outside, 1.0)
    for i in range(3):
        asked = optimizer.ask(3)
        for trial in asked:
            check(space, trial.params)
        optimizer.fail(asked[0])
        optimizer.tell(asked[1], float(i) + trial.params["b"] / 60)
    designs = [tuple(trial.params.values()) for trial in optimizer.trials]
    assert len(set(designs)) == len(designs)


def test_the_best_mixture_is_found() -> None:
    """The optimum lies on a face of the mixture, beside designs that fail."""
    space = Space(
        [Real("a", 0, 100, step=0.5), Real("b", 0, 100, step=0.5), Real("c", 0, 100, step=0.5)],
        [LinearConstraint(ABC, equals=100)],
    )

    def experiment(params: dict) -> float:
        if params["a"] > 70:
            raise becbo.Infeasible("solid")
        return (params["a"] - 80) ** 2 + (params["b"] - 25) ** 2

    result = becbo.minimize(experiment, space, budget=30, seed=0)
    assert result.best.value <= 110  # the best is 100 + 0; the median of ten random ones 2300
    assert {sum(t.params.values()) for t in result.trials} == {100.0}


def test_several_objectives_and_constraints_besides_the_mixture() -> None:
    space = Space(
        RECIPE.parameters,
        [*RECIPE.constraints, LinearConstraint({"a": 1, "b": -1}, lower=0), lambda p: p["t"] < 80],
    )
    optimizer = Optimizer(space, [Objective("x"), Objective("y")], seed=0, n_initial=4)
    for _ in range(8):
        trial = optimizer.ask()
        check(space, trial.params)
        assert trial.params["a"] >= trial.params["b"] and trial.params["t"] < 80
        optimizer.tell(trial, {"x": trial.params["a"], "y": trial.params["c"]})


def test_initial_designs_spread_over_the_simplex_and_the_choices() -> None:
    space = Space(
        [*(Real(name, 0, 1) for name in "abc"), Categorical("supplier", list("XYZ"))],
        [LinearConstraint(ABC, equals=1)],
    )
    gaps, random_gaps = [], []
    for seed in range(20):
        X = space_filling(region_of(space, np.empty((0, space.dim))), 12, rng(seed))
        assert X[:, 3:].sum(axis=0).tolist() == [4.0, 4.0, 4.0]
        gaps.append(smallest_gap(X[:, :3]))
        random_gaps.append(smallest_gap(rng(seed).dirichlet(np.ones(3), 12)))
        # Each corner of the triangle has a quarter of its area, and so has the middle.
        quarters = [(X[:, i] > 0.5).sum() for i in range(3)]
        assert all(1 <= n <= 6 for n in quarters), quarters
    assert np.median(gaps) > 2 * np.median(random_gaps)


def smallest_gap(X: np.ndarray) -> float:
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    return float(gaps[~np.eye(len(X), dtype=bool)].min())


@pytest.mark.parametrize("seed", range(5))
def test_choices_come_equally_often_without_a_mixture(seed: int) -> None:
    space = Space([Real("x", 0, 1), Categorical("s", list("XYZ")), Categorical("k", list("ab"))])
    X = space_filling(region_of(space, np.empty((0, space.dim))), 10, rng(seed))
    assert sorted(X[:, 1:4].sum(axis=0)) == [3.0, 3.0, 4.0]
    assert X[:, 4:].sum(axis=0).tolist() == [5.0, 5.0]


def test_a_climb_stays_on_the_mixture_and_reaches_its_best_point() -> None:
    target = np.array([0.9, 0.5, 0.1])

    def fun(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -((X - target) ** 2).sum(axis=1), -2 * (X - target)

    space = Space([Real(name, 0, 1) for name in "abc"], [LinearConstraint(ABC, equals=1)])
    starts = space.snap(rng().random((6, 3)))
    X, _ = ascend(fun, starts, np.ones(3, dtype=bool), 40, mixtures=space.mixtures)
    np.testing.assert_allclose(X.sum(axis=1), 1, atol=1e-9)
    # The projection of the target onto the simplex: (0.7, 0.3, 0).
    np.testing.assert_allclose(X, [[0.7, 0.3, 0.0]] * 6, atol=1e-3)


def test_projection_is_the_nearest_point() -> None:
    """Beside the textbook's projection onto the simplex (Held, Wolfe, Crowder 1974)."""
    space = Space(
        [Real(name, 0, 1) for name in "abcd"],
        [LinearConstraint(dict.fromkeys("abcd", 1), equals=1)],
    )
    X = rng().random((50, 4))
    ranked = -np.sort(-X, axis=1)
    excess = (np.cumsum(ranked, axis=1) - 1) / np.arange(1, 5)
    rho = (ranked > excess).sum(axis=1) - 1
    expected = np.maximum(X - excess[np.arange(50), rho][:, None], 0)
    np.testing.assert_allclose(space.mixtures.project(X), expected, atol=1e-12)


def test_a_held_column_stays() -> None:
    X = RECIPE.mixtures.project(rng().random((20, RECIPE.dim)), keep=[0])
    np.testing.assert_array_equal(X[:, 0], rng().random((20, RECIPE.dim))[:, 0])


@pytest.mark.parametrize(
    "parameters, constraint, message",
    [
        (
            [Real("a", 0, 10), Real("b", 0, 20)],
            LinearConstraint({"a": 1, "b": 1}, equals=100),
            "a + b == 100 is impossible: within their ranges, the left side lies between 0 and 30",
        ),
        (
            [Real("a", 0, 90, step=0.3), Real("b", 0, 90, step=0.6)],
            LinearConstraint({"a": 1, "b": 1}, equals=100),
            r"no settings in their steps (a: 0.3, b: 0.6) add up to exactly 100",
        ),
        (
            [Integer("a", 0, 90), Integer("b", 0, 90)],
            LinearConstraint({"a": 2, "b": -4}, equals=7),
            "2*a - 4*b == 7 is impossible: no settings",
        ),
    ],
)
def test_steps_and_totals_that_contradict_each_other(parameters, constraint, message) -> None:
    with pytest.raises(InvalidInput) as raised:
        Space(parameters, [constraint])
    assert message in str(raised.value)


def test_exchanges_keep_the_total() -> None:
    (x,) = RECIPE.snap(rng().random((1, RECIPE.dim)))
    moved = RECIPE.mixtures.exchanges(x)
    assert len(moved) > 10
    values = RECIPE.mixtures.totals[0].values(moved)
    np.testing.assert_allclose(values.sum(axis=1), 100)
    np.testing.assert_allclose(RECIPE.rounded(moved), moved, atol=1e-9)
    changed = (np.abs(values - RECIPE.mixtures.totals[0].values(x[None])) > 1e-9).sum(axis=1)
    assert set(changed) == {2}


def test_two_mixtures_and_a_premix() -> None:
    """Totals that share ingredients are met together."""
    names = "abcdef"
    space = Space(
        [Real(name, 0, 100, step=1) for name in names],
        [
            LinearConstraint(dict.fromkeys("abc", 1), equals=100),
            LinearConstraint(dict.fromkeys("ab", 1), equals=60),
            LinearConstraint(dict.fromkeys("def", 1), equals=80),
        ],
    )
    X = space_filling(region_of(space, np.empty((0, 6))), 20, rng())
    assert len(X) == 20
    for params in space.decode(X):
        check(space, params)
        assert params["c"] == 40
    assert all(p != q for p, q in pairwise(space.decode(X)))


@pytest.mark.parametrize("name", ["recipe", "catalyst"])
def test_studies_of_optuna_propose_mixtures_also_around_what_was_enqueued(name: str) -> None:
    optuna = pytest.importorskip("optuna")
    from becbo.optuna import BECBOSampler
    from becbo.optuna.spaces import distributions_of

    space = SPACES[name]
    study = optuna.create_study(sampler=BECBOSampler(space=space, seed=0, n_initial=3))
    distributions = distributions_of(space)
    for i in range(6):
        if i in (1, 5):
            study.enqueue_trial({"b": 24.0})
        trial = study.ask(distributions)
        check(space, trial.params)
        if i in (1, 5):
            assert trial.params["b"] == 24.0
        study.tell(trial, (trial.params["b"] - 30) ** 2)
