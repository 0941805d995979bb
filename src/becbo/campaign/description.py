"""The description of a campaign, as a lab writes it: a YAML, TOML or JSON file, or a dict.

name: coating
objective: {name: hardness, unit: HV, direction: maximize}
parameters:
  temperature: {low: 150, high: 450, unit: °C}
  time: {low: 1, high: 48, log: true, unit: h, note: at temperature}
  layers: {low: 1, high: 6, integer: true}
  gas: {choices: [argon, nitrogen]}
constraints:
  - temperature + 10*layers <= 480
budget: 40
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from becbo.campaign.bounds import (
    MAX_BUDGET,
    MAX_CHOICES,
    MAX_COLUMNS,
    MAX_CONSTRAINTS,
    MAX_NAME,
    MAX_NOTE,
    MAX_PARAMETERS,
    check_count,
)
from becbo.campaign.formulas import linear_constraint
from becbo.campaign.notation import PARSERS, parse, to_yaml
from becbo.checks import whole_number
from becbo.errors import InvalidInput
from becbo.methods import build
from becbo.outputs import Objective, Outputs
from becbo.settings import Settings
from becbo.space import Categorical, Constraint, Integer, Parameter, Real, Space

# Columns of every table of runs, hence not names of parameters or objectives.
RESERVED_COLUMNS = (
    "number", "outcome", "reason", "note", "believed chance", "believed value", "believed spread",
)  # fmt: skip

_DEFAULTS = Settings(seed=0)
_OBJECTIVE = {"name": "value", "unit": "", "direction": "minimize", "note": ""}
_SETTINGS = ("method", "risk", "failures", "noisy", "n_initial", "seed")
_KEYS = ("name", "objective", "parameters", "constraints", "budget", *_SETTINGS, "note")
_NUMBER_KEYS = ("low", "high", "log", "step", "integer", "unit", "note")
_CHOICE_KEYS = ("choices", "unit", "note")


@dataclass(frozen=True)
class LabParameter:
    """A parameter with what people need to know to set it.

    Args:
        parameter: The parameter.
        unit: Its unit.
        note: Anything that people should know.

    Raises:
        InvalidInput: The name, the unit or the note cannot be used.
    """

    parameter: Parameter
    unit: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse what could not be the heading of a column."""
        check_column(f"parameter {self.name!r}", self.name)
        check_unit_and_note(f"parameter {self.name!r}", self.unit, self.note)

    @property
    def name(self) -> str:
        """The name of the parameter."""
        return self.parameter.name

    @property
    def heading(self) -> str:
        """Name and unit, as a column heading: `temperature [°C]`."""
        return heading(self.name, self.unit)

    @property
    def allowed(self) -> str:
        """Its possible settings: `150 to 450 °C, in steps of 5`."""
        parameter = self.parameter
        if isinstance(parameter, Categorical):
            return ", ".join(map(str, parameter.choices))
        is_whole = isinstance(parameter, Integer)
        parts = [f"{parameter.low:.12g} to {parameter.high:.12g} {self.unit}".rstrip()]
        if is_whole:
            parts.append("whole numbers")
        if parameter.log:
            parts.append("on a logarithmic scale")
        if parameter.step is not None and not (is_whole and parameter.step == 1):
            parts.append(f"in steps of {parameter.step:.12g}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Description:
    """Everything that defines a campaign. Checked when it is made.

    Args:
        name: The name of the campaign.
        parameters: What can be set.
        objective: What is measured, and whether it should be large or small.
        constraints: Limits known in advance, as in "a + 2*b <= 10"; no suggestion violates them.
        budget: How many experiments are planned. Nothing stops there.
        settings: How to optimise; the method is a name from `becbo.METHODS`.
        note: Anything that people should know.
        objective_note: The same about the objective.

    Raises:
        InvalidInput: Something cannot be used; the message names it.
    """

    name: str
    parameters: tuple[LabParameter, ...]
    objective: Objective = field(default_factory=Objective)
    constraints: tuple[str, ...] = ()
    budget: int | None = None
    settings: Settings = _DEFAULTS
    note: str = ""
    objective_note: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be a campaign, before anything is stored."""
        check_name("name", self.name)
        if not self.parameters:
            raise InvalidInput("parameters: name at least one parameter")
        self._check_size()
        if self.budget is not None:
            whole_number("budget", self.budget, at_most=MAX_BUDGET)
        _check_text("note", self.note)
        check_column("objective", self.objective.name)
        if self.objective.target is not None:
            raise InvalidInput(f"objective: target {self.objective.target!r}: give a direction")
        check_unit_and_note("objective", self.objective.unit, self.objective_note)
        if self.objective.name in self.space.names:
            raise InvalidInput(
                f"{self.objective.name!r} is a parameter and the objective too; rename one of them"
            )
        if not isinstance(self.settings.method, str):
            raise InvalidInput(f"method {self.settings.method!r} must be the name of a method")
        build(self.settings, self.outputs)

    def _check_size(self) -> None:
        n_columns = sum(described.parameter.width for described in self.parameters)
        check_count("parameters", len(self.parameters), MAX_PARAMETERS, "parameters")
        check_count("parameters", n_columns, MAX_COLUMNS, "numbers and choices")
        check_count("constraints", len(self.constraints), MAX_CONSTRAINTS, "constraints")

    @cached_property
    def space(self) -> Space:
        """The parameters as the engine sees them, with the constraints."""
        parameters = [described.parameter for described in self.parameters]
        return Space(parameters, [_constraint(text, parameters) for text in self.constraints])

    @property
    def direction(self) -> Literal["minimize", "maximize"]:
        """The direction of the objective."""
        return "maximize" if self.objective.direction == "maximize" else "minimize"

    @property
    def outputs(self) -> Outputs:
        """What an experiment returns."""
        return Outputs.of(self.objective)

    @property
    def objective_heading(self) -> str:
        """Name and unit of the objective, as a column heading."""
        return heading(self.objective.name, self.objective.unit)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON or YAML without defaults, from which `describe` makes the same."""
        objective = {key: getattr(self.objective, key) for key in ("name", "unit", "direction")}
        written = {
            "name": self.name,
            "objective": _different(objective | {"note": self.objective_note}, _OBJECTIVE),
            "parameters": {p.name: _parameter_dict(p) for p in self.parameters},
            "constraints": list(self.constraints),
            "budget": self.budget,
            **_different(vars(self.settings), vars(_DEFAULTS)),
            "failures": self.settings.failures.to_dict(),
            "note": self.note,
        }
        return {key: value for key, value in written.items() if value not in ({}, [], None, "")}

    def to_yaml(self) -> str:
        """The content of a file that `read_description` reads."""
        return to_yaml(self.to_dict())


def heading(name: str, unit: str) -> str:
    """Name and unit as people write them above a column."""
    return f"{name} [{unit}]" if unit else name


def read_description(path: str | Path) -> Description:
    """Reads a description.

    Args:
        path: A .yaml, .yml, .toml or .json file.

    Returns:
        The description.

    Raises:
        InvalidInput: The file cannot be read, or its content is not a description.
    """
    path = Path(path)
    if path.suffix.lower() not in PARSERS:
        raise InvalidInput(f"{path}: a description must be a {', '.join(PARSERS)} file")
    try:
        content = parse(path.suffix.lower(), path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # of TOML, JSON, YAML and of the encoding
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    try:
        return describe(content)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def describe(content: Any) -> Description:
    """Makes a description from plain data.

    Args:
        content: A mapping with the keys of a description file.

    Returns:
        The description.

    Raises:
        InvalidInput: Something is missing, unknown or cannot be used; the message names it.
    """
    _check_keys("the description", content, _KEYS)
    parameters = content.get("parameters")
    if not isinstance(parameters, Mapping) or not parameters:
        raise InvalidInput(
            "parameters: give at least one, as in `temperature: {low: 20, high: 90, unit: °C}`"
        )
    constraints = content.get("constraints") or ()
    if isinstance(constraints, str) or not isinstance(constraints, Sequence):
        raise InvalidInput(f"constraints: {constraints!r} must be a list, as in `- a + b <= 10`")
    objective, objective_note = _objective(content.get("objective") or {})
    return Description(
        name=content.get("name", ""),
        parameters=tuple(_parameter(name, given) for name, given in parameters.items()),
        objective=objective,
        constraints=tuple(constraints),
        settings=replace(_DEFAULTS, **_given(content, _SETTINGS)),
        objective_note=objective_note,
        **_given(content, ("budget", "note")),
    )


def _constraint(text: str, parameters: Sequence[Parameter]) -> Constraint:
    numbers = {p.name: p for p in parameters if not isinstance(p, Categorical)}
    constraint = linear_constraint(text, list(numbers))
    if any(numbers[name].log for name in constraint.coefficients):
        return constraint.__call__  # not linear on the scale of the models: asked design by design
    return constraint


def _parameter(name: Any, given: Any) -> LabParameter:
    check_name("a parameter", name)
    what = f"parameter {name!r}"
    is_choice = isinstance(given, Mapping) and "choices" in given
    _check_keys(what, given, _CHOICE_KEYS if is_choice else _NUMBER_KEYS)
    settings = _given(given, _NUMBER_KEYS)
    texts = {key: settings.pop(key) for key in ("unit", "note") if key in settings}
    if is_choice:
        return LabParameter(Categorical(name, _choices(what, given["choices"])), **texts)
    if "low" not in settings or "high" not in settings:
        raise InvalidInput(f"{what} needs low and high, or choices")
    for key in ("log", "integer"):
        if not isinstance(settings.get(key, False), bool):
            raise InvalidInput(f"{what}: {key} {settings[key]!r} must be true or false")
    kind = Integer if settings.pop("integer", False) else Real
    return LabParameter(kind(name, **settings), **texts)


def _choices(what: str, choices: Any) -> list[Any]:
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        raise InvalidInput(f"{what}: choices {choices!r} must be a list, as in [argon, nitrogen]")
    check_count(what, len(choices), MAX_CHOICES, "choices")
    for choice in choices:
        if not isinstance(choice, str | int | float):
            raise InvalidInput(f"{what}: choice {choice!r} must be text or a number")
        if isinstance(choice, str):
            _check_text(f"{what}: choice", choice)
            if choice.strip() != choice or not choice:
                raise InvalidInput(
                    f"{what}: choice {choice!r} must not be empty or have spaces around it"
                )
        elif not math.isfinite(choice):
            raise InvalidInput(f"{what}: choice {choice!r} must be a finite number, or in quotes")
    if len({str(choice) for choice in choices}) < len(choices):
        raise InvalidInput(f"{what}: choices {choices!r} must look different from each other")
    return list(choices)


def _objective(given: Any) -> tuple[Objective, str]:
    """The objective and the note about it."""
    if isinstance(given, str):
        given = {"name": given}
    _check_keys("objective", given, tuple(_OBJECTIVE))
    objective = _given(given, tuple(_OBJECTIVE))
    check_column("objective", objective.get("name", "value"))
    return Objective(**_given(objective, ("name", "unit", "direction"))), objective.get("note", "")


def _given(content: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: content[key] for key in keys if content.get(key) is not None}


def _check_keys(what: str, given: Any, keys: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{what}: {given!r} must have entries such as `{keys[0]}: ...`")
    unknown = [key for key in given if key not in keys]
    if unknown:
        raise InvalidInput(f"{what}: unknown {unknown[0]!r}; it can have {', '.join(keys)}")


def check_name(what: str, name: Any) -> None:
    """Refuses a name that cannot be used."""
    if not isinstance(name, str):
        raise InvalidInput(f"{what}: {name!r} must be a name; put it in quotes")
    if not name.strip():
        raise InvalidInput(f"{what}: give a name")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"{what}: {name[:20]!r}... is longer than {MAX_NAME} characters")
    if name != name.strip() or not name.isprintable() or any(c in name for c in "[]`"):
        raise InvalidInput(
            f"{what}: {name!r} must not contain [ ] ` or line breaks, or have spaces around it"
        )


def check_column(what: str, name: Any) -> None:
    """Refuses a name that cannot be the heading of a column."""
    check_name(what, name)
    if name.lower() in RESERVED_COLUMNS:
        raise InvalidInput(
            f"{what}: {name!r} is a column of every table; choose another name for it"
        )


def check_unit_and_note(what: str, unit: Any, note: Any = "") -> None:
    """Refuses a unit or a note that cannot be printed."""
    _check_text(f"{what}: unit", unit, MAX_NAME)
    _check_text(f"{what}: note", note)
    if unit != unit.strip() or not unit.isprintable():
        raise InvalidInput(
            f"{what}: unit {unit!r} must not contain line breaks or have spaces around it"
        )


def _check_text(what: str, text: Any, most: int = MAX_NOTE) -> None:
    if not isinstance(text, str):
        raise InvalidInput(f"{what} {text!r} must be text; put it in quotes")
    check_count(what, len(text), most, "characters")
    if not all(c.isprintable() or c in "\n\t" for c in text):
        raise InvalidInput(f"{what} {text!r} has characters that cannot be printed")


def _parameter_dict(described: LabParameter) -> dict[str, Any]:
    parameter = described.parameter
    if isinstance(parameter, Categorical):
        written: dict[str, Any] = {"choices": list(parameter.choices)}
    else:
        written = {"low": _short(parameter.low), "high": _short(parameter.high)}
        if isinstance(parameter, Integer):
            written["integer"] = True
        if parameter.log:
            written["log"] = True
        if parameter.step is not None and not (written.get("integer") and parameter.step == 1):
            written["step"] = _short(parameter.step)
    return written | {key: text for key in ("unit", "note") if (text := getattr(described, key))}


def _short(number: float) -> float:
    """150.0 as 150, which is the same and reads better."""
    return int(number) if number == math.floor(number) and abs(number) < 1e15 else number


def _different(content: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value != defaults[key]}
