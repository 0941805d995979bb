"""Histories that a careless method would stumble over, each a function of its number alone.

`history` has one value: a space of 1 to 30 parameters, 1 to 60 experiments (a few have up to 200),
some of them pending or lost, some failed for a reason. Kinds take turns, see `KINDS`: clustered,
duplicated and degenerate designs, values and bounds of extreme scales, random labels, one class,
mixed, nearly exhausted and constrained spaces. What a kind does not fix is drawn from everything.

`several` takes the same designs and gives them one to five objectives, up to six limits and up to
two recorded outputs, of all scales, measured always, sometimes or never.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from becbo import (
    Categorical,
    Integer,
    Limit,
    LinearConstraint,
    Objective,
    Outcome,
    Real,
    Recorded,
    Result,
    Space,
    Trial,
)
from becbo.arrays import Array
from becbo.failures import DEFAULT, Failures
from becbo.outputs import Outputs
from becbo.proposers.base import region_of
from becbo.search.choice import ENUMERATE
from becbo.space import Constraint, Parameter
from becbo.trial import PENDING

SALT = 20  # other histories with another

Rng = np.random.Generator


# -- spaces ------------------------------------------------------------------------------------


def plain_space(d: int, rng: Rng) -> Space:
    """Reals as anybody would have them."""
    ends = [(0, 1), (-5, 5), (20, 1500), (-0.1, 0.3)]
    return Space([Real(f"x{i}", *ends[rng.integers(len(ends))]) for i in range(d)])


def extreme_space(d: int, rng: Rng) -> Space:
    """Bounds of all magnitudes, far apart or close together."""
    makers: list[Callable[[str, float], Parameter]] = [
        lambda name, size: Real(name, -size, size),
        lambda name, size: Real(name, 0, size),
        lambda name, size: Real(name, size, size * (1 + 10 ** rng.uniform(-11, -1))),
        lambda name, size: Real(name, size, size * 10 ** rng.uniform(0.01, 24), log=True),
        lambda name, size: Real(name, -size, size, step=2 * size / rng.integers(1, 10**6)),
        lambda name, size: Real(name, -1e300, 1e300),
        lambda name, size: Real(name, 1e-300, 1e300, log=True),
        lambda name, size: Integer(name, -(10**13), 10**13),
        lambda name, size: Integer(name, 1, 10**13, log=True),
    ]
    chosen = rng.integers(len(makers), size=d)
    return Space([makers[k](f"x{i}", 10 ** rng.uniform(-12, 12)) for i, k in enumerate(chosen)])


def mixed_space(d: int, rng: Rng) -> Space:
    """All sorts of parameters; up to 15, because a categorical has several columns."""
    makers: list[Callable[[str], Parameter]] = [
        lambda name: Real(name, 0, 1),
        lambda name: Real(name, 1e-6, 1e3, log=True),
        lambda name: Real(name, -1, 1, step=0.125),
        lambda name: Integer(name, 0, 1),
        lambda name: Integer(name, 1, 5000, log=True),
        lambda name: Integer(name, -40, 40, step=2),
        lambda name: Categorical(name, ["a", True, 1, None]),
        lambda name: Categorical(name, ["yes", "no"]),
    ]
    chosen = rng.integers(len(makers), size=min(d, 15))
    return Space([makers[k](f"x{i}") for i, k in enumerate(chosen)])


def tiny_space(d: int, rng: Rng) -> Space:
    """From 2 to 64 designs; sometimes some of them are forbidden."""
    makers: list[Callable[[str], Parameter]] = [
        lambda name: Integer(name, -1, int(rng.integers(3))),
        lambda name: Real(name, 0, 0.3, step=0.1),
        lambda name: Categorical(name, "abc"[: rng.integers(2, 4)]),
        lambda name: Integer(name, 1, 4, log=True),
    ]
    d = min(d, 3)
    parameters = [makers[k](f"x{i}") for i, k in enumerate(rng.integers(len(makers), size=d))]
    first = parameters[0]
    if d == 1 or isinstance(first, Categorical) or rng.random() < 0.5:
        return Space(parameters)
    return Space(parameters, [lambda params: params["x0"] > first.low])


def constrained_space(d: int, rng: Rng) -> Space:
    """Numbers in a slab, thin or thick, often with another condition; or whole ones that add up."""
    if d > 1 and rng.random() < 0.2:
        counts = [Integer(f"x{i}", 0, 40) for i in range(min(d, 5))]
        return Space(counts, [LinearConstraint({p.name: 1 for p in counts}, upper=20, lower=20)])
    parameters: list[Parameter] = [
        Integer(f"x{i}", 0, 60) if rng.random() < 0.3 else Real(f"x{i}", -1, 2) for i in range(d)
    ]
    inside = Space(parameters).decode(rng.random((1, d)))[0]
    weights = {p.name: float(rng.normal() / (p.high - p.low)) for p in parameters}  # type: ignore[union-attr]
    level = math.fsum(weights[name] * value for name, value in inside.items())
    room = 10 ** rng.uniform(-2, 0)
    lower = level - room if rng.random() < 0.5 else -math.inf
    constraints: list[Constraint] = [LinearConstraint(weights, level + room, lower)]
    if d >= 2 and rng.random() < 0.5:
        middle = inside["x0"] + inside["x1"]
        constraints.append(lambda params: params["x0"] + params["x1"] <= middle + 1)
    return Space(parameters, constraints)


SPACES = {
    "plain": plain_space,
    "extreme": extreme_space,
    "mixed": mixed_space,
    "tiny": tiny_space,
    "constrained": constrained_space,
}


# -- designs, values, labels -------------------------------------------------------------------


def scattered(n: int, space: Space, rng: Rng) -> Array:  # (n, dim)
    return rng.random((n, space.dim))


def clustered(n: int, space: Space, rng: Rng) -> Array:
    """Crowds around one to three centres, some of them at a bound, down to 1e-10."""
    centres = np.clip(rng.uniform(-0.2, 1.2, (rng.integers(1, 4), space.dim)), 0, 1)
    spread = 10.0 ** rng.uniform(-10, -3, (n, 1)) * rng.standard_normal((n, space.dim))
    return np.clip(centres[rng.integers(len(centres), size=n)] + spread, 0, 1)


def duplicated(n: int, space: Space, rng: Rng) -> Array:
    few = rng.random((1 + n // 3, space.dim))
    return few[rng.integers(len(few), size=n)]


def one_point(n: int, space: Space, rng: Rng) -> Array:
    return np.repeat(rng.random((1, space.dim)), n, axis=0)


def on_a_line(n: int, space: Space, rng: Rng) -> Array:
    return np.outer(np.linspace(0, 1, n), rng.choice([0.5, 1.0], space.dim))


def on_a_face(n: int, space: Space, rng: Rng) -> Array:
    return rng.random((n, space.dim)) * (rng.random(space.dim) < 0.3)


def in_corners(n: int, space: Space, rng: Rng) -> Array:
    return rng.integers(2, size=(n, space.dim)).astype(float)


def nearly_all(n: int, space: Space, rng: Rng) -> Array:
    """All but up to three designs of a tiny space, in any order."""
    del n
    everything = region_of(space, np.empty((0, space.dim))).enumerate(ENUMERATE)
    assert everything is not None
    left: Array = rng.permutation(everything)[rng.integers(4) :]
    return left if len(left) else everything


DESIGNS = {
    f.__name__.replace("_", " "): f
    for f in (scattered, clustered, duplicated, one_point, on_a_line, on_a_face, in_corners)
}

# (X, rng) -> values (n,)
VALUES: dict[str, Callable[[Array, Rng], Array]] = {
    "smooth": lambda X, rng: ((X - 0.4) ** 2).sum(axis=1),
    "random": lambda X, rng: rng.standard_normal(len(X)),
    "constant": lambda X, rng: np.full(len(X), rng.choice([0.0, -3.7, 1e100, 1e-100])),
    "almost constant": lambda X, rng: 1 + 10 ** rng.uniform(-16, -8) * rng.standard_normal(len(X)),
    "far from zero": lambda X, rng: 1e9 + X.sum(axis=1),
    "one outlier": lambda X, rng: X.sum(axis=1) + 1e12 * (np.arange(len(X)) == len(X) // 2),
    "heavy-tailed": lambda X, rng: np.exp(8 * rng.standard_normal(len(X))),
    "all magnitudes": lambda X, rng: (
        rng.choice([-1, 1], len(X)) * 10.0 ** rng.uniform(-300, 300, len(X))
    ),
    "huge": lambda X, rng: 1e300 * rng.uniform(-1, 1, len(X)),
    "minute": lambda X, rng: 1e-300 * X.sum(axis=1),
}

# (X, rng) -> which worked (n,)
LABELS: dict[str, Callable[[Array, Rng], Array]] = {
    "edge": lambda X, rng: X.mean(axis=1) < np.median(X.mean(axis=1)) + 0.05,
    "random": lambda X, rng: rng.random(len(X)) < rng.choice([0.1, 0.5, 0.9]),
    "all": lambda X, rng: np.ones(len(X), dtype=bool),
    "none": lambda X, rng: np.zeros(len(X), dtype=bool),
    "one": lambda X, rng: np.arange(len(X)) == rng.integers(len(X)),
    "all but one": lambda X, rng: np.arange(len(X)) != rng.integers(len(X)),
}


# -- histories ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a kind of history chooses from; None: everything."""

    spaces: Sequence[str] = ("plain", "extreme", "mixed", "tiny")  # constraints cost most
    designs: Sequence[str] | None = None
    values: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    open_share: float = 0.03  # of the experiments, pending or lost
    asks: Sequence[tuple[int, ...]] = ((1,),) * 10 + ((2,), (1, 1))


