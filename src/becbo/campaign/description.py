"""The description of a campaign. A lab writes it as a YAML, TOML or JSON file.

name: coating
objective: {name: hardness, unit: HV, direction: maximize}
limits:
  roughness: {upper: 3, unit: µm}
parameters:
  temperature: {low: 150, high: 450, unit: °C}
  time: {low: 1, high: 48, log: true, unit: h, note: at temperature}
  layers: {low: 1, high: 6, integer: true}
  gas: {choices: [argon, nitrogen]}
constraints:
  - temperature + 10*layers <= 480
budget: 40

A mixture is a constraint such as `resin + solvent + filler == 100`; products are possible too, as
in `power = pressure * flow <= 900`. Several objectives are written as
`objectives: {strength: {direction: maximize}, ph: {target: 7}}`, and what is only kept as
`recorded: {colour: {}}`. `becbo.campaign.describing` reads all this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from becbo.campaign.bounds import (
    MAX_BUDGET,
    MAX_COLUMNS,
    MAX_CONSTRAINTS,
    MAX_OUTPUTS,
    MAX_PARAMETERS,
    check_count,
)
from becbo.campaign.formulas import read_constraint
from becbo.campaign.names import check_column, check_name, check_text, check_unit_and_note, heading
from becbo.campaign.notation import to_yaml
from becbo.checks import whole_number
from becbo.errors import InvalidInput
from becbo.outputs import Output, Outputs
from becbo.settings import Settings
from becbo.space import Categorical, Constraint, Integer, LinearConstraint, Parameter, Space

DEFAULTS = Settings(seed=0)
_OBJECTIVE = {"unit": "", "direction": "minimize", "target": None, "reference": None}
_LIMIT = {"unit": "", "lower": None, "upper": None}
_RECORDED = {"unit": ""}


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
        outputs: What is measured: objectives, limits and numbers to record.
        constraints: Limits known in advance, as in "a + 2*b <= 10", "a + b + c == 100" or
            "a * b <= 900"; no suggestion violates them.
        budget: How many experiments are planned. Nothing stops there; a budget of failures is made
            to last so long.
        settings: How to optimise; the method is a name from `becbo.METHODS`.
        note: Anything that people should know.
        output_notes: The same about outputs, by name.

    Raises:
        InvalidInput: Something cannot be used; the message names it.
    """

    name: str
    parameters: tuple[LabParameter, ...]
    outputs: Outputs = field(default_factory=lambda: Outputs.of("minimize"))
    constraints: tuple[str, ...] = ()
    budget: int | None = None
    settings: Settings = DEFAULTS
    note: str = ""
    output_notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be a campaign, before anything is stored."""
        check_name("name", self.name)
        if not self.parameters:
            raise InvalidInput("parameters: name at least one parameter")
        self._check_size()
        if self.budget is not None:
            whole_number("budget", self.budget, at_most=MAX_BUDGET)
        check_text("note", self.note)
        for output in self.outputs:
            self._check_output(output)
        if not isinstance(self.settings.method, str):
            raise InvalidInput(f"method {self.settings.method!r} must be the name of a method")
        if self.settings.n_planned is not None:
            raise InvalidInput(
                f"n_planned {self.settings.n_planned!r}: give the budget of the campaign instead"
            )

    @cached_property
    def space(self) -> Space:
        """The parameters as the engine sees them, with the constraints."""
        parameters = [described.parameter for described in self.parameters]
        return Space(parameters, [_constraint(text, parameters) for text in self.constraints])

    @property
    def planned(self) -> Settings:
        """The settings, told how many experiments are planned."""
        return replace(self.settings, n_planned=self.budget)

    @property
    def headings(self) -> dict[str, str]:
        """Name and unit of each output by its name, as a column heading."""
        return {output.name: heading(output.name, output.unit) for output in self.outputs}

    @property
    def wishes(self) -> list[str]:
        """What is wanted of each output: `hardness [HV] as large as possible`."""
        return [f"{self.headings[output.name]} {output.wish}" for output in self.outputs]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON or YAML without defaults, from which `describe` makes the same."""
        written = {
            "name": self.name,
            **self._outputs_dict(),
            "parameters": {p.name: _parameter_dict(p) for p in self.parameters},
            "constraints": list(self.constraints),
            "budget": self.budget,
            **_different(vars(self.settings), vars(DEFAULTS)),
            "failures": self.settings.failures.to_dict(),
            "note": self.note,
        }
        return {key: value for key, value in written.items() if value not in ({}, [], None, "")}

    def to_yaml(self) -> str:
        """The content of a file that `read_description` reads."""
        return to_yaml(self.to_dict())

    def _outputs_dict(self) -> dict[str, Any]:
        objectives = {o.name: self._output_dict(o, _OBJECTIVE) for o in self.outputs.objectives}
        limits = {limit.name: self._output_dict(limit, _LIMIT) for limit in self.outputs.limits}
        recorded = {o.name: self._output_dict(o, _RECORDED) for o in self.outputs.recorded}
        written: dict[str, Any] = {"objectives": objectives}
        if len(objectives) == 1:
            ((name, keys),) = objectives.items()
            may_miss = name == "value" and not limits and not recorded
            written = {"objective": keys if may_miss else {"name": name} | keys}
        return written | {"limits": limits, "recorded": recorded}

    def _output_dict(self, output: Output, defaults: Mapping[str, Any]) -> dict[str, Any]:
        given = {key: value for key, value in vars(output).items() if value is not None}
        written = _different({key: given[key] for key in defaults if key in given}, defaults)
        note = self.output_notes.get(output.name, "")
        written |= {"note": note} if note else {}
        return {key: _short(v) if isinstance(v, float) else v for key, v in written.items()}

    def _check_size(self) -> None:
        n_columns = sum(described.parameter.width for described in self.parameters)
        check_count("parameters", len(self.parameters), MAX_PARAMETERS, "parameters")
        check_count("parameters", n_columns, MAX_COLUMNS, "numbers and choices")
        check_count("constraints", len(self.constraints), MAX_CONSTRAINTS, "constraints")
        check_count("outputs", len(self.outputs.names), MAX_OUTPUTS, "outputs")

    def _check_output(self, output: Output) -> None:
        what = f"output {output.name!r}"
        check_column(what, output.name)
        check_unit_and_note(what, output.unit, self.output_notes.get(output.name, ""))
        if output.name in self.space.names:
            raise InvalidInput(
                f"{output.name!r} is a parameter and an output too; rename one of them"
            )


def _constraint(text: str, parameters: Sequence[Parameter]) -> Constraint:
    numbers = {p.name: p for p in parameters if not isinstance(p, Categorical)}
    constraint = read_constraint(text, list(numbers))
    if not isinstance(constraint, LinearConstraint) or constraint.is_total:
        return constraint
    if any(numbers[name].log for name in constraint.coefficients):
        return constraint.__call__  # not linear on the scale of the models: asked design by design
    return constraint


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
