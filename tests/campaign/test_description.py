"""Descriptions: what is written down is what comes back, and what is wrong is named."""

import json
import math
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from coating import COATING
from descriptions import contents
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import Categorical, InvalidInput, LinearConstraint, Objective, Real, Settings
from becbo.campaign.describing import describe, read_description
from becbo.campaign.description import Description, LabParameter
from becbo.campaign.formulas import read_constraint
from becbo.campaign.notation import parse
from becbo.campaign.store import checked_description
from becbo.outputs import Outputs

EXAMPLE = Path(__file__).parents[2] / "examples/coating.yaml"
X = {"low": 0, "high": 1}
steady = settings(deadline=None, derandomize=True, max_examples=60)


@steady
@given(contents())
def test_round_trips(content: dict[str, Any]) -> None:
    described = describe(content)
    assert describe(described.to_dict()) == described
    assert describe(json.loads(json.dumps(described.to_dict()))) == described
    assert describe(parse(".yaml", described.to_yaml())) == described


def test_what_is_left_out_stays_out() -> None:
    short = {"name": "a", "parameters": {"x": X}}
    assert describe(short).to_dict() == short


def test_an_objective_beside_other_outputs_is_written_down() -> None:
    content = {"name": "a", "objective": {}, "limits": {"y": {"upper": 2}}, "parameters": {"x": X}}
    written = describe(content).to_dict()
    assert written["objective"] == {"name": "value"}
    assert describe(written) == describe(content)


def test_a_parameter_may_be_called_as_the_objective_is_by_default() -> None:
    content = {
        "name": "c",
        "objective": {"name": "hardness"},
        "parameters": {"value": {"low": 0.0, "high": 1.0}},
    }
    assert describe(content).to_dict() == content


def test_the_example_says_everything() -> None:
    described = read_description(EXAMPLE)
    assert [p.heading for p in described.parameters] == [
        "temperature [°C]",
        "time [h]",
        "bias [V]",
        "layers",
        "gas",
    ]
    assert described.space.parameters[2] == Real("bias", -200, 0, step=10)
    assert described.space.constraints == (
        LinearConstraint({"temperature": 1.0, "layers": 10.0}, upper=480.0),
    )
    commented = [line for line in EXAMPLE.read_text().splitlines() if line.startswith("# ")]
    for setting in ("method", "risk", "failures", "noisy", "n_initial", "seed"):
        assert any(line.startswith(f"# {setting}: ") for line in commented)


def test_what_is_planned_is_the_budget() -> None:
    described = describe(COATING)
    assert described.planned == replace(described.settings, n_planned=20)
    with pytest.raises(InvalidInput, match="n_planned 7: give the budget of the campaign instead"):
        replace(described, settings=Settings(seed=0, n_planned=7))


def test_the_same_in_three_notations(tmp_path: Path) -> None:
    texts = {
        "a.yaml": "name: a\nparameters: {x: {low: 1e-5, high: 1, log: true}}\nbudget: 010",
        "a.toml": 'name = "a"\nbudget = 10\n[parameters]\nx = {low = 1e-5, high = 1, log = true}',
        "a.json": '{"name": "a", "parameters": {"x": {"low": 1e-5, "high": 1, "log": true}},'
        '"budget": 10}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    first, *others = [read_description(tmp_path / name) for name in texts]
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[on, off]", ("on", "off")),  # not True and False
        ("[no, dk]", ("no", "dk")),
        ("[12:30, 2024-01-01]", ("12:30", "2024-01-01")),  # neither 750 nor a date
        ("[true, false]", (True, False)),
        ("[1e3, 010, 1.5]", (1000.0, 10, 1.5)),
        ("['1e3', '010']", ("1e3", "010")),
    ],
)
def test_yaml_means_what_people_think(written: str, read: tuple[Any, ...]) -> None:
    content = parse(".yaml", f"name: a\nparameters: {{x: {{choices: {written}}}}}")
    parameter = describe(content).space.parameters[0]
    assert isinstance(parameter, Categorical)
    assert parameter.choices == read
    assert list(map(type, parameter.choices)) == list(map(type, read))


