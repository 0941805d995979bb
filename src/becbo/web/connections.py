"""The HTTP server: how many connections there may be, and how long each may take.

Without these bounds anybody who can reach the port, token or not, could hold connections open until
the server has no file handles left.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

HEADER_SECONDS = 10.0  # until the headers of a request are there
BODY_SECONDS = 60.0  # until the rest of it is
SENDING_SECONDS = 60.0  # that a client may take nothing of an answer
IDLE_SECONDS = 5  # between two requests
MAX_CONNECTIONS = 400

_logger = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """A server that says when it listens, and ends as it should when it is interrupted."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._say_started()


def make_server(
    app: ASGIApp, started: Callable[[], None], proxy: str | None = None, **tls: Any
) -> uvicorn.Server:
    """A server with bounded connections; it trusts no header about the client.

    Args:
        app: The application.
        started: Called once the server listens.
        proxy: The address of a proxy, whose headers about the client are trusted.
        **tls: The options of uvicorn for the certificate.

    Returns:
        The server.
    """
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy,
        **tls,
    )
    return _Server(config, started)


def max_connections() -> int:
    """How many connections there may be: half of the files that this process may open at most."""
    if resource is None:
        return MAX_CONNECTIONS
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if n_files < 0 else min(MAX_CONNECTIONS, n_files // 2)


class BoundedProtocol(H11Protocol):
    """HTTP with deadlines for what a client has to send and to take."""

    _arrival: asyncio.TimerHandle | None = None
    _awaited: float | None = None
    _departure: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuses one connection too many."""
        super().connection_made(transport)
        if len(self.connections) > max_connections():
            _logger.warning("too many connections: refused one from %s", self.client)
            transport.abort()
            return
        self._await(HEADER_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Waits for the rest of the headers, then of the body, then for the application."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await(HEADER_SECONDS)
        else:
            self._await(BODY_SECONDS if self.cycle.more_body else None)

    def pause_writing(self) -> None:
        """The client does not take its answer."""
        super().pause_writing()
        self._departure = self.loop.call_later(SENDING_SECONDS, self._give_up)

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        _cancel(self._departure)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the deadlines."""
        super().connection_lost(exc)
        _cancel(self._arrival)
        _cancel(self._departure)

    def _await(self, seconds: float | None) -> None:
        """Sets the deadline for what comes next; more bytes of the same do not extend it."""
        if seconds == self._awaited:
            return
        _cancel(self._arrival)
        self._awaited = seconds
        if seconds is not None:
            self._arrival = self.loop.call_later(seconds, self._give_up)

    def on_response_complete(self) -> None:
        """A request that follows has a deadline of its own."""
        self._await(None)
        super().on_response_complete()

    def _give_up(self) -> None:
        _logger.warning("a connection was too slow: closed the one from %s", self.client)
        self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
