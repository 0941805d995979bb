"""Why an experiment failed: parsed once, told apart, and given back in the same words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Infeasible, InvalidInput
from becbo.reasons import NO_REASONS, Reasons, recurring

steady = settings(deadline=None, derandomize=True)

TEXTS = st.text(alphabet='ab ,;:1"(.', max_size=12)


@pytest.mark.parametrize(
    "said, names, complete",
    [
        ("melted", ("melted",), False),
        ("  too hot ", ("too hot",), False),
        ("hot, thin", ("hot", "thin"), True),
        ("hot; thin; bent", ("hot", "thin", "bent"), True),
        ("hot,", ("hot",), False),  # one reason and a stray comma
        (", ;", (), False),
        ("", (), False),
        (None, (), False),
        ('"hot, or so"', ('"hot, or so"',), False),
        ('"hot, or so", thin', ('"hot, or so"', "thin"), True),
        ("violated: a, b", ("violated: a", "violated: b"), True),
        ("violated: a, missed: b, c", ("violated: a", "missed: b", "missed: c"), True),
        ("solver said:", ("solver said:",), False),  # nothing follows the colon
        ("hot, solver said: ", ("hot", "solver said:"), True),
        ('pipe 3" wide, thin', ('pipe 3" wide', "thin"), True),  # a quote nobody closes
    ],
)
def test_names_and_whether_they_are_all(said, names: tuple[str, ...], complete: bool) -> None:
    reasons = Reasons.parse(said)
    assert (reasons.names, reasons.complete) == (names, complete)


@pytest.mark.parametrize(
    "error, text",
    [
        (Infeasible("hot, thin"), "hot, thin"),  # in the user's own words: a list
        (Infeasible(), "failed"),
        (ValueError("melted"), "ValueError: melted"),
        (ValueError(), "ValueError"),
        (ValueError("stuck, aborting"), 'ValueError: "stuck, aborting"'),
        (ValueError("a; b"), 'ValueError: "a; b"'),
        (ValueError('no "mesh", stopped'), "ValueError: \"no 'mesh', stopped\""),
        (OSError(2, "full"), "FileNotFoundError: [Errno 2] full"),
        (ValueError("it said:"), "ValueError: it said:"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
    ids=repr,
)
def test_exceptions_in_words(error: BaseException, text: str) -> None:
    assert str(Reasons.parse(error)) == text


@steady
@given(st.text(max_size=30))
def test_an_exception_is_one_reason_however_many_commas_it_has(message: str) -> None:
    reasons = Reasons.parse(RuntimeError(message))
    assert len(reasons.names) == 1 and not reasons.complete


@pytest.mark.parametrize("wrong", [3, ["hot", "thin"], b"hot", ("a",), True])
def test_anything_else_is_refused(wrong) -> None:
    with pytest.raises(InvalidInput, match="must be a string; separate reasons by commas"):
        Reasons.parse(wrong)


@steady
@given(TEXTS)
def test_the_words_come_back_and_read_the_same(text: str) -> None:
    reasons = Reasons.parse(text)
    assert str(reasons) == text
    assert Reasons.parse(str(reasons)) == reasons == Reasons.parse(reasons)
    assert all(name.strip() == name != "" for name in reasons.names)
    assert reasons.complete == (len(reasons.names) > 1)


@steady
@given(st.text(alphabet="ab ,;:1(.", max_size=12))  # a quote may be closed far away
def test_each_name_is_a_reason_by_itself(text: str) -> None:
    for name in Reasons.parse(text).names:
        assert Reasons.parse(name).names == (name,)


def test_nothing_said_is_falsy() -> None:
    assert not NO_REASONS and not Reasons.parse(None) and not Reasons.parse("")
    assert Reasons.parse("hot")
    assert Reasons.parse(None) is NO_REASONS


# -- names of limits ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said, is_named",
    [
        ("viscosity", True),
        ("Viscosity ", True),
        ("VISCOSITY", True),
        ("viscosity 340", True),
        ("viscosity 340 > 200", True),
        ("violated: viscosity", True),
        ("violated: strength, viscosity", True),
        ("gel; viscosity", True),
        ('ValueError: "viscosity, again"', True),
        ("viscosity was too high", False),
        ("low viscosity", False),
        ("viscosity: sensor broken", False),
        ("gel", False),
        ("", False),
    ],
)
def test_a_limit_is_named_by_its_name_alone(said: str, is_named: bool) -> None:
    reasons = Reasons.parse(said)
    assert reasons.mentions("viscosity") == is_named
    assert reasons.mentions("  vIsCoSiTy") == is_named


@pytest.mark.parametrize("name", ["limit 1", "pH", "shear stress", "x_2", "T(max)"])
def test_any_name_is_found_as_it_is_written(name: str) -> None:
    assert Reasons.parse(name).mentions(name)
    assert Reasons.parse(f"violated: {name}, other").mentions(name)


def test_numbered_limits_are_not_mixed_up() -> None:
    assert not Reasons.parse("limit 1").mentions("limit 2")


def test_without_leaves_the_other_reasons() -> None:
    reasons = Reasons.parse("gel, viscosity 340, Strength")
    rest = reasons.without(["viscosity", "strength"])
    assert (rest.names, rest.complete) == (("gel",), True)  # still all that is left
    assert reasons.without([]) is reasons
    assert reasons.without(["ph"]) is reasons
    assert reasons.without(["gel", "viscosity", "strength"]).names == ()


@steady
@given(TEXTS, st.lists(st.sampled_from(["a", "b", "ab", "a b"]), max_size=3))
def test_without_and_mentions_agree(text: str, names: list[str]) -> None:
    reasons = Reasons.parse(text)
    rest = reasons.without(names)
    assert not any(rest.mentions(name) for name in names)
    assert set(rest.names) <= set(reasons.names)
    if not any(reasons.mentions(name) for name in names):
        assert rest == reasons


# -- kinds -------------------------------------------------------------------------------------


def kinds(said) -> np.ndarray:  # (n, k)
    names, rows = recurring([Reasons.parse(text) for text in said])
    return np.array(rows, dtype=bool).reshape(len(said), len(names))


@pytest.mark.parametrize(
    "reasons, told",
    [
        (["melted", "Melted ", "cracked", "cracked"], ["aabb"]),
        (["stress 312 > 300", "stress 305 > 300", None, None], ["aa--"]),
        (["melted", "cracked", "bent", None], ["----"]),  # each once
        (["a; b", "a", "b", None], ["xab-"]),  # x: both
        (["violated: a", "violated: b", "violated: a, b", None], ["abx-"]),
        (["RuntimeError: melted", "RuntimeError: melted", "OSError", "OSError"], ["aabb"]),
        (["E: melted at 310", "E: melted at 300.5", "E: bent", "E: 7"], ["aabb"]),  # b: E
        (["melted: 300 C", "melted: 310 C", "bent: 5 C", "bent: 6 C"], ["aabb"]),
        (["limit 1", "limit 1", "limit 2", "limit 2"], ["aabb"]),
        (["exit 139", "exit 139", "139", "139"], ["aabb"]),
        (["312 MPa", "305MPa", "MPa", None], ["a-a-"]),
        (["", "  ", "12", None], ["----"]),
        (["E: stuck at 3, aborting", "E: stuck at 5, aborting", "bent", "bent"], ["aabb"]),
        (['"a, b"', '"a, b"', "a", "b"], ["aaa-"]),
        (["E: \"(2, 'full')\"", "E: \"(3, 'full')\"", "E: bent", "E: bent"], ["aabb"]),
        (['E: "full. 2 GiB, so"', 'E: "full. 3 MiB, or"', "E: bent", "E: bent"], ["aabb"]),
        (['E: "at 3 C, x"', 'E: "at 4 C; y"', '3" pipe', '4" pipe'], ["aabb"]),
    ],
)
def test_reasons_tell_failures_apart(reasons: list[str | None], told: list[str]) -> None:
    groups = [[c in ("x", name) for c in told[0]] for name in sorted(set(told[0]) - set("-x"))]
    found = kinds(reasons)
    assert found.shape == (4, len(groups)) and found.dtype == bool
    assert sorted(found.T.tolist()) == sorted(groups)


def test_there_are_at_most_eight_kinds() -> None:
    words = ["melted", "cracked", "bent", "broke", "stuck", "burnt", "leaked", "fell", "froze"]
    found = kinds([w for w in words for _ in range(2)] + ["froze"])
    assert found.shape == (19, 8)
    assert found[:, 0].tolist() == [False] * 16 + [True] * 3  # the most frequent first


def test_kinds_have_names() -> None:
    said = ["Melted at 310", "melted at 305", "bent", "violated: a", "bent", "violated: a"]
    names, rows = recurring([Reasons.parse(text) for text in said])
    assert sorted(names) == ["bent", "melted at", "violated: a"]
    assert [sum(row) for row in rows] == [1] * 6


@steady
@given(st.lists(st.none() | st.text(alphabet='ab ,;:1"(.', max_size=9), max_size=12))
def test_every_kind_was_seen_more_than_once(reasons: list[str | None]) -> None:
    found = kinds(reasons)
    counts = found.sum(axis=0)
    assert len(found) == len(reasons)
    assert (counts > 1).all() and (np.diff(counts) <= 0).all()
    assert len(np.unique(found, axis=1).T) == len(found.T)


@steady
@given(st.lists(st.sampled_from(["melted", "bent", "cracked"]), max_size=9))
def test_repeated_reasons_are_the_kinds(reasons: list[str]) -> None:
    wanted = sorted(
        [r == kind for r in reasons] for kind in set(reasons) if reasons.count(kind) > 1
    )
    assert sorted(kinds(reasons).T.tolist()) == wanted
