"""Does the outlook keep its promises, and what does the advice to stop cost?

    python benchmarks/outlook.py --suite tuning     # where its constants were chosen
    python benchmarks/outlook.py --suite paper

Recorded runs of `edge` of 200 evaluations are replayed: after every fifth experiment from the 20th
on, `Optimizer.outlook` of the experiments so far is kept. Then what it promised is compared with
what came, and every run is ended where the usual rule (`Stop()`) advises it. A second start
continues.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from becbo import Advice, Optimizer, Outlook, Stop
from becbo.bench.lines import append_line, read_lines
from becbo.bench.plan import SUITES
from becbo.bench.records import Record, read
from becbo.bench.summary import best_so_far, get_single, regret_curve, typical_value, values
from becbo.outlook import HORIZONS
from becbo.trial import Result, Trial

RESULTS = Path(__file__).parent / "results"
BUDGET, FIRST, EVERY = 200, 20, 5
CAP = -4.0  # of log10 regret
PHASES = ((0, 50), (50, 100), (100, 150), (150, BUDGET))
SUITE_NAMES = ("tuning", "paper")


@dataclass(frozen=True)
class Seen:
    """The outlooks of one run, by the number of experiments before each."""

    record: Record
    outlooks: dict[int, Outlook]


def path_of(suite: str) -> Path:
    return RESULTS / "outlook" / f"{suite}.jsonl.xz"


def runs_of(suite: str) -> list[Record]:
    """Recorded runs of `edge` that are long enough."""
    problems = set(SUITES[suite].problems)
    return [
        r
        for r in read(RESULTS / "paper").records
        if r.run.label == "edge" and r.run.problem in problems and r.is_finished
        and r.run.protocol == "authors" and len(r.y) >= BUDGET and r.x
    ]  # fmt: skip


def replay(record: Record) -> dict[int, Outlook]:
    """What `outlook` said in the course of a run."""
    space = get_single(record.run.problem).space
    trials = [
        Trial(
            i,
            dict(zip(space.names, x, strict=True)),
            Result.failed() if np.isnan(y) else Result.ok({"value": y}),
        )
        for i, (x, y) in enumerate(zip(record.x, values(record).tolist(), strict=True))
    ]
    return {
        n: Optimizer(space, "minimize", trials=trials[:n], seed=record.run.seed).outlook
        for n in range(FIRST, BUDGET, EVERY)
    }


def seen_in(suite: str) -> list[Seen]:
    """The runs that have been replayed."""
    path, complaints = path_of(suite), []
    lines = read_lines(path, complaints) if path.exists() else ()
    known = {(line["problem"], line["seed"]): line["outlooks"] for line in lines}
    return [
        Seen(r, {int(n): Outlook(**kept) for n, kept in known[r.run.problem, r.run.seed].items()})
        for r in runs_of(suite)
        if (r.run.problem, r.run.seed) in known
    ]


def promises(runs: Sequence[Seen]) -> str:
    """Promised improvements and gains divided by those that came, by phase and horizon.

    Gains are in units of the distance between a typical working design and the optimum.
    """
    rows = ["| experiments so far | improvements within 1, 5, 10, 20 | gains | points |"]
    rows += ["|---|---|---|---|"]
    for phase in (*PHASES, (0, BUDGET)):
        told = {k: [_promise(run, n, k) for run, n in _points(runs, phase, k)] for k in HORIZONS}
        sums = {k: np.sum(told[k], axis=0) for k in HORIZONS}  # p, came, expected gain, gain
        counts = ", ".join(f"{sums[k][0] / sums[k][1]:.2f}" for k in HORIZONS)
        gains = ", ".join(f"{sums[k][2] / sums[k][3]:.2f}" for k in HORIZONS)
        name = "all" if phase == (0, BUDGET) else f"{phase[0]} to {phase[1]}"
        rows.append(f"| {name} | {counts} | {gains} | {len(told[1])} |")
    return "\n".join(rows)


def _points(runs: Sequence[Seen], phase: tuple[int, int], k: int) -> list[tuple[Seen, int]]:
    """Outlooks of a phase whose next k experiments are recorded, once something has worked."""
    low, high = phase
    return [
        (run, n)
        for run in runs
        for n, seen in run.outlooks.items()
        if low <= n < high and n + k <= BUDGET and seen.best is not None
    ]


def _promise(run: Seen, n: int, k: int) -> tuple[float, float, float, float]:
    problem = run.record.run.problem
    unit = typical_value(problem) - get_single(problem).optimum
    best = best_so_far(values(run.record))
    forecast, gain = run.outlooks[n].after(k), best[n - 1] - best[n + k - 1]
    assert forecast.expected is not None, "something has worked"
    return forecast.p_better, float(gain > 0), (best[n - 1] - forecast.expected) / unit, gain / unit


def stopping(runs: Sequence[Seen], rule: Stop) -> str:
    """What the rule saves and costs, beside ending all runs after as many experiments."""
    curves = np.array([np.maximum(regret_curve(run.record), CAP)[:BUDGET] for run in runs])
    ends = np.array([_end(run, rule) for run in runs])
    at_end = curves[np.arange(len(runs)), ends - 1]
    costs = at_end - curves[:, -1]
    same = round(float(ends.mean()))
    blunt = curves[:, same - 1] - curves[:, -1]
    return (
        f"The usual rule saves {1 - ends.mean() / BUDGET:.0%} of {BUDGET} evaluations ({len(runs)} "
        f"runs, {(ends < BUDGET).mean():.0%} ended early). Mean log10 regret is {costs.mean():.2f} "
        f"+- {costs.std() / np.sqrt(len(costs)):.2f} higher than after {BUDGET}, at worst "
        f"{costs.max():.2f}. Ending every run after {same} costs {blunt.mean():.2f}."
    )


def _end(run: Seen, rule: Stop) -> int:
    advised = [n for n, seen in run.outlooks.items() if seen.advice(rule) is not Advice.GO_ON]
    return min(advised, default=BUDGET)


def section(suite: str) -> str:
    """The section of RESULTS.md."""
    runs = seen_in(suite)
    return f"{promises(runs)}\n\n{stopping(runs, Stop())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--suite", choices=SUITE_NAMES, default="tuning")
    parser.add_argument("--seeds", type=int, default=10, help="at most so many runs per problem")
    args = parser.parse_args()
    done = {(run.record.run.problem, run.record.run.seed) for run in seen_in(args.suite)}
    for record in runs_of(args.suite):
        key = (record.run.problem, record.run.seed)
        if key not in done and record.run.seed < args.seeds:
            kept = {n: vars(seen) for n, seen in replay(record).items()}
            line = {"problem": key[0], "seed": key[1], "outlooks": kept}
            append_line(path_of(args.suite), line)
            print(*key, flush=True)
    print(section(args.suite))


if __name__ == "__main__":
    main()
