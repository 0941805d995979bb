"""The page of a campaign, its forms and its downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from becbo.campaign.campaign import Campaign
from becbo.campaign.errors import Conflict, NotFound
from becbo.campaign.formatting import plural, result_text
from becbo.campaign.runs import Run, last_entries
from becbo.campaign.status import status_of
from becbo.errors import InvalidInput
from becbo.outlook import gain_unit
from becbo.outputs import Outputs
from becbo.report.html import standalone_page
from becbo.tables.files import MAX_ROWS
from becbo.tables.importing import MAX_NAMED, import_cells, import_messages, named
from becbo.tables.reading import BadTable
from becbo.tables.writing import table_bytes
from becbo.trial import Outcome
from becbo.web import forms
from becbo.web.context import MAX_Q, CampaignDep, ContextDep, ServerContext
from becbo.web.jobs import SuggestionJob
from becbo.web.registry import id_of, state_of
from becbo.web.render import PageRenderer
from becbo.web.routes.common import FormDep, Message, RendererDep, campaign_path, redirect
from becbo.web.security import MAX_BODY
from becbo.web.tasks import RenderedInsight

SHOWN = 200  # runs in the table unless all are asked for

router = APIRouter(prefix="/c/{campaign_id}", include_in_schema=False)

_DONE = {
    "recorded": "is recorded",
    "corrected": "is corrected",
    "undone": "is back in its previous state",
    "withdrawn": "is withdrawn",
    "added": "is added",
    "planned": "is added to the next experiments",
}
_ENTRIES = ("recorded", "corrected", "added", "imported")  # what can be taken back at once
_EXPORTS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}


@router.get("")
def campaign_page(
    request: Request,
    context: ContextDep,
    render: RendererDep,
    campaign: CampaignDep,
    did: str = "",
    run: int | None = None,
    added: int = 0,
    recorded: int = 0,
    corrected: int = 0,
    known: int = 0,
    noted: int = 0,
    differing: Annotated[Sequence[int], Query()] = (),
    blank: Annotated[Sequence[int], Query()] = (),
    margin: str = "",
    all: bool = False,
) -> Response:
    """Shows a campaign with everything that can be done with it."""
    text = ""
    if did == "imported":
        done = _imported(added, recorded, corrected, known)
        more = [*_about_blank(blank), *_about_noted(noted), *import_messages([], differing)]
        text = " ".join([done, *more])
    elif did == "taken-back":
        text = f"{plural(recorded, 'run')} returned to the state before the last entry."
    elif did == "changed":
        places = f"in {plural(noted, 'place')}" if noted else "in nothing"
        text = f"The description is changed {places}."
    elif did == "planned" and run is not None:
        text = f"Run {run} {_DONE[did]}."
    elif did in _DONE and run is not None:
        now = result_text(campaign.run(run).result, campaign.description.outputs)
        text = f"Run {run} {_DONE[did]}: {now}."
    is_entry = did in _ENTRIES and (run is not None or added + recorded + corrected > 0)
    undo = _entry_to_undo(campaign, run) if is_entry else None
    message = Message(text, undo=undo) if text else None
    return _campaign_page(
        request, context, render, campaign, message=message, margin=margin, all=all
    )


def _entry_to_undo(campaign: Campaign, number: int | None) -> int | None:
    """The last entry, if it is the one that the message is about."""
    last = last_entries(campaign.runs)
    if not last or (number is not None and last[0][0].number != number):
        return None
    return last[0][1].trial


@router.post("/undo")
def undo_last(
    request: Request,
    context: ContextDep,
    render: RendererDep,
    campaign: CampaignDep,
    form: FormDep,
) -> Response:
    """Takes back the last entry, which may be a whole import."""
    try:
        undone = campaign.undo_last(entry=forms.whole_of(form.fields, "entry"))
    except (InvalidInput, Conflict) as error:
        message = Message(f"Nothing was taken back: {error}.", is_bad=True)
        status = 409 if isinstance(error, Conflict) else 422
        return _campaign_page(request, context, render, campaign, status, message)
    return redirect(campaign_path(campaign), did="taken-back", recorded=len(undone))


def _about_blank(numbers: Sequence[int]) -> list[str]:
    what = f"Of these, {named(numbers)} failed because no objective has a value"
    return [f"{what}; if that is wrong, correct it on the page of the run."] if numbers else []


def _about_noted(count: int) -> list[str]:
    return [f"{plural(count, 'other column')} went into the notes."] if count else []


def _imported(added: int, recorded: int, corrected: int, known: int) -> str:
    parts = [
        (added, f"{plural(added, 'experiment')} added"),
        (recorded, f"{plural(recorded, 'result')} recorded"),
        (corrected, f"reason or note of {plural(corrected, 'experiment')} filled in"),
        (known, f"{plural(known, 'row')} skipped, known already or still pending"),
    ]
    return f"Imported: {', '.join(text for count, text in parts if count)}."


def _campaign_page(
    request: Request,
    context: ServerContext,
    render: PageRenderer,
    campaign: Campaign,
    status: int = 200,
    message: Message | None = None,
    typed: Mapping[str, str] | None = None,
    opened: str = "",
    margin: str = "",
    all: bool = False,
) -> Response:
    jobs, runs = _jobs_and_runs(context, campaign)
    newest, description = sorted(runs, key=lambda run: -run.number), campaign.description
    status_now = status_of(description, runs)
    bad_margin = _bad_margin(margin, description.outputs)
    return render(
        request,
        "campaign.html",
        422 if bad_margin else status,
        campaign=campaign,
        description=description,
        path=campaign_path(campaign),
        runs=newest if all else newest[:SHOWN],
        n_runs=len(runs),
        pending=[run for run in runs if run.outcome is Outcome.PENDING],
        front={run.number for run in status_now.front},
        last=last_entries(runs),
        status=status_now,
        jobs=jobs,
        state=_state(campaign, jobs, runs),
        max_q=MAX_Q,
        max_mb=MAX_BODY // 1_000_000,
        max_rows=MAX_ROWS,
        message=message,
        typed=typed or {},
        opened=opened,
        margin=margin,
        bad_margin=bad_margin,
        margin_unit=gain_unit(description.outputs),
        all=all,
    )


def _bad_margin(margin: str, outputs: Outputs) -> str:
    """What is wrong with a margin; the page shows everything all the same."""
    try:
        forms.margin_of(margin, outputs)
    except InvalidInput as error:
        return str(error)
    return ""


@router.get("/state")
def state(context: ContextDep, campaign: CampaignDep) -> Response:
    """A text that changes whenever the page would look different."""
    return JSONResponse({"state": _state(campaign, *_jobs_and_runs(context, campaign))})


def _jobs_and_runs(
    context: ServerContext, campaign: Campaign
) -> tuple[list[SuggestionJob], list[Run]]:
    # In this order: a run that a job finishes in between is among the runs. The other way round a
    # page would show neither the job nor its run.
    jobs = context.jobs.of(campaign.name)
    runs = campaign.runs
    now = state_of(campaign, runs)
    return [job for job in jobs if job.state in ("", now)], runs


def _state(campaign: Campaign, jobs: list[SuggestionJob], runs: list[Run]) -> str:
    under_way = (f"{job.n_done}/{job.q}{job.error}" for job in jobs)
    return "-".join([state_of(campaign, runs), *under_way])


@router.post("/suggest")
async def suggest(context: ContextDep, campaign: CampaignDep, form: FormDep) -> Response:
    """Starts to compute the next experiments; the page shows them when they are ready."""
    context.jobs.suggest(campaign.name, forms.count_of(form.fields, MAX_Q))
    return redirect(campaign_path(campaign), fragment="next")


@router.post("/add")
def add(
    request: Request,
    context: ContextDep,
    render: RendererDep,
    campaign: CampaignDep,
    form: FormDep,
) -> Response:
    """Records an experiment that was not suggested here."""
    description = campaign.description
    try:
        params = forms.params_of(form.fields, description)
        result = forms.result_of(form.fields, description.outputs)
        run = campaign.add(params, **result, note=forms.note_of(form.fields))
    except InvalidInput as error:
        message = Message(f"Nothing was added: {error}", is_bad=True)
        return _campaign_page(
            request, context, render, campaign, 422, message, form.fields, opened="add"
        )
    return redirect(campaign_path(campaign), did="added", run=run.number)


@router.post("/import")
def import_table(
    request: Request,
    context: ContextDep,
    render: RendererDep,
    campaign: CampaignDep,
    form: FormDep,
) -> Response:
    """Imports the experiments of a file, or shows everything that is wrong with it."""
    try:
        done = import_cells(campaign, forms.table_of(form.upload))
    except BadTable as error:
        n_bad = plural(len({problem.line for problem in error.problems}), "row")
        message = Message(
            f"Nothing was imported: {n_bad} must be corrected first. Lines count from the top.",
            is_bad=True,
            items=[str(problem) for problem in error.problems],
        )
    except InvalidInput as error:
        message = Message(f"Nothing was imported: {error}", is_bad=True)
    else:
        return redirect(
            campaign_path(campaign),
            did="imported",
            added=len(done.added),
            recorded=len(done.recorded),
            corrected=len(done.corrected),
            known=done.n_known,
            noted=len(done.noted),
            # The address stays short, however many there are.
            differing=[run.number for run in done.differing[: MAX_NAMED + 1]],
            blank=[run.number for run in done.blank[: MAX_NAMED + 1]],
        )
    return _campaign_page(request, context, render, campaign, 422, message, opened="import")


@router.get("/export.{kind}")
def export(campaign: CampaignDep, kind: str) -> Response:
    """All runs as a file."""
    if kind not in _EXPORTS:
        raise NotFound(f"there is no export as {kind!r}; there is {', '.join(_EXPORTS)}")
    content = table_bytes(f".{kind}", campaign.description, campaign.runs)
    return _file(campaign, kind, content, _EXPORTS[kind])


@router.get("/report.html")
async def download_report(context: ContextDep, campaign: CampaignDep, margin: str = "") -> Response:
    """The report as a file."""
    _, _, html = await _insight(context, campaign, margin)
    content = standalone_page(campaign.name, html)
    return _file(campaign, "html", content, "text/html; charset=utf-8")


def _file(campaign: Campaign, kind: str, content: bytes | str, media_type: str) -> Response:
    disposition = f'attachment; filename="{id_of(campaign.name)}.{kind}"'
    return Response(content, media_type=media_type, headers={"Content-Disposition": disposition})


@router.get("/insight")
async def insight(context: ContextDep, campaign: CampaignDep, margin: str = "") -> Response:
    """What was learned so far, as sections of the report."""
    state, found, html = await _insight(context, campaign, margin)
    told = {"state": state, "html": html, "why": found.why, "repeat": found.repeat}
    return JSONResponse(told)


async def _insight(
    context: ServerContext, campaign: Campaign, margin: str
) -> tuple[str, RenderedInsight, str]:
    """The state of the runs, what they have taught, and its sections with the margin."""
    description = await run_in_threadpool(lambda: campaign.description)
    checked = forms.margin_of(margin, description.outputs)
    state = await run_in_threadpool(lambda: state_of(campaign, campaign.runs))
    state, found = await context.jobs.insight(campaign.name, state)
    return state, found, found.sections.html(checked)
