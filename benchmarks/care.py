"""Risk, price and budget of failures: what they promise, and what came of it.

    python benchmarks/care.py --part risk       # the share of failures, 100 runs each
    python benchmarks/care.py --part budget     # 10 failures in 100 experiments, 100 runs each
    python benchmarks/care.py --part price      # regret at equal money, four runs of each problem
    python benchmarks/care.py                   # the tables

A second start continues; `--minutes` ends a start early. Of each run a line is kept: which
evaluations failed, which were repeats of designs that had worked, and the regret.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from becbo.bench.plan import N_INITIAL, Run
from becbo.bench.records import Record
from becbo.bench.run import execute
from becbo.bench.summary import CAP, CEILING, feasible, regret_curve
from becbo.bench.table import Table
from becbo.files import write_file
from becbo.problems import PAPER
from becbo.search.choice import REPEAT
from becbo.threads import one_thread

OUT = Path(__file__).parent / "results" / "care.json.xz"
RISK, N_PROPOSALS, SLACK = 0.2, 50, 0.02
BUDGET, N_EVALUATIONS = 10, 100
LUCK = 0.1
STEP = 0.05  # of log10 regret: smaller ones are not kept
PRICES, RISKS = (3, 10), (0.05, 0.1, 0.2, 0.5)
# Of the tuning suite, quick ones of all kinds: few or many designs work, edges, islands, choices.
QUICK = (
    *("new_branin", "gomez", "mystery", "gardner", "tubular_column", "concrete_beam", "g12"),
    *("i_beam", "bulkhead", "tilted_rastrigin_4d", "stepped_beam", "geometric_5d", "hartmann_ball"),
)
MORE = 0.1  # regret above the best risk in hindsight that a price may cost


@dataclass(frozen=True)
class Line:
    """What is kept of a run.

    Attributes:
        failed: a 1 for each evaluation that failed, initial designs first.
        repeated: evaluations that repeated a design which had worked.
        best: evaluations that improved by `STEP`, counted from 1, and log10 regret after each.
    """

    problem: str
    label: str
    seed: int
    failed: str
    repeated: tuple[int, ...]
    best: tuple[tuple[int, float], ...]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.problem, self.label, self.seed

    @property
    def has_failed(self) -> np.ndarray:  # (n,)
        return np.array([mark == "1" for mark in self.failed])

    def regret(self, n: int) -> float:
        """log10 regret after n evaluations, capped."""
        reached = [r for i, r in self.best if i <= n]
        return max(reached[-1], CAP) if reached else CEILING


def line_of(record: Record) -> Line:
    """What is kept of a record."""
    names = [record.searches.winners[code] for code in record.searches.winner]
    return Line(
        *record.run.key,
        failed="".join("0" if worked else "1" for worked in feasible(record)),
        repeated=tuple(N_INITIAL + i for i, name in enumerate(names) if name == REPEAT),
        best=_steps(np.round(regret_curve(record), 2)),
    )


def _steps(curve: np.ndarray) -> tuple[tuple[int, float], ...]:  # (n,)
    """Where a falling curve has fallen by `STEP` since it was last kept, and its end."""
    kept = [(0, CEILING)]
    for n, value in enumerate(curve.tolist(), start=1):
        if value <= kept[-1][1] - STEP or (n == len(curve) and value < kept[-1][1]):
            kept.append((n, value))
    return tuple(kept[1:])


def run_of(problem: str, label: str, options: Mapping[str, Any], seed: int, n: int) -> Run:
    luck = LUCK if label.endswith("-luck") else 0.0
    return Run(problem, label, "edge", options, seed, n, "authors", bad_luck=luck)


def starts(problems: Sequence[str]) -> list[tuple[str, int]]:
    """100 problems and seeds."""
    return [(problem, seed) for seed in range(100) for problem in problems][:100]


def risk_runs(problems: Sequence[str] = (*PAPER, *QUICK)) -> list[Run]:
    """100 runs without bad luck, 100 with."""
    n = N_INITIAL + N_PROPOSALS
    return [
        run_of(problem, label, {"risk": RISK}, seed, n)
        for problem, seed in starts(problems)
        for label in ("risk-20", "risk-20-luck")
    ]


def budget_runs(problems: Sequence[str] = (*PAPER[:4], *QUICK[:6])) -> list[Run]:
    """100 runs without bad luck, 100 with, in two and three dimensions."""
    return [
        run_of(problem, label, {"failures": {"budget": BUDGET}}, seed, N_EVALUATIONS)
        for problem, seed in starts(problems)
        for label in ("budget-10", "budget-10-luck")
    ]


def price_runs(problems: Sequence[str] = PAPER, seeds: int = 4) -> list[Run]:
    """Each price, and each risk that could have been chosen instead."""
    options = {f"price-{price}": {"failures": {"price": price}} for price in PRICES}
    options |= {f"risk-{round(100 * risk)}": {"risk": risk} for risk in RISKS}
    return [
        run_of(problem, label, chosen, seed, N_EVALUATIONS)
        for seed in range(seeds)
        for problem in problems
        for label, chosen in options.items()
    ]


PARTS = {"risk": risk_runs, "budget": budget_runs, "price": price_runs}


def read(path: Path = OUT) -> dict[tuple[str, str, int], Line]:
    """The lines by problem, label and seed."""
    kept = json.loads(lzma.decompress(path.read_bytes())) if path.exists() else ()
    lines = (Line(**{**each, "best": tuple(map(tuple, each["best"]))}) for each in kept)
    return {line.key: line for line in lines}


def write(lines: Iterable[Line], path: Path) -> None:
    """All of them, in one file that is small because they are compressed together."""
    text = json.dumps([vars(line) for line in lines], separators=(",", ":"))
    write_file(path, lzma.compress(text.encode()), overwrite=True)


def perform(runs: Iterable[Run], path: Path, minutes: float) -> None:
    """Adds what is missing, until the time is over."""
    begin, known = time.monotonic(), read(path)
    for run in runs:
        if run.key in known and len(known[run.key].failed) >= run.budget:
            continue
        if time.monotonic() - begin > 60 * minutes:
            print("not complete; a second start continues")
            return
        with one_thread():
            known[run.key] = line_of(execute(run))
        write(known.values(), path)
        print(f"{run}: {known[run.key].has_failed.sum()} failed", flush=True)


def risk_table(lines: Collection[Line]) -> Table:
    """The share of failures among the first 50 proposals."""
    rows = []
    for label in ("risk-20", "risk-20-luck"):
        runs = [line.has_failed[: N_INITIAL + N_PROPOSALS] for line in lines if line.label == label]
        if runs:
            shares = np.array([failed[N_INITIAL:].mean() for failed in runs])
            cells = (label, str(len(runs)), f"{shares.mean():.1%}")
            most = f"{np.quantile(shares, 0.9):.0%}, {shares.max():.0%}"
            rows.append((*cells, most, _yes(shares.mean() <= RISK + SLACK)))
    head = ("label", "runs", "proposals that failed")
    more = ("nine of ten runs, all runs at most", f"at most {RISK + SLACK:.0%}")
    return Table((*head, *more), tuple(rows), ())


def budget_table(lines: Collection[Line]) -> Table:
    """How many runs kept the budget, and how long it lasted.

    Kept means that at most so many designs failed which had not worked before. Repeats of those
    that had are counted apart: by bad luck they may fail, and only an end of the run prevents it.
    """
    rows = []
    for label in ("budget-10", "budget-10-luck"):
        runs = [line for line in lines if line.label == label]
        if not runs:
            continue
        new = [_without_repeats(line) for line in runs]
        again = [line.has_failed.sum() - n.sum() for line, n in zip(runs, new, strict=True)]
        spent = [_spent_at(line) for line in runs]
        ends = [line.regret(N_EVALUATIONS) for line in runs]
        rows.append(
            (
                *(label, f"{sum(n.sum() <= BUDGET for n in new)} of {len(runs)}"),
                f"{np.mean([n.sum() for n in new]):.1f}",
                f"{np.mean(again):.1f}",
                f"{sum(line.has_failed.sum() <= BUDGET for line in runs)} of {len(runs)}",
                f"{np.mean([end is not None for end in spent]):.0%}",
                f"{np.median([N_EVALUATIONS if end is None else end for end in spent]):.0f}",
                f"{np.mean(ends):.2f}",
            )
        )
    head = ("label", "kept by designs without a success", "failures of those", "of proven designs")
    more = ("kept by all, with no end", "spent before the end", "lasted, evaluations")
    return Table((*head, *more, "log10 regret"), tuple(rows), ())


def _without_repeats(line: Line) -> np.ndarray:
    """Which evaluations failed, without repeats of designs that had worked."""
    failed = line.has_failed
    failed[list(line.repeated)] = False
    return failed


def _spent_at(line: Line) -> int | None:
    """After how many evaluations as many had failed as may."""
    spent = np.flatnonzero(np.cumsum(line.has_failed) >= BUDGET)
    return int(spent[0]) + 1 if len(spent) else None


def price_table(lines: Mapping[tuple[str, str, int], Line], problems: Sequence[str]) -> Table:
    """Regret when proposals have cost as much as 90 that work, for each price."""
    labels = tuple(f"risk-{round(100 * risk)}" for risk in RISKS)
    rows = []
    for price in PRICES:
        priced = f"price-{price}"
        pairs = [(p, seed) for p, label, seed in lines if label == priced and p in problems]
        pairs = [s for s in pairs if all((s[0], label, s[1]) in lines for label in labels)]
        if not pairs:
            continue
        means = {
            label: np.array([_at_equal_money(lines[p, label, seed], price) for p, seed in pairs])
            for label in (priced, *labels)
        }
        best = min(labels, key=lambda label: means[label].mean())
        more = means[priced] - means[best]
        error = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
        rows.append(
            (
                *(str(price), str(len(pairs))),
                *(f"{means[label].mean():.2f}" for label in (priced, *labels)),
                f"{more.mean():+.2f} +- {error:.2f}",
                _yes(more.mean() <= MORE),
            )
        )
    head = ("price", "runs", "told the price", *(f"risk {risk:g}" for risk in RISKS))
    return Table((*head, "more than the best risk", f"at most {MORE:g}"), tuple(rows), ())


def _at_equal_money(line: Line, price: float) -> float:
    """Regret when the proposals have cost as much as 90 that work."""
    cost = np.cumsum(1.0 + price * line.has_failed[N_INITIAL:])
    return line.regret(N_INITIAL + int((cost <= N_EVALUATIONS - N_INITIAL).sum()))


def _yes(is_reached: bool | np.bool_) -> str:
    return "yes" if is_reached else "**no**"


def text(path: Path = OUT) -> str:
    """All tables of the records."""
    lines = read(path)
    if not lines:
        return "`benchmarks/care.py` has not been run yet."
    tables = (risk_table(lines.values()), budget_table(lines.values()), price_table(lines, PAPER))
    return "\n\n".join(table.markdown() for table in tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--problems", help="instead of the usual ones, with commas between")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--records", type=Path, default=OUT)
    args = parser.parse_args()
    if args.part:
        chosen = [tuple(args.problems.split(","))] if args.problems else []
        perform(PARTS[args.part](*chosen), args.records, args.minutes)
    else:
        print(text(args.records))


if __name__ == "__main__":
    main()
