"""What failures by chance cost, what is learned of them, and whether stated chances are true.

    becbo bench run --suite chance --seeds 10 --budget 100 --out benchmarks/results/chance
    python benchmarks/chance.py                      # the tables
    python benchmarks/chance.py --records FOLDER     # of other records, such as chance-tuning

Records are those of `becbo bench`; a second start continues.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from becbo.arrays import Array, Mask
from becbo.bench.records import Record, read
from becbo.bench.summary import (
    CAP,
    bootstrap_interval,
    failure_share,
    feasible,
    regret_curve,
    with_interval,
)
from becbo.bench.table import Table, yes
from becbo.search.choice import AGAIN

RECORDS = Path(__file__).parent / "results" / "chance"
WITHOUT, CERTAIN = "edge", "edge-certain"  # runs without bad luck: it is learned, or ruled out
DEARER = {"edge-luck-10": 0.25, "edge-luck-25": 0.5}  # log10 regret that bad luck may cost
LEARNERS = (WITHOUT, *DEARER)
EDGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the bins of stated chances
SMALL, CLOSE = 0.03, 0.07  # a learned rate without bad luck, and its error with it
MOST = 0.8  # of the runs
N_TESTS = 5  # repeats to find out
N_STATED, TRUE = 50, 0.05  # proposals of a bin that counts, and how true its chances are
COST, SLOWER = 0.05, 1.3  # of learning where there is nothing to learn: log10 regret, time


def end(record: Record) -> float:
    """log10 regret at the end of a run, capped."""
    return float(max(regret_curve(record)[-1], CAP))


def is_repeat(record: Record) -> Mask:  # (proposals,)
    """Which proposals were failed designs run again."""
    names = record.searches.winners
    return np.array([names[code] == AGAIN for code in record.searches.winner], dtype=bool)


def n_tests(record: Record) -> int:
    """How many repeats were spent until bad luck was proven, or to the end."""
    unproven = np.array(record.bad_luck) == 0
    return int((is_repeat(record) & unproven).sum())


def found_at(record: Record) -> float:
    """Experiments until bad luck was proven; infinite if it never was."""
    proven = np.flatnonzero(np.array(record.bad_luck) > 0)
    return float(record.n_initial + proven[0]) if len(proven) else np.inf


def rate(record: Record) -> float:
    """The learned or told rate at the end of a run."""
    return float(record.bad_luck[-1]) if record.bad_luck else np.nan


def is_right(record: Record) -> bool:
    """Whether the rate at the end of a run is as close to the truth as was asked for."""
    truth = record.run.bad_luck
    return abs(rate(record) - truth) < CLOSE if truth else rate(record) < SMALL


def could_be_right(record: Record) -> bool:
    """Whether who knew the cause of every failure would be so close: bad luck has luck, too."""
    n_unlucky, n_worked = len(record.unlucky), sum(y is not None for y in record.y)
    share = n_unlucky / max(n_unlucky + n_worked, 1)
    return abs(share - record.run.bad_luck) < CLOSE


def of(records: Sequence[Record], label: str) -> list[Record]:
    return [r for r in records if r.run.label == label]


def differences(
    records: Sequence[Record],
    label: str,
    other: str,
    measure: Callable[[Record], float] = end,
) -> dict[str, Array]:
    """Of a measure between two labels on the same seeds, by problem, one per run."""
    base = {(r.run.problem, r.run.seed): measure(r) for r in of(records, other)}
    by_problem: dict[str, list[float]] = {}
    for r in of(records, label):
        before = base.get((r.run.problem, r.run.seed))
        if before is not None:
            by_problem.setdefault(r.run.problem, []).append(measure(r) - before)
    return {problem: np.array(found) for problem, found in by_problem.items()}


def outcomes(records: Sequence[Record]) -> tuple[Array, Mask]:
    """What was stated of each proposal, and whether it worked."""
    stated = [p for r in records for p in r.stated]
    worked = [y is not None for r in records for y in r.y[r.n_initial :]]
    return np.array(stated), np.array(worked, dtype=bool)


def brier(record: Record) -> float:
    """Mean squared error of the stated chances of a run."""
    stated, worked = outcomes([record])
    return float(((stated - worked) ** 2).mean())


def log_loss(record: Record) -> float:
    """Mean surprise of the outcomes of a run, in nats, by the stated chances."""
    stated, worked = outcomes([record])
    sure = np.clip(stated, 1e-3, 1 - 1e-3)
    return float(-np.where(worked, np.log(sure), np.log(1 - sure)).mean())


def bins(records: Sequence[Record]) -> list[tuple[float, float, int]]:
    """Of each bin of stated chances: what was stated, what came true, and of how many proposals."""
    stated, worked = outcomes(records)
    found = []
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        inside = (stated >= low) & ((stated < high) | (high == EDGES[-1]))
        n = int(inside.sum())
        said, came = (stated[inside].mean(), worked[inside].mean()) if n else (np.nan, np.nan)
        found.append((float(said), float(came), n))
    return found


def goal_table(records: Sequence[Record]) -> Table:
    """A row per goal: what was to be reached, what was, whether."""
    rows = [_dearer(records, label, goal) for label, goal in DEARER.items()]
    rows += [_no_worse(records, "log10 regret", end, COST)]
    rows += [_no_worse(records, "Brier score", brier), _no_worse(records, "log-loss", log_loss)]
    rows += [_calibrated(records, "edge-luck-10")]
    rows += [_learned(records, label) for label in LEARNERS]
    rows += [_found_out(records), _as_fast(records)]
    return Table(("goal", "measured", "reached"), tuple(rows), ())


def _dearer(records: Sequence[Record], label: str, goal: float) -> tuple[str, ...]:
    more = differences(records, label, WITHOUT)
    said = f"{label}: log10 regret at most {goal} above that without bad luck"
    if not more:
        return said, "", "no runs"
    mean, interval = _interval(more)
    return said, f"{interval}, {_n_runs(more)}", yes(mean <= goal)


def _no_worse(
    records: Sequence[Record], name: str, measure: Callable[[Record], float], cost: float = 0.0
) -> tuple[str, ...]:
    """Learning against ruling bad luck out where there is none, up to a standard error."""
    more = differences(records, WITHOUT, CERTAIN, measure)
    allowed = f"at most {cost} +- its standard error above" if cost else "not above"
    said = f"no bad luck: {name} {allowed} that of chance=0"
    if not more:
        return said, "", "no runs"
    mean, interval = _interval(more, "+.3f")
    error = _standard_error(more)
    return said, f"{interval}, {_n_runs(more)}", yes(mean <= cost + error)


def _calibrated(records: Sequence[Record], label: str) -> tuple[str, ...]:
    said = f"{label}: stated chances true within {TRUE:.0%} in bins of {N_STATED} proposals"
    counted = [(a, b) for a, b, n in bins(of(records, label)) if n >= N_STATED]
    if not counted:
        return said, "", "no runs"
    off = [abs(a - b) for a, b in counted]
    n_true = sum(error <= TRUE for error in off)
    return said, f"{n_true} of {len(off)} bins, at worst {max(off):.0%}", yes(max(off) <= TRUE)


def _learned(records: Sequence[Record], label: str) -> tuple[str, ...]:
    runs = of(records, label)
    luck = label in DEARER
    wanted = (
        f"within {CLOSE:.0%} of the truth in {MOST:.0%} of runs" if luck else f"below {SMALL:.0%}"
    )
    said = f"{label}: learned rate {wanted}"
    if not runs:
        return said, "", "no runs"
    able = [r for r in runs if any(y is not None for y in r.y)]
    right, right_able = (sum(map(is_right, some)) for some in (runs, able))
    rates = [rate(r) for r in runs]
    measured = f"{right} of {len(runs)} runs, mean {np.mean(rates):.1%}"
    if luck:
        measured += f"; {right_able} of the {len(able)} in which something worked"
        knowing = sum(map(could_be_right, runs))
        measured += f"; {knowing} for who knew the cause of every failure"
    return said, measured, yes(right >= (MOST if luck else 1.0) * len(runs))


def _found_out(records: Sequence[Record]) -> tuple[str, ...]:
    said = f"at most {N_TESTS} repeats to find out"
    learners = [(label, of(records, label)) for label in LEARNERS]
    parts = [
        f"{label} {np.mean([n_tests(r) for r in runs]):.1f}, at most {max(map(n_tests, runs))}"
        for label, runs in learners
        if runs
    ]
    most = max((n_tests(r) for _, runs in learners for r in runs), default=0)
    return said, "; ".join(parts), yes(most <= N_TESTS)


def _as_fast(records: Sequence[Record]) -> tuple[str, ...]:
    """Mean time of a proposal beside that of `chance=0` on the same runs without bad luck."""
    said = f"time of a proposal at most {SLOWER} times that of chance=0"
    base = {(r.run.problem, r.run.seed): np.mean(r.seconds) for r in of(records, CERTAIN)}
    parts, ratios = [], []
    for label in LEARNERS:
        pairs = [
            (np.mean(r.seconds), base.get((r.run.problem, r.run.seed))) for r in of(records, label)
        ]
        known = [(a, b) for a, b in pairs if b is not None]
        if known:
            ratios.append(float(np.exp(np.mean([np.log(a / b) for a, b in known]))))
            parts.append(f"{label} {ratios[-1]:.2f}")
    return said, ", ".join(parts), yes(max(ratios) <= SLOWER) if ratios else "no runs"


def _interval(by_problem: dict[str, Array], form: str = "+.2f") -> tuple[float, str]:
    """The mean over problems, and it with its interval."""
    found = list(by_problem.values())
    mean = float(np.mean([runs.mean() for runs in found]))
    return mean, with_interval(mean, *bootstrap_interval(found), form)


def _standard_error(by_problem: dict[str, Array]) -> float:
    runs = np.concatenate(list(by_problem.values()))
    return float(runs.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else 0.0


def _n_runs(by_problem: dict[str, Array]) -> str:
    return f"{sum(map(len, by_problem.values()))} runs on {len(by_problem)} problems"


def cost_table(records: Sequence[Record]) -> Table:
    """One row per label: regret, its difference to the same runs without bad luck, the rate."""
    rows = []
    for label in _labels(records):
        runs, more = of(records, label), differences(records, label, WITHOUT)
        row = (
            *(label, str(len(runs)), f"{np.mean([end(r) for r in runs]):.2f}"),
            _interval(more)[1] if more else "",
            f"{np.mean([failure_share(feasible(r), r.n_initial) for r in runs]):.0%}",
            f"{np.mean([len(r.unlucky) for r in runs]):.1f}",
            f"{np.mean([is_repeat(r).sum() for r in runs]):.1f}",
            f"{np.mean([rate(r) for r in runs]):.1%}",
            f"{np.median([s for r in runs for s in r.seconds]):.3f}",
        )
        rows.append(row)
    head = ("label", "runs", "log10 regret", "more than without bad luck", "proposals that failed")
    more_head = ("bad luck", "repeats of failures", "rate at the end", "s a proposal")
    return Table((*head, *more_head), tuple(rows), ())


def rate_table(records: Sequence[Record]) -> Table:
    """One row per problem: what each run learned, when, and by how many repeats."""
    rows = []
    for problem in dict.fromkeys(r.run.problem for r in records):
        cells = [problem]
        for label in LEARNERS:
            runs = [r for r in of(records, label) if r.run.problem == problem]
            cells.append(", ".join(map(_learned_in, sorted(runs, key=lambda r: r.run.seed))))
        rows.append(tuple(cells))
    return Table(("problem", *LEARNERS), tuple(rows), ())


def _learned_in(record: Record) -> str:
    when = found_at(record)
    found = f"{rate(record):.0%} @{when:.0f}" if np.isfinite(when) else "-"
    return f"{found} ({n_tests(record)})"


def calibration_table(records: Sequence[Record]) -> Table:
    """One row per label: Brier score, log-loss, and how often each bin of chances came true."""
    rows = []
    for label in _labels(records):
        runs = [r for r in of(records, label) if r.stated]
        if not runs:
            continue
        scores = (f"{np.mean([score(r) for r in runs]):.3f}" for score in (brier, log_loss))
        cells = (f"{said:.0%}: {came:.0%} ({n})" if n else "" for said, came, n in bins(runs))
        rows.append((label, *scores, *cells))
    names = (f"{a:.0%} to {b:.0%}" for a, b in zip(EDGES[:-1], EDGES[1:], strict=True))
    return Table(("label", "Brier", "log-loss", *names), tuple(rows), ())


def _labels(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(r.run.label for r in records))


TEXT = """\
{goals}

All labels; regrets are means over runs, differences means over problems with 95 % intervals:

{cost}

The learned rate at the end of each run, after how many experiments it was found, and in brackets
the repeats spent to find out:

{rates}

How often proposals of a stated chance worked, as "stated: worked (proposals)":

{calibration}"""


def text(folder: Path = RECORDS) -> str:
    """The tables of a folder of records."""
    records = [r for r in read(folder).records if r.is_finished]
    if not records:
        return f"There are no records in {folder.name} yet."
    return TEXT.format(
        goals=goal_table(records).markdown(),
        cost=cost_table(records).markdown(),
        rates=rate_table(records).markdown(),
        calibration=calibration_table(records).markdown(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=Path, default=RECORDS)
    print(text(parser.parse_args().records))


if __name__ == "__main__":
    main()
