"""Which part of becbo may import which: the table of docs/architecture.md, checked."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"

# Part -> what it may import besides the standard library. A part is a module of becbo or a
# package with all its modules; the most specific part counts, and so does the most specific
# permission. "becbo" alone stands for the public names.
TABLE: dict[str, set[str]] = {
    "becbo": {
        "importlib",
        "becbo.campaign.campaign",
        "becbo.errors",
        "becbo.outlook",
        "becbo.failures",
        "becbo.outputs",
        "becbo.settings",
        "becbo.space",
        "becbo.trial",
        "becbo.loop",
        "becbo.methods",
        "becbo.optimizer",
    },
    # What an experiment is: recording one imports nothing of the engine.
    "becbo.errors": set(),
    "becbo.extras": {"becbo.errors"},
    "becbo.files": {"becbo.errors"},
    "becbo.__main__": {"becbo.cli", "becbo.extras"},
    "becbo.arrays": {"numpy"},
    "becbo.wording": set(),
    "becbo.checks": {"numpy", "becbo.errors"},
    "becbo.outputs": {"becbo.errors", "becbo.checks"},
    "becbo.failures": {"becbo.checks", "becbo.errors"},
    "becbo.reasons": {"becbo.errors"},
    "becbo.trial": {"becbo.errors", "becbo.reasons"},
    # A method may be a proposer of the user's own: for the type checker alone.
    "becbo.settings": {
        "numpy",
        "becbo.errors",
        "becbo.checks",
        "becbo.failures",
        "becbo.proposers.base",
    },
    "becbo.parameters": {"becbo.arrays", "numpy", "becbo.checks", "becbo.errors"},
    "becbo.mixtures": {"becbo.arrays", "numpy", "becbo.errors", "becbo.parameters"},
    "becbo.space": {
        "becbo.arrays",
        "numpy",
        "becbo.errors",
        "becbo.mixtures",
        "becbo.parameters",
    },
    "becbo.data": {
        "becbo.arrays",
        "numpy",
        "becbo.space",
        "becbo.outputs",
        "becbo.reasons",
        "becbo.trial",
    },
    "becbo.pareto": {"becbo.arrays", "numpy"},
    "becbo.front": {"numpy", "becbo.outputs", "becbo.pareto", "becbo.trial"},
    # Arrays only: a model knows neither spaces nor trials.
    "becbo.surrogates": {"becbo.arrays", "numpy", "scipy", "becbo.errors", "becbo.surrogates"},
    "becbo.surrogates.base": {"becbo.arrays", "numpy", "scipy"},
    "becbo.surrogates.svm": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "sklearn",
        "becbo.surrogates",
    },
    "becbo.models": {
        "becbo.pareto",
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.outputs",
        "becbo.trial",
        "becbo.data",
        "becbo.surrogates",
        "becbo.models",
    },
    "becbo.acquisition": {"becbo.arrays", "numpy", "scipy", "becbo.surrogates.base"},
    "becbo.band": {"becbo.arrays", "numpy", "scipy", "becbo.errors", "becbo.surrogates.base"},
    "becbo.care": {"becbo.arrays", "numpy", "scipy", "becbo.data"},
    "becbo.improvement": {
        "becbo.arrays",
        "numpy",
        "becbo.outputs",
        "becbo.data",
        "becbo.pareto",
        "becbo.surrogates",
        "becbo.models.base",
        "becbo.acquisition",
    },
    # It receives callables and an index of kinds: no model, no space.
    "becbo.search": {"becbo.arrays", "numpy", "scipy", "becbo.errors", "becbo.search"},
    # Not each other: only methods knows them all.
    "becbo.proposers": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.errors",
        "becbo.failures",
        "becbo.space",
        "becbo.outputs",
        "becbo.trial",
        "becbo.data",
        "becbo.pareto",
        "becbo.surrogates",
        "becbo.models",
        "becbo.acquisition",
        "becbo.band",
        "becbo.care",
        "becbo.improvement",
        "becbo.search",
        "becbo.proposers.base",
    },
    "becbo.methods": {
        "becbo.errors",
        "becbo.failures",
        "becbo.outputs",
        "becbo.settings",
        "becbo.surrogates",
        "becbo.models.feasibility",
        "becbo.acquisition",
        "becbo.band",
        "becbo.improvement",
        "becbo.search",
        "becbo.proposers",
    },
    "becbo.frames": {
        "pandas",
        "becbo.errors",
        "becbo.outputs",
        "becbo.space",
        "becbo.trial",
    },
    "becbo.outlook": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.errors",
        "becbo.checks",
        "becbo.data",
        "becbo.pareto",
        "becbo.models.base",
        "becbo.outputs",
        "becbo.acquisition",
        "becbo.improvement",
        "becbo.wording",
    },
    "becbo.optimizer": {
        "becbo.outlook",
        "pandas",  # for the type checker alone
        "becbo.frames",
        "becbo.arrays",
        "numpy",
        "becbo.errors",
        "becbo.checks",
        "becbo.outputs",
        "becbo.settings",
        "becbo.space",
        "becbo.trial",
        "becbo.data",
        "becbo.front",
        "becbo.models.base",
        "becbo.search.candidates",
        "becbo.search.choice",
        "becbo.search.goal",
        "becbo.proposers.base",
        "becbo.methods",
        "becbo.threads",
    },
    "becbo.loop": {
        "becbo.outlook",
        "becbo.errors",
        "becbo.checks",
        "becbo.outputs",
        "becbo.reasons",
        "becbo.space",
        "becbo.trial",
        "becbo.search.choice",
        "becbo.optimizer",
        "becbo.progress",
    },
    "becbo.scipy": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.errors",
        "becbo.loop",
        "becbo.optimizer",
        "becbo.space",
        "becbo.trial",
    },
    "becbo.botorch": {
        "botorch",
        "numpy",
        "scipy",
        "torch",
        "becbo.errors",
        "becbo.optimizer",
        "becbo.surrogates.base",
    },
    "becbo.optuna": {
        "importlib",  # of its public names, when they are used
        "becbo.outlook",
        "becbo.arrays",
        "numpy",
        "optuna",
        "becbo.checks",
        "becbo.errors",
        "becbo.front",
        "becbo.outputs",
        "becbo.reasons",
        "becbo.settings",
        "becbo.space",
        "becbo.trial",
        "becbo.methods",
        "becbo.search.choice",
        "becbo.optimizer",
        "becbo.optuna",
    },
    "becbo.optuna.bulk": {"optuna", "sqlalchemy"},
    "becbo.optuna.storage": {"optuna", "sqlalchemy", "becbo.errors", "becbo.optuna"},
    "becbo.optuna.locks": {"optuna", "sqlalchemy", "becbo.errors"},
    "becbo.optuna.breakage": {"optuna", "sqlalchemy", "becbo.errors", "becbo.optuna.internals"},
    "becbo.optuna.databases": {"optuna", "sqlalchemy", "becbo.optuna"},
    "becbo.optuna.internals": {"optuna", "sqlalchemy", "becbo.errors"},
    "becbo.optuna.upkeep": {"becbo.errors", "becbo.optuna.storage"},
    "becbo.optuna.ray": {
        "optuna",
        "ray",
        "becbo.checks",
        "becbo.errors",
        "becbo.outputs",
        "becbo.reasons",
        "becbo.optuna",
    },
    "becbo.campaign": {
        "becbo.arrays",
        "numpy",
        "optuna",
        "becbo.errors",
        "becbo.checks",
        "becbo.outputs",
        "becbo.reasons",
        "becbo.space",
        "becbo.trial",
        "becbo.settings",
        "becbo.front",
        "becbo.optimizer",
        "becbo.optuna",
        "becbo.campaign",
    },
    "becbo.campaign.notation": {"yaml", "becbo.campaign.bounds"},
    "becbo.campaign.formatting": {"becbo.outputs", "becbo.trial", "becbo.wording"},
    "becbo.tables": {
        "numpy",
        "becbo.errors",
        "becbo.outputs",
        "becbo.reasons",
        "becbo.space",
        "becbo.trial",
        "becbo.campaign",
        "becbo.tables",
    },
    "becbo.tables.files": {"openpyxl", "becbo.errors"},
    "becbo.insight": {
        "becbo.errors",
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.mixtures",
        "becbo.outputs",
        "becbo.space",
        "becbo.trial",
        "becbo.threads",
        "becbo.pareto",
        "becbo.front",
        "becbo.data",
        "becbo.improvement",
        "becbo.outlook",
        "becbo.models.base",
        "becbo.models.optimism",
        "becbo.models.values",
        "becbo.search.choice",
        "becbo.optimizer",
        "becbo.optuna",
        "becbo.campaign",
        "becbo.insight",
    },
    "becbo.report": {
        "jinja2",
        "plotly",
        "becbo.errors",
        "becbo.space",
        "becbo.trial",
        "becbo.front",
        "becbo.outlook",
        "becbo.outputs",
        "becbo.arrays",
        "numpy",
        "becbo.plots.interactive",
        "becbo.plots.maps",
        "becbo.plots.outputs",
        "becbo.plots.triangles",
        "becbo.campaign",
        "becbo.insight",
        "becbo.report",
    },
    "becbo.report.dashboard": {
        "optuna",
        "optuna_dashboard",
        "becbo.errors",
        "becbo.outputs",
        "becbo.space",
        "becbo.optuna",
        "becbo.campaign",
        "becbo.insight",
        "becbo.report.figures",
    },
    "becbo.threads": {"threadpoolctl"},
    "becbo.progress": {"rich", "becbo.optimizer", "becbo.trial"},
    "becbo.problems": {"becbo.arrays", "numpy", "becbo.errors", "becbo.space", "becbo.problems"},
    "becbo.bench": {"becbo.arrays", "numpy", "becbo.errors", "becbo.problems", "becbo.bench"},
    "becbo.bench.experiment": {
        "numpy",
        "becbo.optimizer",
        "becbo.outputs",
        "becbo.problems",
        "becbo.trial",
    },
    "becbo.bench.plan": {
        "becbo.bench.experiment",
        "becbo.errors",
        "becbo.methods",
        "becbo.outputs",
        "becbo.problems",
        "becbo.proposers",
        "becbo.settings",
    },
    "becbo.bench.summary": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.pareto",
        "becbo.problems",
        "becbo.bench",
    },
    "becbo.bench.run": {
        "importlib",
        "joblib",  # these three when a run begins
        "distributed",
        "ray",
        "numpy",
        "becbo",
        "becbo.errors",
        "becbo.problems",
        "becbo.proposers",
        "becbo.search.sobol",
        "becbo.threads",
        "becbo.bench",
    },
    "becbo.bench.starts": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.errors",
        "becbo.problems",
    },
    "becbo.bench.replay": {
        "becbo.arrays",
        "numpy",
        "becbo.data",
        "becbo.models.base",
        "becbo.outputs",
        "becbo.problems",
        "becbo.proposers",
        "becbo.threads",
        "becbo.trial",
        "becbo.plots",
        "becbo.bench",
    },
    "becbo.bench.accuracy": {
        "becbo.arrays",
        "becbo.errors",
        "numpy",
        "becbo.problems",
        "becbo.surrogates.base",
        "becbo.threads",
        "becbo.plots",
        "becbo.bench",
    },
    "becbo.bench.cases": {"becbo.arrays", "numpy", "becbo.problems", "becbo.plots", "becbo.bench"},
    "becbo.bench.boundary_table": {
        "becbo.arrays",
        "numpy",
        "scipy",
        "becbo.problems",
        "becbo.bench",
    },
    "becbo.bench.pictures": {"matplotlib", "becbo.problems", "becbo.plots", "becbo.bench"},
    "becbo.bench.report": {
        "becbo.arrays",
        "numpy",
        "matplotlib",
        "becbo.errors",
        "becbo.problems",
        "becbo.plots",
        "becbo.bench",
    },
    "becbo.plots": {"becbo.arrays", "numpy", "matplotlib", "becbo.plots"},
    "becbo.plots.interactive": {"plotly"},
    "becbo.plots.maps": {"becbo.arrays", "numpy", "plotly", "becbo.plots.interactive"},
    "becbo.plots.outputs": {"plotly", "becbo.plots.interactive"},
    "becbo.plots.triangles": {
        "becbo.arrays",
        "numpy",
        "plotly",
        "becbo.plots.interactive",
        "becbo.plots.maps",
    },
    "becbo.web": {
        "fastapi",
        "starlette",
        "becbo.errors",
        "becbo.outlook",
        "becbo.outputs",
        "becbo.trial",
        "becbo.campaign",
        "becbo.tables",
        "becbo.report",
        "becbo.optuna.breakage",
        "becbo.optuna.storage",
        "becbo.web",
    },
    "becbo.web.app": {
        "fastapi",
        "starlette",
        "becbo.errors",
        "becbo.campaign",
        "becbo.optuna.breakage",
        "becbo.tables",
        "becbo.web",
    },
    "becbo.web.registry": {
        "optuna",
        "becbo.campaign",
        "becbo.optuna.internals",
        "becbo.optuna.storage",
    },
    "becbo.web.description_form": {
        "becbo.errors",
        "becbo.outputs",
        "becbo.space",
        "becbo.campaign",
        "becbo.tables",
    },
    "becbo.web.forms": {
        "becbo.errors",
        "becbo.outlook",
        "becbo.outputs",
        "becbo.trial",
        "becbo.campaign",
        "becbo.tables",
    },
    "becbo.web.render": {
        "jinja2",
        "starlette",
        "becbo.trial",
        "becbo.campaign",
        "becbo.report.html",
        "becbo.web",
    },
    "becbo.web.schemas": {
        "pydantic",
        "becbo.campaign",
        "becbo.failures",
        "becbo.tables",
        "becbo.web",
    },
    "becbo.web.connections": {"starlette", "uvicorn"},
    "becbo.web.logs": set(),
    "becbo.web.security": {"starlette"},
    "becbo.web.tokens": {"becbo.errors"},
    # Designs for a history that the caller keeps need no campaign.
    "becbo.web.tasks": {
        "becbo.errors",
        "becbo.trial",
        "becbo.optimizer",
        "becbo.outlook",
        "becbo.campaign",
        "becbo.insight",
        "becbo.report",
    },
    # Public parts only.
    "becbo.cli": {
        "rich",
        "typer",
        "becbo",
        "becbo.errors",
        "becbo.failures",
        "becbo.problems",
        "becbo.plots",
        "becbo.progress",
        "becbo.outputs",
        "becbo.settings",
        "becbo.bench",
        "becbo.optuna",
        "becbo.campaign",
        "becbo.tables",
        "becbo.insight",
        "becbo.report",
        "becbo.cli",
    },
    "becbo.cli.serve": {
        "becbo.cli.options",
        "optuna",
        "rich",
        "typer",
        "becbo.errors",
        "becbo.optuna.storage",
        "becbo.web",
    },
    "becbo.cli.worker": {
        "importlib",  # the objective is named on the command line
        "optuna",
        "rich",
        "typer",
        "becbo.errors",
        "becbo.failures",
        "becbo.optuna",
        "becbo.outlook",
        "becbo.outputs",
        "becbo.settings",
        "becbo.trial",
        "becbo.cli.common",
    },
}

# Every part may say which extra brings a package that is missing.
EVERYWHERE = {"becbo.extras", "becbo.files"}

# Private names of Optuna, which only two files may use.
PRIVATE = re.compile(
    r"\._storage\b|\._trial_id\b|\._study_id\b|_thread_local|[\"'.]_study\b(?!\()|optuna\.\S*\._"
)
ADAPTERS = ("becbo.optuna.internals", "becbo.optuna.bulk")

# Slow to import, so only inside the functions that need them.
LATE = ("scipy.stats", "sklearn")


def sources() -> dict[str, str]:
    """Module name -> source; a package is named after its directory."""
    files = sorted((SRC / "becbo").rglob("*.py"))
    return {_module(file.relative_to(SRC)): file.read_text() for file in files}


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imports(module: str, source: str, known: set[str], late: bool = True) -> Iterator[str]:
    """Everything a module imports; with `late` also in functions and under TYPE_CHECKING."""
    is_package = any(name.startswith(module + ".") for name in known)
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".") if is_package else module.split(".")[:-1]
            base = package[: len(package) + 1 - node.level] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                # A module or a name in it? Only the file system knows for ours; outside, a
                # submodule such as scipy.stats counts as one.
                yield full if full in known or not origin.startswith("becbo") else origin
        if late or not _is_late(node):
            todo.extend(ast.iter_child_nodes(node))


def _is_late(node: ast.AST) -> bool:
    """Whether what is inside does not run when the module is imported."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _covers(part: str, name: str) -> bool:
    # The public names are one part; "becbo" does not stand for everything below it.
    return name == part or (part != "becbo" and name.startswith(part + "."))


