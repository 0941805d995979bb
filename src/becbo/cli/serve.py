"""`becbo serve`: the web pages and the REST interface."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import Console
from rich.markup import escape

from becbo.cli.options import FILE, FileOption
from becbo.errors import InvalidInput

# Hosts that mean all addresses of a machine, and an address elsewhere (RFC 5737, 3849).
_EVERYWHERE = {
    "0.0.0.0": (socket.AF_INET, "192.0.2.1"),
    "::": (socket.AF_INET6, "2001:db8::1"),
}
EXAMPLE = "Example: [bold]becbo serve --file lab.db[/bold], then open the link that it prints"


def serve(
    file: FileOption = FILE,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="BECBO_TOKEN",
            help="What users must know to log in. Without this option it is made at the first "
            "start and kept for the next.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A host name of this server. Can be repeated."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="A TLS certificate (PEM), for https.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The private key of the certificate.")] = None,
    proxy: Annotated[
        str | None,
        typer.Option(help="The address of a proxy whose X-Forwarded headers can be trusted."),
    ] = None,
) -> None:
    """Show campaigns in a browser, and let instruments use them over HTTP.

    Open the link that it prints: it has the token, which programs send as
    `Authorization: Bearer TOKEN`. Only this machine can connect, unless you set --host.
    """
    import optuna

    from becbo.optuna.storage import open_storage
    from becbo.web.app import make_app
    from becbo.web.connections import make_server
    from becbo.web.logs import configure_logs
    from becbo.web.security import Access
    from becbo.web.tokens import MIN_TOKEN, remembered_token

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if token is not None and len(token) < MIN_TOKEN:
        raise InvalidInput(f"--token has {len(token)} characters; use at least {MIN_TOKEN}")
    _check_readable(certificate, key)
    open_storage(file, heartbeat=None)  # report a problem now, not on a page
    shown = remembered_token() if token is None else None
    bound = _bind(host, port)
    names = {host, socket.gethostname(), socket.getfqdn(), *(name or ())}
    app = make_app(file, Access(token or shown), names)
    configure_logs()
    announce = partial(_announce, bound, host, certificate is not None, shown)
    server = make_server(app, announce, proxy, ssl_certfile=certificate, ssl_keyfile=key)
    server.run(sockets=[bound])


def _check_readable(certificate: Path | None, key: Path | None) -> None:
    for option, path in (("--certificate", certificate), ("--key", key)):
        if path is not None and not path.is_file():
            raise InvalidInput(f"{option} {path} is not a file")
    if key is not None and certificate is None:
        raise InvalidInput("--key needs --certificate")


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; "
            "choose another --host or --port"
        ) from error


def _announce(bound: socket.socket, host: str, is_secure: bool, token: str | None) -> None:
    scheme, port = "https" if is_secure else "http", bound.getsockname()[1]
    console = Console()
    addresses = [f"{scheme}://{shown}:{port}" for shown in _reachable(host)]
    if token is not None:  # one that the user gave is not printed
        addresses = [f"{address}/login?token={quote(token)}" for address in addresses]
    console.print(f"becbo serves {escape(' or '.join(addresses))} (Ctrl-C ends it)", soft_wrap=True)
    if not is_secure and host not in ("127.0.0.1", "::1", "localhost"):
        console.print(
            "without --certificate, anyone who can listen on the network can read the token",
            style="yellow",
            soft_wrap=True,
        )


def _reachable(host: str) -> list[str]:
    """Host names to open in a browser; 0.0.0.0 means all addresses and is not one itself."""
    if host not in _EVERYWHERE:
        return [f"[{host}]" if ":" in host else host]
    family, elsewhere = _EVERYWHERE[host]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((elsewhere, 9))  # sends nothing, but chooses a route, hence an address
        except OSError:  # no network
            return [socket.gethostname()]
        own = probe.getsockname()[0]
    return [socket.gethostname(), f"[{own}]" if ":" in own else own]
