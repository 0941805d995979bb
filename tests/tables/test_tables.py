"""Spreadsheets in and out: the same runs come back, and nothing is half imported."""

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from coating import COATING, DESIGN, new_campaign, used_campaign
from descriptions import contents, finite, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import InvalidInput, Objective, Outcome
from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.campaign.description import Description
from becbo.campaign.formatting import result_text
from becbo.campaign.runs import NOTHING, Run, RunState
from becbo.outputs import Outputs
from becbo.reasons import Reasons
from becbo.tables import BadTable, export_table, import_cells, import_table
from becbo.tables.files import MAX_ROWS, Cell, read_csv, read_xlsx
from becbo.tables.headings import find_columns
from becbo.tables.matching import ImportPlan, match_rows
from becbo.tables.parsing import parameter_value, parse_number
from becbo.tables.reading import Row, read_rows
from becbo.tables.writing import table_bytes, table_cells
from becbo.trial import PENDING, Result

OUTPUTS = Outputs.of(Objective("hardness", "maximize"))  # texts without the unit

COATED = describe(COATING)
HEADINGS = ["temperature", "layers", "gas", "hardness"]
D600: list[Cell] = [200, 2, "argon", 600]
Read = Callable[[bytes], list[list[Cell]]]


def rows_of(description: Description, cells: list[list[Cell]]) -> list[Row]:
    return read_rows(description, cells).rows


@st.composite
def tables_of_runs(draw: st.DrawFn) -> tuple[Description, list[Run]]:
    description = describe(draw(contents()))
    space = description.space
    runs = []
    for number in range(draw(st.integers(1, 4))):
        U = draw(st.lists(st.floats(0, 1), min_size=space.dim, max_size=space.dim))
        params = {
            p.name: p.decode(U[c]) for p, c in zip(space.parameters, space.columns, strict=True)
        }
        ended = draw(st.sampled_from(Outcome))
        values = drawn_values(draw, description, ended)
        why = draw(texts) if ended in (Outcome.FAILED, Outcome.LOST) else ""
        result = Result(ended, values, Reasons.parse(why))
        runs.append(a_run(number, params, result, draw(texts)))
    return description, runs


def drawn_values(draw: st.DrawFn, description: Description, ended: Outcome) -> dict[str, Any]:
    """Of a run that worked at least one objective; of a failed one anything, or nothing."""
    outputs = description.outputs
    if not ended.is_answer or (ended is Outcome.FAILED and len(outputs.names) == 1):
        return {}
    values = {name: draw(st.none() | finite) for name in outputs.names}
    if ended is Outcome.OK:
        values[outputs.objectives[0].name] = draw(finite)
    return values if any(value is not None for value in values.values()) else {}


def is_same(a: Any, b: Any) -> bool:
    """Up to the 15 digits that Excel keeps."""
    return a == b or (isinstance(b, float) and math.isclose(a, b, rel_tol=1e-14))


def a_run(number: int, params: dict[str, Any], result: Result, note: str = "") -> Run:
    before = RunState(PENDING, "", None, NOTHING)
    return Run(number, params, result, None, "user", note, None, None, number, before, ())


@pytest.mark.parametrize(("suffix", "read"), [(".csv", read_csv), (".xlsx", read_xlsx)])
@settings(deadline=None, derandomize=True, max_examples=25)
@given(told=tables_of_runs())
def test_what_goes_out_comes_back(
    told: tuple[Description, list[Run]], suffix: str, read: Read
) -> None:
    description, runs = told
    rows = rows_of(description, read(table_bytes(suffix, description, runs)))
    assert [row.number for row in rows] == [run.number for run in runs]
    for row, run in zip(rows, runs, strict=True):
        assert row.params.keys() == run.params.keys()
        assert all(is_same(row.params[name], value) for name, value in run.params.items())
        assert row.result.values.keys() == run.values.keys()
        assert all(is_same(row.result.values[name], value) for name, value in run.values.items())
        assert replace(row.result, values=run.result.values) == run.result
    assert [row.note for row in rows] == [run.note for run in runs]


