"""A package that is not installed is named together with the command that installs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from becbo.extras import EXTRAS, MissingExtra, needed_extras

ROOT = Path(__file__).parents[1]


def without(*packages: str) -> str:
    """Code that makes packages look as if they were not installed."""
    return f"import sys; sys.modules.update(dict.fromkeys({packages!r}));"


@pytest.mark.parametrize(
    ("package", "code", "extra"),
    [
        ("optuna", "import becbo.optuna", "optuna"),
        ("optuna", "from becbo import Campaign", "optuna"),
        ("rich", "import becbo; becbo.minimize(abs, S([R('x', 0, 1)]), progress=True)", "lab"),
        ("typer", "import becbo.__main__ as m; m.main()", "lab"),
    ],
)
def test_one_sentence_with_the_command(package: str, code: str, extra: str) -> None:
    program = f"{without(package)} from becbo import Real as R, Space as S; {code}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert f"this needs {package}, which is not installed: pip install 'becbo[{extra}]'" in last


def test_other_missing_modules_are_bugs() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), needed_extras():
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401


def test_it_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="becbo"), needed_extras():
        raise MissingExtra("becbo")


def test_every_extra_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])
