"""The paper's claims judged by made-up records."""

from dataclasses import replace

import numpy as np
import pytest
from bench.sample import make_record, make_run

from becbo.bench.claims import (
    CLAIMS,
    ERRORS,
    INFEASIBLE,
    REGRET,
    SECONDS,
    STANDS_FOR_PAPER,
    Claim,
)
from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.summary import holm, sign_test, typical_value
from becbo.bench.verdicts import adjusted, judged, sentence, verdict_table, verdicts
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


def test_claims_about_the_papers_gp_rest_on_it() -> None:
    """A classifier by EP fits better than the paper's: rows that rest on one say so."""
    for claim in CLAIMS:
        labels = {label for pair in claim.pairs for label in pair}
        by_ep = {label for label in labels if "-ep" in label}
        assert by_ep in (set(), labels - set(STANDS_FOR_PAPER))
        assert bool(by_ep) == ("by EP" in claim.words)


BETTER, NO_WORSE, SIMILAR = (
    Claim("", "paper", (), kind, quantity=replace(REGRET, similar=0.3)).true_between
    for kind in ("better", "no worse", "similar")
)


@pytest.mark.parametrize(
    ("between", "low", "high", "said"),
    [
        (BETTER, -2.0, -0.1, "holds"),
        (BETTER, -2.0, 0.1, "undecided"),
        (BETTER, 0.0, 0.0, "undecided"),
        (BETTER, 0.1, 0.2, "does not hold"),
        (SIMILAR, -0.2, 0.29, "holds"),
        (SIMILAR, -0.2, 0.4, "undecided"),
        (SIMILAR, 0.4, 0.9, "does not hold"),
        (SIMILAR, -0.9, -0.4, "does not hold"),
        (NO_WORSE, -0.9, -0.4, "holds"),  # who wins is competitive
        (NO_WORSE, -0.9, 0.29, "holds"),
        (NO_WORSE, -0.9, 0.4, "undecided"),
        (NO_WORSE, 0.4, 0.9, "does not hold"),
        (BETTER, np.nan, np.nan, "undecided"),
        (SIMILAR, np.nan, np.nan, "undecided"),
    ],
)
def test_judging_by_an_interval(
    between: tuple[float, float], low: float, high: float, said: str
) -> None:
    assert judged(low, high, *between) == said


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
    said = sentence(found[0], *adjusted(found))
    assert "BE-CBO clearly outperforms the product" in said
    assert "holds by itself, not after Holm. After 3 evaluations" in said
    assert "p = 0.25 after Holm's adjustment for all claims." in said
    assert said.endswith("of be-cbo-v1 is lower on 1 of 1 (p 1): undecided.")


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
    found = verdicts(records)
    rows = verdict_table(found).rows
    expected = holm(np.array([verdict.p_value for verdict in found]))
    assert len(rows) == 3 and [float(row[3]) for row in rows] == pytest.approx(expected, rel=0.05)
    assert float(rows[0][3]) > 2 * float(alone[3])


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


def compared(label: str, other: str, changes: list[float], suite: str = "interior") -> list[Record]:
    """Runs on the problems of a suite, the first method worse by so many units of log10 regret."""
    records = []
    for problem in SUITES[suite].problems:
        optimum, typical = get_single(problem).optimum, typical_value(problem)
        for seed, change in enumerate(changes):
            records.append(
                record(label, seed, optimum + 10.0 ** (change - 2) * (typical - optimum), problem)
            )
            records.append(record(other, seed, optimum + 1e-2 * (typical - optimum), problem))
    return [replace(r, y=(None, *r.y[1:])) for r in records]


def test_a_claim_to_be_similar_is_tested_against_what_it_allows() -> None:
    """Differences that are beyond chance, but smaller than a factor of two, refute nothing."""
    small = [0.15 + 0.001 * seed for seed in range(8)]
    (verdict,) = verdicts(compared("be-cbo", "be-cbo-code", small, "ablation-code"))
    assert verdict.claim.kind == "similar" and verdict.said == "holds" and verdict.p_value < 1e-6
    (row,) = verdict_table([verdict]).rows
    assert row[0].startswith("(a question of ours)") and row[6] == "holds"
    assert row[7].endswith("(p 0.00049): there is a difference")


def test_a_method_that_wins_is_competitive() -> None:
    ahead = [-1.0 - 0.01 * seed for seed in range(8)]
    (verdict,) = verdicts(compared("be-cbo", "cei", ahead))
    assert verdict.claim.words == "is competitive with CEI, interior optima"
    assert verdict.said == "holds" and verdict.p_value < 1e-3
    (behind,) = verdicts(compared("be-cbo", "cei", [-change for change in ahead]))
    assert behind.said == "does not hold" and behind.p_value < 1e-3


def test_a_refuted_similarity_is_adjusted_for_the_other_claims_as_well() -> None:
    """Two runs on each of three problems are too few for the test to say so."""
    (verdict,) = verdicts(compared("be-cbo", "cei", [2.0, 2.1]))
    assert verdict.said == "does not hold" and 0.03 <= verdict.p_value < 0.05
    (row,) = verdict_table([verdict]).rows
    assert row[6] == "does not hold"
    rows = verdict_table([verdict, verdict]).rows
    assert {row[6] for row in rows} == {"does not hold by itself, not after Holm"}


def test_runs_tie_in_units_of_what_is_compared() -> None:
    """Balanced accuracies of 0.70 and 0.73 are no tie."""
    labels = {"be-cbo-code": (0.73, 0.73), "be-cbo-code-gp": (0.7, 0.7)}
    found = verdicts(
        replace(record(label, seed, 0.7), accuracy=accuracy)
        for label, accuracy in labels.items()
        for seed in range(3)
    )
    (row,) = (r for v, r in zip(found, verdict_table(found).rows, strict=True) if "1 -" in r[1])
    assert row[4] == "3 / 0 / 0"


def test_accuracies_of_a_part_of_a_run_say_nothing_of_the_whole() -> None:
    """A run that was measured up to 100 evaluations may be continued without measuring."""
    half = replace(record("a", 0, 0.7), accuracy=(0.5,))
    assert ERRORS.of(half, 2) == pytest.approx(0.5) and np.isnan(ERRORS.of(half, 3))


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
