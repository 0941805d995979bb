"""The numbers of the report, against ones that can be computed by hand."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from memory import campaign_in_memory

from becbo import Categorical, Integer, LinearConstraint, Real, Space
from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.campaign.errors import NotFound
from becbo.campaign.formatting import estimate, number, percent, plural, tight
from becbo.campaign.runs import NOTHING, REPEAT, Run, RunState
from becbo.insight.calibration import calibration, wilson
from becbo.insight.importance import importances
from becbo.insight.insight import Insight, analyze_campaign
from becbo.insight.maps import allowed, mapped_pairs, parameter_distances, settings_grid, slice_grid
from becbo.insight.suggestions import Suggestion, explain_suggestion, suggestion_context
from becbo.optuna import open_storage
from becbo.search.choice import AGAIN
from becbo.tables import import_cells
from becbo.trial import Estimate, Outcome, Prediction, Result

RNG = np.random.default_rng
SQUARE = Space([Real("a", 0, 1), Real("b", 0, 1)])
CORNER = np.zeros((1, 2))
PLAN = {
    "name": "glue",
    "objective": {"name": "strength", "unit": "MPa", "direction": "maximize"},
    "parameters": {
        "heat": {"low": 0, "high": 10, "unit": "°C"},
        "time": {"low": 1, "high": 100, "log": True, "unit": "h"},
        "resin": {"choices": ["X", "Y"]},
    },
}


def everywhere(X: Any) -> Any:
    return np.ones(len(X), dtype=bool)


# -- which parameters matter -------------------------------------------------------------------


def test_shares_of_a_sum_are_its_parts_of_the_variance() -> None:
    space = Space([Real("a", 5, 9), Real("b", 1, 100, log=True), Integer("c", 0, 99)])
    found, spread = importances(
        lambda X: 2 * X[:, 0] + X[:, 1], space, everywhere, np.full((1, 3), 0.5), RNG(0)
    )
    assert [share.name for share in found] == ["a", "b", "c"]
    assert [share.main for share in found] == pytest.approx([0.8, 0.2, 0.0], abs=0.04)
    assert [share.total for share in found] == pytest.approx([0.8, 0.2, 0.0], abs=0.04)
    assert spread == pytest.approx(math.sqrt(5 / 12), rel=0.04)


def test_shares_of_a_product_are_all_interaction() -> None:
    found, _ = importances(
        lambda X: (X[:, 0] - 0.5) * (X[:, 1] - 0.5), SQUARE, everywhere, np.zeros((1, 2)), RNG(0)
    )
    assert [share.main for share in found] == pytest.approx([0.0, 0.0], abs=0.04)
    assert [share.total for share in found] == pytest.approx([1.0, 1.0], abs=0.08)


def test_shares_of_a_choice() -> None:
    space = Space([Categorical("gas", "ABC"), Real("a", 0, 1)])
    gas, a = 14 / 9, 1 / 12  # variances of 0, 1, 3 and of a uniform number
    found, _ = importances(
        lambda X: X[:, 1] + 3 * X[:, 2] + X[:, 3], space, everywhere, np.eye(1, 4), RNG(0)
    )
    assert [share.main for share in found] == pytest.approx(
        [gas / (gas + a), a / (gas + a)], abs=0.03
    )
    assert found[0].total == pytest.approx(gas / (gas + a), abs=0.05)


def test_shares_of_a_sum_with_an_interaction() -> None:
    """Of a + b + ab, from -1/2 to 1/2: variances 1/12, 1/12 and 1/144."""
    found, _ = importances(
        lambda X: X[:, 0] * (X[:, 1] + 0.5) + X[:, 1] / 2, SQUARE, everywhere, CORNER, RNG(0)
    )
    assert [share.main for share in found] == pytest.approx([12 / 25] * 2, abs=0.04)
    assert [share.total for share in found] == pytest.approx([13 / 25] * 2, abs=0.04)


def below_the_diagonal(X: Any) -> Any:
    return X.sum(axis=1) <= 1


def test_shares_in_a_region_where_settings_depend_on_each_other() -> None:
    """On the triangle a + b <= 1, Var(a) = 1/18 and E Var(a | b) = 1/24; b does nothing."""
    found, spread = importances(lambda X: X[:, 0], SQUARE, below_the_diagonal, CORNER, RNG(0))
    assert [share.main for share in found] == pytest.approx([0.75, 0.0], abs=0.05)
    assert [share.total for share in found] == pytest.approx([0.75, 0.0], abs=0.05)
    assert spread == pytest.approx(math.sqrt(1 / 18), rel=0.05)


def near_the_diagonal(X: Any) -> Any:
    return np.abs(X[:, 0] - X[:, 1]) <= 0.2


@pytest.mark.parametrize("inside", [everywhere, below_the_diagonal, near_the_diagonal])
@pytest.mark.parametrize(
    "function",
    [
        lambda X: X[:, 0] + X[:, 1],
        lambda X: X[:, 0] - X[:, 1],
        lambda X: X[:, 0] * X[:, 1],
        lambda X: np.maximum(X[:, 0], 0.3) + np.sin(9 * X[:, 1]),
    ],
)
def test_no_share_alone_exceeds_the_total(
    function: Callable[[Any], Any], inside: Callable[[Any], Any]
) -> None:
    found, _ = importances(function, SQUARE, inside, CORNER, RNG(0))
    for share in found:
        assert 0.0 <= share.main <= share.total <= 1.0


def test_shares_never_leave_the_region() -> None:
    seen = []

    def function(X: Any) -> Any:
        seen.append(X)
        return X[:, 1]

    importances(function, SQUARE, lambda X: X[:, 0] < 0.1, np.zeros((1, 2)), RNG(0))
    assert np.vstack(seen)[:, 0].max() < 0.1


def test_nothing_is_shared_of_a_constant() -> None:
    found, spread = importances(
        lambda X: np.zeros(len(X)), SQUARE, everywhere, np.zeros((1, 2)), RNG(0)
    )
    assert spread == 0.0
    assert {(share.main, share.total) for share in found} == {(0.0, 0.0)}


SIMPLEX = Space(
    [*(Real(name, 0, 1) for name in "abc"), Real("t", 0, 1)],
    [LinearConstraint(dict.fromkeys("abc", 1), equals=1)],
)
MIDDLE = np.array([[1 / 3, 1 / 3, 1 / 3, 0.5]])


def test_shares_in_a_mixture() -> None:
    """On the simplex, Var(a) = 1/18, and 1/24 of an exchange with another one; b and c are room."""
    found, spread = importances(lambda X: X[:, 0], SIMPLEX, everywhere, MIDDLE, RNG(0))
    assert [share.total for share in found] == pytest.approx([0.75, 0, 0, 0], abs=0.05)
    assert [share.main for share in found] == pytest.approx([0.75, 0, 0, 0], abs=0.05)
    assert spread == pytest.approx(math.sqrt(1 / 18), rel=0.05)


def test_shares_of_a_ratio_in_a_mixture() -> None:
    """What depends on a against b alone is due to both of them, and not to the rest."""
    found, _ = importances(lambda X: X[:, 0] - X[:, 1], SIMPLEX, everywhere, MIDDLE, RNG(0))
    a, b, c, t = (share.total for share in found)
    assert a == pytest.approx(b, abs=0.06) and a > 0.4
    assert c < 0.05 and t == 0.0


def test_shares_of_a_mixture_of_two() -> None:
    space = Space(
        [Real("a", 0, 1), Real("b", 0, 1), Real("t", 0, 1)],
        [LinearConstraint({"a": 1, "b": 1}, equals=1)],
    )
    found, _ = importances(
        lambda X: X[:, 1] + X[:, 2], space, everywhere, np.array([[0.5, 0.5, 0.5]]), RNG(0)
    )
    assert [share.total for share in found] == pytest.approx([0.5] * 3, abs=0.05)


# -- calibration -------------------------------------------------------------------------------


def test_calibration_by_hand() -> None:
    found = calibration([0.1, 0.9, 0.8, 0.3, 1.0], [False, True, True, True, False])
    assert found.n == 5
    assert found.brier == pytest.approx((0.01 + 0.01 + 0.04 + 0.49 + 1.0) / 5)
    assert found.base_rate == pytest.approx(0.6)
    assert found.brier_of_base_rate == pytest.approx((3 * 0.4**2 + 2 * 0.6**2) / 5)
    assert [(b.low, b.high, b.n) for b in found.bins] == [(0, 0.2, 1), (0.2, 0.4, 1), (0.8, 1, 3)]
    assert [b.stated for b in found.bins] == pytest.approx([0.1, 0.3, 0.9])
    assert [b.observed for b in found.bins] == pytest.approx([0.0, 1.0, 2 / 3])
    assert not found.is_enough


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 10), (17, 20)])
def test_wilson_interval_is_that_of_scipy(k: int, n: int) -> None:
    from scipy.stats import binomtest

    theirs = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson(k, n) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_calibration_of_nothing() -> None:
    found = calibration([], [])
    assert (found.n, found.bins, found.is_enough) == (0, (), False)


# -- maps --------------------------------------------------------------------------------------


def test_a_map_varies_two_parameters_and_fixes_the_rest() -> None:
    space = describe(PLAN).space
    anchor = space.encode([{"heat": 2.0, "time": 10.0, "resin": "Y"}])[0]
    found = slice_grid(space, anchor, "time", "resin")
    assert found.y_values == ("X", "Y")
    assert (found.x_values[0], found.x_values[20], found.x_values[-1]) == (1.0, 10.0, 100.0)
    assert found.X.shape == (2 * 41, space.dim) and found.allowed.all()
    np.testing.assert_allclose(found.X[:41, 0], 0.2)
    np.testing.assert_allclose(found.X[:41, 1], np.linspace(0, 1, 41))


def test_a_map_of_a_single_parameter_has_one_row() -> None:
    found = slice_grid(Space([Integer("n", 1, 4)]), np.array([0.5]), "n", "")
    assert (found.x_values, found.y_values) == ((1, 2, 3, 4), ("",))
    np.testing.assert_allclose(found.X, [[0.125], [0.375], [0.625], [0.875]])


def test_a_map_is_blank_where_a_known_constraint_forbids_designs() -> None:
    space = Space([Real("a", 0, 4), Integer("b", 0, 4)], [LinearConstraint({"a": 1, "b": 1}, 4)])
    found = slice_grid(space, np.zeros(2), "a", "b")
    for b, row in zip(found.y_values, found.allowed.reshape(5, -1), strict=True):
        allowed = [space.is_allowed({"a": a, "b": b}) for a in found.x_values]
        np.testing.assert_array_equal(row, allowed)


MIXTURE = Space(
    [*(Real(name, 0, 100) for name in "abcd"), Real("t", 20, 90)],
    [LinearConstraint(dict.fromkeys("abcd", 1), equals=100)],
)


@pytest.mark.parametrize(("x", "y"), [("a", "b"), ("a", "t"), ("t", "a"), ("a", "")])
def test_a_map_follows_the_mixture(x: str, y: str) -> None:
    """The others keep their proportions, and only what exceeds the total is blank."""
    anchor = MIXTURE.encode([{"a": 10, "b": 30, "c": 40, "d": 20, "t": 50}])[0]
    found = slice_grid(MIXTURE, anchor, x, y)
    values = 100 * found.X[:, :4]
    np.testing.assert_allclose(values[found.allowed].sum(axis=1), 100)
    shown = values[:, [i for i, name in enumerate("abcd") if name in (x, y)]].sum(axis=1)
    np.testing.assert_array_equal(found.allowed, shown <= 100 + 1e-6)
    assert set(found.rest) == set("abcd") - {x, y}
    room = found.allowed & (found.rest["d"] > 1e-6)
    np.testing.assert_allclose(found.rest["c"][room] / found.rest["d"][room], 2)


def test_two_ingredients_are_one_parameter() -> None:
    space = Space(
        [Real("a", 0, 1), Real("b", 0, 1), Real("t", 0, 1)],
        [LinearConstraint({"a": 1, "b": 1}, equals=1)],
    )
    assert mapped_pairs(space, ["a", "b", "t"]) == [("a", "t")]
    assert mapped_pairs(space, ["a", "b"]) == [("a", "")]
    assert mapped_pairs(MIXTURE, ["a", "b", "t"]) == [("a", "b"), ("a", "t"), ("b", "t")]
    assert mapped_pairs(SIMPLEX, ["a", "b", "c", "t"]) == [
        ("a", "b"), ("a", "t"), ("b", "t"), ("c", "t")
    ]  # fmt: skip


def test_constraints_are_those_of_the_space() -> None:
    space = Space([Real("a", 0, 4), Integer("b", 0, 9)], [LinearConstraint({"a": 2, "b": -1}, 1)])
    X = space.snap(RNG(0).random((200, 2)))
    np.testing.assert_array_equal(allowed(space, X), space.allowed(X))


def test_formulas_are_those_of_the_space() -> None:
    numbers = {"a": {"low": 1, "high": 100, "log": True}, "b": {"low": 0, "high": 100, "step": 0.1}}
    content = {
        "name": "c",
        "parameters": numbers,
        "constraints": ["1 <= a * b <= 600", "b / a <= 9"],
    }
    space = describe(content).space
    X = space.snap(RNG(0).random((200, 2)))
    np.testing.assert_array_equal(allowed(space, X), space.allowed(X))
    assert 20 < allowed(space, X).sum() < 180


def test_a_constraint_on_a_logarithmic_parameter_counts_too() -> None:
    numbers = {"a": {"low": 1, "high": 100, "log": True}, "b": {"low": 0, "high": 100}}
    space = describe({"name": "c", "parameters": numbers, "constraints": ["a + b <= 60"]}).space
    X = RNG(0).random((200, 2))
    np.testing.assert_array_equal(allowed(space, X), space.allowed(X))
    assert not allowed(space, np.ones((1, 2))).any()


def test_settings_with_many_whole_numbers_are_whole() -> None:
    parameter = Integer("n", 1, 1000)
    values = [parameter.decode(row) for row in settings_grid(parameter).tolist()]
    assert values[0] == 1 and values[-1] == 1000 and len(set(values)) == len(values) == 41


def test_another_choice_is_as_far_as_the_whole_range() -> None:
    space = describe(PLAN).space
    X = space.encode([{"heat": 0, "time": 1, "resin": "X"}, {"heat": 10, "time": 10, "resin": "Y"}])
    np.testing.assert_allclose(parameter_distances(space, X[:1], X), [[[0, 0, 0], [1, 0.5, 1]]])


# -- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (number(312.50000001, "°C"), "312.5 °C"),
        (number(3), "3"),
        (number("argon"), "argon"),
        (percent(0.624), "62 %"),
        (percent(0.001), "under 1 %"),
        (percent(0.9999), "over 99 %"),
        (percent(1.0), "100 %"),
        (percent(0.0), "0 %"),
        (estimate(3.1234, 0.234), "3.12 ± 0.23"),
        (estimate(3123.4, 23.4, "N"), "3123 ± 23 N"),
        (estimate(3123.4, 2340.0), "3123 ± 2340"),
        (estimate(3.1e9, 2.3e7), "3.1e+09 ± 2.3e+07"),
        (estimate(1.0, 0.0), "1 ± 0"),
        (plural(1, "run"), "1 run"),
        (plural(0, "run"), "0 runs"),
        (tight("62 % and 3 ± 1"), "62\u00a0% and 3\u00a0±\u00a01"),
    ],
)
def test_numbers_in_words(said: str, wanted: str) -> None:
    assert said == wanted


# -- suggestions -------------------------------------------------------------------------------


def run(number: int, heat: float, value: float | None, outcome: Outcome | None = None) -> Run:
    ended = outcome or (Outcome.FAILED if value is None else Outcome.OK)
    params = {"heat": heat, "time": 10.0, "resin": "X"}
    result = Result(ended, {} if value is None else {"strength": value})
    before = RunState(result, "", None, NOTHING)
    return Run(number, params, result, None, "user", "", None, None, number, before, ())


def suggest(
    runs: list[Run],
    heat: float,
    now: Prediction,
    origin: str = "near the best",
    believed: Prediction | None = None,
    resin: str = "X",
) -> Suggestion:
    worked = [r for r in runs if r.outcome is Outcome.OK]
    front = sorted(worked, key=lambda r: -(r.value or 0.0))[:1]
    context = suggestion_context(describe(PLAN), runs, front, RNG(0))
    params = {"heat": heat, "time": 10.0, "resin": resin}
    return explain_suggestion(context, 20, params, origin, now, believed)


def predicted(
    mean: float | None, std: float | None, p_feasible: float, band: tuple[float, float]
) -> Prediction:
    known = {} if mean is None or std is None else {"strength": Estimate(mean, std)}
    return Prediction(known, p_feasible, band)


DONE = [run(3, 1.0, 2.0), run(17, 5.0, 3.4), run(18, 5.6, None)]
LIKELY = predicted(3.5, 0.1, 0.9, (0.8, 0.95))
UNSURE = predicted(3.1, 0.3, 0.62, (0.4, 0.8))
UNKNOWN = predicted(None, None, 0.5, (0.0, 1.0))


@pytest.mark.parametrize(
    ("said", "kind", "why"),
    [
        (
            suggest(DONE, 5.3, UNSURE),
            "edge",
            "Exploits the edge of what works near run 17, the best so far: 62 % chance to work, "
            "expected 3.10 ± 0.30 MPa against the best 3.4 MPa (10 % chance to beat it).",
        ),
        (
            suggest(DONE, 1.2, predicted(2.0, 0.1, 0.62, (0.4, 0.8))),
            "edge",
            "Finds out where the edge lies near run 3: 62 % chance to work, expected 2.00 ± 0.10 "
            "MPa against the best 3.4 MPa (under 1 % chance to beat it).",
        ),
        (
            suggest(DONE, 5.1, LIKELY),
            "inside",
            "Refines near run 17, the best so far, inside what works: 90 % chance to work, "
            "expected 3.50 ± 0.10 MPa against the best 3.4 MPa (76 % chance to beat it).",
        ),
        (
            suggest(DONE, 10.0, UNSURE, resin="Y"),
            "far",
            "Explores a region far from all runs (the nearest is run 18): 62 % chance to work, "
            "expected 3.10 ± 0.30 MPa against the best 3.4 MPa (10 % chance to beat it).",
        ),
        (
            suggest(DONE[2:], 1.0, predicted(None, None, 0.3, (0.1, 0.6))),
            "first",
            "Looks for a first design that works: 30 % chance to work, as far as failures alone "
            "can tell.",
        ),
        (
            suggest(DONE[2:], 1.0, predicted(None, None, 0.3, (0.1, 0.6)), "user"),
            "hand",
            "Chosen by hand: 30 % chance to work, as far as failures alone can tell.",
        ),
        (
            suggest(DONE, 5.3, UNSURE, "user"),
            "hand",
            "Chosen by hand: 62 % chance to work, expected 3.10 ± 0.30 MPa against the best "
            "3.4 MPa (10 % chance to beat it).",
        ),
        (
            suggest(DONE, 5.3, UNSURE, "sequence"),
            "random",
            "Drawn at random: 62 % chance to work, expected 3.10 ± 0.30 MPa against the best "
            "3.4 MPa (10 % chance to beat it).",
        ),
        (
            suggest([], 1.0, UNKNOWN, "initial design"),
            "initial",
            "Part of the initial design: the first 10 experiments spread over the whole space.",
        ),
        (
            suggest([*DONE, run(19, 7.0, None, Outcome.LOST)], 7.0, UNSURE, "repeat of a lost run"),
            "repeat",
            "Repeats run 19, which was lost.",
        ),
        (suggest(DONE, 5.0, LIKELY, "repeat"), "repeat", "Repeats run 17, which worked."),
        (
            suggest([*DONE, run(19, 5.0, None, Outcome.LOST)], 5.0, LIKELY, "repeat"),
            "repeat",
            "Repeats run 17, which worked.",
        ),
        (
            suggest(DONE, 5.6, UNSURE, "repeat of a failure"),
            "repeat",
            "Repeats run 18, which failed.",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) and " " not in case else "",
)
def test_why_a_design_is_suggested(said: Suggestion, kind: str, why: str) -> None:
    assert (said.kind, said.why) == (kind, why)


LIMITED = {**PLAN, "limits": {"viscosity": {"upper": 12}}}


def why_with_limits(runs: list[Run], front: list[Run], now: Prediction) -> str:
    context = suggestion_context(describe(LIMITED), runs, front, RNG(0))
    params = {"heat": 1.0, "time": 10.0, "resin": "X"}
    return explain_suggestion(context, 20, params, "near the best", now).why


def test_a_chance_that_counts_limits_says_so() -> None:
    believed = Prediction({"viscosity": Estimate(22.0, 3.0)}, 0.004, (0.0, 0.1))
    beyond = run(1, 1.0, None, Outcome.OK)
    said = "under 1 % chance to work and keep every limit, expected viscosity 22.0 ± 3.0."
    assert why_with_limits([beyond], [], believed) == (
        f"Looks for a first design that is acceptable: {said}"
    )
    failed = run(1, 1.0, None)
    assert why_with_limits([failed], [], believed) == f"Looks for a first design that works: {said}"
    best = run(1, 1.0, 2.0)  # nothing had been measured when this was believed
    assert why_with_limits([best], [best], Prediction({}, 0.3, (0.1, 0.6))) == (
        "Exploits the edge of what works near run 1, the best so far: 30 % chance to work and "
        "keep every limit, as far as failures alone can tell."
    )


def test_p_better_by_hand() -> None:
    said = suggest(DONE, 5.3, UNSURE, believed=LIKELY)
    assert said.p_better == pytest.approx(0.62 * (1 + math.erf(-1 / math.sqrt(2))) / 2)
    assert said.p_feasible_before == 0.9
    first = suggest(DONE[2:], 1.0, predicted(None, None, 0.3, (0.1, 0.6)))
    assert first.p_better == 0.3
    certain = predicted(3.5, 0.0, 0.62, (0.4, 0.8))
    assert suggest(DONE, 5.3, certain).p_better == 0.62


@pytest.mark.parametrize(
    ("believed", "now", "words"),
    [
        (0.62, 0.6, ""),
        (0.62, 0.8, "the stated chance was 62 %; other runs have been recorded since."),
        (0.62, 0.3, "the stated chance was 62 %; other runs have been recorded since."),
        (0.62, 0.19, "unlikely to succeed: withdraw it and ask for another one."),
        (0.24, 0.15, "the stated chance was 24 %; other runs have been recorded since."),
    ],
)
def test_what_other_runs_have_changed(believed: float, now: float, words: str) -> None:
    then = predicted(3.1, 0.3, believed, (0.0, 1.0))
    said = suggest(DONE, 5.3, predicted(3.1, 0.3, now, (0.0, 1.0)), believed=then).change
    assert said.endswith(words) and bool(said) == bool(words)
    assert suggest(DONE, 5.3, UNSURE).change == ""


def test_nothing_is_said_before_anything_is_known() -> None:
    said = suggest([], 1.0, UNKNOWN, "initial design")
    assert (said.p_feasible, said.band, said.outputs, said.p_better) == (None, None, {}, None)


# -- a whole campaign --------------------------------------------------------------------------


def experiment(heat: float, time: float, resin: str) -> float | str:
    """Heat alone decides whether it works; time decides the value."""
    if heat > 6:
        return "burnt" if time > 10 else ""
    return 10 * math.log(time) + 0.1 * heat


def table(n: int, judge: Callable[..., float | str] = experiment) -> list[list[Any]]:
    """n experiments spread at random, as `import_cells` takes them."""
    rng = RNG(3)
    rows: list[list[Any]] = [["heat", "time", "resin", "strength", "reason"]]
    for _ in range(n):
        design = rng.uniform(0, 10), 10 ** rng.uniform(0, 2), str(rng.choice(["X", "Y"]))
        came = judge(*design)
        rows.append([*design, "failed", came] if isinstance(came, str) else [*design, came, ""])
    return rows


def campaign_of(folder: Path, rows: list[list[Any]] | None = None, **changes: Any) -> Campaign:
    return campaign_in_memory(folder, {**PLAN, **changes}, rows or [])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Insight:
    """Forty experiments and two suggestions."""
    made = campaign_of(tmp_path_factory.mktemp("lab"), table(40))
    made.suggest(2)
    return analyze_campaign(made)


def test_what_drives_what_is_found(finished: Insight) -> None:
    assert finished.failure_importances.parameters[0].name == "heat"
    assert finished.failure_importances.parameters[0].total > 0.7
    assert finished.value_importances.parameters[0].name == "time"
    assert finished.value_importances.parameters[0].main > 0.9
    assert finished.failure_importances.note == ""
    assert [
        len(d.parameters) for d in (finished.failure_importances, finished.value_importances)
    ] == [3, 3]


def test_every_pair_has_a_map_that_knows_the_edge(finished: Insight) -> None:
    maps = finished.maps
    assert [(m.x, m.y) for m in maps.maps] == [
        ("heat", "time"),
        ("heat", "resin"),
        ("time", "resin"),
    ]
    heat_time = maps.maps[0]
    cold, hot = np.array(heat_time.x_values) < 4, np.array(heat_time.x_values) > 8
    assert heat_time.p_feasible[:, cold].min() > 0.5 > heat_time.p_feasible[:, hot].max()
    best = finished.status.best
    assert best is not None
    assert maps.anchor_name == f"the best design, run {best.number}"


def test_maps_have_every_output_with_its_uncertainty(finished: Insight) -> None:
    (name,) = finished.description.outputs.names
    for each in finished.maps.maps:
        layer = each.layers[name]
        assert layer.mean.shape == layer.std.shape == each.p_feasible.shape
        assert layer.std.min() >= 0 and layer.p_kept is None
        assert each.p_better is not None
        assert (each.p_better <= each.p_feasible + 1e-12).all()


def test_maps_go_through_any_run(finished: Insight) -> None:
    run = finished.runs[3]
    maps = finished.maps_through(run.number)
    assert maps.anchor_name == f"run {run.number}"
    assert [near[3] for near in maps.nearness] == [1.0] * 3
    with pytest.raises(NotFound, match="there is no run 999"):
        finished.maps_through(999)


def test_nearness_is_one_in_the_slice(finished: Insight) -> None:
    best = finished.status.best
    for near in finished.maps.nearness:
        assert len(near) == len(finished.runs)
        assert min(near) >= 0.0 and max(near) <= 1.0
        assert near[[run.number for run in finished.runs].index(best.number)] == 1.0


def test_a_fresh_suggestion_is_described_as_it_was_believed(finished: Insight) -> None:
    assert len(finished.suggestions) == 2
    for said in finished.suggestions:
        assert said.p_feasible == pytest.approx(said.p_feasible_before, abs=1e-3)
        assert said.kind in ("edge", "inside", "far", "repeat")


def test_only_what_models_predicted_counts_for_calibration(tmp_path: Path) -> None:
    made = campaign_of(tmp_path, table(12))
    stated = []
    for value in (None, 3.0):
        (asked,) = made.suggest()
        assert asked.believed is not None
        made.record(asked.number, value, failed=value is None)
        stated.append((asked.believed.p_feasible, value is not None))
    found = analyze_campaign(made).calibration
    assert found.n == 2
    assert found.brier == pytest.approx(sum((p - came) ** 2 for p, came in stated) / 2)


def test_a_stated_chance_comes_true_only_if_every_limit_is_kept(tmp_path: Path) -> None:
    rows = [[*row, "viscosity" if not i else 10.0] for i, row in enumerate(table(12))]
    made = campaign_of(tmp_path, rows, limits={"viscosity": {"upper": 12}})
    for viscosity in (11.0, 15.0, None):  # kept, broken, not measured
        (asked,) = made.suggest()
        assert asked.believed is not None
        made.record(asked.number, {"strength": 3.0, "viscosity": viscosity})
    assert analyze_campaign(made).calibration.base_rate == pytest.approx(2 / 3)


def test_without_pending_runs_it_says_what_would_come_next(tmp_path: Path) -> None:
    made = campaign_of(tmp_path, table(12))
    (said,) = analyze_campaign(made).suggestions
    assert said.number is None
    assert len(made.runs) == 12
    (asked,) = made.suggest()
    assert asked.params == said.params


def correct_without_a_change(made: Campaign) -> None:
    run = made.status.best
    assert run is not None
    made.correct(run.number, run.value)


def correct_a_failure(made: Campaign) -> None:
    made.correct(3, failed="melted, too thin")


def undo_twice(made: Campaign) -> None:
    made.undo(5)
    made.undo(5)


def lose_an_added_run(made: Campaign) -> None:
    made.correct(2, lost="power cut")


def withdraw_a_suggestion(made: Campaign) -> None:
    (asked,) = made.suggest()
    made.withdraw(asked.number)


def answer_in_another_order(made: Campaign) -> None:
    first, second = made.suggest(2)
    made.record(second.number, 3.0)
    made.record(first.number, failed="melted")


def lose_a_suggestion(made: Campaign) -> None:
    (asked,) = made.suggest()
    made.record(asked.number, lost="power cut")
    correct_without_a_change(made)


def forbid_a_lost_suggestion(made: Campaign) -> None:
    (asked,) = made.suggest()
    made.record(asked.number, lost="power cut")
    made.change({**PLAN, "constraints": [f"heat <= {asked.params['heat'] / 2}"]})


def study_of(made: Campaign) -> optuna.Study:
    return optuna.load_study(study_name=made.name, storage=open_storage(made.where, heartbeat=None))


def begin_to_suggest(made: Campaign) -> None:
    study_of(made).ask()


def die_while_suggesting(made: Campaign) -> None:
    study_of(made).tell(study_of(made).ask(), state=optuna.trial.TrialState.FAIL)


def enqueue_a_part(made: Campaign) -> None:
    study_of(made).enqueue_trial({"resin": "Y", "heat": 2.5})


def enqueue_a_design(made: Campaign) -> None:
    study_of(made).enqueue_trial({"resin": "Y", "heat": 2.5, "time": 10.0})


def narrow_the_range(made: Campaign) -> None:
    run = made.add({"heat": 10.0, "time": 50.0, "resin": "X"}, 1.0)
    made.correct(run.number, lost="power cut")
    made.change({**PLAN, "parameters": {**PLAN["parameters"], "heat": {"low": 0, "high": 9.9}}})


@pytest.mark.parametrize(
    "change",
    [
        correct_without_a_change,
        correct_a_failure,
        undo_twice,
        lose_an_added_run,
        withdraw_a_suggestion,
        answer_in_another_order,
        lose_a_suggestion,
        forbid_a_lost_suggestion,
        begin_to_suggest,
        die_while_suggesting,
        enqueue_a_part,
        enqueue_a_design,
        narrow_the_range,
    ],
)
def test_what_is_announced_is_what_is_then_suggested(
    tmp_path: Path, change: Callable[[Campaign], None]
) -> None:
    made = Campaign.create(PLAN, tmp_path / "lab.db")
    import_cells(made, table(12))
    change(made)
    (said,) = analyze_campaign(made).suggestions
    (asked,) = made.suggest()
    assert said.params == asked.params
    assert said.remark == asked.remark
    assert made.description.space.is_allowed(asked.params)
    assert (said.kind == "repeat") == (asked.origin in (REPEAT, AGAIN))
    if asked.believed is not None:
        assert said.p_feasible == pytest.approx(asked.believed.p_feasible, abs=1e-3)


def test_a_correction_without_a_change_changes_no_suggestion(tmp_path: Path) -> None:
    made = Campaign.create(PLAN, tmp_path / "lab.db")
    import_cells(made, table(12))
    (before,) = analyze_campaign(made).suggestions
    correct_without_a_change(made)
    undo_twice(made)
    (after,) = analyze_campaign(made).suggestions
    assert after == before


def test_a_repeat_of_a_lost_run_is_recognised(tmp_path: Path) -> None:
    made = campaign_of(tmp_path, table(12))
    (asked,) = made.suggest()
    made.record(asked.number, lost="power cut")
    made.suggest()
    (said,) = analyze_campaign(made).suggestions
    assert (said.kind, said.why) == ("repeat", f"Repeats run {asked.number}, which was lost.")


def always(came: float | str) -> Callable[..., float | str]:
    return lambda *design: came


def test_an_empty_campaign(tmp_path: Path) -> None:
    found = analyze_campaign(campaign_of(tmp_path))
    assert found.suggestions[0].kind == "initial"
    assert found.maps.maps == () and "Not enough yet" in found.maps.note
    assert found.failure_importances.parameters == found.value_importances.parameters == ()
    assert (found.n_failed, found.n_pending, found.n_lost) == (0, 0, 0)


def test_too_few_experiments_are_called_too_few(tmp_path: Path) -> None:
    found = analyze_campaign(campaign_of(tmp_path, table(4)))
    assert (
        found.failure_importances.note
        == "Not enough yet: this needs 3 successes and as many failures."
    )
    assert found.value_importances.note == "Not enough yet: this needs 5 values."
    assert len(found.maps.maps) == 3


def test_nothing_has_worked(tmp_path: Path) -> None:
    found = analyze_campaign(campaign_of(tmp_path, table(12, always("melted"))))
    assert found.suggestions[0].kind == "first"
    assert found.maps.anchor_name == "the next suggestion"
    assert found.maps.maps[0].layers == {}
    assert found.failure_importances.parameters == found.value_importances.parameters == ()


def test_what_was_learned_is_told_also_if_nothing_can_be_suggested(tmp_path: Path) -> None:
    rows = table(4, always("melted"))
    found = analyze_campaign(campaign_of(tmp_path, rows, failures={"budget": 3}))
    assert found.suggestions == ()
    assert found.obstacle.startswith("Nothing can be suggested: the budget of failures allows no")
    assert "add an experiment that is known to work, or raise the budget." in found.obstacle
    assert found.maps.maps and found.maps.anchor_name == "run 3, the last"


def test_nothing_has_failed(tmp_path: Path) -> None:
    found = analyze_campaign(campaign_of(tmp_path, table(12, lambda heat, *rest: heat)))
    assert found.failure_importances.parameters == ()
    assert found.value_importances.parameters[0].name == "heat"
    assert found.value_importances.note == "Only a hint: 12 experiments for 3 parameters."


def test_values_without_differences(tmp_path: Path) -> None:
    found = analyze_campaign(campaign_of(tmp_path, table(12, always(5.0))))
    assert found.value_importances.note == "The models see no difference between designs yet."


def test_a_single_parameter(tmp_path: Path) -> None:
    rows = [["heat", "strength"], *([h, "failed" if h > 6 else h] for h in range(10))]
    found = analyze_campaign(
        campaign_of(tmp_path, rows, parameters={"heat": PLAN["parameters"]["heat"]})
    )
    assert [(m.x, m.y, m.p_feasible.shape) for m in found.maps.maps] == [("heat", "", (1, 41))]
    assert found.failure_importances.note == "There is only one parameter."


def test_of_many_parameters_those_that_drive_failure_are_mapped(tmp_path: Path) -> None:
    names = [f"p{i}" for i in range(8)]
    rng = RNG(0)
    designs = rng.random((60, 8)).tolist()
    rows = [[*names, "strength"], *([*x, "failed" if x[6] > 0.5 else x[0]] for x in designs)]
    parameters = {name: {"low": 0, "high": 1} for name in names}
    found = analyze_campaign(campaign_of(tmp_path, rows, parameters=parameters))
    assert len(found.maps.maps) == 10
    assert any("p6" in (m.x, m.y) for m in found.maps.maps)
    assert found.maps.note == "Shown are the 5 parameters that drive failure most, of 8."


def test_insight_needs_no_plotly() -> None:
    code = "import sys; sys.modules['plotly'] = None; import becbo.insight.insight"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
