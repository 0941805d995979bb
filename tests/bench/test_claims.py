"""The paper's claims judged by made-up records."""

from dataclasses import replace

import numpy as np
import pytest
from bench.sample import make_record, make_run

from becbo.bench.claims import CLAIMS, ERRORS, INFEASIBLE, SECONDS
from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.summary import sign_test
from becbo.bench.verdicts import judged, sentence, verdict_table, verdicts
from becbo.methods import METHODS
from becbo.problems import get_single
from becbo.surrogates.ensemble import DeepEnsemble


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.words)
def test_claims_are_about_what_the_suites_run(claim) -> None:
    labels = {label for suite in SUITES.values() for label in suite.labels}
    assert {label for pair in claim.pairs for label in pair} <= labels
    assert set(claim.problems) <= set(SUITES[claim.suite].problems)


def test_networks_of_another_width_are_compared_with_one_of_as_many_layers() -> None:
    widths = [claim for claim in CLAIMS if claim.suite == "ablation-width"]
    assert len(widths) == 4
    for claim in widths:
        assert {"be-cbo-code-hidden-2", "be-cbo-hidden-2-v1"} <= {
            a for pair in claim.pairs for a in pair
        }


def test_every_claim_is_made_once() -> None:
    assert len({claim.words for claim in CLAIMS}) == len(CLAIMS)


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
def test_judging_by_an_interval(is_better: bool, low: float, high: float, said: str) -> None:
    assert judged(is_better, low, high, similar=0.3) == said


def record(label: str, seed: int, value: float | None, problem: str = "lsq") -> Record:
    return make_record(make_run(problem, label, seed, 3), [5.0, value, value])


def product(seeds: int = 3) -> list[Record]:
    """The paper's method ahead of the product of its ablation."""
    records = [record("be-cbo-v1", seed, 0.7) for seed in range(seeds)]
    return records + [record("be-cbo-m-v1", seed, 1.2 + seed) for seed in range(seeds)]


def test_a_row_of_the_table() -> None:
    found = verdicts(product())
    (row,) = verdict_table(found).rows
    assert row[0] == "clearly outperforms the product C(x) q(x)"
    assert row[1] == "be-cbo-v1 - be-cbo-m-v1 @3"
    assert row[2].startswith("-") and " to -" in row[2]
    assert row[3:6] == ("0.25", "3 / 0 / 0", "1, 3")
    assert row[6:] == ("holds by itself, not after Holm", "lower on 1 of 1 (p 1): undecided")
    said = sentence(found[0])
    assert "BE-CBO clearly outperforms the product" in said and "holds. After 3 evaluations" in said
    assert said.endswith("not adjusted. Its mean best value is lower on 1 of 1 (p 1): undecided.")


def test_the_pair_with_the_most_runs_decides() -> None:
    records = product() + [record(label, 0, 1.0) for label in ("be-cbo-code", "be-cbo-code-m")]
    verdict, *_ = verdicts(records)
    assert verdict.pair == ("be-cbo-v1", "be-cbo-m-v1")
    records += [record(label, s, 1.0) for label in ("be-cbo-code", "be-cbo-code-m") for s in (1, 2)]
    assert verdicts(records)[0].pair == ("be-cbo-code", "be-cbo-code-m")


def test_only_shared_seeds_and_evaluations_count() -> None:
    longer = replace(record("be-cbo-v1", 0, 0.7), y=(5.0, 0.7, 0.7, 0.65), seconds=(0.25,) * 3)
    (verdict,) = verdicts([longer, record("be-cbo-v1", 7, 0.1), record("be-cbo-m-v1", 0, 1.2)])
    assert verdict.horizon == 3 and [len(d) for d in verdict.differences] == [1]
    assert verdict.values == ((0.7, 1.2),)
    assert verdict.said == "undecided"  # a single run has no interval


def test_single_runs_on_many_problems_have_an_interval_over_the_problems() -> None:
    problems = SUITES["paper"].problems[:6]
    optima = [get_single(problem).optimum for problem in problems]
    records = []
    for i, (problem, optimum) in enumerate(zip(problems, optima, strict=True)):
        records.append(record("be-cbo-code", 0, optimum + 1.0, problem))
        records.append(record("sobol", 0, optimum + 2.0 + i, problem))
    records = [replace(r, y=(None, *r.y[1:])) for r in records]
    (verdict,) = verdicts(records)
    low, high = verdict.interval
    assert low < verdict.mean < high < 0 and verdict.said == "holds"


def test_p_values_are_adjusted_for_all_claims() -> None:
    seeds = 8
    records = product(seeds)
    (alone,) = verdict_table(verdicts(records)).rows
    records += [record("be-cbo-c-v1", seed, 0.7 + 1e-4 * seed) for seed in range(seeds)]
    rows = verdict_table(verdicts(records)).rows
    assert len(rows) == 2
    assert float(rows[0][3]) == pytest.approx(2 * float(alone[3]), rel=0.1)


def test_the_sign_test_over_problems() -> None:
    assert sign_test(5, 5) == pytest.approx(1.0)
    assert sign_test(12, 0) == pytest.approx(2 / 2**12)
    assert sign_test(0, 0) == 1.0


def test_the_papers_measure_may_say_otherwise() -> None:
    problems = ("townsend", "simionescu", "lsq", "three_bar_truss", "spring", "welded_beam")
    records = []
    for problem in problems:
        for seed in range(2):
            records.append(record("be-cbo-code", seed, 0.7, problem))
            records.append(record("sobol", seed, 0.9, problem))
    (verdict,) = verdicts(records)
    assert verdict.said_by_values == "lower on 6 of 6 (p 0.031): holds"


@pytest.mark.parametrize("quantity", [INFEASIBLE, SECONDS, ERRORS], ids=lambda q: q.name)
def test_other_quantities(quantity) -> None:
    one = replace(record("a", 0, None), seconds=(5.0, 5.0), accuracy=(0.5, 0.7))
    expected = {INFEASIBLE.name: 1.0, SECONDS.name: 1.0, ERRORS.name: 0.4}
    assert quantity.of(one, 3) == pytest.approx(expected[quantity.name])


def test_runs_in_which_nothing_was_measured_decide_no_claim() -> None:
    """More runs of the pair before, but without the accuracy of their classifiers."""
    labels = ("be-cbo-v1", "be-cbo-gp-ep-v1")
    before = [record(label, seed, 0.7) for label in labels for seed in range(3)]
    labels = ("be-cbo-code", "be-cbo-code-gp")
    now = [replace(record(label, 0, 0.7), accuracy=(0.5, 0.7)) for label in labels]
    found = [v for v in verdicts([*before, *now]) if v.claim.quantity is ERRORS]
    assert [verdict.pair for verdict in found] == [labels]


def test_nothing_to_judge() -> None:
    assert verdicts([record("edge", 0, 1.0)]) == []
    assert np.isnan(ERRORS.of(record("a", 0, 1.0), 3))


def test_the_search_is_judged_on_the_same_models_and_bound() -> None:
    """With other training and another bound beside it, nobody knew which of them made it better."""
    (claim,) = (c for c in CLAIMS if "search of `edge`" in c.words)
    for label, other in claim.pairs:
        ours, theirs = (
            METHODS[name.removesuffix("-v1")].build(False, DeepEnsemble())
            for name in (label, other)
        )
        assert (ours.band, ours.classifier, ours.regressor) == (
            theirs.band,
            theirs.classifier,
            theirs.regressor,
        )
        assert ours.search != theirs.search
