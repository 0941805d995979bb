"""One experiment of a run: what is true about a design, and what a method is told about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np

from becbo.optimizer import Optimizer
from becbo.outputs import Limit, Objective, Output
from becbo.problems import ConstrainedProblem
from becbo.trial import Trial

_LUCK = 11  # the stream of random numbers that bad luck is drawn from


@dataclass(frozen=True)
class Experiment:
    """What is true about a design."""

    objectives: tuple[str, ...]  # names
    constraints: tuple[str, ...]
    measured: Mapping[str, float]  # objectives and slacks, as far as they are finite
    is_unlucky: bool = False  # feasible, and failed all the same

    @property
    def violated(self) -> tuple[str, ...]:
        """The constraints that do not hold."""
        return tuple(name for name in self.constraints if not self.measured.get(name, -1.0) >= 0)

    @property
    def values(self) -> tuple[float, ...] | None:
        """The objectives of a feasible design, which is what quality is measured by."""
        if self.violated or self.is_unlucky:
            return None
        return tuple(self.measured[name] for name in self.objectives)

    @property
    def is_complete(self) -> bool:
        """Whether everything could be measured."""
        return len(self.measured) == len(self.objectives) + len(self.constraints)


@dataclass(frozen=True)
class Answer:
    """What a method is told about an experiment.

    Attributes:
        values: the outputs of an experiment that worked; None if it failed.
        reason: why it failed, if that is told.
        measured: what was measured although it failed.
    """

    values: Mapping[str, float] | None
    reason: str | None = None
    measured: Mapping[str, float] = field(default_factory=dict)

    def add_to(self, optimizer: Optimizer, params: Mapping[str, Any]) -> None:
        """Tells an optimizer about a design that it did not propose."""
        if self.values is None:
            optimizer.add(params, failed=self.reason or True, measured=self.measured)
        else:
            optimizer.add(params, self.values)

    def give_to(self, optimizer: Optimizer, trial: Trial) -> None:
        """Tells an optimizer about a trial that it proposed."""
        if self.values is None:
            optimizer.fail(trial, self.reason, self.measured)
        else:
            optimizer.tell(trial, self.values)


def perform(problem: ConstrainedProblem, params: Mapping[str, Any]) -> Experiment:
    """Evaluates one design of a problem."""
    return Experiment(problem.objective_names, problem.constraints, problem.measure(params))


def struck(experiment: Experiment, rate: float, problem: str, seed: int, number: int) -> Experiment:
    """The experiment after bad luck had its say: the same draw for every method.

    Args:
        experiment: what is true about a design.
        rate: how often a feasible design fails all the same.
        problem: its name; each has draws of its own.
        seed: of the run.
        number: of the evaluation in the run.
    """
    draw = np.random.default_rng((seed, _LUCK, crc32(problem.encode()), number)).random()
    return replace(experiment, is_unlucky=draw < rate and not experiment.violated)


def answer(experiment: Experiment, measured: bool, told: str = "nothing") -> Answer:
    """What is told about an experiment.

    Args:
        experiment: what is true about it.
        measured: whether objectives and limits are told as numbers, also where a limit is broken.
            Otherwise a design that breaks a limit fails, and nothing is measured.
        told: which of the violated constraints a failure names: "nothing", "first" or "all".

    Returns:
        The answer.
    """
    if experiment.is_unlucky:
        return Answer(None)
    if measured:
        complete = experiment.is_complete
        return Answer(experiment.measured) if complete else Answer(None, None, experiment.measured)
    violated = experiment.violated
    if violated:
        named = {"nothing": (), "first": violated[:1], "all": violated}[told]
        return Answer(None, ", ".join(named) or None)
    return Answer({name: experiment.measured[name] for name in experiment.objectives})


def outputs_of(problem: ConstrainedProblem, measured: bool) -> list[Output]:
    """The outputs of a problem as an optimizer is told them: slacks have to be at least 0.

    The reference point that hypervolumes are measured from is not told: most tools take none.
    """
    outputs: list[Output] = [Objective(name) for name in problem.objective_names]
    if measured:
        outputs += [Limit(name, lower=0.0) for name in problem.constraints]
    return outputs