@pytest.mark.parametrize("name", ["runs.csv", "runs.xlsx"])
def test_a_colleague_gets_the_same_runs(tmp_path: Path, name: str) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, lost="power cut", note='=1+1; "later",\nperhaps')
    campaign.correct(1, 601.25)
    campaign.suggest()
    (tmp_path / "colleague").mkdir()
    other = new_campaign(tmp_path / "colleague")
    done = import_table(other, export_table(campaign, tmp_path / name))
    assert (len(done.added), len(done.recorded), done.n_known) == (3, 0, 1)  # one is pending

    def facts(runs: Sequence[Run]) -> list[Any]:
        return [(run.params, run.result, run.note) for run in runs]

    assert facts(other.runs) == facts(campaign.runs[:3])
    assert import_table(other, tmp_path / name).n_known == 4
    assert len(other.runs) == 3


def test_json_has_everything(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.correct(1, failed="on second thoughts")
    written = json.loads(export_table(campaign, tmp_path / "runs.json").read_text())
    assert describe(written["description"]) == campaign.description
    assert [run["outcome"] for run in written["runs"]] == ["pending", "failed", "failed"]
    assert written["runs"][1]["history"][0]["values"] == {"hardness": 600.0}


def test_a_filled_in_sheet_records_the_pending_runs(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.suggest(2)
    cells = table_cells(campaign.description, campaign.runs)
    sheet = [[*row] for row in cells if row[0] in ("number", 0, 3, 4)]
    result = cells[0].index("hardness [HV]")
    for row, text in zip(sheet[1:], (640.0, "failed", "lost"), strict=True):
        row[result], row[result + 1] = text, None
    sheet[2][result + 2] = "peeled off"
    campaign.record(4, lost=True)  # by somebody else, meanwhile
    sheet = [row[:-3] for row in sheet]
    sheet[1][0] = None  # the number got lost; the design tells
    done = import_cells(campaign, sheet)
    assert ([r.number for r in done.recorded], done.added, done.n_known) == ([0, 3], [], 1)
    assert [result_text(run.result, OUTPUTS) for run in campaign.runs] == [
        "640",
        "600",
        "failed (cracked)",
        "failed (peeled off)",
        "lost",
    ]


def test_an_old_export_does_no_harm(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    old = table_cells(campaign.description, campaign.runs)
    campaign.record(0, 700)
    assert import_cells(campaign, old).n_known == 3  # where run 0 is pending still


def test_repeated_experiments_stay_repeated(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    twice: list[list[Cell]] = [[*HEADINGS], *[[200.0, 2, "argon", 600.0]] * 2]
    assert len(import_cells(campaign, twice).added) == 2
    assert import_cells(campaign, twice).n_known == 2
    assert len(import_cells(campaign, [*twice, twice[-1]]).added) == 1


@pytest.mark.parametrize(
    ("headings", "is_fine"),
    [
        ("temperature [°C],layers,gas,hardness [HV]", True),
        ("temperature (°C),layers,gas,hardness (HV)", True),
        ("temperature [℃],layers,gas,hardness", True),  # one sign for the same
        ("gas,hardness,layers,temperature[°C],,Note,NUMBER,believed value", True),
        ("temperature [K],layers,gas,hardness", False),
        ("temperature,layers [1],gas,hardness", False),
    ],
)
def test_units(headings: str, is_fine: bool) -> None:
    names = headings.split(",")
    values = {"t": 200, "l": 2, "g": "argon", "h": 600}
    row = [values.get(name[:1]) for name in names]
    if is_fine:
        assert rows_of(COATED, [names, row])[0].params == DESIGN
    else:
        with pytest.raises(InvalidInput, match="here; convert it first"):
            rows_of(COATED, [names, row])


def test_names_with_brackets_and_names_within_names() -> None:
    parameter = {"low": 0, "high": 1}
    names = ["rate", "rate (slow)", "rate (slow) of flow"]
    description = describe(
        {
            "name": "a",
            "parameters": {name: {**parameter, "unit": "m/(s [x])"} for name in names},
        }
    )
    run = a_run(0, dict(zip(names, (0.1, 0.2, 0.3), strict=True)), Result.ok({"value": 1.0}))
    assert rows_of(description, table_cells(description, [run]))[0].params == run.params


@pytest.mark.parametrize(
    ("cells", "result"),
    [
        ((600, None), Result.ok({"hardness": 600.0})),
        (("6e2", "ok"), Result.ok({"hardness": 600.0})),
        ((600, "pending"), Result.ok({"hardness": 600.0})),  # somebody filled in the value only
        ((None, None), Result.failed("why")),
        (("", "failed"), Result.failed("why")),
        (("FAILED", None), Result.failed("why")),
        (("failed", "pending"), Result.failed("why")),
        (("lost", None), Result.lost("why")),
        ((None, "lost"), Result.lost("why")),
        ((None, "pending"), PENDING),
    ],
)
def test_what_cells_mean(cells: tuple[Cell, Cell], result: Result) -> None:
    row = [200, 2, "argon", *cells, result.reason]
    assert rows_of(COATED, [[*HEADINGS, "outcome", "reason"], row])[0].result == result


BAD_ROWS = [
    ("hot,2,argon,600,,", r"temperature \(100 .. 500\) = 'hot' is not a number"),
    ("'1,5',2,argon,600,,", "temperature = 1.5 is outside 100 .. 500"),
    ("'1.200,5',2,argon,600,,", ".* write a decimal point, and nothing between thousands"),
    ("392 °F,2,argon,600,,", ".* = '392 °F' is not a number; convert it to °C, and leave the unit"),
    ("200,2 pieces,argon,600,,", ".* = '2 pieces' is not a number; leave the unit out"),
    ("900,2,argon,600,,", "temperature = 900.0 is outside 100 .. 500"),
    (",2,argon,600,,", "temperature is empty; allowed: 100 .. 500"),
    ("200,2.5,argon,600,,", "layers = 2.5 is not a whole number"),
    ("200,2,helium,600,,", "gas = 'helium' is not one of 'argon', 'nitrogen'"),
    ("200,2,argon,hard,,", "hardness = 'hard' is not a number; write failed, or leave it empty"),
    ("200,2,argon,n/a,failed,", "hardness = 'n/a' is not a number; write failed, or leave it emp"),
    ("200,2,argon,#DIV/0!,,", "hardness = '#DIV/0!' is not a number; write failed, or leave"),
    ("200,2,argon,inf,,", "hardness = 'inf' is not a finite number"),
    ("200,2,argon,600,broken,", "outcome 'broken' must be pending, ok, failed, lost"),
    ("200,2,argon,600,failed,", "outcome 'failed', but hardness is 600; clear one"),
    ("200,2,argon,,ok,", "outcome 'ok', but hardness is empty; give the value"),
    ("200,2,argon,600,,1.5", "number '1.5' must be the whole number of a run"),
    ("200,2,argon,600,,first", "number 'first' must be the whole number of a run"),
    ("200,2,argon,605,,99", "there is no run 99; leave the number empty"),
    ("300,2,argon,600,,1", "run 1 has other parameters here"),
    ("200,2,argon,610,,1", "run 1 is recorded as 600 HV, not 610 HV; correct it instead"),
    (
        "200,2,argon,600,,,7",
        "'7' is in a column without a heading; add a heading, or clear the cell",
    ),
    ("200,2,argon,'1,600',,", "hardness = '1,600' is ambiguous; write 1600 or 1.600"),
    ("200,2,argon,'-1,600 HV',,", "hardness = '-1,600 HV' is ambiguous; write -1600 or -1.600"),
    ("200,2,argon,'1,600,5',,", ".* write a decimal point, and nothing between thousands"),
    ("200,2,argon,1_600,,", "hardness = '1_600' is not a number"),
    ("200,2,argon,60 %,,", "hardness = '60 %' is not a number; write it without %, in HV"),
]


@pytest.mark.parametrize(("row", "words"), BAD_ROWS)
def test_bad_rows(tmp_path: Path, row: str, words: str) -> None:
    campaign = used_campaign(tmp_path)
    before = campaign.runs
    text = "\n".join(["temperature,layers,gas,hardness,outcome,number", "210,3,argon,620,,", row])
    (tmp_path / "a.csv").write_text(text.replace("'", '"'))
    with pytest.raises(BadTable, match=f"because of 1 row:\n  line 3: {words}"):
        import_table(campaign, tmp_path / "a.csv")
    assert campaign.runs == before


def test_every_bad_row_is_reported() -> None:
    good: list[Cell] = [200, 2, "argon", 600, None]
    rows: list[list[Cell]] = [
        [*HEADINGS, "number"],
        good,
        ["hot", 9, "helium", "hard", "x"],
        [None] * 5,
        [200, 2, "argon", 600, 1],
        good,
        [200, 2, "argon", 600, 1.0],
    ]
    with pytest.raises(BadTable, match="because of 3 rows") as caught:
        rows_of(COATED, rows)
    assert [problem.line for problem in caught.value.problems] == [3] * 5 + [5, 7]
    assert str(caught.value.problems[-1]) == "line 7: number 1 is in more than one line"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([], "the table is empty"),
        ([[None, ""]], "the table is empty: a line must name the columns"),
        ([HEADINGS], "headings but no rows"),
        ([HEADINGS, [None] * 4], "headings but no rows"),
        ([HEADINGS[1:]], "no column 'temperature'"),
        ([HEADINGS[:-1]], "no column 'hardness'"),
        ([[*HEADINGS, "gas"]], "column 'gas' appears twice"),
        ([[*HEADINGS, "note", "Note"]], "column 'Note' appears twice"),
        ([HEADINGS] + [[200, 2, "argon", 600]] * (MAX_ROWS + 1), f"at most {MAX_ROWS} rows"),
    ],
)
def test_tables_that_cannot_be(cells: list[list[Cell]], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        rows_of(COATED, cells)


def test_columns_of_other_names_go_into_the_note() -> None:
    headings = ["date", *HEADINGS, "note", "operator", None, "date"]
    day: Any = datetime(2026, 1, 3)  # as in an Excel file
    rows = rows_of(
        COATED,
        [
            headings,
            [day, 200, 2, "argon", 600, "hazy", "Ann", None, 7],
            [None, 200, 2, "argon", 600, None, "Bob"],
            [None, 200, 2, "argon", 600],
        ],
    )
    assert [row.note for row in rows] == [
        "hazy; date: 2026-01-03; operator: Ann; date: 7",
        "operator: Bob",
        "",
    ]
    assert find_columns(COATED, headings).others == [("date", 0), ("operator", 6), ("date", 8)]
    assert find_columns(COATED, table_cells(COATED, [])[0]).others == []


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([600, None, "cracked"], "reason 'cracked', but hardness is 600; move it to the note"),
        (["-", None, "cracked"], "hardness = '-' is not a number; write failed, or leave it empty"),
        ([None, "pending", "cracked"], "but outcome 'pending'; write 'failed' if it failed"),
    ],
)
def test_reasons_are_not_dropped(cells: list[Cell], words: str) -> None:
    with pytest.raises(BadTable, match=words):
        rows_of(COATED, [[*HEADINGS, "outcome", "reason"], [200, 2, "argon", *cells]])


@pytest.mark.parametrize(
    "headings",
    [
        "Temperature (°C),LAYERS,Gas,Hardness HV",
        "temperature °C,layers,gas,hardness",
        "temperature [ºC],layers,gas,hardness [ HV]",
        "temperature,layers,gas,hardness,Hardness,Gas",  # the last two are other columns
    ],
)
def test_headings_as_people_write_them(headings: str) -> None:
    row: list[Cell] = [200, 2, "argon", 600, "high", "dry"]
    names = headings.split(",")
    (read,) = rows_of(COATED, [[], names, row[: len(names)]])
    assert (read.params, read.result.value, read.line) == (DESIGN, 600.0, 3)
    assert read.note == ("Hardness: high; Gas: dry" if len(names) > 4 else "")


def test_names_that_differ_in_capitals_only() -> None:
    parameter = {"low": 0, "high": 1}
    description = describe({"name": "a", "parameters": {"T": parameter, "t": parameter}})
    (row,) = rows_of(description, [["t", "T", "value"], [0.1, 0.9, 1]])
    assert row.params == {"T": 0.9, "t": 0.1}
    with pytest.raises(InvalidInput, match="no column 't'; its headings are 'T', 'VALUE"):
        rows_of(description, [["T", "VALUE"], [0.1, 1]])


def test_a_missing_column_says_what_is_there() -> None:
    with pytest.raises(InvalidInput, match="no column 'gas', 'hardness'; .* 'temperature', 'layer"):
        rows_of(COATED, [["Coatings of 2025", None], HEADINGS[:2], [200, 2, "argon", 600]])


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("Trials, spring\na;b\n1,5;2\n", [["Trials, spring"], ["a", "b"], ["1.5", "2"]]),
        ("a;b;c\n1,5;2,5;3,5\n", [["a", "b", "c"], ["1.5", "2.5", "3.5"]]),
        ("Trials; spring\n\na,b\n1.5,2\n", [["Trials; spring"], [], ["a", "b"], ["1.5", "2"]]),
        ("a;b;note\n1,5;2\n", [["a", "b", "note"], ["1.5", "2"]]),
    ],
)
def test_a_title_does_not_decide_what_separates_the_cells(text: str, cells: list) -> None:
    assert read_csv(text.encode()) == cells


