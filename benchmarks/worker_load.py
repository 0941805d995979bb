"""32 workers of short trials on one PostgreSQL server, beside Optuna's random sampler.

    python benchmarks/worker_load.py --out benchmarks/results/worker_load.json

Each process notes what it began. "twice", "lost" and "over" must be 0. Trials a second are counted
from the first start of a trial to the last end, so without the start of the programs.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import optuna
from optuna.trial import TrialState
from postgres_server import PostgresServer

RESULTS = Path(__file__).parent / "results" / "worker_load.json"
WORKERS, TRIALS, SECONDS = 32, 2000, 0.1

OBJECTIVE = f"""
import os, time

def run(trial):
    x = [trial.suggest_float(f"x{{i}}", 0, 1) for i in range(4)]
    with open(f"log-{{os.getpid()}}", "a") as log:
        print(trial.number, file=log)
    time.sleep({SECONDS})
    return sum((v - 0.3) ** 2 for v in x) if x[0] + x[1] > 0.4 else None
"""

# Optuna alone: its storage, its random sampler, its own way to stop at a number of trials.
OPTUNA = """
import sys
import optuna
from optuna.study import MaxTrialsCallback
from optuna.trial import TrialState
from short import run

optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = optuna.storages.RDBStorage(sys.argv[1])
study = optuna.load_study(study_name="s", storage=storage, sampler=optuna.samplers.RandomSampler())
ended = (TrialState.COMPLETE, TrialState.FAIL)
study.optimize(run, callbacks=[MaxTrialsCallback(int(sys.argv[2]), states=ended)])
"""


def commands(where: str, method: str) -> list[str]:
    """The command of a worker."""
    if method == "optuna random":
        return ["-c", OPTUNA, where.replace("postgresql://", "postgresql+psycopg://"), str(TRIALS)]
    worker = ["-m", "becbo", "worker", "--storage", where, "--study", "s", "--seed", "0"]
    return [*worker, "--objective", "short:run", "--trials", str(TRIALS), "--method", method]


def measure(method: str) -> dict:
    """Runs all workers until the study has enough trials."""
    with tempfile.TemporaryDirectory(prefix="becbo-load-") as name, PostgresServer() as server:
        folder = Path(name)
        (folder / "short.py").write_text(OBJECTIVE)
        where = server.new_database()
        url = where.replace("postgresql://", "postgresql+psycopg://")
        storage = optuna.storages.RDBStorage(url)
        study = optuna.create_study(storage=storage, study_name="s")
        with (folder / "output").open("w") as out:
            command = [sys.executable, *commands(where, method)]
            workers = [
                subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
                for _ in range(WORKERS)
            ]
            codes = Counter(worker.wait() for worker in workers)
        assert set(codes) == {0}, (codes, (folder / "output").read_text()[-2000:])
        trials = study.trials
        logs = [log.read_text().split() for log in folder.glob("log-*")]
        storage.engine.dispose()
    began = Counter(int(number) for log in logs for number in log)
    finished = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.FAIL)]
    span = max(t.datetime_complete for t in finished) - min(t.datetime_start for t in finished)
    return {
        "method": method,
        "trials": len(finished),
        "twice": sum(n > 1 for n in began.values()),
        "lost": len(trials) - len(finished),
        "over": len(finished) - TRIALS,
        "per second": len(finished) / span.total_seconds(),
    }


def section(results: list[dict]) -> str:
    """The section of RESULTS.md."""
    if not results:
        return "Not measured yet."
    alone = next(r["per second"] for r in results if r["method"] == "optuna random")
    lines = [
        "| sampler | trials | run twice | lost | over the budget | trials a second | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        lines.append(
            f"| {r['method']} | {r['trials']:,} | {r['twice']} | {r['lost']} | {r['over']} "
            f"| {r['per second']:.1f} | {r['per second'] / alone:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="also save the results there as JSON")
    args = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    saved = args.out is not None and args.out.exists()
    results: list[dict] = json.loads(args.out.read_text()) if saved else []
    for method in ("optuna random", "edge"):
        if all(r["method"] != method for r in results):
            results.append(measure(method))
            print(json.dumps(results[-1]), flush=True)
            if args.out is not None:
                args.out.write_text(json.dumps(results, indent=1) + "\n")
    print(section(results))


if __name__ == "__main__":
    main()
