"""Mixtures: parameters that add up to a fixed total, and the nearest designs that do.

Everything happens in the units of the user, where a total is linear also for a logarithmic
parameter. "Near" is measured in the unit cube.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np

from becbo.arrays import Array, Mask
from becbo.errors import InvalidInput
from becbo.parameters import Integer, Real

_SWEEPS = 30  # over totals that share parameters
_CLOSE = 1e-10  # what is left of a total, as a share of what its terms can be
_DENOMINATOR = 10**9  # coefficients, steps and totals are read as fractions: 0.1 is 1/10
_MAX_UNITS = 2**40  # of the smallest step in a total; more would not fit into whole numbers
_AMOUNTS = (1, 2, 4, 8)  # units that two ingredients exchange
_MANY = 8  # ingredients, from which on they exchange one unit only


@dataclass(frozen=True)
class Total:
    """One equation: the sum of coefficient * value of its members.

    Args:
        members: the parameters.
        columns: their columns of the unit cube.
        coefficients: what each counts.
        total: what they add up to.
        fixed: members that have one value only, by name.

    Raises:
        InvalidInput: no values of the members can add up to the total.
    """

    members: tuple[Real | Integer, ...]
    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    total: float
    fixed: Mapping[str, float]

    def __post_init__(self) -> None:
        terms = np.sort(np.array([self.low, self.high]) * self.coefficients, axis=0)
        least, most = terms.sum(axis=1).tolist()
        slip = _CLOSE * np.abs(terms).max(axis=0).sum()
        if not least - slip <= self.total <= most + slip:
            raise InvalidInput(
                f"{self} is impossible: within their ranges, the left side lies between "
                f"{least:.6g} and {most:.6g}"
            )
        if self.units is not None and self.units.left % self.units.common:
            raise InvalidInput(
                f"{self} is impossible: no settings in their steps ({self._steps}) add up to "
                f"exactly {self.total:.12g}; change a step or the total"
            )

    def __str__(self) -> str:
        terms = [
            name if c == 1 else f"{c:.6g}*{name}"
            for name, c in zip((p.name for p in self.members), self.coefficients, strict=True)
        ]
        return f"{' + '.join(terms)} == {self.total:.12g}".replace("+ -", "- ")

    @cached_property
    def low(self) -> Array:  # (k,)
        """The smallest values."""
        return np.array([self.fixed.get(p.name, p.low) for p in self.members], dtype=float)

    @cached_property
    def high(self) -> Array:  # (k,)
        """The largest values."""
        return np.array([self.fixed.get(p.name, p.highest) for p in self.members], dtype=float)

    @cached_property
    def steps(self) -> Array:  # (k,)
        """The steps; 0 for continuous ones."""
        return np.array([p.step or 0.0 for p in self.members], dtype=float)

    @cached_property
    def units(self) -> _Units | None:
        """The equation in whole numbers of steps; None if a member is continuous."""
        if not self.steps.all():
            return None
        terms = zip(self.coefficients, self.steps.tolist(), self.low.tolist(), strict=True)
        read = [(_fraction(c), _fraction(step), _fraction(low)) for c, step, low in terms]
        left = _fraction(self.total) - sum(c * low for c, _, low in read)
        is_free = self.low < self.high
        weights = [c * step * int(free) for (c, step, _), free in zip(read, is_free, strict=True)]
        scale = math.lcm(*(part.denominator for part in (left, *weights)))
        whole = tuple(int(weight * scale) for weight in weights)
        shared = math.gcd(*whole) or 1
        if max(map(abs, (int(left * scale), *whole))) // shared > _MAX_UNITS:
            raise InvalidInput(
                f"{self} is impossible with steps of such different sizes ({self._steps}); "
                "leave out the step of one of them"
            )
        return _Units(whole, int(left * scale), shared)

    @property
    def _steps(self) -> str:
        pairs = zip(self.members, self.steps.tolist(), strict=True)
        return ", ".join(f"{p.name}: {step:.6g}" for p, step in pairs)

    def values(self, X: Array) -> Array:  # (n, dim) -> (n, k)
        """The members in the units of the user, grids ignored, within their bounds."""
        columns = []
        for p, u in zip(self.members, X[:, list(self.columns)].T, strict=True):
            columns.append(column_values(p, u))
        return np.clip(np.column_stack(columns), self.low, self.high)

    def into(self, X: Array, Z: Array) -> Array:  # (n, dim), (n, k) -> (n, dim)
        """X with other values of the members."""
        X = X.copy()
        for p, column, z in zip(self.members, self.columns, Z.T, strict=True):
            X[:, column] = _to_column(p, z)
        return X

    def slopes(self, Z: Array) -> Array:  # (n, k) -> (n, k)
        """How fast each value changes along its column of the unit cube."""
        slopes = np.empty_like(Z)
        for i, p in enumerate(self.members):
            low, high = p.ends
            slopes[:, i] = Z[:, i] * math.log(high / low) if p.log else high - low
        return slopes

    def missing(self, Z: Array) -> Array:  # (n, k) -> (n,)
        """What is left to the total."""
        return np.asarray(self.total - Z @ np.array(self.coefficients))

    def project(self, Z: Array, held: Mask) -> Array:  # (n, k), (k,) -> (n, k)
        """The nearest values within the bounds that add up, where that is possible.

        Members that are not held move by a common multiple of their gradients, as far as their
        bounds permit: the total is piecewise linear in that multiple.
        """
        free = np.flatnonzero(~held)
        if not len(free):
            return Z.copy()
        c = np.array(self.coefficients)[free]
        z, low, high = Z[:, free], self.low[free], self.high[free]
        rate = c * self.slopes(Z)[:, free] ** 2  # (n, f)
        wanted = self.missing(Z) + z @ c
        knots = np.sort(np.concatenate([(low - z) / rate, (high - z) / rate], axis=1), axis=1)
        at_knots = np.clip(z[:, None] + knots[:, :, None] * rate[:, None], low, high) @ c
        multiple = _interpolated(wanted, at_knots, knots)
        moved = np.clip(z + multiple[:, None] * rate, low, high)
        # What rounding has left goes to those that have room.
        room = (moved > low) & (moved < high)
        share = np.where(room, rate, 0.0)
        norm = share @ c
        rest = (wanted - moved @ c) / np.where(norm == 0, 1.0, norm)
        Z = Z.copy()
        Z[:, free] = np.clip(moved + rest[:, None] * share, low, high)
        return Z

    def scaled(self, Z: Array, held: Mask) -> Array:  # (n, k), (k,) -> (n, k)
        """The members that are not held multiplied by one factor, as far as bounds permit."""
        terms = Z * self.coefficients
        now, rest = terms[:, ~held].sum(axis=1), self.total - terms[:, held].sum(axis=1)
        factor = np.where(now == 0, 1.0, rest / np.where(now == 0, 1.0, now))
        grown = np.where(held, Z, Z * np.maximum(factor, 0.0)[:, None])
        return self.project(np.clip(grown, self.low, self.high), held)

    def settle(self, Z: Array, held: Mask) -> Array:  # (n, k), (k,) -> (n, k)
        """The same on the grids: the coarsest is rounded first, and the others make up for it."""
        held = held | (self.low == self.high)
        Z = self.project(Z, held)
        for i in np.argsort(-np.abs(self.steps * self.coefficients), kind="stable").tolist():
            if self.steps[i] and not held[i]:
                held[i] = True
                Z[:, i] = self._rounded(Z, i, held)
                Z = self.project(Z, held)
        return Z

    def _rounded(self, Z: Array, i: int, held: Mask) -> Array:  # (n, k) -> (n,)
        """Values of a grid, the nearest from which the members not held can still add up."""
        low, step, c = self.low[i], self.steps[i], self.coefficients[i]
        others = np.arange(len(self.members)) != i
        set_before = Z[:, held & others] @ np.array(self.coefficients)[held & others]
        ends = np.sort(np.array([self.low, self.high]) * self.coefficients, axis=0)[:, ~held]
        left = self.total - set_before - c * low
        reach = np.sort(
            [(left - ends[1].sum()) / (c * step), (left - ends[0].sum()) / (c * step)], 0
        )
        first = np.ceil(np.maximum(reach[0], 0.0) - 1e-9)
        last = np.floor(np.minimum(reach[1], round((self.high[i] - low) / step)) + 1e-9)
        k = (Z[:, i] - low) / step
        if self.units is not None:
            start, every = self.units.possible(Z, self, i, held)
        else:
            start, every = np.zeros(len(Z)), 1
        k = start + every * np.round((k - start) / every)
        k = np.where(k < first, start + every * np.ceil((first - start) / every), k)
        k = np.where(k > last, start + every * np.floor((last - start) / every), k)
        return np.asarray(low + step * np.clip(k, 0, round((self.high[i] - low) / step)))

    def exchanges(self, z: Array) -> Array:  # (k,) -> (m, k)
        """The values after an exchange of some steps between two members, one of them on a grid."""
        rows = []
        amounts = _AMOUNTS if len(self.members) <= _MANY else _AMOUNTS[:1]
        for i in np.flatnonzero(self.steps):
            for j in range(len(self.members)):
                if i == j or (self.steps[j] and j < i):  # the other direction does the same
                    continue
                per_step = self.coefficients[i] * self.steps[i] / self.coefficients[j]
                unit = 1
                if self.steps[j]:
                    unit = _fraction(per_step / self.steps[j]).denominator
                for amount in (sign * a * unit for a in amounts for sign in (1, -1)):
                    row = z.copy()
                    row[i] += amount * self.steps[i]
                    row[j] -= amount * per_step
                    rows.append(row)
        found = np.array(rows).reshape(-1, len(z))
        slip = 1e-9 * (self.high - self.low)
        return found[np.all((found >= self.low - slip) & (found <= self.high + slip), axis=1)]


@dataclass(frozen=True)
class _Units:
    """A total in whole numbers: the sum of weight * steps is `left`."""

    weights: tuple[int, ...]
    left: int
    common: int  # divisor of all weights

    def possible(self, Z: Array, total: Total, i: int, held: Mask) -> tuple[Array, int]:
        """The numbers of steps of member i, as start (n,) + multiples of a whole number.

        Those from which the members that are not held yet can add up, as far as divisors tell.
        """
        set_before = np.flatnonzero(held & (np.arange(len(self.weights)) != i))
        steps = np.round((Z[:, set_before] - total.low[set_before]) / total.steps[set_before])
        left = self.left - steps.astype(np.int64) @ np.array(
            [self.weights[j] for j in set_before], dtype=np.int64
        )
        weight = self.weights[i]
        rest = reduce(math.gcd, (self.weights[j] for j in np.flatnonzero(~held)), 0)
        shared = math.gcd(weight, rest)
        if not rest:  # the last one takes what is left
            return np.round(left / weight), 2**52
        every = rest // shared
        inverse = pow(weight // shared, -1, every) if every > 1 else 0
        return np.asarray((left // shared % every) * inverse % every, dtype=float), every


class Mixtures:
    """All totals of a space."""

    def __init__(self, totals: Sequence[Total]) -> None:
        # Those of few members first: what they set is held in the others.
        self.totals = sorted(totals, key=lambda total: len(total.members))
        names = [p.name for total in totals for p in total.members]
        self._is_shared = len(set(names)) < len(names)

    def total_of(self, name: str) -> Total | None:
        """The first total that a parameter is a member of."""
        return next((t for t in self.totals if any(p.name == name for p in t.members)), None)

    def holds(self, X: Array) -> Mask:  # (n, dim) -> (n,)
        """Whether all totals are met, up to rounding."""
        held = np.ones(len(X), dtype=bool)
        for total in self.totals:
            Z = total.values(X)
            size = np.abs(Z * total.coefficients).sum(axis=1) + abs(total.total)
            held &= np.abs(total.missing(Z)) <= 1e-8 * size
        return held

    def project(self, X: Array, keep: Sequence[int] = ()) -> Array:  # (n, dim) -> (n, dim)
        """The nearest points of the unit cube that meet the totals, grids ignored.

        Args:
            X: any points (n, dim).
            keep: columns that must not change.

        Returns:
            The points; a total that cannot be met is met as far as possible.
        """
        kept = X[:, list(keep)]
        for _ in range(_SWEEPS if self._is_shared else 1):
            for total in self.totals:
                held = np.isin(total.columns, keep)
                X = total.into(X, total.project(total.values(X), held))
                X[:, list(keep)] = kept  # to the last digit
            if not self._is_shared or self.holds(X).all():
                break
        return X

    def follow(self, X: Array, keep: Sequence[int]) -> Array:  # (n, dim) -> (n, dim)
        """Points in which the other members make up for columns that were set, in proportion.

        Args:
            X: points (n, dim).
            keep: the columns that were set.

        Returns:
            The points; `holds` tells for which of them it was possible.
        """
        for total in self.totals:
            held = np.isin(total.columns, keep)
            if held.any():
                X = total.into(X, total.scaled(total.values(X), held))
        return self.project(X, keep)

    def settle(self, X: Array) -> Array:  # (n, dim) -> (n, dim)
        """The same with every grid on one of its values, and totals met exactly."""
        X = self.project(X)
        done: set[int] = set()
        for total in self.totals:
            held = np.array([column in done for column in total.columns])
            X = total.into(X, total.settle(total.values(X), held))
            done.update(total.columns)
        return X

    def normals(self, X: Array) -> Array:  # (n, dim) -> (n, q, dim)
        """What one total each changes by, along each column of the unit cube."""
        found = np.zeros((len(X), len(self.totals), X.shape[1]))
        for i, total in enumerate(self.totals):
            found[:, i, list(total.columns)] = total.slopes(total.values(X)) * total.coefficients
        return found

    def exchanges(self, x: Array) -> Array:  # (dim,) -> (m, dim)
        """Points in which two members of a total have exchanged some of their steps."""
        blocks = [np.empty((0, len(x)))]
        for total in self.totals:
            Z = total.exchanges(total.values(x[None])[0])
            blocks.append(total.into(np.repeat(x[None], len(Z), axis=0), Z))
        return np.vstack(blocks)


def column_values(p: Real | Integer, u: Array) -> Array:  # (n,) -> (n,)
    """A column of the unit cube in the units of the user, grids ignored."""
    low, high = p.ends
    return np.asarray(low * (high / low) ** u if p.log else low + u * (high - low))


def _to_column(p: Real | Integer, z: Array) -> Array:  # (n,) -> (n,)
    low, high = p.ends
    return np.asarray(np.log(z / low) / math.log(high / low) if p.log else (z - low) / (high - low))


def _fraction(number: float) -> Fraction:
    """The number as people write it: 0.1 is a tenth."""
    return Fraction(number).limit_denominator(_DENOMINATOR)


def _interpolated(wanted: Array, f: Array, x: Array) -> Array:  # (n,), (n, m), (n, m) -> (n,)
    """Where rising polygons f(x), one for each row, take a value; the nearest end if nowhere."""
    rows = np.arange(len(f))
    at = np.clip((f < wanted[:, None]).sum(axis=1), 1, f.shape[1] - 1)
    f0, f1, x0, x1 = f[rows, at - 1], f[rows, at], x[rows, at - 1], x[rows, at]
    share = np.where(f1 > f0, (wanted - f0) / np.where(f1 > f0, f1 - f0, 1.0), 0.0)
    return np.asarray(x0 + np.clip(share, 0.0, 1.0) * (x1 - x0))