def test_a_title_above_the_headings() -> None:
    headings: list[Cell] = ["Temperature (°C)", *HEADINGS[1:], "note"]
    table: list[list[Cell]] = [["Coatings of 2025"], [], headings, [200, 2, "argon", 600]]
    (row,) = rows_of(COATED, table)
    assert (row.line, row.params, row.result.value) == (4, DESIGN, 600.0)


def test_all_headings_that_do_not_fit_are_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        rows_of(COATED, [["T", "Layers", "gas", "gas", "hardness [GPa]"], [200, 2, "argon", 600]])
    assert str(caught.value).splitlines() == [
        "the headings do not fit:",
        "  column 'gas' appears twice; remove one of them",
        "  column 'hardness [GPa]': hardness is in HV here; convert it first",
        "  the table has no column 'temperature'; its headings are 'T', 'Layers', 'gas', 'gas', "
        "'hardness [GPa]'",
    ]


GLUE = describe(
    {
        "name": "glue",
        "objectives": {"strength": {"direction": "maximize", "unit": "kPa"}, "ph": {"target": 7}},
        "limits": {"viscosity": {"upper": 200}},
        "parameters": {"heat": {"low": 0, "high": 100}},
    }
)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (
            ["118,3 kPa", 7.1, 90, "", ""],
            Result.ok({"strength": 118.3, "ph": 7.1, "viscosity": 90}),
        ),
        ([80, None, None, "", ""], Result.ok({"strength": 80, "ph": None, "viscosity": None})),
        (
            [None, None, 340, "", "gel"],
            Result.failed("gel", {"strength": None, "ph": None, "viscosity": 340}),
        ),
        (
            [80, "failed", 340, "", ""],
            Result.failed(None, {"strength": 80, "ph": None, "viscosity": 340}),
        ),
        ([None, None, None, "", ""], Result.failed()),
        ([None, None, None, "lost", "power cut"], Result.lost("power cut")),
    ],
)
def test_what_cells_of_several_outputs_mean(cells: list[Cell], expected: Result) -> None:
    names: list[Cell] = ["heat", "strength [kPa]", "ph", "viscosity", "outcome", "reason"]
    assert rows_of(GLUE, [names, [50, *cells]])[0].result == expected


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([80, 7, 90, "lost", ""], "outcome 'lost', but strength is 80; clear one of them"),
        ([80, 7, 90, "", "gel"], "reason 'gel', but strength is 80; move it to the note, or write"),
        ([None, None, None, "ok", ""], "but strength and ph and viscosity are empty"),
        (["failed", "lost", None, "", ""], "failed and lost contradict each other"),
        ([80, "acid", None, "", ""], "ph = 'acid' is not a number"),
        (["80 %", 7, None, "", ""], "strength = '80 %' is not a number"),
    ],
)
def test_bad_cells_of_several_outputs(cells: list[Cell], words: str) -> None:
    names: list[Cell] = ["heat", "strength", "ph", "viscosity", "outcome", "reason"]
    with pytest.raises(BadTable, match=words):
        rows_of(GLUE, [names, [50, *cells]])


