"""Fixtures for the page and its API."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import optuna
import pytest
from starlette.testclient import TestClient
from web.lab import COATING, Opens, Site

from becbo.campaign.campaign import Campaign
from becbo.web.app import make_app
from becbo.web.security import Access

optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage with a campaign of five runs: 0 to 2 worked, 3 failed, 4 is pending.

    Made once, because SQLite takes seconds to create the tables of Optuna.
    """
    where = tmp_path_factory.mktemp("made") / "lab.db"
    campaign = Campaign.create(COATING, where)
    for temperature in (200.0, 250.0, 300.0):
        campaign.add({"temperature": temperature, "gas": "argon"}, temperature + 100)
    campaign.add({"temperature": 440.0, "gas": "argon"}, failed="cracked")
    campaign.suggest(1)
    return where


@pytest.fixture
def where(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "lab.db"))


@pytest.fixture
def campaign(where: Path) -> Campaign:
    return Campaign.open(where, "coating")


@contextmanager
def starting(where: Path | str) -> Iterator[Opens]:
    """Starts the application; keywords are those of `make_app` and of the client."""
    with ExitStack() as clients:

        def start(access: Access | None = None, **client: Any) -> Site:
            settings = {"base_url": "http://localhost:8000", "follow_redirects": False, **client}
            app = make_app(where, access, names=["lab.example"])
            return Site(clients.enter_context(TestClient(app, **settings)))

        yield start


@pytest.fixture
def open_site(where: Path) -> Iterator[Opens]:
    with starting(where) as start:
        yield start


@pytest.fixture
def site(open_site: Opens) -> Site:
    return open_site()


@pytest.fixture(scope="session")
def shared(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that tests only look at: what they send is refused."""
    where = Path(shutil.copy(made, tmp_path_factory.mktemp("shared") / "lab.db"))
    with starting(where) as start:
        yield start()


@pytest.fixture
def shared_site(shared: Site) -> Site:
    shared.client.cookies.clear()
    return shared
