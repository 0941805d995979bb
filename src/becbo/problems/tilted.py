"""Problems made so that the best design is known exactly, with several constraints meeting in it.

In the manner of the constrained BBOB functions (Dufosse et al. 2022) and the mixed-integer ones
(Tusar et al. 2019), by formula. With dx the way from the best design,

    slack_j = a_j . dx + bend_j |dx|^2      a half-space, the inside or the outside of a ball
    value = shape(R dx) + sum of slope_j slack_j

where R rotates, and the shape is nowhere below 0, its value at 0. Where nothing fails each term
is at least 0, so the best value is 0, at dx = 0. The slopes draw the search across the edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becbo.arrays import Array
from becbo.problems.problem import Problem, box, series
from becbo.space import Categorical, Integer, Real, Space

Shape = Callable[[Array], Array]  # (n, d) -> (n,): 0 at 0, not less elsewhere


def _ellipsoid(z: Array) -> Array:  # (n, d) -> (n,)
    """Axes of lengths 1 to 10."""
    return np.asarray(z**2 @ 100.0 ** np.linspace(0, 1, z.shape[1]))


def _rosenbrock(z: Array) -> Array:  # (n, d) -> (n,)
    """A bent valley, three times as wide as usual."""
    a, b = z[:, :-1] / 3 + 1, z[:, 1:] / 3 + 1
    return np.asarray((100 * (b - a**2) ** 2 + (a - 1) ** 2).sum(axis=1))


def _rastrigin(z: Array) -> Array:  # (n, d) -> (n,)
    """A bowl with ripples, three times as long as usual."""
    return np.asarray((z**2 + 5 * (1 - np.cos(2 * math.pi * z / 3))).sum(axis=1))


def _rotation(d: int) -> Array:  # (d, d)
    """A dense orthogonal matrix: the discrete sine transform."""
    i = np.arange(1, d + 1)
    return np.asarray(math.sqrt(2 / (d + 1)) * np.sin(math.pi * np.outer(i, i) / (d + 1)))


@dataclass(frozen=True, eq=False)
class _Tilted:
    """The formula above, over [-5, 5]^d; with a last parameter that chooses among best designs."""

    shape: Shape
    best: Array  # (k, d) a best design per choice
    extra: Array  # (k,) what a choice costs, 0 for one of them
    bend: Array  # (m,)
    slope: Array  # (m,)

    def value(self, X: Array) -> Array:  # (n, d or d + 1) -> (n,)
        choice, dx = self._way(X)
        tilt = self._slack(dx) @ self.slope
        return np.asarray(self.shape(dx @ _rotation(dx.shape[1])) + tilt + self.extra[choice])

    def slacks(self, X: Array) -> dict[str, Array]:  # (n, d or d + 1) -> (n,) each
        _, dx = self._way(X)
        return {f"edge {j}": slack for j, slack in enumerate(self._slack(dx).T, start=1)}

    def _way(self, X: Array) -> tuple[NDArray[np.int_], Array]:  # -> (n,), (n, d)
        d = self.best.shape[1]
        choice = X[:, d:].sum(axis=1).astype(int)  # 0 where there is no choice
        return choice, X[:, :d] - self.best[choice]

    def _slack(self, dx: Array) -> Array:  # (n, d) -> (n, m)
        normals = np.cos(np.outer(np.arange(1, len(self.bend) + 1), np.arange(dx.shape[1])) + 1)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(dx @ normals.T + np.outer((dx**2).sum(axis=1), self.bend))


def _tilted(name: str, notes: str, tilted: _Tilted, space: Space, ratio: float) -> Problem:
    """A problem whose best design and value are known by construction."""
    best = tuple(map(float, tilted.best[0]))
    return Problem(
        name=name,
        variant="made",
        space=space,
        objective_formula=tilted.value,
        slack_formulas=tilted.slacks,
        optimum=0.0,
        optimizers=(best if len(space.names) == len(best) else (*best, 0.0),),
        active=tuple(range(len(tilted.bend))),
        feasibility_ratio=ratio,
        notes=notes,
    )


def _cube(d: int) -> Space:
    return box(**series("x", d, -5, 5))


def _wave(d: int, pace: float) -> Array:  # (1, d)
    return np.asarray(np.round(3 * np.sin(pace * np.arange(1, d + 1)), 2)[None])


TILTED_RASTRIGIN = _tilted(
    "tilted_rastrigin_4d",
    "Rastrigin's ripples, rotated. Two edges meet, one bent out and one bent in.",
    _Tilted(
        _rastrigin,
        best=_wave(4, 1.3),
        extra=np.zeros(1),
        bend=np.array([0.1, -0.05]),
        slope=np.array([20.0, 10.0]),
    ),
    _cube(4),
    ratio=0.331904,
)

TILTED_ROSENBROCK = _tilted(
    "tilted_rosenbrock_7d",
    "Rosenbrock's valley, rotated. Three edges meet in the best design.",
    _Tilted(
        _rosenbrock,
        best=_wave(7, 1.3),
        extra=np.zeros(1),
        bend=np.array([0.0, 0.05, -0.05]),
        slope=np.array([60.0, 30.0, 30.0]),
    ),
    _cube(7),
    ratio=0.015212,
)

TILTED_ELLIPSOID = _tilted(
    "tilted_ellipsoid_20d",
    "An ellipsoid, rotated, in 20 dimensions. Four edges meet in the best design.",
    _Tilted(
        _ellipsoid,
        best=_wave(20, 1.7),
        extra=np.zeros(1),
        bend=np.zeros(4),
        slope=np.array([200.0, 150.0, 100.0, 50.0]),
    ),
    _cube(20),
    ratio=0.050088,
)

TILTED_MIXED = _tilted(
    "tilted_mixed_6d",
    "An ellipsoid for each of four catalysts. Mixed: three reals, two whole numbers, a choice.",
    _Tilted(
        _ellipsoid,
        best=np.array(
            [
                [1.7, -2.4, 3.1, 2, -1],
                [-2.2, 3.6, -1.5, -3, 2],
                [3.3, 0.8, -2.9, 0, 4],
                [-3.8, -1.1, 2.3, 4, -4],
            ]
        ),
        extra=np.array([0.0, 40.0, 60.0, 150.0]),
        bend=np.array([0.0, -0.03]),
        slope=np.array([60.0, 40.0]),
    ),
    Space(
        [
            *(Real(f"x{i}", -5, 5) for i in (1, 2, 3)),
            *(Integer(f"n{i}", -5, 5) for i in (1, 2)),
            Categorical("catalyst", ("Pt", "Pd", "Ni", "Cu")),
        ]
    ),
    ratio=0.113652,
)
