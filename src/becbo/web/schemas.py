"""Requests and responses of the REST interface."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, WithJsonSchema

from becbo.campaign.runs import Run
from becbo.campaign.serialization import run_to_dict
from becbo.failures import MAX_PRICE
from becbo.tables.files import MAX_ROWS
from becbo.web.context import MAX_HISTORY, MAX_Q
from becbo.web.forms import MAX_TEXT

# Strict: "3" and true are not numbers, and an instrument that sends them has a bug.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT, pattern=r"^[^\x00]*$")]
# true, or the reason.
Reason = (
    Literal[True]
    | Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=r"^[^\x00]*$")]
)
Values = dict[str, Number | None]  # by the name of the output; null: not measured
Setting = Annotated[bool, Field(strict=True)] | Whole | Number | str
Outcome = Literal["pending", "ok", "failed", "lost"]


def _optional(description: str) -> Any:
    """A field that can be left out, but is not null."""
    return Field(default=None, description=description)


def _exactly_one(*names: str) -> dict[str, Any]:
    return {"oneOf": [{"required": [name]} for name in names]}


class _Request(BaseModel):
    """A request without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class CampaignsQuery(_Request):
    """Which campaigns to list."""

    deleted: bool = False


class RunsQuery(_Request):
    """Which runs to list."""

    outcome: Outcome | None = None


class OutlookQuery(_Request):
    """What an outlook is about."""

    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="the gain that is worth experiments, in the units of the objective, or of the "
        "hypervolume of several; without one, 0.03 % of what was gained so far",
    )


class RecordRequest(_Request):
    """Exactly one of `value`, `failed` and `lost`; the latter two are true or the reasons."""

    model_config = ConfigDict(json_schema_extra=_exactly_one("value", "failed", "lost"))

    value: Number | Values = _optional("the measured value, or values by the name of the output")
    failed: Reason = _optional("the design does not work: all reasons, separated by commas")
    measured: Values = _optional("with failed: what was measured all the same")
    lost: Reason = _optional("power cut, broken sensor: says nothing about the design")
    note: Text = Field(default="", description="anything worth keeping")
    version: Whole = _optional(
        "the version of the run that you have seen: 409 if it has changed since"
    )


class AddRequest(_Request):
    """An experiment that was not suggested here: its settings, and a value or a failure."""

    model_config = ConfigDict(json_schema_extra=_exactly_one("value", "failed"))

    params: dict[str, Setting]
    value: Number | Values = _optional("the measured value, or values by the name of the output")
    failed: Reason = _optional("the design does not work")
    measured: Values = _optional("with failed: what was measured all the same")
    note: Text = ""


class PlanRequest(_Request):
    """A design of your own: a value for every parameter."""

    params: dict[str, Setting]
    note: Text = ""


class WhatIfRequest(_Request):
    """A design to ask about: a value for every parameter."""

    params: dict[str, Setting]


class VersionRequest(_Request):
    """The version of the run that you have seen, if it matters."""

    version: Whole = _optional("the version of the run that you have seen")


class UndoRequest(_Request):
    """The last entry that you have seen, if it matters."""

    entry: Whole = _optional("`last_entry.entry` of the status: 409 if there is a newer one")


class SuggestRequest(_Request):
    """How many experiments to suggest."""

    q: Annotated[int, Field(strict=True, ge=1, le=MAX_Q)] = 1


# The schema is for readers of the interface; `becbo.Failures` checks, as in files, and its errors
# name the value and the remedy.
FailuresRequest = Annotated[
    JsonValue,
    WithJsonSchema(
        {
            "title": "Failures",
            "type": ["object", "null"],
            "additionalProperties": False,
            "properties": {
                "chance": {
                    "description": "how often a design that works fails by bad luck; null: learned",
                    "type": ["number", "null"],
                    "minimum": 0,
                    "exclusiveMaximum": 1,
                },
                "price": {
                    "description": "what a failure costs besides the experiment, in experiments",
                    "type": "number",
                    "minimum": 0,
                    "maximum": MAX_PRICE,
                },
                "budget": {
                    "description": "how many experiments may fail in all; null: any number",
                    "type": ["integer", "null"],
                    "minimum": 1,
                },
            },
        }
    ),
]


