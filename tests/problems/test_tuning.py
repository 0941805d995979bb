"""The tuning problems against independent transcriptions and published optima."""

import itertools
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from becbo import minimize
from becbo.bench.plan import SUITES
from becbo.bench.summary import typical_value
from becbo.errors import Infeasible, InvalidInput
from becbo.problems import PAPER, PROBLEMS, TUNING, get
from becbo.space import Categorical, Integer, Real

# Two failures and a success per problem, from a scalar transcription of the printed formulas.
VECTORS = json.loads((Path(__file__).parent / "tuning_vectors.json").read_text())
N = 20_000
N_RATIO = 1_000_000  # samples behind the recorded feasibility ratios

# Printed optimum, and the printed optimizer where one is.
PUBLISHED = {
    "new_branin": (-268.788, (3.2730, 0.0489)),
    "gomez": (-0.9711, (0.1093, -0.6234)),
    "mystery": (-1.1743, (2.7450, 2.3523)),
    "mishra_bird": (-106.7645367, (-3.1302468, -1.5821422)),
    "hartmann_ball": (-3.32237, (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573)),
    "tubular_column": (26.4995, (5.45116, 0.291965)),
    "i_beam": (0.0130741, (80, 50, 0.9, 2.321792)),
    "stepped_beam": (1.33996, (6.0160, 5.3092, 4.4943, 3.5015, 2.1527)),
    "concrete_beam": (359.208, (2, 34, 8.5)),
    "bulkhead": (6.842958, (57.692308, 34.147620, 57.692308, 1.05)),
    "piston_lever": (8.412698, (0.05, 2.0415136, 4.0830272, 120)),
    "disc_clutch": (0.313657, (70, 90, 1, 810, 3)),
    "car_side": (22.84297, None),
    "g01": (-15.0, (*(1,) * 9, 3, 3, 3, 1)),
    "g10": (
        7049.24802052867,
        (
            *(579.306685017979589, 1359.97067807935605, 5109.97065743133317),
            *(182.01769963061534, 295.601173702746792, 217.982300369384632),
            *(286.41652592786852, 395.601173702746735),
        ),
    ),
    "g12": (-1.0, (5, 5, 5)),
    "g18": (
        -0.866025403784439,
        (
            *(-0.657776192427943163, -0.153418773482438542, 0.323413871675240938),
            *(-0.946257611651304398, -0.657776194376798906, -0.753213434632691414),
            *(0.323413874123576972, -0.346462947962331735, 0.59979466285217542),
        ),
    ),
    "g19": (
        32.6555929502463,
        (
            *(0, 0, 3.94599045143233784, 0, 3.2831773458454161, 10, 0, 0, 0, 0),
            *(0.370764847417013987, 0.278456024942955571, 0.523838487672241171),
            *(0.388620152510322781, 0.298156764974678579),
        ),
    ),
}

each = pytest.mark.parametrize("name", TUNING)


@cache
def sample(name):
    """Random designs with their slacks."""
    p = get(name)
    X = p.from_unit(np.random.default_rng(0).random((N, p.dim)))
    return X, p.slacks(X)


@cache
def scale(name):  # (m,)
    """Typical size of each slack."""
    slacks = sample(name)[1]
    return np.nanmedian(np.where(np.isfinite(slacks), np.abs(slacks), np.nan), axis=0)


def params(p, x):
    """A row of an array as an experiment gets it."""
    return {
        q.name: q.choices[int(v)] if isinstance(q, Categorical) else v
        for q, v in zip(p.space.parameters, x, strict=True)
    }


def test_enough_of_every_kind():
    problems = [get(name) for name in TUNING]
    assert len(problems) >= 14
    assert not {*TUNING} & {*PAPER}
    assert {p.dim for p in problems} >= {*range(2, 12), 13, 15, 20}
    shares = np.array([p.feasibility_ratio for p in problems])
    assert sum(shares < 0.003) >= 4
    assert sum(shares > 0.65) >= 4
    assert sum(not p.active for p in problems) >= 3
    assert sum(len(p.active) >= 3 for p in problems) >= 5
    kinds = [{type(q) for q in p.space.parameters} for p in problems]
    assert sum(Integer in k for k in kinds) >= 3
    assert sum(Categorical in k for k in kinds) >= 4
    assert SUITES["tuning"].problems == TUNING


