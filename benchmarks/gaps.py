"""How much of the evidence on the paper was asked for, how much is there, what the rest costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.table import Table

_HIGH = ("edge", "be-cbo-code", "be-cbo-code-c")
_EIGHT = (  # of 2 to 10 dimensions
    *("townsend", "simionescu", "lsq", "three_bar_truss"),
    *("spring", "welded_beam", "speed_reducer", "rolling_bearing"),
)


@dataclass(frozen=True)
class Asked:
    """Runs that were asked for; no methods or problems named: all of the suite."""

    suite: str
    methods: tuple[str, ...]
    seeds: int
    budget: int
    problems: tuple[str, ...] = ()
    with_accuracy: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        return self.methods or tuple(variant.label for variant in SUITES[self.suite].variants)

    @property
    def where(self) -> tuple[str, ...]:
        return self.problems or SUITES[self.suite].problems

    def is_met_by(self, record: Record, label: str) -> bool:
        run = record.run
        return (
            run.problem in self.where
            and run.label == label
            and run.seed < self.seeds
            and len(record.y) >= self.budget
            and (record.has_accuracy or not self.with_accuracy)
        )


ASKED = (
    Asked("paper", ("be-cbo-code", "be-cbo-search", "be-cbo", "cei", "scbo"), 10, 200),
    Asked("paper", ("be-cbo-code", "be-cbo-gp"), 10, 200, with_accuracy=True),
    Asked("interior", ("edge", "be-cbo", "be-cbo-c", "cei", "scbo"), 10, 200),
    Asked("highdim", _HIGH, 5, 200),
    Asked("ackley", _HIGH, 5, 200),
    *(Asked(f"ablation-{n}", (), 5, 100) for n in ("band", "training", "acquisition")),
    *(Asked(f"ablation-{n}", (), 3, 100, _EIGHT) for n in ("networks", "layers", "width", "lr")),
)


def table(records: Sequence[Record]) -> str:
    """A row per suite and method that is not complete."""
    rows = []
    for asked in ASKED:
        for label in asked.labels:
            there = sum(asked.is_met_by(record, label) for record in records)
            before = sum(asked.is_met_by(record, f"{label}-v1") for record in records)
            n = asked.seeds * len(asked.where)
            if there < n:
                size = f"{len(asked.where)} x {asked.seeds} x {asked.budget}"
                rows.append(
                    (
                        asked.suite + (", with accuracy" if asked.with_accuracy else ""),
                        label,
                        size,
                        f"{there} of {n}" + (f"; {before} of -v1" if before else ""),
                        f"{hours_spent(records, asked, label):.1f}",
                        hours_left(records, asked, label, n - there),
                    )
                )
    header = ("suite", "method", "problems x seeds x evaluations", "runs there", "hours", "left")
    return Table(header, tuple(rows), ()).markdown()


def hours_spent(records: Sequence[Record], asked: Asked, label: str) -> float:
    """Processor hours of the proposals that are there."""
    mine = [r for r in records if r.run.problem in asked.where and r.run.label == label]
    return float(sum(np.sum(record.seconds) for record in mine)) / 3600


def hours_left(records: Sequence[Record], asked: Asked, label: str, n_runs: int) -> str:
    """At the pace of the method, or of its version before, on these problems; "?" without either.

    Shorter runs have quicker proposals, so from them it is too little.
    """
    labels = (label, f"{label}-v1")
    known = [
        record
        for record in records
        if record.run.problem in asked.where and record.run.label in labels and record.seconds
    ]
    if not known:
        return "?"
    pace = np.mean([np.sum(record.seconds) / len(record.y) for record in known])
    return f"{n_runs * asked.budget * pace / 3600:.1f}"