def test_percent() -> None:
    parameter = {"low": 0, "high": 100, "unit": "%"}
    description = describe({"name": "a", "parameters": {"humidity": parameter}})
    (row,) = rows_of(description, [["humidity", "value"], ["45 %", 1]])
    assert row.params == {"humidity": 45.0}


@pytest.mark.parametrize("written", ["210 °C", "210°C", "210,0 ℃", "+2,1e2 º C"])
def test_a_cell_with_the_unit_of_its_column(written: str) -> None:
    (row,) = rows_of(COATED, [HEADINGS, [written, 2, "argon", "540,5 HV"]])
    assert (row.params["temperature"], row.result.value) == (210.0, 540.5)


def test_choices_with_a_unit() -> None:
    content = {"name": "a", "parameters": {"x": {"choices": ["5", "5 %", 10], "unit": "%"}}}
    rows = [["x", "value"], ["5 %", 1], ["5", 1], ["10 %", 1]]
    assert [row.params["x"] for row in rows_of(describe(content), rows)] == ["5 %", "5", 10]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("655,5", 655.5),
        ("2,5", 2.5),
        ("-,5", -0.5),
        ("0,125", 0.125),
        ("12,3456", 12.3456),
        ("1234,567", 1234.567),
        ("1,655e3", 1655.0),
        ("1.655", 1.655),
    ],
)
def test_decimal_commas(text: str, number: float) -> None:
    assert parse_number(text, "it") == number


