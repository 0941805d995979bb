"""Responses: pages from templates, and errors with messages that help the reader."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from becbo.campaign.formatting import (
    chance_text,
    estimate,
    expected_text,
    margin_text,
    number,
    percent,
    plural,
    result_text,
    sentence,
    values_text,
)
from becbo.report.html import PLOTLY, STYLE
from becbo.trial import Outcome
from becbo.web.context import name_of
from becbo.web.description_form import OUTPUT_KINDS, PARAMETER_KINDS
from becbo.web.forms import MAX_REASONS
from becbo.web.registry import id_of
from becbo.web.security import Access, session_of

_HERE = Path(__file__).parent
_KINDS = {".css": "text/css", ".js": "text/javascript"}
OUTCOMES = {
    Outcome.PENDING: "pending",
    Outcome.OK: "worked",
    Outcome.FAILED: "failed",
    Outcome.LOST: "lost",
}
TITLES = {
    400: "The request was damaged",
    401: "Please log in",
    403: "Refused",
    404: "Not found",
    405: "Not found",
    409: "Somebody else was faster",
    413: "Too large",
    422: "The input cannot be used",
    429: "Too many requests",
    503: "Not available",
}
MAX_MESSAGE = 2000  # characters; a message may quote what was sent
_BROKEN = "Something went wrong; the server's log says what. No entry was written in part."


class Assets:
    """The files that pages load, each under a name that changes with its content.

    They are read once, when the server starts: a request cannot reach any other file.
    """

    def __init__(self) -> None:
        others = {"plotly.js": PLOTLY.encode(), "insight.css": STYLE.encode()}
        own = {path.name: path.read_bytes() for path in sorted((_HERE / "static").iterdir())}
        self._content: dict[str, bytes] = {}
        self._gzipped: dict[str, bytes] = {}
        self._urls: dict[str, str] = {}
        for name, content in {**own, **others}.items():
            stem, _, suffix = name.rpartition(".")
            unique = f"{stem}-{hashlib.sha256(content).hexdigest()[:12]}.{suffix}"
            self._content[unique] = content
            self._urls[name] = f"/static/{unique}"

    def url(self, name: str) -> str:
        """The address of a file."""
        return self._urls[name]

    def response(self, unique: str, is_compressed: bool) -> Response | None:
        """The file, compressed if the browser takes that, or None."""
        if (content := self._content.get(unique)) is None:
            return None
        kind = _KINDS[unique[unique.rindex(".") :]]
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable",
            "Vary": "Accept-Encoding",
        }
        if is_compressed:
            content, headers["Content-Encoding"] = self._compressed(unique), "gzip"
        return Response(content, media_type=kind, headers=headers)

    def _compressed(self, unique: str) -> bytes:
        if unique not in self._gzipped:
            self._gzipped[unique] = gzip.compress(self._content[unique], mtime=0)
        return self._gzipped[unique]


class PageRenderer:
    """Renders HTML pages from templates."""

    def __init__(self, assets: Assets, access: Access) -> None:
        self._access = access
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            asset=assets.url,
            OUTCOMES=OUTCOMES,
            Outcome=Outcome,
            PARAMETER_KINDS=PARAMETER_KINDS,
            OUTPUT_KINDS=OUTPUT_KINDS,
            plural=plural,
            chance=chance_text,
            margin=margin_text,
            max_reasons=MAX_REASONS,
        )
        self._templates.filters.update(
            number=number,
            percent=percent,
            estimate=estimate,
            result=result_text,
            values=values_text,
            expected=expected_text,
            sentence=sentence,
            when=time_text,
            id_of=id_of,
        )

    def __call__(
        self, request: Request, template: str, code: int = 200, **context: Any
    ) -> HTMLResponse:
        """Renders a template as a response.

        Args:
            request: The request to answer.
            template: The file name of the template.
            code: The HTTP status.
            **context: The variables of the template.

        Returns:
            The response.
        """
        text = self._templates.get_template(template).render(
            csrf=self._access.form_token(session_of(request)),
            needs_token=not self._access.is_open,
            is_inside=self._access.is_open or self._access.is_logged_in(session_of(request)),
            name=name_of(request),
            here=request.url.path,
            **context,
        )
        return HTMLResponse(text.encode("utf-8", "replace"), code)

    def problem(
        self,
        request: Request,
        status: int,
        message: str = _BROKEN,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """An error for a person or a program."""
        if wants_json(request):
            return problem_json(status, message, headers)
        title = TITLES.get(status, "Something went wrong")
        page = self(request, "problem.html", status, title=title, message=sentence(_short(message)))
        page.headers.update(headers or {})
        return page


def wants_json(request: Request) -> bool:
    """Whether the request is from a program, or from the script of a page."""
    accepted = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or accepted == "application/json"


def problem_json(
    status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """An error for a program."""
    # The message may quote the request, and JSON strings can hold what UTF-8 cannot.
    detail = _short(message).encode("utf-8", "replace").decode()
    return JSONResponse({"detail": detail, **more}, status, dict(headers or {}))


def _short(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}..."


def time_text(moment: datetime | None) -> str:
    """A time for people."""
    return "" if moment is None else f"{moment:%d %b %Y, %H:%M}"
