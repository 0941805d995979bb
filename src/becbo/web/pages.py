"""The pages: lists, forms and what happens when they are sent.

Every form is an ordinary one that ends in a redirect, so that all of this works without JavaScript;
the script of the page only keeps it up to date and draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import JSONResponse, RedirectResponse, Response

from becbo.campaign import files, tables
from becbo.campaign.campaign import Campaign, Conflict
from becbo.campaign.description import describe
from becbo.campaign.report import whole_page
from becbo.campaign.runs import Run
from becbo.campaign.words import about_import, plural
from becbo.errors import BecboError, InvalidInput
from becbo.trial import Outcome
from becbo.web import forms
from becbo.web.context import MAX_Q, Context, Here, ThisCampaign, ThisRun, state_of
from becbo.web.forms import Upload
from becbo.web.jobs import Job
from becbo.web.render import Pages, result
from becbo.web.security import MAX_BODY, client_of, session_of, set_session
from becbo.web.shelf import NotFound, find_run, id_of
from becbo.web.work import Learned

SHOWN = 100  # runs in the table unless all are asked for
ROWS = 5  # parameters in the form of a new campaign

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Posted:
    """A form that came from one of our pages."""

    fields: Mapping[str, str]
    upload: Upload | None


@dataclass(frozen=True)
class Message:
    """Something to tell at the top of a page."""

    words: str
    is_bad: bool = False
    items: Sequence[str] = ()


def _pages(request: Request) -> Pages:
    pages: Pages = request.app.state.pages
    return pages


async def _posted(request: Request, here: Here) -> Posted:
    async with request.form(max_files=1, max_fields=2000) as form:
        here.access.check_form(session_of(request), form.get("csrf"))
        fields = {key: value for key, value in form.multi_items() if isinstance(value, str)}
        files = [file for file in form.values() if isinstance(file, UploadFile) and file.filename]
        uploads = [Upload(file.filename or "", await file.read()) for file in files]
    return Posted(fields, uploads[0] if uploads else None)


Show = Annotated[Pages, Depends(_pages)]
Form = Annotated[Posted, Depends(_posted)]


@router.get("/login")
def login_page(request: Request, show: Show) -> Response:
    """Asks for the token."""
    return show(request, "login.html", message=None)


@router.post("/login")
async def login(request: Request, here: Here, show: Show, form: Form) -> Response:
    """Opens a session for whoever knows the token."""
    if not here.access.check_token(form.fields.get("token", "").strip(), client_of(request)):
        message = Message(
            "This is not the token. It was printed where the server was started.", True
        )
        return show(request, "login.html", 401, message=message)
    answer = _see("/")
    set_session(request, answer, here.access.log_in())
    return answer


@router.post("/logout")
async def logout(request: Request, here: Here, form: Form) -> Response:
    """Ends the session."""
    here.access.log_out(session_of(request))
    return _see("/login")


@router.get("/")
def home(request: Request, here: Here, show: Show) -> Response:
    """All campaigns."""
    shown = [(campaign, campaign.status) for campaign in here.shelf.all()]
    return show(request, "home.html", campaigns=shown, where=Path(str(here.shelf.where)).name)


@router.get("/new")
def new_page(
    request: Request, show: Show, rows: Annotated[int, Query(ge=1, le=100)] = ROWS
) -> Response:
    """The form of a new campaign."""
    return _new_page(request, show, rows=range(rows))


@router.post("/new")
def create(request: Request, here: Here, show: Show, form: Form) -> Response:
    """Creates the campaign of the form."""
    try:
        created = here.shelf.create(forms.description_of(form.fields))
    except BecboError as error:
        rows = forms.row_numbers(form.fields) or range(ROWS)
        return _new_page(request, show, str(error), form.fields, rows)
    return _see(_path(created))


@router.post("/new/file")
def create_from_file(request: Request, here: Here, show: Show, form: Form) -> Response:
    """Creates the campaign that a file or a pasted text describes."""
    try:
        content = forms.parsed_description(form.upload, form.fields.get("yaml", ""))
        created = here.shelf.create(describe(content))
    except BecboError as error:
        return _new_page(request, show, str(error), form.fields)
    return _see(_path(created))


def _new_page(
    request: Request,
    show: Pages,
    error: str = "",
    typed: Mapping[str, str] | None = None,
    rows: Sequence[int] = range(ROWS),
) -> Response:
    message = Message(error, is_bad=True) if error else None
    status = 422 if error else 200
    return show(request, "new.html", status, message=message, typed=typed or {}, rows=rows)


@router.get("/c/{campaign_id}")
def campaign_page(
    request: Request,
    here: Here,
    show: Show,
    campaign: ThisCampaign,
    did: str = "",
    run: int | None = None,
    added: int = 0,
    recorded: int = 0,
    corrected: int = 0,
    known: int = 0,
    noted: Annotated[Sequence[str], Query()] = (),
    differing: Annotated[Sequence[int], Query()] = (),
    blank: int = 0,
    all: bool = False,
) -> Response:
    """A campaign with everything that can be done with it."""
    message = None
    if did == "imported":
        done = _imported(added, recorded, corrected, known)
        message = Message(" ".join([done, *_about_blank(blank), *about_import(noted, differing)]))
    elif did in _DONE and run is not None:
        now = result(find_run(campaign, run).result, campaign.description)
        message = Message(f"Run {run} {_DONE[did]}: {now}.")
    return _campaign_page(request, here, show, campaign, message=message, all=all)


_DONE = {
    "recorded": "is recorded",
    "corrected": "is corrected",
    "undone": "is again as it was before",
    "withdrawn": "is withdrawn",
    "added": "is added",
}


def _about_blank(count: int) -> list[str]:
    what = f"Of these, {count} failed because the cell was empty"
    return [f"{what}; if that is not so, correct it on the page of the run."] if count else []


def _imported(added: int, recorded: int, corrected: int, known: int) -> str:
    parts = [
        (added, f"{plural(added, 'experiment')} added"),
        (recorded, f"{plural(recorded, 'result')} recorded"),
        (corrected, f"reason or note of {plural(corrected, 'experiment')} filled in"),
        (known, f"{plural(known, 'row')} skipped, known already or still pending"),
    ]
    return f"Imported: {', '.join(words for count, words in parts if count)}."


def _campaign_page(
    request: Request,
    here: Context,
    show: Pages,
    campaign: Campaign,
    status: int = 200,
    message: Message | None = None,
    typed: Mapping[str, str] | None = None,
    opened: str = "",
    all: bool = False,
) -> Response:
    jobs, runs = _seen(here, campaign)
    newest = sorted(runs, key=lambda run: -run.number)
    return show(
        request,
        "campaign.html",
        status,
        campaign=campaign,
        description=campaign.description,
        path=_path(campaign),
        runs=newest if all else newest[:SHOWN],
        n_runs=len(runs),
        pending=[run for run in runs if run.outcome is Outcome.PENDING],
        reasons=sorted({run.result.reason for run in runs if run.result.reason}),
        status=campaign.status,
        jobs=jobs,
        state=_state(campaign, jobs, runs),
        max_q=MAX_Q,
        max_mb=MAX_BODY // 1_000_000,
        max_rows=files.MAX_ROWS,
        message=message,
        typed=typed or {},
        opened=opened,
    )


@router.get("/c/{campaign_id}/state")
def state(here: Here, campaign: ThisCampaign) -> Response:
    """Changes whenever the page would look different."""
    return JSONResponse({"state": _state(campaign, *_seen(here, campaign))})


def _seen(here: Context, campaign: Campaign) -> tuple[list[Job], list[Run]]:
    # In this order: what a job finishes in between is among the runs. The other way round a page
    # would show neither the work nor what came of it.
    jobs = here.jobs.of(campaign.name)
    return jobs, campaign.runs


def _state(campaign: Campaign, jobs: list[Job], runs: list[Run]) -> str:
    at_work = (f"{job.n_done}/{job.q}{job.error}" for job in jobs)
    return "-".join([state_of(campaign, runs), *at_work])


@router.post("/c/{campaign_id}/suggest")
async def suggest(here: Here, campaign: ThisCampaign, form: Form) -> Response:
    """Starts to work out the next experiments; the page shows them as they come."""
    here.jobs.suggest(campaign.name, forms.count_of(form.fields, MAX_Q))
    return _see(_path(campaign), fragment="next")


@router.post("/c/{campaign_id}/add")
def add(request: Request, here: Here, show: Show, campaign: ThisCampaign, form: Form) -> Response:
    """Records an experiment that was not suggested here."""
    described = campaign.description
    try:
        params = forms.params_of(form.fields, described)
        came = forms.result_of(form.fields, described.objective)
        run = campaign.add(params, **came, note=forms.note_of(form.fields))
    except InvalidInput as error:
        message = Message(f"Nothing was added: {error}", is_bad=True)
        return _campaign_page(
            request, here, show, campaign, 422, message, form.fields, opened="add"
        )
    return _see(_path(campaign), did="added", run=run.number)


@router.post("/c/{campaign_id}/import")
def import_table(
    request: Request, here: Here, show: Show, campaign: ThisCampaign, form: Form
) -> Response:
    """Adds the experiments of a file, or shows everything that is wrong with it."""
    try:
        done = campaign.import_cells(forms.table_of(form.upload))
    except tables.BadTable as error:
        n_bad = plural(len({problem.line for problem in error.problems}), "row")
        message = Message(
            f"Nothing was imported: {n_bad} must be mended first. Lines count from the top.",
            is_bad=True,
            items=[str(problem) for problem in error.problems],
        )
    except InvalidInput as error:
        message = Message(f"Nothing was imported: {error}", is_bad=True)
    else:
        added, recorded = len(done.added), len(done.recorded)
        return _see(
            _path(campaign),
            did="imported",
            added=added,
            recorded=recorded,
            corrected=len(done.corrected),
            known=done.n_known,
            noted=done.noted,
            differing=[run.number for run in done.differing],
            blank=len(done.blank),
        )
    return _campaign_page(request, here, show, campaign, 422, message, opened="import")


@router.get("/c/{campaign_id}/export.{kind}")
def export(campaign: ThisCampaign, kind: str) -> Response:
    """All runs as a file."""
    if kind not in _EXPORTS:
        raise NotFound(f"There is no export as {kind!r}; there is {', '.join(_EXPORTS)}.")
    content = tables.content(f".{kind}", campaign.description, campaign.runs)
    return _file(campaign, kind, content, _EXPORTS[kind])


_EXPORTS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}


@router.get("/c/{campaign_id}/report.html")
async def download_report(here: Here, campaign: ThisCampaign) -> Response:
    """What was learned so far, as a file for a colleague."""
    _, lesson = await _learned(here, campaign)
    content = whole_page(campaign.name, lesson.html)
    return _file(campaign, "html", content, "text/html; charset=utf-8")


def _file(campaign: Campaign, kind: str, content: bytes | str, media_type: str) -> Response:
    disposition = f'attachment; filename="{id_of(campaign.name)}.{kind}"'
    return Response(content, media_type=media_type, headers={"Content-Disposition": disposition})


@router.get("/c/{campaign_id}/learned")
async def learned(here: Here, campaign: ThisCampaign) -> Response:
    """What was learned so far, as the report shows it."""
    state, lesson = await _learned(here, campaign)
    return JSONResponse({"state": state, "html": lesson.html, "why": lesson.why})


async def _learned(here: Context, campaign: Campaign) -> tuple[str, Learned]:
    state = await run_in_threadpool(lambda: state_of(campaign, campaign.runs))
    return await here.jobs.learned(campaign.name, state)


@router.get("/c/{campaign_id}/runs/{number}")
def run_page(request: Request, show: Show, campaign: ThisCampaign, run: ThisRun) -> Response:
    """One experiment with everything that was written about it."""
    return _run_page(request, show, campaign, run)


@router.post("/c/{campaign_id}/runs/{number}/record")
def record(
    request: Request, show: Show, campaign: ThisCampaign, run: ThisRun, form: Form
) -> Response:
    """Writes down what came out of a pending experiment."""
    try:
        came = forms.result_of(form.fields, campaign.description.objective)
        note, version = forms.note_of(form.fields), forms.version_of(form.fields)
        campaign.record(run.number, **came, note=note or None, version=version)
    except (InvalidInput, Conflict) as error:
        return _refused(request, show, campaign, run.number, error, form.fields)
    return _see(_path(campaign), did="recorded", run=run.number)


@router.post("/c/{campaign_id}/runs/{number}/correct")
def correct(
    request: Request, show: Show, campaign: ThisCampaign, run: ThisRun, form: Form
) -> Response:
    """Writes something else about a recorded experiment."""
    try:
        came = forms.result_of(form.fields, campaign.description.objective)
        note, version = forms.note_of(form.fields), forms.version_of(form.fields)
        campaign.correct(run.number, **came, note=note, version=version)
    except (InvalidInput, Conflict) as error:
        return _refused(request, show, campaign, run.number, error, form.fields)
    return _see(_path(campaign), did="corrected", run=run.number)


@router.post("/c/{campaign_id}/runs/{number}/undo")
def undo(
    request: Request, show: Show, campaign: ThisCampaign, run: ThisRun, form: Form
) -> Response:
    """Takes the last entry about a run back."""
    return _taken_back(request, show, campaign, run, form, campaign.undo, "undone")


@router.post("/c/{campaign_id}/runs/{number}/withdraw")
def withdraw(
    request: Request, show: Show, campaign: ThisCampaign, run: ThisRun, form: Form
) -> Response:
    """Takes a suggestion back."""
    return _taken_back(request, show, campaign, run, form, campaign.withdraw, "withdrawn")


def _taken_back(
    request: Request,
    show: Pages,
    campaign: Campaign,
    run: Run,
    form: Posted,
    take: Callable[..., Run],
    did: str,
) -> Response:
    try:
        take(run.number, version=forms.version_of(form.fields))
    except (InvalidInput, Conflict) as error:
        return _refused(request, show, campaign, run.number, error, {})
    return _see(_path(campaign), did=did, run=run.number)


def _refused(
    request: Request,
    show: Pages,
    campaign: Campaign,
    number: int,
    error: BecboError,
    typed: Mapping[str, str],
) -> Response:
    """The run as it stands now, with what was typed still there."""
    now = find_run(campaign, number)
    if isinstance(error, Conflict):
        words = (
            f"Somebody else was faster: {error}. Your entry was not written. "
            "If it is the right one, send it as a correction."
        )
        return _run_page(request, show, campaign, now, 409, Message(words, True), typed)
    message = Message(f"Nothing was written: {error}", is_bad=True)
    return _run_page(request, show, campaign, now, 422, message, typed)


def _run_page(
    request: Request,
    show: Pages,
    campaign: Campaign,
    run: Run,
    status: int = 200,
    message: Message | None = None,
    typed: Mapping[str, str] | None = None,
) -> Response:
    return show(
        request,
        "run.html",
        status,
        campaign=campaign,
        description=campaign.description,
        path=_path(campaign),
        run=run,
        message=message,
        typed=typed or {},
    )


@router.get("/docs/api")
def api_page(request: Request, show: Show) -> Response:
    """What the JSON API can do."""
    document: dict[str, Any] = request.app.openapi()
    calls = [
        (method.upper(), path, call["description"])
        for path, methods in document["paths"].items()
        for method, call in methods.items()
    ]
    return show(request, "api.html", calls=calls, base=str(request.base_url).rstrip("/"))


def _path(campaign: Campaign) -> str:
    return f"/c/{id_of(campaign.name)}"


def _see(path: str, fragment: str = "", **query: Any) -> RedirectResponse:
    address = f"{path}?{urlencode(query, doseq=True)}" if query else path
    return RedirectResponse(f"{address}#{fragment}" if fragment else address, 303)
