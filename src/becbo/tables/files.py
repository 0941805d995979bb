"""Tables as files: bytes to cells and back."""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from becbo.errors import InvalidInput
from becbo.extras import needed_extras

MAX_ROWS = 5000  # of one import, which takes about three seconds
MAX_COLUMNS = 1000
MAX_LINES = 2 * MAX_ROWS  # with empty ones in between
MAX_WIDTH = 40  # of a column, in characters
MAX_UNPACKED = 50_000_000  # bytes of an xlsx file, after decompression
Cell = str | float | int | bool | None


def read_table(path: str | Path) -> list[list[Cell]]:
    """Reads a table.

    Args:
        path: A .csv or .xlsx file.

    Returns:
        The cells, headings first.

    Raises:
        InvalidInput: The file cannot be read.
    """
    path = Path(path)
    if path.suffix.lower() not in READERS:
        raise InvalidInput(f"{path}: a table must be a {' or '.join(READERS)} file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    return READERS[path.suffix.lower()](content)


def read_csv(content: bytes) -> list[list[Cell]]:
    """The cells of a CSV file, separated by comma, semicolon or tab."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")  # what spreadsheets on Windows write
    if "\0" in text:
        raise InvalidInput("this is not a CSV file: it has binary content")
    try:
        delimiter = _delimiter(text)
        rows = list(_rows(text, delimiter, strict=True))
    except csv.Error as error:
        raise InvalidInput(f"the CSV file cannot be read: {error}") from error
    if delimiter == ";":
        rows = _decimal_points(rows)
    return [[_as_written(cell) for cell in row] for row in rows]


class Merged(str):
    """An empty cell that belongs to a merged one; its text names the cell that has the content."""


def read_xlsx(content: bytes) -> list[list[Cell]]:
    """The cells of the first sheet of an Excel file; see `Merged`."""
    openpyxl = _openpyxl()
    _check_unpacked(content)

    def first_sheet(data_only: bool) -> Iterable[Sequence[Any]]:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=data_only)
        # A sheet may have a cell in its last row and column, and billions of empty ones before.
        rows: Iterable[Sequence[Any]] = book.worksheets[0].iter_rows(
            max_row=MAX_LINES + 2, max_col=MAX_COLUMNS
        )
        return rows

    try:
        with warnings.catch_warnings():  # about styles and features that a table does not need
            warnings.simplefilter("ignore")
            cells = [_without_end(map(_shown, row)) for row in first_sheet(data_only=True)]
            merged = _merged_ranges(openpyxl, content)
            unknown = [
                cell.coordinate
                for row, known in zip(first_sheet(data_only=False), cells, strict=True)
                for i, cell in enumerate(row)
                if cell.data_type == "f" and (i >= len(known) or known[i] is None)
            ]
    except Exception as error:  # openpyxl lets out whatever a damaged file provokes
        raise InvalidInput(f"the xlsx file cannot be read: {error}") from error
    if unknown:  # it would be read as empty
        raise InvalidInput(
            f"cell {unknown[0]} has a formula without its value; open the file in a spreadsheet "
            "program and save it, or write the value"
        )
    _mark_merged(cells, merged)
    return cells


def _check_unpacked(content: bytes) -> None:
    """Refuses a small file that becomes a large one."""
    try:
        sizes = [entry.file_size for entry in zipfile.ZipFile(io.BytesIO(content)).infolist()]
    except (zipfile.BadZipFile, ValueError) as error:
        raise InvalidInput("this is not an xlsx file") from error
    if sum(sizes) > MAX_UNPACKED:
        raise InvalidInput(
            f"the xlsx file unpacks to more than {MAX_UNPACKED // 1_000_000} MB; save it as CSV"
        )


_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
Range = tuple[int, int, int, int]  # first column and row, last column and row; from 1


def _merged_ranges(openpyxl: Any, content: bytes) -> list[Range]:
    """The merged cells of the first sheet, which openpyxl does not tell while it reads rows."""
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sheet = archive.read(book.worksheets[0]._worksheet_path)
    found = _MERGED.findall(sheet)
    return [openpyxl.utils.range_boundaries(cells.decode()) for cells in found]


def _mark_merged(cells: list[list[Cell]], ranges: Sequence[Range]) -> None:
    """Marks what merged cells cover, below the content in the first of them and beside it."""
    width = max(map(len, cells), default=0)
    n_marks = 0
    for left, top, right, bottom in ranges:
        name = Merged(f"{_letters(left)}{top}")
        for row in cells[top - 1 : bottom]:
            row += [None] * (min(right, width) - len(row))
            for column in range(left - 1, min(right, width)):
                if row is not cells[top - 1] or column != left - 1:
                    row[column] = name
                n_marks += 1
        if n_marks > MAX_LINES * 100:
            raise InvalidInput("the xlsx file has too many merged cells; split them")


def _letters(column: int) -> str:
    """The name of a column in a spreadsheet: 27 is AA."""
    name = ""
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def _without_end(row: Iterable[Cell]) -> list[Cell]:
    """The cells without empty ones at the end."""
    cells = list(row)
    while cells and cells[-1] is None:
        cells.pop()
    return cells


_LITERAL = re.compile(r'"[^"]*"|\\.')  # literal text in a number format


def _shown(cell: Any) -> Cell:
    """The value of a cell; `45 %` if a spreadsheet stores 0.45 and shows that."""
    value: Cell = cell.value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and "%" in _LITERAL.sub("", cell.number_format or ""):
        return f"{100 * float(value):.12g} %"  # type: ignore[arg-type]
    return value


def write_csv(cells: Iterable[Sequence[Cell]]) -> bytes:
    """Cells as a CSV file; spreadsheets will not execute any of them."""
    text = "".join(",".join(map(_written, row)) + "\n" for row in cells)
    # Without this mark at the beginning, Excel reads °C as Â°C.
    return text.encode("ascii" if text.isascii() else "utf-8-sig")


def write_xlsx(cells: Iterable[Sequence[Cell]]) -> bytes:
    """Cells as an Excel file."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "runs"
    for i, row in enumerate(cells, start=1):
        for j, cell in enumerate(row, start=1):
            written = sheet.cell(i, j)
            written.value = cell
            if isinstance(cell, str):
                written.data_type = "s"  # a string that begins with = is not a formula
            if i == 1:
                written.font = openpyxl.styles.Font(bold=True)
            size = sheet.column_dimensions[written.column_letter]
            size.width = max(size.width if i > 1 else 0, _width(cell))
    sheet.freeze_panes = "B2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _width(cell: Cell) -> int:
    """The width of a column that shows the cell; long notes continue to the right."""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell or "")
    return min(len(text) + 3, MAX_WIDTH)  # headings are bold


