"""Between Optuna's distributions and the space that the engine sees."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

from becbo.arrays import Array
from becbo.errors import InvalidInput
from becbo.space import Categorical, Integer, Parameter, Real, Space

Distributions = Mapping[str, BaseDistribution]


def parameter_of(name: str, distribution: BaseDistribution) -> Parameter:
    """The parameter with the values of a distribution; a choice is its index.

    Raises:
        InvalidInput: becbo has no such parameter.
    """
    if isinstance(distribution, FloatDistribution):
        return Real(name, distribution.low, distribution.high, distribution.log, distribution.step)
    if isinstance(distribution, IntDistribution):
        return Integer(
            name, distribution.low, distribution.high, distribution.log, distribution.step
        )
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(name, _indices(distribution))
    raise InvalidInput(f"{name}: {distribution!r} is not a Float, Int or Categorical distribution")


def refusal(name: str, distribution: BaseDistribution) -> InvalidInput | None:
    """Why becbo has no parameter with the values of a distribution, if it has none."""
    try:
        parameter_of(name, distribution)
    except InvalidInput as error:
        return error
    return None


@dataclass(frozen=True)
class StudySpace:
    """The parameters of a study: distributions for Optuna, a space for the engine.

    The engine sees a becbo `Space` as it is. If distributions are given, it sees the index of a
    choice, because Optuna allows choices of any type and cannot tell some apart (1 and True).

    Args:
        distributions: the parameters as Optuna knows them.
        space: the same parameters as the engine knows them.
        has_indices: whether a choice is its index in `space`.
    """

    distributions: Distributions
    space: Space
    has_indices: bool

    @classmethod
    def of(cls, given: Space | Distributions) -> StudySpace:
        """The parameters of a becbo space, or of Optuna's distributions.

        Raises:
            InvalidInput: a distribution has no parameter in becbo, or the other way round.
        """
        if isinstance(given, Space):
            return cls(distributions_of(given), given, has_indices=False)
        parameters = [parameter_of(name, d) for name, d in given.items()]
        return cls(given, Space(parameters), has_indices=True)

    def only(self, names: Collection[str]) -> StudySpace:
        """The parameters of these names.

        Raises:
            InvalidInput: the space has constraints, which need all parameters.
        """
        if set(names) == self.distributions.keys():
            return self
        if self.space.constraints:
            raise InvalidInput(
                f"the constraints of the space need all of {list(self.distributions)}, but only "
                f"{list(names)} are to be proposed; leave the constraints out"
            )
        parameters = [p for p in self.space.parameters if p.name in names]
        distributions = {n: d for n, d in self.distributions.items() if n in names}
        return StudySpace(distributions, Space(parameters), self.has_indices)

    def encode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values as users see them to values of `space`, not yet validated.

        Raises:
            ValueError: a value is of the wrong type, or not among the choices.
        """
        return {name: self._encode(self.distributions[name], v) for name, v in params.items()}

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of `space` to values as users see them."""
        return {name: self._decode(self.distributions[name], v) for name, v in params.items()}

    def _encode(self, distribution: BaseDistribution, value: Any) -> Any:
        if isinstance(distribution, CategoricalDistribution) and not self.has_indices:
            return value
        stored = distribution.to_internal_repr(value)
        return stored if isinstance(distribution, FloatDistribution) else int(stored)

    def _decode(self, distribution: BaseDistribution, value: Any) -> Any:
        if isinstance(distribution, CategoricalDistribution) and not self.has_indices:
            return value
        if isinstance(distribution, FloatDistribution) and distribution.step is not None:
            # Optuna checks multiples of the step more narrowly than our twelve digits can promise.
            low, step = distribution.low, distribution.step
            return min(low + round((value - low) / step) * step, distribution.high)
        return distribution.to_external_repr(value)


def distributions_of(
    space: Space, params: Mapping[str, Any] | None = None
) -> dict[str, BaseDistribution]:
    """The distributions with the values of a space.

    Args:
        space: the parameters.
        params: a design that was carried out. It may lie between the steps, which bind proposals;
            Optuna accepts it in a distribution without steps.

    Returns:
        The distribution of each parameter.

    Raises:
        InvalidInput: Optuna cannot tell the choices of a parameter apart.
    """
    return {
        parameter.name: _distribution_of(
            parameter, None if params is None else params[parameter.name]
        )
        for parameter in space.parameters
    }


def all_distributions(trials: Iterable[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The parameters that finished trials have had, by name; not one whose range differs."""
    seen: dict[str, BaseDistribution] = {}
    differing = set()
    for trial in trials:
        if trial.state.is_finished():
            for name, distribution in trial.distributions.items():
                if seen.setdefault(name, distribution) != distribution:
                    differing.add(name)
    return {name: d for name, d in sorted(seen.items()) if name not in differing}


