"""Workers under faults: is a trial run twice, lost, unaccounted for or learned wrongly?

    python benchmarks/faults.py                              # one run on each storage
    python benchmarks/faults.py --runs 10 --out benchmarks/results/faults.json

Six workers share a study of 120 trials, 30 of them enqueued. Meanwhile ten of them are killed
(kill -9) and replaced, one is suspended for longer than three heartbeats, and PostgreSQL is
restarted once. The moments are drawn at random. Every process notes what it began and ended, which
is compared with what the study says at the end. Runs that `--out` has already are not repeated.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState
from postgres_server import NoServer, PostgresServer

from becbo.optuna import lost_numbers, open_storage
from becbo.optuna.history import Rules, read_history
from becbo.optuna.spaces import StudySpace
from becbo.optuna.study_data import StudyData
from becbo.optuna.worker import count_trials
from becbo.trial import Outcome

RESULTS = Path(__file__).parent / "results" / "faults.json"
STORAGES = ("sqlite", "journal", "postgresql")
HEARTBEAT = 2
SUSPENDED = 5 * HEARTBEAT  # seconds
DOWN = 2.0  # seconds that the server is away
PATIENCE = 600  # seconds that a run may take

SPACE = StudySpace.of({"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)})

# What can be wrong, and what it means.
WRONGS = {
    "twice": "a trial was begun more than once",
    "lost": "an enqueued design, or a result that a living process computed, is not in the study",
    "unaccounted": "a trial is neither finished nor lost, the budget is missed, or a worker failed",
    "wrong": "the models learn something else than what the objective returns",
}

OBJECTIVE = """
import os, random, time
import becbo

def note(*words):
    with open(f"log-{os.getpid()}", "a") as log:
        print(*words, file=log)

