"""Who recorded what, numbers without gaps, runs of one's own, and campaigns that come back."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import optuna
import pytest
from coating import COATING, DESIGN, used_campaign

from becbo import InvalidInput, Outcome
from becbo.campaign.campaign import Campaign
from becbo.campaign.errors import Conflict, NotFound
from becbo.campaign.store import campaign_names
from becbo.optuna import open_storage
from becbo.optuna.outcomes import LOST
from becbo.tables import import_cells

GOAL = COATING["objective"]
OTHER = {**DESIGN, "layers": 5}


def test_corrections_leave_no_gaps(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.correct(1, 605)
    campaign.correct(2, 500)
    campaign.undo(2)
    added = campaign.add(OTHER, 610)
    assert added.number == 3
    assert [run.number for run in campaign.suggest(2)] == [4, 5]
    assert [run.number for run in campaign.runs] == list(range(6))
    assert campaign.run(3).params == OTHER


def test_a_number_stays_while_others_are_computed(tmp_path: Path) -> None:
    """A trial whose design is not complete yet keeps its number for the run that it will be."""
    campaign = used_campaign(tmp_path)
    storage = open_storage(campaign.where, heartbeat=None)
    optuna.load_study(study_name="coating", storage=storage).ask()  # somebody computes, or died
    added = campaign.add(OTHER, 610)
    assert (added.number, campaign.run(added.number).value) == (4, 610)


def test_a_repeat_of_a_lost_run_names_it_by_its_number(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.correct(1, 605)
    (run,) = campaign.suggest()
    for lost in (run.number, run.number + 1):
        campaign.record(lost, lost="power cut")
        (again,) = campaign.suggest()
    assert again.repeats == (run.number, run.number + 1)
    assert again.params == run.params


def test_a_design_of_ones_own_becomes_pending(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    planned = campaign.plan(campaign.run(1).params, note="a repeat")
    assert (planned.number, planned.outcome, planned.note) == (3, Outcome.PENDING, "a repeat")
    assert (planned.params, planned.origin) == (campaign.run(1).params, "user")
    campaign.record(3, 598.0)
    assert campaign.undo(3).outcome is Outcome.PENDING
    with pytest.raises(InvalidInput, match="temperature"):
        campaign.plan({**DESIGN, "temperature": 4000})


def test_entries_have_names(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    ann, bob = campaign.signed(" Ann "), campaign.signed("Bob")
    assert ann.record(0, 610).by == "Ann"
    corrected = bob.correct(0, 611)
    assert (corrected.by, [state.by for state in corrected.history]) == ("Bob", ["Ann"])
    assert bob.undo(0).by == "Ann"  # whose entry counts again
    assert bob.add(OTHER, 3).by == "Bob" and campaign.add(DESIGN, failed=True).by == ""
    rows = [["temperature", "layers", "gas", "hardness"], [210, 3, "argon", 541]]
    (imported,) = import_cells(ann, rows).added
    assert imported.by == "Ann"
    (asked,) = ann.suggest()
    assert asked.by == "" and ann.withdraw(asked.number).by == "Ann"


@pytest.mark.parametrize("seed", range(3))
def test_what_is_remembered_is_what_is_stored(tmp_path: Path, seed: int) -> None:
    """A campaign keeps runs that it has read; another one that was just opened reads all anew."""
    rng, campaign = Random(seed), used_campaign(tmp_path)
    storage = open_storage(campaign.where, heartbeat=None)
    study = optuna.load_study(study_name="coating", storage=storage)
    entries: list[Callable[[], object]] = [
        lambda: campaign.add(OTHER, rng.random()),
        lambda: campaign.record(rng.choice(campaign.runs).number, rng.random()),
        lambda: campaign.record(rng.choice(campaign.runs).number, lost="power cut"),
        lambda: campaign.correct(rng.choice(campaign.runs).number, failed="cracks"),
        lambda: campaign.undo(rng.choice(campaign.runs).number),
        campaign.undo_last,
        campaign.suggest,
        lambda: study.set_user_attr(f"{LOST}{rng.choice(campaign.runs).version}", "a broken oven"),
        lambda: campaign.change({**COATING, "objective": {**GOAL, "name": rng.choice("HV")}}),
    ]
    n_made = 0
    for _ in range(20):
        with suppress(InvalidInput, Conflict):
            rng.choice(entries)()
            n_made += 1
        assert campaign.runs == Campaign.open(campaign.where).runs
    assert n_made > 10


def test_undo_takes_back_only_the_entry_that_was_seen(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    entry = campaign.record(0, 610).entry
    assert entry is not None
    campaign.correct(1, 605)
    with pytest.raises(Conflict, match="newer entry"):
        campaign.undo_last(entry=entry.trial)
    campaign.undo_last()
    assert [run.number for run in campaign.undo_last(entry=entry.trial)] == [0]


def test_a_deleted_campaign_comes_back(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    where, before = campaign.where, campaign.runs
    campaign.delete()
    assert campaign_names(where) == []
    assert campaign_names(where, deleted=True) == ["coating"]
    with pytest.raises(NotFound, match="has no campaign"):
        Campaign.open(where)
    with pytest.raises(InvalidInput, match="among its deleted campaigns; choose another name"):
        Campaign.create(COATING, where)
    with pytest.raises(NotFound, match="among the deleted campaigns of .*; restore it first"):
        Campaign.open(where, "coating")
    Campaign.open(where, deleted=True).restore()
    assert Campaign.open(where).runs == before
    with pytest.raises(NotFound, match="has no deleted campaign"):
        Campaign.open(where, "coating", deleted=True)
