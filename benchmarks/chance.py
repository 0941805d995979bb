"""What failures by chance cost, what is learned of them, and whether stated chances are true.

    becbo bench run --suite chance --seeds 5 --budget 100 --out benchmarks/results/chance
    python benchmarks/chance.py                      # the tables
    python benchmarks/chance.py --records FOLDER     # of other records, such as chance-tuning

Records are those of `becbo bench`; a second start continues.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from becbo.bench.records import Record, read
from becbo.bench.summary import CAP, failure_share, feasible, regret_curve
from becbo.bench.table import Table
from becbo.search.choice import AGAIN

RECORDS = Path(__file__).parent / "results" / "chance"
WITHOUT = "edge"  # the runs without bad luck that others are compared with
EDGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the bins of stated chances
CLOSE = 0.07  # of a learned rate


def end(record: Record) -> float:
    """log10 regret at the end of a run, capped."""
    return float(max(regret_curve(record)[-1], CAP))


def n_repeats(record: Record) -> int:
    """How many failed designs were run again."""
    names = record.searches.winners
    return sum(names[code] == AGAIN for code in record.searches.winner)


def outcomes(records: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    """What was stated of each proposal, and whether it worked."""
    stated = [p for r in records for p in r.stated]
    worked = [y is not None for r in records for y in r.y[r.n_initial :]]
    return np.array(stated), np.array(worked, dtype=bool)


def cost_table(records: Sequence[Record]) -> Table:
    """One row per label: regret, its difference to the same runs without bad luck, the rate."""
    before = {(r.run.problem, r.run.seed): end(r) for r in records if r.run.label == WITHOUT}
    rows = []
    for label in dict.fromkeys(r.run.label for r in records):
        runs = [r for r in records if r.run.label == label]
        pairs = [(end(r), before.get((r.run.problem, r.run.seed))) for r in runs]
        more = np.array([a - b for a, b in pairs if b is not None])
        rates = np.array([r.bad_luck[-1] if r.bad_luck else np.nan for r in runs])
        truth = np.array([r.run.bad_luck for r in runs])
        error = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
        failed = [failure_share(feasible(r), r.n_initial) for r in runs]
        row = (
            *(label, str(len(runs)), f"{np.mean([end(r) for r in runs]):.2f}"),
            f"{more.mean():+.2f} +- {error:.2f}" if len(more) else "",
            f"{np.mean(failed):.0%}",
            f"{np.mean([len(r.unlucky) for r in runs]):.1f}",
            f"{np.mean([n_repeats(r) for r in runs]):.1f}",
            f"{rates.mean():.1%}",
            f"{(np.abs(rates - truth) < CLOSE).mean():.0%}",
            f"{np.median([s for r in runs for s in r.seconds]):.3f}",
        )
        rows.append(row)
    head = ("label", "runs", "log10 regret", "more than without bad luck", "proposals that failed")
    more_head = ("bad luck", "repeats", "rate at the end", "within 7 points", "s a proposal")
    return Table((*head, *more_head), tuple(rows), ())


def calibration_table(records: Sequence[Record]) -> Table:
    """One row per label: Brier score, log-loss, and how often each bin of chances came true."""
    rows = []
    for label in dict.fromkeys(r.run.label for r in records):
        stated, worked = outcomes([r for r in records if r.run.label == label])
        if not len(stated):
            continue
        sure = np.clip(stated, 1e-3, 1 - 1e-3)
        loss = -np.where(worked, np.log(sure), np.log(1 - sure)).mean()
        cells = []
        for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
            inside = (stated >= low) & ((stated < high) | (high == EDGES[-1]))
            n = int(inside.sum())
            said = f"{stated[inside].mean():.0%}: {worked[inside].mean():.0%} ({n})" if n else ""
            cells.append(said)
        rows.append((label, f"{((stated - worked) ** 2).mean():.3f}", f"{loss:.3f}", *cells))
    bins = (f"{a:.0%} to {b:.0%}" for a, b in zip(EDGES[:-1], EDGES[1:], strict=True))
    return Table(("label", "Brier", "log-loss", *bins), tuple(rows), ())


def text(folder: Path = RECORDS) -> str:
    """Both tables of a folder of records."""
    records = [r for r in read(folder).records if r.is_finished]
    if not records:
        return f"There are no records in {folder.name} yet."
    return f"{cost_table(records).markdown()}\n\n{calibration_table(records).markdown()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=Path, default=RECORDS)
    print(text(parser.parse_args().records))


if __name__ == "__main__":
    main()
