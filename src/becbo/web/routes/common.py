"""What the pages share: the renderer, submitted forms, messages and redirects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse

from becbo.campaign.campaign import Campaign
from becbo.web.context import ContextDep
from becbo.web.forms import Upload
from becbo.web.registry import id_of
from becbo.web.render import PageRenderer
from becbo.web.security import session_of


@dataclass(frozen=True)
class SubmittedForm:
    """A form that came from one of our pages."""

    fields: Mapping[str, str]
    upload: Upload | None


@dataclass(frozen=True)
class Message:
    """A message at the top of a page.

    Attributes:
        text: What happened.
        is_bad: Whether something was refused.
        items: Everything that is wrong, one line each.
        undo: The entry that can be taken back, as `Campaign.undo_last` takes it.
    """

    text: str
    is_bad: bool = False
    items: Sequence[str] = ()
    undo: int | None = None


def _renderer(request: Request) -> PageRenderer:
    renderer: PageRenderer = request.app.state.renderer
    return renderer


async def _submitted(request: Request, context: ContextDep) -> SubmittedForm:
    async with request.form(max_files=1, max_fields=2000) as form:
        context.access.check_form(session_of(request), form.get("csrf"))
        fields = {key: value for key, value in form.multi_items() if isinstance(value, str)}
        files = [file for file in form.values() if isinstance(file, UploadFile) and file.filename]
        uploads = [Upload(file.filename or "", await file.read()) for file in files]
    return SubmittedForm(fields, uploads[0] if uploads else None)


RendererDep = Annotated[PageRenderer, Depends(_renderer)]
FormDep = Annotated[SubmittedForm, Depends(_submitted)]


def campaign_path(campaign: Campaign) -> str:
    """The path of a campaign's page."""
    return f"/c/{id_of(campaign.name)}"


def redirect(path: str, fragment: str = "", **query: Any) -> RedirectResponse:
    """The answer to a form: the browser asks for this page next."""
    url = f"{path}?{urlencode(query, doseq=True)}" if query else path
    return RedirectResponse(f"{url}#{fragment}" if fragment else url, 303)
