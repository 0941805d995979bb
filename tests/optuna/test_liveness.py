"""Who is silent, and how long to wait for a storage: with clocks of the tests' own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import DataError, OperationalError

from becbo.optuna import breakage
from becbo.optuna.breakage import Patience, last_words
from becbo.optuna.liveness import Watch

GRACE = 90.0
BEAT = 30.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.floats(0.01, 29.0), min_size=1, max_size=60), st.booleans())
def test_silence_is_noticed_after_the_grace_period(pauses: list[float], has_begun: bool) -> None:
    """Whether its worker died before the first sign of life or later."""
    clock = Clock()
    watch = Watch(GRACE, clock)
    sign = 1 if has_begun else None
    assert watch.silent({7: sign}) == []
    for pause in pauses:
        clock.now += pause
        assert watch.silent({7: sign}) == ([7] if clock.now >= GRACE - 1e-9 else [])


@given(st.lists(st.tuples(st.floats(0.01, 10_000.0), st.floats(0.0, BEAT)), max_size=30))
def test_nobody_who_gives_signs_is_silent(looks: list[tuple[float, float]]) -> None:
    """However long nobody looked: the storage was away, or all processes were suspended."""
    clock = Clock()
    watch = Watch(GRACE, clock)
    sign = 0
    watch.silent({7: sign})
    for away, soon in looks:
        clock.now += away  # and no sign got through
        assert watch.silent({7: sign}) == []
        clock.now += soon  # now one does
        sign += 1
        assert watch.silent({7: sign}) == []


def test_a_trial_that_is_new_has_all_its_time() -> None:
    clock = Clock()
    watch = Watch(GRACE, clock)
    for _ in range(10):
        clock.now += 20.0
        watch.silent({})
    assert watch.silent({7: None}) == []
    clock.now += 20.0
    assert watch.silent({7: None}) == []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of `Patience`, which sleeping sets forward."""
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr(breakage.time, "monotonic", clock)
    monkeypatch.setattr(breakage.time, "sleep", sleep)
    return clock


def away(kind: Any = OperationalError) -> StorageInternalError:
    error = StorageInternalError("it failed")
    error.__cause__ = kind("SELECT 1", {}, Exception("the server\n has gone"))
    return error


def test_patience_lasts_as_long_as_it_says(clock: Clock) -> None:
    said: list[str] = []
    patience = Patience(60, said.append)

    def never() -> None:
        raise away()

    with pytest.raises(StorageInternalError):
        patience.repeat(never)
    assert 60 <= clock.now <= 70
    assert said == [
        "the storage does not answer: the server has gone; trying again for up to 60 seconds"
    ]


def test_patience_begins_anew_when_the_storage_answers(clock: Clock) -> None:
    said: list[str] = []
    patience = Patience(60, said.append)
    for _ in range(3):
        failures = iter([away()] * 12)

        def later(failures: Any = failures) -> int:
            for error in failures:
                raise error
            return 3

        assert patience.repeat(later) == 3
    assert clock.now > 60
    assert [text.split(",")[0] for text in said[1::2]] == ["the storage answers again"] * 3


def test_what_waiting_does_not_mend_is_raised_at_once(clock: Clock) -> None:
    said: list[str] = []

    def broken() -> None:
        raise away(DataError)

    with pytest.raises(StorageInternalError):
        Patience(60, said.append).repeat(broken)
    assert (clock.now, said) == (0.0, [])


def test_the_words_of_a_file_system() -> None:
    error = StorageInternalError("it failed")
    error.__cause__ = OSError(28, "No space left on device", "study.journal")
    assert last_words(error) == "No space left on device: study.journal"
