"""An objective that runs a separate program and knows a bad design from a bad machine.

Workers run it: see slurm_array.sh and kubernetes_job.yaml beside this file.
"""

import os
import subprocess
import sys

import becbo
from becbo.optuna import exit_outcome, mark_lost

# A stand-in for a real solver: it crashes where the wing is too thin for its load.
SOLVER = """
import os, sys
load, thickness = map(float, sys.argv[1:])
if load > 40 * thickness:
    os.abort()
print(load - 5 * thickness)
"""


def run(trial):
    load = trial.suggest_float("load", 0, 100)
    thickness = trial.suggest_float("thickness", 0.5, 5)
    command = [sys.executable, "-c", SOLVER, str(load), str(thickness)]
    if "SLURM_JOB_ID" in os.environ:  # a step with limits of its own, beside the worker
        command = ["srun", "--exclusive", "--ntasks=1", "--mem=4G", "--time=60", *command]
    done = subprocess.run(command, capture_output=True, text=True)
    outcome = exit_outcome(done.returncode, state_of(done.stderr))
    if outcome is becbo.Outcome.LOST:
        mark_lost(trial, f"exit code {done.returncode}")  # the design is offered again
        return None
    if outcome is becbo.Outcome.FAILED:
        raise becbo.Infeasible(f"exit code {done.returncode}")
    return float(done.stdout)


def state_of(stderr):
    """What srun says about a step that it ended."""
    words = {
        "oom_kill": "OUT_OF_MEMORY",
        "DUE TO TIME LIMIT": "TIMEOUT",
        "DUE TO PREEMPTION": "PREEMPTED",
        "DUE TO NODE FAILURE": "NODE_FAIL",
    }
    return next((state for word, state in words.items() if word in stderr), "")
