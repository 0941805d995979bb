"""The description of a campaign: change it, or delete the campaign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.errors import InvalidInput
from becbo.web import forms
from becbo.web.context import CampaignDep
from becbo.web.description_form import changed_description, fields_of
from becbo.web.registry import state_of
from becbo.web.render import PageRenderer
from becbo.web.routes.common import FormDep, Message, RendererDep, campaign_path, redirect
from becbo.web.routes.home import form_rows

router = APIRouter(prefix="/c/{campaign_id}", include_in_schema=False)


@router.get("/change")
def change_page(request: Request, render: RendererDep, campaign: CampaignDep) -> Response:
    """Shows the description in a form."""
    return _change_page(request, render, campaign, fields_of(campaign.description))


@router.post("/change")
def change(request: Request, render: RendererDep, campaign: CampaignDep, form: FormDep) -> Response:
    """Replaces the description by that of the form."""
    try:
        return _changed(campaign, changed_description(campaign.description, form.fields))
    except InvalidInput as error:
        return _change_page(request, render, campaign, form.fields, str(error))


@router.post("/change/file")
def change_by_file(
    request: Request, render: RendererDep, campaign: CampaignDep, form: FormDep
) -> Response:
    """Replaces the description by an uploaded or pasted one."""
    try:
        content = forms.parsed_description(form.upload, form.fields.get("yaml", ""))
        return _changed(campaign, content)
    except InvalidInput as error:
        typed = {**fields_of(campaign.description), **form.fields}
        return _change_page(request, render, campaign, typed, str(error))


@router.post("/delete")
def delete(campaign: CampaignDep, form: FormDep) -> Response:
    """Takes the campaign out of the list, from which it can be restored."""
    campaign.delete()
    return redirect("/")


def _changed(campaign: Campaign, content: Any) -> Response:
    different = campaign.change(describe(content))
    return redirect(campaign_path(campaign), did="changed", noted=len(different))


def _change_page(
    request: Request,
    render: PageRenderer,
    campaign: Campaign,
    typed: Mapping[str, str],
    error: str = "",
) -> Response:
    message = Message(f"Nothing was changed: {error}", is_bad=True) if error else None
    return render(
        request,
        "describe.html",
        422 if error else 200,
        message=message,
        typed=typed,
        rows=form_rows(typed),
        campaign=campaign,
        path=campaign_path(campaign),
        state=state_of(campaign, []),
    )
