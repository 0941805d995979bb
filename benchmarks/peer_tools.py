"""The tools that `peers.py` compares besides Optuna's samplers, one class each.

A class does what the documentation of its tool tells a user to do. Each docstring says what the
tool is told of a failure, and every setting that is not the tool's default, with the reason.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from becbo.problems import Problem

Params = dict[str, Any]


class AxPeer:
    """Ax: a failure is told as ABANDONED, and its transform AddExecutionViability learns from it.

    The transform is at its defaults: after three failures, a Gaussian process on 0 and 1 has to
    predict at least 0.8. None of Ax's own strategies has it, so it is put before the transforms
    of Ax's default model, all else as there.

    Not by default: no Sobol node, which the initial design replaces (Ax's own would go on until
    five trials have worked); and a tracking metric of the name the transform makes up, without
    which Ax 1.3.1 raises a KeyError.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        from ax.adapter.transforms.add_execution_viability import EXECUTION_VIABLE_METRIC_NAME
        from ax.api.client import Client
        from ax.api.configs import RangeParameterConfig

        self._client = Client(random_seed=seed)
        self._client.configure_experiment(
            [
                RangeParameterConfig(name=p.name, bounds=(p.low, p.high), parameter_type="float")
                for p in problem.space.parameters
            ]
        )
        self._client.configure_optimization(objective="-value")
        self._client.configure_tracking_metrics([EXECUTION_VIABLE_METRIC_NAME])
        self._client.set_generation_strategy(_ax_strategy())

    def add(self, params: Params, value: float | None) -> None:
        self._number = self._client.attach_trial(params)
        self.tell(value)

    def ask(self) -> Params:
        ((self._number, params),) = self._client.get_next_trials(max_trials=1).items()
        return params

    def tell(self, value: float | None) -> None:
        if value is None:
            self._client.mark_trial_abandoned(self._number)
        else:
            self._client.complete_trial(self._number, raw_data={"value": value})


def _ax_strategy() -> Any:
    """Ax's default model with the transform, which has to see parameters and data unchanged."""
    from ax.adapter.registry import Generators, MBM_X_trans, Y_trans
    from ax.adapter.transforms.add_execution_viability import AddExecutionViability
    from ax.generation_strategy.generation_node import GenerationNode
    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from ax.generation_strategy.generator_spec import GeneratorSpec

    model = GeneratorSpec(
        generator_enum=Generators.BOTORCH_MODULAR,
        generator_kwargs={"transforms": [AddExecutionViability, *MBM_X_trans, *Y_trans]},
    )
    node = GenerationNode(name="MBM", generator_specs=[model], should_deduplicate=True)
    return GenerationStrategy(name="MBM with viability", nodes=[node])


class BoFirePeer:
    """BoFire: a failure is an experiment labelled "failed", without a valid value.

    As in its tutorial on unknown constraints: an ensemble of networks classifies the labels
    (settings of the tutorial, not BoFire's defaults, with which probabilities on lsq stayed near
    one half), and its probability weighs the expected improvement (qLogEI, as there).

    Not as in the tutorial: inputs are scaled for the networks, as BoFire does by default for its
    Gaussian processes, because ours reach 200 and those of the tutorial 1.75. BoFire refuses to
    model less than two experiments that worked; until then its RandomStrategy proposes.
    """

    LABELS = ["failed", "worked"]

    def __init__(self, problem: Problem, seed: int) -> None:
        import torch
        from bofire.data_models.strategies.api import RandomStrategy
        from bofire.strategies.api import map as make

        torch.manual_seed(seed)  # the networks draw from torch's own stream
        domain = _bofire_domain(problem, self.LABELS)
        self._names = problem.space.names
        self._random = make(RandomStrategy(domain=domain, seed=seed))
        self._model = make(_bofire_strategy(domain, seed))
        self._rows: list[Params] = []

    def add(self, params: Params, value: float | None) -> None:
        worked = value is not None
        self._rows.append(
            {
                **params,
                "value": value if worked else math.nan,
                "valid_value": int(worked),
                "label": self.LABELS[worked],
                "valid_label": 1,
            }
        )

    def ask(self) -> Params:
        import pandas as pd

        experiments = pd.DataFrame(self._rows)
        strategy = self._model if experiments["valid_value"].sum() > 1 else self._random
        strategy.tell(experiments, replace=True)
        candidate = strategy.ask(1).iloc[0]
        self._params = {name: float(candidate[name]) for name in self._names}
        return self._params

    def tell(self, value: float | None) -> None:
        self.add(self._params, value)