EXTREME_VALUES = "all magnitudes", "huge", "minute", "one outlier", "heavy-tailed", "far from zero"
KINDS = {
    "uniform": Kind(["plain"], ["scattered"], ["smooth"], ["edge"]),
    "clustered": Kind(designs=["clustered"]),
    "duplicated": Kind(designs=["duplicated"], labels=["edge", "random", "all"]),
    "degenerate": Kind(designs=["one point", "on a line", "on a face", "in corners"]),
    "constant": Kind(values=["constant", "almost constant"], labels=["edge", "random", "all"]),
    "extreme values": Kind(values=EXTREME_VALUES, labels=["edge", "random", "all"]),
    "extreme bounds": Kind(["extreme"]),
    "random labels": Kind(labels=["random"]),
    "one class": Kind(labels=["all", "none"]),
    "mixed": Kind(["mixed"]),
    "nearly exhausted": Kind(["tiny"], ["nearly all"], asks=[(1,), (1,), (2,), (1, 1, 1)]),
    "constrained": Kind(["constrained"]),
    "pending": Kind(open_share=0.3, asks=[(1,), (1,), (3,), (1, 1)]),
}


@dataclass(frozen=True)
class History:
    """What a method is given, and how it is asked."""

    number: int
    kind: str
    parts: tuple[str, ...]  # space, designs, values and labels, by name
    space: Space
    trials: tuple[Trial, ...]
    outputs: Outputs
    noisy: bool
    n_initial: int
    asks: tuple[int, ...]  # how many designs at a time
    risk: float | None = None
    failures: Failures = DEFAULT  # for methods that take them into account


