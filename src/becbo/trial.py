"""One experiment: what was set, what came out, and what was believed before it ran."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from becbo.errors import InvalidInput
from becbo.reasons import NO_REASONS, Reasons

MAX_LOSSES = 4  # experiments lost with one design before it is given up

T = TypeVar("T")


class Outcome(enum.Enum):
    """How an experiment ended.

    Attributes:
        PENDING: proposed, no answer yet.
        OK: it worked.
        FAILED: this design does not work.
        LOST: a power cut or a crashed worker; says nothing about the design.

    Examples:
        >>> failed = [t for t in optimizer.trials if t.outcome is Outcome.FAILED]
    """

    PENDING = "pending"
    OK = "ok"
    FAILED = "failed"
    LOST = "lost"

    @property
    def is_answer(self) -> bool:
        """Whether it says something about the design: it worked, or it failed."""
        return self in (Outcome.OK, Outcome.FAILED)


@dataclass(frozen=True)
class Result:
    """What came of an experiment.

    Attributes:
        outcome: how it ended.
        values: for every output what was measured, or None. Also of a failed experiment.
        reasons: why it failed or was lost, if somebody said so.

    Examples:
        >>> result = Result.failed("gel", measured={"viscosity": 340})
        >>> result.outcome, result.values
        (<Outcome.FAILED: 'failed'>, {'viscosity': 340})
    """

    outcome: Outcome
    values: Mapping[str, float | None] = field(default_factory=dict)
    reasons: Reasons = NO_REASONS

    def __post_init__(self) -> None:
        if not isinstance(self.outcome, Outcome):
            raise InvalidInput(f"outcome {self.outcome!r} must be an Outcome, such as Outcome.OK")
        object.__setattr__(self, "reasons", Reasons.parse(self.reasons))

    @classmethod
    def ok(cls, values: Mapping[str, float | None]) -> Result:
        """The experiment worked.

        Args:
            values: what was measured, by the name of the output.

        Returns:
            The result.
        """
        return cls(Outcome.OK, values)

    @classmethod
    def failed(
        cls,
        reasons: str | BaseException | Reasons | None = None,
        measured: Mapping[str, float | None] | None = None,
    ) -> Result:
        """The design does not work; something may have been measured all the same.

        Args:
            reasons: why. Commas separate several reasons, which are taken to be all there are.
            measured: what was measured all the same, by the name of the output.

        Returns:
            The result.
        """
        return cls(Outcome.FAILED, measured or {}, Reasons.parse(reasons))

    @classmethod
    def lost(cls, reasons: str | BaseException | Reasons | None = None) -> Result:
        """The experiment says nothing about the design.

        Args:
            reasons: why.

        Returns:
            The result.
        """
        return cls(Outcome.LOST, {}, Reasons.parse(reasons))

    @property
    def value(self) -> float | None:
        """The value of the only output; None if it was not measured.

        Raises:
            InvalidInput: if there are several outputs; see `values`.
        """
        return _only(self.values, "values")

    @property
    def reason(self) -> str | None:
        """Why it failed or was lost, in the user's words; None if nobody said."""
        return self.reasons.text or None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a file; `from_dict` makes the same result of it."""
        values = dict(self.values)
        return {"outcome": self.outcome.value, "values": values, "reason": self.reason}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """The result that `to_dict` described.

        Args:
            data: what `to_dict` returned.

        Returns:
            An equal object.
        """
        reasons = Reasons.parse(data["reason"])
        return cls(Outcome(data["outcome"]), dict(data["values"]), reasons)


PENDING = Result(Outcome.PENDING)


@dataclass(frozen=True)
class Estimate:
    """A predicted number: mean and standard deviation, in the user's units.

    Attributes:
        mean: the predicted value.
        std: how uncertain it is.

    Examples:
        >>> estimate = Estimate(mean=3.2, std=0.4)
        >>> low, high = estimate.mean - 2 * estimate.std, estimate.mean + 2 * estimate.std
    """

    mean: float
    std: float


@dataclass(frozen=True)
class Prediction:
    """What the models say about one design.

    Attributes:
        outputs: an estimate for every output that was measured at least once, by name.
        p_feasible: the chance that an experiment works and keeps every limit.
        band: the one-sigma range around `p_feasible`.
        bad_luck: the chance that a design which works fails all the same, which `p_feasible`
            includes: the design is feasible with a chance of p_feasible / (1 - bad_luck).
        optimism: the correction of the score of the design (its chance as a standard normal
            quantile), because a search ends where the models overestimate. It is subtracted in
            `p_feasible` of a proposal, not in that of `predict`.

    Examples:
        >>> prediction = optimizer.predict({"x": 0.3})
        >>> print(f"{prediction.mean:.2f}, works with {prediction.p_feasible:.0%}")
        0.07, works with 95%
    """

    outputs: Mapping[str, Estimate]
    p_feasible: float
    band: tuple[float, float]
    bad_luck: float = 0.0
    optimism: float = 0.0

    @property
    def mean(self) -> float | None:
        """The mean of the only output; None while nothing was measured."""
        estimate = _only(self.outputs, "outputs")
        return None if estimate is None else estimate.mean

    @property
    def std(self) -> float | None:
        """The standard deviation of the only output; None while nothing was measured."""
        estimate = _only(self.outputs, "outputs")
        return None if estimate is None else estimate.std

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a file; `from_dict` makes the same prediction of it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Prediction:
        """The prediction that `to_dict` described.

        Args:
            data: what `to_dict` returned.

        Returns:
            An equal object.
        """
        outputs = {name: Estimate(**estimate) for name, estimate in data["outputs"].items()}
        # Proposals stored by earlier versions have none of these.
        later = {name: data.get(name, 0.0) for name in ("bad_luck", "optimism")}
        return cls(outputs, data["p_feasible"], tuple(data["band"]), **later)


@dataclass(frozen=True)
class Trial:
    """One experiment. Immutable: the optimizer replaces it when the result is known.

    Attributes:
        number: counts from 0.
        params: what was set.
        result: what came of it.
        believed: what the models said before it ran.
        origin: how the design was chosen.
        note: anything unusual about that choice, such as a fallback.

    Examples:
        >>> trial = optimizer.ask()
        >>> trial = optimizer.tell(trial, 0.25)
        >>> trial.value
        0.25
    """

    number: int
    params: dict[str, Any]
    result: Result = PENDING
    believed: Prediction | None = None
    origin: str = "user"
    note: str | None = None

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.result.outcome

    @property
    def values(self) -> Mapping[str, float | None]:
        """For every output what was measured, or None."""
        return self.result.values

    @property
    def value(self) -> float | None:
        """The value of the only output; see `Result.value`."""
        return self.result.value

    @property
    def reason(self) -> str | None:
        """Why it failed or was lost, in the user's words; None if nobody said."""
        return self.result.reason

    @property
    def is_feasible(self) -> bool:
        """Whether the experiment worked."""
        return self.outcome is Outcome.OK

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a file; `from_dict` makes the same trial of it."""
        return {
            "number": self.number,
            "params": dict(self.params),
            "result": self.result.to_dict(),
            "believed": None if self.believed is None else self.believed.to_dict(),
            "origin": self.origin,
            "note": self.note,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trial:
        """The trial that `to_dict` described.

        Args:
            data: what `to_dict` returned.

        Returns:
            An equal object.
        """
        believed = data["believed"]
        return cls(
            **{
                **data,
                "result": Result.from_dict(data["result"]),
                "believed": None if believed is None else Prediction.from_dict(believed),
            }
        )


def _only(mapping: Mapping[str, T], what: str) -> T | None:
    """The only value of a mapping, None if it is empty, an error if there are several."""
    if len(mapping) > 1:
        raise InvalidInput(
            f"there are several outputs: use {what}[name] with one of {', '.join(mapping)}"
        )
    return next(iter(mapping.values()), None)