def test_vectors_are_complete():
    assert set(VECTORS) == set(TUNING)
    assert all(len(vectors) == 3 for vectors in VECTORS.values())


@each
def test_values_and_slacks(name):
    p = get(name)
    X = np.array([v["x"] for v in VECTORS[name]])
    np.testing.assert_allclose(p.objective(X), [v["value"] for v in VECTORS[name]], rtol=1e-9)
    expected = [v["slacks"] for v in VECTORS[name]]
    np.testing.assert_allclose(p.slacks(X) / scale(name), expected / scale(name), atol=1e-9)
    assert p.feasible(X).tolist() == [True, False, False]


@each
def test_one_experiment_at_a_time(name):
    p = get(name)
    works, *fails = VECTORS[name]
    assert p(params(p, works["x"])) == pytest.approx(works["value"], rel=1e-9)
    for vector in fails:
        violated = [n for n, c in zip(p.constraints, vector["slacks"], strict=True) if c < 0]
        with pytest.raises(Infeasible) as error:
            p(params(p, vector["x"]))
        assert error.value.reason == "violated: " + ", ".join(violated)


@each
def test_optimum_is_attained(name):
    p = get(name)
    X = np.array(p.optimizers)
    np.testing.assert_allclose(p.objective(X), p.optimum, rtol=1e-12, atol=1e-14)
    assert (p.slacks(X) / scale(name) >= -1e-12).all()
    for x in X:
        p.space.validate(params(p, x))
    scaled = p.slacks(X[:1])[0] / scale(name)
    assert tuple(np.flatnonzero(scaled <= 1e-5)) == p.active


@each
def test_optimum_is_not_the_centre(name):
    p = get(name)
    centre = p.from_unit(np.full((1, p.dim), 0.5))
    assert (np.array(p.optimizers[:1]) == centre).all() == (name == "g12")


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_optimum(name):
    p = get(name)
    value, x = PUBLISHED[name]
    assert p.optimum == pytest.approx(value, rel=3e-5)
    if x is not None:
        X = np.array([x], dtype=float)
        assert p.objective(X)[0] == pytest.approx(value, rel=2e-4)  # printed to few digits
        assert (p.slacks(X) / scale(name) >= -1e-3).all()


def test_published_thrust_bearing():
    p = get("thrust_bearing", "lit")
    assert p.optimum == pytest.approx(1625.44276, rel=1e-8)
    x = np.array([[5.955780502, 5.389013052, 5.358697266, 2.269655962]])
    assert p.objective(x)[0] == pytest.approx(1625.44276, rel=1e-6)
    oils = get("thrust_bearing")
    np.testing.assert_array_equal(p.slacks(x), oils.slacks(np.c_[x, 2.0]))  # SAE 20
    assert oils.optimum < p.optimum


@each
def test_no_random_design_is_better(name):
    p, (X, _) = get(name), sample(name)
    assert (p.objective(X[p.feasible(X)]) >= p.optimum - 1e-12).all()


@each
def test_no_neighbour_is_better(name):
    """Steps of every size from the optimizer, in some of the directions at a time."""
    p, rng = get(name), np.random.default_rng(2)
    real = np.array([isinstance(q, Real) and q.step is None for q in p.space.parameters])
    width = np.ptp(p.from_unit(np.array([np.zeros(p.dim), np.ones(p.dim)])), axis=0)
    low, high = (p.from_unit(np.full((1, p.dim), u))[0] for u in (0.0, 1.0))
    size = 10 ** rng.uniform(-6, -0.5, (N, 1))
    step = size * width * rng.normal(size=(N, p.dim)) * (rng.random((N, p.dim)) < 0.7) * real
    X = np.clip(p.optimizers[0] + step, low, high)
    values = p.objective(X[p.feasible(X)])
    assert (values >= p.optimum - 1e-9 * abs(p.optimum)).all()


@each
def test_feasibility_ratio(name):
    p, (X, _) = get(name), sample(name)
    expected = N * p.feasibility_ratio
    noise = math.sqrt(expected * (1 - p.feasibility_ratio) * (1 + N / N_RATIO))
    assert abs(p.feasible(X).sum() - expected) <= 4.5 * noise + 2


