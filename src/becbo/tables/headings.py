"""Which column of a table is which parameter, which output, or something else.

Columns are headed by name and unit, as in `temperature [°C]`; the unit can be left out. Lines above
the headings, such as a title, are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from becbo.campaign.description import Description
from becbo.campaign.names import BELIEVED, RESERVED_COLUMNS
from becbo.errors import InvalidInput
from becbo.tables.files import Cell
from becbo.tables.parsing import cell_text, normalized_unit

NUMBER, OUTCOME, REASON, NOTE = RESERVED_COLUMNS


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes:
        named: The positions of the parameters, the outputs and the reserved columns by name.
        others: The headings and positions of all others.
        problems: What is wrong with the headings; empty if nothing is.
    """

    named: Mapping[str, int]
    others: Sequence[tuple[str, int]]
    problems: Sequence[str]


def find_headings(description: Description, lines: Sequence[Sequence[Cell]]) -> tuple[int, Columns]:
    """Finds the headings of a table: the first line that fits, or the one that fits best.

    Args:
        description: The campaign to import into.
        lines: The lines of the table that are not empty.

    Returns:
        The position of the headings in `lines`, and the columns.

    Raises:
        InvalidInput: Columns are missing, appear twice or have other units; all of them are named.
    """
    found = [find_columns(description, row) for row in lines]
    for i, columns in enumerate(found):
        if not columns.problems:
            return i, columns
    best = max(range(len(found)), key=lambda i: (len(found[i].named), -i))
    problems = found[best].problems
    if len(problems) == 1:
        raise InvalidInput(problems[0])
    listed = "\n".join(f"  {problem}" for problem in problems)
    raise InvalidInput(f"the headings do not fit:\n{listed}")


def find_columns(description: Description, headings: Sequence[Cell]) -> Columns:
    """The columns under some headings.

    Args:
        description: The campaign to import into.
        headings: A line of the table.

    Returns:
        The columns, with everything that is wrong with them.
    """
    units = _units(description)
    texts = {i: text for i, text in enumerate(map(cell_text, headings)) if _counts(text)}
    exact = {i: _recognise(text, units) for i, text in texts.items()}
    # `Temperature` is the temperature, unless that has a column of its own or a rival.
    taken = {name for name, _ in filter(None, exact.values())}
    rivals = Counter(name.lower() for name in units)
    loose = {
        name: unit
        for name, unit in units.items()
        if name not in taken and rivals[name.lower()] == 1
    }
    named: dict[str, int] = {}
    others, problems = [], []
    for i, text in texts.items():
        name, unit = exact[i] or _recognise(text, loose, str.lower) or ("", None)
        if not name:
            others.append((text, i))
            continue
        if unit is not None and normalized_unit(unit) != normalized_unit(units[name]):
            wanted = f"in {units[name]}" if units[name] else "without a unit"
            problems.append(f"column {text!r}: {name} is {wanted} here; convert it first")
        if name in named:
            problems.append(f"column {text!r} appears twice; remove one of them")
        named[name] = i
    if missing := [name for name in _required(description) if name not in named]:
        there = ", ".join(map(repr, texts.values()))
        wanted = ", ".join(map(repr, missing))
        problems.append(f"the table has no column {wanted}; its headings are {there}")
    return Columns(named, others, problems)


def _counts(text: str) -> bool:
    """Whether a heading counts: predictions that `export_table` writes do not."""
    return bool(text) and not text.lower().startswith(BELIEVED)


def _required(description: Description) -> list[str]:
    """Parameters and objectives; limits and the rest may not have been measured."""
    objectives = [objective.name for objective in description.outputs.objectives]
    return [*description.space.names, *objectives]


def _units(description: Description) -> dict[str, str]:
    """Units of the parameters and the outputs by name."""
    units = {p.name: p.unit for p in description.parameters}
    return units | {output.name: output.unit for output in description.outputs}


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
