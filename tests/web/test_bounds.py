"""How large a description may be, wherever it enters."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Done
from web.lab import Site

from becbo.campaign import bounds
from becbo.campaign.describing import describe, read_description
from becbo.campaign.store import checked_description
from becbo.errors import InvalidInput
from becbo.optimizer import Optimizer
from becbo.settings import MAX_INITIAL, MAX_SEED
from becbo.space import Real, Space

RANGE = {"low": 0, "high": 1}
ONE = {"a": RANGE}


def described(**content: Any) -> dict[str, Any]:
    return {"name": "new", "parameters": ONE, **content}


def many(n: int, parameter: Any = RANGE) -> dict[str, Any]:
    return {f"p{i}": parameter for i in range(n)}


TOO_LARGE = [
    (described(n_initial=10**9), "n_initial 1000000000 is too large; use at most 10000"),
    (described(parameters=many(10_000)), "10000 parameters are too many; use at most 200"),
    (
        described(parameters={"a": {"choices": list(range(200_000))}}),
        "200000 choices are too many; use at most 200",
    ),
    (
        described(parameters=many(20, {"choices": list(range(60))})),
        "1200 numbers and choices are too many; use at most 1000",
    ),
    (described(constraints=["a <= 0.9"] * 201), "201 constraints are too many"),
    (described(constraints=["a" + " + a" * 600 + " <= 1"]), "characters are too many"),
    (described(budget=10**300), "is too large; use at most 1000000"),
    (described(seed=10**300), "is too large"),
    (described(note="x" * 5001), "note: 5001 characters are too many"),
    (described(parameters={"a": {**RANGE, "unit": "m" * 101}}), "unit: 101 characters"),
    (described(parameters={"a": {"choices": ["x" * 5001, "y"]}}), "5001 characters"),
    (described(objective={"name": "y", "note": "x" * 5001}), "5001 characters"),
]
large = pytest.mark.parametrize(("content", "words"), TOO_LARGE)


@large
def test_a_dict(content: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        describe(content)


@large
def test_the_rest_interface(shared_site: Site, content: dict[str, Any], words: str) -> None:
    answer = shared_site.json("/api/campaigns", content)
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True)


@large
def test_designs_for_a_history_of_the_caller(
    shared_site: Site, content: dict[str, Any], words: str
) -> None:
    answer = shared_site.json("/api/suggest", {"description": content, "trials": []})
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True)


@large
def test_a_file_and_the_page(
    shared_site: Site, tmp_path: Path, content: dict[str, Any], words: str
) -> None:
    text = json.dumps(content)
    words = words if _fits(text) else "it is too long"
    path = tmp_path / "new.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        read_description(path)
    answer = shared_site.send("/new/file", files={"file": ("new.json", text)})
    assert (answer.status_code, words in answer.text) == (422, True)


def _fits(text: str) -> bool:
    n_brackets = text.count("[") + text.count("{")
    return len(text) <= bounds.MAX_DESCRIPTION and n_brackets <= bounds.MAX_BRACKETS


def test_the_command_line(becbo: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text("[" * 20_000)
    done = becbo("new", "new.yaml")
    assert (done.code, "1000 brackets" in done.err) == (2, True)
    (tmp_path / "new.yaml").write_text(
        "name: x\nn_initial: 1000000000\nparameters: {a: {low: 0, high: 1}}"
    )
    done = becbo("new", "new.yaml")
    assert (done.code, "use at most 10000" in done.err) == (2, True)


def test_programs() -> None:
    with pytest.raises(InvalidInput, match="n_initial 10001 is too large"):
        Optimizer(Space([Real("a", 0, 1)]), n_initial=MAX_INITIAL + 1)


def test_what_is_just_small_enough() -> None:
    names = [f"p{i}" for i in range(bounds.MAX_PARAMETERS)]
    constraints = [f"{name} <= 0.9" for name in names]
    made = checked_description(
        described(
            parameters=dict.fromkeys(names, RANGE),
            constraints=constraints[: bounds.MAX_CONSTRAINTS],
            n_initial=MAX_INITIAL,
            budget=bounds.MAX_BUDGET,
            seed=MAX_SEED,
            note="x" * bounds.MAX_NOTE,
        )
    )
    assert len(made.space.names) == bounds.MAX_PARAMETERS


def test_the_guide_names_all_bounds() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "lab.md").read_text(encoding="utf-8")
    table = guide[guide.index("| what | at most |") :].partition("\n\n")[0]
    for name in dir(bounds):
        if name.startswith("MAX_") and name != "MAX_BRACKETS":
            assert f"{getattr(bounds, name):,}" in table, name
    assert f"{MAX_INITIAL:,}" in table
