"""Distributions to spaces and back."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import optuna
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

from becbo import Categorical, Integer, InvalidInput, LinearConstraint, Real, Space
from becbo.optuna.spaces import (
    PinnedSpace,
    StudySpace,
    all_distributions,
    common_distributions,
    distinct_choices,
    distributions_of,
    parameter_of,
)


def of(kind: Any, *args: Any, **kwargs: Any) -> BaseDistribution:
    """A distribution; Optuna warns when it moves a bound to the grid or doubts a type."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(*args, **kwargs)


@st.composite
def floats(draw: st.DrawFn) -> BaseDistribution:
    low = draw(st.floats(-1e6, 1e6))
    return of(FloatDistribution, low, low + draw(st.floats(1e-3, 1e6)))


@st.composite
def log_floats(draw: st.DrawFn) -> BaseDistribution:
    low = draw(st.floats(1e-12, 1e3))
    return of(FloatDistribution, low, low * draw(st.floats(1.01, 1e6)), log=True)


@st.composite
def stepped_floats(draw: st.DrawFn) -> BaseDistribution:
    step = draw(st.sampled_from([0.1, 0.25, 1 / 3, 1e-3]) | st.floats(1e-3, 10))
    low = draw(st.floats(-100, 100) | st.integers(-100, 100))
    return of(FloatDistribution, low, low + step * draw(st.floats(1, 200)), step=step)


@st.composite
def ints(draw: st.DrawFn) -> BaseDistribution:
    low, step = draw(st.integers(-1000, 1000)), draw(st.integers(1, 50))
    return of(IntDistribution, low, low + draw(st.integers(1, 1000)), step=step)


@st.composite
def log_ints(draw: st.DrawFn) -> BaseDistribution:
    low = draw(st.integers(1, 100))
    return of(IntDistribution, low, low + draw(st.integers(1, 10_000)), log=True)


ANY_CHOICE = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text() | st.tuples(st.none())
)
categoricals = st.lists(ANY_CHOICE, min_size=1, max_size=6).map(
    lambda choices: of(CategoricalDistribution, choices)
)
distributions = st.one_of(
    floats(), log_floats(), stepped_floats(), ints(), log_ints(), categoricals
)


STUDY = optuna.create_study()
quick = settings(max_examples=100, deadline=None, derandomize=True)


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b or (a != a and b != b))


def is_modelled(distribution: BaseDistribution) -> bool:
    try:
        parameter_of("p", distribution)
    except InvalidInput:
        return False
    return True


@quick
@given(distributions, st.integers(0, 2**32))
def test_every_point_is_a_value_that_optuna_takes(
    distribution: BaseDistribution, seed: int
) -> None:
    assume(is_modelled(distribution))
    both = StudySpace.of({"p": distribution})
    space = both.space
    corners = np.vstack([np.zeros(space.dim), np.ones(space.dim)])
    U = np.vstack([corners, np.random.default_rng(seed).random((5, space.dim))])
    for params in space.decode(U):
        seen = both.decode(params)["p"]
        stored = distribution.to_internal_repr(seen)
        assert distribution._contains(stored)
        assert type(seen).__module__ != "numpy"
        # What Optuna stores and reads back is the same design.
        reread = distribution.to_external_repr(stored)
        assert same(reread, seen)
        assert space.validate(both.encode({"p": reread})) == space.validate(params)


@quick
@given(distributions, st.integers(0, 2**31))
def test_every_value_of_optuna_has_a_point(distribution: BaseDistribution, seed: int) -> None:
    assume(not distribution.single() and is_modelled(distribution))
    drawn = optuna.samplers.RandomSampler(seed=seed).sample_independent(
        STUDY, optuna.create_trial(value=0.0), "p", distribution
    )
    # As it is stored: Optuna takes one of 0 and False for the other.
    value = distribution.to_external_repr(distribution.to_internal_repr(drawn))
    both = StudySpace.of({"p": distribution})
    params = both.space.validate(both.encode({"p": value}))
    again = both.decode(params)["p"]
    if isinstance(distribution, FloatDistribution):
        assert again == pytest.approx(value, rel=1e-9, abs=1e-9)
    else:
        assert same(again, value)
    U = both.space.encode([params])
    assert np.all((U >= 0) & (U <= 1))


def test_choices_that_optuna_cannot_tell_apart_are_one() -> None:
    distribution = CategoricalDistribution([1, True, 1.0, "a", 0, False])
    assert parameter_of("p", distribution) == Categorical("p", [0, 3, 4])
    assert distinct_choices(distribution) == [1, "a", 0]


def test_choices_of_any_type() -> None:
    with pytest.warns(UserWarning, match="persistent storage"):
        distribution = CategoricalDistribution([None, (1, 2), math.nan, False])
    both = StudySpace.of({"p": distribution})
    for index, choice in enumerate(distribution.choices):
        assert both.encode({"p": choice}) == {"p": index}
        assert both.decode({"p": index})["p"] is choice


@pytest.mark.parametrize(
    "distribution",
    [
        IntDistribution(0, 10**15),
        FloatDistribution(-1e308, 1e308),
        FloatDistribution(0, 1, step=1e-13),
        CategoricalDistribution([1, True]),
    ],
)
def test_what_becbo_has_no_parameter_for_is_an_error(distribution: BaseDistribution) -> None:
    with pytest.raises(InvalidInput, match="p"):
        parameter_of("p", distribution)


