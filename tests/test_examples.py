"""Every example runs as a user would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {"ray_tune.py": ("ray.tune", "ray")}  # a module, and the extra that brings it
# They need a server: tests/web/test_suggest.py and tests/optuna/test_cluster.py run them.
ELSEWHERE = {"grpc_workers.py", "suggest_client.py"}
ARGUMENTS = {
    "edge_picture.py": ["--stages", "4", "12", "--grid", "9", "--out", "picture.png"],
    "bad_luck_picture.py": ["--grid", "9", "--out", "picture.png"],
}


SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.name not in ELSEWHERE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_example(script: Path, tmp_path: Path) -> None:
    if script.name in NEEDS:
        module, extra = NEEDS[script.name]
        pytest.importorskip(
            module, reason=f"{module} is not installed: pip install 'becbo[{extra}]'"
        )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), *ARGUMENTS.get(script.name, [])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if "picture.png" in done.args:
        assert (tmp_path / "picture.png").stat().st_size > 1000
