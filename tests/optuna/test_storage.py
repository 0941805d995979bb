"""Storages that several processes share, with real processes and a real server."""

import pickle
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages._rdb import storage as rdb
from optuna.trial import TrialState

from becbo import InvalidInput
from becbo.optuna import open_storage, requeue_lost
from becbo.optuna.storage import study_lock

pytest_plugins = ["postgres"]

PLACES = ["study.db", "study.journal", "postgresql"]

# Four of these open a new storage at the same moment, queue five designs each, and take from the
# queue at the same moment. Each notes what it executed: the rows of a storage would not show that
# a trial was executed twice.
PROCESS = """
import sys, time
from pathlib import Path
import optuna
from optuna.samplers import RandomSampler
from becbo.optuna import open_storage

where, me = sys.argv[1], int(sys.argv[2])

def wait_for(n, count):
    while count() < n:
        time.sleep(0.05)

optuna.logging.set_verbosity(optuna.logging.ERROR)
Path(f"ready-{me}").touch()
wait_for(4, lambda: len(list(Path.cwd().glob("ready-*"))))
study = optuna.create_study(
    storage=open_storage(where), study_name="s", load_if_exists=True, sampler=RandomSampler()
)
for i in range(5):
    study.enqueue_trial({"x": 5 * me + i})
wait_for(20, lambda: len(study.get_trials(deepcopy=False)))

def objective(trial):
    x = trial.suggest_float("x", 0, 20)
    with open(f"ran-{me}", "a") as log:
        print(trial.number, x, file=log)
    return x

study.optimize(objective, n_trials=30)
"""


@pytest.fixture(params=PLACES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres"))
    return str(tmp_path / request.param)


@pytest.fixture
def opening() -> Iterator[Callable[..., BaseStorage]]:
    """open_storage, and its connections closed at the end."""
    opened = []

    def opening(where: str | Path, **options: Any) -> BaseStorage:
        opened.append(open_storage(where, **options))
        return opened[-1]

    yield opening
    for storage in opened:
        if not isinstance(storage, JournalStorage):
            storage._backend.engine.dispose()  # type: ignore[attr-defined]


Opening = Callable[..., BaseStorage]


def test_four_processes_execute_each_trial_once(
    where: str, tmp_path: Path, opening: Opening
) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, where, str(i)],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(4)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert (process.returncode, errors) == (0, "")

    lines = [line.split() for log in tmp_path.glob("ran-*") for line in log.read_text().split("\n")]
    executed = Counter(int(line[0]) for line in lines if line)
    assert executed == dict.fromkeys(range(120), 1)
    trials = optuna.load_study(study_name="s", storage=opening(where)).trials
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    assert sorted(trial.params["x"] for trial in trials[:20]) == list(range(20))


def test_only_one_at_a_time_holds_the_lock(where: str, tmp_path: Path, opening: Opening) -> None:
    opening(where)
    counter = tmp_path / "counter"
    counter.write_text("0")

    def add_ten(_: int) -> None:
        lock = study_lock(where)
        for _ in range(10):
            with lock():
                counter.write_text(str(int(counter.read_text()) + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_ten, range(4)))
    assert counter.read_text() == "40"


def test_a_lock_that_cannot_be() -> None:
    with pytest.raises(InvalidInput, match=r"cannot write /proc/\.study\.db\.lock"):
        with study_lock("/proc/study.db")():
            raise AssertionError("nobody passes")


def test_every_storage_has_a_heartbeat(where: str, opening: Opening) -> None:
    storage: Any = opening(where, heartbeat=7)
    assert storage.get_heartbeat_interval() == 7
    assert storage.get_heartbeat_stale_trial_callback() is requeue_lost
    without: Any = opening(where, heartbeat=None)
    assert without.get_heartbeat_interval() is None


def test_what_was_written_is_there_when_opened_again(where: str, opening: Opening) -> None:
    study = optuna.create_study(storage=opening(where), study_name="s")
    study.enqueue_trial({"x": 1.5})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 2), n_trials=1)
    assert optuna.load_study(study_name="s", storage=opening(where)).best_value == 1.5


@pytest.mark.parametrize("name", ["sqlite:///{}/study.db", "{}/study.sqlite3", "{}/{{a}}.db"])
def test_names_of_sqlite_files(name: str, tmp_path: Path, opening: Opening) -> None:
    opening(name.format(tmp_path))
    expected = tmp_path / Path(name.format(tmp_path)).name
    assert expected.read_bytes().startswith(b"SQLite format 3")


