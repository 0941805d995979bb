"""`becbo.scipy.minimize` beside what SciPy promises of its own functions."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult

from becbo import Infeasible, InvalidInput
from becbo.scipy import minimize

BOX = [(0.0, 1.0), (0.0, 2.0)]


def crashing(x: np.ndarray) -> float:
    if x[0] < 0.3:
        raise Infeasible("too cold")
    return float((x**2).sum())


def test_the_result_is_one_of_scipy() -> None:
    result = minimize(crashing, BOX, budget=20, seed=0)
    assert isinstance(result, OptimizeResult)
    assert result.success and result.status == 0
    assert result.nfev == 20 == len(result.trials)
    assert 0 < result.n_failed < 20
    assert result.fun == crashing(result.x) == min(t.value for t in result.trials if t.is_feasible)
    assert result.fun < 0.2


def test_bounds_args_and_whole_numbers() -> None:
    seen: list[np.ndarray] = []

    def shifted(x: np.ndarray, shift: float) -> float:
        seen.append(x)
        return float(abs(x - shift).sum())

    minimize(shifted, Bounds([0, 0], [5, 1]), (2.2,), budget=12, integrality=[True, False], seed=1)
    X = np.array(seen)
    assert (X[:, 0] == np.round(X[:, 0])).all() and (X >= 0).all() and (X <= [5, 1]).all()
    assert (X[:, 1] != np.round(X[:, 1])).any()


def test_known_constraints_hold() -> None:
    known = LinearConstraint([[1, 1], [1, -1]], [-np.inf, -0.5], [1.0, 0.5])
    result = minimize(lambda x: -x.sum(), BOX, budget=15, constraints=[known], seed=0)
    for trial in result.trials:
        x = np.array(list(trial.params.values()))
        assert x.sum() <= 1 + 1e-12 and abs(x[0] - x[1]) <= 0.5 + 1e-12


def test_callbacks_of_both_kinds_and_stopping() -> None:
    results, points = [], []

    def by_name(intermediate_result: OptimizeResult) -> None:
        results.append(intermediate_result)
        if intermediate_result.nfev == 5:
            raise StopIteration

    stopped = minimize(crashing, BOX, budget=20, callback=by_name, seed=0)
    assert stopped.nfev == 5 and "stopped by a callback" in stopped.message
    assert [r.nfev for r in results] == [1, 2, 3, 4, 5]
    minimize(crashing, BOX, budget=6, callback=points.append, seed=0)
    assert all(p.shape == (2,) for p in points)


def test_nothing_worked() -> None:
    result = minimize(lambda x: float("nan"), BOX, budget=4, seed=0)
    assert not result.success and result.x is None and result.status == 1
    assert "no evaluation worked" in result.message


def test_caught_exceptions_are_failures() -> None:
    def divides(x: np.ndarray) -> float:
        return 1.0 / 0 if x[0] < 0.5 else float(x.sum())

    result = minimize(divides, BOX, budget=8, catch=(ZeroDivisionError,), seed=0)
    assert result.n_failed == sum(t.params["x0"] < 0.5 for t in result.trials)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"integrality": [True]}, "integrality has 1 entries for 2 variables"),
        ({"constraints": [LinearConstraint([[1, 1, 1]], 0, 1)]}, "3 columns for 2 variables"),
        ({"bounds": [(1, 0), (0, 1)]}, "x0: low 1"),
    ],
)
def test_bad_arguments(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        minimize(crashing, **{"bounds": BOX, "budget": 2, **arguments})