def _bofire_domain(problem: Problem, labels: list[str]) -> Any:
    from bofire.data_models.api import Domain, Inputs, Outputs
    from bofire.data_models.features.api import (
        CategoricalOutput,
        ContinuousInput,
        ContinuousOutput,
    )
    from bofire.data_models.objectives.api import (
        ConstrainedCategoricalObjective,
        MinimizeObjective,
    )

    wanted = ConstrainedCategoricalObjective(categories=labels, desirability=[False, True])
    return Domain(
        inputs=Inputs(
            features=[
                ContinuousInput(key=p.name, bounds=(p.low, p.high))
                for p in problem.space.parameters
            ]
        ),
        outputs=Outputs(
            features=[
                ContinuousOutput(key="value", objective=MinimizeObjective(w=1.0)),
                CategoricalOutput(key="label", categories=labels, objective=wanted),
            ]
        ),
    )


def _bofire_strategy(domain: Any, seed: int) -> Any:
    from bofire.data_models.acquisition_functions.api import qLogEI
    from bofire.data_models.api import Outputs
    from bofire.data_models.strategies.api import SoboStrategy
    from bofire.data_models.surrogates.api import BotorchSurrogates, ClassificationMLPEnsemble
    from bofire.data_models.surrogates.scaler import Normalize

    classifier = ClassificationMLPEnsemble(
        inputs=domain.inputs,
        outputs=Outputs(features=[domain.outputs.get_by_key("label")]),
        lr=0.03,
        n_epochs=100,
        hidden_layer_sizes=(4, 2),
        activation="tanh",
        scaler=Normalize(),
    )
    return SoboStrategy(
        domain=domain,
        acquisition_function=qLogEI(),
        surrogate_specs=BotorchSurrogates(surrogates=[classifier]),
        seed=seed,
    )


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

    A seed repeats its run only where PYTHONHASHSEED is fixed as well.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        from ConfigSpace import ConfigurationSpace, Float

        self._seed = seed
        self._space = ConfigurationSpace(seed=seed)
        self._space.add([Float(p.name, (p.low, p.high)) for p in problem.space.parameters])
        self._start: list[tuple[Params, float | None]] = []
        self._facade: Any = None
        self._folder = tempfile.TemporaryDirectory()  # SMAC insists on writing its history

    def add(self, params: Params, value: float | None) -> None:
        self._start.append((params, value))

    def ask(self) -> Params:
        if self._facade is None:
            self._begin()
        self._trial = self._facade.ask()
        return dict(self._trial.config)

    def tell(self, value: float | None) -> None:
        self._report(self._trial, value)

    def _begin(self) -> None:
        from ConfigSpace import Configuration
        from smac import BlackBoxFacade, Scenario
        from smac.runhistory import TrialInfo

        self._crash_cost = _crash_cost([v for _, v in self._start if v is not None])
        scenario = Scenario(
            self._space,
            deterministic=True,
            crash_cost=self._crash_cost,
            seed=self._seed,
            output_directory=Path(self._folder.name),
        )
        configs = [Configuration(self._space, values=params) for params, _ in self._start]
        self._facade = BlackBoxFacade(
            scenario,
            initial_design=BlackBoxFacade.get_initial_design(
                scenario, n_configs=0, additional_configs=configs
            ),
            logging_level=False,
        )
        for config, (_, value) in zip(configs, self._start, strict=True):
            # Seed 0 is the one that SMAC gives its own trials of a deterministic objective.
            self._report(TrialInfo(config, seed=0), value)

    def _report(self, trial: Any, value: float | None) -> None:
        from smac.runhistory import StatusType, TrialValue

        if value is None:
            result = TrialValue(cost=self._crash_cost, status=StatusType.CRASHED)
        else:
            result = TrialValue(cost=value)
        self._facade.tell(trial, result)