SPACE = Space(
    [
        Real("a", 1, 200, log=True),
        Real("b", 0, 1, step=0.3),
        Integer("c", 2, 15, step=4),
        Integer("d", 1, 100, log=True),
        Categorical("e", ["p", None, True]),
    ],
    constraints=[LinearConstraint({"b": 1, "c": 0.1}, upper=1.5), lambda p: p["e"] != "p"],
)


def test_a_space_becomes_distributions() -> None:
    assert distributions_of(SPACE) == {
        "a": FloatDistribution(1, 200, log=True),
        "b": FloatDistribution(0, 0.9, step=0.3),
        "c": IntDistribution(2, 14, step=4),
        "d": IntDistribution(1, 100, log=True),
        "e": CategoricalDistribution(["p", None, True]),
    }


def test_the_engine_sees_a_space_as_it_is() -> None:
    """And its columns are those of the distributions, so that models see the same either way."""
    both = StudySpace.of(SPACE)
    assert both.space is SPACE
    by_index = StudySpace.of(both.distributions)
    U = np.random.default_rng(0).random((50, SPACE.dim))
    for params in SPACE.decode(U):
        seen = both.decode(params)
        assert both.encode(seen) == seen == pytest.approx(params)
        indexed = by_index.space.validate(by_index.encode(seen))
        columns = SPACE.encode([SPACE.validate(seen)])
        assert np.array_equal(by_index.space.encode([indexed]), columns)


def test_a_part_of_a_space() -> None:
    space = StudySpace.of(Space(SPACE.parameters))
    part = space.only(["a", "e"])
    assert (list(part.distributions), part.space.names) == (["a", "e"], ("a", "e"))
    assert space.only(SPACE.names) is space
    with pytest.raises(InvalidInput, match="need all of"):
        StudySpace.of(SPACE).only(["a", "e"])


def test_a_space_that_optuna_would_confuse_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="Optuna cannot tell"):
        distributions_of(Space([Categorical("p", [1, True])]))


def test_a_pinned_space_has_the_given_values_and_no_others() -> None:
    names = {"a": 7.0, "c": 6, "e": None}
    space = PinnedSpace(SPACE, names)
    U = space.snap(np.random.default_rng(0).random((50, space.dim)))
    assert all(names.items() <= params.items() for params in space.decode(U))
    assert np.allclose(U, space.encode(space.decode(U)), atol=1e-9)
    assert space.size == 4 * 100  # of b and d
    A, b = space.polytope()
    assert np.all(U @ A.T <= b + 1e-9, axis=1).tolist() == [
        p["b"] + 0.1 * p["c"] <= 1.5 for p in space.decode(U)
    ]
    columns = [columns for columns, _ in space.options()]
    assert columns == list(space.columns)
    other = {"a": 1.0, "b": 0.3, "c": 2, "d": 1, "e": True}
    assert space.decode(space.encode([space.validate(other)])) == [{**other, **names}]


F, G, K = FloatDistribution(0, 1), FloatDistribution(0, 2), CategoricalDistribution(["a", "b"])
DONE, FAIL = TrialState.COMPLETE, TrialState.FAIL


def trial(state: TrialState, **given_: BaseDistribution) -> FrozenTrial:
    values = {name: "a" if d is K else 0.5 for name, d in given_.items()}
    value = 0.0 if state is DONE else None
    return optuna.create_trial(state=state, params=values, distributions=given_, value=value)


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        ([], {}),
        ([trial(DONE, y=F, x=F)], {"x": F, "y": F}),
        # Nothing but failures.
        ([trial(FAIL, x=F, y=F)], {"x": F, "y": F}),
        # One of them stopped early, one before its first parameter.
        ([trial(FAIL, x=F), trial(FAIL, x=F, y=F), trial(FAIL)], {"x": F, "y": F}),
        # A branch of its own, whether it works or not.
        ([trial(DONE, k=K, x=F), trial(DONE, k=K, y=F)], {"k": K}),
        ([trial(DONE, k=K, x=F), trial(FAIL, k=K, y=F)], {"k": K}),
        ([trial(DONE, k=K, x=F), trial(DONE, k=K)], {"k": K}),
        # Another range.
        ([trial(DONE, x=F, y=F), trial(DONE, x=F, y=G)], {"x": F}),
        # Still running.
        ([trial(DONE, x=F, y=F), trial(TrialState.RUNNING, x=F)], {"x": F, "y": F}),
    ],
)
def test_common_distributions(
    trials: list[FrozenTrial], expected: dict[str, BaseDistribution]
) -> None:
    found = common_distributions(trials)
    assert found == expected
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        ([], {}),
        ([trial(DONE, y=F, x=F)], {"x": F, "y": F}),
        ([trial(DONE, k=K, x=F), trial(FAIL, k=K, y=F)], {"k": K, "x": F, "y": F}),
        # Another range, in any of them.
        ([trial(DONE, x=F, y=F), trial(DONE, x=F, y=G)], {"x": F}),
        ([trial(DONE, y=F), trial(DONE, y=G), trial(DONE, x=F, y=F)], {"x": F}),
        # Still running.
        ([trial(DONE, x=F), trial(TrialState.RUNNING, x=F, y=F)], {"x": F}),
    ],
)
def test_all_distributions(
    trials: list[FrozenTrial], expected: dict[str, BaseDistribution]
) -> None:
    found = all_distributions(trials)
    assert found == expected
    assert list(found) == sorted(found)
