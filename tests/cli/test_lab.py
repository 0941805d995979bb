"""The commands for people who run experiments, as they meet them."""

import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from coating import COATING, DESIGN, new_campaign, used_campaign
from commands import Done

from becbo import Failures, Objective, Outcome
from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe, read_description
from becbo.campaign.formatting import result_text
from becbo.campaign.store import FILE
from becbo.cli import options
from becbo.outputs import Outputs

OUTPUTS = Outputs.of(Objective("hardness", "maximize"))  # texts without the unit

Becbo = Callable[..., Done]
EXAMPLE = Path(__file__).parents[2] / "examples/coating.yaml"
COMMANDS = ("new", "change", "delete", "restore", "suggest", "what-if", "record", "correct",
            "undo", "withdraw", "add", "import", "export", "status")  # fmt: skip
RUN = {"number", "version", "params", "outcome", "values", "reason", "note", "origin", "believed",
       "suggested", "recorded", "by", "history"}  # fmt: skip
ANSWERS = """\
steel coating
hardness
HV
large

temperature
n
°C
100 °C
500

no
layers
whole

1
6
gas
c
argon, nitrogen

temperature + 10*layers <= 480

20
no



yes
"""


@pytest.fixture(autouse=True)
def _no_file_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BECBO_FILE", raising=False)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Types answers to the questions that follow."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def said_json(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(command: str, becbo: Becbo) -> None:
    done = becbo(command, "--help")
    assert done.code == 0
    assert f"Example: becbo {command}" in done.out


def test_a_campaign_from_the_first_to_the_last_command(becbo: Becbo, tmp_path: Path) -> None:
    done = becbo("new", str(EXAMPLE))
    assert (done.code, done.err) == (0, "")
    assert "150 to 450 °C" in done.out and "becbo suggest" in done.out
    done = becbo("suggest", "-n", "2")
    assert "temperature  272.985 °C" in done.out
    assert "Part of the initial design: the first 10 experiments" in done.out
    assert "becbo record 0 VALUE" in done.out and "becbo record 1 --failed" in done.out
    assert done.err == ""
    done = becbo("record", "0", "-1.5", "--note", "-5 % humidity")
    assert "run 0 is -1.5 HV; best so far: -1.5 HV (run 0)" in done.out
    done = becbo("record", "1", "--failed", "--reason", "peeled [red]off")
    assert "run 1 is failed (peeled [red]off)" in done.out
    assert "2 of 40 done: 1 worked, 1 failed." in done.out
    arguments = ["temperature=200", "time=2", "bias=-50", "layers=2", "gas=argon", "-3e2"]
    assert "run 2 is -300 HV" in becbo("add", *arguments).out
    assert "Corrected: run 2 is 700 HV; best" in becbo("correct", "2", "700").out
    assert "Taken back: run 2 is -300 HV" in becbo("undo").out
    assert becbo("export", "runs.csv").out == "3 runs written to runs.csv\n"
    done = becbo("import", "runs.csv")
    assert "added 0 runs" in done.out and "3 rows known already" in done.out
    done = becbo("status", "--all")
    for words in (
        "3 of 40 done: 2 worked, 1 failed",
        "Best so far: -1.5 HV (run 0)",
        "peeled [red]off  1",
        "[°C]",
        "-5 % humidity",
    ):
        assert words in done.out
    assert done.err == ""


def test_suggestions_in_plain_words(becbo: Becbo, tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, 612.5)
    for layers in (3, 4):
        campaign.add({**DESIGN, "layers": layers}, 600 + layers)
    campaign.suggest()
    done = becbo("suggest")
    said = re.sub(r"\s+", " ", done.out)
    assert re.search(r": (\d+|under 1|over 99) % chance to work, expected \S+ ± \S+ HV", said)
    assert re.search(
        r"against the best 612.5 HV \((\d+|under 1|over 99) % chance to beat it\)", said
    )
    assert "1 earlier suggestion is pending: becbo status\n" in done.out


def test_lost_runs_come_back(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    done = becbo("record", "0", "--lost", "--reason", "power cut")
    assert "run 0 is lost (power cut)" in done.out
    assert "Repeats run 0, which was lost." in becbo("suggest").out


def test_a_used_up_budget(becbo: Becbo, tmp_path: Path) -> None:
    campaign = Campaign.create({**COATING, "budget": 1}, tmp_path / "becbo.db")
    campaign.add(DESIGN, 5)
    assert "The budget of 1 experiment is used up." in becbo("suggest").out


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_status_breaks_no_number_whatever_the_width(
    becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    numbers = {f"parameter {i}": {"low": 0, "high": 100, "unit": "µm"} for i in range(6)}
    campaign = Campaign.create({**COATING, "parameters": numbers}, FILE)
    design = {name: 11.1111 + i for i, name in enumerate(numbers)}
    campaign.add(design, failed="it does not stick to steel", note="too " * 9 + "wet")
    campaign.plan(design)
    shown = becbo("status", "--all").out
    assert shown.count("12.1111") == shown.count("16.1111") == 3
    runs = shown[shown.index("\nPending") : shown.index("\nOutlook")]
    assert max(map(len, runs.splitlines())) <= width
    assert runs.count("parameter 3") == (2 if width > 80 else 3)  # in headings, or in runs


def test_nothing_yet(becbo: Becbo, tmp_path: Path) -> None:
    new_campaign(tmp_path)
    done = becbo("status")
    assert done.out == (
        "coating: hardness [HV] as large as possible\n0 of 20 done: 0 worked, 0 failed\n"
    )
    document = said_json(becbo("status", "--json"))
    assert (document["best"], document["pending"], document["n_left"]) == (None, [], 20)
    assert document["outlook"] is None


def test_status_says_what_more_experiments_may_bring(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    lines = becbo("status").out.splitlines()
    table = lines[lines.index("Outlook") + 1 :]
    assert [line.split()[0] for line in table[1:6]] == ["0", "1", "5", "10", "20"]
    assert table[6] == "1 experiment of 2 failed or broke a limit (50 %)."
    assert table[7].startswith("Go on: ")
    assert "better by more than 30 " in becbo("status", "--margin", "30").out
    assert becbo("status", "--margin", "-1").code == 2


def test_the_status_of_noisy_values_shows_what_is_believed(becbo: Becbo, tmp_path: Path) -> None:
    plan = {
        "name": "n",
        "objective": {"name": "y", "direction": "maximize"},
        "parameters": {"x": {"low": 0, "high": 1}},
        "noisy": True,
    }
    campaign = Campaign.create(plan, tmp_path / FILE)
    for i, noise in enumerate(np.random.default_rng(0).normal(0, 0.5, 19).tolist()):
        campaign.add({"x": i / 20}, 5 - 20 * (i / 20 - 0.3) ** 2 + noise)
    run = campaign.plan({"x": 0.95})
    said = becbo("record", str(run.number), "7.5").out
    assert f"best reading so far: 7.5 (run {run.number})" in said
    shown = becbo("status").out
    best = re.search(r"Best so far: [45]\.\d+ \(run (\d+)\)", shown)
    assert best is not None and 3 < int(best[1]) < 9
    assert f"the models believe the design of run {best[1]} to be the best" in shown
    assert f"measured only once: repeat run {best[1]} to confirm it" in shown
    command = re.search(r"To repeat the best run: becbo (.+)", shown)
    assert command is not None
    assert f"It repeats run {best[1]}" in becbo(*shlex.split(command[1])).out
    again = campaign.runs[-1]
    assert again.outcome is Outcome.PENDING
    assert again.params == campaign.runs[int(best[1])].params
    campaign.record(again.number, 4.9)
    assert "To repeat" not in becbo("status").out


def test_the_outlook_while_nothing_has_worked(becbo: Becbo, tmp_path: Path) -> None:
    new_campaign(tmp_path).add(DESIGN, failed="cracked")
    shown = becbo("status").out
    assert re.search(r"more +expected hardness \[HV\] +in four of five cases +acceptable", shown)
    assert "Go on: nothing is acceptable after 1 experiment;" in shown


def test_json(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    status = said_json(becbo("status", "--json"))
    assert set(status) == {"name", "objectives", "limits", "recorded", "budget", "n_done", "n_left",
                           "counts", "best", "front", "pending", "reasons", "last_entry",
                           "outlook"}  # fmt: skip
    assert [f["n_experiments"] for f in status["outlook"]["forecasts"]] == [1, 5, 10, 20]
    assert status["counts"] == {"pending": 1, "ok": 1, "failed": 1, "lost": 0}
    (objective,) = status["objectives"]
    assert objective == asdict(Objective("hardness", "maximize", unit="HV"))
    assert status["front"] == [status["best"]]
    assert (status["n_left"], status["reasons"]) == (18, {"cracked": 1})
    assert set(status["best"]) == set(status["pending"][0]) == RUN
    suggested = said_json(becbo("suggest", "-n", "2", "--json"))
    assert [run["number"] for run in suggested] == [3, 4]
    assert set(suggested[0]) == RUN | {"why", "p_better"}
    for arguments, value, outcome in (
        (["record", "0", "-0.5"], -0.5, "ok"),
        (["correct", "0", "--failed"], None, "failed"),
        (["undo", "0"], -0.5, "ok"),
        (["add", "temperature=150", "layers=1", "gas=argon", "7"], 7.0, "ok"),
    ):
        run = said_json(becbo(*arguments, "--json"))
        assert set(run) == RUN and (run["values"].get("hardness"), run["outcome"]) == (
            value,
            outcome,
        )
    assert set(run["params"]) == {"temperature", "layers", "gas"}
    (tmp_path / "a.csv").write_text("temperature,layers,gas,hardness\n150,1,argon,7\n160,1,argon,")
    imported = said_json(becbo("import", "a.csv", "--json"))
    added = [6]
    nothing: dict[str, Any] = {"recorded": [], "corrected": [], "differing": [], "noted": []}
    assert imported == {"added": added, "blank": added, "n_known": 1, "n_pending": 0, **nothing}
    assert len(said_json(becbo("status", "--all", "--json"))["runs"]) == 7
    undone = said_json(becbo("undo", "--json"))
    assert [run["number"] for run in undone] == added


def test_where_the_campaign_is(
    becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my lab").mkdir()
    used_campaign(tmp_path / "my lab")
    assert options.FILE == FILE
    where = "my lab/becbo.db"
    done = becbo("suggest", "-f", where, "-c", "coating")
    assert "becbo record 3 VALUE -f 'my lab/becbo.db' -c coating" in done.out
    monkeypatch.setenv("BECBO_FILE", where)
    assert "becbo record 4 VALUE\n" in becbo("suggest").out
    (tmp_path / "other.json").write_text(json.dumps({**COATING, "name": "other"}))
    assert "becbo suggest -c other" in becbo("new", "other.json").out
    assert "other: hardness" in becbo("status", "-c", "other").out


def test_questions(becbo: Becbo, tmp_path: Path, answer: Callable[[str], None]) -> None:
    answer(ANSWERS)
    done = becbo("new")
    assert (done.code, done.err) == (0, "")
    campaign = Campaign.open(tmp_path / "becbo.db")
    content = {
        **COATING,
        "name": "steel coating",
        "constraints": ["temperature + 10*layers <= 480"],
    }
    del content["n_initial"]
    assert campaign.description == describe(content)
    assert "The description, to share: steel-coating.yaml" in done.out
    assert read_description(tmp_path / "steel-coating.yaml") == campaign.description
    assert "100 to 500 °C" in done.out and "becbo suggest" in done.out


def test_questions_are_asked_again(
    becbo: Becbo, tmp_path: Path, answer: Callable[[str], None]
) -> None:
    new_campaign(tmp_path)
    (tmp_path / "taken.yaml").touch()
    wrong = [
        ("steel coating\n", "coating\ntaken\n[x]\n\nsteel coating\n"),
        ("hardness\n", "note\nhardness\n"),
        ("large\n", "up\nlarge\n"),
        ("temperature\nn\n°C\n", "\nhardness\nn\n\n1\n2\n\nno\n"
                                "temperature\nx\nn\n\n500\n1e2\n\nno\n"
                                "temperature\nn\n°C\n1,500\n"),
        ("layers\nw", "temperature\nlayers\nw"),
        ("argon, nitrogen\n", "argon\ngas\nc\nargon, nitrogen\n"),
        ("temperature + 10", "temperature + gas <= 3\ntemperature + 10"),
        ("20\nno\n\n\n\n", "many\n0\n2.5\n20\nyes\n100\noften\n10 %\n-1\n\n0\n2.5\n6\n"),
    ]  # fmt: skip
    text = ANSWERS
    for right, more in wrong:
        assert right in text
        text = text.replace(right, more, 1)
    answer(text)
    done = becbo("new")
    assert (done.code, done.err) == (0, "")
    for words in (
        "has a campaign 'coating' already",
        "taken.yaml exists already",
        "must not contain [ ]",
        "name: give a name",
        "'note' is a column of every table",
        "'up': answer s or l or t",
        "a parameter: give a name",
        "'hardness' is a parameter and an output too",
        "'x': answer n or w or c",
        "low 500.0 must be below high 100.0",
        "'1,500' is ambiguous; write 1500 or 1.500",
        "'temperature' exists already",
        "needs at least two choices",
        "'gas' is not one of the numeric parameters",
        "'many' is not a number",
        "budget 0 must be a whole number",
        "'2.5' is not a whole number",
        "'100' must be from 0 to below 100 %",
        "  'often' is not a number",
        "failures: price -1.0 must be a number of experiments",
        "failures: budget 0 must be a whole number of at least 1",
        "10 % of good designs fail by bad luck, at most 6 experiments may fail",
        "noisy        the same settings, measured twice, give different values",
    ):
        assert words in done.out, words
    description = Campaign.open("becbo.db", "steel coating").description
    assert description.budget == 20
    assert description.settings.failures == Failures(chance=0.1, budget=6)


def test_a_new_campaign_shows_its_risk(becbo: Becbo, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({**COATING, "risk": 0.2}))
    assert "at most 20 % of proposals may fail" in becbo("new", str(tmp_path / "plan.json")).out


@pytest.mark.parametrize("n_lines", [0, 1, 5, 8, 22, 23, 26])
def test_questions_that_are_not_answered(
    becbo: Becbo, tmp_path: Path, answer: Callable[[str], None], n_lines: int
) -> None:
    answer("".join(ANSWERS.splitlines(keepends=True)[:n_lines]))
    done = becbo("new")
    assert done.code == 2
    assert re.search("the answers ended at '.*'; nothing was created", done.err)
    assert everything(tmp_path) == {}


def test_no_is_no(becbo: Becbo, tmp_path: Path, answer: Callable[[str], None]) -> None:
    answer(ANSWERS.replace("yes", "no"))
    done = becbo("new")
    assert done.code == 0 and "Nothing was created." in done.out
    assert everything(tmp_path) == {}


def test_new_leaves_nothing_half_done(
    becbo: Becbo,
    tmp_path: Path,
    answer: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer(ANSWERS)
    assert becbo("new", "-f", "becbo.txt").code == 2  # found out at the very end
    answer(ANSWERS)
    monkeypatch.setattr(Campaign, "create", interrupt)
    assert becbo("new").code == 130
    assert everything(tmp_path) == {}


def interrupt(*arguments: object, **options: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c(becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used_campaign(tmp_path)
    before = everything(tmp_path)
    monkeypatch.setattr(Campaign, "suggest", interrupt)
    assert becbo("suggest").code == 130
    assert everything(tmp_path) == before


def test_ctrl_c_among_several_suggestions_shows_those_that_were_made(
    becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = used_campaign(tmp_path)
    pending = len([run for run in campaign.runs if run.outcome is Outcome.PENDING])
    suggest, calls = Campaign.suggest, iter([1, 2])

    def twice(self: Campaign) -> list[Any]:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return suggest(self)

    monkeypatch.setattr(Campaign, "suggest", twice)
    done = becbo("suggest", "-n", "40")
    assert done.code == 130
    assert "stopped: 2 of 40 suggestions were made" in done.err
    made = [run for run in campaign.runs if run.outcome is Outcome.PENDING][pending:]
    assert len(made) == 2
    assert all(f"Run {run.number}\n" in done.out for run in made)


def test_suggestions_that_a_budget_of_failures_allows_are_shown_before_it_refuses_more(
    becbo: Becbo, tmp_path: Path
) -> None:
    campaign = Campaign.create({**COATING, "failures": {"budget": 2}}, FILE)
    done = becbo("suggest", "-n", "5")
    assert done.code == 2
    assert "2 of 5 suggestions were made: the budget of failures allows no more exp" in done.err
    assert "Run 0\n" in done.out and "Run 1\n" in done.out and "Run 2\n" not in done.out
    again = becbo("suggest", "--json")
    assert (again.code, again.out) == (2, "") and "were made" not in again.err
    campaign.record(0, 600)
    assert campaign.suggest()[0].number == 2  # nothing was written for what was refused


def test_decimal_commas(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    assert "run 0 is -1.5 HV" in becbo("record", "0", "-1,5").out
    done = becbo("add", "temperature=200,5", "layers=2", "gas=Argon", "655,25")
    assert "run 3 is 655.25 HV" in done.out


def test_an_import_says_what_it_did(becbo: Becbo, tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.correct(1, 600, note="hazy")
    settings = ",".join(map(str, campaign.run(0).params.values()))
    rows = [
        "number,temperature,layers,gas,hardness,reason,note",
        f"0,{settings},,,",
        "1,200,2,argon,600,,by Ann's oven",
        "2,450,2,argon,,cracked,at the edge",
        ",300,2,argon,700,,",
        ",310,2,argon,,,",
        ",320,2,argon,failed,bent,",
        ",330,2,argon,lost,,",
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    done = becbo("import", "a.csv", "-c", "coating")
    assert done.out.splitlines() == [
        "added 4 runs: 3, 4, 5, 6",
        "recorded 0 runs",
        "of these 1 worked, 2 failed, 1 lost; failed because no objective has a value: 1 run: 4",
        "filled in the reason or note of 1 run: 2",
        "1 row known already",
        "1 row without a result, still pending; write failed where the experiment failed",
        "The table has another reason or note for run 1; the recorded one was kept.",
        """To change it: becbo correct 1 600.0 --note 'by Ann'"'"'s oven' -c coating""",
        "If that does not mean failed, undo the import: becbo undo -c coating",
    ]
    done = becbo("undo")
    assert "Taken back: an import of 5 runs: 2, 3, 4, 5, 6; best so far: 600 HV" in done.out


def test_how_to_correct_what_a_table_has_otherwise(becbo: Becbo, tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    (tmp_path / "a.csv").write_text(
        "temperature,layers,gas,hardness,reason\n450,2,argon,failed,bent"
    )
    (command,) = re.findall("To change it: becbo (.*)", becbo("import", "a.csv").out)
    assert command == "correct 2 --failed --reason bent"
    becbo(*command.split())
    assert result_text(campaign.run(2).result, OUTPUTS) == "failed (bent)"


def test_a_changed_value_in_a_table_may_be_a_correction(becbo: Becbo, tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    table = tmp_path / "a.csv"
    table.write_text("temperature,layers,gas,hardness\n200,2,argon,605\n300,2,argon,700")
    done = becbo("import", "a.csv")
    assert "Run 3 has the settings of run 1, but not its result: it counts as another" in done.out
    assert "Run 4" not in done.out
    (command,) = re.findall("If it corrects run 1, undo the import, then: becbo (.*)", done.out)
    becbo("undo")
    becbo(*command.split())
    assert campaign.run(1).value == 605
    table.write_text("temperature,layers,gas,hardness\n200,2,argon,605\n200,2,argon,611")
    assert "has the settings of" not in becbo("import", "a.csv").out  # measured once more


def test_undo_walks_back(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    becbo("record", "0", "610")
    becbo("correct", "0", "611")
    said = [becbo("undo").out.split(";")[0] for _ in range(3)]
    assert said == [
        "Taken back: run 0 is 610 HV",
        "Taken back: run 0 is pending",
        "Taken back: run 2 is lost (taken back)",
    ]


def test_a_second_undo_says_that_it_brings_the_entry_back(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    becbo("record", "0", "610")
    said = [becbo("undo", number).out.split(";")[0] for number in ("0", "0", "2", "2", "0")]
    assert said == [
        "Taken back: run 0 is pending",
        "Brought back: run 0 is 610 HV",
        "Taken back: run 2 is lost (taken back)",
        "Brought back: run 2 is failed (cracked)",
        "Taken back: run 0 is pending",
    ]


def test_reasons_of_runs_with_several(becbo: Becbo, tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    assert "Why experiments failed\n" in becbo("status").out
    campaign.add(DESIGN, failed="Cracked, oven time")
    shown = becbo("status").out
    assert "Why experiments failed (one run can count for several reasons)" in shown
    assert re.search(r"cracked +2 *\n +oven time +1 *\n", shown)


def test_change(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    plan = tmp_path / "plan.yaml"
    plan.write_text(becbo("change").out.replace("high: 500", "high: 550"))
    assert becbo("change", str(plan)).out == "parameters temperature high: 500 -> 550\n"
    assert becbo("change", str(plan)).out == "nothing is different\n"
    plan.write_text(plan.read_text().replace("high: 550", "high: 150"))
    refused = becbo("change", str(plan))
    assert refused.code == 2 and "would no longer be valid" in refused.err


def test_withdraw(becbo: Becbo, tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    done = becbo("withdraw", "0")
    assert (done.code, campaign.run(0).outcome) == (0, Outcome.LOST)
    assert "Withdrawn: run 0 is lost (withdrawn)" in done.out


def test_a_storage_that_breaks(
    becbo: Becbo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used_campaign(tmp_path)

    def broken(*arguments: object, **options: object) -> None:
        raise optuna.exceptions.StorageInternalError from OSError("disk full")

    monkeypatch.setattr(Campaign, "record", broken)
    done = becbo("record", "0", "1")
    assert (done.code, done.err) == (2, "error: cannot use becbo.db: disk full\n")


def test_logs_are_left_as_they_were(becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.INFO)
    assert becbo("suggest").err == ""
    assert optuna.logging.get_verbosity() == optuna.logging.INFO


def test_completion(tmp_path: Path) -> None:
    """What a shell asks for when somebody types `becbo sug` and the tabulator."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from becbo.cli import main\nsys.argv = ['becbo']; main()",
        ],
        env={"_BECBO_COMPLETE": "complete_bash", "COMP_WORDS": "becbo sug", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["suggest"], done.stderr


# Arguments -> what the message says. Beforehand: run 0 is pending, run 1 is 600, run 2 failed.
ADD = ["temperature=300", "layers=2", "gas=argon"]
BAD_COMMANDS: list[tuple[list[str], str]] = [
    (["record", "99", "1"], "there is no run 99 in coating; `becbo status --all` lists all runs"),
    (["record", "-1", "1"], "there is no run -1"),
    (["record", "x", "1"], "'x' is not the number of a run; `becbo status --all` lists them"),
    (["record"], "(?i)Missing argument 'number'"),
    (["record", "0"], "got no result; give exactly one of VALUE, --failed and --lost"),
    (["record", "0", "1", "--failed"], "got 1 and --failed; give exactly one"),
    (["record", "0", "--failed", "--lost"], "got --failed and --lost; give exactly one"),
    (["record", "0", "good"], "hardness = 'good' is not a number; use --failed if"),
    (["record", "0", "nan"], "hardness = 'nan' is not a finite number; use --failed if"),
    (["record", "0", "-inf"], "hardness = '-inf' is not a finite number"),
    (
        ["record", "0", "1,500"],
        "hardness = '1,500' is ambiguous; write 1500 or 1.500; use --failed",
    ),
    (["record", "0", "540 GPa"], "hardness = '540 GPa' is not a number; convert it to HV, and"),
    (["record", "0", "1", "2"], "'2': hardness is given twice"),
    (["record", "0", "1", "--reason", "hot"], "--reason 'hot' goes with --failed or --lost"),
    (["record", "0", "--fialed"], "No such option: --fialed .*--failed"),
    (["record", "1", "5"], "run 1 is recorded already: 600 HV; correct it instead"),
    (["correct", "0", "5"], "run 0 has no entry to correct; record it"),
    (["correct", "1"], "got no result"),
    (["undo", "0"], "run 0 has no entry to undo"),
    (["undo", "99"], "there is no run 99"),
    (["add"], "Missing argument"),
    (["add", *ADD[:2], "5"], "gas is missing: add gas=VALUE"),
    (["add", *ADD], "got no result"),
    (["add", *ADD, "5", "6"], "'6': hardness is given twice"),
    (["add", *ADD, "time=5", "6"], "'time=5': there are temperature, layers, gas, hardness"),
    (["add", *ADD, "layers=3", "6"], "'layers=3': layers is given twice"),
    (["add", "temperature=900", *ADD[1:], "6"], "temperature = 900.0 is outside 100 .. 500"),
    (["add", "temperature=", *ADD[1:], "6"], "temperature is empty; allowed: 100 .. 500"),
    (["add", "temperature=hot", *ADD[1:], "6"], r"temperature \(100 .. 500\) = 'hot' is not a"),
    (["add", *ADD[:2], "gas=helium", "6"], "gas = 'helium' is not one of 'argon', 'nitrogen'"),
    (["suggest", "-n", "0"], "Invalid value for '-n': Input should be greater than or equal to 1"),
    (["suggest", "-n", "two"], "Invalid value for '-n'"),
    (["status", "-c", "nope"], "has no campaign 'nope'; it has coating"),
    (
        ["status", "-f", "missing.db"],
        "there is no file missing.db; create a campaign first: `becbo new`",
    ),
    (["status", "-f", "notes.txt"], "notes.txt: a file name must end in .db, .sqlite"),
    (["status", "-f", "broken.db"], "cannot open .*broken.db: file is not a database"),
    (["status", "-f", "oracle://x"], "use postgresql:// or mysql://"),
    (["export", "runs.pdf"], "must be a .csv, .xlsx, .json file, not '.pdf'"),
    (["export", "notes.txt"], "an export must be a .csv, .xlsx, .json file, not ..txt."),
    (["export", "nowhere/a.csv"], "cannot write nowhere/a.csv: No such file or directory"),
    (["import", "missing.csv"], "cannot read missing.csv: No such file or directory"),
    (["import", "notes.txt"], "notes.txt: a table must be a .csv or .xlsx file"),
    (["new", "missing.yaml"], "cannot read missing.yaml: No such file or directory"),
    (["new", "notes.txt"], "notes.txt: a description must be a .yaml, .yml, .toml, .json file"),
    (["new", "again.json"], "becbo.db already has 'coating'; choose another name"),
    (["new", "other.json", "-f", "no/becbo.db"], "there is no folder no for becbo.db; make it"),
    (["new", "other.json", "-f", "notes.txt"], "notes.txt: a file name must end in .db"),
]

# Descriptions, given to `becbo new`.
BAD_DESCRIPTIONS: list[tuple[str, str, str]] = [
    ("a.yaml", "name: a", "a.yaml: parameters: give at least one"),
    ("a.yaml", "name: a\nparameters: {x: {low: 1}}", "'x' needs low and high, or choices"),
    ("a.yaml", "name: a\nparameters: {x: {low: 1, high: hot}}", "high = 'hot' is not a number"),
    ("a.yaml", "name: a\nparameters: {x: {low: 9, high: 1}}", "low 9.0 must be below high 1.0"),
    ("a.yaml", "name: a\nparameters: {note: {low: 0, high: 1}}", "'note' is a column of every"),
    ("a.yaml", "name: a\nparameters: {x: {low: 0, high: 1}}\nbudged: 4", "unknown 'budged'"),
    ("a.yaml", "name: a\nparameters: {x: {low: 0, high: 1}}\nbudget: 0", "budget 0 must be"),
    ("a.yaml", "name: a\nparameters: {x: {low: 0, high: 1}}\nconstraints: [y <= 1]",
     "'y' is not one of the numeric parameters"),
    ("a.yaml", "name: a\nparameters: {x: {low: 0, high: 1}}\nconstraints: [x >= 2]",
     "no design that satisfies the known constraints"),
    ("a.yaml", "name: [a", "a.yaml cannot be read: while parsing"),
    ("a.yaml", "name: a\nname: b", "'name' appears twice"),
    ("a.toml", "name = a", "a.toml cannot be read: Invalid value"),
    ("a.json", "{", "a.json cannot be read: Expecting property name"),
]  # fmt: skip

# Tables, given to `becbo import`.
BAD_TABLES: list[tuple[str, str, str]] = [
    ("a.csv", "", "the table is empty"),
    ("a.csv", "temperature,layers,gas,hardness", "headings but no rows"),
    ("a.csv", "temperature,layers,gas", "no column 'hardness'"),
    ("a.csv", "temperature [K],layers,gas,hardness", "temperature is in °C here; convert it"),
    ("a.csv", "temperature;layers;gas;hardness\n1,5;2;argon;600",
     "because of 1 row:\n  line 2: temperature = 1.5 is outside 100 .. 500"),
    ("a.csv", "temperature,layers,gas,hardness\n200,2,argon,5\n,2,argon,5\n200,9,argon,x",
     "because of 2 rows:\n  line 3: temperature is empty.*\n  line 4: layers = 9.0 is outside.*\n"
     "  line 4: hardness = 'x' is not a number"),
    ("a.csv", "number,temperature,layers,gas,hardness\n1,200,2,argon,601",
     "line 2: run 1 is recorded as 600 HV, not 601 HV; correct it instead"),
    ("a.csv", "number,temperature,layers,gas,hardness\n9,200,2,argon,601",
     "line 2: there is no run 9; leave the number empty"),
    ("a.csv", 'temperature,"lay', "the CSV file cannot be read"),
    ("a.xlsx", "temperature,layers", "this is not an xlsx file"),
]  # fmt: skip


def check_refused(done: Done, words: str, folder: Path, before: dict[str, bytes]) -> None:
    assert (done.code, done.out) == (2, "")
    message = re.sub(r"[│╭╮╰╯─]", "", done.err)
    assert re.search(words, message), message
    assert "Traceback" not in done.err
    assert everything(folder) == before


@pytest.mark.parametrize(("arguments", "words"), BAD_COMMANDS, ids=str)
def test_bad_commands(arguments: list[str], words: str, becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    (tmp_path / "notes.txt").write_text("milk")
    (tmp_path / "broken.db").write_text("not a database" * 100)
    (tmp_path / "again.json").write_text(json.dumps(COATING))
    (tmp_path / "other.json").write_text(json.dumps({**COATING, "name": "other"}))
    before = everything(tmp_path)
    check_refused(becbo(*arguments), words, tmp_path, before)


@pytest.mark.parametrize(("name", "text", "words"), BAD_DESCRIPTIONS)
def test_bad_descriptions(name: str, text: str, words: str, becbo: Becbo, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    check_refused(becbo("new", name), words, tmp_path, {name: text.encode()})


@pytest.mark.parametrize(("name", "text", "words"), BAD_TABLES)
def test_bad_tables(name: str, text: str, words: str, becbo: Becbo, tmp_path: Path) -> None:
    used_campaign(tmp_path)
    (tmp_path / name).write_text(text)
    before = everything(tmp_path)
    check_refused(becbo("import", name), words, tmp_path, before)


def test_several_campaigns(becbo: Becbo, tmp_path: Path) -> None:
    Campaign.create({**COATING, "name": "other"}, new_campaign(tmp_path).where)
    before = everything(tmp_path)
    words = "becbo.db has several campaigns: coating, other; name one of them: --campaign NAME"
    check_refused(becbo("status"), words, tmp_path, before)


GLUE_ANSWERS = """\
glue
strength
kPa
large
viscosity
mPas
keep a limit

200
ph

target
7

heat
n
°C
20 °C
90

no



no



yes
"""


def test_several_outputs_from_the_questions_to_the_front(
    becbo: Becbo, tmp_path: Path, answer: Callable[[str], None]
) -> None:
    answer(GLUE_ANSWERS)
    done = becbo("new")
    assert (done.code, done.err) == (0, "")
    assert "needs `lower` or" not in done.out
    outputs = Campaign.open(tmp_path / "becbo.db").description.outputs
    assert [output.wish for output in outputs] == [
        "as large as possible",
        "as close to 7 as possible",
        "at most 200",
    ]
    assert "becbo record 0 strength=VALUE ph=VALUE viscosity=VALUE" in becbo("suggest").out
    done = becbo("record", "0", "strength=118,3 kPa", "viscosity=90 mPas", "ph=6.5")
    assert "run 0 is strength 118.3 kPa, ph 6.5, viscosity 90 mPas; on the front: run 0" in done.out
    becbo("suggest")
    done = becbo("record", "1", "--failed", "--reason", "gel", "viscosity=340")
    assert "run 1 is failed (gel; viscosity 340 mPas)" in done.out
    done = becbo("add", "heat=50 °C", "strength=130", "ph=7")
    assert "run 2 is strength 130 kPa, ph 7; on the front: run 2." in done.out
    assert "The front: no other run is better" in becbo("status").out
    becbo("export", "runs.csv")
    assert (
        (tmp_path / "runs.csv")
        .read_text(encoding="utf-8-sig")
        .splitlines()[0]
        .startswith(
            "number,heat [°C],strength [kPa],ph,viscosity [mPas],outcome,reason,note,believed"
        )
    )
    for arguments, words in (
        (["record", "1", "5"], "'5': say which output it is, as in strength=VALUE ph=VALUE"),
        (["correct", "0"], "got no result; give exactly one of values such as strength=VALUE"),
        (["correct", "0", "ph=7", "ph=8"], "'ph=8': ph is given twice"),
        (["correct", "0", "ph=acid"], "ph = 'acid' is not a number; use --failed"),
        (["correct", "0", "--lost", "ph=7"], "got ph=7 and --lost; give exactly one"),
        (["add", "heat=50", "colour=3"], "'colour=3': there are heat, strength, ph, viscosity"),
    ):
        done = becbo(*arguments)
        assert done.code == 2 and words in done.err, done.err


def test_a_correction_names_what_it_leaves_out(becbo: Becbo, tmp_path: Path) -> None:
    campaign = Campaign.create({**COATING, "limits": {"cost": {"upper": 9, "unit": "€"}}}, FILE)
    campaign.add(DESIGN, {"hardness": 600, "cost": 7.1})
    done = becbo("correct", "0", "hardness=610")
    assert "run 0 is hardness 610 HV" in done.out
    assert "Measured before and left out now: cost 7.1 €." in done.out
    assert "left out" not in becbo("correct", "0", "hardness=610", "cost=7.1").out
    assert "left out" not in becbo("correct", "0", "--failed", "hardness=610", "cost=8").out
    assert "left out now: hardness 610 HV, cost 8 €." in becbo("correct", "0", "--failed").out


RECIPE_ANSWERS = """\
adhesive
strength
MPa
large
viscosity
Pas
keep a limit

12 Pas

resin
n
%
30 %
70

hardener
n
%
10
40
0,5 %
filler
n
%
0
50 %
0.5
temperature
n
°C
20
90 °C
5
supplier
c
North, South

resin + hardener + filler = 100
heat = temperature * resin <= 5000

30
no
5 %
2,5
8
yes
"""


def test_a_newcomer_with_a_mixture_and_two_outputs_meets_no_error(
    becbo: Becbo, tmp_path: Path, answer: Callable[[str], None]
) -> None:
    """From the questions to the third recorded run, typing units as people do."""
    answer(RECIPE_ANSWERS.replace("70\n\n", "70\n0.5\n"))
    done = becbo("new")
    assert (done.code, done.err) == (0, "")
    assert "such as resin + hardener + filler == 100 or resin * hardener <= 900" in done.out
    description = Campaign.open(tmp_path / "becbo.db").description
    assert description.settings.failures == Failures(0.05, 2.5, 8)
    entries = [
        ["strength=14,3", "MPa", "viscosity=8,5", "Pas"],
        ["strength=15,1 MPa", "viscosity=13.1 Pas"],
        ["--failed", "--reason", "does not mix", "viscosity=31"],
    ]
    for number, entry in enumerate(entries):
        done = becbo("suggest")
        assert (done.code, done.err) == (0, "")
        assert f"becbo record {number} strength=VALUE viscosity=VALUE" in done.out
        params = Campaign.open(tmp_path / "becbo.db").run(number).params
        assert params["resin"] + params["hardener"] + params["filler"] == 100
        assert params["temperature"] * params["resin"] <= 5000
        assert description.space.is_allowed(params)
        done = becbo("record", str(number), *entry)
        assert (done.code, done.err) == (0, "")
    assert (
        "run 2 is failed (does not mix; viscosity 31 Pas); best so far: strength 14.3" in done.out
    )
    done = becbo("what-if", "resin=45,2 %", "hardener=25", "%", "filler=29.8", "temperature=62 °C",
                 "supplier=north", "--add")  # fmt: skip
    assert (done.code, done.err) == (0, "")
    for words in ("Chance to work and keep every limit:", "Expected if it works: strength",
                  "Chance to beat the best:", "Run 3 is pending.",
                  "becbo record 3 strength=VALUE"):  # fmt: skip
        assert words in done.out
    done = becbo("record", "3", "strength=16", "viscosity=9")
    assert "best so far: strength 16 MPa, viscosity 9 Pas (run 3)" in done.out
    assert becbo("status", "--all").code == becbo("export", "runs.xlsx").code == 0


def test_what_if(becbo: Becbo, tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    design = [f"{name}={value}" for name, value in DESIGN.items()]
    done = becbo("what-if", *design)
    assert "Nothing can be predicted before the first result." in done.out
    campaign.add(DESIGN, 700)
    campaign.change({**COATING, "constraints": ["temperature <= 140", "layers <= 6"]})
    assert campaign.runs == Campaign.open(campaign.where).runs
    done = becbo("what-if", *design)
    assert "It violates a known limit: temperature <= 140" in done.out
    assert "layers <= 6" not in done.out
    assert "It repeats run 0 (700 HV)." in done.out
    other = [text.replace("gas=argon", "gas=nitrogen") for text in design]
    found = said_json(becbo("what-if", *other, "--json"))
    assert set(found) == {"params", "believed", "p_better", "violated", "nearest", "distance",
                          "how_far", "run"}  # fmt: skip
    assert (found["nearest"], found["run"]) == (0, None)
    assert "gas nitrogen instead of argon" in found["how_far"]
    planned = said_json(becbo("what-if", *other, "--add", "--note", "mine", "--json"))["run"]
    assert (planned["number"], planned["outcome"], planned["note"]) == (1, "pending", "mine")
    for arguments, words in (
        (design[:-1], "is missing: add"),
        ([*design, "3"], "'3' is not NAME=VALUE of a parameter"),
        ([*design, "--note", "x"], "--note 'x' goes with --add"),
        ([*design[:-1], "gas=helium"], "gas = 'helium' is not one of"),
        ([*design[1:], "temperature=9000"], "temperature = 9000.0 is outside"),
    ):
        done = becbo("what-if", *arguments)
        assert done.code == 2 and words in done.err, done.err
    assert len(Campaign.open(campaign.where).runs) == 2
