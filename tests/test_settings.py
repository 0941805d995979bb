"""Settings and checks: what is refused at once, and with which words."""

import math
import re
from dataclasses import FrozenInstanceError
from decimal import Decimal

import numpy as np
import pytest

from becbo import InvalidInput, Settings
from becbo.checks import finite_value, number_in, whole_number


def test_the_defaults() -> None:
    settings = Settings(seed=3)
    assert settings == Settings("edge", 3, 10, False, None)


def test_a_seed_is_drawn_once() -> None:
    one, other = Settings(), Settings()
    assert isinstance(one.seed, int) and one.seed != other.seed
    assert Settings(**vars(one)) == one


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().seed = 3  # type: ignore[misc]


def test_numpy_numbers_become_plain_ones() -> None:
    settings = Settings(
        seed=np.int64(5), n_initial=np.int32(3), noisy=np.True_, risk=np.float32(0.5)
    )
    assert (settings.seed, settings.n_initial, settings.noisy, settings.risk) == (5, 3, True, 0.5)
    assert type(settings.seed) is type(settings.n_initial) is int


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
        ({"seed": 1.5}, "seed 1.5 must be a whole number of at least 0"),
        ({"seed": True}, "seed True must be a whole number"),
        ({"n_initial": 0}, "n_initial 0 must be a whole number of at least 1"),
        ({"n_initial": None}, "n_initial None must be a whole number"),
        ({"n_planned": 0}, "n_planned 0 must be a whole number of at least 1"),
        ({"n_planned": 9.5}, "n_planned 9.5 must be a whole number of at least 1"),
        ({"noisy": "no"}, "noisy 'no' must be True or False"),
        ({"noisy": 1}, "noisy 1 must be True or False"),
        ({"risk": 0}, "risk 0 must lie between 0 and 1"),
        ({"risk": 1.0}, "risk 1.0 must lie between 0 and 1: the chance of failure you accept"),
        ({"risk": "low"}, "risk 'low' must lie between 0 and 1"),
        ({"risk": math.nan}, "risk nan must lie between 0 and 1"),
    ],
)
def test_a_bad_setting_is_named(wrong: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Settings(**wrong)


# -- checks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [4, np.int8(4), np.uint64(4)])
def test_whole_numbers(value) -> None:
    number = whole_number("count", value)
    assert number == 4 and type(number) is int


@pytest.mark.parametrize("value", [0, -1, 4.0, "4", None, True, np.True_, np.float64(4)])
def test_what_is_no_whole_number(value) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"count {value!r} must be a whole number of")):
        whole_number("count", value)


def test_the_smallest_whole_number_is_allowed() -> None:
    assert whole_number("count", 0, at_least=0) == 0
    with pytest.raises(InvalidInput, match="count 1 must be a whole number of at least 2"):
        whole_number("count", 1, at_least=2)


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), Decimal(3), np.array(3.0)])
def test_numbers(value) -> None:
    for check in (number_in, finite_value):
        number = check(value)
        assert number == 3.0 and type(number) is float


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_may_be_infinite_and_finite_values_not(value: float) -> None:
    assert number_in(value) == value or math.isnan(value)
    with pytest.raises(InvalidInput, match=f"cost {value} is not finite; try again"):
        finite_value(value, "cost", "try again")


@pytest.mark.parametrize("value", ["3", b"3", True, np.False_, None, [1.0], 1j, 10**400])
@pytest.mark.parametrize("check", [number_in, finite_value])
def test_what_is_no_number(check, value) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"cost {value!r} is not a number; try again")):
        check(value, "cost", "try again")
    with pytest.raises(InvalidInput, match=r"use fail\(trial\), or failed=True, if it failed"):
        check(value)