def test_an_objective_may_be_a_mere_name() -> None:
    described = describe({"name": "a", "parameters": {"x": X}, "objective": "yield"})
    assert described.outputs == Outputs.of(Objective("yield", "minimize"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"low": 150, "high": 450, "unit": "°C"}, "150 to 450 °C"),
        ({"low": 150, "high": 450, "step": 5, "unit": "°C"}, "150 to 450 °C, in steps of 5"),
        ({"low": 0.5, "high": 24, "log": True, "unit": "h"}, "0.5 to 24 h, on a logarithmic scale"),
        ({"low": 1, "high": 6, "integer": True}, "1 to 6, whole numbers"),
        ({"low": 0, "high": 6, "integer": True, "step": 2}, "0 to 6, whole numbers, in steps of 2"),
        ({"choices": ["argon", 2]}, "argon, 2"),
    ],
)
def test_what_can_be_set_in_words(given: dict[str, Any], words: str) -> None:
    assert describe({"name": "a", "parameters": {"x": given}}).parameters[0].allowed == words


def test_python_is_checked_too() -> None:
    with pytest.raises(InvalidInput, match=r"unit '\\n' must not contain line breaks"):
        LabParameter(Real("x", 0, 1), unit="\n")
    with pytest.raises(InvalidInput, match="parameters: name at least one"):
        Description("a", ())


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("2*a + b <= 10", LinearConstraint({"a": 2, "b": 1}, upper=10)),
        ("a >= b", LinearConstraint({"a": 1, "b": -1}, lower=0)),
        ("1 <= a + b < 3", LinearConstraint({"a": 1, "b": 1}, lower=1, upper=3)),
        ("3 >= a + 1 >= 1", LinearConstraint({"a": 1}, lower=0, upper=2)),
        ("-(a - 3)/2 + a < +b*4", LinearConstraint({"a": 0.5, "b": -4}, upper=-1.5)),
        ("a <= 1e3 + 2*3", LinearConstraint({"a": 1}, upper=1006)),
        (" `cooling rate` <= 3", LinearConstraint({"cooling rate": 1}, upper=3)),
        ("2*`in` <= µ", LinearConstraint({"in": 2, "µ": -1}, upper=0)),  # noqa: RUF001
    ],
)
def test_constraints(text: str, constraint: LinearConstraint) -> None:
    assert read_constraint(text, ["a", "b", "cooling rate", "in", "µ"]) == constraint


@steady
@given(
    st.lists(st.tuples(st.sampled_from("+-"), st.integers(1, 9), st.sampled_from("abc1"))),
    st.lists(st.tuples(st.sampled_from("+-"), st.integers(1, 9), st.sampled_from("abc1"))),
    st.sampled_from(["<=", ">="]),
    st.fixed_dictionaries(dict.fromkeys("abc", st.integers(-50, 50))),
)
def test_constraints_mean_what_python_means(
    left: list[tuple[str, int, str]],
    right: list[tuple[str, int, str]],
    sign: str,
    params: dict[str, int],
) -> None:
    sides = [" ".join(f"{op} {n}*{x}" for op, n, x in side) or "0" for side in (left, right)]
    text = f" {sign} ".join(sides)
    try:
        constraint = read_constraint(text, ["a", "b", "c"])
    except InvalidInput as error:
        assert "contains no parameter" in str(error)
    else:
        assert constraint(params) == eval(text, params.copy())


