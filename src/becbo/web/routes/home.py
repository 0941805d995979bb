"""The pages before a campaign: login, the list of campaigns, a new one, and the REST reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from becbo.campaign.describing import describe
from becbo.errors import BecboError
from becbo.optuna.storage import StorageUnavailable, without_password
from becbo.web import forms
from becbo.web.context import ContextDep
from becbo.web.render import PageRenderer
from becbo.web.routes.common import FormDep, Message, RendererDep, campaign_path, redirect
from becbo.web.security import client_of, session_of, set_session

ROWS = 5  # parameters in the form of a new campaign

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login_page(request: Request, render: RendererDep) -> Response:
    """Asks for the token."""
    return render(request, "login.html", message=None)


@router.post("/login")
async def login(
    request: Request, context: ContextDep, render: RendererDep, form: FormDep
) -> Response:
    """Opens a session for anyone who knows the token."""
    if not context.access.check_token(form.fields.get("token", "").strip(), client_of(request)):
        message = Message(
            "This is not the token. It was printed where the server was started.", True
        )
        return render(request, "login.html", 401, message=message)
    answer = redirect("/")
    set_session(request, answer, context.access.log_in())
    return answer


@router.post("/logout")
async def logout(request: Request, context: ContextDep, form: FormDep) -> Response:
    """Ends the session."""
    context.access.log_out(session_of(request))
    return redirect("/login")


@router.get("/")
def home(request: Request, context: ContextDep, render: RendererDep) -> Response:
    """Lists all campaigns."""
    shown = [(campaign, campaign.status) for campaign in context.registry.all()]
    where = PurePath(without_password(context.registry.where)).name
    return render(request, "home.html", campaigns=shown, where=where)


@router.get("/new")
def new_page(
    request: Request, render: RendererDep, rows: Annotated[int, Query(ge=1, le=100)] = ROWS
) -> Response:
    """Shows the form of a new campaign."""
    return _new_page(request, render, rows=range(rows))


@router.post("/new")
def create(request: Request, context: ContextDep, render: RendererDep, form: FormDep) -> Response:
    """Creates the campaign of the form."""
    try:
        created = context.registry.create(forms.description_of(form.fields))
    except StorageUnavailable:
        raise  # not the fault of what was entered
    except BecboError as error:
        rows = forms.row_numbers(form.fields) or range(ROWS)
        return _new_page(request, render, str(error), form.fields, rows)
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
    rows: Sequence[int] = range(ROWS),
) -> Response:
    message = Message(error, is_bad=True) if error else None
    status = 422 if error else 200
    return render(request, "new.html", status, message=message, typed=typed or {}, rows=rows)


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
