"""Hundreds of odd histories: no exception, no warning, no bad and no repeated proposal."""

import numpy as np
import pytest
from conformance import assert_new, assert_sound, history

from becbo import BecboError, Categorical, Integer, Optimizer, Real, Space, Trial
from becbo.search.choice import AGAIN, REPEAT

N_SEEDS = 8


def real_space(d: int, rng: np.random.Generator) -> Space:
    lows = rng.choice([0.0, -1e-3, 1e-9, -1e6, 1e9], d)
    return Space([Real(f"x{i}", low, low + max(abs(low), 1)) for i, low in enumerate(lows)])


def mixed_space(d: int, rng: np.random.Generator) -> Space:
    kinds = [
        lambda name: Real(name, 1e-6, 1e3, log=True),
        lambda name: Integer(name, 0, 3),
        lambda name: Integer(name, 1, 5000, log=True),
        lambda name: Categorical(name, ["a", True, 1, None]),
        lambda name: Real(name, -1, 1, step=0.125),
        lambda name: Integer(name, -40, 40, step=2),
    ]
    chosen = rng.integers(len(kinds), size=d)
    return Space([Real("x", 0, 1), *[kinds[k](f"p{i}") for i, k in enumerate(chosen)]])


SPACES = {"reals": real_space, "mixed": mixed_space}

# (n, d, rng) -> points of the unit cube
DESIGNS = {
    "scattered": lambda n, d, rng: rng.random((n, d)),
    "clustered": lambda n, d, rng: (
        rng.random((1, d)) * 0.9 + 0.1 * rng.random((n, d)) * 10.0 ** rng.uniform(-8, 0, (n, 1))
    ),
    "duplicated": lambda n, d, rng: rng.random((3, d))[rng.integers(3, size=n)],
    "on a line": lambda n, d, rng: np.linspace(0, 1, n)[:, None] * np.ones(d),
    "in corners": lambda n, d, rng: rng.integers(2, size=(n, d)).astype(float),
    "in a plane": lambda n, d, rng: rng.random((n, d)) * (np.arange(d) < 2),
}

# (X, rng) -> values
VALUES = {
    "smooth": lambda X, rng: ((X - 0.4) ** 2).sum(axis=1),
    "constant": lambda X, rng: np.full(len(X), rng.choice([0.0, -3.0, 1e100])),
    "random": lambda X, rng: rng.standard_normal(len(X)),
    "of all magnitudes": lambda X, rng: (
        rng.choice([-1, 1], len(X)) * 10.0 ** rng.uniform(-6, 6, len(X))
    ),
    "heavy-tailed": lambda X, rng: np.exp(8 * rng.standard_normal(len(X))),
    "huge": lambda X, rng: 1e300 * rng.uniform(-1, 1, len(X)),
    "tiny": lambda X, rng: 1e-150 * X.sum(axis=1),
    "almost constant": lambda X, rng: 1.0 + 1e-14 * rng.standard_normal(len(X)),
    "one outlier": lambda X, rng: X.sum(axis=1) + 1e12 * (np.arange(len(X)) == 0),
}

# (X, rng) -> which worked
LABELS = {
    "random": lambda X, rng: rng.random(len(X)) < 0.5,
    "half": lambda X, rng: X[:, 0] < 0.5,
    "all": lambda X, rng: np.ones(len(X), dtype=bool),
    "none": lambda X, rng: np.zeros(len(X), dtype=bool),
    "one": lambda X, rng: np.arange(len(X)) == len(X) // 2,
    "all but one": lambda X, rng: np.arange(len(X)) != len(X) // 2,
}


CARE = {
    "known luck": lambda rng: {"failures": {"chance": float(rng.choice([0.0, 0.1, 0.9]))}},
    "a price": lambda rng: {"failures": {"price": float(rng.choice([0.1, 5.0, 1e6]))}},
    "a budget": lambda rng: {"failures": {"budget": int(rng.integers(1, 12))}, "n_planned": 20},
    "a risk": lambda rng: {"risk": float(rng.choice([1e-6, 0.2, 0.999]))},
    "everything": lambda rng: {
        "failures": {"chance": 0.2, "price": 5.0, "budget": int(rng.integers(1, 30))},
        "risk": 0.1,
    },
}


def pick(options: dict, rng: np.random.Generator):
    return options[list(options)[rng.integers(len(options))]]


def draw(designs: str, labels: str, rng: np.random.Generator) -> tuple[Space, list[Trial]]:
    """A space, and a history of 1 to 24 experiments in it."""
    space = pick(SPACES, rng)(int(rng.integers(1, 9)), rng)
    X = DESIGNS[designs](int(rng.integers(1, 25)), space.dim, rng)
    worked = LABELS[labels](X, rng)
    values = pick(VALUES, rng)(X, rng)
    outcomes = [float(v) if ok else None for v, ok in zip(values, worked, strict=True)]
    return space, history(space, space.decode(X), outcomes)


@pytest.mark.parametrize("seed", range(N_SEEDS))
@pytest.mark.parametrize("designs", DESIGNS)
@pytest.mark.parametrize("labels", LABELS)
def test_any_history_gets_a_sound_proposal(designs: str, labels: str, seed: int) -> None:
    rng = np.random.default_rng([list(DESIGNS).index(designs), list(LABELS).index(labels), seed])
    space, trials = draw(designs, labels, rng)
    has_worked = any(trial.is_feasible for trial in trials)
    optimizer = Optimizer(space, seed=seed, n_initial=1, trials=trials)
    asked = optimizer.ask(1 + seed % 2)
    assert_new(space, asked, trials)
    for trial in asked:
        said = trial.believed
        assert said is not None
        numbers = [said.p_feasible, *said.band, *([said.mean, said.std] if has_worked else [])]
        assert np.all(np.isfinite(numbers))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("care", CARE)
@pytest.mark.parametrize("designs", DESIGNS)
@pytest.mark.parametrize("labels", LABELS)
def test_whatever_failures_cost(designs: str, labels: str, care: str, seed: int) -> None:
    """A sound proposal and outlook; nothing unproven once the failures are spent."""
    keys = (list(DESIGNS).index(designs), list(LABELS).index(labels), list(CARE).index(care))
    rng = np.random.default_rng([*keys, seed])
    space, trials = draw(designs, labels, rng)
    told = CARE[care](rng)
    noisy = bool(rng.integers(2))
    optimizer = Optimizer(space, seed=seed, n_initial=1, noisy=noisy, trials=trials, **told)
    seen = optimizer.outlook
    assert_sound(seen)
    proven = [trial.params for trial in trials if trial.is_feasible]
    budget = told.get("failures", {}).get("budget", np.inf)
    is_spent = len(trials) - sum(t.is_feasible for t in trials) >= budget
    if is_spent and not proven:
        with pytest.raises(BecboError, match="nothing has worked so far"):
            optimizer.ask()
        return
    asked = optimizer.ask()
    if is_spent:
        assert asked.params in proven and seen.chance(20) == 0
    elif asked.origin not in (AGAIN, REPEAT):
        assert_new(space, [asked], trials)
    assert asked.believed is not None and 0 <= asked.believed.p_feasible <= 1
    assert (asked.origin == REPEAT) == (seen.odds == 0) or not seen.left
