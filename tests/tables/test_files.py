"""Cells to files and back."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo import InvalidInput
from becbo.extras import MissingExtra
from becbo.tables.files import (
    MAX_UNPACKED,
    Cell,
    Merged,
    read_csv,
    read_table,
    read_xlsx,
    write_csv,
    write_xlsx,
)

texts = st.text("ab1 =+-@'\",;\n\t°µ漢😀", max_size=8).map(str.strip)
cells = st.one_of(texts, st.floats(-1e306, 1e306), st.integers(-99, 99))
sheets = st.integers(2, 4).flatmap(  # a table has a setting and a result at least
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=4)
)


def as_text(cell: Cell) -> str:
    return "" if cell is None else str(cell)


@settings(deadline=None, derandomize=True)
@given(sheets)
def test_csv_and_back(sheet: list[list[Cell]]) -> None:
    heading: list[Cell] = [f"column {i}" for i in range(len(sheet[0]))]
    back = read_csv(write_csv([heading, *sheet]))
    assert back[1:] == [list(map(as_text, row)) for row in sheet]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(sheets)
def test_xlsx_and_back(sheet: list[list[Cell]]) -> None:
    back = read_xlsx(write_xlsx([["first", "second", "third", "last"], *sheet]))
    for row, again in zip(sheet, back[1:], strict=False):  # empty rows at the end are gone
        for cell, twin in zip(row, again, strict=False):
            if isinstance(cell, float):
                assert twin == pytest.approx(cell, rel=1e-14)  # Excel keeps 15 digits
            else:
                assert (twin or "") == (cell or "")


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a;b\r\n1,5;-2,5e-3\r\n", [["a", "b"], ["1.5", "-2.5e-3"]]),  # a German spreadsheet
        ("a;b\n7,16E+02;,5\n", [["a", "b"], ["7.16E+02", ".5"]]),
        ("a;b\n1.5;x,y\n", [["a", "b"], ["1.5", "x,y"]]),
        ("a\tb\n1\t2", [["a", "b"], ["1", "2"]]),
        ('"a;b;c;d",b\n"1,5",2', [["a;b;c;d", "b"], ["1,5", "2"]]),
        ("a,b\n\n'=1,'x\n", [["a", "b"], [], ["=1", "'x"]]),
        ("My coatings\n\na;b\n1,5;2\n", [["My coatings"], [], ["a", "b"], ["1.5", "2"]]),
        ("", []),
    ],
)
def test_csv_of_many_countries(content: str, rows: list[list[str]]) -> None:
    assert read_csv(content.encode()) == rows
    assert read_csv(content.encode("utf-8-sig")) == rows


@pytest.mark.parametrize("cell", ["1.540", "-12.345.678"])
def test_thousands_beside_decimal_commas_are_not_guessed(cell: str) -> None:
    plain = read_csv(f"a;b\n2.5;{cell}\n".encode())
    assert plain[1] == ["2.5", cell]  # decimal points throughout
    with pytest.raises(InvalidInput, match=f"line 2: '{cell}' .* ambiguous; write -?1"):
        read_csv(f"a;b\n2,5;{cell}\n".encode())


def test_csv_of_old_windows() -> None:
    assert read_csv("T [°C];µ\n1;2".encode("cp1252")) == [["T [°C]", "µ"], ["1", "2"]]


def test_excel_reads_the_signs() -> None:
    assert write_csv([["T [°C]"]]).startswith(b"\xef\xbb\xbf")
    assert write_csv([["T [K]"]]) == b"T [K]\n"


def test_no_formula_leaves_the_house() -> None:
    evil = "=cmd|' /C calc'!A0"
    assert write_csv([[evil, -1.5]]) == b"'=cmd|' /C calc'!A0,-1.5\n"
    book = openpyxl.load_workbook(io.BytesIO(write_xlsx([["a"], [evil]])))
    assert book.worksheets[0]["A2"].data_type == "s"


def test_columns_are_as_wide_as_what_stands_in_them() -> None:
    rows: list[list[Cell]] = [["n", "temperature [°C]", "note"], [7, 1 / 3, "so " * 99]]
    sheet = openpyxl.load_workbook(io.BytesIO(write_xlsx(rows))).worksheets[0]
    narrow, heading, note = (sheet.column_dimensions[letter].width for letter in "ABC")
    assert narrow < 6 and 16 < heading < 22 and note == 40


def workbook(*rows: Sequence[Any], formats: Mapping[str, str] | None = None) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append(row)
    for place, shown in (formats or {}).items():
        sheet[place].number_format = shown
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_percent_is_what_a_spreadsheet_shows() -> None:
    formats = {"A2": "0%", "B2": "0.0 %", "C2": '0.0" %"', "D2": "0.00"}
    rows = read_xlsx(workbook(["a", "b", "c", "d"], [0.45, 0.853, 85.3, 0.5], formats=formats))
    assert rows[1] == ["45 %", "85.3 %", 85.3, 0.5]


def test_a_formula_without_its_value_is_no_empty_cell() -> None:
    with pytest.raises(InvalidInput, match="cell B3 has a formula without its value; open"):
        read_xlsx(workbook(["a", "b"], [1, 2], [3, "=A2+A3"]))


def test_a_cell_far_away() -> None:
    rows = read_xlsx(workbook(["a", "b"], [1, 2], *[[None]] * 3000, [None, None, 7]))
    assert [row for row in rows if row] == [["a", "b"], [1, 2], [None, None, 7]]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.ods", b"", "a.ods: a table must be a .csv or .xlsx file"),
        ("a.csv", b"a,b\n\0", "this is not a CSV file: it has binary content"),
        ("a.csv", b'a,b\n"1,2', "the CSV file cannot be read: unexpected end of data"),
        ("a.xlsx", b"a,b\n1,2", "this is not an xlsx file"),
    ],
)
def test_files_that_cannot_be(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        read_table(tmp_path / name)
    with pytest.raises(
        InvalidInput,
        match="cannot read .*: No such file" if "ods" not in name else "a table must be",
    ):
        read_table(tmp_path / f"no{name}")


def test_without_openpyxl(monkeypatch: pytest.MonkeyPatch) -> None:
    missing: dict[str, Any] = {"openpyxl": None, "openpyxl.styles": None}
    for name, module in missing.items():
        monkeypatch.setitem(__import__("sys").modules, name, module)
    with pytest.raises(MissingExtra, match=r"pip install 'becbo\[lab\]'"):
        write_xlsx([["a"]])


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("a;b", '"a;b"'),
        ("a;=1+1", '"a;\'=1+1"'),
        ("a\t@b", '"a\t\'@b"'),
        ("=1", "'=1"),
        ('say "hm"', '"say ""hm"""'),
        ("plain", "plain"),
        (1.5, "1.5"),
        (None, ""),
    ],
)
def test_cells_where_semicolons_separate(cell: Cell, line: str) -> None:
    """As on a German computer: what follows a semicolon begins a cell there."""
    assert write_csv([["x", cell]]) == f"x,{line}\n".encode()
    assert read_csv(write_csv([["x", "y"], ["1", cell]]))[1][1] == as_text(cell)


def test_a_small_file_that_becomes_large(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(MAX_UNPACKED + 1))
    with pytest.raises(InvalidInput, match="unpacks to more than 50 MB"):
        read_table(path)


def merged(*ranges: str) -> list[list[Cell]]:
    book = openpyxl.Workbook()
    for row in (["Title"], ["t", "y"], [200, 5], [210, None], [220, 6]):
        book.active.append(row)
    for cells in ranges:
        book.active.merge_cells(cells)
    out = io.BytesIO()
    book.save(out)
    return read_xlsx(out.getvalue())


def test_merged_cells() -> None:
    cells = merged("A1:B1", "B3:B4")
    assert cells[0] == ["Title", Merged("A1")]
    assert cells[3] == [210, Merged("B3")]
    assert [isinstance(row[1], Merged) for row in cells] == [True, False, False, True, False]
