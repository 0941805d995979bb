"""Runs before any test imports numpy."""

import os

# One thread per process: the test workers already use every core.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
