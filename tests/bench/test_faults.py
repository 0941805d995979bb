"""The script that provokes faults and counts what went wrong, on a small scale."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
faults = importlib.import_module("faults")

EITHER = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}


def test_a_small_run_with_faults() -> None:
    found = faults.run("sqlite", 0, faults.Plan(workers=2, trials=8, enqueued=3, kills=1))
    assert {name: found[name] for name in faults.WRONGS} == dict.fromkeys(faults.WRONGS, 0), found


@pytest.fixture
def campaign(tmp_path: Path) -> "faults.Campaign":
    return faults.Campaign(tmp_path, "", replace(faults.Plan(), trials=1))


def judged(campaign: "faults.Campaign", log: str, **trial: object) -> dict[str, int]:
    """What is wrong with a study of one trial, given what a process has noted."""
    study = optuna.create_study()
    design = {"x": 0.5, "y": 0.25}
    study.add_trial(optuna.create_trial(params=design, distributions=EITHER, **trial))
    (campaign.folder / "log-1").write_text(log)
    found = faults.judge(campaign, study, [(0.5, 0.25)])
    return {name: found[name] for name in faults.WRONGS if found[name]}


BEGAN, ENDED = "began 0 0.5 0.25\n", "ended 0 0.5 0.25\n"


def test_what_is_right(campaign: "faults.Campaign") -> None:
    assert judged(campaign, BEGAN + ENDED, value=0.75) == {}


def test_what_is_wrong(campaign: "faults.Campaign") -> None:
    """The script would be of no use if it did not notice."""
    fail, waiting = {"state": TrialState.FAIL}, {"state": TrialState.WAITING}
    lost = {**fail, "user_attrs": {"becbo:outcome": "lost"}}
    assert judged(campaign, BEGAN + ENDED, **fail) == {"wrong": 1}
    assert judged(campaign, BEGAN + ENDED, value=0.5) == {"wrong": 1}
    assert judged(campaign, BEGAN + ENDED, **lost) == {"lost": 1, "unaccounted": 1}
    assert judged(campaign, BEGAN, **waiting) == {"lost": 1, "unaccounted": 2}
    assert judged(campaign, 2 * BEGAN + ENDED, value=0.75) == {"twice": 1}