@pytest.mark.parametrize("is_pickled", [False, True])
def test_sqlite_locks_before_it_reads(is_pickled: bool, tmp_path: Path, opening: Opening) -> None:
    storage = opening(tmp_path / "study.db")
    if is_pickled:
        storage = pickle.loads(pickle.dumps(storage))
    other = sqlite3.connect(tmp_path / "study.db", timeout=0, isolation_level=None)
    with storage._backend.engine.connect() as connection:  # type: ignore[attr-defined]
        connection.exec_driver_sql("SELECT * FROM studies")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")
    other.close()


def test_sqlite_is_read_while_somebody_writes(tmp_path: Path, opening: Opening) -> None:
    study = optuna.create_study(storage=opening(tmp_path / "study.db"), study_name="s")
    study.add_trial(optuna.create_trial(value=1.0))
    other = sqlite3.connect(tmp_path / "study.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE trials SET state = 'FAIL'")
    assert study.best_value == 1.0 and study.user_attrs == {}
    assert optuna.load_study(study_name="s", storage=study._storage).trials == study.trials
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("study.csv", "study.csv: a file name must end in .db"),
        ("study", ".journal"),
        ("", "is not a file"),
        ("sqlite://", "is not a file"),
        ("sqlite:///:memory:", "is not a file"),
        ("no/such/folder/study.db", "no folder no/such/folder"),
        ("no/such/folder/study.journal", "no folder no/such/folder"),
        ("redis://localhost/0", "no storage is called 'redis'"),
        ("postgresql://me:a@b:c@host/x", "%40"),
        ("folder.db", "cannot open sqlite:///folder.db"),
        ("folder.journal", "cannot open folder.journal: Is a directory"),
        ("text.db", "file is not a database"),
        ("text.journal", "text.journal is not a journal"),
        ("list.log", "list.log is not a journal"),
        ("other.db", "other.db is a database of another program, with samples; choose"),
        ("/proc/study.db", "unable to open database file"),
        ("/proc/study.journal", "cannot open /proc/study.journal"),
        ("postgresql://me:secret@/x?host=/nowhere", "cannot open postgresql"),
        ("postgresql+pg8000://me:secret@host/x", "becbo[postgres]"),
        ("mysql+mysqldb://me:secret@host/x", "becbo[mysql]"),
    ],
)
def test_what_cannot_be_opened(
    where: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.db").mkdir()
    Path("folder.journal").mkdir()
    Path("text.db").write_text("temperature;pressure\n" * 100)
    Path("text.journal").write_text("once upon a time")
    Path("list.log").write_text("[1, 2]\n")
    with closing(sqlite3.connect("other.db")) as database:
        database.execute("CREATE TABLE samples (x)")
    before = Path("other.db").read_bytes()
    with pytest.raises(InvalidInput) as error:
        open_storage(where)
    assert named in str(error.value)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)
    assert Path("other.db").read_bytes() == before


@pytest.mark.parametrize("heartbeat", [0, -1, 2.5, "30", True])
def test_heartbeats_that_are_none(heartbeat: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"heartbeat {heartbeat!r} must be whole seconds"):
        open_storage(tmp_path / "study.db", heartbeat=heartbeat)  # type: ignore[arg-type]


def test_a_database_of_this_version_is_opened_without_migrations(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    open_storage(path)
    code = f"""
import sys
from becbo.optuna import open_storage
open_storage({str(path)!r})
assert "alembic" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert rdb._VersionManager.__module__ == rdb.__name__  # Optuna's own is in its place


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE version_info SET library_version = '4.0.0'",  # made by another version
        "DELETE FROM alembic_version",  # died while it made the tables
        "DROP TABLE alembic_version",
    ],
)
def test_a_database_of_another_version_is_checked(change: str, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    open_storage(path)
    with closing(sqlite3.connect(path)) as database:
        (before,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
        database.execute(change)
        database.commit()
    open_storage(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == (before,)
        database.execute("UPDATE version_info SET library_version = '99.0.0'")
        database.execute("UPDATE alembic_version SET version_num = 'v99.0.0.a'")
        database.commit()
    with pytest.raises(InvalidInput, match="is no longer compatible with the table schema"):
        open_storage(path)
