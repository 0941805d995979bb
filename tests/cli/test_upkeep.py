"""`becbo check` and `becbo backup`: of files that are in use, damaged, or on a server."""

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import optuna
import pytest
from commands import Done
from optuna.trial import TrialState

from becbo.campaign.campaign import Campaign
from becbo.optuna import mark_failed, mark_worked
from becbo.optuna.internals import close_connections, storage_of
from becbo.optuna.storage import open_storage
from becbo.optuna.upkeep import back_up, find_damage

pytest_plugins = ["postgres"]

PLAN = {"name": "lab", "parameters": {"x": {"low": 0, "high": 1}}, "n_initial": 50}


@pytest.fixture(params=["becbo.db", "becbo.journal"])
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Campaign:
    made = Campaign.create(PLAN, tmp_path / request.param)
    made.add({"x": 0.5}, 1.0)
    made.add({"x": 0.6}, failed="cracked")
    made.record(made.suggest()[0].number, lost="power cut")
    made.suggest()
    return made


def checked(becbo: Callable[..., Done], where: object) -> dict[str, object]:
    done = becbo("check", "--json", "-f", str(where))
    assert (done.code, done.err) == (0, "")
    found: dict[str, object] = json.loads(done.out)
    return found


def test_a_campaign(becbo: Callable[..., Done], campaign: Campaign) -> None:
    counts = {"ok": 1, "failed": 1, "lost": 1, "pending": 1}
    lab = {"name": "lab", "is_campaign": True, "is_deleted": False, "counts": counts}
    lab |= {"pending": [3], "stale": []}
    assert checked(becbo, campaign.where) == {"damage": [], "studies": [lab]}
    done = becbo("check", "-f", str(campaign.where))
    assert (
        "is sound" in done.out and "lab: 1 ok, 1 failed, 1 lost, 1 pending; pending: 3" in done.out
    )


def test_the_study_of_a_program(becbo: Callable[..., Done], postgres: str, tmp_path: Path) -> None:
    for where in (str(tmp_path / "study.db"), postgres):
        storage = open_storage(where)
        study = optuna.create_study(study_name="program", storage=storage)
        long_ago = datetime.now() - timedelta(hours=1)
        for began in (long_ago, long_ago, datetime.now()):
            running = optuna.create_trial(state=TrialState.RUNNING)
            running.datetime_start = began
            study.add_trial(running)
        storage.record_heartbeat(study.trials[0]._trial_id)  # type: ignore[attr-defined]
        study.enqueue_trial({"x": 0.5})
        (state,) = checked(becbo, where)["studies"]  # type: ignore[misc]
        assert (state["pending"], state["stale"]) == ([0, 1, 2], [1])
        assert state["counts"] == {"pending": 3, "waiting": 1}
        close_connections(storage)


def test_outcomes_of_a_program_are_those_that_it_has_marked(
    becbo: Callable[..., Done], tmp_path: Path
) -> None:
    where = tmp_path / "study.db"
    study = optuna.create_study(study_name="program", storage=open_storage(where))

    def run(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number == 0:
            mark_failed(trial, "gel")  # and a penalty
        if trial.number == 1:
            mark_worked(trial, {"heat": x})
            raise RuntimeError("no value")
        return float("inf") if trial.number == 2 else x

    study.optimize(run, n_trials=5, catch=(RuntimeError,))
    (state,) = checked(becbo, where)["studies"]  # type: ignore[misc]
    assert state["counts"] == {"failed": 2, "ok": 3}
    study = optuna.load_study(study_name="program", storage=open_storage(where, heartbeat=None))
    mark_failed(study.ask(), "gel")  # and its worker dies before it is told
    (state,) = checked(becbo, where)["studies"]  # type: ignore[misc]
    assert (state["counts"], state["pending"]) == ({"failed": 2, "ok": 3, "pending": 1}, [5])


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_study_that_becbo_could_not_read_hides_no_other(
    becbo: Callable[..., Done], tmp_path: Path
) -> None:
    where = tmp_path / "study.db"
    storage = open_storage(where, heartbeat=None)
    for name, metrics in (("fine", ["a", "b"]), ("odd", ["loss", "loss"]), ("odder", ["", ""])):
        study = optuna.create_study(
            study_name=name, storage=storage, directions=["minimize", "maximize"]
        )
        study.set_metric_names(metrics)
        trial = study.ask()
        trial.set_user_attr("becbo:outcome", ["odd"])
        study.tell(trial, (1.0, 2.0))
    states = checked(becbo, where)["studies"]
    assert [state["name"] for state in states] == ["fine", "odd", "odder"]  # type: ignore
    assert all(state["counts"] == {"ok": 1} for state in states)  # type: ignore


def test_damage(becbo: Callable[..., Done], campaign: Campaign) -> None:
    path = Path(campaign.where)
    content = path.read_bytes()
    assert becbo("backup", "copy.db", "-f", str(path)).code == 0
    kept = Path("copy.db").read_bytes()
    half = len(content) // 2 + 7
    path.write_bytes(content[:half] + bytes(300) + b"\n" + content[half:])
    done = becbo("check", "-f", str(path))
    assert (done.code, "is damaged" in done.out) == (1, True)
    assert "Traceback" not in done.err
    done = becbo("backup", "copy.db", "--overwrite", "-f", str(path))
    assert done.code == 2, done.out
    assert Path("copy.db").read_bytes() == kept  # the good copy is still there


def test_a_copy_while_it_is_in_use(becbo: Callable[..., Done], campaign: Campaign) -> None:
    """Each copy is the campaign at one moment, and none holds up those who write."""
    suffix = Path(campaign.where).suffix
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        mine = Campaign.open(campaign.where)
        while not stop.is_set():
            written.append(mine.add({"x": 0.5}, 2.0).number)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for i in range(5):
            before = len(written)
            back_up(campaign.where, Path(f"copy{i}{suffix}"))
            assert find_damage(f"copy{i}{suffix}") == []
            copied = len(Campaign.open(f"copy{i}{suffix}").runs) - 4
            assert before <= copied <= len(written) + 1
    finally:
        stop.set()
        thread.join()
    assert len(campaign.runs) == 4 + len(written)
    done = becbo("backup", f"copy0{suffix}", "-f", str(campaign.where))
    assert (done.code, "exists already" in done.err) == (2, True)
    assert becbo("backup", f"copy0{suffix}", "--overwrite", "-f", str(campaign.where)).code == 0
    assert Campaign.open(f"copy0{suffix}").runs == campaign.runs


def test_a_server(becbo: Callable[..., Done], postgres: str) -> None:
    close_connections(storage_of(Campaign.create(PLAN, postgres)._study))
    url = postgres.replace("becbo@", "becbo:hunter2-and-more@", 1)
    done = becbo("backup", "lab.dump", "-f", url)
    assert done.code == 2
    assert "pg_dump --format=custom --file=lab.dump postgresql://becbo@" in done.err
    assert "hunter2" not in done.err
    assert "is sound" in becbo("check", "-f", url).out


def test_no_such_file(becbo: Callable[..., Done], tmp_path: Path) -> None:
    for command in (["check"], ["backup", "copy.db"]):
        done = becbo(*command, "-f", "none.db")
        assert (done.code, "there is no file none.db" in done.err) == (2, True)
    assert not (tmp_path / "none.db").exists()
