"""The page of one run, and the forms on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from becbo.campaign.campaign import Campaign
from becbo.campaign.errors import Conflict
from becbo.campaign.runs import Run
from becbo.errors import BecboError, InvalidInput
from becbo.web import forms
from becbo.web.context import CampaignDep, ContextDep, RunDep
from becbo.web.render import PageRenderer
from becbo.web.routes.common import (
    FormDep,
    Message,
    RendererDep,
    SubmittedForm,
    campaign_path,
    redirect,
)

router = APIRouter(prefix="/c/{campaign_id}/runs/{number}", include_in_schema=False)


@router.get("")
def run_page(request: Request, render: RendererDep, campaign: CampaignDep, run: RunDep) -> Response:
    """Shows one experiment with all entries about it."""
    return _run_page(request, render, campaign, run)


@router.get("/maps")
async def maps(context: ContextDep, campaign: CampaignDep, run: RunDep) -> Response:
    """Maps through the design of the run, as a section of the report."""
    return JSONResponse({"html": await context.jobs.maps(campaign.name, run.number), "why": {}})


@router.post("/record")
def record(
    request: Request, render: RendererDep, campaign: CampaignDep, run: RunDep, form: FormDep
) -> Response:
    """Records the result of a pending experiment."""
    try:
        result = forms.result_of(form.fields, campaign.description.outputs)
        note, version = forms.note_of(form.fields), forms.version_of(form.fields)
        campaign.record(run.number, **result, note=note or None, version=version)
    except (InvalidInput, Conflict) as error:
        return _refused(request, render, campaign, run.number, error, form.fields)
    return redirect(campaign_path(campaign), did="recorded", run=run.number)


@router.post("/correct")
def correct(
    request: Request, render: RendererDep, campaign: CampaignDep, run: RunDep, form: FormDep
) -> Response:
    """Replaces the result of a recorded experiment."""
    try:
        result = forms.result_of(form.fields, campaign.description.outputs)
        note, version = forms.note_of(form.fields), forms.version_of(form.fields)
        campaign.correct(run.number, **result, note=note, version=version)
    except (InvalidInput, Conflict) as error:
        return _refused(request, render, campaign, run.number, error, form.fields)
    return redirect(campaign_path(campaign), did="corrected", run=run.number)


@router.post("/undo")
def undo(
    request: Request, render: RendererDep, campaign: CampaignDep, run: RunDep, form: FormDep
) -> Response:
    """Takes back the last entry about a run."""
    return _taken_back(request, render, campaign, run, form, campaign.undo, "undone")


@router.post("/withdraw")
def withdraw(
    request: Request, render: RendererDep, campaign: CampaignDep, run: RunDep, form: FormDep
) -> Response:
    """Takes back a suggestion."""
    return _taken_back(request, render, campaign, run, form, campaign.withdraw, "withdrawn")


@router.post("/repeat")
def repeat(campaign: CampaignDep, run: RunDep, form: FormDep) -> Response:
    """Adds a pending run with the same design."""
    planned = campaign.plan(run.params, note=f"repeat of run {run.number}")
    return redirect(campaign_path(campaign), fragment="next", did="planned", run=planned.number)


def _taken_back(
    request: Request,
    render: PageRenderer,
    campaign: Campaign,
    run: Run,
    form: SubmittedForm,
    take_back: Callable[..., Run],
    did: str,
) -> Response:
    try:
        take_back(run.number, version=forms.version_of(form.fields))
    except (InvalidInput, Conflict) as error:
        return _refused(request, render, campaign, run.number, error, {})
    return redirect(campaign_path(campaign), did=did, run=run.number)


def _refused(
    request: Request,
    render: PageRenderer,
    campaign: Campaign,
    number: int,
    error: BecboError,
    typed: Mapping[str, str],
) -> Response:
    """The run in its present state; the form keeps what was typed."""
    now = campaign.run(number)
    if isinstance(error, Conflict):
        text = (
            f"Somebody else was faster: {error}. Your entry was not written. "
            "If it is the right one, send it as a correction."
        )
        return _run_page(request, render, campaign, now, 409, Message(text, True), typed)
    message = Message(f"Nothing was written: {error}", is_bad=True)
    return _run_page(request, render, campaign, now, 422, message, typed)


def _run_page(
    request: Request,
    render: PageRenderer,
    campaign: Campaign,
    run: Run,
    status: int = 200,
    message: Message | None = None,
    typed: Mapping[str, str] | None = None,
) -> Response:
    return render(
        request,
        "run.html",
        status,
        campaign=campaign,
        description=campaign.description,
        path=campaign_path(campaign),
        run=run,
        reasons=campaign.status.reasons,
        message=message,
        typed=typed or {},
    )
