"""The paper's claims judged by made-up records."""

import numpy as np
import pytest
from bench.sample import make_record, make_run

from becbo.bench.claims import CLAIMS, claims_table, verdict
from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.sections import sections


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.words)
def test_claims_are_about_what_the_suites_run(claim) -> None:
    suite = SUITES[claim.section]
    assert {claim.method, claim.other} <= set(suite.labels)
    assert set(claim.problems) <= set(suite.problems)


@pytest.mark.parametrize(
    ("is_better", "low", "high", "said"),
    [
        (True, -2.0, -0.1, "holds"),
        (True, -2.0, 0.1, "undecided"),
        (True, 0.1, 0.2, "does not hold"),
        (False, -0.2, 0.3, "holds"),
        (False, -0.2, 0.4, "undecided"),
        (False, 0.4, 0.9, "does not hold"),
        (False, -0.9, -0.4, "does not hold"),
        (True, np.nan, np.nan, "undecided"),
        (False, np.nan, np.nan, "undecided"),
    ],
)
def test_verdict(is_better: bool, low: float, high: float, said: str) -> None:
    assert verdict(is_better, low, high) == said


def record(label: str, seed: int, value: float) -> Record:
    return make_record(make_run("lsq", label, seed, 3), [None, value, value])


def test_table_of_claims() -> None:
    records = [record("be-cbo-v1", seed, 0.7) for seed in range(3)]
    records += [record("be-cbo-m-v1", seed, 1.2 + seed) for seed in range(3)]
    (row,) = claims_table(sections(records)).rows
    assert row[0] == "clearly outperforms the product C(x) q(x)"
    assert row[1] == "be-cbo-v1 - be-cbo-m-v1 @3"
    assert row[2].startswith("-") and " to -" in row[2]
    assert row[3:] == ("3 / 0 / 0", "1, 3", "holds")


def test_nothing_to_judge() -> None:
    assert claims_table(sections([record("edge", 0, 1.0)])).rows == ()
