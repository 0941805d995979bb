"""An Optuna study whose trials crash: one changed line makes it learn from the crashes."""

import optuna

from becbo.optuna import BECBOSampler

optuna.logging.set_verbosity(optuna.logging.ERROR)  # one line per crash is too much here


def train(rate, width):
    """Stands for your program: the best settings lie right beside those that crash."""
    if rate * width > 3:
        raise MemoryError("out of memory")
    return 1 / (rate * width) + 0.1 * abs(width - 40) / 40


def objective(trial):
    rate = trial.suggest_float("rate", 1e-3, 1, log=True)
    width = trial.suggest_int("width", 8, 128)
    return train(rate, width)


def run(sampler):
    study = optuna.create_study(sampler=sampler)
    # Trials that raise one of these end as failed, and the study goes on. Optuna has always
    # done so; but what failed, its own samplers forget.
    study.optimize(objective, n_trials=40, catch=(MemoryError,))
    states = [trial.state.name for trial in study.trials]
    print(
        f"{type(sampler).__name__:13} best {study.best_value:.4f} with "
        f"rate {study.best_params['rate']:.4f}, width {study.best_params['width']}; "
        f"{states.count('FAIL')} of {len(states)} crashed"
    )


print("the best possible value is 0.3333: rate 0.0750, width 40")
run(optuna.samplers.TPESampler(seed=0))
run(BECBOSampler(seed=0))  # this is the changed line
