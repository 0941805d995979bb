"""A matrix product in C: block sizes and compiler flags, some of which do not compile or crash.

The packed blocks of `gemm.c` are on the stack, of which a thread has 512 KB on macOS: large blocks
end in a segmentation fault. Large register blocks and long unrolled loops take the compiler
minutes or gigabytes, and builds have limits.
"""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import optuna

SOURCE = Path(__file__).parent / "gemm.c"
WHAT = "milliseconds of a 480 x 480 product"
NOISY = True  # times are
STACK = 2**19  # bytes, the default of threads on macOS
COMPILER_SECONDS = 3  # of processor time
COMPILER_MEMORY = 2**30  # bytes
RUN_SECONDS = 5


class Failed(Exception):
    """There is no program, or it did not finish."""


def missing() -> str | None:
    """What this showcase needs and does not find."""
    return None if shutil.which("gcc") else "gcc is not installed"


def objective(trial: optuna.Trial) -> float:
    """Milliseconds of the fastest of up to 20 products.

    Raises:
        Failed: it does not compile, crashes, takes too long or returns a wrong product.
    """
    sizes = {
        "MC": trial.suggest_int("MC", 8, 1024, log=True),
        "KC": trial.suggest_int("KC", 8, 1024, log=True),
        "NC": trial.suggest_int("NC", 8, 1024, log=True),
        "MR": trial.suggest_int("MR", 1, 16),
        "NV": trial.suggest_int("NV", 1, 8),
        "VL": trial.suggest_categorical("VL", [2, 4, 8, 16]),
        "UNROLL": trial.suggest_int("UNROLL", 1, 32, log=True),
    }
    level = trial.suggest_categorical("level", ["-O1", "-O2", "-O3"])
    cpu = trial.suggest_categorical("cpu", ["x86-64-v3", "native"])
    flags = ["-std=gnu11", "-w", level, f"-march={cpu}"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "gemm"
        defines = [f"-D{name}={size}" for name, size in sizes.items()]
        _compile([*flags, *defines], program)
        return 1000 * _run(program)


def _compile(arguments: list[str], program: Path) -> None:
    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (COMPILER_SECONDS, COMPILER_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (COMPILER_MEMORY, COMPILER_MEMORY))

    command = ["gcc", *arguments, str(SOURCE), "-o", str(program), "-lm"]
    done = subprocess.run(command, preexec_fn=limits, capture_output=True)
    if done.returncode:
        raise Failed("it does not compile within the limits")


def _run(program: Path) -> float:
    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))
        resource.setrlimit(resource.RLIMIT_CPU, (RUN_SECONDS, RUN_SECONDS + 1))

    done = subprocess.run([str(program)], preexec_fn=limits, capture_output=True)
    if done.returncode < 0:
        raise Failed(signal.strsignal(-done.returncode) or "a signal")
    if done.returncode:
        raise Failed("wrong product")
    return float(done.stdout)
