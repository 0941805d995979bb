"""What the JSON API takes and gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from becbo.campaign.files import MAX_ROWS
from becbo.campaign.runs import Run
from becbo.campaign.tables import run_dict
from becbo.web.context import MAX_Q
from becbo.web.forms import MAX_TEXT

# Strict, because "3" and true are no numbers, and an instrument that sends them has a mistake.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT, pattern=r"^[^\x00]*$")]
# true, or the reason.
Said = (
    Literal[True]
    | Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=r"^[^\x00]*$")]
)
Setting = Annotated[bool, Field(strict=True)] | Whole | Number | str
Outcome = Literal["pending", "ok", "failed", "lost"]


def _may_be_left_out(words: str) -> Any:
    """A field that need not be there, but is not null if it is."""
    return Field(default=None, description=words)


def _exactly_one(*names: str) -> dict[str, Any]:
    return {"oneOf": [{"required": [name]} for name in names]}


class Body(BaseModel):
    """What comes in: nothing unknown."""

    model_config = ConfigDict(extra="forbid")


class Entry(Body):
    """Exactly one of `value`, `failed` and `lost`; the latter two are true or the reasons."""

    model_config = ConfigDict(json_schema_extra=_exactly_one("value", "failed", "lost"))

    value: Number = _may_be_left_out("what was measured")
    failed: Said = _may_be_left_out("the design does not work: all reasons, separated by commas")
    lost: Said = _may_be_left_out("power cut, broken sensor: says nothing about the design")
    note: Text = Field(default="", description="anything worth keeping")
    version: Whole = _may_be_left_out(
        "of the run you looked at: 409 if somebody has written about it since"
    )


class Experiment(Body):
    """An experiment that was not suggested here: the settings, and a value or a failure."""

    model_config = ConfigDict(json_schema_extra=_exactly_one("value", "failed"))

    params: dict[str, Setting]
    value: Number = _may_be_left_out("what was measured")
    failed: Said = _may_be_left_out("the design does not work")
    note: Text = ""


class Version(Body):
    """Which version of the run is meant, if it matters."""

    version: Whole = _may_be_left_out("of the run you looked at")


class Ask(Body):
    """How many experiments to suggest."""

    q: Annotated[int, Field(strict=True, ge=1, le=MAX_Q)] = 1


class Rows(Body):
    """A table, headings first: `[["temperature [°C]", "hardness"], [300, 412], [420, null]]`."""

    rows: Annotated[list[list[Number | Text | None]], Field(min_length=2, max_length=MAX_ROWS + 1)]


class Designs(Body):
    """Designs to predict, each with all settings."""

    designs: Annotated[list[dict[str, Setting]], Field(min_length=1, max_length=1000)]


class DescriptionBody(Body):
    """A campaign as `becbo new` takes it from a YAML file."""

    model_config = ConfigDict(extra="allow")

    name: str
    parameters: dict[str, JsonValue]


class Problem(BaseModel):
    """Why something was not done."""

    detail: str


class Conflicting(Problem):
    """Somebody else was faster; this is the run as it stands now."""

    run: RunShown


class BadRow(BaseModel):
    """What is wrong with a row; line 1 is the heading."""

    line: int
    words: str


class BadRows(Problem):
    """Everything that is wrong with a table; nothing was imported."""

    problems: list[BadRow] = []


class Belief(BaseModel):
    """What the models say: value, its spread, chance to work and its one-sigma range."""

    mean: float | None
    std: float | None
    p_feasible: float
    band: tuple[float, float]


class EntryShown(BaseModel):
    """What was written about a run at some time."""

    outcome: Outcome
    value: float | None
    reason: str
    note: str
    recorded: str | None


class RunShown(BaseModel):
    """One experiment as it stands."""

    number: int
    version: int
    params: dict[str, bool | int | float | str]
    outcome: Outcome
    value: float | None
    reason: str
    note: str
    origin: str
    believed: Belief | None
    suggested: str | None
    recorded: str | None
    history: list[EntryShown]

    @classmethod
    def of(cls, run: Run) -> RunShown:
        """A run as the API shows it."""
        return cls.model_validate(run_dict(run) | {"version": run.version})


class CampaignShown(BaseModel):
    """A campaign in a list; `id` is its name as it stands in addresses."""

    id: str
    name: str
    objective: str
    unit: str
    direction: Literal["minimize", "maximize"]


class StatusShown(BaseModel):
    """Where a campaign stands."""

    counts: dict[Outcome, int]
    best: RunShown | None
    budget: int | None
    n_left: int | None


class ImportedShown(BaseModel):
    """What an import did: numbers of new runs and of runs recorded."""

    added: list[int]
    recorded: list[int]
    corrected: list[int]  # known runs whose missing reason or note the table had
    blank: list[int]  # new runs that count as failed because the table said nothing
    n_known: int  # rows
    noted: list[str]  # columns of other names, now in the notes
    differing: list[int]  # known runs with another reason or note, which stay as they are


Conflicting.model_rebuild()
