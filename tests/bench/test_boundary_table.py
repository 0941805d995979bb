"""Active constraints at the optima."""

import numpy as np
import pytest

from becbo.bench.boundary_table import PAPER_ACTIVE, boundary_table, describe, rows, scale_of
from becbo.problems import PAPER, get


@pytest.mark.parametrize("problem", PAPER)
def test_known_optima_touch_the_known_constraints(problem: str) -> None:
    p = get(problem)
    found = describe(p, scale_of(p), np.array(p.optimizers[0]))
    assert found.active == tuple(p.constraints[i] for i in p.active)
    assert found.value == pytest.approx(p.optimum, rel=1e-12)


@pytest.mark.parametrize("problem", ["townsend", "lsq", "three_bar_truss", "lsq_interior"])
def test_the_search_finds_the_optimum_and_its_constraints(problem: str) -> None:
    (row,) = rows([problem])
    assert row.found.value == pytest.approx(row.known.value, rel=1e-6, abs=1e-6)
    assert row.found.active == row.known.active
    assert row.paper_active == PAPER_ACTIVE.get(problem)


def test_the_boundary_table_in_words() -> None:
    table = boundary_table(["lsq", "lsq_interior"])
    cells = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [row["at the edge"] for row in cells] == ["yes", "no"]
    assert [row["active constraints"] for row in cells] == ["sinusoid", "none"]
    assert "| lsq | 2 | 2 | 0.5997881 |" in table.markdown()
