"""The password of a database is shown to nobody: page, REST, command line, logs."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url
from web.conftest import starting
from web.lab import COATING, Opens

from becbo.campaign.campaign import Campaign
from becbo.errors import InvalidInput
from becbo.optuna.internals import close_connections, storage_of
from becbo.optuna.storage import open_storage, without_password

pytest_plugins = ["postgres"]

PASSWORD = "hunter2-and-more"
RANGE = {
    "output-0-name": "y",
    "output-0-kind": "minimize",
    "parameter-0-name": "a",
    "parameter-0-low": "0",
    "parameter-0-high": "1",
}


@pytest.fixture
def url(postgres: str) -> str:
    """A database with a campaign; the server lets everybody in, whatever the password."""
    url = postgres.replace("becbo@", f"becbo:{PASSWORD}@", 1)
    close_connections(storage_of(Campaign.create(COATING, url)._study))
    return url


@pytest.fixture
def open_page(url: str) -> Iterator[Opens]:
    with starting(url) as start:
        yield start


@pytest.fixture
def away(url: str) -> Callable[[], None]:
    """Ends all connections to the database, and refuses new ones."""

    def take_away() -> None:
        name = make_url(url).database
        other = url.replace(f"/{name}?", "/postgres?", 1)
        with psycopg.connect(other, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )

    return take_away


def test_page_and_rest(open_page: Opens) -> None:
    site = open_page()
    answers = [
        site.json("/api/campaigns", COATING),
        site.send("/new", {"name": "coating", "parameter-0-kind": "number", **RANGE}),
        site.get("/"),
        site.get("/api/campaigns"),
        site.get("/c/nobody"),
    ]
    assert [answer.status_code for answer in answers] == [422, 422, 200, 200, 404]
    assert "already has" in answers[0].text and "already has" in answers[1].text
    assert not any(PASSWORD in answer.text for answer in answers)


def test_a_database_that_is_away(
    open_page: Opens, away: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    site = open_page()
    assert site.get("/c/coating").status_code == 200
    csrf = {"csrf": site.csrf()}
    away()
    with caplog.at_level(logging.DEBUG):
        answers = [
            site.get("/"),
            site.get("/c/coating"),
            site.get("/c/nobody"),
            site.get("/api/campaigns"),
            site.json("/api/campaigns", {**COATING, "name": "new"}),
            site.json("/api/campaigns/coating/runs/0/record", {"value": 1}),
            site.json("/api/campaigns/coating/suggest", {}),
            site.json("/api/campaigns/coating/import", {"rows": [["x"], ["1"]]}),
            site.client.post("/c/coating/runs/0/record", data={**csrf, "version": "0"}),
            site.client.post("/new", data={**csrf, "name": "new", **RANGE}),
            site.client.post(
                "/new/file", data={**csrf, "yaml": "name: x\nparameters: {a: {low: 0, high: 1}}"}
            ),
        ]
    assert [answer.status_code for answer in answers] == [503] * len(answers)
    assert all("does not answer" in answer.text for answer in answers), answers
    assert "not currently accepting connections" in caplog.text
    assert PASSWORD not in caplog.text + "".join(answer.text for answer in answers)


def becbo(*arguments: str, **environment: str) -> tuple[int, str]:
    """Runs the command as a process; returns its exit code and everything that it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "from becbo.cli import main; main()", *arguments],
        env={**os.environ, "COLUMNS": "200", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def test_the_command_line(url: str, tmp_path: Path) -> None:
    same, new = tmp_path / "same.json", tmp_path / "new.json"
    for path, name in ((same, "coating"), (new, "new")):
        path.write_text(json.dumps({**COATING, "name": name}))
    said = [
        becbo("new", str(same), "-f", url),
        becbo("status", "-c", "nope", "-f", url),
        becbo("suggest", "-f", url),
        becbo("new", str(new), "-f", url),
        becbo("new", str(same), BECBO_FILE=url),
        becbo("status", BECBO_FILE=url),
    ]
    text = "".join(output for _, output in said)
    assert [code for code, _ in said] == [2, 2, 0, 0, 2, 2], text
    assert PASSWORD not in text
    assert ":***@" in text


def test_the_command_line_without_its_database(url: str, away: Callable[[], None]) -> None:
    away()
    code, text = becbo("status", "-f", url)
    assert code == 2 and "not currently accepting connections" in text
    assert PASSWORD not in text and "Traceback" not in text


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("lab.db", "lab.db"),
        ("postgresql://me:secret@host/x", "postgresql://me:***@host/x"),
        ("postgresql://me@/x?password=secret&host=h", "postgresql://me@/x?host=h&password=hidden"),
        ("mysql://me:se%40cret@host/x", "mysql://me:***@host/x"),
        ("postgresql://me:sec@ret@host/x", "postgresql://***"),
        ("postgresql://me:sec/r@et@host/x", "postgresql://***"),
        ("postgresql://me:secret@host:port/x", "postgresql://***"),
    ],
)
def test_without_password(where: str, shown: str) -> None:
    assert without_password(where) == shown


@pytest.mark.parametrize("where", ["postgresql://me:sec@ret@host/x", "mysql://me:sec/r@et@host/x"])
def test_an_at_sign_in_a_password(where: str) -> None:
    with pytest.raises(InvalidInput, match="%40") as error:
        open_storage(where)
    assert "ret" not in str(error.value)
