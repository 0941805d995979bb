"""An import is one transaction: it is killed half way, and others look on."""

import subprocess
import sys
import textwrap
from pathlib import Path

import openpyxl
import pytest
import sqlalchemy

from becbo.campaign.campaign import Campaign
from becbo.campaign.errors import Conflict
from becbo.optuna.internals import close_connections, storage_of
from becbo.tables.importing import import_cells, import_table
from becbo.tables.reading import BadTable
from becbo.trial import Outcome

pytest_plugins = ["postgres"]

N_ROWS = 300
PLAN = {"name": "lab", "parameters": {"x": {"low": 0, "high": 1}}, "n_initial": 2}
TABLE = [["x", "value"], *([i / N_ROWS, float(i)] for i in range(N_ROWS))]

# Waits for its end when half of the settings are inserted.
IMPORT = """
    import sys, time
    from sqlalchemy import Engine, event
    from becbo.campaign.campaign import Campaign
    from becbo.tables.importing import import_cells

    campaign, n_rows, inserted = Campaign.open(sys.argv[1]), int(sys.argv[2]), 0

    @event.listens_for(Engine, "after_cursor_execute")
    def wait(connection, cursor, statement, parameters, context, is_many):
        global inserted
        if statement.startswith("INSERT INTO trial_params"):
            inserted += len(parameters) if is_many else 1
            if inserted >= n_rows / 2:
                print("half way", flush=True)
                time.sleep(600)

    import_cells(campaign, [["x", "value"], *([i / n_rows, i] for i in range(n_rows))])
"""


@pytest.fixture(params=["file", "server"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / "lab.db")
    url: str = request.getfixturevalue("postgres")
    return url


def count_trials(where: str) -> int:
    """What somebody else sees."""
    url = where.replace("postgresql:", "postgresql+psycopg:")
    engine = sqlalchemy.create_engine(url if "://" in url else f"sqlite:///{where}")
    with engine.connect() as connection:
        n: int = connection.execute(sqlalchemy.text("SELECT count(*) FROM trials")).scalar_one()
    engine.dispose()
    return n


def test_a_killed_import_leaves_nothing(where: str) -> None:
    campaign = Campaign.create(PLAN, where)
    (pending,) = campaign.suggest()
    close_connections(storage_of(campaign._study))
    command = [sys.executable, "-c", textwrap.dedent(IMPORT), where, str(N_ROWS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as importing:
        assert importing.stdout
        assert importing.stdout.readline() == "half way\n"
        assert count_trials(where) == 1
        importing.kill()
    campaign = Campaign.open(where)
    assert campaign.runs == [pending]
    assert len(import_cells(campaign, TABLE).added) == N_ROWS
    assert [run.value for run in campaign.runs] == [None, *map(float, range(N_ROWS))]
    close_connections(storage_of(campaign._study))


# Stops where the argument says: before the table is read, or while its rows are compared with runs,
# when nobody else can write.
SLOW_IMPORT = """
    import sys
    from becbo.campaign.campaign import Campaign
    from becbo.tables import importing

    where, table, stop = sys.argv[1:]
    usual = getattr(importing, stop)

    def waiting(*arguments):
        print("waits", flush=True)
        sys.stdin.readline()
        return usual(*arguments)

    setattr(importing, stop, waiting)
    importing.import_table(Campaign.open(where), table)
"""


@pytest.mark.parametrize("stop", ["read_table", "match_rows"])
def test_nobody_waits_for_an_import_to_get_a_suggestion(
    where: str, stop: str, tmp_path: Path
) -> None:
    (tmp_path / "old.csv").write_text("\n".join(f"{x},{y}" for x, y in TABLE))
    close_connections(storage_of(Campaign.create(PLAN, where)._study))
    code = textwrap.dedent(SLOW_IMPORT)
    command = [sys.executable, "-c", code, where, str(tmp_path / "old.csv"), stop]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as importing:
        assert importing.stdin and importing.stdout
        assert importing.stdout.readline() == "waits\n"
        locks = [(path, path.stat().st_ino) for path in tmp_path.glob(".*.lock")]
        campaign = Campaign.open(where)
        (suggested,) = campaign.suggest()
        assert [run.number for run in campaign.runs] == [suggested.number]
        assert importing.poll() is None  # it is still in the midst of it
        # Nobody took its lock away, as those do who have waited for too long.
        assert [(path, path.stat().st_ino) for path, _ in locks] == locks
        importing.communicate("go on\n")
    assert importing.returncode == 0
    assert len(campaign.runs) == 1 + N_ROWS
    close_connections(storage_of(campaign._study))


PLACES = ("lab.db", "lab.journal")


@pytest.fixture(params=PLACES)
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Campaign:
    return Campaign.create(PLAN, tmp_path / request.param)


def test_everything_at_once(campaign: Campaign) -> None:
    """New rows, results of pending runs and missing reasons; then all of it is undone."""
    waiting = campaign.suggest(2)
    failed = campaign.add({"x": 0.25}, failed=True)
    before = campaign.runs
    table = [
        ["number", "x", "value", "reason"],
        *([run.number, run.params["x"], 7.5, ""] for run in waiting),
        ["", 0.25, "failed", "cracked"],
        ["", 0.5, 8.5, ""],
    ]
    done = import_cells(campaign, table)
    assert [run.number for run in done.recorded] == [run.number for run in waiting]
    assert [run.number for run in done.corrected] == [failed.number]
    assert [run.value for run in campaign.runs] == [7.5, 7.5, None, 8.5]
    assert campaign.run(failed.number).reason == "cracked"
    assert len({run.entry.batch for run in campaign.runs if run.entry}) == 1
    assert len(campaign.undo_last()) == 4
    now = campaign.runs
    assert [run.result for run in now[:3]] == [run.result for run in before]
    assert now[3].outcome is Outcome.LOST


def test_somebody_records_a_run_meanwhile(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As optuna-dashboard does, which takes no lock: nothing of the import is written."""
    (run,) = campaign.suggest()
    stale = campaign.runs
    campaign.record(run.number, 5.0)
    before = campaign.runs
    with monkeypatch.context() as patched, pytest.raises(Conflict, match="recorded meanwhile"):
        patched.setattr(Campaign, "runs", property(lambda self: stale))
        import_cells(campaign, [["number", "x", "value"], [0, run.params["x"], 6.0], ["", 0.5, 1]])
    assert campaign.runs == before


def test_a_result_that_is_merged_over_two_rows(campaign: Campaign, tmp_path: Path) -> None:
    """It is not a failure in the second row: nobody knows what it is."""
    book = openpyxl.Workbook()
    for row in (["Coatings"], ["x", "value"], [0.1, 5], [0.2, None], [0.3, 6]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.active.merge_cells("B3:B4")
    book.save(tmp_path / "old.xlsx")
    with pytest.raises(BadTable, match="line 4: the cell of value is merged with B3; split it"):
        import_table(campaign, tmp_path / "old.xlsx")
    assert campaign.runs == []
    book.active.unmerge_cells("B3:B4")
    book.save(tmp_path / "old.xlsx")
    assert len(import_table(campaign, tmp_path / "old.xlsx").added) == 3
