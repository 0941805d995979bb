"""What every request can reach, as FastAPI dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request

from becbo.campaign.bounds import MAX_NAME
from becbo.campaign.campaign import Campaign
from becbo.campaign.runs import Run
from becbo.web.jobs import Jobs
from becbo.web.registry import CampaignRegistry
from becbo.web.security import Access

NAME_COOKIE = "becbo-name"
NAME_HEADER = "X-Becbo-Name"  # percent-encoded, as in a URL
MAX_Q = 50  # experiments asked for at once
MAX_HISTORY = 5000  # experiments of a history that is sent along


@dataclass(frozen=True)
class ServerContext:
    """What all requests share."""

    registry: CampaignRegistry
    jobs: Jobs
    access: Access


def _context(request: Request) -> ServerContext:
    context: ServerContext = request.app.state.context
    return context


ContextDep = Annotated[ServerContext, Depends(_context)]


def name_of(request: Request) -> str:
    """The name of whoever sends a request: a browser keeps it, and a program can send it."""
    given = request.cookies.get(NAME_COOKIE) or request.headers.get(NAME_HEADER, "")
    return unquote(given)[:MAX_NAME]


def _campaign(context: ContextDep, request: Request, campaign_id: str) -> Campaign:
    return context.registry.find(campaign_id).signed(name_of(request))


CampaignDep = Annotated[Campaign, Depends(_campaign)]


def _run(campaign: CampaignDep, number: int) -> Run:
    return campaign.run(number)


RunDep = Annotated[Run, Depends(_run)]
