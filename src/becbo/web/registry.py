"""The campaigns of one storage, found by the identifiers in URLs."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from optuna.storages import BaseStorage

from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.errors import NotFound
from becbo.campaign.runs import Run
from becbo.campaign.store import (
    checked_description,
    create_study,
    load_study,
    names_in,
)
from becbo.optuna.internals import close_connections
from becbo.optuna.storage import open_storage

_PLAIN = frozenset(string.ascii_letters + string.digits + "_-")


def id_of(name: str) -> str:
    """The identifier of a campaign in URLs.

    Not percent encoding: servers, proxies and browsers decode that on the way, and then take / and
    .. in a name for parts of a path.
    """
    return "".join(c if c in _PLAIN else _escaped(c) for c in name)


def _escaped(character: str) -> str:
    return "".join(f"~{byte:02X}" for byte in character.encode())


def state_of(campaign: Campaign, runs: list[Run]) -> str:
    """A digest that changes with the description of the campaign and with any of its runs."""
    entries = [(run.number, run.version, run.outcome.value, run.note) for run in runs]
    content = (campaign.description.to_dict(), entries)
    return hashlib.sha256(repr(content).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class CampaignRegistry:
    """The campaigns of one storage.

    A request names a campaign, and the name is looked up among those that exist: nothing that
    comes from a request is ever opened as a file. All requests share the connections to the
    storage.
    """

    def __init__(self, where: str | Path) -> None:
        self.where = where
        self._open: dict[str, Campaign] = {}  # by id

    @cached_property
    def _opened_storage(self) -> BaseStorage:
        return open_storage(self.where, heartbeat=None)

    def all(self) -> list[Campaign]:
        """All campaigns, sorted by name."""
        return [self._opened(name) for name in names_in(self._opened_storage)]

    def find(self, campaign_id: str) -> Campaign:
        """The campaign with that identifier, or NotFound."""
        if campaign_id not in self._open:
            for name in names_in(self._opened_storage):
                if id_of(name) == campaign_id:
                    self._opened(name)
        campaign = self._open.get(campaign_id)
        if campaign is None or campaign.is_deleted:
            raise NotFound(f"there is no campaign {campaign_id!r} here")
        return campaign

    def state(self, name: str) -> str:
        """A text that changes with the description of a campaign and with any of its runs."""
        campaign = self._opened(name)
        return state_of(campaign, campaign.runs)

    def deleted(self) -> list[Campaign]:
        """The campaigns that somebody deleted, sorted by name."""
        return [self._opened(name) for name in names_in(self._opened_storage, deleted=True)]

    def find_deleted(self, campaign_id: str) -> Campaign:
        """The deleted campaign with that identifier, or NotFound."""
        for campaign in self.deleted():
            if id_of(campaign.name) == campaign_id:
                return campaign
        raise NotFound(f"there is no deleted campaign {campaign_id!r} here")

    def create(self, description: Description | Mapping[str, Any]) -> Campaign:
        """Creates a campaign."""
        checked = checked_description(description)
        return Campaign(self.where, create_study(checked, self.where, self._opened_storage))

    def close(self) -> None:
        """Closes the connections to the storage."""
        if "_opened_storage" in vars(self):
            close_connections(self._opened_storage)

    def _opened(self, name: str) -> Campaign:
        campaign = self._open.get(id_of(name))
        if campaign is None:
            campaign = Campaign(self.where, load_study(self._opened_storage, name))
            self._open[id_of(name)] = campaign
        return campaign