def _crash_cost(values: list[float]) -> float:
    worst = max(values)
    return worst + (worst - min(values) or abs(worst) or 1.0)


class HeboPeer:
    """HEBO: a failure is told as NaN, which it discards.

    All settings are defaults. It draws Sobol points until one design more has worked than there
    are parameters; with fewer, its fit breaks down in 10 and more dimensions.

    HEBO 0.3.6 asks for NumPy below 1.25, which excludes becbo, but runs with NumPy 2.4. pymoo is
    the 0.6.0 it asks for: with 0.6.2, a seed does not repeat its run. Where pip finds no compiled
    pymoo 0.6.0, pymoo says so, and seconds per proposal are more than they need be.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO

        np.random.seed(seed)  # HEBO and what it stands on draw from the global streams
        torch.manual_seed(seed)
        space = DesignSpace().parse(
            [
                {"name": p.name, "type": "num", "lb": p.low, "ub": p.high}
                for p in problem.space.parameters
            ]
        )
        self._optimizer = HEBO(space, scramble_seed=seed)

    def add(self, params: Params, value: float | None) -> None:
        import pandas as pd

        self._asked = pd.DataFrame([params])
        self.tell(value)

    def ask(self) -> Params:
        self._asked = self._optimizer.suggest()
        return self._asked.iloc[0].to_dict()

    def tell(self, value: float | None) -> None:
        self._optimizer.observe(self._asked, np.array([[math.nan if value is None else value]]))


class SBArchOptPeer:
    """SBArchOpt (ArchSBO): a failure is told as NaN.

    Its Gaussian process learns from values only; a random forest, from values and failures, has
    to predict a viability of at least 0.25, its default. Below two values it proposes points far
    from all others.

    Not by default: the initial design, and no reduction of the dimension (kpls_n_dim), which
    above 10 parameters fails until 11 designs have worked.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        from pymoo.core.variable import Real
        from sb_arch_opt.problems.problems_base import NoHierarchyProblemBase

        self._names = problem.space.names
        self._seed = seed
        self._problem = NoHierarchyProblemBase(
            [Real(bounds=(p.low, p.high)) for p in problem.space.parameters]
        )
        self._start: list[tuple[Params, float | None]] = []
        self._algorithm: Any = None

    def add(self, params: Params, value: float | None) -> None:
        self._start.append((params, value))

    def ask(self) -> Params:
        if self._algorithm is None:
            self._begin()
        self._asked = self._algorithm.ask()
        return dict(zip(self._names, map(float, self._asked[0].X), strict=True))

    def tell(self, value: float | None) -> None:
        self._report([value])

    def _begin(self) -> None:
        from pymoo.core.termination import NoTermination
        from sb_arch_opt.algo.arch_sbo import get_arch_sbo_gp

        X = np.array([[params[name] for name in self._names] for params, _ in self._start])
        self._algorithm = get_arch_sbo_gp(
            self._problem, init_size=len(X), init_sampling=X, kpls_n_dim=None
        )
        self._algorithm.setup(self._problem, seed=self._seed, termination=NoTermination())
        self._asked = self._algorithm.ask()
        self._report([value for _, value in self._start])

    def _report(self, values: list[float | None]) -> None:
        """The outcomes of the designs asked for last."""
        from pymoo.core.evaluator import Evaluator
        from pymoo.problems.static import StaticProblem

        F = np.array([[math.nan if value is None else value] for value in values])
        Evaluator().eval(StaticProblem(self._problem, F=F), self._asked)
        self._algorithm.tell(infills=self._asked)
