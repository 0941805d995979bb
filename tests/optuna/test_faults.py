"""What workers do when processes are killed or suspended and storages fail, with the real thing."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState
from worker_processes import Workers, on, outcomes, wait_until

from becbo import Outcome
from becbo.optuna import lost_numbers, open_storage, result_of
from becbo.optuna.storage import study_lock

pytest_plugins = ["postgres", "worker_fixtures"]

EVERYWHERE = ("study.db", "study.journal", "postgresql")
QUICK = ("--heartbeat", "1")

# Before a worker begins: it dies in the moment of its first sign of life, or after it ended the
# trials of dead workers and before it said that they were lost.
DEAF = """
import os, signal
import becbo.optuna.liveness
from optuna.storages import RDBStorage
from becbo.optuna.journal import SharedJournal
def die(*args): os.kill(os.getpid(), signal.SIGKILL)
"""
DIES_BEFORE_ITS_FIRST_SIGN = (
    f"{DEAF}RDBStorage.record_heartbeat = SharedJournal.record_heartbeat = die"
)
DIES_WHILE_IT_SWEEPS = f"""{DEAF}
RDBStorage.get_heartbeat_stale_trial_callback = lambda storage: die
SharedJournal.get_heartbeat_stale_trial_callback = lambda storage: die
"""


def counted(workers: Workers) -> list[str]:
    """How the trials that were not lost ended."""
    lost = workers.lost
    return outcomes([t for t in workers.trials if t.number not in lost])


@on(*EVERYWHERE)
def test_kill_9_in_the_middle_of_a_trial(workers: Workers) -> None:
    workers.hold()
    victim = workers.start("--trials", "4", *QUICK)
    workers.wait_until_begun(victim)
    victim.kill()
    assert workers.end(victim).code == -signal.SIGKILL
    workers.release()

    # Another worker waits for the sign of life that does not come, and repeats the design.
    done = workers.run("--trials", "4", *QUICK)
    assert (done.code, done.err) == (0, "")
    trials = workers.trials
    lost = workers.lost
    assert lost == {0}
    repeats = [t for t in trials[1:] if t.params == trials[0].params]
    assert len(repeats) == 1
    assert result_of(repeats[0], lost).outcome in (Outcome.OK, Outcome.FAILED)
    assert len(counted(workers)) == 4


@on(*EVERYWHERE)
def test_a_worker_killed_before_its_first_sign_of_life(workers: Workers) -> None:
    """Its trial would never go stale, and the design that it took from the queue would be gone."""
    design = {"x": 0.75, "y": 0.5}
    workers.study.enqueue_trial(design)
    victim = workers.start("--trials", "3", *QUICK, before=DIES_BEFORE_ITS_FIRST_SIGN)
    assert workers.end(victim).code == -signal.SIGKILL
    assert workers.trials[0].state is TrialState.RUNNING

    assert workers.run("--trials", "3", *QUICK).code == 0
    assert workers.lost == {0}
    assert [t.params for t in workers.trials if t.number].count(design) == 1
    assert len(counted(workers)) == 3


@on("study.db", "study.journal")
def test_a_worker_killed_while_it_sweeps(workers: Workers) -> None:
    """The dead trials that it has ended as failed would be failures to the models."""
    workers.hold()
    victims = [workers.start("--trials", "5", *QUICK) for _ in range(2)]
    for victim in victims:
        workers.wait_until_begun(victim)
        victim.kill()
    workers.release()
    sweeper = workers.start("--trials", "5", *QUICK, before=DIES_WHILE_IT_SWEEPS)
    assert workers.end(sweeper).code == -signal.SIGKILL
    dead = [t.number for t in workers.trials if t.state is TrialState.FAIL]
    assert {0, 1}.issubset(dead)
    assert workers.lost.issuperset({0, 1})
    assert {result_of(workers.trials[n]).outcome for n in (0, 1)} == {Outcome.LOST}

    assert workers.run("--trials", "5", *QUICK).code == 0
    assert workers.lost.issuperset({0, 1})
    later = [t.params for t in workers.trials[2:]]
    assert all(later.count(workers.trials[n].params) == 1 for n in (0, 1))  # repeated, once
    assert len(counted(workers)) == 5


# Before a worker begins: it stays in its turn once it has put a design back into the queue.
STAYS_AFTER_ITS_SWEEP = """
import time
import becbo.optuna.worker as worker
count = worker.count_trials
def stay(study, *rest):
    if any(trial.state.name == "WAITING" for trial in study.trials): time.sleep(600)
    return count(study, *rest)
