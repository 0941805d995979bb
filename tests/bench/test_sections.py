"""Records sorted into sections."""

import numpy as np
from bench.sample import make_record, make_run

from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.sections import sections


def record(problem: str, label: str, seed: int = 0, n: int = 12, value: float = 2.0) -> Record:
    run = make_run(problem, label, seed, budget=n)
    return make_record(run, [None, *[value] * (n - 1)], n_initial=min(n, 10))


def test_one_section_per_suite_that_has_something_to_add() -> None:
    records = [record("lsq", "edge"), record("lsq", "be-cbo"), record("lsq_interior", "edge")]
    assert [s.name for s in sections(records)] == ["paper", "interior"]
    (paper, ablation) = sections([record("lsq", "be-cbo-code"), record("lsq", "be-cbo-code-m")])
    assert (paper.name, paper.labels) == ("paper", ("be-cbo-code",))
    assert (ablation.name, ablation.labels) == ("ablation-band", ("be-cbo-code", "be-cbo-code-m"))


def test_methods_keep_the_order_of_the_suite_and_own_ones_follow() -> None:
    records = [record("lsq", label) for label in ("mine", "sobol", "edge")]
    (section,) = sections(records)
    assert section.labels == ("edge", "sobol", "mine")
    assert section.reference == "edge"


def test_a_method_that_its_suite_does_not_have_is_shown_nevertheless() -> None:
    records = [record("lsq_interior", "edge"), record("lsq_interior", "sobol")]
    (section,) = sections(records)
    assert (section.name, section.labels) == ("interior", ("edge", "sobol"))
    (alone,) = sections([record("ackley_scbo_20d", "sobol")])
    assert alone.labels == ("sobol",)


def test_seeds_that_all_methods_have() -> None:
    records = [record("lsq", "edge", seed) for seed in (0, 1, 2)]
    records += [record("lsq", "cei", seed) for seed in (1, 2, 3)]
    assert sections(records)[0].shared_seeds("lsq") == [1, 2]


def test_own_problems_have_a_section_of_their_own() -> None:
    (section,) = sections([record("ackley_scbo_3d", "sobol"), record("ackley_scbo_3d", "cei")])
    assert (section.name, section.problems, section.reference) == (
        "others",
        ("ackley_scbo_3d",),
        "sobol",
    )


def test_problems_that_one_method_alone_has_run_on_are_left_out_of_a_comparison() -> None:
    there = [("lsq", "edge"), ("lsq", "cei"), ("townsend", "edge"), ("simionescu", "scbo")]
    (section,) = sections([record(*run) for run in there])
    assert (section.problems, section.labels) == (("lsq",), ("edge", "cei"))
    assert section.horizon == 12
    (alone,) = sections([record("lsq", "edge"), record("townsend", "edge")])
    assert alone.problems == ("townsend", "lsq")


def test_an_ablation_compares_with_the_unchanged_method() -> None:
    for suite in SUITES.values():
        if suite.reference is not None:
            assert suite.reference in {variant.label for variant in suite.variants}
            variants = [variant.label for variant in suite.variants]
            found = sections([record("lsq", label) for label in (*variants, *suite.earlier)])
            (ablation,) = (section for section in found if section.name == suite.name)
            assert (ablation.reference, ablation.labels) == (suite.reference, tuple(variants))


def test_until_two_variants_have_run_an_ablation_shows_those_of_before() -> None:
    before = [record("lsq", label) for label in ("be-cbo-v1", "be-cbo-m-v1")]
    (ablation,) = (s for s in sections([*before, record("lsq", "be-cbo-code")]) if "band" in s.name)
    assert (ablation.reference, ablation.labels) == ("be-cbo-v1", ("be-cbo-v1", "be-cbo-m-v1"))


def test_errors_do_not_count() -> None:
    assert sections([Record(make_run(), error="no number")]) == []


def test_numbers_of_a_section() -> None:
    records = [record("lsq", "edge", seed, 20, 1.0 + seed) for seed in (1, 0)]
    records += [record("lsq", "cei", seed, 12, 3.0) for seed in (1, 2)]
    records.append(record("spring", "edge"))
    (section,) = sections(records)
    assert section.horizon == 12
    assert section.compared == ("lsq",)
    assert section.best("lsq", "edge")[:, -1].tolist() == [1.0, 2.0]  # by seed
    np.testing.assert_allclose(section.seconds("lsq", "cei")[:, -1], 0.25 * 2)
    assert section.scores("lsq", "cei").keys() == {1, 2}
    pairs = section.pairs("edge", "cei")
    assert list(pairs) == ["lsq"]
    (mine, theirs) = pairs["lsq"]
    assert mine.shape == theirs.shape == (1,)  # the seed they share
    assert mine[0] == section.scores("lsq", "edge")[1] < theirs[0]


def test_a_run_shorter_than_the_horizon_has_no_score() -> None:
    records = [record("lsq", "edge", 0, 20), record("lsq", "edge", 1, 12)]
    (section,) = sections(records)
    assert section.horizon == 20
    assert section.scores("lsq", "edge").keys() == {0}
    assert section.compared == ("lsq",)


def test_problems_where_nothing_reaches_the_horizon_are_not_compared() -> None:
    records = [record("lsq", label, 0, 20) for label in ("edge", "cei")]
    records += [record("spring", label, 0, 12) for label in ("edge", "cei")]
    (section,) = sections(records)
    assert section.horizon == 20
    assert section.compared == ("lsq",)
