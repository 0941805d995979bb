"""A lab with one campaign, and ways to reach it."""

import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
from starlette.testclient import TestClient

from becbo.cli import main
from becbo.web.connections import make_server

COATING = {
    "name": "coating",
    "objective": {"name": "hardness", "unit": "HV", "direction": "maximize"},
    "parameters": {
        "temperature": {"low": 150, "high": 450, "unit": "°C"},
        "gas": {"choices": ["argon", "nitrogen"]},
    },
    "n_initial": 4,
    "budget": 20,
}
TOKEN = "correct horse battery"


@dataclass
class Site:
    """A browser without JavaScript: it keeps cookies and fills in the hidden fields of forms."""

    client: TestClient

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def csrf(self, page: str = "/new") -> str:
        found = re.search(r'name="csrf" value="(\w+)"', self.get(page).text)
        assert found
        return found[1]

    def send(
        self, path: str, fields: dict[str, str] | None = None, page: str = "/new", **options: Any
    ) -> httpx.Response:
        return self.client.post(path, data={"csrf": self.csrf(page), **(fields or {})}, **options)

    def json(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return self.client.post(path, json=body, **options)


Opens = Callable[..., Site]


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    bound = socket.create_server(("127.0.0.1", 0))
    listens = threading.Event()
    server = make_server(app, listens.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    listens.wait()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def run_server(where: str, port: int) -> None:
    """The command `becbo serve`, as a process of its own."""
    sys.argv = ["becbo", "serve", "--file", where, "--port", str(port), "--token", TOKEN]
    main()