@pytest.mark.parametrize("text", ["1,655", "-12,000", "+999,999"])
def test_commas_that_may_separate_thousands(text: str) -> None:
    whole, broken = text.replace(",", ""), text.replace(",", ".")
    with pytest.raises(InvalidInput, match=re.escape(f"is ambiguous; write {whole} or {broken}")):
        parse_number(text, "it")


def test_empty_lines_do_not_make_a_table_long() -> None:
    rows: list[list[Cell]] = [[]] * (2 * MAX_ROWS)
    assert len(rows_of(COATED, [HEADINGS, [200, 2, "argon", 600], *rows, [" "]])) == 1


def test_a_table_says_something_else(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.correct(1, 600, note="hazy")
    before = campaign.runs
    sheet = table_cells(campaign.description, before)
    sheet[2][-4], sheet[3][-5] = "clear", "crumbled"
    done = import_cells(campaign, sheet)
    told = [(run.number, result_text(run.result, OUTPUTS), run.note) for run in done.differing]
    assert told == [(1, "600", "clear"), (2, "failed (crumbled)", "")]
    assert (campaign.runs, done.corrected, done.n_known) == (before, [], 3)


def test_a_table_says_what_was_missing(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.record(0, failed=True, note="by Ann")
    sheet = table_cells(campaign.description, campaign.runs)
    sheet[1][-5:-3], sheet[2][-4] = ["cracked", "by Bob"], "hazy"
    done = import_cells(campaign, sheet)
    assert ([run.number for run in done.corrected], done.n_known) == ([0, 1], 1)
    assert [(run.number, run.note) for run in done.differing] == [(0, "by Bob")]
    said = [(result_text(run.result, OUTPUTS), run.note) for run in campaign.runs[:2]]
    assert said == [("failed (cracked)", "by Ann"), ("600", "hazy")]
    assert [result_text(entry.result, OUTPUTS) for entry in campaign.run(0).history] == ["failed"]


def test_rows_find_the_runs_that_say_the_same() -> None:
    failed = [a_run(i, DESIGN, Result.failed(why)) for i, why in enumerate("ab")]
    headings = [*HEADINGS, "reason"]
    rows = rows_of(COATED, [headings, *([200, 2, "argon", None, why] for why in "ba")])
    assert match_rows(COATED, rows, failed) == ImportPlan([], [], [], [])


def test_what_nobody_filled_in_stays_pending(tmp_path: Path) -> None:
    campaign = used_campaign(tmp_path)
    campaign.suggest(2)
    cells = table_cells(campaign.description, campaign.runs)
    outcome = cells[0].index("outcome")
    sheet = [[cell for i, cell in enumerate(row) if i != outcome] for row in cells]
    sheet[1][outcome - 1] = 640
    done = import_cells(campaign, sheet)
    # Run 2 has a reason; it failed.
    assert ([run.number for run in done.recorded], done.n_known, done.n_pending) == ([0], 4, 2)
    assert [run.outcome.value for run in campaign.runs[3:]] == ["pending"] * 2
    assert done.blank == []


def test_what_counts_as_failed_only_because_it_is_empty(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    ends: list[list[Cell]] = [[600, None], [None, None], ["failed", None], [None, "cracked"]]
    sheet = [[*HEADINGS, "reason"], *([200, 2, "argon", *end] for end in ends)]
    done = import_cells(campaign, sheet)
    assert (done.counts[Outcome.OK], done.counts[Outcome.FAILED]) == (1, 3)
    assert [run.number for run in done.blank] == [1]


def test_a_failure_that_nobody_stated_is_named_even_if_a_limit_was_measured(tmp_path: Path) -> None:
    content = {**COATING, "limits": {"cost": {"upper": 9}}}
    campaign = Campaign.create(content, tmp_path / "lab.db")
    campaign.suggest()
    sheet = table_cells(campaign.description, campaign.runs)
    sheet[1][sheet[0].index("cost")] = 3  # and the outcome stays `pending`
    assert [run.number for run in import_cells(campaign, sheet).blank] == [0]
    assert result_text(campaign.run(0).result, campaign.description.outputs) == "failed (cost 3)"
    ends: list[list[Cell]] = [[None, 3, ""], [None, "failed", ""], [None, 3, "bent"], [5, 3, ""]]
    rows = [[200, 2, "argon", *end] for end in ends]
    done = import_cells(campaign, [[*HEADINGS, "cost", "reason"], *rows])
    assert done.counts == {Outcome.FAILED: 3, Outcome.OK: 1}
    assert [run.number for run in done.blank] == [1]


def test_a_pending_run_that_a_spreadsheet_has_rounded(tmp_path: Path) -> None:
    tiny = {"low": 1e-6, "high": 1.0, "log": True}
    campaign = Campaign.create({"name": "a", "parameters": {"x": tiny}}, tmp_path / "a.db")
    run = campaign.suggest()[0]
    shown = f"{run.params['x']:.6g}"
    done = import_cells(campaign, [["number", "x", "value"], [run.number, shown, 3]])
    assert [r.number for r in done.recorded] == [run.number]
    assert campaign.run(run.number).params == run.params
    again = import_cells(campaign, [["number", "x", "value"], [run.number, shown, 3]])
    assert (again.n_known, again.noted) == (1, [])


SMOOTH = {"x": {"low": 1e-6, "high": 1.0, "log": True}, "y": {"low": -20, "high": 20}}


def test_settings_as_becbo_shows_them(tmp_path: Path) -> None:
    campaign = Campaign.create({"name": "a", "parameters": SMOOTH}, tmp_path / "a.db")
    for run in campaign.suggest(3)[:2]:
        campaign.record(run.number, run.number + 1 / 3)
    sheet: list[list[Cell]] = [["x", "y", "value"]]
    for run in campaign.runs:
        shown = [f"{value:.6g}" for value in (*run.params.values(), run.value or 5.0)]
        sheet.append([*shown])
    done = import_cells(campaign, sheet)
    assert ([run.number for run in done.recorded], done.added, done.n_known) == ([2], [], 2)
    again = import_cells(campaign, sheet)
    assert (again.n_known, len(campaign.runs)) == (3, 3)


def test_close_is_not_the_same_on_a_grid_or_among_whole_numbers() -> None:
    parameters = {
        "x": {"low": 0, "high": 999, "step": 0.001},
        "n": {"low": 1, "high": 1e6, "integer": True},
    }
    description = describe({"name": "a", "parameters": parameters})
    run = a_run(0, {"x": 500.0, "n": 500_000}, PENDING)
    cells: list[list[Cell]] = [[500.001, 500_000, 1], [500, 500_001, 1]]
    rows = rows_of(description, [["x", "n", "value"], *cells])
    assert match_rows(description, rows, [run]).to_add == rows


def test_all_digits_go_before_close() -> None:
    description = describe({"name": "a", "parameters": SMOOTH})
    near, far = ({"x": 0.5, "y": y} for y in (10.00001, 10.00004))
    runs = [a_run(i, params, PENDING) for i, params in enumerate((near, far))]
    cells: list[list[Cell]] = [["x", "y", "value"], [0.5, 10, 1], [0.5, 10.00001, 2]]
    rows = rows_of(description, cells)
    assert match_rows(description, rows, runs).to_record == [
        (runs[0], rows[1]),
        (runs[1], rows[0]),
    ]


def test_thousands_of_runs_are_compared_at_once() -> None:
    description = describe({"name": "a", "parameters": SMOOTH})
    runs = [
        a_run(i, {"x": 0.5, "y": i / 1000}, Result.ok({"value": float(i)})) for i in range(5000)
    ]
    cells = [[*run.params.values(), run.value] for run in runs[-MAX_ROWS:]]
    rows = rows_of(description, [["x", "y", "value"], *cells])
    began = time.process_time()
    assert match_rows(description, rows, runs) == ImportPlan([], [], [], [])
    assert time.process_time() - began < 2  # one by one, it takes four seconds


def test_a_row_without_a_number_leaves_the_run_to_the_row_that_names_it() -> None:
    pending = a_run(0, DESIGN, PENDING)
    rows = rows_of(COATED, [[*HEADINGS, "number"], [*D600, None], [*D600[:3], 700, 0]])
    todo = match_rows(COATED, rows, [pending])
    assert (todo.to_record, todo.to_add) == ([(pending, rows[1])], [rows[0]])


def test_numbers_of_another_campaign() -> None:
    rows = rows_of(COATED, [[*HEADINGS, "number"], [200, 2, "argon", 600, 17]])
    assert match_rows(COATED, rows, []).to_add == rows
    known = a_run(0, DESIGN, Result.ok({"hardness": 600.0}))
    assert match_rows(COATED, rows, [known]).to_add == []  # the same table again
    with pytest.raises(BadTable, match="there is no run 17; .* if these are numbers of your own"):
        match_rows(COATED, rows, [replace(known, params={**DESIGN, "layers": 3})])


def test_a_pending_run_is_recorded_once() -> None:
    pending = a_run(0, DESIGN, PENDING)
    rows = rows_of(COATED, [HEADINGS, *[[200, 2, "argon", 600]] * 2])
    todo = match_rows(COATED, rows, [pending])
    assert (todo.to_record, todo.to_add) == ([(pending, rows[0])], [rows[1]])
    done = replace(pending, result=Result.ok({"hardness": 600.0}))
    assert match_rows(COATED, rows, [done]).to_add == [rows[1]]


def test_choices_that_are_no_texts() -> None:
    content = {"name": "a", "parameters": {"x": {"choices": [2, 1.5, True, "no"]}}}
    parameter = describe(content).space.parameters[0]
    typed: dict[Cell, Any] = {
        "2": 2, 2.0: 2, "1.5": 1.5, "True": True, "TRUE": True, "no": "no"
    }  # fmt: skip
    assert [parameter_value(parameter, cell) for cell in typed] == list(typed.values())


def test_numbers_among_choices_come_back_from_a_spreadsheet() -> None:
    choices = [11.361388800918256, 11.5, "a"]
    parameter = describe({"name": "a", "parameters": {"x": {"choices": choices}}})
    assert parameter_value(parameter.space.parameters[0], 11.3613888009183) == choices[0]


def test_capitals_of_choices() -> None:
    content = {"name": "a", "parameters": {"x": {"choices": ["Argon", "N2", "n2"]}}}
    parameter = describe(content).space.parameters[0]
    assert [parameter_value(parameter, cell) for cell in ("ARGON", "n2")] == ["Argon", "n2"]
    (row,) = rows_of(COATED, [HEADINGS, [200, 2, "Argon", 600]])
    assert row.params == DESIGN
    content["parameters"] = {"x": {"choices": ["NaCl", "NACL"]}}
    with pytest.raises(InvalidInput, match="x = 'nacl' is not one of 'NaCl', 'NACL'"):
        parameter_value(describe(content).space.parameters[0], "nacl")


def test_exports_that_cannot_be(tmp_path: Path) -> None:
    campaign = new_campaign(tmp_path)
    with pytest.raises(InvalidInput, match=r"must be a .csv, .xlsx, .json file, not '.pdf'"):
        export_table(campaign, tmp_path / "runs.pdf")
    with pytest.raises(InvalidInput, match="cannot write .*: No such file or directory"):
        export_table(campaign, tmp_path / "nowhere/runs.csv")
