"""Ray Tune with trials that crash: one search algorithm, one wrapper.

pip install 'becbo[ray]'
python examples/ray_tune.py
"""

import math

from ray import tune

from becbo.optuna import BECBOSampler
from becbo.optuna.ray import FailAwareOptunaSearch, fail_aware


def simulate(config):
    """The larger the load the better, but above a hidden limit the simulation crashes."""
    load, width = config["load"], config["width"]
    if load > 4 + 2 * math.sin(width):
        raise RuntimeError("the mesh collapsed")
    return {"loss": -load + 0.1 * width}


def main():
    tuner = tune.Tuner(
        # An exception means that the design failed. A worker that dies means nothing: its design
        # is tried again.
        fail_aware(simulate, "loss"),
        param_space={"load": tune.uniform(0, 10), "width": tune.uniform(0, 5)},
        tune_config=tune.TuneConfig(
            metric="loss",
            mode="min",
            search_alg=FailAwareOptunaSearch(sampler=BECBOSampler(seed=0)),
            num_samples=30,
            max_concurrent_trials=2,
        ),
        run_config=tune.RunConfig(verbose=0),
    )
    results = tuner.fit().get_dataframe()
    worked = results[results["loss"].notna()]
    best = worked.loc[worked["loss"].idxmin()]
    print(f"{len(results) - len(worked)} of {len(results)} trials failed")
    print(f"best: loss {best['loss']:.4f} at load {best['config/load']:.3f}, "
          f"width {best['config/width']:.3f} (the best possible is about -5.85)")  # fmt: skip


if __name__ == "__main__":
    main()
