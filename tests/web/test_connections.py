"""Connections that are held open, and a log that does not grow with them."""

import logging
import re
import resource
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import pytest
from web.lab import TOKEN, serving

from becbo.web import connections
from becbo.web.app import make_app
from becbo.web.logs import MAX_LINES, WINDOW, RateLimit

N_FILES = 128
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HALF = b"GET /login HTTP/1.1\r\nHost: localhost\r\nX-Long: "
BODY = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc"
LARGE = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def address(where: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that is less patient than usual."""
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "SENDING_SECONDS"):
        monkeypatch.setattr(connections, name, 0.5)
    with serving(make_app(where)) as address:
        yield address


def connect(address: str, n_bytes: int | None = None) -> socket.socket:
    """A connection that keeps so many bytes which nobody has read yet."""
    host, _, port = address.removeprefix("http://").partition(":")
    made = socket.socket()
    made.settimeout(30)
    if n_bytes is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, n_bytes)
    made.connect((host, int(port)))
    return made


def is_closed(held: socket.socket) -> bool:
    """Waits until the server has closed a connection, whatever it may have said before."""
    try:
        while held.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", HALF, BODY], ids=["nothing", "half a header", "half a body"])
def test_a_request_that_does_not_come(address: str, sent: bytes) -> None:
    with connect(address) as held:
        held.sendall(sent)
        assert is_closed(held)


@pytest.mark.parametrize("path", ["/login", "/api/campaigns"])
def test_a_client_that_goes_away_is_no_error_of_the_server(
    address: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    kind = "json" if path.startswith("/api") else "x-www-form-urlencoded"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/{kind}\r\n"
    bearer = f"Authorization: Bearer {TOKEN}\r\nContent-Length: 1000\r\n\r\nabc"
    with connect(address) as held:
        held.sendall((head + bearer).encode())
    assert httpx.get(f"{address}/login").status_code == 200  # the server is at it
    time.sleep(0.2)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_header_in_drops(address: str) -> None:
    with connect(address) as held:
        held.sendall(HALF)
        while not select.select([held], [], [], 0.05)[0]:
            held.sendall(b"x")
        assert is_closed(held)


def test_a_second_request_that_does_not_come(address: str) -> None:
    with connect(address) as held:
        held.sendall(b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in held.recv(65536)
        held.sendall(HALF)
        assert is_closed(held)


def test_an_answer_that_nobody_takes(address: str, caplog: pytest.LogCaptureFixture) -> None:
    found = re.search(r"/static/plotly-\w+\.js", httpx.get(f"{address}/c/coating").text)
    assert found
    with connect(address, n_bytes=4096) as held:
        # Several times, because the system keeps some megabytes for a client to take later.
        held.sendall(LARGE % found[0].encode() * 12)
        for _ in range(600):
            if "too slow" in caplog.text:
                return
            time.sleep(0.05)
    raise AssertionError("the server still waits")


def test_a_slow_answer_is_not_a_slow_request(address: str) -> None:
    """Computing may take longer than any of the deadlines."""
    suggested = httpx.post(f"{address}/api/campaigns/coating/suggest", json={"q": 3}, timeout=120)
    assert suggested.status_code == 201


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (N_FILES, N_FILES))


def test_more_connections_than_files(where: Path) -> None:
    """Nobody without a token can keep out those who have it, or fill the disk with logs."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = "from becbo.cli import main; main()"
    options = ["serve", "--file", str(where), "--port", str(port), "--token", TOKEN]
    with (
        subprocess.Popen(
            [sys.executable, "-c", command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_few_files,
        ) as server,
        ExitStack() as held,
    ):
        assert server.stdout
        server.stdout.readline()
        for _ in range(2 * N_FILES):
            connection = held.enter_context(connect(f"http://127.0.0.1:{port}"))
            try:
                connection.sendall(HALF)
            except OSError:
                pass  # refused
        answers = _until_answered(f"http://127.0.0.1:{port}/api/campaigns")
        server.kill()
        _, log = server.communicate()
    assert answers.status_code == 200
    assert b"too many connections" in log
    assert len(log) < 20_000


def _until_answered(url: str) -> httpx.Response:
    for _ in range(600):
        try:
            return httpx.get(url, headers=BEARER, timeout=60)
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer any more")


def test_no_header_about_the_client_is_trusted(where: Path) -> None:
    with serving(make_app(where)) as address:
        told = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
        cookie = httpx.get(f"{address}/login", headers=told).headers["set-cookie"]
    assert "Secure" not in cookie


def test_the_log_counts_what_repeats() -> None:
    now = 0.0
    limit = RateLimit(lambda: now)

    def written(message: str, *args: object) -> str | None:
        record = logging.LogRecord("becbo", logging.WARNING, "", 0, message, args, None)
        return record.getMessage() if limit.filter(record) else None

    assert [written("slow: %s", i) for i in range(3 * MAX_LINES)].count(None) == 2 * MAX_LINES
    assert written("something else") == "something else"
    now += WINDOW
    assert written("slow: %s", 7) == f"slow: 7 (and {2 * MAX_LINES} more like this before)"
    assert written("slow: %s", 8) == "slow: 8"