@steady
@given(st.text(string.ascii_lowercase + string.digits + " <>=+-*/().`,'\"[]{}:", max_size=30))
def test_any_text_is_a_constraint_or_refused(text: str) -> None:
    try:
        read_constraint(text, ["a", "b"])
    except InvalidInput as error:
        assert str(error).startswith("constraint ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a + c <= 1", r"'c' is not one of the numeric parameters \(a, b\)"),
        ("a * b == 1", "only sums of parameters times numbers can be equal"),
        ("a <= 1/0", "divides by 0"),
        ("abs(a) <= 1", "only . - "),
        ("a % 2 <= 1", "only . - "),
        ("a + b", "it has no <=, >= or =="),
        ("a != b", "compare with <=, >= or =="),
        ("0 <= a == b", "compare with <=, >= or =="),
        ("0 <= a >= b", "compare with <=, >= or =="),
        ("a == b == 1", "of three parts"),
        ("power = a * b", "'power' is not one of the numeric parameters"),
        ("a = b <= 3", "compare with <=, >= or =="),
        ("0 <= a <= 1 <= b", "of three parts"),
        ("a <= b <= 1", "of three parts"),
        ("1 <= 2", "contains no parameter"),
        ("3 <= a <= 1", "lower 3.0 is above upper 1.0"),
        ("a <= 1" + "0" * 400, "too large"),
        ("a <= 1e999", "too large"),
        ("two words <= 1", "backticks"),
        ("-" * 9000 + "a <= 1", "constraint '---"),
        (3, "constraint 3"),
    ],
)
def test_constraints_that_cannot_be(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_constraint(text, ["a", "b"])


def test_a_constraint_on_a_logarithmic_parameter() -> None:
    content = {
        "name": "a",
        "parameters": {"x": {"low": 1, "high": 100, "log": True}, "y": X},
        "constraints": ["x + y <= 10"],
    }
    space = describe(content).space
    assert space.is_allowed({"x": 9.0, "y": 0.5})
    assert not space.is_allowed({"x": 9.8, "y": 0.5})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "name: give a name"),
        ({"name": 5}, "name: 5 must be a name; put it in quotes"),
        ({"name": "a[b]"}, r"'a\[b\]' must not contain"),
        ({"name": "a" * 101}, "longer than 100"),
        ({"colour": 1}, "unknown 'colour'; it can have name, objective"),
        ({"parameters": {}}, "parameters: give at least one"),
        ({"parameters": [1]}, "parameters: give at least one"),
        ({"parameters": {"x": 5}}, "parameter 'x': 5 must have entries such as `low"),
        ({"parameters": {True: X}}, "True must be a name; put it in quotes"),
        ({"parameters": {"Number": X}}, "'Number' is a column of every table"),
        ({"parameters": {"x": {"low": 0}}}, "'x' needs low and high, or choices"),
        ({"parameters": {"x": {"low": 0, "high": "hot"}}}, "high = 'hot' is not a number"),
        ({"parameters": {"x": {"low": 2, "high": 1}}}, r"low 2.0 must be below high 1.0"),
        ({"parameters": {"x": {**X, "log": True}}}, "needs low > 0"),
        ({"parameters": {"x": {**X, "log": "yes"}}}, "log 'yes' must be true or false"),
        ({"parameters": {"x": {**X, "integer": True, "low": 0.5}}}, "low 0.5 must be a whole"),
        ({"parameters": {"x": {**X, "colour": 1}}}, "unknown 'colour'; it can have low"),
        ({"parameters": {"x": {**X, "unit": 5}}}, "unit 5 must be text; put it in quotes"),
        ({"parameters": {"x": {"choices": "abc"}}}, "choices 'abc' must be a list"),
        ({"parameters": {"x": {"choices": ["a"]}}}, "at least two choices"),
        ({"parameters": {"x": {"choices": ["a", None]}}}, "choice None must be text"),
        ({"parameters": {"x": {"choices": ["a", " b"]}}}, "choice ' b' must not"),
        ({"parameters": {"x": {"choices": ["a", math.inf]}}}, "choice inf must be a finite"),
        ({"parameters": {"x": {"choices": ["1", 1]}}}, r"\['1', 1\] must look different"),
        ({"parameters": {"x": {"choices": ["a", "\x07b"]}}}, "cannot be printed"),
        (
            {"objective": {"direction": "up"}},
            "direction 'up' of 'value' must be 'minimize' or 'maximize'",
        ),
        ({"objective": {"name": "x"}}, "'x' is a parameter and an output too"),
        ({"objective": {"name": "note"}}, "'note' is a column"),
        ({"objective": 5}, "objective: 5 must have entries"),
        ({"limits": {"y": {"upper": 2}}}, "limits alone say nothing about what to optimise; add"),
        ({"limits": {}, "recorded": {"y": {}}}, "limits and recorded alone say nothing"),
        ({"constraints": "x <= 1"}, "'x <= 1' must be a list"),
        ({"constraints": ["x <= z"]}, "'z' is not one of the numeric parameters"),
        ({"budget": 0}, "budget 0 must be a whole number of at least 1"),
        ({"budget": "many"}, "budget 'many' must be a whole number"),
        ({"noisy": "a bit"}, "noisy 'a bit' must be True or False"),
        ({"method": 5}, "method 5 must be the name of a method"),
        ({"risk": 2}, "risk 2 "),
        ({"risk": "low"}, "risk 'low' "),
        ({"note": 5}, "note 5 must be text"),
    ],
)
def test_descriptions_that_cannot_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        describe({"name": "a", "parameters": {"x": X}} | change)


