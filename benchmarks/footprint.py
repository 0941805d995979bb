"""Import time and memory, each in fresh interpreters.

python benchmarks/footprint.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).parent / "results" / "footprint.json"

IMPORT = "import time; t = time.perf_counter(); {what}; print(time.perf_counter() - t)"
RUN = """
import resource, becbo
from becbo.problems import get
problem = get("speed_reducer")
becbo.minimize(problem, problem.space, budget=200, seed=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def fresh(code: str) -> float:
    """The number that `code` prints in a new interpreter."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    return float(done.stdout)


def main() -> None:
    what = {"import_seconds": "import becbo", "optimizer_seconds": "import becbo; becbo.Optimizer"}
    result = {
        key: median(fresh(IMPORT.format(what=line)) for _ in range(9)) for key, line in what.items()
    }
    result["memory"] = fresh(RUN)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(result)


if __name__ == "__main__":
    main()
