"""Records of runs: JSON lines, one line per finished run, one file per problem and method.

    FOLDER/plans.jsonl                 what was asked for, one line per distinct command
    FOLDER/<problem>/<label>.jsonl.xz  what came of it

A line is written at once when its run has ended (`bench/lines.py`), so a run is in the folder
completely or not at all: one that was cut short is repeated. Several processes may fill one folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from becbo.bench.lines import append_line, read_lines
from becbo.bench.plan import Plan, Run, Variant
from becbo.errors import InvalidInput

PLANS = "plans.jsonl"

Value = float | tuple[float, ...]  # of one objective, or of each of several


@dataclass(frozen=True)
class Searches:
    """The outcome of every search of a run. Numbers count evaluations from 0."""

    winners: tuple[str, ...] = ()  # where proposals came from, by name
    winner: tuple[int, ...] = ()  # per proposal: which of them
    bound_broken: tuple[int, ...] = ()  # evaluations whose search could not meet its bound
    fallback: tuple[tuple[int, str], ...] = ()  # evaluations chosen otherwise, and why


@dataclass(frozen=True)
class Record:
    """One run and what came of it: evaluations, or the error that ended it."""

    run: Run
    variant: str = ""  # of the problem
    redraws: int = 0  # initial designs drawn and thrown away because no point worked
    x: tuple[tuple[Any, ...], ...] = ()  # (n, d) natural units, rounded; none: left out
    y: tuple[Value | None, ...] = ()  # (n,) None: the design is infeasible, or it had bad luck
    unlucky: tuple[int, ...] = ()  # evaluations of feasible designs that failed by chance
    stated: tuple[float, ...] = ()  # per proposal: the chance to work, before it ran
    bad_luck: tuple[float, ...] = ()  # per proposal: the rate of failures by chance in it
    seconds: tuple[float, ...] = ()  # of one processor, per proposal: no initial design
    parts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # the same, by part
    searches: Searches = Searches()
    seconds_total: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None  # a traceback
    continued_at: tuple[int, ...] = ()  # evaluations after which it was continued from its record
    accuracy: tuple[float, ...] = ()  # balanced, of each proposal's classifier, if measured

    @property
    def is_finished(self) -> bool:
        """Whether the run came to its end."""
        return self.error is None

    @property
    def n_initial(self) -> int:
        """Evaluations of the initial design."""
        return len(self.y) - len(self.seconds)

    @property
    def has_accuracy(self) -> bool:
        """Whether the accuracy of its classifiers was measured throughout."""
        return len(self.accuracy) == len(self.seconds)


@dataclass(frozen=True)
class Reading:
    """What a folder holds: the last word on each run, and complaints about unreadable lines."""

    records: tuple[Record, ...]
    complaints: tuple[str, ...]


def write(folder: Path, record: Record) -> None:
    """Adds a record to its file."""
    path = folder / record.run.problem / f"{record.run.label}.jsonl.xz"
    append_line(path, asdict(record))


def read(folder: Path) -> Reading:
    """Every run in a folder; where it was repeated or extended, the longest success."""
    latest: dict[tuple[str, str, int], Record] = {}
    complaints: list[str] = []
    for path in sorted(folder.glob("*/*.jsonl.xz")):
        for record in _records(path, complaints):
            known = latest.get(record.run.key)
            if known is None or not known.is_finished or _goes_on(known, record):
                latest[record.run.key] = record
    return Reading(tuple(latest.values()), tuple(complaints))


def _goes_on(known: Record, record: Record) -> bool:
    return record.is_finished and record.run.budget >= known.run.budget


def _records(path: Path, complaints: list[str]) -> Iterator[Record]:
    for content in read_lines(path, complaints):
        try:
            yield _record(content)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            complaints.append(f"{path} has a line that is not a record and is ignored: {error!r}")


def write_plan(folder: Path, plan: Plan) -> None:
    """Remembers what was asked for, for `missing`."""
    if plan not in read_plans(folder, []):
        append_line(folder / PLANS, asdict(plan))


def read_plans(folder: Path, complaints: list[str]) -> list[Plan]:
    """What has been asked for so far; unreadable lines are complained about."""
    path = folder / PLANS
    return [_plan(line) for line in read_lines(path, complaints)] if path.exists() else []


def missing(
    runs: Iterable[Run], records: Iterable[Record], with_accuracy: bool = False
) -> list[Run]:
    """The runs without a finished record. A run that ended in an error is missing.

    So is one with fewer evaluations than wanted, which `execute` continues from its record, and one
    without accuracies if they are wanted. A record made with other settings is neither finished nor
    missing: it is an error. So are runs on a problem that differ in their protocol.
    """
    done = {record.run.key: record for record in records if record.is_finished}
    protocols = {record.run.problem: record.run for record in done.values()}
    left = {}
    for run in runs:
        if run.problem in protocols:
            _check_same(run, protocols[run.problem], ["protocol"])
        record = done.get(run.key)
        if record is not None:
            _check_same(run, record.run, [s.name for s in fields(Run) if s.name != "budget"])
        is_short = record is None or record.run.budget < run.budget
        if is_short or (with_accuracy and not done[run.key].has_accuracy):
            left[run.key] = run
    return list(left.values())


def _check_same(wanted: Run, found: Run, settings: Iterable[str]) -> None:
    for setting in settings:
        new, old = getattr(wanted, setting), getattr(found, setting)
        if new != old:
            raise InvalidInput(
                f"the run {found} is there with {setting} {old!r}, not {new!r}; "
                "choose another folder, or the same settings"
            )


def _record(content: Mapping[str, Any]) -> Record:
    searches = content["searches"]
    return Record(
        **{
            **content,
            "run": Run(**content["run"]),
            "x": tuple(map(tuple, content["x"])),
            "y": tuple(tuple(v) if isinstance(v, list) else v for v in content["y"]),
            "seconds": tuple(content["seconds"]),
            **{
                name: tuple(content.get(name, ()))
                for name in ("continued_at", "accuracy", "unlucky", "stated", "bad_luck")
            },
            "parts": {part: tuple(seconds) for part, seconds in content["parts"].items()},
            "searches": Searches(
                tuple(searches["winners"]),
                tuple(searches["winner"]),
                tuple(searches["bound_broken"]),
                tuple((number, why) for number, why in searches["fallback"]),
            ),
        }
    )


def _plan(content: Mapping[str, Any]) -> Plan:
    return Plan(
        tuple(content["problems"]),
        tuple(Variant(**variant) for variant in content["variants"]),
        tuple(content["seeds"]),
        content["budget"],
        content["protocol"],
    )