class CreateRequest(_Request):
    """A description with the keys of a YAML file; docs/lab.md says how large it may be."""

    model_config = ConfigDict(extra="allow")

    name: str
    parameters: dict[str, JsonValue]
    failures: FailuresRequest = Field(default=None, description="what is known about failures")


class EstimateRequest(_Request):
    """An estimate of one output, as it was answered."""

    mean: Number
    std: Number


class BelievedRequest(_Request):
    """What was predicted of a design, as it was answered."""

    outputs: dict[str, EstimateRequest]
    p_feasible: Number
    band: tuple[Number, Number]
    bad_luck: Number = 0.0
    optimism: Number = 0.0


class ExperimentRequest(_Request):
    """One experiment of a history, in the order in which they were done.

    If its design was suggested, send back what was answered with it: with `risk`, only designs
    that were suggested count, which are those with something believed.
    """

    params: dict[str, Setting]
    believed: BelievedRequest | None = None
    origin: Text = "user"
    note: Text | None = None
    outcome: Outcome = "ok"
    values: dict[str, Number | None] = Field(
        default_factory=dict,
        description="what was measured, by the name of the output; with ok or failed only",
    )
    reason: Text | None = Field(default=None, description="why it failed or was lost")


class StatelessRequest(_Request):
    """A description, with the keys of a YAML file, and everything that was done so far."""

    description: CreateRequest
    trials: Annotated[list[ExperimentRequest], Field(max_length=MAX_HISTORY)] = []
    q: Annotated[int, Field(strict=True, ge=1, le=MAX_Q)] = 1


class ImportRequest(_Request):
    """A table, headings first: `[["temperature [°C]", "hardness"], [300, 412], [420, null]]`."""

    rows: Annotated[list[list[Number | Text | None]], Field(min_length=2, max_length=MAX_ROWS + 1)]


class PredictRequest(_Request):
    """Designs to predict, each with all settings."""

    designs: Annotated[list[dict[str, Setting]], Field(min_length=1, max_length=1000)]


class ErrorResponse(BaseModel):
    """Why a request was refused."""

    detail: str


class ConflictResponse(ErrorResponse):
    """Somebody else was faster; `run` is the run in its present state."""

    run: RunResponse


class TableProblem(BaseModel):
    """What is wrong with a row; line 1 has the headings."""

    line: int
    message: str


class BadTableResponse(ErrorResponse):
    """Everything that is wrong with a table; nothing was imported."""

    problems: list[TableProblem] = []


class EstimateResponse(BaseModel):
    """The predicted value of an output."""

    mean: float
    std: float


class PredictionResponse(BaseModel):
    """What the models predict for a design."""

    outputs: dict[str, EstimateResponse]  # empty while nothing has worked
    p_feasible: float  # the probability to work and to keep every limit
    band: tuple[float, float]  # its one-sigma range
    bad_luck: float = 0.0  # the chance that a design which works fails all the same
    optimism: float = 0.0  # taken off the score of a design because a search has chosen it


class WhatIfResponse(BaseModel):
    """What is known about a design."""

    params: dict[str, bool | int | float | str]
    believed: PredictionResponse | None  # none while there are no results
    p_better: float | None  # the chance to beat the best, or to improve the front
    violated: list[str]  # known constraints
    nearest: int | None  # the run that is most similar
    distance: float | None  # how far away that is, in the unit cube
    how_far: str  # the same in a sentence


class JobResponse(BaseModel):
    """Suggestions that are being computed, or the last ones that could not be."""

    q: int  # how many were asked for
    n_done: int  # how many of them are there already
    n_others: int  # requests that it takes turns with, one suggestion each
    error: str  # why there are no more, if it has failed


