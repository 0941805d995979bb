"""The tools that `peers.py` compares besides Optuna's samplers, one class each.

A class does what the documentation of its tool tells a user to do. Each docstring says what the
tool is told of a failure, of several objectives and of limits, and every setting that is not the
tool's default, with the reason. Those that stand on BoTorch are in `peer_botorch.py`.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from becbo.bench.experiment import Answer
from becbo.problems import ConstrainedProblem
from becbo.space import Space

Params = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """What a tool knows before it begins, and how answers become the numbers that it is told."""

    space: Space
    objectives: tuple[str, ...]  # names; all are minimised
    limits: tuple[str, ...]  # names of those whose values are told; others show as failures

    @classmethod
    def of(cls, problem: ConstrainedProblem, measured: bool) -> Task:
        limits = problem.constraints if measured else ()
        return cls(problem.space, problem.objective_names, limits)

    @property
    def is_plain(self) -> bool:
        """Whether there is one value and nothing else."""
        return len(self.objectives) == 1 and not self.limits

    def values(self, answer: Answer) -> list[float] | None:
        """The objectives, unless the experiment failed."""
        told = answer.values
        return None if told is None else [told[name] for name in self.objectives]

    def violations(self, answer: Answer) -> list[float] | None:
        """By how much limits are broken, at most 0 where they are kept, unless it failed."""
        told = answer.values
        return None if told is None else [-told[name] for name in self.limits]

    def numbers(self, answer: Answer) -> list[float]:
        """Objectives and violations, all of them NaN if the experiment failed."""
        values, violations = self.values(answer), self.violations(answer)
        if values is None or violations is None:
            return [math.nan] * (len(self.objectives) + len(self.limits))
        return values + violations

    def design(self, x: Any) -> Params:
        """The values of parameters in the order of the space as a design."""
        return dict(zip(self.space.names, map(float, x), strict=True))

    def matrix(self, designs: list[Params]) -> np.ndarray:  # (n, d)
        """Designs as rows, in the order of the space."""
        return np.array([[params[name] for name in self.space.names] for params in designs])


class SmacPeer:
    """SMAC: a failure is told as CRASHED, at a crash cost that its model takes for a value.

    BlackBoxFacade, a Gaussian process, which its documentation lists for few parameters (the
    facade of its examples takes logarithms, and some of our values are negative). The objective
    is declared deterministic.

    Not by default: the initial design replaces SMAC's own (its way of warm starting), and the
    crash cost, which by default is infinite and makes scikit-learn refuse the data ("Input y
    contains NaN"). The documentation only calls it "the cost for a failed trial", so the rule is
    ours: beyond the worst value of the initial design by as much as the worst is beyond the best,
    or by its own size where only one design worked. No other rule was tried.

    Several objectives are aggregated by ParEGO, as its documentation shows (the facade would take
    their mean), and each has a crash cost of its own by the rule above. SMAC has no limits: a
    broken one is a failure.

    A seed repeats its run only where PYTHONHASHSEED is fixed as well.
    """

    def __init__(self, task: Task, seed: int) -> None:
        from ConfigSpace import ConfigurationSpace, Float

        self._task, self._seed = task, seed
        self._space = ConfigurationSpace(seed=seed)
        self._space.add([Float(p.name, (p.low, p.high)) for p in task.space.parameters])
        self._start: list[tuple[Params, Answer]] = []
        self._facade: Any = None
        self._folder = tempfile.TemporaryDirectory()  # SMAC insists on writing its history

    def add(self, params: Params, answer: Answer) -> None:
        self._start.append((params, answer))

    def ask(self) -> Params:
        if self._facade is None:
            self._begin()
        self._trial = self._facade.ask()
        return dict(self._trial.config)

    def tell(self, answer: Answer) -> None:
        self._report(self._trial, answer)

    def _begin(self) -> None:
        from ConfigSpace import Configuration
        from smac import BlackBoxFacade, Scenario
        from smac.multi_objective.parego import ParEGO
        from smac.runhistory import TrialInfo

        worked = [values for _, a in self._start if (values := self._task.values(a)) is not None]
        self._crash_costs = [crash_cost(column) for column in zip(*worked, strict=True)]
        several = len(self._task.objectives) > 1
        scenario = Scenario(
            self._space,
            objectives=list(self._task.objectives),
            deterministic=True,
            crash_cost=self._cost(self._crash_costs),
            seed=self._seed,
            output_directory=Path(self._folder.name),
        )
        configs = [Configuration(self._space, values=params) for params, _ in self._start]
        self._facade = BlackBoxFacade(
            scenario,
            initial_design=BlackBoxFacade.get_initial_design(
                scenario, n_configs=0, additional_configs=configs
            ),
            multi_objective_algorithm=ParEGO(scenario) if several else None,
            logging_level=False,
        )
        for config, (_, answer) in zip(configs, self._start, strict=True):
            # Seed 0 is the one that SMAC gives its own trials of a deterministic objective.
            self._report(TrialInfo(config, seed=0), answer)

    def _report(self, trial: Any, answer: Answer) -> None:
        from smac.runhistory import StatusType, TrialValue

        values = self._task.values(answer)
        if values is None:
            cost, status = self._cost(self._crash_costs), StatusType.CRASHED
        else:
            cost, status = self._cost(values), StatusType.SUCCESS
        self._facade.tell(trial, TrialValue(cost=cost, status=status))

    @staticmethod
    def _cost(values: list[float]) -> float | list[float]:
        """SMAC takes one number for one objective, and a list for several."""
        return values if len(values) > 1 else values[0]


def crash_cost(values: Sequence[float]) -> float:
    """What a failure costs in an objective, given its values of the initial design."""
    worst = max(values)
    return worst + (worst - min(values) or abs(worst) or 1.0)


class HeboPeer:
    """HEBO: a failure is told as NaN, which it discards.

    All settings are defaults. It draws Sobol points until one design more has worked than there
    are parameters; with fewer, its fit breaks down in 10 and more dimensions.

    Several objectives and limits are for GeneralBO, its class for them, with its defaults: a
    Gaussian process of several outputs, whose lower confidence bounds (of limits: means) NSGA-II
    optimises. Broken limits are above 0.

    HEBO 0.3.6 asks for NumPy below 1.25, which excludes becbo, but runs with NumPy 2.4. pymoo is
    the 0.6.0 it asks for: with 0.6.2, a seed does not repeat its run. Where pip finds no compiled
    pymoo 0.6.0, pymoo says so, and seconds per proposal are more than they need be.
    """

    def __init__(self, task: Task, seed: int) -> None:
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.general import GeneralBO
        from hebo.optimizers.hebo import HEBO

        np.random.seed(seed)  # HEBO and what it stands on draw from the global streams
        torch.manual_seed(seed)
        space = DesignSpace().parse(
            [
                {"name": p.name, "type": "num", "lb": p.low, "ub": p.high}
                for p in task.space.parameters
            ]
        )
        self._task = task
        self._optimizer = (
            HEBO(space, scramble_seed=seed)
            if task.is_plain
            else GeneralBO(space, num_obj=len(task.objectives), num_constr=len(task.limits))
        )

    def add(self, params: Params, answer: Answer) -> None:
        import pandas as pd

        self._asked = pd.DataFrame([params])
        self.tell(answer)

    def ask(self) -> Params:
        self._asked = self._optimizer.suggest()
        return self._asked.iloc[0].to_dict()

    def tell(self, answer: Answer) -> None:
        self._optimizer.observe(self._asked, np.array([self._task.numbers(answer)]))


class SBArchOptPeer:
    """SBArchOpt (ArchSBO): a failure is told as NaN.

    Its Gaussian process learns from values only; a random forest, from values and failures, has
    to predict a viability of at least 0.25, its default. Below two values it proposes points far
    from all others. Limits are its constraints, above 0 where they are broken, with a Gaussian
    process each, whose means have to keep them; several objectives have an infill criterion of
    their own. All of it is what it chooses by itself.

    Not by default: the initial design, and no reduction of the dimension (kpls_n_dim), which
    above 10 parameters fails until 11 designs have worked.
    """

    def __init__(self, task: Task, seed: int) -> None:
        from pymoo.core.variable import Real
        from sb_arch_opt.problems.problems_base import NoHierarchyProblemBase

        self._task, self._seed = task, seed
        self._problem = NoHierarchyProblemBase(
            [Real(bounds=(p.low, p.high)) for p in task.space.parameters],
            n_obj=len(task.objectives),
            n_ieq_constr=len(task.limits),
        )
        self._start: list[tuple[Params, Answer]] = []
        self._algorithm: Any = None

    def add(self, params: Params, answer: Answer) -> None:
        self._start.append((params, answer))

    def ask(self) -> Params:
        if self._algorithm is None:
            self._begin()
        self._asked = self._algorithm.ask()
        return self._task.design(self._asked[0].X)

    def tell(self, answer: Answer) -> None:
        self._report([answer])

    def _begin(self) -> None:
        from pymoo.core.termination import NoTermination
        from sb_arch_opt.algo.arch_sbo import get_arch_sbo_gp

        X = self._task.matrix([params for params, _ in self._start])
        self._algorithm = get_arch_sbo_gp(
            self._problem, init_size=len(X), init_sampling=X, kpls_n_dim=None
        )
        self._algorithm.setup(self._problem, seed=self._seed, termination=NoTermination())
        self._asked = self._algorithm.ask()
        self._report([answer for _, answer in self._start])

    def _report(self, answers: list[Answer]) -> None:
        """The outcomes of the designs asked for last."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        numbers = np.array([self._task.numbers(answer) for answer in answers])
        F, G = np.split(numbers, [len(self._task.objectives)], axis=1)
        Evaluator().eval(StaticProblem(self._problem, F=F, G=G), self._asked)
        self._algorithm.tell(infills=self._asked)


class PymooPeer:
    """pymoo's NSGA-II: a failure violates a constraint, so that its values do not count.

    Measured limits are its constraints. Populations of 10, the size of the initial design, instead
    of 100: with 100 evaluations the default would be random search.
    """

    def __init__(self, task: Task, seed: int) -> None:
        from pymoo.core.problem import Problem

        self._task, self._seed = task, seed
        self._problem = Problem(
            n_var=len(task.space.names),
            n_obj=len(task.objectives),
            n_ieq_constr=len(task.limits) + 1,
            xl=np.array([p.low for p in task.space.parameters]),
            xu=np.array([p.high for p in task.space.parameters]),
        )
        self._start: list[Params] = []
        self._answers: list[Answer] = []
        self._algorithm: Any = None

    def add(self, params: Params, answer: Answer) -> None:
        self._start.append(params)
        self._answers.append(answer)

    def ask(self) -> Params:
        if self._algorithm is None:
            self._begin()
        if len(self._answers) == len(self._asked):
            self._report()
        return self._task.design(self._asked[len(self._answers)].X)

    def tell(self, answer: Answer) -> None:
        self._answers.append(answer)

    def _begin(self) -> None:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.termination import NoTermination

        X = self._task.matrix(self._start)
        self._algorithm = NSGA2(pop_size=len(X), sampling=X)
        self._algorithm.setup(self._problem, seed=self._seed, termination=NoTermination())
        self._asked = self._algorithm.ask()

    def _report(self) -> None:
        """The answers to a whole population, and the next one."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        numbers = np.array([self._task.numbers(answer) for answer in self._answers])
        failed = np.isnan(numbers).any(axis=1, keepdims=True).astype(float)
        F, G = np.split(np.nan_to_num(numbers), [len(self._task.objectives)], axis=1)
        Evaluator().eval(StaticProblem(self._problem, F=F, G=np.hstack([G, failed])), self._asked)
        self._algorithm.tell(infills=self._asked)
        self._asked, self._answers = self._algorithm.ask(), []
