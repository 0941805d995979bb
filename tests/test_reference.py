"""The reference on the site is complete: every public name with arguments, results and an example.

What a page shows of a class is in its `members` option; nothing else is public.
"""

import ast
import dataclasses
import doctest
import importlib
import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import becbo
import becbo.tables

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"^::: (\S+)\n(?:    options:\n      members: (.*)\n)?", re.MULTILINE)
ENTRIES = {
    name: members
    for page in sorted((ROOT / "docs" / "reference").glob("*.md"))
    for name, members in ENTRY.findall(page.read_text())
}


def target(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    if module == "becbo.botorch":
        pytest.importorskip("botorch", reason="BoTorch is not installed")
    return getattr(importlib.import_module(module), attribute)


def methods(cls: type, shown: str) -> Iterator[Callable[..., Any]]:
    """The methods of a class that its page shows."""
    for name, member in vars(cls).items():
        member = getattr(member, "__func__", member)  # of a class method
        if not inspect.isfunction(member) or name.startswith("_"):
            continue
        if not shown or (shown != "false" and name in re.findall(r"\w+", shown)):
            yield member


def section(title: str, described: Any) -> str:
    """The lines of a section of a docstring."""
    found = re.search(rf"^{title}:\n((?:[ ]+.*\n|\n)+)", f"{inspect.getdoc(described)}\n", re.M)
    return found[1] if found else ""


def arguments(described: Any) -> list[str]:
    if inspect.isclass(described):
        if dataclasses.is_dataclass(described):
            return [field.name for field in dataclasses.fields(described)]
        if "__init__" not in vars(described):  # an enumeration, an exception, an abstract class
            return []
    return [name for name in inspect.signature(described).parameters if name not in ("self", "cls")]


def raises(function: Callable[..., Any]) -> bool:
    body = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Raise) and node.exc for node in ast.walk(body))


def missing(described: Any) -> list[str]:
    """What the docstring of a class or function lacks."""
    told = section("Args", described) + section("Attributes", described)
    lacks = [
        name
        for name in arguments(described)
        if not re.search(rf"^    \**{name}:", told, re.MULTILINE)
    ]
    if inspect.isfunction(described):
        returned = inspect.signature(described).return_annotation
        if arguments(described) and returned != "None" and not section("Returns", described):
            lacks.append("Returns")
        if raises(described) and not section("Raises", described):
            lacks.append("Raises")
    return lacks


@pytest.mark.parametrize("name", ENTRIES)
def test_it_is_described(name: str) -> None:
    described = target(name)
    assert described.__doc__
    if callable(described):
        assert missing(described) == []
    if inspect.isclass(described):
        lacking = {m.__name__: missing(m) for m in methods(described, ENTRIES[name])}
        assert {name: lacks for name, lacks in lacking.items() if lacks} == {}


def test_every_public_name_is_there() -> None:
    documented = {name.rpartition(".")[2] for name in ENTRIES}
    assert set(becbo.__all__) - documented == {"__version__"}


def test_every_name_of_the_optuna_package_is_there() -> None:
    optuna = importlib.import_module("becbo.optuna")
    assert set(optuna.__all__) <= {name.rpartition(".")[2] for name in ENTRIES}


class Lenient(doctest.OutputChecker):
    """An example that shows no output may print."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


def surroundings(name: str) -> dict[str, Any]:
    """What examples take as given: names to import, an optimizer, a study, a campaign."""
    import optuna
    import pandas

    import becbo.optuna as ours

    names = {n: getattr(becbo, n) for n in becbo.__all__} | {
        n: getattr(ours, n) for n in ours.__all__
    }
    space = becbo.Space([becbo.Real("x", 0, 1)])
    optimizer = becbo.Optimizer(space, seed=0, n_initial=2)
    for x in (0.1, 0.4, 0.8):
        optimizer.add({"x": x}, x**2)

    def objective(trial: optuna.Trial) -> float:
        return trial.suggest_float("x", 0, 1) ** 2

    study = optuna.create_study(sampler=ours.BECBOSampler(seed=0))
    study.optimize(objective, n_trials=2)
    given = {"space": space, "optimizer": optimizer, "study": study, "objective": objective}
    given |= {"run": lambda params: params["x"] ** 2, "optuna": optuna, "pandas": pandas}
    if name.startswith(("becbo.campaign", "becbo.tables", "becbo.report")):
        shutil.copy(ROOT / "examples" / "coating.yaml", "coating.yaml")
        given["campaign"] = becbo.Campaign.create("coating.yaml", "given.db")
        given["campaign"].suggest()
        becbo.tables.export_table(given["campaign"], "old.csv")
    described = target(name)
    return names | given | {described.__name__: described}


@pytest.mark.parametrize("name", [name for name in ENTRIES if name != "becbo.methods.METHODS"])
@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(target(name))
    assert section("Examples", target(name))
    if name == "becbo.botorch.Feasibility":
        return  # it needs a model of BoTorch: tests/test_botorch.py has one
    test = doctest.DocTestParser().get_doctest(text, surroundings(name), name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(Lenient(), verbose=False).run(test, out=report.append)
    assert not report, "".join(report)
