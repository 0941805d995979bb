"""The showcases fail where they should, and for real."""

import sys
from pathlib import Path

import pytest
from optuna.trial import FixedTrial

pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'becbo[bench]'")
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import showcase_kernel as kernel  # noqa: E402
import showcase_pipeline as pipeline  # noqa: E402
import showcases  # noqa: E402

with_gcc = pytest.mark.skipif(kernel.missing() is not None, reason=str(kernel.missing()))
KERNEL = {"MC": 64, "KC": 64, "NC": 64, "MR": 4, "NV": 2, "VL": 2, "UNROLL": 1} | {
    "level": "-O1",
    "cpu": "x86-64-v3",
}
PIPELINE = {"scaler": "standard", "reducer": "pca", "n_features": 5, "hidden": 4} | {
    "learning_rate": 0.1,
    "momentum": 0.5,
    "alpha": 1e-3,
    "batch": 64,
}


@with_gcc
def test_a_kernel_returns_its_time() -> None:
    assert 0 < kernel.objective(FixedTrial(KERNEL)) < 5000


@with_gcc
def test_blocks_beyond_the_stack_crash() -> None:
    with pytest.raises(kernel.Failed, match="Segmentation fault"):
        kernel.objective(FixedTrial({**KERNEL, "MC": 1024, "KC": 1024}))


@with_gcc
def test_the_compiler_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "COMPILER_MEMORY", 10_000_000)
    with pytest.raises(kernel.Failed, match="does not compile"):
        kernel.objective(FixedTrial(KERNEL))


def test_a_missing_compiler_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="skipped: gcc is not installed"):
        showcases.main(["kernel"])


def test_a_pipeline_returns_its_loss() -> None:
    assert 0 < pipeline.objective(FixedTrial(PIPELINE)) < 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scaler": "box-cox"}, "strictly positive"),
        ({"reducer": "nmf"}, "Negative values"),
        ({"reducer": "chi2"}, "non-negative"),
        ({"learning_rate": 10.0, "batch": 8, "alpha": 10.0}, "non-finite"),
    ],
)
def test_steps_that_do_not_go_together(changed: dict, message: str) -> None:
    with pytest.raises(pipeline.Failed, match=message):
        pipeline.objective(FixedTrial({**PIPELINE, **changed}))


def test_every_sampler_runs_and_is_in_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x > 0.5:
            raise pipeline.Failed("too far")
        return -x

    monkeypatch.setattr(showcases, "RESULTS", tmp_path)
    monkeypatch.setattr(pipeline, "objective", objective)
    showcases.main(["pipeline", "--seeds", "2", "--trials", "6"])
    rows = showcases.read("pipeline")
    assert [(row["sampler"], row["seed"]) for row in rows] == [
        (label, seed) for seed in range(2) for label in showcases.SAMPLERS
    ]
    shown = capsys.readouterr().out
    assert all(f"| {label} |" in shown for label in showcases.SAMPLERS)
    showcases.main(["pipeline", "--seeds", "2", "--trials", "6"])  # nothing is left to do
    assert showcases.read("pipeline") == rows


def test_the_table_has_means_of_what_was_measured_again() -> None:
    study = {"sampler": "becbo", "values": [3.0, None, 2.0, None]}
    rows = [{**study, "again": 2.5}, {**study, "again": 3.5}]
    line = showcases.table(rows).splitlines()[2]
    assert line.startswith("| becbo | 3.000 (") and line.endswith("| 3.000 | 50% | 2 |")
