"""Spaces: exact round trips, errors that name what is wrong, known constraints."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from becbo import Categorical, Integer, InvalidInput, LinearConstraint, Real, Space

REALS = [
    Real("x", 0, 1),
    Real("x", 0.1, 0.7),
    Real("x", 1 / 3, 2 / 3),
    Real("x", 0, 1 / 3),
    Real("x", -2 / 3, -1 / 3),
    Real("x", 1e-9, 1e9),
    Real("x", 1e9, 1e9 + 1),
    Real("x", -1e9, 1e-3),
    Real("x", -5, -0.1),
    Real("x", 1e-12, 2e-12),
    Real("x", 0, 1e300),
    Real("x", 1.0, 1.0 + 1e-15),
]
# Far from zero, so that few of their values can be told apart.
NARROW = [
    REALS[6],
    REALS[-1],
    Real("x", 1, 1 + 1e-11),
    Real("x", -281.3019898667035, -281.30198985771153),
    Real("x", 1e9, 1e9 + 1e-3, log=True),
]
LOG_REALS = [
    Real("x", 1e-9, 1e9, log=True),
    Real("x", 1e-300, 1e300, log=True),
    Real("x", 0.1, 0.3, log=True),
    Real("x", 1 / 3, 3, log=True),
    Real("x", 1e9, 1e9 + 1, log=True),
]
STEPPED = [
    Real("x", 0, 1, step=0.1),
    Real("x", 0.1, 0.9, step=0.2),
    Real("x", 1 / 3, 1, step=1 / 9),
    Real("x", 2 / 3, 1, step=1 / 9),
    Real("x", 0, 1, step=0.3),
    Real("x", -1, 1, step=1e-3),
    Real("x", 1e9, 1e9 + 1, step=1 / 300),
    Real("x", 0, 1, step=1 / 3e6),
    Real("x", 1 / 3, 1, step=1e-8),
]
INTEGERS = [
    Integer("x", 0, 1),
    Integer("x", -7, 12),
    Integer("x", 0, 100, step=7),
    Integer("x", -(10**13), 10**13),
    Integer("x", 1, 9, log=True),
    Integer("x", 1, 10**6, log=True),
    Integer("x", 3, 10**13, log=True),
]
CATEGORICALS = [
    Categorical("x", ["a", "b"]),
    Categorical("x", [True, 1, 0, False, None, "1", "None", 2.5, (1, 2)]),
    Categorical("x", np.arange(3)),
    Categorical("x", np.array([True, False])),
]
GRIDS = STEPPED + INTEGERS + CATEGORICALS
PARAMETERS = REALS + LOG_REALS + GRIDS

every_parameter = pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
unit = st.floats(0, 1)
quick = settings(max_examples=30, deadline=None, derandomize=True)


def exact(value: object) -> tuple[type, object]:
    """A value with its type: True is not 1, and -0.0 equals 0.0."""
    return type(value), value


def geometric(p: Real, fraction: float) -> float:
    """The value at a fraction of a logarithmic range."""
    return p.low ** (1 - fraction) * p.high**fraction


def typed_value(p: Real, fraction: float) -> float:
    """A value a person would type: ten digits of the range, or of the value if logarithmic."""
    if p.log:
        return float(f"{geometric(p, fraction):.9e}")
    finest = max(1e-10 * (p.high - p.low), 1e-13 * max(abs(p.low), abs(p.high)))
    return round(p.low + fraction * (p.high - p.low), math.floor(-math.log10(finest)))


@st.composite
def settable(draw: st.DrawFn, p: Real | Integer | Categorical) -> object:
    """A value of the parameter in the form in which it is set."""
    if isinstance(p, Categorical):
        return draw(st.sampled_from(p.choices))
    if isinstance(p, Integer):
        return p.low + p.step * draw(st.integers(0, (p.high - p.low) // p.step))
    if p.step is not None:
        return p.check(p.low + p.step * draw(st.integers(0, int(p.n_values) - 1)))
    value = draw(st.just(p.low) | st.just(p.high) | unit.map(lambda f: typed_value(p, f)))
    return min(max(value, p.low), p.high)


@every_parameter
@quick
@given(data=st.data())
def test_decode_after_encode_is_exact(parameter, data) -> None:
    value = data.draw(settable(parameter))
    columns = parameter.encode(parameter.check(value))
    assert all(0 <= u <= 1 for u in columns)
    assert exact(parameter.decode(columns)) == exact(value)


@every_parameter
@quick
@given(data=st.data())
def test_a_decoded_point_is_valid_and_decodes_to_itself(parameter, data) -> None:
    u = data.draw(st.lists(unit, min_size=parameter.width, max_size=parameter.width))
    value = parameter.decode(u)
    if not isinstance(parameter, Categorical):
        assert parameter.low <= value <= parameter.high
    assert exact(parameter.check(value)) == exact(value)
    columns = parameter.encode(value)
    assert all(0 <= c <= 1 for c in columns)
    assert exact(parameter.decode(columns)) == exact(value)
    assert parameter.encode(parameter.decode(columns)) == columns


# A bound that is zero up to rounding cannot be told from zero.
bound = st.floats(-1e12, 1e12).map(lambda value: value if abs(value) > 1e-9 else 0.0)


@quick
@given(low=bound, high=bound, fraction=unit, log=st.booleans())
def test_round_trip_with_any_bounds(low: float, high: float, fraction: float, log: bool) -> None:
    assume(low < high and (low > 0 and high / low > 1 + 1e-13 or not log))
    p = Real("x", low, high, log=log)
    for value in (p.low, p.high, p.decode([fraction])):
        assert p.decode(p.encode(p.check(value))) == value


@pytest.mark.parametrize("p", REALS[:-1] + LOG_REALS[:-1], ids=repr)
@quick
@given(fraction=unit)
def test_decode_is_close_to_the_exact_value(p: Real, fraction: float) -> None:
    want = geometric(p, fraction) if p.log else p.low + fraction * (p.high - p.low)
    unit_of_error = want if p.log else max(p.high - p.low, 1e-2 * abs(p.high))
    assert abs(p.decode([fraction]) - want) <= 1e-11 * unit_of_error


@pytest.mark.parametrize("p", REALS + LOG_REALS + STEPPED, ids=repr)
def test_bounds_are_reached_exactly(p: Real) -> None:
    assert p.decode([0.0]) == p.low
    if p.step is None:
        assert p.decode([1.0]) == p.high


@pytest.mark.parametrize("p", GRIDS + NARROW, ids=repr)
@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_snap_is_encode_after_decode(p, seed: int) -> None:
    U = np.random.default_rng(seed).random((20, p.width))
    want = [p.encode(p.decode(row)) for row in U.tolist()]
    np.testing.assert_allclose(p.snap(U), want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("p", [p for p in REALS if p not in NARROW], ids=repr)
def test_snap_leaves_a_continuous_column_alone(p: Real) -> None:
    U = np.random.default_rng(0).random((5, 1))
    assert p.snap(U) is U


@pytest.mark.parametrize("p", GRIDS, ids=repr)
def test_options_are_all_values_if_few(p) -> None:
    options = p.options()
    if options is None:
        assert p.n_values > 32
    else:
        values = [exact(p.decode(row)) for row in options.tolist()]
        assert len(set(values)) == len(values) == p.n_values
        np.testing.assert_allclose(p.snap(options), options, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "p, share",
    [(Integer("x", 0, 4), 1 / 5), (Integer("x", 0, 9, step=3), 1 / 4), (STEPPED[4], 1 / 4)],
)
def test_every_grid_value_owns_an_equal_share(p, share: float) -> None:
    values = [p.decode([u]) for u in np.linspace(0, 1, 20001)[:-1]]
    counts = np.unique(values, return_counts=True)[1]
    np.testing.assert_allclose(counts / 20000, share, atol=1e-3)


def test_a_stepped_real_stops_below_high() -> None:
    p = Real("x", 0, 1, step=0.3)
    assert [p.decode([u]) for u in (0.1, 0.3, 0.6, 1.0)] == [0.0, 0.3, 0.6, 0.9]
    assert p.n_values == 4


NUMPY_VALUES = [
    (Real("x", 0, 1), np.float64(0.25), 0.25),
    (Real("x", 0, 1), np.float32(0.25), 0.25),
    (Real("x", 0, 9), np.int64(3), 3.0),
    (Real("x", 0, 9), np.array(3.0), 3.0),
    (Real("x", 0, 1), Decimal("0.25"), 0.25),
    (Real("x", 0, 1), Fraction(1, 4), 0.25),
    (Real("x", 0, 0.3), 0.1 + 0.2, 0.3),
    (Real("x", 0, 1, step=0.1), 0.1 + 0.2, 0.3),
    (Integer("x", 0, 9), np.int32(3), 3),
    (Integer("x", 0, 9), 3.0, 3),
    (Integer("x", 0, 9), np.float64(3), 3),
    (Categorical("x", ["a", "b"]), np.str_("b"), "b"),
    (Categorical("x", [1, 2]), np.int64(2), 2),
    (Categorical("x", [True, 1]), np.True_, True),
    (Categorical("x", [True, 1]), np.int64(1), 1),
    (Categorical("x", np.array(["a", "b"])), "b", "b"),
    (Categorical("x", np.array([0.5, 1.5])), 1.5, 1.5),
]


@pytest.mark.parametrize("p, given_value, want", NUMPY_VALUES)
def test_python_scalars_come_back(p, given_value, want) -> None:
    assert exact(Space([p]).validate({"x": given_value})["x"]) == exact(want)
    assert exact(p.decode(p.encode(p.check(given_value)))) == exact(want)


X, N = Real("x", 0.5, 2), Integer("n", 1, 9, step=2)
C, S = Categorical("c", ["a", True, None]), Real("s", 0, 1, step=0.25)
BAD_VALUES = [
    (X, 2.5, "x = 2.5 is outside 0.5 .. 2"),
    (X, 0.49, "x = 0.49 is outside 0.5 .. 2"),
    (X, -math.inf, "x = -inf is not finite; allowed: 0.5 .. 2"),
    (X, math.nan, "x = nan is not finite; allowed: 0.5 .. 2"),
    (X, np.float64(7), "x = np.float64(7.0) is outside 0.5 .. 2"),
    (X, "1.5", "x = '1.5' is not a number; allowed: 0.5 .. 2"),
    (X, None, "x = None is not a number; allowed: 0.5 .. 2"),
    (X, True, "x = True is not a number; allowed: 0.5 .. 2"),
    (X, np.True_, "x = np.True_ is not a number"),
    (X, [1.0], "x = [1.0] is not a number"),
    (X, np.array([1.0]), "x = array([1.]) is not a number"),
    (X, 1j, "x = 1j is not a number"),
    (X, 10**400, "is not a number; allowed: 0.5 .. 2"),
    (N, 11, "n = 11 is outside whole numbers 1 .. 9"),
    (N, 3.5, "n = 3.5 is not a whole number; whole numbers 1 .. 9"),
    (N, "3", "n = '3' is not a number; allowed: whole numbers 1 .. 9"),
    (N, False, "n = False is not a number"),
    (N, math.inf, "n = inf is not finite"),
    (C, "d", "c = 'd' is not one of 'a', True, None"),
    (C, 1, "c = 1 is not one of 'a', True, None"),
    (C, False, "c = False is not one of 'a', True, None"),
    (C, ["a"], "c = ['a'] is not one of"),
    (C, np.array(["a", "b"]), "is not one of 'a', True, None"),
    (S, 1.25, "s = 1.25 is outside 0 .. 1 in steps of 0.25"),
]


@pytest.mark.parametrize("p, value, message", BAD_VALUES)
def test_a_bad_value_is_named_with_what_is_allowed(p, value, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Space([p]).validate({p.name: value})


BAD_PARAMS = [
    ({"x": 1}, "params have missing ['n']; expected ['x', 'n']"),
    ({"x": 1, "n": 3, "z": 0}, "params have unknown ['z']; expected ['x', 'n']"),
    ({"y": 1, "n": 3}, "params have missing ['x'] and unknown ['y']"),
    ({}, "params have missing ['x', 'n']"),
    ([1, 3], "params must be a dict of name: value, got [1, 3]"),
    (None, "params must be a dict of name: value, got None"),
]


@pytest.mark.parametrize("params, message", BAD_PARAMS)
def test_bad_params_are_named(params, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Space([X, N]).validate(params)


BAD_SETTINGS = [
    (lambda: Real("", 0, 1), "a parameter needs a non-empty name, got ''"),
    (lambda: Real(3, 0, 1), "a parameter needs a non-empty name, got 3"),
    (lambda: Real("x", 1, 1), "x: low 1.0 must be below high 1.0; leave a fixed parameter out"),
    (lambda: Real("x", 2, 1), "x: low 2.0 must be below high 1.0"),
    (lambda: Real("x", 0, math.inf), "x: high = inf is not finite"),
    (lambda: Real("x", math.nan, 1), "x: low = nan is not finite"),
    (lambda: Real("x", "0", 1), "x: low = '0' is not a number"),
    (lambda: Real("x", 0, 1, log=True), "x: a logarithmic parameter needs low > 0, got 0.0"),
    (lambda: Real("x", 1, 2, 0.5), "x: log 0.5 must be True or False; write a step as step="),
    (lambda: Real("x", 1, 2, log=True, step=0.5), "x: step and log exclude each other"),
    (lambda: Real("x", 0, 1, step=0), "x: step 0.0 must be positive and at most 1.0"),
    (lambda: Real("x", 0, 1, step=2), "x: step 2.0 must be positive and at most 1.0"),
    (lambda: Real("x", 0, 1, step="a"), "x: step = 'a' is not a number"),
    (lambda: Real("x", 0, 1, step=1e-12), "x: step 1e-12 is too fine for 0.0 .. 1.0"),
    (lambda: Real("x", -1e308, 1e308), "x: bounds -1e+308 .. 1e+308 are too far apart"),
    (
        lambda: Real("x", 1e12, 1e12 + 1e-4, log=True),
        "x: bounds 1000000000000.0 .. ",
    ),
    (lambda: Real("x", 0, 1e-310), "x: bounds 0.0 .. 1e-310 are too far apart or too close"),
    (lambda: Integer("n", 1.5, 3), "n: low 1.5 must be a whole number"),
    (lambda: Integer("n", 3, 3), "n: low 3 must be below high 3"),
    (lambda: Integer("n", 0, 3, log=True), "n: a logarithmic parameter needs low > 0, got 0"),
    (lambda: Integer("n", 0, 3, step=0), "n: step 0 must be between 1 and 3"),
    (lambda: Integer("n", 0, 3, step=4), "n: step 4 must be between 1 and 3"),
    (lambda: Integer("n", 1, 3, log=True, step=2), "n: step and log exclude each other"),
    (lambda: Integer("n", 0, 10**18), "n: 0 .. 1000000000000000000 goes beyond 1e+13; use a Real"),
    (lambda: Integer("n", True, 3), "n: low = True is not a number"),
    (lambda: Categorical("c", ["a"]), "c: needs at least two choices, got ['a']"),
    (lambda: Categorical("c", ["a", "b", "a"]), "c: choice 'a' is listed twice"),
    (lambda: Categorical("c", [1, 1.0]), "c: choice 1.0 is listed twice"),
    (lambda: Categorical("c", [math.nan, 1]), "c: choice nan does not equal itself"),
    (lambda: Categorical("c", [np.zeros(2), 1]), "c: choice array([0., 0.]) does not equal itself"),
    (lambda: Categorical("", ["a", "b"]), "a parameter needs a non-empty name"),
    (lambda: Categorical("c", 5), "c: choices 5 must be a list"),
    (
        lambda: LinearConstraint({"x": 1}, upper=None),
        "linear constraint: upper None is not a number",
    ),
    (lambda: LinearConstraint({"x": 1}), "linear constraint: give upper, lower or both"),
    (
        lambda: LinearConstraint({"x": 1}, 1, equals=2),
        "linear constraint: give either equals, or lower and upper",
    ),
    (lambda: LinearConstraint({"x": 1}, equals="2"), "equals = '2' is not a number"),
    (lambda: LinearConstraint({"x": 0}, 1), "linear constraint: all coefficients are 0"),
    (lambda: Real("x", 1e-310, 1, log=True), "is too small for a logarithmic parameter"),
    (lambda: Space([]), "a space needs at least one parameter"),
    (lambda: Space(X), "a space takes a list of parameters, got Real(name='x'"),
    (lambda: Space([X], len), "a space takes a list of constraints, got <built-in function len>"),
    (lambda: Space([X, "y"]), "'y' is not a Real, Integer or Categorical"),
    (lambda: Space([X, X]), "parameter 'x' is defined twice"),
    (lambda: Space([X], [3]), "constraint 3 is neither a LinearConstraint nor a callable"),
    (
        lambda: Space([X], [LinearConstraint({"y": 1}, 1)]),
        "linear constraint on unknown parameter 'y'; expected ['x']",
    ),
    (
        lambda: Space([C], [LinearConstraint({"c": 1}, 1)]),
        "linear constraint on 'c': it must be a Real or Integer without log",
    ),
    (
        lambda: Space([Real("x", 1, 2, log=True)], [LinearConstraint({"x": 1}, 1)]),
        "linear constraint on 'x': it must be a Real or Integer without log",
    ),
    (lambda: LinearConstraint({}, 1), "a linear constraint needs a dict of name: number, got {}"),
    (lambda: LinearConstraint([1, 2], 1), "a linear constraint needs a dict of name: number"),
    (lambda: LinearConstraint({"x": math.nan}, 1), "coefficient of 'x' = nan is not finite"),
    (lambda: LinearConstraint({"x": "1"}, 1), "coefficient of 'x' = '1' is not a number"),
    (lambda: LinearConstraint({"x": 1}, 1, 2), "linear constraint: lower 2 is above upper 1"),
]


@pytest.mark.parametrize("make, message", BAD_SETTINGS, ids=[m for _, m in BAD_SETTINGS])
def test_a_bad_setting_is_refused_at_once(make, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make()


MIXED = Space(
    [
        Real("pressure", 1, 200, log=True),
        Integer("coils", 2, 15),
        Categorical("alloy", ["A", "B", None]),
        Real("angle", -30, 30, step=0.5),
        Real("gap", 1 / 3, 0.9),
    ]
)


@quick
@given(st.lists(st.lists(unit, min_size=7, max_size=7), max_size=5))
def test_a_mixed_space_round_trips(rows: list[list[float]]) -> None:
    X = np.array(rows).reshape(-1, MIXED.dim)
    params = MIXED.decode(X)
    encoded = MIXED.encode(params)
    assert [MIXED.validate(p) for p in params] == params == MIXED.decode(encoded)
    assert encoded.shape == X.shape and np.all((encoded >= 0) & (encoded <= 1))
    np.testing.assert_array_equal(MIXED.encode(MIXED.decode(encoded)), encoded)
    np.testing.assert_allclose(MIXED.snap(X), encoded, rtol=0, atol=1e-11)


def test_columns_and_sizes_add_up() -> None:
    assert MIXED.dim == 7
    assert [X.stop - X.start for X in MIXED.columns] == [1, 1, 3, 1, 1]
    assert MIXED.size == math.inf
    assert Space(MIXED.parameters[1:4]).size == 14 * 3 * 121
    assert Space([N, C, S]).size == 5 * 3 * 5


def test_a_space_of_countless_designs_has_infinite_size() -> None:
    integers = [Integer(f"n{i}", 0, 10**13) for i in range(30)]
    assert Space([*integers, X]).size == math.inf


def test_validate_returns_the_order_of_the_space() -> None:
    assert list(Space([X, N]).validate({"n": 3, "x": 1})) == ["x", "n"]


def test_encode_of_nothing_has_the_right_shape() -> None:
    assert MIXED.encode([]).shape == (0, 7)
    assert MIXED.decode(np.empty((0, 7))) == []


@quick
@given(
    coefficients=st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    ends=st.lists(st.floats(-10, 10), min_size=2, max_size=2)
    .map(sorted)
    .filter(lambda e: e[0] < e[1]),
    seed=st.integers(0, 999),
)
def test_polytope_agrees_with_the_linear_constraint(coefficients, ends, seed: int) -> None:
    names = ["a", "b", "c"]
    constraint = LinearConstraint(dict(zip(names, coefficients, strict=True)), ends[1], ends[0])
    parameters = [Real("a", -1, 2), Integer("b", -3, 4), Real("c", 1, 2, step=0.1)]
    space = Space(parameters, [constraint, lambda params: True])
    A, b = space.polytope()
    assert A.shape == (2, 3)
    X = np.random.default_rng(seed).random((50, 3))
    want = [space.is_allowed(params) for params in space.decode(X)]
    assert space.allowed(X).tolist() == want
    X = space.snap(X)
    slack = (b - X @ A.T).min(axis=1)
    sure = np.abs(slack) > 1e-9
    np.testing.assert_array_equal(space.allowed(X)[sure], slack[sure] >= 0)


def test_a_one_sided_constraint_is_one_row() -> None:
    space = Space([Real("a", 0, 2), X], [LinearConstraint({"a": 3}, upper=1)])
    A, b = space.polytope()
    np.testing.assert_allclose(A, [[6.0, 0.0]])
    np.testing.assert_allclose(b, [1.0])


def test_without_constraints_everything_is_allowed() -> None:
    A, b = MIXED.polytope()
    assert A.shape == (0, 7) and b.shape == (0,)
    assert MIXED.allowed(np.zeros((4, 7))).tolist() == [True] * 4


def test_all_constraints_must_hold_and_see_what_can_be_set() -> None:
    seen: list[dict] = []

    def odd(params: dict) -> bool:
        seen.append(params)
        return params["n"] != 3

    space = Space([N, X], [LinearConstraint({"n": 1, "x": 1}, upper=8), odd])
    X_all = space.encode([{"n": n, "x": 1.0} for n in (1, 3, 5, 7, 9)])
    assert space.allowed(X_all).tolist() == [True, False, True, True, False]
    assert all(exact(params["n"])[0] is int for params in seen)


def test_a_sum_that_meets_its_limit_is_allowed() -> None:
    space = Space([Integer("a", 0, 9), Integer("b", 0, 9)], [LinearConstraint({"a": 1, "b": 1}, 9)])
    designs = [{"a": a, "b": b} for a in range(10) for b in range(10)]
    want = [p["a"] + p["b"] <= 9 for p in designs]
    assert space.allowed(space.encode(designs)).tolist() == want


@pytest.mark.parametrize("a, b", [(0.1, 0.2), (0.2, 0.1), (0.3, 0.0)])
def test_a_sum_meets_its_limit_up_to_rounding(a: float, b: float) -> None:
    assert LinearConstraint({"a": 1, "b": 1}, upper=0.3, lower=0.3)({"a": a, "b": b})
    assert not LinearConstraint({"a": 1, "b": 1}, upper=0.3)({"a": a, "b": b + 1e-14})


def test_large_whole_numbers_are_added_exactly() -> None:
    constraint = LinearConstraint({"a": 1, "b": -1}, upper=0, lower=0)
    assert constraint({"a": 10**13, "b": 10**13})
    assert not constraint({"a": 10**13, "b": 10**13 - 1})


@pytest.mark.parametrize("a, holds", [(0.0, False), (0.5, True), (1.0, True), (1.5, False)])
def test_linear_constraints_have_two_sides(a: float, holds: bool) -> None:
    assert LinearConstraint({"a": 2.0}, upper=2.0, lower=1.0)({"a": a, "b": "ignored"}) is holds


@pytest.mark.parametrize(
    "p, value, column",
    [
        (Real("s", 0, 1, step=0.25), 0.3, 0.34),
        (Real("s", 0, 1, step=0.3), 1.0, (1 / 0.3 + 0.5) / 4),
        (Real("s", 0, 11, step=3), 11.0, 1.0),
        (Integer("n", 1, 9, step=2), 2, 0.2),
    ],
)
def test_what_was_done_may_lie_between_the_steps(p, value, column: float) -> None:
    assert p.check(value) == value
    assert p.encode(value) == pytest.approx([column])
    (snapped,) = p.snap(np.array([p.encode(value)])).tolist()
    assert p.check(p.decode(snapped)) in [p.decode(u) for u in p.options()]
