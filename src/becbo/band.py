"""Where a proposal may lie: C(x) >= l(x), written as a slack g(x) >= 0 with its gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from scipy.special import ndtr, ndtri

from becbo.arrays import Array
from becbo.errors import InvalidInput
from becbo.surrogates.base import FeasibilityModel, LatentModel, normal_pdf

_CERTAIN = 0.999  # more is not asked for


class Band(Protocol):
    """Where one search may go."""

    def slack(self, model: FeasibilityModel, X: Array) -> Array:  # (m,)
        """g(x), at least 0 inside."""
        ...

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        """g (m,) and its gradient (m, d)."""
        ...


class BandRule(Protocol):
    """How the band of each proposal is chosen; most bands are their own rule."""

    def draw(self, d: int, rng: np.random.Generator) -> Band:
        """The band for the next proposal in d dimensions."""
        ...


class _Fixed:
    """A band that is the same for every proposal."""

    def draw(self, d: int, rng: np.random.Generator) -> Band:
        return cast(Band, self)


@dataclass(frozen=True)
class DynamicBound(_Fixed):
    """The paper's rule: C(x) >= 0.5 - sigma_E(x) (section 4.2)."""

    def slack(self, model: FeasibilityModel, X: Array) -> Array:
        """C - 0.5 + sigma_E (m,)."""
        u, w = model.score(X)
        return np.asarray(ndtr(u) - 0.5 + w)

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        """Slack (m,) and gradient (m, d)."""
        u, w, du, dw = model.score_grad(X)
        return ndtr(u) - 0.5 + w, normal_pdf(u)[:, None] * du + dw


@dataclass(frozen=True)
class OptimisticLatent(_Fixed):
    """The rule in the authors' released code: Phi(mu + sigma) >= 0.5, that is mu + sigma >= 0."""

    def slack(self, model: FeasibilityModel, X: Array) -> Array:
        """mu + sigma (m,)."""
        mean, std = _latent(model).latent(X)
        return mean + std

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        """Slack (m,) and gradient (m, d)."""
        mean, std, dmean, dstd = _latent(model).latent_grad(X)
        return mean + std, dmean + dstd


@dataclass(frozen=True)
class MinimumProbability(_Fixed):
    """C(x) >= p, compared as scores so that the slack keeps a slope where C is almost 0 or 1."""

    p: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise InvalidInput(f"minimum probability {self.p} must lie between 0 and 1")

    def slack(self, model: FeasibilityModel, X: Array) -> Array:
        """u - Phi^-1(p) (m,)."""
        return np.asarray(model.score(X)[0] - ndtri(self.p))

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        """Slack (m,) and gradient (m, d)."""
        u, _, du, _ = model.score_grad(X)
        return u - ndtri(self.p), du


@dataclass(frozen=True)
class MinimumChance(_Fixed):
    """(1 - e) C(x) >= p(e): the chance that the next run works, with bad luck at a rate e."""

    p: Callable[[float], float]

    def slack(self, model: FeasibilityModel, X: Array) -> Array:
        """u - Phi^-1(p(e) / (1 - e)) (m,)."""
        return np.asarray(model.score(X)[0] - self._least_score(model))

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        """Slack (m,) and gradient (m, d)."""
        u, _, du, _ = model.score_grad(X)
        return u - self._least_score(model), du

    def _least_score(self, model: FeasibilityModel) -> float:
        return float(ndtri(min(self.p(model.lapse) / (1.0 - model.lapse), _CERTAIN)))


@dataclass(frozen=True)
class Both:
    """What lies in the bands of two rules."""

    first: BandRule
    second: BandRule

    def draw(self, d: int, rng: np.random.Generator) -> Band:
        """The intersection of their bands for the next proposal."""
        return _Intersection(self.first.draw(d, rng), self.second.draw(d, rng))


@dataclass(frozen=True)
class _Intersection:
    first: Band
    second: Band

    def slack(self, model: FeasibilityModel, X: Array) -> Array:
        return np.minimum(self.first.slack(model, X), self.second.slack(model, X))

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        g, dg = self.first.slack_grad(model, X)
        h, dh = self.second.slack_grad(model, X)
        return np.minimum(g, h), np.where((g <= h)[:, None], dg, dh)


@dataclass(frozen=True)
class Everywhere(_Fixed):
    """No limit: for acquisitions that weigh the chance to work themselves."""

    def slack(self, model: FeasibilityModel, X: Array) -> Array:
        """1 (m,)."""
        return np.ones(len(X))

    def slack_grad(self, model: FeasibilityModel, X: Array) -> tuple[Array, Array]:
        """1 (m,) and gradient 0 (m, d)."""
        return np.ones(len(X)), np.zeros_like(X)


@dataclass(frozen=True)
class EdgeProbability:
    """C(x) >= p with p drawn anew for each proposal in few dimensions, fixed in many.

    Optimistic draws find other feasible lobes, which two- and three-dimensional problems have
    and can afford to look for; in more dimensions they only cost failures.
    """

    p: float = 0.5
    p_drawn: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75)
    max_dim: int = 3

    def draw(self, d: int, rng: np.random.Generator) -> Band:
        """A `MinimumProbability` for the next proposal."""
        return MinimumProbability(float(rng.choice(self.p_drawn)) if d <= self.max_dim else self.p)


def _latent(model: FeasibilityModel) -> LatentModel:
    if not hasattr(model, "latent"):
        raise InvalidInput(
            f"{type(model).__name__} has no latent function; use DynamicBound or MinimumProbability"
        )
    return cast(LatentModel, model)
