"""Import time, memory and the processor time of `becbo suggest`, each in fresh interpreters.

python benchmarks/footprint.py
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from becbo.campaign.describing import read_description

EXAMPLES = Path(__file__).parents[1] / "examples"
RESULTS = Path(__file__).parent / "results" / "footprint.json"

IMPORT = "import time; t = time.perf_counter(); {what}; print(time.perf_counter() - t)"
RUN = """
import resource, becbo
from becbo.problems import get
problem = get("speed_reducer")
becbo.minimize(problem, problem.space, budget=200, seed=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def environment(compiled: str) -> dict[str, str]:
    """That of a user: modules are compiled, as pip leaves them, here in a folder of their own."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": compiled}


def fresh(code: str, env: dict[str, str]) -> float:
    """The number that `code` prints in a new interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    return float(done.stdout)


def suggest_seconds(example: str, n: int, env: dict[str, str]) -> float:
    """Processor time of `becbo suggest` with its start-up, after n recorded runs."""
    with TemporaryDirectory() as folder:
        place = ["-f", str(Path(folder) / "lab.db")]
        becbo(env, "new", str(EXAMPLES / example), *place)
        if n:
            table = Path(folder) / "runs.csv"
            write_runs(EXAMPLES / example, n, table)
            becbo(env, "import", str(table), *place)
        becbo(env, "check", *place)  # the first start compiles modules
        return median(becbo(env, "suggest", *place) for _ in range(4))


def write_runs(example: Path, n: int, table: Path) -> None:
    """A table of random designs, a third of which fail."""
    description = read_description(example)
    space, outputs = description.space, description.outputs.names
    X = space.snap(np.random.default_rng(0).random((n, space.dim)))
    with table.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*space.names, *outputs])
        for i, (x, params) in enumerate(zip(X, space.decode(X), strict=True)):
            values = [np.sin((j + 2) * x).sum() for j in range(len(outputs))]
            out.writerow([*params.values(), *(values if i % 3 else ["failed"])])


def becbo(env: dict[str, str], *words: str) -> float:
    """Runs a command; returns its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "becbo", *words]
    subprocess.run(command, capture_output=True, check=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    what = {"import_seconds": "import becbo", "optimizer_seconds": "import becbo; becbo.Optimizer"}
    with TemporaryDirectory() as compiled:
        env = environment(compiled)
        result = {
            key: median(fresh(IMPORT.format(what=line), env) for _ in range(9))
            for key, line in what.items()
        }
        result["memory"] = fresh(RUN, env)
        for example in ("coating", "adhesive"):
            for n in (0, 150):
                seconds = suggest_seconds(f"{example}.yaml", n, env)
                result[f"suggest_seconds_{example}_{n}"] = seconds
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(result)


if __name__ == "__main__":
    main()
