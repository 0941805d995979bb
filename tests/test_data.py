"""The history as arrays: order, sign, what was acceptable, and why the rest was not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Categorical, Limit, Objective, Outcome, Real, Recorded, Result, Space, Trial
from becbo.data import Causes, Dataset, dataset, pending_points
from becbo.outputs import Outputs

steady = settings(deadline=None, derandomize=True)

SPACE = Space([Real("x", 0, 10), Categorical("c", "ab")])
ONE = Outputs.of("minimize")
TRIALS = [
    Trial(0, {"x": 1.0, "c": "a"}, Result.ok({"value": 3.0})),
    Trial(1, {"x": 2.0, "c": "b"}, Result.failed("melted")),
    Trial(2, {"x": 3.0, "c": "a"}),
    Trial(3, {"x": 4.0, "c": "b"}, Result.lost()),
    Trial(4, {"x": 5.0, "c": "b"}, Result.ok({"value": -7.0})),
    Trial(5, {"x": 6.0, "c": "b"}),
]


@pytest.mark.parametrize("direction, factor", [("minimize", -1.0), ("maximize", 1.0)])
def test_values_are_to_be_maximised(direction: str, factor: float) -> None:
    data = dataset(TRIALS, SPACE, Outputs.of(direction))
    np.testing.assert_array_equal(data.y, [3.0 * factor, np.nan, -7.0 * factor])
    np.testing.assert_array_equal(data.gains[:, 0], data.y)


def test_only_answers_count_and_in_order() -> None:
    data = dataset(TRIALS, SPACE, ONE)
    np.testing.assert_allclose(data.X, [[0.1, 1, 0], [0.2, 0, 1], [0.5, 0, 1]])
    assert data.worked.tolist() == data.acceptable.tolist() == [True, False, True]


def test_what_was_measured_leaves_the_rest_out() -> None:
    X, y = dataset(TRIALS, SPACE, Outputs.of("maximize")).measured(0)
    np.testing.assert_allclose(X, [[0.1, 1, 0], [0.5, 0, 1]])
    np.testing.assert_array_equal(y, [3.0, -7.0])


def test_pending_points_are_the_unanswered_ones() -> None:
    np.testing.assert_allclose(pending_points(TRIALS, SPACE), [[0.3, 1, 0], [0.6, 0, 1]])


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_head_is_the_first_experiments(n: int) -> None:
    data = dataset(TRIALS, SPACE, ONE)
    np.testing.assert_array_equal(data.head(n).X, data.X[:n])
    np.testing.assert_array_equal(data.head(n).y, data.y[:n])
    np.testing.assert_array_equal(data.head(n).worked, data.worked[:n])


def test_no_trials_give_empty_arrays_of_the_right_width() -> None:
    data = dataset([], SPACE, ONE)
    assert (data.X.shape, data.y.shape, data.worked.shape) == ((0, 3), (0,), (0,))
    assert (data.causes.kinds.shape, data.causes.broken.shape) == ((0, 0), (0, 0))
    assert pending_points([], SPACE).shape == (0, 3)
    data = dataset([], SPACE, SEVERAL)
    assert (data.Y.shape, data.gains.shape, data.beyond.shape) == ((0, 5), (0, 2), (0, 2))
    assert data.acceptable.shape == data.unexplained.shape == (0,)


def test_a_dataset_cannot_be_reassigned() -> None:
    no_causes = Causes(*np.zeros((3, 1, 0), dtype=bool))
    with pytest.raises(AttributeError):
        one = np.ones(1, bool)
        nothing = np.zeros((1, 1))
        Dataset(nothing, nothing, one, ONE, no_causes, nothing[0], one).Y = np.ones(1)


def test_reasons_come_with_the_experiments() -> None:
    failed = [Trial(i, {"x": 1.0, "c": "a"}, Result.failed("bent")) for i in (0, 2)]
    worked = Trial(1, {"x": 1.0, "c": "a"}, Result.ok({"value": 1.0}))
    lost = Trial(3, {"x": 1.0, "c": "a"}, Result.lost("power cut"))
    data = dataset([failed[0], worked, failed[1], lost], SPACE, ONE)
    assert data.causes.kinds.tolist() == [[True], [False], [True]]
    assert data.head(2).causes.kinds.tolist() == [[True], [False]]


# -- several outputs ---------------------------------------------------------------------------

SEVERAL = Outputs.of(
    [
        Objective("cost"),
        Objective("ph", target=7.0),
        Limit("viscosity", upper=200),
        Limit("density", lower=0.8, upper=1.2),
        Recorded("colour"),
    ]
)


def table(*results: Result, outputs: Outputs = SEVERAL) -> Dataset:
    rows = [Trial(i, {"x": float(i), "c": "a"}, result) for i, result in enumerate(results)]
    return dataset(rows, SPACE, outputs)


def ok(**values: float) -> Result:
    return Result.ok(values)


def failed(reason: str | None = None, **measured: float) -> Result:
    return Result.failed(reason, measured)


def test_columns_are_the_outputs_in_their_order() -> None:
    data = table(
        ok(cost=3.0, ph=6.5, viscosity=150.0, density=1.0, colour=9.0),
        ok(ph=7.25, cost=None),
        failed("gel", viscosity=300.0),
    )
    nan = math.nan
    want = [[-3, -0.5, 150, 1, 9], [nan, 0.25, nan, nan, nan], [nan, nan, 300, nan, nan]]
    np.testing.assert_array_equal(data.Y, want)
    np.testing.assert_array_equal(data.gains, [[-3, -0.5], [nan, -0.25], [nan, nan]])
    X, viscosity = data.measured(2)
    np.testing.assert_array_equal(viscosity, [150, 300])
    np.testing.assert_allclose(X[:, 0], [0.0, 0.2])


@pytest.mark.parametrize(
    "result, beyond, acceptable",
    [
        (ok(cost=1, ph=7), [False, False], True),  # nothing measured, nothing broken
        (ok(cost=1, ph=7, viscosity=200), [False, False], True),  # the bound itself is kept
        (ok(cost=1, ph=7, viscosity=200.1), [True, False], False),
        (ok(cost=1, ph=7, density=0.8), [False, False], True),
        (ok(cost=1, ph=7, density=0.7), [False, True], False),
        (ok(cost=1, ph=7, density=1.3, viscosity=900), [True, True], False),
        (ok(cost=1), [False, False], False),  # an objective is missing
        (ok(viscosity=1), [False, False], False),
        (failed(cost=1, ph=7), [False, False], False),  # it failed, whatever was measured
        (failed(viscosity=900), [True, False], False),
    ],
)
def test_beyond_and_acceptable(result: Result, beyond: list[bool], acceptable: bool) -> None:
    data = table(result)
    assert data.beyond.tolist() == [beyond]
    assert data.acceptable.tolist() == [acceptable]
    values = {name: result.values.get(name) for name in SEVERAL.names}
    assert SEVERAL.are_kept(values) == (not any(beyond))


NUMBERS = st.none() | st.floats(-3, 3)


@steady
@given(st.lists(st.tuples(st.booleans(), *[NUMBERS] * 4), max_size=8))
def test_acceptable_is_what_the_outputs_say(rows) -> None:
    outputs = Outputs.of([Objective("a"), Objective("b", "maximize"), Limit("c", -1, 1)])
    results = []
    for worked, *numbers in rows:
        values = dict(zip("abc", numbers, strict=False))
        results.append(Result.ok(values) if worked else Result.failed(None, values))
    data = table(*results, outputs=outputs)
    for i, result in enumerate(results):
        has_all = None not in (result.values["a"], result.values["b"])
        want = result.outcome is Outcome.OK and has_all and outputs.are_kept(result.values)
        assert data.acceptable[i] == want
    assert not (data.unexplained & data.worked).any()
    np.testing.assert_array_equal(data.head(3).acceptable, data.acceptable[:3])


@pytest.mark.parametrize(
    "results, broken, unexplained",
    [
        # Named without a number, and modelled because it was measured elsewhere.
        ([ok(viscosity=5), failed("viscosity")], [0, 1], [0, 0]),
        ([ok(viscosity=5), failed("Viscosity 310")], [0, 1], [0, 0]),
        ([ok(viscosity=5), failed("violated: viscosity, density")], [0, 1], [0, 0]),
        # Never measured: no model can explain the failure.
        ([ok(cost=5), failed("viscosity")], [0, 0], [0, 1]),
        # Measured: the number says it all.
        ([ok(viscosity=5), failed("viscosity", viscosity=310)], [0, 0], [0, 0]),
        ([ok(viscosity=5), failed(viscosity=310)], [0, 0], [0, 0]),
        # Measured, kept, and yet named: something else must have been wrong.
        ([ok(viscosity=5), failed("viscosity", viscosity=150)], [0, 0], [0, 1]),
        # Two bounds: nobody said on which side.
        ([ok(density=1), failed("density")], [0, 0], [0, 1]),
        # Another cause.
        ([ok(viscosity=5), failed("gel")], [0, 0], [0, 1]),
        ([ok(viscosity=5), failed()], [0, 0], [0, 1]),
        # Of a success no reason counts.
        ([ok(viscosity=5), Result(Outcome.OK, {"cost": 1.0}, "viscosity")], [0, 0], [0, 0]),
    ],
)
def test_a_failure_is_explained_by_a_limit_it_names(results, broken, unexplained) -> None:
    data = table(*results)
    assert data.causes.broken[:, 0].tolist() == [bool(b) for b in broken]
    assert not data.causes.broken[:, 1].any()
    assert data.unexplained.tolist() == [bool(u) for u in unexplained]


def test_a_recurring_cause_beside_a_limit_stays_unexplained() -> None:
    data = table(ok(viscosity=5), failed("gel, viscosity"), failed("gel"), failed("viscosity"))
    assert data.causes.broken[:, 0].tolist() == [False, True, False, True]
    assert data.causes.kinds.tolist() == [[False], [True], [True], [False]]  # gel
    assert data.unexplained.tolist() == [False, True, True, False]
    assert data.causes.complete.tolist() == [False, True, False, False]


def test_a_limit_that_is_measured_is_not_a_kind_of_failure() -> None:
    names = ["viscosity"] * 3
    assert table(*map(failed, names)).causes.kinds.shape == (3, 1)
    assert table(ok(viscosity=5), *map(failed, names)).causes.kinds.shape == (4, 0)
