"""A method or a problem is one file and one line; here both are in one test."""

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

import becbo.problems
from becbo.bench.plan import make_plan
from becbo.bench.run import fan_out
from becbo.bench.table import table
from becbo.data import Dataset
from becbo.problems import PROBLEMS, get
from becbo.proposers import METHODS, Method, Models, Proposal
from becbo.search.goal import Found
from becbo.search.region import Region
from becbo.trial import Prediction


@dataclass(frozen=True)
class Toy:
    """Any point will do."""

    def fit(self, data: Dataset, rng: np.random.Generator) -> Models:
        raise NotImplementedError

    def propose(
        self,
        data: Dataset,
        region: Region,
        pending: np.ndarray,
        q: int,
        rng: np.random.Generator,
    ) -> Proposal:
        begin = time.perf_counter()
        X = rng.random((q, region.dim))
        found = tuple(Found(x, 0.0, -1.0, False, "dice", "no model") for x in X)
        believed = (Prediction(None, None, 0.5, (0.0, 1.0)),) * q
        return Proposal(X, found, believed, {"dice": time.perf_counter() - begin})


def test_a_method_and_a_problem_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "toy", Method("toy", "throws dice", "here", lambda noisy: Toy()))
    parabola = replace(
        get("lsq"),
        name="parabola",
        objective_formula=lambda X: ((X - 0.5) ** 2).sum(axis=1),
        optimum=0.0,
    )
    monkeypatch.setitem(PROBLEMS, "parabola", parabola)
    monkeypatch.setitem(becbo.problems._VARIANTS, "parabola", {parabola.variant: parabola})

    plan = make_plan("paper", ["toy"], ["parabola"], seeds=range(2), budget=14)
    records = list(fan_out(plan.runs()))
    assert [r.error for r in records] == [None, None]
    searches = records[0].searches
    assert (searches.winners, searches.winner) == (("dice",), (0, 0, 0, 0))
    assert searches.bound_broken == (10, 11, 12, 13)
    assert searches.fallback == tuple((n, "no model") for n in (10, 11, 12, 13))
    assert set(records[0].parts) == {"dice"}
    assert "| parabola | toy | 2 |" in table(records).markdown()
