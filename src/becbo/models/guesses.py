"""What to believe while every design has failed: nobody knows, so guesses of several kinds.

A guess is a score: where it is larger, a design is tried sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from becbo.arrays import Array, Indices
from becbo.data import Dataset
from becbo.models.feasibility import OneGP
from becbo.surrogates.ensemble import DeepEnsemble

Score = Callable[[Array], Array]  # (m, d) -> (m,)


class Guess(Protocol):
    """Settings of a guess."""

    @property
    def name(self) -> str:
        """What the proposals of this guess are called."""
        ...

    @property
    def at_bounds(self) -> bool:
        """Whether it is also asked about designs with many parameters at bounds."""
        ...

    def score(self, data: Dataset, rng: np.random.Generator) -> Score:
        """A guess where designs may work, given designs that failed."""
        ...


@dataclass(frozen=True)
class Anywhere:
    """Nothing is preferred: a random design."""

    name: str = "random"
    at_bounds: bool = False

    def score(self, data: Dataset, rng: np.random.Generator) -> Score:
        """Random numbers."""
        del data
        return lambda X: rng.random(len(X))


@dataclass(frozen=True)
class DrawnLatent:
    """A function drawn from the posterior of a Gaussian process classifier, as SCBO does.

    It learns from failures inside of the space only. Those at bounds come from other guesses; with
    them draws would keep to the middle, and thin slices beside a bound, where they are good, would
    be nobody's.
    """

    classifier: OneGP
    name: str = "drawn latent"
    at_bounds: bool = False  # most of them are far from all failures, and would win

    def score(self, data: Dataset, rng: np.random.Generator) -> Score:
        """A new draw."""
        return self.classifier.fit(data.take(_inside(data.X)), rng).path(rng)


@dataclass(frozen=True)
class SmallNetwork:
    """A network from random weights, trained until it knows the failures by and large.

    What it believes elsewhere is an accident, another one for each proposal. It often takes designs
    near lower bounds for hopeful, which models of the distance to failures do not.
    """

    settings: DeepEnsemble = field(
        default_factory=lambda: DeepEnsemble(
            n_networks=1,
            n_layers=3,
            width_factor=32,
            learning_rate=3e-3,
            n_steps=150,
            training="mle",
        )
    )
    name: str = "small network"
    at_bounds: bool = True

    def score(self, data: Dataset, rng: np.random.Generator) -> Score:
        """A network of its own for every proposal."""
        network = self.settings.fit(data.X, data.worked, rng)
        return lambda X: network.score(X)[0]


def _inside(X: Array) -> Indices:  # (n, d) -> (k,)
    """The designs without a number at a bound; all if every design has one.

    Columns of choices are 0 or 1 everywhere and do not count.
    """
    between = (X > 0) & (X < 1)
    is_inside = (between | ~between.any(axis=0)).all(axis=1)
    return np.flatnonzero(is_inside if is_inside.any() else np.ones(len(X), dtype=bool))
