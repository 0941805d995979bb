"""Errors that only campaigns have."""

from __future__ import annotations

from becbo.errors import BecboError, InvalidInput


class Conflict(BecboError):
    """Somebody else wrote to the run first; the message says what the run is now."""


class NotFound(InvalidInput):
    """There is no such campaign or run, or several campaigns and no name to choose one by."""
