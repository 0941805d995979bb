"""What an experiment returns: objectives to optimise, limits to keep, numbers to record.

An output is a named number. A design is acceptable when its experiment worked and every limit
that was measured is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from becbo.checks import finite_value
from becbo.errors import InvalidInput

DIRECTIONS = ("minimize", "maximize")

T = TypeVar("T")


@dataclass(frozen=True)
class Objective:
    """A number to optimise.

    Args:
        name: what it is called in results.
        direction: "minimize" or "maximize"; left out if there is a target.
        target: the value to hit, instead of a direction.
        unit: for people; nothing is computed with it.
        reference: a value that is just not good enough. With several objectives, improvements
            are measured from there; None takes it from the results.

    Raises:
        InvalidInput: if the name, direction, target or reference cannot be used.

    Examples:
        >>> outputs = [Objective("strength", "maximize"), Objective("ph", target=7.0)]
        >>> optimizer = Optimizer(space, outputs)
    """

    name: str = "value"
    direction: str | None = None
    target: float | None = None
    unit: str = ""
    reference: float | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.target is None and self.direction is None:
            object.__setattr__(self, "direction", "minimize")
        if self.target is not None and self.direction is not None:
            raise InvalidInput(
                f"objective {self.name!r} has direction {self.direction!r} and target "
                f"{self.target!r}; give one of them"
            )
        if self.direction is not None and self.direction not in DIRECTIONS:
            raise InvalidInput(
                f"direction {self.direction!r} of {self.name!r} must be 'minimize' or 'maximize'"
            )
        for what in ("target", "reference"):
            _check_bound(self, what)

    @property
    def bounds(self) -> tuple[float, float]:
        """Values that are acceptable: all of them."""
        return -math.inf, math.inf

    @property
    def wish(self) -> str:
        """What is wanted of it, in words: `as large as possible`."""
        if self.target is not None:
            return f"as close to {self.target:.12g} as possible"
        return f"as {'large' if self.direction == 'maximize' else 'small'} as possible"

    def orient(self, value: float) -> float:
        """The value as models see it: to be maximised, or the distance above the target."""
        if self.target is not None:
            return value - self.target
        return value if self.direction == "maximize" else -value

    def restore(self, oriented: float) -> float:
        """The value that `orient` turned into this."""
        if self.target is not None:
            return oriented + self.target
        return oriented if self.direction == "maximize" else -oriented

    def gain(self, value: float) -> float:
        """How good a value is: larger is better."""
        return self.orient(value) if self.target is None else -abs(self.orient(value))


@dataclass(frozen=True)
class Limit:
    """A number that must stay within bounds.

    Args:
        name: what it is called in results. A failure whose reason is this name, without a
            measured number, counts as a value beyond the limit.
        lower: the smallest acceptable value; None if there is none.
        upper: the largest acceptable value; None if there is none.
        unit: for people; nothing is computed with it.

    Raises:
        InvalidInput: if the name or the bounds cannot be used.

    Examples:
        >>> optimizer = Optimizer(space, [Objective("cost"), Limit("viscosity", upper=200)])
        >>> trial = optimizer.tell(optimizer.ask(), {"cost": 3.1, "viscosity": 120})
    """

    name: str
    lower: float | None = None
    upper: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        _check_name(self.name)
        for what in ("lower", "upper"):
            _check_bound(self, what)
        low, high = self.bounds
        if low == -math.inf and high == math.inf:
            raise InvalidInput(f"limit {self.name!r} needs `lower` or `upper`, or both")
        if not low < high:
            raise InvalidInput(f"limit {self.name!r}: lower {low!r} must be below upper {high!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest acceptable value."""
        return (
            -math.inf if self.lower is None else self.lower,
            math.inf if self.upper is None else self.upper,
        )

    @property
    def wish(self) -> str:
        """What is wanted of it, in words: `at most 200`."""
        if self.lower is None:
            return f"at most {self.upper:.12g}"
        if self.upper is None:
            return f"at least {self.lower:.12g}"
        return f"from {self.lower:.12g} to {self.upper:.12g}"

    def margin(self, value: float) -> float:
        """The distance of a value from the nearest bound; negative if the limit is broken."""
        low, high = self.bounds
        return min(value - low, high - value)

    def orient(self, value: float) -> float:
        """The value as models see it: as it is."""
        return value

    def restore(self, oriented: float) -> float:
        """The value that `orient` turned into this."""
        return oriented


@dataclass(frozen=True)
class Recorded:
    """A number that is kept and predicted, and neither optimised nor limited.

    Args:
        name: what it is called in results.
        unit: for people; nothing is computed with it.

    Raises:
        InvalidInput: if the name cannot be used.

    Examples:
        >>> optimizer = Optimizer(space, [Objective("cost"), Recorded("colour")])
    """

    name: str
    unit: str = ""

    def __post_init__(self) -> None:
        _check_name(self.name)

    @property
    def bounds(self) -> tuple[float, float]:
        """Values that are acceptable: all of them."""
        return -math.inf, math.inf

    @property
    def wish(self) -> str:
        """What is wanted of it, in words: nothing."""
        return "recorded only"

    def orient(self, value: float) -> float:
        """The value as models see it: as it is."""
        return value

    def restore(self, oriented: float) -> float:
        """The value that `orient` turned into this."""
        return oriented


