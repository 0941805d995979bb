"""Every variant against the verified specification, of which vectors.json is a compact copy."""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from becbo.errors import Infeasible
from becbo.problems import PARETO, PARETO_TUNING, PROBLEMS, TUNING, get, variants

SPEC = json.loads((Path(__file__).parent / "vectors.json").read_text())
N_SPEC = 1_000_000  # samples behind the recorded feasibility ratios
N = 20_000


def problem(key):
    name, variant = key.split(":")
    return get(name, variant)


def bounds(p):
    return np.array([(q.low, q.high) for q in p.space.parameters])


@cache
def sample(key):
    """Uniform points with their slacks."""
    p = problem(key)
    low, high = bounds(p).T
    X = np.random.default_rng(0).uniform(low, high, size=(N, p.dim))
    return X, p.slacks(X)


@cache
def scale(key):  # (m,)
    """Typical size of each slack; where it is not finite (acos(1.2)) it has none."""
    slacks = sample(key)[1]
    return np.nanmedian(np.where(np.isfinite(slacks), np.abs(slacks), np.nan), axis=0)


each = pytest.mark.parametrize("key", SPEC)


def test_the_specification_is_covered():
    elsewhere = {*TUNING, *PARETO, *PARETO_TUNING}  # test_tuning.py, test_pareto.py
    names = [name for name in PROBLEMS if name not in elsewhere]
    have = {f"{name}:{variant}" for name in names for variant in variants(name)}
    assert have == set(SPEC)


@each
def test_box_and_data(key):
    p, spec = problem(key), SPEC[key]
    assert bounds(p).tolist() == spec["bounds"]
    assert (PROBLEMS[p.name] is p) == spec["default"]
    assert p.active == tuple(spec["active"])
    assert p.paper_value == spec["paper"]
    assert p.notes
    # Where the optimum is known in closed form we hold that; solvers stop 1e-9 short of it.
    assert p.optimum == pytest.approx(spec["best_f"], rel=1e-8, abs=1e-12)
    assert p.optimum <= spec["best_f"] + 1e-12 * abs(spec["best_f"])


@each
def test_values_and_slacks(key):
    p, vectors = problem(key), SPEC[key]["vectors"]
    X = np.array([v["x"] for v in vectors])
    slacks = np.array([v["c"] for v in vectors], dtype=float)  # null, so NaN: not finite
    np.testing.assert_allclose(p.objective(X), [v["f"] for v in vectors], rtol=1e-9)
    ours = p.slacks(X)
    np.testing.assert_allclose(np.where(np.isfinite(ours), ours, np.nan), slacks, rtol=1e-9)
    assert p.feasible(X).tolist() == [v["feasible"] for v in vectors]


@each
def test_one_experiment_at_a_time(key):
    p = problem(key)
    for vector in SPEC[key]["vectors"]:
        params = dict(zip(p.space.names, vector["x"], strict=True))
        if vector["feasible"]:
            value = p(params)
            assert type(value) is float
            assert value == pytest.approx(vector["f"], rel=1e-9)
        else:
            violated = [n for n, c in zip(p.constraints, vector["c"], strict=True) if not c >= 0]
            with pytest.raises(Infeasible) as error:
                p(params)
            assert error.value.reason == "violated: " + ", ".join(violated)


@each
def test_optimum_is_attained(key):
    p = problem(key)
    X = np.array(p.optimizers)
    # Ackley at 0 is 20 + e - 20 - e: exact only to rounding, hence the absolute tolerance.
    np.testing.assert_allclose(p.objective(X), p.optimum, rtol=1e-12, atol=1e-14)
    # An active slack is zero up to the rounding of its terms.
    assert (p.slacks(X) / scale(key) >= -1e-12).all()
    low, high = bounds(p).T
    assert ((low <= X) & (high >= X)).all()


@each
def test_active_constraints(key):
    # The rule of the specification. Only the first optimizer: the planetary gear has further
    # ones, at other whole numbers of teeth, that happen to touch a clearance.
    p = problem(key)
    scaled = p.slacks(np.array(p.optimizers[:1]))[0] / scale(key)
    assert tuple(np.flatnonzero(scaled <= 1e-5)) == p.active


@each
def test_best_of_the_specification_is_not_better(key):
    p, spec = problem(key), SPEC[key]
    X = np.array([spec["best_x"]])
    np.testing.assert_allclose(p.objective(X), spec["best_f"], rtol=1e-12, atol=1e-14)
    assert (p.slacks(X) / scale(key) >= -1e-12).all()


@each
def test_no_sample_is_better(key):
    p, (X, _) = problem(key), sample(key)
    values = p.objective(X[p.feasible(X)])
    assert (values >= p.optimum).all()


@each
def test_feasibility_ratio(key):
    p, (X, _) = problem(key), sample(key)
    expected = N * (p.feasibility_ratio or 0.0)
    noise = math.sqrt(expected * (1 + N / N_SPEC))
    assert abs(p.feasible(X).sum() - expected) <= 4.5 * noise + 2  # 2: counts near zero
    if p.feasibility_ratio is not None:  # Ackley's are exact, the specification's sampled
        error = abs(p.feasibility_ratio - SPEC[key]["ratio"])
        assert error <= 4.5 * math.sqrt(p.feasibility_ratio / N_SPEC) + 2 / N_SPEC


@each
def test_vectorised_equals_row_by_row(key):
    p, X = problem(key), sample(key)[0][:10]
    rows = [X[i : i + 1] for i in range(len(X))]
    np.testing.assert_allclose(
        p.objective(X), np.concatenate([p.objective(x) for x in rows]), rtol=1e-12
    )
    # Matrix products may sum in another order, hence the scale-free tolerance near zero.
    np.testing.assert_allclose(
        p.slacks(X) / scale(key), np.vstack([p.slacks(x) for x in rows]) / scale(key), atol=1e-12
    )


@each
def test_corners_of_the_box_are_quiet(key):
    # Warnings are errors in this suite: divisions by zero must not escape.
    p = problem(key)
    low, high = bounds(p).T
    corner = np.random.default_rng(1).integers(0, 2, size=(64, p.dim))
    X = np.vstack([low, high, np.where(corner, low, high)])
    assert p.objective(X).shape == (66,)
    assert p.slacks(X).shape == (66, len(p.constraints))
    assert p.feasible(X).dtype == bool
