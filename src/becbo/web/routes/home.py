"""The pages before a campaign: login, the list of campaigns, a new one, and the REST reference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from becbo.campaign.bounds import MAX_NAME
from becbo.campaign.describing import describe
from becbo.campaign.runs import clean_text
from becbo.errors import BecboError
from becbo.optuna.breakage import StorageUnavailable
from becbo.optuna.storage import without_password
from becbo.web import forms
from becbo.web.context import NAME_COOKIE, ContextDep
from becbo.web.description_form import description_of, row_numbers
from becbo.web.render import PageRenderer
from becbo.web.routes.common import FormDep, Message, RendererDep, campaign_path, redirect
from becbo.web.security import session_of, set_session

ROWS = {"output": 2, "parameter": 4}  # in the form of a new campaign
MAX_ROWS = 100
_YEAR = 365 * 86400  # seconds

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login_page(
    request: Request, context: ContextDep, render: RendererDep, token: str | None = None
) -> Response:
    """Asks for the token; the link that `becbo serve` prints has it already."""
    if token is None:
        return render(request, "login.html", message=None)
    if not await context.access.check_token(token):
        return _wrong_token(request, render)
    # Not a redirect: after a link on another site, browsers would follow it without the cookie.
    answer = render(request, "problem.html", title="Welcome", message="You are logged in.")
    answer.headers["Refresh"] = "0; url=/"
    set_session(request, answer, context.access.log_in())
    return answer


@router.post("/login")
async def login(
    request: Request, context: ContextDep, render: RendererDep, form: FormDep
) -> Response:
    """Opens a session for anyone who knows the token."""
    if not await context.access.check_token(form.fields.get("token", "").strip()):
        return _wrong_token(request, render)
    answer = redirect("/")
    set_session(request, answer, context.access.log_in())
    return answer


def _wrong_token(request: Request, render: PageRenderer) -> Response:
    message = Message("This is not the token. It was printed where the server was started.", True)
    return render(request, "login.html", 401, message=message)


@router.post("/logout")
async def logout(request: Request, context: ContextDep, form: FormDep) -> Response:
    """Ends the session."""
    context.access.log_out(session_of(request))
    return redirect("/login")


@router.post("/name")
async def set_name(request: Request, form: FormDep) -> Response:
    """Remembers who uses this browser; entries have that name from now on."""
    answer = redirect(_own_path(form.fields.get("back", "")))
    name = quote(clean_text(form.fields.get("name", ""))[:MAX_NAME])
    answer.set_cookie(
        NAME_COOKIE,
        name,
        max_age=_YEAR if name else 0,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


def _own_path(path: str) -> str:
    """A path on this server, whatever a form says."""
    return path if re.fullmatch(r"/([\w~-][\w~/-]*)?", path, re.ASCII) else "/"


@router.get("/")
def home(request: Request, context: ContextDep, render: RendererDep) -> Response:
    """Lists all campaigns."""
    shown = [(campaign, campaign.status) for campaign in context.registry.all()]
    where = PurePath(without_password(context.registry.where)).name
    return render(
        request, "home.html", campaigns=shown, deleted=context.registry.deleted(), where=where
    )


@router.post("/restore")
def restore(context: ContextDep, form: FormDep) -> Response:
    """Brings back a deleted campaign."""
    campaign = context.registry.find_deleted(form.fields.get("campaign", ""))
    campaign.restore()
    return redirect(campaign_path(campaign))


RowCount = Annotated[int, Query(ge=1, le=MAX_ROWS)]


@router.get("/new")
def new_page(
    request: Request,
    render: RendererDep,
    outputs: RowCount = ROWS["output"],
    parameters: RowCount = ROWS["parameter"],
) -> Response:
    """Shows the form of a new campaign."""
    rows = {"output": range(outputs), "parameter": range(parameters)}
    return _new_page(request, render, rows=rows)


@router.post("/new")
def create(request: Request, context: ContextDep, render: RendererDep, form: FormDep) -> Response:
    """Creates the campaign of the form."""
    try:
        created = context.registry.create(description_of(form.fields))
    except StorageUnavailable:
        raise  # not the fault of what was entered
    except BecboError as error:
        return _new_page(request, render, str(error), form.fields)
    return redirect(campaign_path(created))


@router.post("/new/file")
def create_from_file(
    request: Request, context: ContextDep, render: RendererDep, form: FormDep
) -> Response:
    """Creates the campaign of an uploaded or pasted description."""
    try:
        content = forms.parsed_description(form.upload, form.fields.get("yaml", ""))
        created = context.registry.create(describe(content))
    except StorageUnavailable:
        raise  # not the fault of what was entered
    except BecboError as error:
        return _new_page(request, render, str(error), form.fields)
    return redirect(campaign_path(created))


def _new_page(
    request: Request,
    render: PageRenderer,
    error: str = "",
    typed: Mapping[str, str] | None = None,
    rows: Mapping[str, Sequence[int]] | None = None,
) -> Response:
    message = Message(error, is_bad=True) if error else None
    return render(
        request,
        "describe.html",
        422 if error else 200,
        message=message,
        typed=typed or {},
        rows=rows or form_rows(typed or {}),
        campaign=None,
        state="",
    )


def form_rows(typed: Mapping[str, str]) -> dict[str, Sequence[int]]:
    """The rows of a form that describes a campaign: those that were sent, or a few."""
    return {group: row_numbers(typed, group) or range(n) for group, n in ROWS.items()}


@router.get("/docs/api")
def api_page(request: Request, render: RendererDep) -> Response:
    """Lists the calls of the REST interface."""
    document: dict[str, Any] = request.app.openapi()
    calls = [
        (method.upper(), path, call["description"])
        for path, methods in document["paths"].items()
        for method, call in methods.items()
    ]
    return render(request, "api.html", calls=calls, base=str(request.base_url).rstrip("/"))
