"""Tools of `peers.py` that stand on BoTorch: Ax and BoFire. See `peer_tools.py`."""

from __future__ import annotations

from typing import Any

from peer_tools import Params, Task

from becbo.bench.experiment import Answer


class AxPeer:
    """Ax: a failure is told as ABANDONED, and its transform AddExecutionViability learns from it.

    The transform is at its defaults: after three failures, a Gaussian process on 0 and 1 has to
    predict at least 0.8. None of Ax's own strategies has it, so it is put before the transforms
    of Ax's default model, all else as there.

    Limits are its outcome constraints. Several objectives have no thresholds, since nobody is told
    any: Ax infers them from the designs that keep all limits. Where these are few, the thresholds
    are narrow, and it stays near them (on srn, which begins with one).

    Not by default: no Sobol node, which the initial design replaces (Ax's own would go on until
    five trials have worked); and a tracking metric of the name the transform makes up, without
    which Ax 1.3.1 raises a KeyError.
    """

    def __init__(self, task: Task, seed: int) -> None:
        from ax.adapter.transforms.add_execution_viability import EXECUTION_VIABLE_METRIC_NAME
        from ax.api.client import Client
        from ax.api.configs import RangeParameterConfig

        self._task = task
        objectives, limits = _keys(task)
        self._client = Client(random_seed=seed)
        self._client.configure_experiment(
            [
                RangeParameterConfig(name=p.name, bounds=(p.low, p.high), parameter_type="float")
                for p in task.space.parameters
            ]
        )
        self._client.configure_optimization(
            objective=", ".join(f"-{key}" for key in objectives),
            outcome_constraints=[f"{key} <= 0" for key in limits],
        )
        self._client.configure_tracking_metrics([EXECUTION_VIABLE_METRIC_NAME])
        self._client.set_generation_strategy(_ax_strategy())

    def add(self, params: Params, answer: Answer) -> None:
        self._number = self._client.attach_trial(params)
        self.tell(answer)

    def ask(self) -> Params:
        ((self._number, params),) = self._client.get_next_trials(max_trials=1).items()
        return params

    def tell(self, answer: Answer) -> None:
        if answer.values is None:
            self._client.mark_trial_abandoned(self._number)
        else:
            data = _row(self._task, answer)
            self._client.complete_trial(self._number, raw_data=data)


def _keys(task: Task) -> tuple[list[str], list[str]]:
    """Names of objectives and limits that can stand in a formula; ours have spaces."""
    objectives = [f"objective_{i}" for i in range(len(task.objectives))]
    return objectives, [f"violation_{i}" for i in range(len(task.limits))]


def _row(task: Task, answer: Answer) -> dict[str, float]:
    """Every number of an experiment by its key."""
    objectives, limits = _keys(task)
    return dict(zip(objectives + limits, task.numbers(answer), strict=True))


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
    """BoFire: a failure is an experiment without valid values, labelled "failed".

    One value, as in its tutorial on unknown constraints: an ensemble of networks classifies the
    labels (settings of the tutorial, not BoFire's defaults, with which probabilities on lsq stayed
    near one half), and its probability weighs the expected improvement (qLogEI, as there).

    Limits are outputs with MinimizeSigmoidObjective at 0, as steep as in BoFire's own benchmarks.
    They are told instead of the label, and the acquisition function is BoFire's default. Several
    objectives are for MoboStrategy, by default qLogNEHVI with a moving reference point. It refuses
    outputs with labels, so that it leaves failures out.

    Not as in the tutorial: inputs are scaled for the networks, as BoFire does by default for its
    Gaussian processes, because ours reach 200 and those of the tutorial 1.75. BoFire refuses to
    model less than two experiments that worked; until then its RandomStrategy proposes.
    """

    LABELS = ["failed", "worked"]

    def __init__(self, task: Task, seed: int) -> None:
        import torch
        from bofire.data_models.strategies.api import RandomStrategy
        from bofire.strategies.api import map as make

        torch.manual_seed(seed)  # the networks draw from torch's own stream
        domain = _bofire_domain(task, self.LABELS)
        self._task = task
        self._random = make(RandomStrategy(domain=domain, seed=seed))
        self._model = make(_bofire_strategy(task, domain, seed))
        self._rows: list[Params] = []
        self._n_worked = 0

    def add(self, params: Params, answer: Answer) -> None:
        self._n_worked += answer.values is not None
        self._rows.append({**params, **bofire_row(self._task, answer, self.LABELS)})

    def ask(self) -> Params:
        import pandas as pd

        strategy = self._model if self._n_worked > 1 else self._random
        strategy.tell(pd.DataFrame(self._rows), replace=True)
        candidate = strategy.ask(1).iloc[0]
        self._params = self._task.design(candidate[name] for name in self._task.space.names)
        return self._params

    def tell(self, answer: Answer) -> None:
        self.add(self._params, answer)


def bofire_row(task: Task, answer: Answer, labels: list[str]) -> dict[str, float | str]:
    """The outputs of an experiment, each with whether it is valid."""
    worked = answer.values is not None
    row: dict[str, float | str] = {}
    for key, value in _row(task, answer).items():
        row |= {key: value, f"valid_{key}": int(worked)}
    return row | {"label": labels[worked], "valid_label": 1} if task.is_plain else row


def _bofire_domain(task: Task, labels: list[str]) -> Any:
    from bofire.data_models.api import Domain, Inputs, Outputs
    from bofire.data_models.features.api import (
        CategoricalOutput,
        ContinuousInput,
        ContinuousOutput,
    )
    from bofire.data_models.objectives.api import (
        ConstrainedCategoricalObjective,
        MinimizeObjective,
        MinimizeSigmoidObjective,
    )

    objectives, limits = _keys(task)
    kept = MinimizeSigmoidObjective(tp=0.0, steepness=1000.0, w=1.0)
    outputs = [ContinuousOutput(key=k, objective=MinimizeObjective(w=1.0)) for k in objectives]
    outputs += [ContinuousOutput(key=key, objective=kept) for key in limits]
    if task.is_plain:
        wanted = ConstrainedCategoricalObjective(categories=labels, desirability=[False, True])
        outputs.append(CategoricalOutput(key="label", categories=labels, objective=wanted))
    return Domain(
        inputs=Inputs(
            features=[
                ContinuousInput(key=p.name, bounds=(p.low, p.high)) for p in task.space.parameters
            ]
        ),
        outputs=Outputs(features=outputs),
    )


def _bofire_strategy(task: Task, domain: Any, seed: int) -> Any:
    from bofire.data_models.acquisition_functions.api import qLogEI
    from bofire.data_models.api import Outputs
    from bofire.data_models.strategies.api import MoboStrategy, SoboStrategy
    from bofire.data_models.surrogates.api import BotorchSurrogates, ClassificationMLPEnsemble
    from bofire.data_models.surrogates.scaler import Normalize

    if not task.is_plain:
        strategy = MoboStrategy if len(task.objectives) > 1 else SoboStrategy
        return strategy(domain=domain, seed=seed)
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
