"""Builds wheel and sdist, checks them, and goes the way of a new user in empty environments.

The way leads from the README to a function that fails, a study of Optuna, a lab campaign and a
notebook, each with the extra that it needs and no other.

python tools/package.py            # all extras; needs the packages build and twine
python tools/package.py optuna lab
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
OWN_FUNCTION = "\n".join(program for program in PROGRAMS if "optuna" not in program)
STUDY = "\n".join(program for program in PROGRAMS if "optuna" in program)
COMMANDS = re.findall(r"^\$ (becbo .*)$", README, re.MULTILINE)
WITHOUT_OPTUNA = """
try:
    import becbo.optuna
except ImportError as error:
    assert "pip install 'becbo[optuna]'" in str(error), error
else:
    raise AssertionError("Optuna is here")
"""
FRAMES = """
import pandas
from becbo import Optimizer, Real, Space
frame = pandas.DataFrame({"x": [0.2, 0.9], "value": [3.2, None]})
optimizer = Optimizer.from_frame(Space([Real("x", 0, 1)]), "minimize", frame)
assert len(optimizer.to_frame()) == 2
"""
LARGE = "import becbo.botorch, becbo.optuna.ray, distributed"

Step = Sequence[str]


def python(code: str) -> Step:
    """A step that runs a program."""
    return ("python", "-W", "error::DeprecationWarning:becbo", "-c", code)


# Extras -> what a user would do first, in a folder with the examples and the notebooks: what the
# README says, and a little more.
STEPS: dict[str, list[Step]] = {
    "": [
        python(OWN_FUNCTION + "assert result.best and 0 < result.n_failed < 40"),
        python(WITHOUT_OPTUNA),
    ],
    "optuna": [python(STUDY + "assert study.best_value < -0.9, study.best_value")],
    "lab": [
        *(tuple(shlex.split(command, comments=True)) for command in COMMANDS),
        ("becbo", "status"),
        ("becbo", "export", "runs.xlsx"),
    ],
    "bench": [
        ("python", "-m", "pip", "install", "-qq", "nbclient", "ipykernel"),
        ("jupyter", "execute", "notebooks/first-steps.ipynb"),
        ("becbo", "demo", "--evaluations", "12"),
        ("becbo", "bench", "run", "--problems", "lsq", "--methods", "edge", "--budget", "12",
         "--out", "records"),
        ("becbo", "bench", "table", "records"),
    ],
    "all,botorch,dask,ray": [python(STUDY), python(FRAMES), python(LARGE)],
}  # fmt: skip


def main(wanted: Sequence[str]) -> None:
    """Builds the package and tries the extras that are wanted, or all."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = _build(Path(folder) / "dist")
        for extra in wanted or STEPS:
            begin = time.perf_counter()
            _try(wheel, extra, Path(folder))
            print(f"becbo[{extra}]: fine, {time.perf_counter() - begin:.0f} s", flush=True)


def _build(dist: Path) -> Path:
    _run(sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT))
    files = sorted(map(str, dist.iterdir()))
    _run(sys.executable, "-m", "twine", "check", "--strict", *files)
    wheel = next(dist.glob("*.whl"))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, twine check passed", flush=True)
    return wheel


def _try(wheel: Path, extra: str, folder: Path) -> None:
    """Installs the wheel with an extra into an empty environment and runs its steps."""
    home = folder / f"env-{extra or 'core'}"
    venv.create(home, with_pip=True)
    bin_folder = home / ("Scripts" if os.name == "nt" else "bin")
    requirement = f"becbo[{extra}] @ {wheel.as_uri()}"
    pip = (str(bin_folder / "python"), "-m", "pip", "install", "-qq")
    _run(*pip, "--disable-pip-version-check", "-c", str(CONSTRAINTS), requirement)
    place = home / "work"
    shutil.copytree(ROOT / "examples", place / "examples")
    shutil.copytree(ROOT / "docs" / "notebooks", place / "notebooks")
    for program, *arguments in STEPS[extra]:
        _run(str(bin_folder / program), *arguments, cwd=place)
    shutil.rmtree(home)


def _run(*command: str, cwd: Path | None = None) -> None:
    """Runs a command in silence; shows what it printed if it fails."""
    unset = {"PYTHONPATH", "BECBO_FILE"}
    env = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
