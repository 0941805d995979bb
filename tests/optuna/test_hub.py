"""The package for OptunaHub has the registry's form, and loads."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import optuna
import pytest

from becbo import Settings
from becbo.optuna import BECBOSampler

ROOT = Path(__file__).parents[2]
REGISTRY = ROOT / "contrib" / "optunahub" / "package"
PACKAGE = REGISTRY / "samplers" / "becbo"


def load() -> type[BECBOSampler]:
    optunahub = pytest.importorskip("optunahub", reason="optunahub is not installed")
    module = optunahub.load_local_module("samplers/becbo", registry_root=str(REGISTRY))
    return module.BECBOSampler


def test_the_package_loads_and_proposes() -> None:
    study = optuna.create_study(sampler=load()(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    assert load() is BECBOSampler


def test_the_files_that_the_registry_asks_for() -> None:
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    expected = {"__init__.py", "sampler.py", "README.md", "LICENSE", "example.py"}
    assert files == expected | {"requirements.txt"}
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_front_matter_and_sections_of_the_readme() -> None:
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    _, front, text = readme.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.strip().splitlines())
    assert list(fields) == [
        "author",
        "title",
        "description",
        "tags",
        "optuna_versions",
        "license",
    ]
    assert fields["license"] == "MIT License"
    assert fields["tags"].startswith("[sampler, ")
    assert fields["optuna_versions"] == f"[{optuna.__version__}]"
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    for section in ("Abstract", "Class or Function Names", "Installation", "Example"):
        assert section in sections


@pytest.mark.parametrize("name", ["README.md", "example.py"])
def test_the_example_is_python_and_loads_this_package(name: str) -> None:
    text = (PACKAGE / name).read_text(encoding="utf-8")
    code = text if name.endswith(".py") else re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    ast.parse(code)
    assert 'load_module(package="samplers/becbo").BECBOSampler(seed=0)' in code


def test_the_readme_knows_every_option() -> None:
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    settings = {field.name: field.default for field in fields(Settings)}
    options = BECBOSampler.__init__.__kwdefaults__ | settings
    signature = ", ".join(f"{name}={value!r}" for name, value in options.items())
    assert f"BECBOSampler(*, {signature})".replace("'", '"') in readme
    assert [name for name in options if f"  - `{name}`: " not in readme] == []
