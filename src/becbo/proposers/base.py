"""What every method is given and gives back."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from becbo.arrays import Array
from becbo.data import Dataset
from becbo.failures import Failures
from becbo.models.base import Models
from becbo.models.optimism import as_chosen, learned
from becbo.models.values import doubted, fit_limit, fit_value, measured_limits
from becbo.outputs import Outputs
from becbo.search.goal import Found
from becbo.search.region import Region
from becbo.search.repeats import marked, with_luck
from becbo.space import Space
from becbo.surrogates.base import FeasibilityModel
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.product import product
from becbo.trial import Prediction

# Finds the next point of a region, given pending points (p, d).
Searcher = Callable[[Region, Array], Found]


@dataclass(frozen=True)
class Proposal:
    """The next experiments, and how each was found.

    Attributes:
        X: the designs in the unit cube (q, d).
        found: the outcome of each search.
        believed: what the models say of each, in the user's units.
        seconds: what the regressors, the classifier and the search took.
        models: what it rests on.
    """

    X: Array
    found: tuple[Found, ...]
    believed: tuple[Prediction, ...]
    seconds: Mapping[str, float]
    models: Models


class Proposer(ABC):
    """One published method; a subclass is a method of your own.

    A method says how to fit the model of unknown failures and how to search. The rest is shared.

    Examples:
        >>> from becbo.methods import METHODS, build
        >>> optimizer = Optimizer(space, method=build(Settings("sobol")))
    """

    regressor: GaussianProcess  # settings of the regressor of every output

    @abstractmethod
    def fit_failures(self, data: Dataset, rng: np.random.Generator) -> FeasibilityModel:
        """Fits the model of unknown failures to a history of at least one experiment.

        Args:
            data: the history.
            rng: random numbers.

        Returns:
            The model: the chance to work, and its gradients.
        """

    @abstractmethod
    def searcher(self, models: Models, data: Dataset, rng: np.random.Generator) -> Searcher:
        """The search for the next point, given the models of a history.

        Args:
            models: the models of the history.
            data: the history.
            rng: random numbers.

        Returns:
            A function of a region and pending points (p, d) that finds the next point.
        """

    def supports(self, outputs: Outputs) -> bool:
        """Whether the method can optimise these outputs; by default one objective only.

        Args:
            outputs: what experiments return.

        Returns:
            Whether it can.
        """
        return outputs.is_single

    def limited_to(self, risk: float) -> Proposer | None:
        """The method with a largest chance of failure per proposal; None if it has no such way.

        Args:
            risk: the largest chance of failure.

        Returns:
            A method, or None.
        """
        del risk
        return None

    def expecting(self, failures: Failures) -> Proposer | None:
        """The method told what is known about failures; None if it cannot take it into account.

        Args:
            failures: what is known about failures.

        Returns:
            A method, or None.
        """
        return self if failures.are_facts else None

    def planned(self, n_initial: int, budget: int | None) -> Proposer:
        """The method told the size of the initial design and, if known, of the whole run.

        Args:
            n_initial: how many experiments are spread over the space first.
            budget: how many experiments there will be in all.

        Returns:
            A method.
        """
        del n_initial, budget
        return self

    def after(self, data: Dataset) -> Proposer:
        """The method as the failures of a history leave it, such as more careful.

        Args:
            data: the whole history.

        Returns:
            A method; by default the same.
        """
        del data
        return self

    @property
    def has_budget(self) -> bool:
        """Whether the number of failures is limited."""
        return False

    def n_risky(self, data: Dataset, pending: Array) -> int:
        """How many designs a budget of failures allows now that are not known to work.

        Args:
            data: the whole history.
            pending: points that are out for evaluation (p, d).

        Returns:
            A number.

        Raises:
            NotImplementedError: if the method has no budget.
        """
        raise NotImplementedError("without a budget nobody asks")

    def repeat(self, data: Dataset, models: Models, region: Region, pending: Array) -> Found | None:
        """A design that had better be run again than a new one be searched for.

        Args:
            data: the whole history.
            models: the models of its relevant part.
            region: where points may lie.
            pending: points that are out for evaluation (p, d).

        Returns:
            The design and why; by default None.
        """
        del data, models, region, pending
        return None

    def relevant(self, data: Dataset) -> Dataset:
        """The experiments that models and search look at; by default all.

        Args:
            data: the history.

        Returns:
            A part of it.
        """
        return data

    def fit(self, data: Dataset, rng: np.random.Generator) -> Models:
        """Fits all models to a history of at least one experiment.

        Args:
            data: the history.
            rng: random numbers.

        Returns:
            A model for every output, and the feasibility model.
        """
        return self._fit(self.relevant(data), rng, {})

    def propose(
        self, data: Dataset, region: Region, pending: Array, q: int, rng: np.random.Generator
    ) -> Proposal:
        """Proposes q new points, one search each.

        Args:
            data: the history, of at least one experiment.
            region: where points may lie.
            pending: points that are out for evaluation (p, d).
            q: how many points.
            rng: random numbers.

        Returns:
            The points, how they were found and what the models say of them.
        """
        seconds: dict[str, float] = {}
        method, history = self.after(data), self.relevant(data)
        models = method._fit(history, rng, seconds)
        with _clock(seconds, "search"):
            search = method.searcher(models, history, rng)
            region = reachable(region, history, models, pending)
            found: list[Found] = []
            for _ in range(q):  # a point that was found is taken, and pending, for the next
                again = method.repeat(data, models, region, pending)
                found.append(again or search(region, pending))
                region = region.with_taken(found[-1].x[None])
                pending = np.vstack([pending, found[-1].x])
        X = np.array([f.x for f in found])
        chances = ndtr(models.feasibility.score(X)[0])
        failed = history.X[~history.worked]
        found = [marked(f, failed, c) for f, c in zip(found, chances, strict=True)]
        optimism = models.feasibility.optimism
        if optimism:
            optimism = learned(optimism, data.stated[data.corrected], data.kept[data.corrected])
        pairs = zip(models.describe(X), found, strict=True)
        believed = [as_chosen(said, optimism) if f.is_refined else said for said, f in pairs]
        return Proposal(X, tuple(found), tuple(believed), seconds, models)

    def _fit(self, data: Dataset, rng: np.random.Generator, seconds: dict[str, float]) -> Models:
        outputs = data.outputs
        n_objectives, n_limits = len(outputs.objectives), len(outputs.limits)
        with _clock(seconds, "regressor"):
            objectives = tuple(fit_value(self.regressor, data, i) for i in range(n_objectives))
            limits = tuple(fit_limit(self.regressor, data, i) for i in range(n_limits))
            others = range(n_objectives + n_limits, len(outputs.names))
            recorded = tuple(fit_value(self.regressor, data, i) for i in others)
        with _clock(seconds, "classifier"):
            unknown = self.fit_failures(doubted(data, limits), rng)
            measured = measured_limits(outputs.limits, limits)
            feasibility = product(unknown, measured) if measured else unknown
        return Models(outputs, objectives, limits, recorded, feasibility)


@contextmanager
def _clock(seconds: dict[str, float], part: str) -> Iterator[None]:
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
        space.rounded,
        space.allowed,
        tuple(space.options()),
        space.polytope(),
        taken,
        space.mixtures,
    )


def reachable(region: Region, data: Dataset, models: Models, pending: Array) -> Region:  # (p, d)
    """Where points may lie: where failures may be bad luck, also at designs that failed."""
    failed = data.X[~data.worked]
    return with_luck(region, failed, pending) if models.feasibility.lapse else region
