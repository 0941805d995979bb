"""What `import becbo` offers, and what it costs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import becbo

ROOT = Path(__file__).parents[1]
NAMES = {
    "Advice",
    "BecboError",
    "Forecast",
    "Outlook",
    "Stop",
    "Campaign",
    "Categorical",
    "Estimate",
    "Failures",
    "Infeasible",
    "Integer",
    "InvalidInput",
    "Limit",
    "LinearConstraint",
    "METHODS",
    "MinimizeResult",
    "Objective",
    "Optimizer",
    "Outcome",
    "Prediction",
    "Real",
    "Recorded",
    "Result",
    "Settings",
    "Space",
    "Trial",
    "__version__",
    "minimize",
}
SLOW = {"torch", "matplotlib", "optuna", "typer", "pandas", "sklearn", "scipy.stats"}
FOR_RESEARCH = {"becbo.bench", "becbo.problems", "becbo.plots"}


def test_public_names() -> None:
    assert set(becbo.__all__) == NAMES
    assert all(getattr(becbo, name) is not None for name in NAMES)


def test_one_version_everywhere() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "becbo.__version__"}
    assert f"version: {becbo.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_one_address_of_the_paper() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f'url: "{project["urls"]["Paper"]}"\n' in (ROOT / "CITATION.cff").read_text()


def test_import_is_light() -> None:
    # Every public name, so that a name which is looked up late counts too; but a campaign is an
    # Optuna study.
    names = ", ".join(sorted(NAMES - {"Campaign"}))
    code = f"import sys; from becbo import {names}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert (SLOW | FOR_RESEARCH).isdisjoint(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import becbo.optuna, becbo.scipy, becbo.frames",
        "import becbo.campaign.campaign, becbo.tables, becbo.report, becbo.web.app",
        "import becbo.cli.campaign_commands, becbo.cli.run_commands, becbo.cli.worker",
    ],
)
def test_benchmarks_are_not_in_the_way(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert {"becbo.bench", "becbo.problems"}.isdisjoint(done.stdout.split())
