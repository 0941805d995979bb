"""The JSON API, for instruments and scripts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.concurrency import run_in_threadpool

from becbo.campaign.campaign import Campaign
from becbo.trial import Outcome
from becbo.web import schemas
from becbo.web.context import Here, ThisCampaign, ThisRun
from becbo.web.schemas import RunShown
from becbo.web.shelf import id_of

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Problem, "description": words}
    for status, words in {
        400: "the host name is not one of the server's",
        401: "the token is missing or wrong",
        403: "sent by the page of another site",
        404: "no such campaign or run",
        413: "too large",
        422: "it cannot be used as it is; `detail` says what and why",
        429: "too many wrong tokens, or too much under way",
        503: "the storage or a worker process does not answer",
    }.items()
}
_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": schemas.Conflicting, "description": "somebody else was faster"}
}
_BAD_ROWS: dict[int | str, dict[str, Any]] = {
    422: {"model": schemas.BadRows, "description": "nothing was imported; all that is wrong"}
}

Which = Annotated[schemas.Version, Body()]

router = APIRouter(prefix="/api", responses=_PROBLEMS)


@router.get("/campaigns")
def list_campaigns(here: Here) -> list[schemas.CampaignShown]:
    """All campaigns."""
    return [_shown(campaign) for campaign in here.shelf.all()]


@router.post("/campaigns", status_code=201)
def create(here: Here, description: schemas.DescriptionBody) -> schemas.CampaignShown:
    """Creates a campaign from a description such as a YAML file holds."""
    return _shown(here.shelf.create(description.model_dump()))


@router.get("/campaigns/{campaign_id}")
def describe(campaign: ThisCampaign) -> dict[str, Any]:
    """The description: parameters, objective, constraints and settings."""
    return campaign.description.to_dict()


@router.get("/campaigns/{campaign_id}/status")
def status(campaign: ThisCampaign) -> schemas.StatusShown:
    """How many experiments there are, the best one, and what is left of the budget."""
    now = campaign.status
    return schemas.StatusShown(
        counts={outcome.value: now.counts[outcome] for outcome in Outcome},
        best=None if now.best is None else RunShown.of(now.best),
        budget=now.budget,
        n_left=now.n_left,
    )


@router.get("/campaigns/{campaign_id}/runs")
def list_runs(
    campaign: ThisCampaign, outcome: Annotated[schemas.Outcome | None, Query()] = None
) -> list[RunShown]:
    """All experiments by number, or those that are pending, ok, failed or lost."""
    runs = campaign.runs
    return [RunShown.of(run) for run in runs if outcome in (None, run.outcome.value)]


@router.get("/campaigns/{campaign_id}/runs/{number}")
def show_run(run: ThisRun) -> RunShown:
    """One experiment with all earlier entries."""
    return RunShown.of(run)


@router.post("/campaigns/{campaign_id}/suggest", status_code=201)
async def suggest(here: Here, campaign: ThisCampaign, ask: schemas.Ask) -> list[RunShown]:
    """The next experiments, which are pending from now on. Takes seconds."""
    numbers = await here.jobs.suggest(campaign.name, ask.q)
    runs = await run_in_threadpool(lambda: campaign.runs)
    return [RunShown.of(run) for run in runs if run.number in numbers]


@router.post("/campaigns/{campaign_id}/runs", status_code=201)
def add(campaign: ThisCampaign, experiment: schemas.Experiment) -> RunShown:
    """Records an experiment that was not suggested here."""
    return RunShown.of(campaign.add(**experiment.model_dump(exclude_unset=True)))


@router.post("/campaigns/{campaign_id}/runs/{number}/record", responses=_CONFLICT)
def record(campaign: ThisCampaign, run: ThisRun, entry: schemas.Entry) -> RunShown:
    """Writes down what came out of a pending experiment."""
    return RunShown.of(campaign.record(run.number, **_given(entry)))


@router.post("/campaigns/{campaign_id}/runs/{number}/correct", responses=_CONFLICT)
def correct(campaign: ThisCampaign, run: ThisRun, entry: schemas.Entry) -> RunShown:
    """Writes something else about a recorded experiment; what was there is kept as history."""
    return RunShown.of(campaign.correct(run.number, **_given(entry)))


@router.post("/campaigns/{campaign_id}/runs/{number}/undo", responses=_CONFLICT)
def undo(campaign: ThisCampaign, run: ThisRun, which: Which) -> RunShown:
    """Takes the last entry about a run back."""
    return RunShown.of(campaign.undo(run.number, version=which.version))


@router.post("/campaigns/{campaign_id}/runs/{number}/withdraw", responses=_CONFLICT)
def withdraw(campaign: ThisCampaign, run: ThisRun, which: Which) -> RunShown:
    """Takes a suggestion back: the run becomes lost, but is not repeated."""
    return RunShown.of(campaign.withdraw(run.number, version=which.version))


@router.post("/campaigns/{campaign_id}/import", responses=_BAD_ROWS)
def import_rows(campaign: ThisCampaign, table: schemas.Rows) -> schemas.ImportedShown:
    """Adds the experiments of a table, all of them or none."""
    done = campaign.import_cells(table.rows)
    return schemas.ImportedShown(
        added=[run.number for run in done.added],
        recorded=[run.number for run in done.recorded],
        corrected=[run.number for run in done.corrected],
        blank=[run.number for run in done.blank],
        n_known=done.n_known,
        noted=done.noted,
        differing=[run.number for run in done.differing],
    )


@router.post("/campaigns/{campaign_id}/predict")
async def predict(
    here: Here, campaign: ThisCampaign, asked: schemas.Designs
) -> list[schemas.Belief]:
    """What the models say about designs."""
    designs = [campaign.description.space.validate(design) for design in asked.designs]
    predictions = await here.jobs.predict(campaign.name, [dict(design) for design in designs])
    return [schemas.Belief.model_validate(prediction) for prediction in predictions]


def _given(entry: schemas.Entry) -> dict[str, Any]:
    """An entry as `Campaign.record` takes it; a note that was not given stays as it is."""
    return entry.model_dump(exclude_unset=True)


def _shown(campaign: Campaign) -> schemas.CampaignShown:
    objective = campaign.description.objective
    return schemas.CampaignShown(
        id=id_of(campaign.name),
        name=campaign.name,
        objective=objective.name,
        unit=objective.unit,
        direction=objective.direction,
    )
