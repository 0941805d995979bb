"""Suites as data, and the plans made of them."""

import re

import pytest

from becbo import InvalidInput
from becbo.bench.plan import SUITES, Plan, Run, Variant, make_plan, make_proposer


def test_every_suite_of_the_paper_is_there() -> None:
    assert set(SUITES) == {
        "paper",
        "interior",
        "highdim",
        "ackley",
        "tuning",
        "measured",
        "pareto",
        "pareto-measured",
        "pareto-tuning",
        "chance",
        "chance-tuning",
        "risk",
        "ablation-classifier",
        "ablation-training",
        "ablation-acquisition",
        "ablation-band",
        "ablation-code",
        "ablation-networks",
        "ablation-layers",
        "ablation-width",
        "ablation-lr",
    }


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_can_be_planned(name: str) -> None:
    suite = SUITES[name]
    runs = make_plan(name, seeds=range(2)).runs()  # checks problems, methods and options
    assert len(runs) == 2 * len(suite.problems) * len(suite.variants)
    assert len({run.key for run in runs}) == len(runs)
    assert all(re.fullmatch(r"[\w.-]+", run.label) for run in runs)  # a file name


def test_one_label_means_one_method() -> None:
    """Suites may share a folder."""
    variants = [variant for suite in SUITES.values() for variant in suite.variants]
    by_label = {variant.label: variant for variant in variants}
    assert all(by_label[variant.label] == variant for variant in variants)


@pytest.mark.parametrize(
    ("suite", "setting", "values"),
    [
        ("ablation-networks", "n_networks", [3, 5, 8]),
        ("ablation-layers", "n_layers", [2, 3, 4, 5]),  # hidden layers and the last
        ("ablation-width", "width_factor", [16, 32, 64, 128, 256]),
        ("ablation-lr", "learning_rate", [3e-3, 1e-3, 3e-4, 1e-4, 3e-5]),
    ],
)
def test_ablations_have_the_values_of_the_paper(
    suite: str, setting: str, values: list[float]
) -> None:
    ensembles = [make_proposer(v).classifier.settings for v in SUITES[suite].variants]
    assert [getattr(ensemble, setting) for ensemble in ensembles] == values


def test_width_is_tried_with_two_hidden_layers() -> None:
    assert {v.options["n_layers"] for v in SUITES["ablation-width"].variants} == {3}


def test_names_replace_those_of_the_suite() -> None:
    plan = make_plan(
        "ablation-lr", ["be-cbo-code-lr-1e-4", "edge"], ["lsq"], range(3, 5), 50, "honest"
    )
    assert plan == Plan(
        ("lsq",),
        (
            Variant("be-cbo-code-lr-1e-4", "be-cbo-code", {"learning_rate": 1e-4}),
            Variant("edge", "edge", {}),
        ),
        (3, 4),
        50,
        "honest",
    )


def test_seeds_come_one_after_the_other() -> None:
    runs = make_plan("interior", ["edge", "sobol"], seeds=range(2)).runs()
    assert [run.seed for run in runs] == [0] * 6 + [1] * 6
    assert [run.label for run in runs[:6]] == ["edge"] * 3 + ["sobol"] * 3


@pytest.mark.parametrize(
    "change",
    [
        {"suite": "nonsense"},
        {"methods": ["nonsense"]},
        {"problems": ["nonsense"]},
        {"protocol": "nonsense"},
        {"budget": 0},
        {"seeds": range(0)},
        {"seeds": range(-1, 1)},
    ],
)
def test_bad_input_is_refused_before_anything_runs(change: dict[str, object]) -> None:
    named = next(iter(change)) if "nonsense" not in str(change) else "nonsense"
    with pytest.raises(InvalidInput, match=named):
        make_plan(**{"suite": "paper", **change})


def test_measured_runs_are_told_more() -> None:
    runs = make_plan("pareto-measured", problems=["bnh"], seeds=range(1)).runs()
    assert [(run.label, run.method, run.measured) for run in runs] == [
        ("edge-measured", "edge", True),
        ("sobol", "sobol", False),  # it looks at nothing: its runs are those of the other suite
    ]
    assert not any(run.measured for run in make_plan("pareto", seeds=range(1)).runs())


@pytest.mark.parametrize("problem", ["bnh", "car_side_3obj"])
def test_a_method_for_one_objective_is_refused_on_several(problem: str) -> None:
    with pytest.raises(InvalidInput, match="be-cbo.*these can: .*edge"):
        make_plan("pareto", ["be-cbo"], [problem])


def test_risk_is_a_setting_and_not_one_of_the_networks() -> None:
    (limited,) = [v for v in SUITES["risk"].variants if v.label == "edge-risk-20"]
    assert make_proposer(limited).band.p == pytest.approx(0.8)
    run = Run("lsq", "few", "be-cbo", {"n_networks": 2}, 0, 12, "authors")
    assert make_proposer(run).classifier.settings.n_networks == 2