def _rule(module: str) -> str | None:
    """The most specific row of the table for a module."""
    return max((part for part in TABLE if _covers(part, module)), key=len, default=None)


def violations(modules: dict[str, str]) -> list[str]:
    """Every import that the table does not allow, in words."""
    found = []
    for module, source in modules.items():
        rule = _rule(module)
        if rule is None:
            found.append(f"{module} is not in the table")
            continue
        for name in imports(module, source, set(modules)):
            if not _is_allowed(name, TABLE[rule]):
                found.append(f"{module} may not import {name}")
    return found


def _is_allowed(name: str, allowed: set[str]) -> bool:
    if name in EVERYWHERE or any(_covers(part, name) for part in allowed):
        return True
    # importlib could bring in anything unseen, so it needs a permission like any other.
    top = name.split(".")[0]
    return top in sys.stdlib_module_names and top != "importlib"


def test_every_import_is_in_the_table() -> None:
    assert violations(sources()) == []


def test_the_table_has_no_leftovers() -> None:
    names = set(sources())
    assert [p for p in TABLE if p not in names] == []


def test_every_permission_is_used() -> None:
    modules = sources()
    used: dict[str, set[str]] = {part: set() for part in TABLE}
    for module, source in modules.items():
        part = _rule(module)
        for name in imports(module, source, set(modules)):
            used[part] |= {allowed for allowed in TABLE[part] if _covers(allowed, name)}
    assert {part: TABLE[part] - used[part] for part in TABLE if TABLE[part] - used[part]} == {}


