"""Designs of one's own: ask about one, and add it as the next run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from becbo.campaign.campaign import Campaign
from becbo.campaign.formatting import number
from becbo.errors import InvalidInput
from becbo.trial import Prediction
from becbo.web import forms
from becbo.web.context import CampaignDep, ContextDep
from becbo.web.render import PageRenderer
from becbo.web.routes.common import FormDep, Message, RendererDep, campaign_path, redirect

router = APIRouter(prefix="/c/{campaign_id}", include_in_schema=False)


@router.get("/what-if")
async def what_if_page(
    request: Request, context: ContextDep, render: RendererDep, campaign: CampaignDep
) -> Response:
    """Asks for a design, or shows what is known about the one in the address."""
    typed = dict(request.query_params)
    if not any(key.startswith("setting-") for key in typed):
        start = await run_in_threadpool(lambda: _starting_point(campaign))
        return await _page(request, render, campaign, start)
    try:
        params = await run_in_threadpool(lambda: _params(campaign, typed))
    except InvalidInput as error:
        return await _page(request, render, campaign, typed, error=str(error))
    answer = await context.jobs.what_if(campaign.name, params)
    return await _page(request, render, campaign, typed, answer)


@router.post("/plan")
def plan(campaign: CampaignDep, form: FormDep) -> Response:
    """Adds a design as the next run."""
    run = campaign.plan(_params(campaign, form.fields), forms.note_of(form.fields))
    return redirect(campaign_path(campaign), fragment="next", did="planned", run=run.number)


def _params(campaign: Campaign, typed: Mapping[str, str]) -> dict[str, Any]:
    description = campaign.description
    return description.space.validate(forms.params_of(typed, description))


def _starting_point(campaign: Campaign) -> dict[str, str]:
    """The fields of the form: the best design, or one of the front."""
    front, names = campaign.status.front, campaign.description.space.names
    values = [front[0].params[name] for name in names] if front else []
    return {f"setting-{i}": number(value) for i, value in enumerate(values)}


async def _page(
    request: Request,
    render: PageRenderer,
    campaign: Campaign,
    typed: Mapping[str, str],
    answer: Mapping[str, Any] | None = None,
    error: str = "",
) -> Response:
    believed = answer and answer["believed"]

    def rendered() -> Response:
        return render(
            request,
            "what_if.html",
            422 if error else 200,
            message=Message(error, is_bad=True) if error else None,
            typed=typed,
            campaign=campaign,
            description=campaign.description,
            path=campaign_path(campaign),
            answer=answer,
            believed=Prediction.from_dict(believed) if believed else None,
            status=campaign.status,
        )

    return await run_in_threadpool(rendered)
