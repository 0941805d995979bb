"""Campaigns: what people write stays, counts once, and nobody overwrites it unseen."""

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from coating import COATING, DESIGN, new_campaign, used_campaign

import becbo.optimizer
from becbo import BecboError, InvalidInput, Objective, Optimizer, Outcome, Trial
from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe, read_description
from becbo.campaign.errors import Conflict
from becbo.campaign.formatting import result_text
from becbo.campaign.runs import REPEAT
from becbo.campaign.store import campaign_names
from becbo.optuna import open_storage
from becbo.optuna.repeats import MAX_RETRIES
from becbo.outputs import Outputs
from becbo.tables import import_cells
from becbo.tables.writing import table_cells

OUTPUTS = Outputs.of(Objective("hardness", "maximize"))  # texts without the unit

OTHER = {**DESIGN, "layers": 5}


def results(campaign: Campaign) -> list[str]:
    return [result_text(run.result, OUTPUTS) for run in campaign.runs]


def learned(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float | None]]:
    """(layers, value) of the experiments that the next suggestion learns from."""
    seen: list[Trial] = []

    class Spy(Optimizer):
        def __init__(self, *args: Any, trials: Sequence[Trial], **settings: Any) -> None:
            seen[:] = trials
            super().__init__(*args, trials=trials, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(becbo.optimizer, "Optimizer", Spy)
        campaign.suggest()
    answered = [t for t in seen if t.outcome in (Outcome.OK, Outcome.FAILED)]
    return [(t.params["layers"], t.value) for t in answered]


def test_a_budget_of_failures_lasts_for_the_planned_runs(tmp_path: Path) -> None:
    stated = {}
    for budget in (13, 200):
        content = {**COATING, "budget": budget, "failures": {"chance": 0, "budget": 2}}
        campaign = Campaign.create({**content, "name": str(budget)}, tmp_path / "lab.db")
        for temperature in range(100, 501, 40):
            design = {**DESIGN, "temperature": float(temperature)}
            if temperature == 500:
                campaign.add(design, failed=True)
            else:
                campaign.add(design, float(temperature))
        (run,) = campaign.suggest()
        assert run.believed is not None
        stated[budget] = run.believed.p_feasible
        assert campaign.optimizer().settings.n_planned == budget
    assert stated[13] < 0.9 and stated[200] > 0.98


def test_what_a_budget_of_failures_refuses_leaves_no_trace(tmp_path: Path) -> None:
    campaign = Campaign.create({**COATING, "failures": {"budget": 2}}, tmp_path / "lab.db")
    with pytest.raises(BecboError, match="allows 2 of 3 more experiments"):
        campaign.suggest(3)
    assert not campaign.study_data.trials
    first, second = campaign.suggest(2)
    campaign.record(second.number, lost=True)
    with pytest.raises(BecboError, match="allows 1 of 2 more experiments"):
        campaign.suggest(2)
    assert [run.repeats for run in campaign.suggest()] == [(second.number,)]
    with pytest.raises(BecboError, match="wait for the results of what is pending"):
        campaign.suggest()
    campaign.record(first.number, 600)
    assert campaign.suggest()[0].number == 3


def test_create_and_open(tmp_path: Path) -> None:
    where = tmp_path / "lab.db"
    created = Campaign.create(COATING, where)
    assert created.description == describe(COATING)
    Campaign.create({**COATING, "name": "another"}, where)
    assert campaign_names(where) == ["another", "coating"]
    assert Campaign.open(where, "coating").description == created.description
    with pytest.raises(InvalidInput, match="several campaigns: another, coating; name one"):
        Campaign.open(where)
    with pytest.raises(InvalidInput, match="no campaign 'third'; it has another, coating"):
        Campaign.open(where, "third")
    with pytest.raises(InvalidInput, match="already has 'coating'; choose another name"):
        Campaign.create(COATING, where)
    summary = optuna.load_study(study_name="coating", storage=open_storage(where))
    assert (summary.direction.name, summary.metric_names) == ("MAXIMIZE", ["hardness [HV]"])


def test_create_from_a_file_a_dict_or_a_description(tmp_path: Path) -> None:
    where = new_campaign(tmp_path).where
    for name, given in {
        "a": lambda path: path,
        "b": str,
        "c": read_description,
        "d": lambda path: read_description(path).to_dict(),
    }.items():
        described = describe({**COATING, "name": name})
        path = tmp_path / f"{name}.yaml"
        path.write_text(described.to_yaml())
        assert Campaign.create(given(path), where).description == described


def test_open_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no file .*; create a campaign first"):
        Campaign.open(tmp_path / "becbo.db")
    assert campaign_names(tmp_path / "becbo.db") == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "constraints", [["temperature >= 900"], ["layers <= 2", "layers >= 4"]], ids=str
)
def test_constraints_without_any_design(tmp_path: Path, constraints: list[str]) -> None:
    with pytest.raises(InvalidInput, match="no design that satisfies the known constraints"):
        Campaign.create({**COATING, "constraints": constraints}, tmp_path / "lab.db")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_create_left_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = new_campaign(tmp_path)
    other = {**COATING, "name": "other"}
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(optuna.Study, "set_user_attr", _interrupt)
        Campaign.create(other, campaign.where)
    assert campaign_names(campaign.where) == ["coating"]
    assert Campaign.create(other, campaign.where).name == "other"
    assert campaign_names(campaign.where) == ["coating", "other"]


