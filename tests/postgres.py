"""A real PostgreSQL server for the tests: started once, stopped at the end."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from postgres_server import NoServer, PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server."""
    try:
        server = PostgresServer()
    except NoServer as error:
        pytest.skip(str(error))
    with server:
        yield server


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> str:
    """The URL of a new, empty database."""
    return postgres_server.new_database()
