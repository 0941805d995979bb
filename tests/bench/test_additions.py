"""A method or a problem is one file and one line; here both are in one test."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import becbo.problems
from becbo.bench.plan import make_plan
from becbo.bench.run import fan_out
from becbo.bench.table import table
from becbo.data import Dataset
from becbo.methods import METHODS, Method
from becbo.models.base import Models
from becbo.models.feasibility import OneGP
from becbo.problems import PROBLEMS, get
from becbo.proposers.base import Proposer, Searcher
from becbo.search.goal import Found
from becbo.search.region import Region
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.gp import GaussianProcess


@dataclass(frozen=True)
class Toy(Proposer):
    """Any point will do."""

    regressor: GaussianProcess = GaussianProcess()

    def fit_failures(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        return OneGP().fit(data, rng)

    def searcher(self, models: Models, data: Dataset, rng: np.random.Generator) -> Searcher:
        def search(region: Region, pending: np.ndarray) -> Found:
            return Found(rng.random(region.dim), 0.0, -1.0, False, "dice", "no model")

        return search


def test_a_method_and_a_problem_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        METHODS, "toy", Method("toy", "throws dice", "here", lambda noisy, nets: Toy())
    )
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
    assert set(records[0].parts) == {"regressor", "classifier", "search"}
    assert "| parabola | toy | 2 |" in table(records).markdown()