def run(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    note("began", trial.number, repr(x), repr(y))
    time.sleep(random.uniform(0.1, 0.8))
    note("ended", trial.number, repr(x), repr(y))
    if x + y < 0.5:
        raise becbo.Infeasible("too small")
    return x + y
"""


def truth(x: float, y: float) -> float | None:
    """What the objective returns; None: it fails."""
    return None if x + y < 0.5 else x + y


@dataclass
class Plan:
    """The size of a run."""

    workers: int = 6
    trials: int = 120
    enqueued: int = 30
    kills: int = 10


@dataclass
class Campaign:
    """The workers of one run and the faults that they meet."""

    folder: Path
    where: str
    plan: Plan
    running: list[subprocess.Popen] = field(default_factory=list)
    killed: set[int] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)

    def start(self) -> None:
        command = ["worker", "--storage", self.where, "--study", "s", "--objective", "faulty:run"]
        command += ["--trials", str(self.plan.trials), "--heartbeat", str(HEARTBEAT)]
        with (self.folder / "output").open("a") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "becbo", *command, "--method", "sobol"],
                cwd=self.folder,
                stdout=out,
                stderr=out,
            )
        self.running.append(process)

    def kill(self, rng: random.Random) -> None:
        victim = self.choice(rng)
        victim.kill()
        victim.wait()
        self.killed.add(victim.pid)
        self.start()

    def choice(self, rng: random.Random) -> subprocess.Popen:
        """One of the workers that have begun a trial and not ended."""
        log = self.log()
        return rng.choice([p for p in self.running if p.poll() is None and p.pid in log])

    def log(self) -> dict[int, list[list[str]]]:
        """Process -> what it noted, line by line."""
        logs = self.folder.glob("log-*")
        return {
            int(log.name[4:]): [line.split() for line in log.read_text().splitlines()]
            for log in logs
        }

    def progress(self) -> int:
        """How many trials have ended."""
        return sum(line[0] == "ended" for lines in self.log().values() for line in lines)

    def finish(self, deadline: float) -> None:
        for process in self.running:
            try:
                code = process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = "does not end"
            if code != 0 and process.pid not in self.killed:
                self.failed.append(f"worker {process.pid}: {code}")


def run(storage: str, seed: int, plan: Plan) -> dict:
    """One run with its faults, and what went wrong."""
    rng = random.Random(f"{storage}-{seed}")
    begin = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="becbo-faults-")))
        (folder / "faulty.py").write_text(OBJECTIVE)
        server = stack.enter_context(PostgresServer()) if storage == "postgresql" else None
        names = {"sqlite": "study.db", "journal": "study.journal"}
        where = server.new_database() if server else str(folder / names[storage])
        opened = open_storage(where, heartbeat=None)
        study = optuna.create_study(storage=opened, study_name="s")
        designs = [((i + 0.5) / plan.enqueued, rng.random()) for i in range(plan.enqueued)]
        for x, y in designs:
            study.enqueue_trial({"x": x, "y": y})
        campaign = Campaign(folder, where, plan)
        for _ in range(plan.workers):
            campaign.start()
        _provoke(campaign, server, rng, begin + PATIENCE)
        campaign.finish(begin + PATIENCE)
        result = judge(campaign, study, designs)
        if any(result[name] for name in WRONGS):
            print((folder / "output").read_text(), file=sys.stderr)
        if server is not None:
            opened._backend.engine.dispose()
    return {"storage": storage, "seed": seed, **result, "seconds": time.monotonic() - begin}


def _provoke(
    campaign: Campaign, server: PostgresServer | None, rng: random.Random, deadline: float
) -> None:
    """Meets out the faults, each when a share of the trials has ended."""
    plan = campaign.plan
    faults = ["kill"] * plan.kills + ["suspend"] + ["restart"] * (server is not None)
    moments = sorted(
        ((rng.uniform(0.02, 0.85) * plan.trials, fault) for fault in faults), reverse=True
    )
    asleep: list[tuple[float, subprocess.Popen]] = []
    while moments or asleep:
        assert time.monotonic() < deadline, "the workers do not get on"
        if asleep and time.monotonic() >= asleep[0][0]:
            asleep.pop(0)[1].send_signal(signal.SIGCONT)
        if moments and campaign.progress() >= moments[-1][0]:
            _, fault = moments.pop()
            time.sleep(rng.uniform(0.0, 0.3))
            if fault == "kill":
                campaign.kill(rng)
            elif fault == "suspend":
                sleeper = campaign.choice(rng)
                sleeper.send_signal(signal.SIGSTOP)
                asleep.append((time.monotonic() + SUSPENDED, sleeper))
            else:
                server.stop()
                time.sleep(DOWN)
                server.start()
        time.sleep(0.05)


def judge(campaign: Campaign, study: optuna.Study, designs: list[tuple[float, float]]) -> dict:
    """Compares what the processes noted with what the study says."""
    log, data = campaign.log(), StudyData.of(study)
    trials, lost = data.trials, lost_numbers(study)
    began = Counter(int(line[1]) for lines in log.values() for line in lines if line[0] == "began")
    counted = [t for t in trials if t.state.is_finished() and t.number not in lost]
    known = {(t.params["x"], t.params["y"]) for t in counted if len(t.params) == 2}
    computed = {
        (float(line[2]), float(line[3]))
        for pid, lines in log.items()
        # What a process computed last may have died with it.
        for line in (lines[:-1] if pid in campaign.killed else lines)
        if line[0] == "ended"
    }
    history = read_history(data, SPACE, Rules()).trials
    waiting = [t for t in trials if t.state is TrialState.WAITING]
    running = [t.number for t in trials if t.state is TrialState.RUNNING]
    missed = abs(count_trials(study).finished - campaign.plan.trials)
    return {
        "twice": sum(n > 1 for n in began.values()),
        "lost": len((computed | set(designs)) - known),
        "unaccounted": len(waiting)
        + len(running)
        + missed
        + len(campaign.failed)
        + len(began.keys() - {t.number for t in trials}),
        "wrong": sum(_is_wrong(trial) for trial in history),
        "repeats": len(lost),
        "failures": campaign.failed,
    }


def _is_wrong(trial: object) -> bool:
    expected = truth(trial.params["x"], trial.params["y"])
    if trial.outcome is Outcome.FAILED:
        return expected is not None
    return trial.outcome is Outcome.OK and trial.result.value != expected


def section(results: list[dict]) -> str:
    """The section of RESULTS.md."""
    lines = [
        "| storage | runs | run twice | lost | unaccounted | learned wrongly | trials repeated |",
        "|---|---|---|---|---|---|---|",
    ]
    for storage in STORAGES:
        runs = [r for r in results if r["storage"] == storage]
        sums = " | ".join(str(sum(r[name] for r in runs)) for name in (*WRONGS, "repeats"))
        lines.append(f"| {storage} | {len(runs)} | {sums} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--storages", nargs="+", choices=STORAGES, default=STORAGES)
    parser.add_argument("--runs", type=int, default=1, help="on each storage")
    parser.add_argument("--out", type=Path, help="also save the runs there as JSON")
    args = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    saved = args.out is not None and args.out.exists()
    results: list[dict] = json.loads(args.out.read_text()) if saved else []
    done = {(r["storage"], r["seed"]) for r in results}
    for seed in range(args.runs):
        for storage in args.storages:
            if (storage, seed) in done:
                continue
            try:
                results.append(run(storage, seed, Plan()))
            except NoServer as error:
                print(f"{storage}: {error}", file=sys.stderr)
                continue
            print(json.dumps(results[-1]), flush=True)
            if args.out is not None:
                args.out.write_text(json.dumps(results, indent=1) + "\n")
    print(section(results))
    raise SystemExit(any(r[name] for r in results for name in WRONGS))


if __name__ == "__main__":
    main()
