"""The fixture `workers`, apart from what it gives: pytest wants to import its plugins first."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from worker_processes import Workers


@pytest.fixture(params=["study.db"])
def workers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workers]:
    is_server = request.param == "postgresql"
    where = request.getfixturevalue("postgres") if is_server else str(tmp_path / request.param)
    workers = Workers(tmp_path, where)
    yield workers
    workers.close()