def _interrupt(*args: object) -> None:
    raise KeyboardInterrupt


def test_somebody_elses_study_is_left_alone(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    storage = open_storage(campaign.where)
    study = optuna.create_study(study_name="theirs", storage=storage, direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 1)
    with pytest.raises(InvalidInput, match="already has 'theirs'"):
        Campaign.create({**COATING, "name": "theirs"}, campaign.where)
    with pytest.raises(InvalidInput, match="no campaign 'theirs'"):
        Campaign.open(campaign.where, "theirs")


def test_suggest_and_record(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    runs = campaign.suggest(3)
    assert [(run.number, run.outcome, run.origin) for run in runs] == [
        (i, Outcome.PENDING, "initial design") for i in range(3)
    ]
    assert all(run.suggested is not None and run.recorded is None for run in runs)
    assert len({tuple(run.params.values()) for run in runs}) == 3
    worked = campaign.record(0, -1.5, note=" warm\x07 ")
    campaign.record(1, failed=" it cracked ")
    campaign.record(2, lost=True)
    assert (worked.value, worked.note, worked.recorded is not None) == (-1.5, "warm", True)
    assert results(Campaign.open(campaign.where)) == ["-1.5", "failed (it cracked)", "lost"]
    status = campaign.status
    assert (status.n_done, status.n_left, status.best) == (2, 18, worked)
    assert status.reasons == {"it cracked": 1}


def test_the_models_speak_up(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    for layers in range(1, 5):
        campaign.add({**DESIGN, "layers": layers}, 500 + layers)
    run = campaign.suggest()[0]
    believed = run.believed
    assert believed is not None and believed.mean is not None
    assert 0 <= believed.p_feasible <= 1
    campaign.record(run.number, 1.0)  # what was believed before stays
    assert campaign.run(run.number).believed == believed
    assert campaign.run(run.number).origin == run.origin != "user"
    prediction = campaign.optimizer().predict(DESIGN)
    assert prediction.mean == pytest.approx(502, abs=0.5)


def test_suggestions_keep_the_constraints(tmp_path: Path) -> None:
    content = {
        "name": "a",
        "parameters": {
            "x": {"low": 1, "high": 100, "log": True},
            "y": {"low": 0, "high": 10, "step": 0.5},
        },
        "constraints": ["x + y <= 12", "y >= 2"],
        "n_initial": 2,
    }
    campaign = Campaign.create(content, tmp_path / "a.db")
    for _ in range(4):
        run = campaign.suggest()[0]
        assert run.params["x"] + run.params["y"] <= 12 and run.params["y"] >= 2
        campaign.record(run.number, run.params["x"])


def test_best_follows_the_direction(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    assert campaign.status.best is None
    for value in (-3.0, 5.0, 0.0):
        campaign.add(DESIGN, value)
    assert campaign.status.best == campaign.runs[1]
    lower = {**COATING, "name": "b", "objective": {"name": "wear"}}
    other = Campaign.create(lower, campaign.where)
    for value in (-3.0, 5.0, 0.0):
        other.add(DESIGN, value)
    assert other.status.best == other.runs[0]


def test_correct_keeps_history(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, 610, note="first try")
    run = campaign.correct(0, failed="peeled off")
    assert (run.number, result_text(run.result, OUTPUTS), run.note) == (
        0,
        "failed (peeled off)",
        "first try",
    )
    run = campaign.correct(0, 611, note="second look")
    assert [result_text(version.result, OUTPUTS) for version in run.history] == [
        "610",
        "failed (peeled off)",
    ]
    assert all(version.written is not None for version in run.history)
    assert (run.value, run.note, len(campaign.runs)) == (611.0, "second look", 3)
    assert campaign.status.n_done == 3


def test_undo_brings_the_note_back(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, 610, note="oven door open")
    assert campaign.undo(0).note == ""
    campaign.record(0, 640, note="closed")
    campaign.correct(0, 650, note="typo")
    assert [entry.note for entry in campaign.run(0).history] == ["oven door open", "closed"]
    assert campaign.undo(0).note == "closed"
    assert campaign.undo(0).note == "typo"
    added = campaign.add(DESIGN, 1.0, note="by hand").number
    assert campaign.undo(added).note == campaign.undo(added).note == "by hand"


def test_undo(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, 610)
    assert campaign.undo(0).outcome is Outcome.PENDING
    assert campaign.record(0, 620).history[0].result.value == 610.0
    campaign.correct(0, 630)
    assert campaign.undo(0).value == 620.0
    assert campaign.undo(0).value == 630.0  # undone
    added = campaign.undo(1)
    assert result_text(added.result, OUTPUTS) == "lost (taken back)"
    assert campaign.undo(1).value == 600.0
    number = campaign.suggest()[0].number
    with pytest.raises(InvalidInput, match=f"run {number} has no entry to undo"):
        campaign.undo(number)


@pytest.mark.parametrize("entry", [{"value": 610}, {"failed": "cracked"}, {"lost": True}])
def test_undo_brings_the_first_entry_of_a_suggestion_back(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    campaign = used_campaign(tmp_path).signed("Ann")
    recorded = campaign.record(0, **entry, note="hazy")
    assert campaign.undo(0).outcome is Outcome.PENDING
    again = campaign.signed("Bob").undo(0)
    assert (again.result, again.note, again.by) == (recorded.result, "hazy", "Ann")
    assert again.entry == recorded.entry
    assert campaign.undo(0).outcome is Outcome.PENDING
    campaign.record(0, 620)
    assert campaign.undo(0).outcome is Outcome.PENDING
    assert campaign.undo(0).value == 620
    campaign.undo_last()
    assert campaign.undo(0).value == 620
    states = [trial.state for trial in campaign.study_data.trials]
    assert not [state for state in states if not state.is_finished()]


def undone(campaign: Campaign) -> list[str]:
    """What the runs are after `undo_last` took back what was written about them."""
    return [f"{run.number}: {result_text(run.result, OUTPUTS)}" for run in campaign.undo_last()]


def test_undo_walks_back_through_the_entries(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, 610)
    campaign.correct(1, 601)
    campaign.correct(0, failed=True)
    campaign.correct(0, 612)
    assert [undone(campaign) for _ in range(6)] == [
        ["0: failed"],
        ["0: 610"],
        ["1: 600"],
        ["0: pending"],
        ["2: lost (taken back)"],
        ["1: lost (taken back)"],
    ]
    with pytest.raises(
        InvalidInput, match="nothing has been recorded yet, or every entry was undone"
    ):
        campaign.undo_last()
    assert [result_text(version.result, OUTPUTS) for version in campaign.run(0).history] == [
        *("610", "failed", "612", "failed", "610")
    ]
    campaign.record(0, 613)  # and on it goes
    assert undone(campaign) == ["0: pending"]


def test_undo_walks_on_from_what_was_brought_back(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.correct(1, 601)
    campaign.correct(1, 602)
    campaign.undo(1)
    campaign.undo(1)  # it is 602 again
    assert [undone(campaign) for _ in range(3)] == [
        ["1: 601"],
        ["1: 600"],
        ["2: lost (taken back)"],
    ]
    campaign.undo(2)
    assert undone(campaign) == ["2: lost (taken back)"]


def test_undo_takes_an_import_back_as_a_whole(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    sheet = table_cells(campaign.description, campaign.runs)
    row = sheet[2]
    sheet[1][4:6] = [610, None]  # recorded
    row[7] = "hazy"  # filled in
    sheet.append([None, *row[1:4], 650, *[None] * 5])  # added
    import_cells(campaign, sheet)
    campaign.record(campaign.suggest()[0].number, 5)
    campaign.correct(1, 605)
    assert [len(campaign.undo_last()) for _ in range(2)] == [1, 1]
    assert [run.number for run in campaign.undo_last()] == [0, 1, 3]
    assert [run.note for run in campaign.runs[:2]] == ["", ""]
    said = ["pending", "600", "failed (cracked)", "lost (taken back)", "pending"]
    assert results(campaign) == said
    assert undone(campaign) == ["2: lost (taken back)"]
    again = import_cells(campaign, sheet)
    assert ([run.number for run in again.recorded], again.added) == ([0, 2, 3], [])
    assert [run.number for run in campaign.undo_last()] == [0, 1, 2, 3]


def test_a_withdrawn_suggestion_is_as_if_it_had_not_been_made(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    number = campaign.suggest()[0].number
    withdrawn = campaign.withdraw(number)
    assert result_text(withdrawn.result, OUTPUTS) == "lost (withdrawn)"
    again = campaign.suggest()[0]
    assert (again.params, again.repeats) == (withdrawn.params, ())  # the models have not changed
    with pytest.raises(Conflict, match="is recorded already: lost"):
        campaign.withdraw(number)
    assert campaign.undo(number).outcome is Outcome.PENDING


def test_nothing_to_undo(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    campaign.suggest()
    with pytest.raises(InvalidInput, match="nothing has been recorded yet"):
        campaign.undo_last()


def test_reasons_are_counted_one_by_one(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    for why in ("Cracked", "cracked, oven time", "oven  time; cracked, CRACKED", "bent"):
        campaign.add(DESIGN, failed=why)
    assert not campaign.status.counts[Outcome.OK] and campaign.status.has_lists
    assert campaign.status.reasons == {"Cracked": 3, "oven time": 2, "bent": 1}
    assert list(campaign.status.reasons) == ["Cracked", "oven time", "bent"]
    for _ in range(2):
        campaign.add(DESIGN, failed=True)
    assert campaign.status.reasons[""] == 2


def test_one_reason_each_is_no_list(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.add(DESIGN, failed=True)
    assert campaign.status.reasons == {"cracked": 1, "": 1} and not campaign.status.has_lists


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "give exactly one"),
        ({"value": 1, "failed": True}, "give exactly one"),
        ({"failed": True, "lost": "x"}, "give exactly one"),
        ({"value": float("nan")}, "value nan is not finite"),
        ({"value": "1"}, "value '1' is not a number"),
    ],
)
def test_entries_that_cannot_be(tmp_path: Path, entry: dict[str, Any], words: str) -> None:
    campaign = used_campaign(tmp_path)
    before = campaign.runs
    for number, write in ((0, campaign.record), (1, campaign.correct)):
        with pytest.raises(InvalidInput, match=words):
            write(number, **entry)
    assert campaign.runs == before


def test_wrong_runs(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    before = campaign.runs
    with pytest.raises(InvalidInput, match="there is no run 7 in coating"):
        campaign.record(7, 1)
    with pytest.raises(Conflict, match="run 1 is recorded already: 600 HV; correct it instead"):
        campaign.record(1, 1)
    with pytest.raises(InvalidInput, match="run 0 has no entry to correct; record it"):
        campaign.correct(0, 1)
    with pytest.raises(InvalidInput, match="unknown \\['time'\\]"):
        campaign.add({**DESIGN, "time": 3}, 1)
    with pytest.raises(InvalidInput, match="must be a whole number of at least 1"):
        campaign.suggest(0)
    assert campaign.runs == before


def test_versions(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    mine, theirs = campaign.run(1), Campaign.open(campaign.where)
    theirs.correct(1, 605, version=mine.version)
    with pytest.raises(Conflict, match="run 1 has changed meanwhile: it is 605 HV now"):
        campaign.correct(1, 606, version=mine.version)
    with pytest.raises(Conflict, match="it is 605 HV now"):
        campaign.undo(1, version=mine.version)
    pending = campaign.run(0)
    theirs.record(0, failed=True)
    with pytest.raises(Conflict, match="run 0 is recorded already: failed"):
        campaign.record(0, 1, version=pending.version)
    assert results(campaign) == ["failed", "605", "failed (cracked)"]


def test_a_run_that_the_dashboard_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = used_campaign(tmp_path)
    stale = campaign.runs
    optuna.load_study(study_name="coating", storage=open_storage(campaign.where)).tell(0, 5.0)
    monkeypatch.setattr(Campaign, "runs", property(lambda self: stale))
    for entry in ({"value": 6.0}, {"failed": True}):
        with pytest.raises(Conflict, match="the run has been recorded meanwhile"):
            campaign.record(0, **entry)
    monkeypatch.undo()
    assert campaign.run(0).value == 5.0


RECORDER = """
    import sys, time
    from pathlib import Path
    from becbo.campaign.campaign import Campaign
    from becbo.campaign.errors import Conflict
    campaign = Campaign.open("becbo.db")
    Path(f"ready{sys.argv[1]}").touch()
    while not Path("go").exists():
        time.sleep(0.001)
    try:
        campaign.record(0, float(sys.argv[1]))
    except Conflict as error:
        sys.exit(f"conflict: {error}")
"""


def test_two_processes_record_the_same_run(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    code = textwrap.dedent(RECORDER)
    people = [
        subprocess.Popen(
            [sys.executable, "-c", code, value], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        for value in ("701", "702")
    ]
    while not all((tmp_path / f"ready{value}").exists() for value in ("701", "702")):
        assert all(person.poll() is None for person in people)
    (tmp_path / "go").touch()
    said = [person.communicate(timeout=60)[1] for person in people]
    codes = [person.returncode for person in people]
    assert sorted(codes) == [0, 1], said
    winner = ("701", "702")[codes.index(0)]
    assert f"conflict: run 0 is recorded already: {winner} HV" in said[codes.index(1)]
    assert results(campaign) == [winner, "600", "failed (cracked)"]


def test_lost_runs_are_offered_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, lost="power cut")
    again, new = Campaign.open(campaign.where).suggest(2)  # another process
    assert (again.number, again.params, again.repeats) == (3, campaign.run(0).params, (0,))
    assert (again.origin, again.suggested is not None) == (REPEAT, True)
    assert (new.number, new.repeats) == (4, ())
    campaign.record(3, 650)
    assert results(campaign) == ["lost (power cut)", "600", "failed (cracked)", "650", "pending"]
    assert campaign.suggest()[0].repeats == ()  # once
    layers = campaign.run(3).params["layers"]
    assert learned(campaign, monkeypatch) == [(2, 600.0), (2, None), (layers, 650.0)]


def test_a_loss_that_is_corrected_in_time_is_not_repeated(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, lost=True)
    campaign.correct(0, 640)
    assert campaign.suggest()[0].repeats == ()
    campaign.correct(0, lost=True)
    assert campaign.suggest()[0].repeats == (0,)


def test_a_design_is_not_repeated_for_ever(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    number, seen = 0, []
    for _ in range(MAX_RETRIES + 1):
        campaign.record(number, lost=True)
        run = campaign.suggest()[0]
        seen.append(len(run.repeats))
        number = run.number
    assert seen == [*range(1, MAX_RETRIES + 1), 0]


def test_what_was_not_suggested_is_not_repeated(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.undo(1)
    assert campaign.suggest()[0].repeats == ()


def test_replaced_entries_teach_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = new_campaign(tmp_path)
    for layers in (1, 2, 3, 4, 5):
        campaign.add({**DESIGN, "layers": layers}, 500.0 + layers)
    campaign.correct(0, 601)
    campaign.correct(1, failed=True)
    campaign.correct(2, lost=True)
    campaign.undo(3)
    campaign.correct(4, 1)
    campaign.undo(4)
    expected = [(1, 601.0), (2, None), (5, 505.0)]
    assert sorted(learned(campaign, monkeypatch)) == expected
    trials = campaign.optimizer().trials
    told = [(t.params["layers"], t.value) for t in trials if t.outcome.value in ("ok", "failed")]
    assert sorted(told) == expected


def test_a_reopened_run_is_pending_for_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, 700)
    campaign.undo(0)
    assert learned(campaign, monkeypatch) == [(2, 600.0), (2, None)]
    assert len(campaign.optimizer().pending) == 2


def test_a_design_that_is_being_worked_out_is_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = used_campaign(tmp_path)
    before = campaign.runs
    suggested: list[str] = []

    def interrupted(trial: optuna.Trial, name: str, *rest: Any) -> Any:
        suggested.append(name)
        if len(suggested) == 3:
            raise KeyboardInterrupt
        return suggest(trial, name, *rest)

    suggest = optuna.Trial._suggest
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(optuna.Trial, "_suggest", interrupted)
        campaign.suggest()
    assert campaign.runs == before
    assert campaign.suggest()[0].number == 4


def test_enqueued_trials_are_suggested(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    study = optuna.load_study(study_name="coating", storage=open_storage(campaign.where))
    study.enqueue_trial(OTHER)
    run = campaign.suggest()[0]
    assert (run.params, run.suggested is not None) == (OTHER, True)
    campaign.record(run.number, 3.0)
    assert campaign.undo(run.number).outcome is Outcome.PENDING


def test_python_and_the_file_say_the_same(tmp_path: Path) -> None:
    """Nothing is kept in memory: another object sees every change at once."""
    campaign = used_campaign(tmp_path)
    other = Campaign.open(campaign.where)
    steps: Sequence[Any] = (
        lambda: campaign.record(0, 1.0),
        lambda: other.correct(0, 2.0),
        lambda: campaign.undo(0),
        lambda: other.add(OTHER, failed=True),
        lambda: campaign.suggest(),
    )
    for step in steps:
        step()
        assert [replace(run, params={**run.params}) for run in campaign.runs] == other.runs
