"""Optimise a function of one's own that fails in part of its space."""

import becbo
from becbo import Real, Space

space = Space([Real("temperature", 20, 200), Real("pressure", 1, 50, log=True)])


def experiment(params):
    t, p = params["temperature"], params["pressure"]
    if t + 4 * p > 250:
        raise becbo.Infeasible("it melted")  # there is no value
    return (t - 180) ** 2 / 1000 - p


result = becbo.minimize(experiment, space, budget=40, seed=0)
print(f"best value {result.best.value:.3f} at {result.best.params}, {result.n_failed} failed")
