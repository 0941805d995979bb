"""A short version of benchmarks/load.py: no error, nothing lost, nothing twice."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "load.py"


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("load", BENCHMARK)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["load"] = module
    spec.loader.exec_module(module)
    return module


def test_many_clients() -> None:
    load = _module()
    load.PAUSE = (0.1, 0.5)
    result = load.measure(n_clients=16, seconds=6)
    assert (result["errors"], result["lost"], result["twice"]) == (0, 0, 0), result["first_errors"]
    assert result["acknowledged"] > 0 and result["answers"]["suggest"]["n"] > 0
    assert "| suggest |" in load.section(result)
