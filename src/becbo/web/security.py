"""Access control and the security headers of every response.

The middleware checks every request before the application sees it, so that no route can forget a
rule and an error page carries the same headers as any other.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import logging
import re
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 5_000_000  # bytes of a request, uploads included
WINDOW = 60.0  # seconds within which wrong tokens are counted
DELAY, MAX_DELAY = 0.1, 5.0  # seconds that the answer to a wrong token waits for each of them
SESSION_LIFE = 12 * 3600.0  # seconds without a request
MAX_SESSIONS = 10_000

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    # Two attributes of Plotly by their hashes: image-rendering, and an empty one.
    "style-src-attr 'unsafe-hashes' 'sha256-AR/cKIZjWPcPmBUPDA6oti9XBiTbJvz0Cro2J1VzzS8=' "
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_SESSION = re.compile(r"[\w-]{43}", re.ASCII)

Clock = Callable[[], float]

_logger = logging.getLogger(__name__)


class Attempts:
    """Wrong tokens of the last minute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: deque[float] = deque(maxlen=round(MAX_DELAY / DELAY))

    def add(self) -> float:
        """Counts a wrong token; returns how long its answer has to wait, in seconds."""
        while self._wrong and self._wrong[0] <= self._clock() - WINDOW:
            self._wrong.popleft()
        self._wrong.append(self._clock())
        return DELAY * len(self._wrong)


@dataclass
class Access:
    """The token, if one is needed, and the sessions that have given it.

    Sessions are kept in memory: when the server restarts, everybody has to log in again.

    Args:
        token: What users must know; None lets everybody in.
        clock: The time in seconds.
        sleep: Waits for some seconds.
    """

    token: str | None = None
    clock: Clock = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _sessions: dict[str, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Keep only a digest of the token."""
        self.is_open = self.token is None
        self._digest = self._mac("token", self.token or "")
        self.token = None
        self._attempts = Attempts(self.clock)

    async def check_token(self, given: str) -> bool:
        """Whether this is the token; the more wrong ones there were, the longer a no takes.

        Nobody can lock out, or slow down, those who know the token.
        """
        if hmac.compare_digest(self._mac("token", given), self._digest):
            return True
        delay = self._attempts.add()
        _logger.warning("somebody gave a wrong token")
        await self.sleep(delay)
        return False

    def log_in(self) -> str:
        """Opens a session; returns its name."""
        now = self.clock()
        kept = {s: t for s, t in self._sessions.items() if t > now - SESSION_LIFE}
        newest = sorted(kept.items(), key=lambda item: item[1])[-MAX_SESSIONS:]
        session = new_session()
        self._sessions = {**dict(newest), session: now}
        return session

    def log_out(self, session: str) -> None:
        """Ends a session."""
        self._sessions.pop(session, None)

    def is_logged_in(self, session: str) -> bool:
        """Whether the session has given the token and is not too old."""
        seen = self._sessions.get(session)
        if seen is None or seen <= self.clock() - SESSION_LIFE:
            return False
        self._sessions[session] = self.clock()
        return True

    def form_token(self, session: str) -> str:
        """The CSRF token that forms of this session contain; no other site can know it."""
        return self._mac("form", session)

    def check_form(self, session: str, given: object) -> None:
        """Refuses a form without the CSRF token of the session."""
        if not isinstance(given, str) or not hmac.compare_digest(
            given.encode(), self.form_token(session).encode()
        ):
            raise HTTPException(
                403,
                "This form is older than the server's last start, or from another site. "
                "Go back, reload the page and send it again.",
            )

    def _mac(self, purpose: str, text: str) -> str:
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()


def new_session() -> str:
    """A session name that nobody can guess."""
    return secrets.token_urlsafe(32)


def session_of(request: Request) -> str:
    """The session that the middleware has found or made."""
    session: str = request.state.session
    return session


def set_session(request: Request, response: Response, session: str) -> None:
    """Sets the session cookie."""
    response.headers.append("Set-Cookie", _cookie(request, session))


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused."""

    status: int
    message: str
    headers: Mapping[str, str] | None = None


Answer = Callable[[Request, int, str, Mapping[str, str] | None], Response]


class SecurityMiddleware:
    """Checks every request before the application sees it.

    Args:
        app: The application.
        access: The token and the sessions.
        names: Host names of the server, besides IP addresses.
        answer: Makes the response to a refused request.
        is_public: Which paths need no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        names: Collection[str],
        answer: Answer,
        is_public: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._access = access
        self._names = frozenset(name.lower() for name in names) | {"localhost"}
        self._answer = answer
        self._is_public = is_public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        known = _session_in(request)
        scope.setdefault("state", {})["session"] = known or new_session()
        is_page = not request.url.path.startswith(("/api/", "/static/"))
        cookie = None if known or not is_page else _cookie(request, session_of(request))
        send = _with_headers(send, cookie)
        if (refusal := await self._refusal(request)) is None:
            await self._app(scope, _limited(receive), send)
        elif refusal.status == 401 and is_page and request.method in _SAFE:
            await RedirectResponse("/login", 303)(scope, receive, send)
        else:
            answer = self._answer(request, refusal.status, refusal.message, refusal.headers)
            await answer(scope, receive, send)

    async def _refusal(self, request: Request) -> Refusal | None:
        if not self._is_ours(request.headers.get("host", "")):
            return Refusal(
                400,
                "The server does not know this host name; "
                "start it with --name to add the name you use.",
            )
        if request.method not in _SAFE and _is_foreign(request):
            return Refusal(403, "This request came from another site and was refused.")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > MAX_BODY:
            return Refusal(413, _too_large())
        return await self._without_token(request)

    def _is_ours(self, host: str) -> bool:
        """Whether a host is one of the server's.

        A site that points its own name to us (DNS rebinding) uses a name and not an address.
        """
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)

    async def _without_token(self, request: Request) -> Refusal | None:
        if self._access.is_open or self._is_public(request.url.path):
            return None
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            if await self._access.check_token(token.strip()):
                return None
        elif self._access.is_logged_in(session_of(request)):
            return None
        return Refusal(401, "The token is missing or wrong.", {"WWW-Authenticate": "Bearer"})


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_foreign(request: Request) -> bool:
    """Whether the browser says that a page of another site sent the request."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def _cookie_name(request: Request) -> str:
    # Cookies ignore ports: two servers on one machine must not share a session.
    server = request.scope.get("server") or ("", 0)
    return f"becbo-{server[1]}"


def _session_in(request: Request) -> str | None:
    session = request.cookies.get(_cookie_name(request), "")
    return session if _SESSION.fullmatch(session) else None


def _cookie(request: Request, session: str) -> str:
    secure = "; Secure" if request.url.scheme == "https" else ""
    return f"{_cookie_name(request)}={session}; HttpOnly; SameSite=Strict; Path=/{secure}"


def _with_headers(send: Send, cookie: str | None) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
            if cookie is not None and "set-cookie" not in headers:
                headers.append("Set-Cookie", cookie)
        await send(message)

    return sending


def _limited(receive: Receive) -> Receive:
    """Limits a body that comes in pieces and without its length."""
    n_bytes = 0

    async def receiving() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MAX_BODY:
            raise HTTPException(413, _too_large())
        return message

    return receiving


def _too_large() -> str:
    return f"The request is too large: at most {MAX_BODY // 1_000_000} MB can be sent at once."
