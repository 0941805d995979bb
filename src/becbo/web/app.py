"""The web application behind `becbo serve`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Depends, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp

from becbo.campaign.errors import Conflict, NotFound
from becbo.errors import BecboError
from becbo.optuna.breakage import BREAKAGE, StorageUnavailable, last_words
from becbo.tables.reading import BadTable
from becbo.web.context import ServerContext
from becbo.web.jobs import Busy, Jobs, WorkFailed
from becbo.web.registry import CampaignRegistry
from becbo.web.render import Assets, PageRenderer, problem_json, wants_json
from becbo.web.routes import api, campaigns, descriptions, designs, home, runs
from becbo.web.schemas import RunResponse
from becbo.web.security import Access, SecurityMiddleware

_logger = logging.getLogger(__name__)

_NO_STORAGE = (
    "The database does not answer; try again in a moment. No entry was written in part. "
    "The server's log says what is wrong."
)


def make_app(
    where: str | Path, access: Access | None = None, names: Collection[str] = ()
) -> ASGIApp:
    """Makes the web application: the pages and the REST interface.

    Args:
        where: The file or database of the campaigns.
        access: The token and the sessions; None lets everybody in.
        names: Host names of the server; IP addresses and localhost always work.

    Returns:
        The application.
    """
    access = access or Access()
    registry = CampaignRegistry(where)
    context = ServerContext(registry, Jobs(str(where), registry.state), access)
    assets = Assets()
    renderer = PageRenderer(assets, access)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(context.jobs.close)
        await run_in_threadpool(context.registry.close)

    app = FastAPI(
        title="becbo",
        summary="Experiments that can fail: get suggestions and record results.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load their scripts from other servers
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    app.state.context, app.state.renderer = context, renderer
    for pages in (home, campaigns, descriptions, designs, runs):
        app.include_router(pages.router)
    tokens = [] if access.is_open else [Depends(HTTPBearer(auto_error=False))]
    app.include_router(api.router, dependencies=tokens)

    @app.get("/static/{name}", include_in_schema=False)
    async def asset(request: Request, name: str) -> Response:
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        if (response := assets.response(name, takes_gzip)) is None:
            raise HTTPException(404, "There is no such file.")
        return response

    _answer_errors(app, renderer)
    return SecurityMiddleware(app, access, names, renderer.problem, is_public)


def is_public(path: str) -> bool:
    """Whether a path needs no token, as the login page and its files do not."""
    return path == "/login" or path.startswith("/static/")


def _answer_errors(app: FastAPI, renderer: PageRenderer) -> None:
    """Turns every error into a message for the user; details go to the log only."""
    statuses: dict[type[Exception], int] = {
        NotFound: 404,
        Conflict: 409,
        Busy: 429,
        WorkFailed: 503,
        BecboError: 422,
    }

    def expected(request: Request, error: Exception) -> Response:
        status = next(statuses[kind] for kind in type(error).__mro__ if kind in statuses)
        if wants_json(request):
            return problem_json(status, str(error), None, **_details(request, error))
        return renderer.problem(request, status, str(error))

    def http(request: Request, error: HTTPException) -> Response:
        message = error.detail if error.status_code != 404 else "There is no such page."
        headers = error.headers
        if error.status_code == 405:
            message, headers = (
                "The method is not allowed here.",
                {"Allow": _allowed_methods(request)},
            )
        return renderer.problem(request, error.status_code, message, headers)

    def invalid_request(request: Request, error: RequestValidationError) -> Response:
        if any(found["loc"][0] == "path" for found in error.errors()):
            return renderer.problem(request, 404, "There is no such page.")
        return renderer.problem(request, 422, _validation_message(error))

    def storage_failed(request: Request, error: Exception) -> Response:
        _logger.error("the storage does not answer: %s", last_words(error))
        return renderer.problem(request, 503, _NO_STORAGE, {"Retry-After": "10"})

    def unexpected(request: Request, error: Exception) -> Response:
        return renderer.problem(request, 500)

    app.exception_handler(BecboError)(expected)
    app.exception_handler(HTTPException)(http)
    app.exception_handler(RequestValidationError)(invalid_request)
    for kind in (*BREAKAGE, StorageUnavailable):
        app.exception_handler(kind)(storage_failed)
    app.exception_handler(Exception)(unexpected)


def _allowed_methods(request: Request) -> str:
    """The methods of all routes with this path; the framework names only those of the first."""
    methods: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(methods))


def _details(request: Request, error: Exception) -> dict[str, object]:
    """What a program can use besides the message."""
    if isinstance(error, BadTable):
        return {"problems": [{"line": p.line, "message": p.message} for p in error.problems]}
    if isinstance(error, Conflict) and "number" in request.path_params:
        context: ServerContext = request.app.state.context
        campaign = context.registry.find(request.path_params["campaign_id"])
        run = campaign.run(int(request.path_params["number"]))
        return {"run": RunResponse.of(run).model_dump()}
    return {}


def _validation_message(error: RequestValidationError) -> str:
    """What is wrong with a request, and where."""
    found = []
    for problem in error.errors()[:3]:
        where = ".".join(str(part) for part in problem["loc"][1:])
        found.append(f"{where}: {problem['msg']}" if where else str(problem["msg"]))
    return "; ".join(found)