@each
def test_what_works_has_a_value_on_every_face(name):
    """Corners, edges and faces of the box, where formulas divide by zero."""
    p, rng = get(name), np.random.default_rng(1)
    U = rng.random((N, p.dim))
    X = p.from_unit(np.where(rng.random(U.shape) < rng.random((N, 1)), U.round(), U))
    assert p.slacks(X).shape == (N, len(p.constraints))
    values = p.objective(X)
    assert values.shape == (N,)
    assert np.isfinite(values[p.feasible(X)]).all()


def test_a_bulkhead_without_span_fails():
    p = get("bulkhead")
    assert not p.feasible(np.array([[0, 0, 0, 5], [0, 40, 40, 5], [0, 40, 40, 1.05]])).any()


@each
def test_regret_has_a_unit(name):
    assert typical_value(name) > get(name).optimum + 1e-3 * abs(get(name).optimum)


def test_the_clutch_by_exhaustion():
    p = get("disc_clutch")
    grids = [np.arange(q.low, q.high + 1e-9, q.step) for q in p.space.parameters]
    X = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, p.dim)
    assert len(X) == p.space.size
    works = p.feasible(X)
    assert works.mean() == pytest.approx(p.feasibility_ratio, abs=2e-3)
    assert p.objective(X[works]).min() == pytest.approx(p.optimum, rel=1e-12)
    best = X[works][p.objective(X[works]) <= p.optimum * (1 + 1e-12)]
    assert {*map(tuple, best.tolist())} == {*p.optimizers}


def test_the_concrete_beam_by_exhaustion():
    p = get("concrete_beam")
    width = np.linspace(5, 10, 2001)
    pairs = itertools.product(range(11), range(28, 41))
    X = np.vstack([np.column_stack([np.tile(pair, (2001, 1)), width]) for pair in pairs])
    assert p.objective(X[p.feasible(X)]).min() == pytest.approx(p.optimum, rel=1e-12)


def test_balls_of_g12():
    p = get("g12")
    X = np.array([[1, 1, 1.24], [9, 1, 9.24], [1, 0.6, 1], [9.3, 9, 9], [0.0, 5, 5], [5, 5, 5]])
    assert p.feasible(X).tolist() == [True, True, False, False, False, True]


def test_choices_are_indices_in_arrays_and_values_in_experiments():
    p = get("tilted_mixed_6d")
    x = [1.7, -2.4, 3.1, 2, -1, 0]
    design = {"x1": 1.7, "x2": -2.4, "x3": 3.1, "n1": 2, "n2": -1, "catalyst": "Pt"}
    assert p.objective(np.array([x]))[0] == p(design) == 0.0
    dearer = {"x1": -2.2, "x2": 3.6, "x3": -1.5, "n1": -3, "n2": 2, "catalyst": "Pd"}
    assert p(dearer) == 40.0
    with pytest.raises(InvalidInput, match="catalyst"):
        p({**design, "catalyst": "Au"})
    with pytest.raises(InvalidInput, match="n1"):
        p({**design, "n1": 0.5})


def test_unit_cube_to_designs():
    p = get("tilted_mixed_6d")
    ends = p.from_unit(np.array([np.zeros(6), np.ones(6)]))
    assert ends.tolist() == [[-5, -5, -5, -5, -5, 0], [5, 5, 5, 5, 5, 3]]
    X = p.from_unit(np.random.default_rng(0).random((N, 6)))
    for column, n_values in ((3, 11), (4, 11), (5, 4)):
        _, counts = np.unique(X[:, column], return_counts=True)
        assert len(counts) == n_values
        assert abs(counts / N * n_values - 1).max() < 0.1
    steps = get("disc_clutch").from_unit(np.random.default_rng(0).random((N, 5)))
    assert set(steps[:, 2]) == {1.0, 1.5, 2.0, 2.5, 3.0}
    with pytest.raises(InvalidInput, match="shape"):
        p.from_unit(np.zeros((3, 9)))


@pytest.mark.parametrize(
    "name", [n for n in TUNING if any(type(q) is not Real for q in get(n).space.parameters)]
)
def test_mixed_problems_can_be_optimised(name):
    p = PROBLEMS[name]
    result = minimize(p, p.space, 20, method="sobol", seed=0)
    assert len(result.trials) == 20
    assert all(t.value is None or t.value >= p.optimum for t in result.trials)