FAILURES = (
    Failures(chance=0.0),
    Failures(chance=0.1, price=3.0),
    Failures(chance=0.9),
    Failures(price=1e6),
    Failures(chance=0.02, budget=10_000),
)
REASONS = "", "melted", "bent, cracked", "cracked"


def history(number: int) -> History:
    """The history of that number."""
    rng = np.random.default_rng((SALT, number))
    name = list(KINDS)[number % len(KINDS)]
    kind = KINDS[name]
    tables: list[Mapping[str, Any]] = [SPACES, DESIGNS, VALUES, LABELS]
    choices = (kind.spaces, kind.designs, kind.values, kind.labels)
    parts = tuple(
        str(rng.choice(choice or list(table)))
        for table, choice in zip(tables, choices, strict=True)
    )
    space = SPACES[parts[0]](log_uniform(30, rng), rng)
    n = log_uniform(60, rng) if rng.random() < 0.99 else int(rng.integers(60, 200))
    designs = space.decode((DESIGNS | {"nearly all": nearly_all})[parts[1]](n, space, rng))
    X = space.encode(designs)
    values, worked = VALUES[parts[2]](X, rng), LABELS[parts[3]](X, rng)
    is_open = rng.random(len(X)) < kind.open_share
    lost = rng.random(len(X)) < 0.3
    # From a stream of their own: every third history has reasons, and the others stay as they were.
    why = np.random.default_rng((SALT, number, 1)).choice(REASONS, len(X)).tolist()
    reasons = why if number % 3 == 0 else [None] * len(X)
    trials = [
        Trial(i, params, Result.lost() if lost[i] else PENDING)
        if is_open[i]
        else Trial(i, params, Result.ok({"value": float(values[i])}))
        if worked[i]
        else Trial(i, params, Result.failed(reasons[i]))
        for i, params in enumerate(designs)
    ]
    return History(
        number,
        name,
        parts,
        space,
        tuple(trials),
        outputs=Outputs.of(str(rng.choice(["minimize", "maximize"]))),
        noisy=bool(rng.random() < 0.1),
        n_initial=10 if rng.random() < 0.05 else 1,
        asks=kind.asks[int(rng.integers(len(kind.asks)))],
    )