READERS: dict[str, Callable[[bytes], list[list[Cell]]]] = {".csv": read_csv, ".xlsx": read_xlsx}


def _rows(text: str, delimiter: str, strict: bool) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)


_FIRST_LINES = 40  # that decide what separates the cells


def _delimiter(text: str) -> str:
    """What separates the cells: what divides a line into as many cells as the next.

    A title may come before, with a comma in it. Without two such lines, the first that has several
    cells decides.
    """
    signs = ",;\t"
    tables = zip(*(_rows(text, sign, strict=False) for sign in signs), strict=False)
    counts = ([len(row) for row in rows] for rows in tables)
    lines = list(islice((cells for cells in counts if max(cells) > 0), _FIRST_LINES))
    alike = [[a if a == b else 0 for a, b in zip(*pair, strict=True)] for pair in pairwise(lines)]
    for cells in (*alike, *lines):
        if max(cells) > 1:
            return signs[cells.index(max(cells))]
    return signs[0]


def _decimal_points(rows: list[list[str]]) -> list[list[str]]:
    """`3,5` as 3.5; `1.540` is refused, because beside decimal commas it is 1540."""
    read = [[_decimal_point(cell) for cell in row] for row in rows]
    if read != rows:
        for line, row in enumerate(rows, start=1):
            for cell in filter(_THOUSANDS.fullmatch, map(str.strip, row)):
                raise InvalidInput(
                    f"line {line}: {cell!r} beside numbers with a decimal comma is ambiguous; "
                    f"write {cell.replace('.', '')} or {cell.replace('.', ',')}"
                )
    return read


_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")


_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")


def _decimal_point(cell: str) -> str:
    """`3,5` as 3.5: where semicolons separate, the comma is a decimal one."""
    text = cell.strip()
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else cell


def _written(cell: Cell) -> str:
    """A cell as text of a CSV file.

    Where semicolons separate, as on a German computer, spreadsheets take a comma for text: what
    follows a semicolon begins another cell there. So it is harmless too, and it is quoted.
    """
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    text = _FORMULA.sub(r"\1'\2", cell)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if set(text) & set(',;\t"\r\n') else text


# Before what a spreadsheet takes for a formula: the beginning of a cell, and apostrophes.
_FORMULA = re.compile(r"(^|[;\t])('*)(?=[=+\-@\t\r])")
_HARMLESS = re.compile(r"(^|[;\t])'('*)(?=[=+\-@\t\r])")


def _as_written(cell: str) -> str:
    """Removes the apostrophes that `_written` adds."""
    return _HARMLESS.sub(r"\1\2", cell)


def _openpyxl() -> Any:
    with needed_extras():
        import openpyxl.styles
        import openpyxl.utils
    return openpyxl