class Output(Protocol):
    """One number that an experiment returns."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def unit(self) -> str:
        """Its unit, for people."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest acceptable value."""
        ...

    @property
    def wish(self) -> str:
        """What is wanted of it, in words."""
        ...

    def orient(self, value: float) -> float:
        """The value as models see it."""
        ...

    def restore(self, oriented: float) -> float:
        """The value that `orient` turned into this."""
        ...


@dataclass(frozen=True)
class Outputs:
    """The outputs of an experiment, checked: at least one objective, no name twice."""

    objectives: tuple[Objective, ...]
    limits: tuple[Limit, ...] = ()
    recorded: tuple[Recorded, ...] = ()

    @classmethod
    def of(cls, spec: str | Output | Sequence[Output] | Outputs) -> Outputs:
        """Reads what a user asks for.

        Args:
            spec: "minimize" or "maximize" for one objective without a name, an objective, a list
                of outputs, or outputs as they are.

        Returns:
            The outputs.

        Raises:
            InvalidInput: if there is no objective, a name stands twice or an entry is no output.
        """
        if isinstance(spec, Outputs):
            return spec
        if isinstance(spec, str):
            return cls((Objective(direction=spec),))
        entries = list(spec) if isinstance(spec, Sequence) else [spec]
        kinds: dict[type, list[Any]] = {Objective: [], Limit: [], Recorded: []}
        for entry in entries:
            if type(entry) not in kinds:
                raise InvalidInput(
                    f"output {entry!r} must be an Objective, a Limit or Recorded, as in "
                    '[Objective("cost", "minimize"), Limit("stress", upper=200)]'
                )
            kinds[type(entry)].append(entry)
        outputs = cls(*(tuple(kind) for kind in kinds.values()))
        if not outputs.objectives:
            raise InvalidInput(f"outputs {entries!r} have no Objective; add what to optimise")
        repeated = sorted({name for name in outputs.names if outputs.names.count(name) > 1})
        if repeated:
            raise InvalidInput(f"outputs: {', '.join(repeated)} stands more than once")
        return outputs

    def __iter__(self) -> Iterator[Output]:
        yield from self.objectives
        yield from self.limits
        yield from self.recorded

    @cached_property  # asked for every trial that is read
    def names(self) -> tuple[str, ...]:
        """The names of all outputs: objectives, limits, then the others."""
        return tuple(output.name for output in self)

    @property
    def is_single(self) -> bool:
        """Whether there is one output: an objective with a direction."""
        return len(self.names) == 1 and self.objectives[0].target is None

    def values(self, given: Any) -> dict[str, float | None]:
        """Checks what an experiment returned.

        Args:
            given: a number where there is one output, or a mapping of names to numbers. An
                output that is None or left out was not measured.

        Returns:
            A number or None for every output.

        Raises:
            InvalidInput: if a name is unknown, a value is not a finite number, or a single number
                is given for several outputs.
        """
        if not isinstance(given, Mapping):
            if len(self.names) > 1:
                raise InvalidInput(
                    f"value {given!r}: there are several outputs; give a dict of "
                    f"{', '.join(self.names)}"
                )
            given = {self.names[0]: finite_value(given)}
        unknown = [name for name in given if name not in self.names]
        if unknown:
            raise InvalidInput(
                f"output {unknown[0]!r} does not exist; there are {', '.join(self.names)}"
            )
        remedy = "leave it out if it was not measured"
        return {
            name: None if given.get(name) is None else finite_value(given[name], name, remedy)
            for name in self.names
        }

    def best_of(self, front: Sequence[T]) -> T | None:
        """The best of a front: its only entry, or None if it is empty.

        Raises:
            InvalidInput: with several objectives, of which there is no best.
        """
        if len(self.objectives) > 1:
            names = ", ".join(objective.name for objective in self.objectives)
            raise InvalidInput(f"there is no best of several objectives ({names}); see `front`")
        return next(iter(front), None)

    def are_kept(self, values: Mapping[str, float | None]) -> bool:
        """Whether no limit that was measured is broken."""
        measured = ((limit, values.get(limit.name)) for limit in self.limits)
        return all(
            value is None or limit.bounds[0] <= value <= limit.bounds[1]
            for limit, value in measured
        )


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"an output needs a non-empty name, got {name!r}")


def _check_bound(output: Any, what: str) -> None:
    """Makes a number of an optional one, in place."""
    value = vars(output)[what]
    if value is not None:
        remedy = "give a finite number, or leave it out"
        number = finite_value(value, f"{what} of {output.name!r}", remedy)
        object.__setattr__(output, what, number)
