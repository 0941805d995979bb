"""The campaigns of one storage, found by the identifiers in URLs."""

from __future__ import annotations

import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.errors import NotFound
from becbo.campaign.store import campaign_names

_PLAIN = frozenset(string.ascii_letters + string.digits + "_-")


def id_of(name: str) -> str:
    """The identifier of a campaign in URLs.

    Not percent encoding: servers, proxies and browsers decode that on the way, and then take / and
    .. in a name for parts of a path.
    """
    return "".join(c if c in _PLAIN else _escaped(c) for c in name)


def _escaped(character: str) -> str:
    return "".join(f"~{byte:02X}" for byte in character.encode())


class CampaignRegistry:
    """The campaigns of one storage.

    A request names a campaign, and the name is looked up among those that exist: nothing that
    comes from a request is ever opened as a file.
    """

    def __init__(self, where: str | Path) -> None:
        self.where = where
        self._open: dict[str, Campaign] = {}  # by id

    def all(self) -> list[Campaign]:
        """All campaigns, sorted by name."""
        return [self._opened(name) for name in campaign_names(self.where)]

    def find(self, campaign_id: str) -> Campaign:
        """The campaign with that identifier, or NotFound."""
        if campaign_id in self._open:
            return self._open[campaign_id]
        for name in campaign_names(self.where):
            if id_of(name) == campaign_id:
                return self._opened(name)
        raise NotFound(f"there is no campaign {campaign_id!r} here")

    def create(self, description: Description | Mapping[str, Any]) -> Campaign:
        """Creates a campaign."""
        return Campaign.create(description, self.where)

    def _opened(self, name: str) -> Campaign:
        campaign = self._open.get(id_of(name))
        if campaign is None:
            campaign = self._open[id_of(name)] = Campaign.open(self.where, name)
        return campaign