def common_distributions(trials: Iterable[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The parameters that all finished trials share, by name.

    As in Optuna, a parameter that some trial does not have, or has with another range, is not
    among them. Unlike in Optuna failed trials count, because they may be all there are; but not
    one that stopped before its last parameter was suggested.
    """
    finished = [t for t in trials if t.state.is_finished()]
    kinds = {frozenset(t.distributions) for t in finished}
    shared: dict[str, BaseDistribution] | None = None
    for trial in finished:
        names = frozenset(trial.distributions)
        if trial.state is not TrialState.COMPLETE and any(names < kind for kind in kinds):
            continue
        known = trial.distributions if shared is None else shared
        shared = {n: d for n, d in known.items() if trial.distributions.get(n) == d}
    return dict(sorted((shared or {}).items()))


def distinct_choices(distribution: CategoricalDistribution) -> list[Any]:
    """The choices that Optuna can tell apart."""
    return [distribution.choices[i] for i in _indices(distribution)]


def _indices(distribution: CategoricalDistribution) -> list[int]:
    """The indices of the choices that Optuna can tell apart."""
    return sorted({int(distribution.to_internal_repr(c)) for c in distribution.choices})


def _distribution_of(parameter: Parameter, value: Any = None) -> BaseDistribution:
    if isinstance(parameter, Categorical):
        distribution = CategoricalDistribution(parameter.choices)
        if len(_indices(distribution)) < len(parameter.choices):
            raise InvalidInput(
                f"{parameter.name}: Optuna cannot tell all of {list(parameter.choices)} apart; "
                "give each choice a name"
            )
        return distribution
    is_between = value is not None and parameter.decode(parameter.encode(value)) != value
    # Optuna wants the upper bound on the grid.
    high = parameter.high if is_between else parameter.highest
    if isinstance(parameter, Integer):
        step = 1 if is_between else parameter.step
        return IntDistribution(parameter.low, int(high), parameter.log, step)
    width = None if is_between else parameter.step
    return FloatDistribution(parameter.low, high, parameter.log, width)


class PinnedSpace(Space):
    """A space in which proposals have given values of some parameters; earlier designs had any."""

    def __init__(self, space: Space, pinned: Mapping[str, Any]) -> None:
        super().__init__(space.parameters, space.constraints)
        self._pinned = dict(pinned)
        self._points = [
            (columns, np.array([parameter.encode(pinned[parameter.name])]))
            for parameter, columns in zip(self.parameters, self.columns, strict=True)
            if parameter.name in pinned
        ]
        free = [p.n_values for p in self.parameters if p.name not in pinned]
        self.size = math.inf if math.inf in free else math.prod(free)
        self.mixtures = self._mixtures(self._pinned)

    def decode(self, X: Array) -> list[dict[str, Any]]:  # (n, dim)
        """Points of the unit cube to params with the given values."""
        return [{**params, **self._pinned} for params in super().decode(X)]

    def rounded(self, X: Array) -> Array:  # (n, dim) -> (n, dim)
        """Columns moved to settable values, or to the given ones."""
        snapped = super().rounded(X)
        for columns, point in self._points:
            snapped[:, columns] = point
        return snapped

    def options(self) -> list[tuple[slice, Array | None]]:
        """Per grid, categorical or given parameter: its columns and, if few, all its values."""
        options: dict[int, tuple[slice, Array | None]]
        options = {columns.start: (columns, values) for columns, values in super().options()}
        options |= {columns.start: (columns, point) for columns, point in self._points}
        return [option for _, option in sorted(options.items())]

    def polytope(self) -> tuple[Array, Array]:  # (m, dim), (m,)
        """The linear constraints, and the given values, as A u <= b on the unit cube."""
        A, b = super().polytope()
        for columns, point in self._points:
            rows = np.eye(self.dim)[columns]
            A = np.vstack([A, rows, -rows])
            b = np.concatenate([b, point[0], -point[0]])
        return A, b