class DesignResponse(BaseModel):
    """A design to try next."""

    params: dict[str, bool | int | float | str]
    believed: PredictionResponse | None  # none before the models take over
    origin: str  # how it was chosen
    note: str | None  # anything unusual about that


class EntryResponse(BaseModel):
    """An earlier entry of a run."""

    outcome: Outcome
    values: dict[str, float | None]  # by the name of the output
    reason: str | None
    note: str
    recorded: str | None
    by: str  # who recorded it, if known


class RunResponse(BaseModel):
    """One experiment in its present state."""

    number: int
    version: int
    params: dict[str, bool | int | float | str]
    outcome: Outcome
    values: dict[str, float | None]  # by the name of the output
    reason: str | None
    note: str
    origin: str
    believed: PredictionResponse | None
    suggested: str | None
    recorded: str | None
    by: str  # who recorded it, if known
    history: list[EntryResponse]

    @classmethod
    def of(cls, run: Run) -> RunResponse:
        """The response for a run."""
        return cls.model_validate(run_to_dict(run))


class ObjectiveResponse(BaseModel):
    """What is optimised; it has a direction or a target."""

    name: str
    unit: str
    direction: Literal["minimize", "maximize"] | None
    target: float | None
    reference: float | None  # a value that is just not good enough


class LimitResponse(BaseModel):
    """What must stay within bounds."""

    name: str
    unit: str
    lower: float | None
    upper: float | None


class RecordedResponse(BaseModel):
    """What is only kept."""

    name: str
    unit: str


class GoalResponse(BaseModel):
    """What a campaign measures."""

    name: str
    objectives: list[ObjectiveResponse]
    limits: list[LimitResponse]
    recorded: list[RecordedResponse]


class CampaignResponse(GoalResponse):
    """A campaign in a list; `id` is its identifier in URLs."""

    id: str


class LastEntryResponse(BaseModel):
    """The entry that an undo would take back."""

    entry: int  # what names it in an undo
    runs: list[int]  # several, if it was an import
    recorded: str
    by: str  # who made it, if known


class StatusResponse(GoalResponse):
    """The status of a campaign."""

    budget: int | None
    n_done: int
    n_left: int | None
    counts: dict[Outcome, int]
    best: RunResponse | None  # of one objective; of noisy values, the best reading
    front: list[RunResponse]  # acceptable runs that no other beats
    pending: list[RunResponse]
    reasons: dict[str, int]  # why experiments failed; "": no reason given
    last_entry: LastEntryResponse | None


class ChangeResponse(BaseModel):
    """What is different in a description."""

    changes: list[str]  # one line each


class ForecastResponse(BaseModel):
    """What the next experiments may bring, in the units of the best."""

    n_experiments: int
    expected: float | None  # the best afterwards; none while nothing is acceptable
    interval: tuple[float, float] | None  # where it will lie in four of five cases
    p_better: float  # the chance to beat the best by more than the margin


class OutlookResponse(BaseModel):
    """What more experiments may bring."""

    model_config = ConfigDict(extra="allow")

    measure: str  # what is counted: an objective, its distance from a target, the hypervolume
    unit: str
    best: float | None
    n_done: int
    n_failed: int
    failure_cost: float  # the share of failures in all costs, by their price
    margin: float  # the gain that is worth experiments
    forecasts: list[ForecastResponse]
    advice: Literal["go on", "confirm", "stop"]
    sentence: str  # the advice and its reason


class ImportResponse(BaseModel):
    """What an import did; runs are given by number."""

    added: list[int]  # new runs
    recorded: list[int]  # runs that were pending
    corrected: list[int]  # known runs whose missing reason or note the table had
    blank: list[int]  # runs that count as failed because no objective has a value
    differing: list[int]  # known runs with another reason or note, which they keep
    n_known: int  # rows that were known already, or are still pending
    n_pending: int  # rows among them that have no result yet
    noted: list[str]  # columns of other names, now in the notes


ConflictResponse.model_rebuild()
