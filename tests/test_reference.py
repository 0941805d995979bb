"""The reference on the site has every public name, and names that exist."""

import importlib
import re
from pathlib import Path

import pytest

import becbo

PAGES = Path(__file__).parents[1] / "docs" / "reference"
NAMES = [
    name
    for page in PAGES.glob("*.md")
    for name in re.findall(r"^::: (\S+)$", page.read_text(), re.M)
]


@pytest.mark.parametrize("name", NAMES)
def test_it_exists_and_is_described(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    if module == "becbo.botorch":
        pytest.importorskip("botorch")
    assert getattr(importlib.import_module(module), attribute).__doc__


def test_every_public_name_is_there() -> None:
    documented = {name.rpartition(".")[2] for name in NAMES}
    assert set(becbo.__all__) - documented == {"__version__"}


def test_every_name_of_the_optuna_package_is_there() -> None:
    optuna = importlib.import_module("becbo.optuna")
    assert set(optuna.__all__) <= {name.rpartition(".")[2] for name in NAMES}
