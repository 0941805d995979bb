"""The registry and what a Problem does with its input."""

import dataclasses
import pickle

import numpy as np
import pytest

from becbo.errors import Infeasible, InvalidInput
from becbo.problems import PAPER, PARETO, PARETO_TUNING, PROBLEMS, TUNING, Problem, get, variants
from becbo.space import Real

SINGLE = [name for name in PROBLEMS if name not in {*PARETO, *PARETO_TUNING}]


def test_every_problem_by_name():
    assert all(get(name) is p and p.name == name for name, p in PROBLEMS.items())
    assert get("welded_beam").variant == "code"
    assert get("welded_beam", variant="lit").optimum == pytest.approx(2.381134, abs=1e-6)
    assert variants("welded_beam") == ("code", "paper", "lit", "cec2020")


def test_the_papers_twelve():
    assert PAPER == (
        "townsend",
        "simionescu",
        "lsq",
        "three_bar_truss",
        "spring",
        "welded_beam",
        "gas_transmission",
        "pressure_vessel",
        "speed_reducer",
        "planetary_gear",
        "rolling_bearing",
        "cantilever_beam",
    )
    assert all(PROBLEMS[name].paper_value is not None for name in PAPER)


@pytest.mark.parametrize("d", [1, 3, 7, 700])
def test_ackley_in_any_dimension(d):
    p = get(f"ackley_scbo_{d}d")
    assert p.dim == d
    assert p.objective(np.zeros((1, d))) == pytest.approx(0.0, abs=1e-12)  # 20 + e - 20 - e
    assert p.feasible(np.vstack([np.full(d, -0.1), np.full(d, 0.1)])).tolist() == [True, False]
    if d == 1:
        assert p.feasibility_ratio == pytest.approx(1 / 3)  # [-5, 0] of [-5, 10]


@pytest.mark.parametrize("name", ["rosenbrock", "ackley_scbo_0d", "ackley_scbo_d", ""])
def test_unknown_name(name):
    with pytest.raises(InvalidInput, match=f"unknown problem {name!r}.*townsend.*welded_beam"):
        get(name)


def test_unknown_variant():
    with pytest.raises(InvalidInput, match="spring has no variant 'cec2020'; it has lit, code"):
        get("spring", variant="cec2020")
    with pytest.raises(InvalidInput, match="ackley_scbo_7d has no variant 'code'; it has lit"):
        get("ackley_scbo_7d", variant="code")


@pytest.mark.parametrize("p", [get(name) for name in SINGLE], ids=lambda p: p.name)
def test_shape_of_a_problem(p):
    assert isinstance(p, Problem)
    assert p.dim == len(p.space.names) == len(p.optimizers[0])
    reals = [q for q in p.space.parameters if type(q) is Real]
    assert not any(q.log for q in reals)
    assert p.name in TUNING or p.dim == len(reals)
    assert len(set(p.constraints)) == p.slacks(np.array(p.optimizers)).shape[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.optimum = 0.0
    copy = pickle.loads(pickle.dumps(p))  # a benchmark sends problems to other processes
    X = np.array(p.optimizers)
    np.testing.assert_array_equal(copy.objective(X), p.objective(X))
    np.testing.assert_array_equal(copy.slacks(X), p.slacks(X))


@pytest.mark.parametrize("X", [np.zeros(2), np.zeros((3, 4)), np.zeros((1, 2, 2))])
def test_points_of_the_wrong_shape(X):
    for method in (PROBLEMS["lsq"].objective, PROBLEMS["lsq"].slacks, PROBLEMS["lsq"].feasible):
        with pytest.raises(InvalidInput, match=r"lsq: X has shape .* expected \(n, 2\)"):
            method(X)


def test_no_points():
    p = get("spring")
    X = np.zeros((0, 3))
    assert p.objective(X).shape == p.feasible(X).shape == (0,)
    assert p.slacks(X).shape == (0, 4)


def test_params_are_checked():
    p = get("lsq")
    with pytest.raises(InvalidInput, match="x2"):
        p({"x1": 0.5})
    with pytest.raises(InvalidInput, match="x1 = 2.0 is outside"):
        p({"x1": 2.0, "x2": 0.5})


def test_failure_names_the_constraints():
    p = get("welded_beam")
    thin = {"weld_thickness": 0.125, "weld_length": 5, "bar_height": 0.1, "bar_thickness": 5}
    with pytest.raises(Infeasible, match="violated: shear stress, bending stress, deflection"):
        p(thin)


@pytest.mark.parametrize("name", SINGLE)
def test_names_of_constraints_can_be_listed(name):
    assert not any(set(constraint) & set(",;:") for constraint in get(name).constraints)


def test_division_by_zero_is_infeasible():
    spring = get("spring")  # wire as thick as the coil
    X = np.array([[10.0, 0.5, 0.5]])
    assert not np.isfinite(spring.slacks(X)).all()
    assert not spring.feasible(X)[0]
    with pytest.raises(Infeasible, match="shear stress"):
        spring({"coils": 10, "coil_diameter": 0.5, "wire_diameter": 0.5})
    assert not get("three_bar_truss").feasible(np.array([[0.0, 0.0], [0.0, 1.0]])).any()


def test_whole_numbers_are_rounded_inside():
    for p, column in [(get("speed_reducer"), 2), (get("spring", "code"), 0)]:
        X = np.array(p.optimizers * 2)
        X[1, column] += 0.3
        assert p.objective(X)[0] == p.objective(X)[1]
        assert p.slacks(X)[0].tolist() == p.slacks(X)[1].tolist()


def test_sorted_inverter_ignores_the_order_of_angles():
    p = get("sopwm9_10d")
    X = np.array(p.optimizers * 2)
    X[1] = X[1, ::-1]
    assert p.objective(X)[0] == p.objective(X)[1]
    assert p.feasible(X).all()
    assert not get("sopwm9_10d", "lit").feasible(X[1:])[0]
