"""How to optimise: what the optimizer, `minimize`, the sampler, campaigns and workers share."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from becbo.checks import whole_number
from becbo.errors import InvalidInput
from becbo.failures import DEFAULT, Failures

if TYPE_CHECKING:
    from becbo.proposers.base import Proposer

MAX_INITIAL = 10_000  # initial experiments: their designs are computed together
MAX_SEED = 2**64 - 1


@dataclass(frozen=True)
class Settings:
    """How to optimise.

    Args:
        method: a name from `becbo.METHODS`, or a `Proposer` of your own.
        seed: same seed and same history, same proposal. None draws one.
        n_initial: how many experiments are spread over the space before the models take over, at
            most 10,000.
        noisy: whether repeating an experiment gives a different value. A proposer of your own
            has to be built for that.
        risk: the share of proposals that may fail, between 0 and 1. The models may state no larger
            chance of failure, and a smaller one after too many failures. None leaves it to the
            method; with `edge`, about one half fail.
        failures: how often a good design fails by chance, what a failure costs and how many are
            allowed: `Failures`, or a mapping with its arguments.
        n_planned: how many experiments there will be in all, the initial ones included. `edge`
            spreads a budget of failures over them. Nothing stops there. `minimize`, workers and
            campaigns set it by themselves. None: unknown.

    Raises:
        InvalidInput: if a setting cannot be used.

    Examples:
        >>> optimizer = Optimizer(space, seed=0, risk=0.2)
        >>> optimizer.settings.risk
        0.2
    """

    method: str | Proposer = "edge"
    seed: int | None = None
    n_initial: int = 10
    noisy: bool = False
    risk: float | None = None
    failures: Failures = DEFAULT
    n_planned: int | None = None

    def __post_init__(self) -> None:
        seed = secrets.randbits(32) if self.seed is None else self.seed
        object.__setattr__(self, "seed", whole_number("seed", seed, 0, MAX_SEED))
        n_initial = whole_number("n_initial", self.n_initial, at_most=MAX_INITIAL)
        object.__setattr__(self, "n_initial", n_initial)
        if self.n_planned is not None:
            object.__setattr__(self, "n_planned", whole_number("n_planned", self.n_planned))
        if not isinstance(self.noisy, bool | np.bool_):
            raise InvalidInput(f"noisy {self.noisy!r} must be True or False")
        object.__setattr__(self, "failures", Failures.of(self.failures))
        risk = self.risk
        if risk is not None and (
            isinstance(risk, bool) or not isinstance(risk, Real) or not 0 < risk < 1
        ):
            raise InvalidInput(
                f"risk {risk!r} must lie between 0 and 1: the chance of failure you accept per "
                "proposal"
            )
