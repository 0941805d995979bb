"""What every request can reach, and how it gets there."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from becbo.campaign.campaign import Campaign
from becbo.campaign.runs import Run
from becbo.web.jobs import Jobs
from becbo.web.security import Access
from becbo.web.shelf import Shelf, find_run

MAX_Q = 50  # experiments asked for at once


@dataclass(frozen=True)
class Context:
    """What the server holds."""

    shelf: Shelf
    jobs: Jobs
    access: Access


def _context(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


Here = Annotated[Context, Depends(_context)]


def _campaign(here: Here, campaign_id: str) -> Campaign:
    return here.shelf.find(campaign_id)


ThisCampaign = Annotated[Campaign, Depends(_campaign)]


def _run(campaign: ThisCampaign, number: int) -> Run:
    return find_run(campaign, number)


ThisRun = Annotated[Run, Depends(_run)]


def state_of(campaign: Campaign, runs: list[Run]) -> str:
    """A short text that changes with the description of the campaign and anything of its runs."""
    entries = [(run.number, run.version, run.outcome.value, run.note) for run in runs]
    told = (campaign.description.to_dict(), entries)
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]
