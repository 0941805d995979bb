"""What every method is given and gives back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from becbo.data import Dataset
from becbo.search.goal import Found
from becbo.search.region import Region
from becbo.space import Array, Space
from becbo.surrogates.base import FeasibilityModel, Regressor
from becbo.trial import Prediction


@dataclass(frozen=True)
class Models:
    """What the data say. `regressor` is None while no experiment has worked."""

    regressor: Regressor | None
    classifier: FeasibilityModel


@dataclass(frozen=True)
class Proposal:
    """The next experiments, and how each was found."""

    X: Array  # (q, d)
    found: tuple[Found, ...]  # the outcome of each search
    believed: tuple[Prediction, ...]  # what the models say of each, values to be maximised
    seconds: Mapping[str, float]  # regressor, classifier, search


def describe(models: Models, X: Array) -> tuple[Prediction, ...]:  # (m, d)
    """What the models say of each point, with values to be maximised."""
    prob = ndtr(models.classifier.score(X)[0]).tolist()
    band = list(zip(*(end.tolist() for end in models.classifier.band(X)), strict=True))
    if models.regressor is None:
        return tuple(Prediction(None, None, p, b) for p, b in zip(prob, band, strict=True))
    value = [column.tolist() for column in models.regressor.predict(X)]
    return tuple(Prediction(*row) for row in zip(*value, prob, band, strict=True))


class Proposer(Protocol):
    """One published method."""

    def fit(self, data: Dataset, rng: np.random.Generator) -> Models:
        """Models of the data, which holds at least one experiment."""
        ...

    def propose(
        self, data: Dataset, region: Region, pending: Array, q: int, rng: np.random.Generator
    ) -> Proposal:
        """q new points, given the pending ones (p, d)."""
        ...


def propose_in_turn(
    q: int, region: Region, pending: Array, search: Callable[[Region, Array], Found]
) -> list[Found]:
    """q searches; every point found is taken, and pending, for the next."""
    found: list[Found] = []
    for _ in range(q):
        found.append(search(region, pending))
        region = region.with_taken(found[-1].x[None])
        pending = np.vstack([pending, found[-1].x])
    return found


def proposal_of(models: Models, found: list[Found], seconds: Mapping[str, float]) -> Proposal:
    """The proposal that searches have led to."""
    X = np.array([f.x for f in found])
    return Proposal(X, tuple(found), describe(models, X), seconds)


@contextmanager
def clock(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Notes how long a part took."""
    begin = time.thread_time()
    yield
    seconds[part] = time.thread_time() - begin


def region_of(space: Space, taken: Array) -> Region:
    """What a search needs to know of a space, and which points (k, d) are taken."""
    return Region(
        space.dim,
        space.size,
        space.snap,
        space.allowed,
        tuple(space.options()),
        space.polytope(),
        taken,
    )
