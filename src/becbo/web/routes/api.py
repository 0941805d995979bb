"""The REST interface, for instruments and scripts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.concurrency import run_in_threadpool

from becbo.campaign.campaign import Campaign
from becbo.campaign.serialization import goal_to_dict, status_to_dict
from becbo.tables.importing import import_cells, import_to_dict
from becbo.web import schemas
from becbo.web.context import CampaignDep, ContextDep, RunDep
from becbo.web.registry import id_of
from becbo.web.schemas import RunResponse

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.ErrorResponse, "description": words}
    for status, words in {
        400: "the host name is not one of the server's",
        401: "the token is missing or wrong",
        403: "sent by the page of another site",
        404: "no such campaign or run",
        413: "too large",
        422: "the input cannot be used; `detail` says why",
        429: "too many wrong tokens, or too many suggestions under way",
        503: "the storage or a worker process does not answer",
    }.items()
}
_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": schemas.ConflictResponse, "description": "somebody else was faster"}
}
_NEWER: dict[int | str, dict[str, Any]] = {
    409: {"model": schemas.ErrorResponse, "description": "somebody made a newer entry"}
}
_BAD_TABLE: dict[int | str, dict[str, Any]] = {
    422: {
        "model": schemas.BadTableResponse,
        "description": "nothing was imported; all problems",
    }
}

VersionBody = Annotated[schemas.VersionRequest, Body()]

router = APIRouter(prefix="/api", responses=_PROBLEMS)


@router.get("/campaigns")
def list_campaigns(
    context: ContextDep, asked: Annotated[schemas.CampaignsQuery, Query()]
) -> list[schemas.CampaignResponse]:
    """Lists all campaigns, or those that were deleted."""
    listed = context.registry.deleted() if asked.deleted else context.registry.all()
    return [_campaign_response(campaign) for campaign in listed]


@router.post("/campaigns", status_code=201)
def create(context: ContextDep, description: schemas.CreateRequest) -> schemas.CampaignResponse:
    """Creates a campaign from a description with the keys of a YAML file."""
    return _campaign_response(context.registry.create(description.model_dump()))


@router.post("/suggest")
async def suggest_for(
    context: ContextDep, asked: schemas.StatelessRequest
) -> list[schemas.DesignResponse]:
    """The next designs after a history that the caller keeps: nothing is stored. Takes seconds."""
    history = [experiment.model_dump() for experiment in asked.trials]
    designs = await context.jobs.suggest_for(asked.description.model_dump(), history, asked.q)
    return [schemas.DesignResponse.model_validate(design) for design in designs]


@router.get("/campaigns/{campaign_id}")
def describe(campaign: CampaignDep) -> dict[str, Any]:
    """The description: parameters, objective, constraints and settings."""
    return campaign.description.to_dict()


@router.put("/campaigns/{campaign_id}")
def change(campaign: CampaignDep, description: schemas.CreateRequest) -> schemas.ChangeResponse:
    """Replaces the description; every run so far must stay possible."""
    return schemas.ChangeResponse(changes=campaign.change(description.model_dump()))


@router.delete("/campaigns/{campaign_id}", status_code=204)
def delete(campaign: CampaignDep) -> None:
    """Removes the campaign from the list; it can be restored with all of its runs."""
    campaign.delete()


@router.post("/campaigns/{campaign_id}/restore")
def restore(context: ContextDep, campaign_id: str) -> schemas.CampaignResponse:
    """Brings back a deleted campaign."""
    campaign = context.registry.find_deleted(campaign_id)
    campaign.restore()
    return _campaign_response(campaign)


@router.get("/campaigns/{campaign_id}/status")
def status(campaign: CampaignDep) -> schemas.StatusResponse:
    """The number of experiments by outcome, the best one, and what is left of the budget."""
    return schemas.StatusResponse.model_validate(status_to_dict(campaign))


@router.get("/campaigns/{campaign_id}/outlook")
async def outlook(
    context: ContextDep, campaign: CampaignDep, asked: Annotated[schemas.OutlookQuery, Query()]
) -> schemas.OutlookResponse:
    """What more experiments may bring, and whether to go on for `?margin=`. Takes seconds."""
    seen = await context.jobs.outlook(campaign.name, asked.margin)
    return schemas.OutlookResponse.model_validate(seen)


@router.get("/campaigns/{campaign_id}/runs")
def list_runs(
    campaign: CampaignDep, asked: Annotated[schemas.RunsQuery, Query()]
) -> list[RunResponse]:
    """All experiments by number, or those with one outcome."""
    runs = campaign.runs
    return [RunResponse.of(run) for run in runs if asked.outcome in (None, run.outcome.value)]


@router.get("/campaigns/{campaign_id}/runs/{number}")
def show_run(run: RunDep) -> RunResponse:
    """One experiment with all earlier entries."""
    return RunResponse.of(run)


@router.post("/campaigns/{campaign_id}/suggest", status_code=201)
async def suggest(
    context: ContextDep, campaign: CampaignDep, ask: schemas.SuggestRequest
) -> list[RunResponse]:
    """The next experiments, which are pending from now on. Takes seconds.

    Fewer than `q` if no more can be suggested, as with a budget of failures; a GET says why.
    """
    numbers = await context.jobs.suggest(campaign.name, ask.q)
    runs = await run_in_threadpool(lambda: campaign.runs)
    return [RunResponse.of(run) for run in runs if run.number in numbers]


@router.get("/campaigns/{campaign_id}/suggest")
def suggestions_under_way(context: ContextDep, campaign: CampaignDep) -> list[schemas.JobResponse]:
    """The suggestions that are being computed, and how many others they take turns with.

    Also the last request that got fewer than it asked for, with the reason.
    """
    return [schemas.JobResponse.model_validate(vars(job)) for job in context.jobs.of(campaign.name)]


@router.post("/campaigns/{campaign_id}/runs", status_code=201)
def add(campaign: CampaignDep, experiment: schemas.AddRequest) -> RunResponse:
    """Records an experiment that was not suggested here."""
    return RunResponse.of(campaign.add(**experiment.model_dump(exclude_unset=True)))


@router.post("/campaigns/{campaign_id}/plan", status_code=201)
def plan(campaign: CampaignDep, experiment: schemas.PlanRequest) -> RunResponse:
    """Adds a design of your own to the pending experiments."""
    return RunResponse.of(campaign.plan(experiment.params, experiment.note))


@router.post("/campaigns/{campaign_id}/runs/{number}/record", responses=_CONFLICT)
def record(campaign: CampaignDep, run: RunDep, entry: schemas.RecordRequest) -> RunResponse:
    """Records the result of a pending experiment."""
    return RunResponse.of(campaign.record(run.number, **_given(entry)))


@router.post("/campaigns/{campaign_id}/runs/{number}/correct", responses=_CONFLICT)
def correct(campaign: CampaignDep, run: RunDep, entry: schemas.RecordRequest) -> RunResponse:
    """Replaces the result of a recorded experiment; the old one stays in its history."""
    return RunResponse.of(campaign.correct(run.number, **_given(entry)))


@router.post("/campaigns/{campaign_id}/runs/{number}/undo", responses=_CONFLICT)
def undo(campaign: CampaignDep, run: RunDep, request: VersionBody) -> RunResponse:
    """Takes back the last entry about a run."""
    return RunResponse.of(campaign.undo(run.number, version=request.version))


@router.post("/campaigns/{campaign_id}/runs/{number}/withdraw", responses=_CONFLICT)
def withdraw(campaign: CampaignDep, run: RunDep, request: VersionBody) -> RunResponse:
    """Takes back a suggestion: the run becomes lost, but is not repeated."""
    return RunResponse.of(campaign.withdraw(run.number, version=request.version))


@router.post("/campaigns/{campaign_id}/undo", responses=_NEWER)
def undo_last(
    campaign: CampaignDep, request: Annotated[schemas.UndoRequest, Body()]
) -> list[RunResponse]:
    """Takes back the last entry, which may be a whole import; returns the runs that changed."""
    return [RunResponse.of(run) for run in campaign.undo_last(entry=request.entry)]


@router.post("/campaigns/{campaign_id}/import", responses=_BAD_TABLE)
def import_rows(campaign: CampaignDep, table: schemas.ImportRequest) -> schemas.ImportResponse:
    """Imports the experiments of a table, all of them or none."""
    done = import_cells(campaign, table.rows)
    return schemas.ImportResponse.model_validate(import_to_dict(done))


@router.post("/campaigns/{campaign_id}/predict")
async def predict(
    context: ContextDep, campaign: CampaignDep, asked: schemas.PredictRequest
) -> list[schemas.PredictionResponse]:
    """What the models predict for designs."""
    designs = [campaign.description.space.validate(design) for design in asked.designs]
    predictions = await context.jobs.predict(campaign.name, [dict(design) for design in designs])
    return [schemas.PredictionResponse.model_validate(prediction) for prediction in predictions]


@router.post("/campaigns/{campaign_id}/what-if")
async def what_if(
    context: ContextDep, campaign: CampaignDep, asked: schemas.WhatIfRequest
) -> schemas.WhatIfResponse:
    """What is known about a design of your own. Takes seconds."""
    params = campaign.description.space.validate(asked.params)
    answer = await context.jobs.what_if(campaign.name, dict(params))
    return schemas.WhatIfResponse.model_validate(answer)


def _given(entry: schemas.RecordRequest) -> dict[str, Any]:
    """An entry as `Campaign.record` takes it; a note that was not given stays as it is."""
    return entry.model_dump(exclude_unset=True)


def _campaign_response(campaign: Campaign) -> schemas.CampaignResponse:
    goal = goal_to_dict(campaign.description)
    return schemas.CampaignResponse.model_validate({"id": id_of(campaign.name), **goal})
