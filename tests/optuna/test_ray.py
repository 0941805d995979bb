"""Ray Tune for real: a local Ray, trials that raise, die and return no number."""

import math
import os
from pathlib import Path

import optuna
import pytest

pytest.importorskip("ray.tune", reason="Ray Tune is not installed: pip install 'becbo[ray]'")

import ray  # noqa: E402
from ray import tune  # noqa: E402

from becbo import Failures, Limit, Objective  # noqa: E402
from becbo.errors import Infeasible, InvalidInput  # noqa: E402
from becbo.optuna import BECBOSampler, open_storage  # noqa: E402
from becbo.optuna.outcomes import lost_numbers, result_of  # noqa: E402
from becbo.optuna.ray import FailAwareOptunaSearch, fail_aware  # noqa: E402
from becbo.outputs import Outputs  # noqa: E402
from becbo.trial import Outcome  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def trainable(config: dict[str, float]) -> dict[str, float]:
    x = config["x"]
    if x == 0.2:
        raise ValueError("melted")
    if x == 0.3 and not Path(config["died"]).exists():
        Path(config["died"]).touch()
        os._exit(1)
    return {"loss": math.nan if x == 0.4 else x}


def test_raise_death_and_nan_are_failed_lost_and_failed(cluster, tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "study.db", heartbeat=None)
    search = FailAwareOptunaSearch(
        space={"x": optuna.distributions.FloatDistribution(0.0, 1.0)},
        metric="loss",
        mode="min",
        points_to_evaluate=[{"x": x} for x in (0.2, 0.3, 0.4, 0.9)],
        sampler=BECBOSampler(seed=0),
        storage=storage,
        study_name="ray",
    )
    died = str(tmp_path / "died")

    def with_place(config: dict[str, float]) -> dict[str, float]:
        return trainable({**config, "died": died})

    tuner = tune.Tuner(
        fail_aware(with_place, "loss"),
        tune_config=tune.TuneConfig(search_alg=search, num_samples=7, max_concurrent_trials=1),
        run_config=tune.RunConfig(storage_path=str(tmp_path / "ray"), verbose=0),
    )
    tuner.fit()
    study = optuna.load_study(study_name="ray", storage=storage)
    lost = lost_numbers(study)
    ended = {t.number: (t.params["x"], result_of(t, lost).outcome) for t in study.trials[:4]}
    assert ended == {
        0: (0.2, Outcome.FAILED),
        1: (0.3, Outcome.LOST),
        2: (0.4, Outcome.FAILED),
        3: (0.9, Outcome.OK),
    }
    assert result_of(study.trials[0]).reason == "ValueError: melted"
    assert result_of(study.trials[2]).reason == "returned nan"
    repeat = study.trials[4]  # the lost design, which works the second time
    assert (repeat.params["x"], result_of(repeat, lost).outcome, repeat.value) == (
        0.3,
        Outcome.OK,
        0.3,
    )
    assert all(t.state.is_finished() for t in study.trials)


def measuring(config: dict[str, float]) -> dict[str, float]:
    x = config["x"]
    if x == 0.1:
        raise Infeasible("gel", measured={"stress": 3.0})
    if x == 0.2:
        return {"cost": math.nan, "strength": math.nan, "stress": 2.0}
    if x == 0.3:
        return {"cost": 0.3}
    return {"cost": x, "strength": 1 - x, "stress": 0.5}


def test_several_metrics_and_limits(cluster, tmp_path: Path) -> None:
    outputs = [Objective("cost"), Objective("strength", "maximize"), Limit("stress", upper=1)]
    storage = open_storage(tmp_path / "study.db", heartbeat=None)
    search = FailAwareOptunaSearch(
        space={"x": optuna.distributions.FloatDistribution(0.0, 1.0)},
        metric=["cost", "strength"],
        mode=["min", "max"],
        points_to_evaluate=[{"x": x} for x in (0.1, 0.2, 0.3, 0.4)],
        sampler=BECBOSampler(outputs=outputs, seed=0),
        storage=storage,
        study_name="ray",
    )
    tuner = tune.Tuner(
        fail_aware(measuring, ["cost", "strength"]),
        tune_config=tune.TuneConfig(search_alg=search, num_samples=5, max_concurrent_trials=1),
        run_config=tune.RunConfig(storage_path=str(tmp_path / "ray"), verbose=0),
    )
    tuner.fit()
    study = optuna.load_study(study_name="ray", storage=storage)
    assert study.metric_names == ["cost", "strength"]
    results = [result_of(t, outputs=Outputs.of(outputs)) for t in study.trials]
    gel, nothing, part, whole = results[:4]
    assert (gel.outcome, gel.reason, gel.values["stress"]) == (Outcome.FAILED, "gel", 3.0)
    assert (nothing.outcome, nothing.reason) == (Outcome.FAILED, "returned nan, nan")
    assert nothing.values["stress"] == 2.0
    assert (part.outcome, part.values["cost"], part.values["strength"]) == (Outcome.OK, 0.3, None)
    assert whole.values == {"cost": 0.4, "strength": 0.6, "stress": 0.5}
    assert all(t.state.is_finished() for t in study.trials)


def test_what_is_no_tuple_of_exceptions_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="must be a tuple of exception types"):
        fail_aware(trainable, "loss", lost=[ConnectionError])  # type: ignore[arg-type]


def test_no_design_is_suggested_while_the_budget_of_failures_may_be_used_up():
    failures = Failures(chance=0, budget=2)
    search = FailAwareOptunaSearch(sampler=BECBOSampler(seed=0, failures=failures))
    search.set_search_properties("loss", "min", {"x": tune.uniform(0, 1)})
    assert search.suggest("a") == search.suggest("a") != search.suggest("b")
    assert search.suggest("c") is None
    search.on_trial_complete("a", {"loss": 1.0})
    assert search.suggest("c") is not None


@pytest.mark.parametrize(
    ("metric", "mode"),
    [
        (["cost", "loss"], ["min", "max"]),
        (["strength", "cost"], ["max", "min"]),
        (["cost", "strength"], ["min", "min"]),
        ("cost", "min"),
    ],
)
def test_metrics_that_are_not_the_objectives_are_refused_at_once(
    metric: str | list[str], mode: str | list[str], tmp_path: Path
) -> None:
    outputs = [Objective("cost"), Objective("strength", "maximize"), Limit("stress", upper=1)]
    storage = open_storage(tmp_path / "study.db", heartbeat=None)
    search = FailAwareOptunaSearch(sampler=BECBOSampler(outputs=outputs), storage=storage)
    with pytest.raises(InvalidInput, match="use metric .'cost', 'strength'. and mode"):
        search.set_search_properties(metric, mode, {"x": tune.uniform(0, 1)})
    assert not optuna.get_all_study_names(storage)


def test_a_result_without_any_metric_is_a_failure() -> None:
    aware = fail_aware(lambda config: {"stress": 2.0}, ["cost", "strength"])
    result = aware({})
    assert result is not None
    assert result["stress"] == 2.0
    assert math.isnan(result["cost"])
    assert math.isnan(result["strength"])
