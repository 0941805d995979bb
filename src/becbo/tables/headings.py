"""Which column of a table is which parameter, the objective, or something else.

Columns are headed by name and unit, as in `temperature [°C]`; the unit can be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from becbo.campaign.description import RESERVED_COLUMNS, Description
from becbo.errors import InvalidInput
from becbo.tables.files import Cell
from becbo.tables.parsing import cell_text, normalized_unit

NUMBER, OUTCOME, REASON, NOTE, *PREDICTED = RESERVED_COLUMNS  # PREDICTED: ignored by an import


def find_columns(
    description: Description, headings: Sequence[Cell]
) -> tuple[dict[str, int], list[tuple[str, int]]]:
    """The positions of the columns.

    Args:
        description: The campaign to import into.
        headings: The first line of the table.

    Returns:
        The positions of the parameters, the objective and the reserved columns by name, and the
        headings and positions of all others.

    Raises:
        InvalidInput: A column is missing, appears twice or has another unit.
    """
    units = _units(description)
    texts = {
        i: text for i, text in enumerate(map(cell_text, headings)) if text and text not in PREDICTED
    }
    exact = {i: _recognise(text, units) for i, text in texts.items()}
    # `Temperature` is the temperature, unless that has a column of its own or a rival.
    taken = {name for name, _ in filter(None, exact.values())}
    rivals = Counter(name.lower() for name in units)
    loose = {
        name: unit
        for name, unit in units.items()
        if name not in taken and rivals[name.lower()] == 1
    }
    found: dict[str, int] = {}
    others = []
    for i, text in texts.items():
        name, unit = exact[i] or _recognise(text, loose, str.lower) or ("", None)
        if not name:
            others.append((text, i))
            continue
        if unit is not None and normalized_unit(unit) != normalized_unit(units[name]):
            wanted = f"in {units[name]}" if units[name] else "without a unit"
            raise InvalidInput(f"column {text!r}: {name} is {wanted} here; convert it first")
        if name in found:
            raise InvalidInput(f"column {text!r} appears twice; remove one of them")
        found[name] = i
    if missing := [name for name in units if name not in found]:
        there = ", ".join(map(repr, texts.values()))
        raise InvalidInput(
            f"the table has no column {missing[0]!r}; its first line must name it, and has {there}"
        )
    return found, others


def headings_below(description: Description, lines: Sequence[tuple[int, Sequence[Cell]]]) -> str:
    """Advice, if a line further down names all columns."""
    units = _units(description)
    for line, row in lines:
        found = [_recognise(text, units, str.lower) for text in map(cell_text, row) if text]
        if units.keys() <= {name for name, _ in filter(None, found)}:
            return f"; the headings are in line {line}: delete the lines above them"
    return ""


def _units(description: Description) -> dict[str, str]:
    """Units of the parameters and the objective by name."""
    units = {p.name: p.unit for p in description.parameters}
    return {**units, description.objective.name: description.objective.unit}


def _recognise(
    heading: str, units: Mapping[str, str], spelled: Callable[[str], str] = str
) -> tuple[str, str | None] | None:
    """`temperature [°C]` or `temperature °C` -> name and unit; without a unit, it is None."""
    for name in sorted(units, key=len, reverse=True):  # one name may begin with another
        start, rest = heading[: len(name)], heading[len(name) :]
        if spelled(start) != spelled(name):
            continue
        unit = rest.strip()
        if not unit:
            return name, None
        if unit[0] + unit[-1] in ("[]", "()"):
            return name, unit[1:-1].strip()
        if rest[0].isspace() and normalized_unit(unit) == normalized_unit(units[name]):
            return name, unit
    return (heading.lower(), None) if heading.lower() in RESERVED_COLUMNS else None
