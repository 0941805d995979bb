"""Histories with several outputs that a careless method would stumble over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from conformance import CATEGORICAL, CONSTRAINED, MIXED, random_designs, reals

from becbo import Limit, Objective, Recorded, Result, Space, Trial
from becbo.outputs import Output, Outputs

Values = Mapping[str, float | None]

TWO = (Objective("a"), Objective("b", "maximize"))
THREE = (*TWO, Objective("c"))
FOUR = (*THREE, Objective("d", "maximize"))
FIVE = (*FOUR, Objective("e"))
LIMITS = (Limit("low", lower=0.1), Limit("high", upper=0.8), Limit("both", lower=0.05, upper=0.9))
RECORDED = Recorded("noted")


def measure(x: np.ndarray) -> dict[str, float]:  # (d,)
    """Every output that any history here has, at a point of the unit cube."""
    bowls = {name: float(((x - 0.15 * i) ** 2).mean()) for i, name in enumerate("abcde", 1)}
    planes = {"low": x.mean(), "high": x[0], "both": x[-1], "noted": x.mean() ** 2}
    return {**bowls, "b": -bowls["b"], "d": -bowls["d"], **{k: float(v) for k, v in planes.items()}}


def works(x: np.ndarray) -> bool:  # (d,)
    """Nobody knows why, but the far corner fails."""
    return bool(x.mean() < 0.6)


@dataclass(frozen=True)
class OutputSituation:
    """A space, what experiments return, and a history."""

    name: str
    space: Space
    outputs: Outputs
    trials: list[Trial]

    @property
    def measured(self) -> set[str]:
        """The outputs that were measured at least once."""
        return {k for t in self.trials for k, v in t.values.items() if v is not None}


Tell = Callable[[int, bool, dict[str, float]], Result]


def as_it_is(i: int, worked: bool, values: dict[str, float]) -> Result:
    """Values of what worked, nothing of what failed."""
    del i
    return Result.ok(values) if worked else Result.failed()


def situation(
    name: str, outputs: Sequence[Output], tell: Tell = as_it_is, space: Space | None = None
) -> OutputSituation:
    """Fourteen random designs; `tell` says what came of each, given what it would measure."""
    space = space or reals(2)
    names = [output.name for output in outputs]
    trials = []
    for i, params in enumerate(random_designs(space, 14)):
        x = space.encode([params])[0]
        every = measure(x)
        trials.append(Trial(i, params, tell(i, works(x), {name: every[name] for name in names})))
    return OutputSituation(name, space, Outputs.of(outputs), trials)


def without(*names: str) -> Tell:
    """Some outputs are never measured."""
    return lambda i, worked, values: as_it_is(
        i, worked, {k: v for k, v in values.items() if k not in names}
    )


def constant(*names: str) -> Tell:
    """Some outputs are the same everywhere."""
    return lambda i, worked, values: as_it_is(
        i, worked, {k: 0.7 if k in names else v for k, v in values.items()}
    )


def odd(i: int, worked: bool, values: dict[str, float]) -> Result:
    """One objective and a limit are constant, another limit is never measured."""
    rest = {k: 0.7 if k in ("b", "low") else v for k, v in values.items() if k != "high"}
    return as_it_is(i, worked, rest)


def scaled(**factors: float) -> Tell:
    """Some outputs are of another magnitude."""
    return lambda i, worked, values: as_it_is(
        i, worked, {k: factors.get(k, 1.0) * v for k, v in values.items()}
    )


def partial(i: int, worked: bool, values: dict[str, float]) -> Result:
    """Each experiment leaves one output out."""
    names = list(values)
    return as_it_is(i, worked, {k: v for k, v in values.items() if k != names[i % len(names)]})


def one_each(i: int, worked: bool, values: dict[str, float]) -> Result:
    """No experiment measures two outputs."""
    name = list(values)[i % len(values)]
    return as_it_is(i, worked, {name: values[name]})


def failed_with_values(i: int, worked: bool, values: dict[str, float]) -> Result:
    """Failures measure every other output."""
    return Result.ok(values) if worked else Result.failed(measured=dict(list(values.items())[::2]))


def all_fail(i: int, worked: bool, values: dict[str, float]) -> Result:
    return Result.failed()


def all_fail_with_values(i: int, worked: bool, values: dict[str, float]) -> Result:
    return Result.failed(measured=values)


def one_value_and_failures(i: int, worked: bool, values: dict[str, float]) -> Result:
    return Result.ok(values) if i == 7 else Result.failed()


def all_work(i: int, worked: bool, values: dict[str, float]) -> Result:
    return Result.ok(values)


def named(i: int, worked: bool, values: dict[str, float]) -> Result:
    """What breaks a limit fails and says which, without a number."""
    broken = [limit.name for limit in LIMITS if not _keeps(limit, values[limit.name])]
    if broken:
        return Result.failed(", ".join(broken))
    return as_it_is(i, worked, values)


def named_and_measured(i: int, worked: bool, values: dict[str, float]) -> Result:
    """What breaks a limit fails and says which, with the numbers."""
    result = named(i, worked, values)
    return Result.failed(result.reasons, values) if result.reasons else result


def named_with_other_reasons(i: int, worked: bool, values: dict[str, float]) -> Result:
    """Reasons name limits, other causes, both or nothing."""
    result = named(i, worked, values)
    if result.reasons:
        more = ["melted", "", "cracked"][i % 3]
        return Result.failed(", ".join(filter(None, [str(result.reasons), more])))
    return result if worked else Result.failed(["melted", "cracked", "melted, cracked"][i % 3])


def named_and_contradicted(i: int, worked: bool, values: dict[str, float]) -> Result:
    """A failure names a limit that its own measurement keeps."""
    return Result.ok(values) if i % 2 else Result.failed("high", {**values, "high": 0.1})


def _keeps(limit: Limit, value: float) -> bool:
    return limit.bounds[0] <= value <= limit.bounds[1]


def repeated(name: str, tell: Tell, outputs: Sequence[Output]) -> OutputSituation:
    """Three designs, each tried four times."""
    base = situation(name, outputs, all_work)
    trials = [
        Trial(i, base.trials[i % 3].params, tell(i, i % 4 != 1, dict(base.trials[i].values)))
        for i in range(12)
    ]
    return OutputSituation(name, base.space, base.outputs, trials)


ALL = (*TWO, *LIMITS, RECORDED)
TARGETS = (Objective("a", target=0.2), Objective("c", target=0.1), Objective("b", "maximize"))
MANY = (*FOUR, *LIMITS)
NEVER = (*TWO, Limit("low", lower=2.0))
HUGE, TINY = 1e300, 1e-200
SITUATIONS = [
    situation("two objectives", TWO),
    situation("three objectives", THREE),
    situation("four objectives", FOUR),
    situation("five objectives", FIVE),
    situation("a target", [Objective("a", target=0.2)]),
    situation("a target that was hit", [Objective("a", target=0.7)], constant("a")),
    situation("targets and directions", [Objective("a", target=0.2), *TWO[1:], RECORDED]),
    situation("four targets", [Objective(k, target=0.1) for k in "abcd"]),
    situation("references", [Objective("a", reference=0.3), Objective("b", "maximize")]),
    situation("a reference that nothing reaches", [Objective("a", reference=-1.0), TWO[1]]),
    situation("a reference far away", [Objective("a", reference=HUGE), TWO[1]]),
    situation("a recorded output", [TWO[0], RECORDED]),
    situation("a lower limit", [TWO[0], LIMITS[0]]),
    situation("an upper limit", [TWO[0], LIMITS[1]]),
    situation("a limit on both sides", [TWO[0], LIMITS[2]]),
    situation("three limits", [TWO[0], *LIMITS]),
    situation("everything", ALL),
    situation("everything and four objectives", (*FOUR, *LIMITS, RECORDED), named),
    situation("everything and five objectives", (*FIVE, *LIMITS, RECORDED)),
    situation("everything and a target", (*TARGETS, *LIMITS, RECORDED), named_with_other_reasons),
    situation("nothing works", ALL, all_fail),
    situation("nothing works and all is measured", ALL, all_fail_with_values),
    situation("limits explain every failure", [*TWO, Limit("low", 2.0)], all_fail_with_values),
    situation("nothing is acceptable", [*TWO, Limit("low", lower=2.0)], all_work),
    situation("nothing is acceptable, far off", [*TWO, Limit("low", lower=1e9)], all_work),
    situation("limits exclude each other", [TWO[0], Limit("low", 0.9), Limit("high", upper=0.1)]),
    situation("one is acceptable", ALL, one_value_and_failures),
    situation("everything works", ALL, all_work),
    situation("constant objectives", ALL, constant("a", "b")),
    situation("one constant objective", ALL, constant("b")),
    situation("constant limits", ALL, constant("low", "high", "both")),
    situation("a constant at its bound", [TWO[0], Limit("low", lower=0.7)], constant("low")),
    situation("a constant record", ALL, constant("noted")),
    situation("an objective never measured", ALL, without("b")),
    situation("no objective measured", ALL, without("a", "b")),
    situation("a limit never measured", ALL, without("high")),
    situation("a record never measured", ALL, without("noted")),
    situation("partial values", ALL, partial),
    situation("one output each", ALL, one_each),
    situation("failures with values", ALL, failed_with_values),
    situation("limits that are named", ALL, named),
    situation("limits that are named and measured", ALL, named_and_measured),
    situation("limits and other reasons", ALL, named_with_other_reasons),
    situation("a limit that is named and kept", ALL, named_and_contradicted),
    situation("many inputs", ALL, space=reals(6)),
    situation("many inputs and named limits", ALL, named, reals(5)),
    situation("many inputs and other reasons", ALL, named_with_other_reasons, reals(5)),
    situation("known constraints", ALL, space=CONSTRAINED["a callable"]),
    situation("known linear constraints", ALL, named, CONSTRAINED["whole numbers"]),
    situation("mixed", ALL, named, MIXED),
    situation("only categoricals", ALL, named, CATEGORICAL),
    situation("mixed, nothing works", ALL, all_fail, MIXED),
    situation("mixed, nothing is acceptable", NEVER, all_work, MIXED),
    situation("mixed, four objectives", MANY, named, MIXED),
    situation("mixed, targets", (*TARGETS, *LIMITS), named_and_measured, MIXED),
    situation("mixed, a constant and a value never measured", ALL, odd, MIXED),
    situation("constrained, nothing is acceptable", NEVER, all_work, CONSTRAINED["a callable"]),
    situation("constrained, four objectives", MANY, named, CONSTRAINED["whole numbers"]),
    situation("constrained, targets", (*TARGETS, *LIMITS), named, CONSTRAINED["a callable"]),
    situation("constrained, partial values", ALL, partial, CONSTRAINED["whole numbers"]),
    situation("four objectives twelve orders apart", MANY, scaled(a=1e6, b=1e-6, low=1e6, d=1e-6)),
    situation("twelve orders apart", ALL, scaled(a=1e6, b=1e-6, low=1e6, high=1e-6, noted=1e-12)),
    situation("huge", ALL, scaled(**dict.fromkeys(("a", "b", "low", "high", "noted"), HUGE))),
    situation("tiny", ALL, scaled(**dict.fromkeys(("a", "b", "low", "high", "noted"), TINY))),
    situation("huge and tiny", ALL, scaled(a=HUGE, b=TINY, low=TINY, high=HUGE)),
    situation("huge bounds", [TWO[0], Limit("low", upper=HUGE), Limit("high", -HUGE, HUGE)]),
    situation("a huge target", [Objective("a", target=HUGE), Objective("b", target=TINY)]),
    repeated("repeated designs", as_it_is, ALL),
    repeated("repeated designs and named limits", named, ALL),
]