def test_a_method_has_to_fit_before_anything_is_stored() -> None:
    """A description is data; the engine is asked when a campaign is made of it."""
    given = {"name": "a", "parameters": {"x": X}}
    with pytest.raises(InvalidInput, match="method 'magic' does not exist; choose one of edge"):
        checked_description(given | {"method": "magic"})
    with pytest.raises(InvalidInput, match="cannot limit its risk"):
        checked_description(given | {"method": "scbo", "risk": 0.2})


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.yaml", "a: [1", "a.yaml cannot be read: while parsing"),
        ("a.yaml", "a: 1\na: 2", "a.yaml cannot be read: 'a' appears twice"),
        ("a.yaml", "? [1, 2]\n: 3", r"a.yaml cannot be read: "),
        ("a.yaml", "a: &b [1]\nc: *b", r"aliases are not supported.* begins with \* in quotes"),
        ("a.yaml", "", "a.yaml: the description: None must have entries"),
        ("a.yaml", "[" * 5000, "a.yaml cannot be read"),
        ("a.json", "{'a': 1}", "a.json cannot be read: Expecting property name"),
        ("a.json", '{"a": 1, "a": 2}', "a.json cannot be read: 'a' appears twice"),
        ("a.toml", "a = ", "a.toml cannot be read: Invalid value"),
        ("a.txt", "", "a.txt: a description must be a .yaml, .yml, .toml, .json file"),
    ],
)
def test_files_that_cannot_be(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=words):
        read_description(tmp_path / name)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="a.yaml cannot be read: 'utf-8' codec"):
        read_description(tmp_path / "a.yaml")
    with pytest.raises(InvalidInput, match=r"cannot read .*: Is a directory"):
        (tmp_path / "b.yaml").mkdir()
        read_description(tmp_path / "b.yaml")


@pytest.mark.parametrize("text", ["a + b + c == 100", "a + b + c = 100", "100 == c + (a + b)"])
def test_a_mixture_is_an_equation(text: str) -> None:
    constraint = read_constraint(text, ["a", "b", "c"])
    assert isinstance(constraint, LinearConstraint) and constraint.is_total
    assert constraint({"a": 33.3, "b": 33.3, "c": 33.4})
    assert not constraint({"a": 33.3, "b": 33.3, "c": 33.3})


@pytest.mark.parametrize(
    ("text", "params", "holds"),
    [
        ("power = a * b <= 900", {"a": 30, "b": 30}, True),
        ("power = a * b <= 900", {"a": 30, "b": 30.1}, False),
        ("electric power=a*b<900", {"a": 30, "b": 30.1}, False),
        ("a * b >= 4", {"a": 1, "b": 3}, False),
        ("1 <= a / b <= 2", {"a": 3, "b": 2}, True),
        ("2 >= a / b >= 1", {"a": 3, "b": 1}, False),
        ("a / b <= 1", {"a": 1, "b": 0}, False),
        ("a ** 0.5 <= b", {"a": -1, "b": 3}, False),
        ("a ** 2 + b ** 2 <= 25", {"a": 3, "b": 4}, True),
        ("a ** b <= 1", {"a": 1e300, "b": 2}, False),
        ("0.1 * a * b <= 0.03", {"a": 0.1, "b": 3.0}, True),
    ],
)
def test_products_and_powers(text: str, params: dict[str, float], holds: bool) -> None:
    assert read_constraint(text, ["a", "b"])(params) is holds


def test_a_mixture_that_its_steps_cannot_meet_is_refused() -> None:
    content = {
        "name": "x",
        "parameters": {
            "resin": {"low": 0, "high": 90, "step": 0.3},
            "filler": {"low": 0, "high": 90, "step": 0.3},
        },
        "constraints": ["resin + filler == 100"],
    }
    with pytest.raises(InvalidInput, match=r"no settings in their steps \(resin: 0.3, filler: 0.3"):
        describe(content)
