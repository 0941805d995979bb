"""How good the designs are: each of the paper's 12 problems, a few seeds, one table.

    python benchmarks/quality.py                                # edge, 3 seeds, 100 evaluations
    python benchmarks/quality.py --methods edge,be-cbo --seeds 2 --jobs 2

Protocol: 10 scrambled Sobol points, drawn again until at least one works and charged as 10 (as
the paper's authors do), then one proposal at a time. Every finished run is one line of
`benchmarks/results/quality.jsonl`; a run that is there already is not repeated, so the command
can be interrupted and started again. `--table` prints the table of what is there.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core a run, and comparable times

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from rich.progress import track

import becbo
from becbo.problems import PAPER, get
from becbo.problems.problem import Problem
from becbo.search.candidates import sobol

RESULTS = Path(__file__).parent / "results" / "quality.jsonl"
N_INITIAL = 10


def initial_design(problem: Problem, seed: int) -> np.ndarray:  # (10, d) unit cube
    """Ten Sobol points of which at least one works, the same for every method."""
    rng = np.random.default_rng((seed, 10))
    while True:
        U = sobol(N_INITIAL, problem.dim, rng)
        if problem.feasible(natural(problem, U)).any():
            return U


def natural(problem: Problem, U: np.ndarray) -> np.ndarray:
    """Unit cube to natural units."""
    return np.array([list(params.values()) for params in problem.space.decode(U)])


def typical_value(problem: Problem) -> float:
    """Median of the value over random designs that work: regret 1 on the normalised scale."""
    rng = np.random.default_rng(0)
    low = np.array([p.low for p in problem.space.parameters])
    high = np.array([p.high for p in problem.space.parameters])
    values: list[float] = []
    for _ in range(40):
        X = low + rng.random((10_000, problem.dim)) * (high - low)
        X = X[problem.feasible(X)]
        values += problem.objective(X).tolist()
        if len(values) >= 100:
            break
    return float(np.median(values))


def run(name: str, method: str, seed: int, budget: int) -> dict:
    """One optimisation as a record."""
    problem = get(name)
    optimizer = becbo.Optimizer(problem.space, method=method, seed=seed)
    values, seconds = [], []
    for number in range(budget):
        if number < N_INITIAL:
            if number == 0:
                design = problem.space.decode(initial_design(problem, seed))
            params, trial = design[number], None
        else:
            begin = time.perf_counter()
            trial = optimizer.ask()
            seconds.append(time.perf_counter() - begin)
            params = trial.params
        try:
            values.append(problem(params))
        except becbo.Infeasible as error:
            values.append(None)
            if trial is None:
                optimizer.add(params, failed=error.reason)
            else:
                optimizer.fail(trial, error.reason)
        else:
            if trial is None:
                optimizer.add(params, values[-1])
            else:
                optimizer.tell(trial, values[-1])
    return {
        "problem": name,
        "method": method,
        "seed": seed,
        "values": values,
        "seconds": [round(s, 4) for s in seconds],
        "fallbacks": sum(t.note is not None for t in optimizer.trials),
        "version": becbo.__version__,
    }


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def best_of(record: dict, budget: int) -> float:
    return min(v for v in record["values"][:budget] if v is not None)


def regret(record: dict, typical: float, budget: int) -> float:
    """log10 of the normalised regret, at least -9."""
    optimum = get(record["problem"]).optimum
    share = (best_of(record, budget) - optimum) / (typical - optimum)
    return float(np.log10(max(share, 1e-9)))


def table(records: list[dict], budget: int) -> str:
    """Markdown: one row per problem and method, means over the seeds."""
    lines = [
        f"| problem | method | seeds | optimum | best of {budget}: median (worst) "
        "| distance to optimum | log10 normalised regret @50 / @100 | failed | s per proposal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    summary: dict[str, list[tuple[float, float, float]]] = {}
    for name in PAPER:
        typical = typical_value(get(name)) if any(r["problem"] == name for r in records) else 0.0
        for method in dict.fromkeys(r["method"] for r in records):
            rows = [r for r in records if r["problem"] == name and r["method"] == method]
            if not rows:
                continue
            best = [best_of(r, budget) for r in rows]
            at50, at100 = ([regret(r, typical, n) for r in rows] for n in (50, budget))
            failed = np.mean([np.mean([v is None for v in r["values"][N_INITIAL:]]) for r in rows])
            seconds = np.median(np.concatenate([r["seconds"] for r in rows]))
            optimum = get(name).optimum
            gap = 100 * (np.median(best) - optimum) / abs(optimum) if optimum else np.nan
            summary.setdefault(method, []).extend(
                (a, b, max(b, -4.0)) for a, b in zip(at50, at100, strict=True)
            )
            lines.append(
                f"| {name} | {method} | {len(rows)} | {optimum:.6g} | "
                f"{np.median(best):.6g} ({max(best):.6g}) | {gap:.3g} % | "
                f"{np.mean(at50):.2f} / {np.mean(at100):.2f} | {failed:.0%} | {seconds:.3f} |"
            )
    for method, rows in summary.items():
        a, b, c = np.mean(rows, axis=0)
        lines.append(
            f"| **mean** | {method} | | | | | {a:.2f} / {b:.2f} (capped at -4: {c:.2f}) | | |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default="edge")
    parser.add_argument("--problems", default=",".join(PAPER))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print the table")
    args = parser.parse_args()
    done = {(r["problem"], r["method"], r["seed"]) for r in read(args.out)}
    plan = [
        (name, method, seed)
        for seed in range(args.first_seed, args.first_seed + args.seeds)
        for method in args.methods.split(",")
        for name in args.problems.split(",")
        if (name, method, seed) not in done
    ]
    if plan and not args.table:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
            futures = [pool.submit(run, *key, args.budget) for key in plan]
            for future in track(as_completed(futures), "runs", total=len(futures)):
                out.write(json.dumps(future.result()) + "\n")
                out.flush()
    print(table(read(args.out), args.budget))


if __name__ == "__main__":
    main()