def test_no_import_cycles() -> None:
    modules = sources()
    known = set(modules)
    graph = {
        module: {name for name in imports(module, source, known, late=False) if name in known}
        for module, source in modules.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError with the cycle


def test_slow_packages_are_imported_late() -> None:
    modules = sources()
    early = [
        f"{module} imports {name} at the top"
        for module, source in modules.items()
        for name in imports(module, source, set(modules), late=False)
        if any(_covers(slow, name) for slow in LATE)
    ]
    assert early == []


def test_private_names_of_optuna_are_in_two_files() -> None:
    users = [
        f"{module}: {line.strip()}"
        for module, source in sources().items()
        for line in source.splitlines()
        if PRIVATE.search(line.replace("self._study", "")) and module not in ADAPTERS
    ]
    assert users == []


@pytest.mark.parametrize(
    ("module", "source", "named"),
    [
        ("becbo.space", "import scipy", "scipy"),
        ("becbo.space", "from scipy import stats", "scipy.stats"),
        ("becbo.space", "def f():\n    import torch", "torch"),
        ("becbo.space", "if TYPE_CHECKING:\n    from becbo.data import Dataset", "becbo.data"),
        ("becbo.space", "from . import data", "becbo.data"),
        ("becbo.space", "from .data import Dataset", "becbo.data"),
        ("becbo.space", "from becbo import Optimizer", "becbo"),
        ("becbo.space", "import importlib", "importlib"),
        ("becbo.acquisition", "from becbo.surrogates.gp import fit_gp", "becbo.surrogates.gp"),
        ("becbo.proposers.cei", "from becbo.proposers import scbo", "becbo.proposers.scbo"),
        ("becbo.proposers.cei", "from .scbo import Scbo", "becbo.proposers.scbo"),
        ("becbo.cli", "from becbo.surrogates import gp", "becbo.surrogates.gp"),
    ],
)
def test_the_checker_catches(module: str, source: str, named: str) -> None:
    others = {
        "becbo": "",
        "becbo.data": "",
        "becbo.surrogates": "",
        "becbo.surrogates.gp": "",
        "becbo.proposers": "",
        "becbo.proposers.scbo": "",
        "becbo.cli.demo": "",
    }
    assert violations({**others, module: source}) == [f"{module} may not import {named}"]


def test_the_checker_catches_an_unknown_module() -> None:
    assert violations({"becbo.utils": ""}) == ["becbo.utils is not in the table"]


def test_the_checker_tells_early_from_late() -> None:
    source = "import scipy.linalg\ndef f():\n    from scipy.stats import qmc"
    assert list(imports("becbo.search", source, set(), late=False)) == ["scipy.linalg"]
    assert "scipy.stats.qmc" in set(imports("becbo.search", source, set()))