def log_uniform(high: int, rng: Rng) -> int:
    """A whole number from 1 to `high`, mostly a small one."""
    return int((high + 1) ** rng.random())


# -- several outputs ---------------------------------------------------------------------------

# (which worked, rng) -> which were measured (n,); and how often that is so
MEASURED: dict[str, tuple[float, Callable[[Array, Rng], Array]]] = {
    "always": (0.45, lambda worked, rng: np.ones(len(worked), dtype=bool)),
    "if it worked": (0.25, lambda worked, rng: worked),
    "now and then": (0.15, lambda worked, rng: rng.random(len(worked)) < 0.5),
    "once": (0.1, lambda worked, rng: np.arange(len(worked)) == rng.integers(len(worked))),
    "never": (0.05, lambda worked, rng: np.zeros(len(worked), dtype=bool)),
}


def several(number: int) -> History:
    """The designs of the history of that number, with several outputs."""
    base, rng = history(number), np.random.default_rng((SALT, number, 2))
    X = base.space.encode([trial.params for trial in base.trials])
    makers = [objective] * log_uniform(5, rng) + [limit] * int(rng.integers(7))
    makers += [recorded] * int(rng.integers(3))
    columns = {f"y{i}": VALUES[str(rng.choice(list(VALUES)))](X, rng) for i in range(len(makers))}
    made = zip(makers, columns.items(), strict=True)
    outputs = Outputs.of([make(name, column, rng) for make, (name, column) in made])
    worked = np.array([trial.outcome is Outcome.OK for trial in base.trials])
    weights, styles = zip(*MEASURED.values(), strict=True)
    is_measured = {
        name: styles[rng.choice(len(styles), p=weights)](worked, rng) for name in columns
    }
    names = [limit.name for limit in outputs.limits]
    words = [*REASONS, *names, *(f"{name} 12.5" for name in names), f"{', '.join(names)}, melted"]

    def result(i: int) -> Result:
        values = {
            name: float(column[i]) if is_measured[name][i] else None
            for name, column in columns.items()
        }
        if not worked[i]:
            return Result.failed(str(rng.choice(words)) if number % 3 else None, values)
        return Result.ok(values if any(v is not None for v in values.values()) else {"y0": 0.0})

    trials = tuple(
        replace(t, result=result(i)) if t.outcome.is_answer else t
        for i, t in enumerate(base.trials)
    )
    risk = float(rng.choice([0.01, 0.2, 0.9])) if rng.random() < 0.1 else None
    failures = FAILURES[rng.integers(len(FAILURES))] if rng.random() < 0.3 else DEFAULT
    return replace(base, trials=trials, outputs=outputs, risk=risk, failures=failures)


def objective(name: str, column: Array, rng: Rng) -> Objective:
    """To be minimised, maximised or to hit a target, which may have been hit already."""
    marks = [0.0, float(column[0]), float(np.median(column)), 1e3 * float(np.abs(column).max())]
    chosen, other = rng.choice(marks, 2).tolist()
    reference = other if rng.random() < 0.2 else None
    if rng.random() < 0.2:
        return Objective(name, target=chosen, reference=reference)
    return Objective(name, str(rng.choice(["minimize", "maximize"])), reference=reference)


def limit(name: str, column: Array, rng: Rng) -> Limit:
    """Bounds at measured values, or far beyond all of them."""
    low, high = sorted(rng.choice(column, 2).tolist())
    size = float(np.abs(column).max()) or 1.0
    if rng.random() < 0.1:
        low, high = low - 1e3 * size, high + 1e3 * size
    if low == high:
        high = low + 0.1 * size
    side = rng.integers(3)
    return Limit(name, lower=None if side == 0 else low, upper=None if side == 1 else high)


def recorded(name: str, column: Array, rng: Rng) -> Recorded:
    del column, rng
    return Recorded(name)