worker.count_trials = stay
"""


@pytest.mark.parametrize(
    ("workers", "is_repeated"),
    [("study.db", True), ("study.journal", True), ("postgresql", True), ("postgresql", False)],
    indirect=["workers"],
)
def test_a_worker_that_was_taken_for_dead_comes_back(workers: Workers, is_repeated: bool) -> None:
    """Its result is kept: instead of the repeat, if nobody has begun that, else beside it."""
    workers.hold()
    sleeper = workers.start("--trials", "3", *QUICK)
    workers.wait_until_begun(sleeper)
    time.sleep(0.3)  # not in the middle of a sign of life, with the lock of the database
    sleeper.send_signal(signal.SIGSTOP)
    workers.release()
    if is_repeated:
        assert workers.run("--trials", "3", *QUICK).code == 0
    else:
        other = workers.start("--trials", "1", *QUICK, before=STAYS_AFTER_ITS_SWEEP)
        wait_until(lambda: bool(workers.lost), other)
        other.kill()
        workers.end(other)

    sleeper.send_signal(signal.SIGCONT)
    done = workers.end(sleeper)
    assert (done.code, done.err) == (0, "")
    assert "trial 0 gave no sign of life for too long and was taken for lost" in done.out
    assert "its result is kept as trial" in done.out
    trials, lost = workers.trials, workers.lost
    same = [t for t in trials if t.params == trials[0].params and t.number not in lost]
    assert 0 in lost
    assert len({t.value for t in same}) == 1
    assert len(same) == (2 if is_repeated else 1)
    assert len(counted(workers)) == (4 if is_repeated else 3)
    assert "3 of 3 trials finished" in done.out


def test_a_worker_suspended_while_it_makes_a_proposal(workers: Workers) -> None:
    """Its trial has been taken for lost: the proposal has no place, and the worker goes on."""
    assert workers.run("--trials", "2", *QUICK).code == 0
    before = (
        "import os, signal; from becbo.optuna import BECBOSampler\n"
        "propose = BECBOSampler._propose\n"
        "def stop(*args):\n"
        "    BECBOSampler._propose = propose\n"
        "    open('proposing', 'w').close(); os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    return propose(*args)\n"
        "BECBOSampler._propose = stop"
    )
    sleeper = workers.start("--trials", "4", *QUICK, before=before)
    wait_until((workers.folder / "proposing").exists, sleeper)
    assert workers.run("--trials", "4", *QUICK).code == 0
    sleeper.send_signal(signal.SIGCONT)
    done = workers.end(sleeper)
    assert (done.code, "Traceback" in done.err) == (0, False)
    assert "trial 2 gave no sign of life for too long" in done.out
    assert len(counted(workers)) == 4


@on("postgresql")
def test_a_server_that_restarts(workers: Workers, postgres_server: Any) -> None:
    """Results that were computed meanwhile are stored, and nobody exits."""
    workers.hold()
    started = [workers.start("--trials", "6", "--heartbeat", "5") for _ in range(3)]
    for process in started:
        workers.wait_until_begun(process)
    postgres_server.stop()
    workers.release()
    time.sleep(2.0)
    assert [process.poll() for process in started] == [None] * 3
    postgres_server.start()
    done = [workers.end(process) for process in started]
    assert [(d.code, "Traceback" in d.err) for d in done] == [(0, False)] * 3
    assert "the storage does not answer" in done[0].out
    assert "the storage answers again" in done[0].out
    assert workers.executed() == dict.fromkeys(range(len(workers.trials)), 1)
    assert len(counted(workers)) == 6
    assert not workers.lost.intersection({0, 1, 2})


@on("postgresql")
def test_a_worker_starts_before_its_server(workers: Workers, postgres_server: Any) -> None:
    """A scheduler may start a worker while the server restarts."""
    postgres_server.stop()
    process = workers.start("--trials", "2")
    assert process.stdout is not None
    assert "the storage does not answer: cannot open" in process.stdout.readline()
    postgres_server.start()
    done = workers.end(process)
    assert (done.code, len(counted(workers))) == (0, 2), done.err


def test_a_server_that_is_never_there(tmp_path: Path) -> None:
    where = "postgresql://me:secret@/x?host=/nowhere"
    workers = Workers(tmp_path, where)
    done = workers.run("--trials", "2", "--patience", "0")
    assert done.code == 1
    assert "the storage did not answer for 0 seconds: cannot open postgresql" in done.err
    assert "secret" not in done.out + done.err


@on("postgresql")
def test_a_database_that_does_not_exist(workers: Workers) -> None:
    """The server tells: waiting would not help."""
    elsewhere = Workers(workers.folder, workers.where.replace("/test_", "/no_such_"))
    done = elsewhere.run("--trials", "2")
    assert done.code == 2 and "does not exist" in done.err


@on("postgresql")
def test_a_storage_that_goes_away_for_good(workers: Workers) -> None:
    import psycopg
    from sqlalchemy.engine import make_url

    workers.hold()
    process = workers.start("--trials", "9", "--patience", "1")
    workers.wait_until_begun(process)
    url = make_url(workers.where)
    server = f"host={url.query['host']} user={url.username} dbname=postgres"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {url.database} WITH (FORCE)")
    workers.release()
    done = workers.end(process)
    assert done.code == 1
    assert "the storage did not answer for 1 seconds" in done.err
    assert "Traceback" not in done.err


# Holds the lock of a storage, or a transaction, until it is continued.
HOLDER = """
import os, signal, sys
from becbo.optuna import open_storage
from becbo.optuna.storage import study_lock
where, what = sys.argv[1:]
def stop():
    print("inside", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
if what == "turn":
    with study_lock(where, heartbeat=1)() as is_held:
        assert is_held()
        stop()
        print(is_held())
else:
    import sqlalchemy
    storage = open_storage(where, heartbeat=1)
    with storage._backend.engine.begin() as connection:
        connection.execute(sqlalchemy.text("SELECT * FROM studies FOR UPDATE"))
        stop()
"""


@pytest.fixture
def holder(workers: Workers, request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str]"]:
    """A process that is suspended inside its turn, or inside a transaction."""
    assert workers.study.study_name == "s"
    command = [sys.executable, "-c", HOLDER, workers.where, request.param]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "inside\n"
    yield process
    process.kill()
    process.communicate()


@on(*EVERYWHERE)
@pytest.mark.parametrize("holder", ["turn"], indirect=True)
def test_a_process_suspended_in_its_turn(workers: Workers, holder: Any) -> None:
    done = workers.run("--trials", "2", *QUICK)
    assert (done.code, len(counted(workers))) == (0, 2)
    holder.send_signal(signal.SIGCONT)
    out, _ = holder.communicate(timeout=60)
    assert out == "False\n"  # it knows that its turn is over


@on("postgresql")
@pytest.mark.parametrize("holder", ["transaction"], indirect=True)
def test_a_process_suspended_in_a_transaction(workers: Workers, holder: Any) -> None:
    done = workers.run("--trials", "2", *QUICK)
    assert (done.code, len(counted(workers))) == (0, 2)


def test_a_turn_that_was_over_starts_no_trial(workers: Workers) -> None:
    """Suspended between the count and the claim: others have the trial that was missing."""
    before = (
        "import os, signal; import becbo.optuna.worker as w; count = w.count_trials\n"
        "def stop(study, *rest):\n"
        "    counts = count(study, *rest)\n"
        "    w.count_trials = count\n"
        "    open('counted', 'w').close(); os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    return counts\n"
        "w.count_trials = stop"
    )
    sleeper = workers.start("--trials", "2", *QUICK, before=before)
    wait_until((workers.folder / "counted").exists, sleeper)
    assert workers.run("--trials", "2", *QUICK).code == 0
    sleeper.send_signal(signal.SIGCONT)
    assert workers.end(sleeper).code == 0
    assert len(counted(workers)) == 2
    assert sum(workers.executed().values()) == 2


def test_a_transaction_that_does_not_end_is_said(workers: Workers) -> None:
    """Nobody can take the lock of SQLite from a suspended process: workers say so, and wait."""
    assert workers.study.study_name == "s"
    other = sqlite3.connect(workers.where, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    done = workers.run("--trials", "2", *QUICK, "--patience", "1")
    assert done.code == 1
    assert "database is locked" in done.err
    assert "Traceback" not in done.err
    other.close()


def test_a_database_that_is_busy_when_a_worker_starts(workers: Workers) -> None:
    """Somebody was suspended while it wrote, for longer than three heartbeats."""
    assert workers.study.study_name == "s"
    other = sqlite3.connect(workers.where, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    process = workers.start("--trials", "1", *QUICK)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(10)
    other.execute("ROLLBACK")
    other.close()
    done = workers.end(process)
    assert (done.code, done.err) == (0, "")


def test_two_names_of_one_database_have_one_lock(tmp_path: Path) -> None:
    open_storage(tmp_path / "study.db")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(tmp_path / "study.db")
    with study_lock(tmp_path / "study.db")():
        code = (
            "import sys; from becbo.optuna.storage import study_lock\n"
            "with study_lock(sys.argv[1], heartbeat=600)(): print('inside')"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(link)], stdout=subprocess.PIPE, text=True
        )
        time.sleep(2.0)
        assert process.poll() is None
    assert process.communicate(timeout=60)[0] == "inside\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"cannot mount a small disk: {error}")
    if made.returncode:
        pytest.skip(f"cannot mount a small disk: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("name", ["study.db", "study.journal"])
def test_a_full_disk(name: str, small_disk: Path, tmp_path: Path) -> None:
    """What was stored stays, the worker waits and says why, and goes on when there is room."""
    workers = Workers(tmp_path, str(small_disk / name))
    try:
        assert workers.run("--trials", "2", *QUICK).code == 0
        workers.hold()
        process = workers.start("--trials", "12", *QUICK)  # more than the last page has room for
        workers.wait_until_begun(process)
        with (small_disk / "rubbish").open("wb", buffering=0) as rubbish, pytest.raises(OSError):
            while True:
                rubbish.write(b"x" * 100)
        workers.release()
        time.sleep(1.5)
        assert process.poll() is None
        gives_up = workers.run("--trials", "12", *QUICK, "--patience", "1")
        assert gives_up.code == 1
        assert "full" in gives_up.err or "No space left" in gives_up.err
        assert "Traceback" not in gives_up.err
        (small_disk / "rubbish").unlink()
        done = workers.end(process)
        assert (done.code, "Traceback" in done.err) == (0, False)
        assert "the storage answers again" in done.out
        assert len(counted(workers)) == 12
    finally:
        workers.close()


@on("study.journal")
def test_half_a_record_is_cut_off(workers: Workers) -> None:
    """As a power cut leaves it; the next record would be joined to it, and lost with it."""
    assert workers.run("--trials", "2").code == 0
    journal = Path(workers.where)
    with journal.open("ab") as file:
        file.write(b'{"op_code":4,"worker_id":"a-1","stu')
    done = workers.run("--trials", "4")
    assert done.code == 0
    assert "ended in half a record" in done.err
    assert len(counted(workers)) == 4
    assert journal.with_name("study.journal.cut").read_bytes().startswith(b'{"op_code":4')


@on("study.journal")
def test_a_record_that_was_joined_to_half_a_record(workers: Workers) -> None:
    """As Optuna itself leaves it after a full disk: the whole record in the line is read."""
    assert workers.run("--trials", "2").code == 0
    journal = Path(workers.where)
    lines = journal.read_bytes().splitlines(keepends=True)
    joined = b"".join([*lines[:5], b'{"op_code":4,"wor', *lines[5:]])
    journal.write_bytes(joined)
    done = workers.run("--trials", "4")
    assert (done.code, len(counted(workers))) == (0, 4)
    assert "had 1 half records" in done.err
    assert journal.with_name("study.journal.damaged").read_bytes() == joined


def test_escape_codes_stay_out_of_logs(workers: Workers) -> None:
    """Of a reason that an objective gives, whatever the environment says of colours."""
    workers.then("raise becbo.Infeasible('\\x1b[31mtoo\\x07 hot\\x1b[0m')")
    os.environ["FORCE_COLOR"] = "1"
    try:
        done = workers.run("--trials", "1")
    finally:
        del os.environ["FORCE_COLOR"]
    assert done.code == 0
    assert "too" in done.out and "hot" in done.out
    assert not {"\x1b", "\x07"} & set(done.out + done.err)


def test_trials_of_optimize_that_were_swept_are_lost(tmp_path: Path) -> None:
    """Also without a worker: a sweep that was killed before its callback has marked them."""
    storage = open_storage(tmp_path / "study.db", heartbeat=1)
    study = optuna.create_study(storage=storage)
    trial = storage.create_new_trial(study._study_id)  # and its process dies
    for _ in range(40):
        if stale := storage._get_stale_trial_ids(study._study_id):  # type: ignore[attr-defined]
            break
        time.sleep(0.2)
    assert stale == [trial]
    storage.set_trial_state_values(trial, TrialState.FAIL)
    assert lost_numbers(study) == {0}
    assert result_of(study.trials[0]).outcome is Outcome.LOST
