"""What a trial measured: the values of objectives, constraints as limits, and other outputs.

* The values of the study are its objectives, in their order; of one with a target the distance.
* A constraint of Optuna is a limit whose value is at most 0.
* `becbo:values` of the trial has, by the name of the output, what Optuna has no place for: limits
  with bounds of their own, numbers to record, objectives of a trial that failed or that were only
  partly measured, what was measured where there is a target. It overrides the values of the study.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import optuna
from optuna.trial import FrozenTrial, TrialState

from becbo.checks import finite_value
from becbo.errors import InvalidInput
from becbo.outputs import Limit, Objective, Outputs

VALUES = "becbo:values"
Direction = Literal["minimize", "maximize"]
_CONSTRAINT = "constraint_"  # and what is no name of an output


def set_values(trial: optuna.Trial, values: Mapping[str, float | None]) -> None:
    """Notes outputs of a trial besides the values that it returns. Call it before it is told.

    Args:
        trial: the trial as the objective gets it.
        values: name of an output -> what was measured. Names are those of the sampler's `outputs`,
            or those of the study's metrics. None is left out.

    Raises:
        InvalidInput: the trial is a frozen copy, or a value is not a finite number.
        UpdateFinishedTrialError: Optuna's; the trial has been told.

    Examples:
        >>> trial = study.ask()
        >>> set_values(trial, {"ph": 6.8})
    """
    if isinstance(trial, FrozenTrial):
        raise InvalidInput(
            f"trial {trial.number} is a frozen copy and cannot take values; set them before it is "
            "told"
        )
    if not isinstance(values, Mapping):
        raise InvalidInput(f"values {values!r} must be a dict of outputs, such as {{'ph': 7}}")
    remedy = "leave it out if it was not measured"
    checked = {str(n): finite_value(v, n, remedy) for n, v in values.items() if v is not None}
    if checked:
        trial.set_user_attr(VALUES, {**_set(trial.user_attrs), **checked})


def outputs_of(
    study: optuna.Study, trials: Iterable[FrozenTrial], given: Outputs | None = None
) -> Outputs:
    """What the trials of a study measure.

    Args:
        study: any study.
        trials: those of the study.
        given: what its values are, and what else is measured; None: its values are objectives.

    Returns:
        The outputs: those given, or an objective per value, and a limit per constraint.

    Raises:
        InvalidInput: what is given does not fit the study.
    """
    directions = [direction.name.lower() for direction in study.directions]
    if given is None:
        given = plain_outputs(directions, study.metric_names)
    elif study_directions(given) != directions:
        raise InvalidInput(
            f"the study has directions {directions}, outputs have {list(given.objectives)!r}; "
            "make them agree"
        )
    return with_constraints(given, trials)


def plain_outputs(directions: Sequence[str], names: Sequence[str] | None = None) -> Outputs:
    """An objective for each value of a study.

    Args:
        directions: minimize or maximize.
        names: what the values are called; None: value, or value_0 and so on.
    """
    names = names or _value_names(len(directions))
    return Outputs.of([Objective(*pair) for pair in zip(names, directions, strict=True)])


def value_names(outputs: Outputs, headings: Mapping[str, str] | None = None) -> list[str]:
    """What the values of a study with these outputs are called: see `study_values`.

    Args:
        outputs: what its trials measure.
        headings: what an output is called, by its name; None: its name.
    """
    called = headings or {name: name for name in outputs.names}
    return [
        called[o.name] + ("" if o.target is None else f", off {o.target:.12g}")
        for o in outputs.objectives
    ]


def name_values(study: optuna.Study, names: Sequence[str]) -> None:
    """Names the values of a study, as optuna-dashboard shows them and `outputs_of` reads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(list(names))


def study_directions(outputs: Outputs) -> list[Direction]:
    """The directions of a study with these outputs; a target is a distance to minimise."""
    return [
        "maximize" if objective.direction == "maximize" else "minimize"
        for objective in outputs.objectives
    ]


def study_values(values: Mapping[str, float | None], outputs: Outputs) -> list[float] | None:
    """The values of a trial as Optuna keeps them: one for every objective, or none at all.

    Args:
        values: what was measured, by the name of the output.
        outputs: what there is to measure.

    Returns:
        The values; that of an objective with a target is its distance from the target. None if an
        objective was not measured.
    """
    measured = [(o, values.get(o.name)) for o in outputs.objectives]
    known = [abs(o.orient(v)) if o.target is not None else v for o, v in measured if v is not None]
    return known if len(known) == len(measured) else None


def with_constraints(outputs: Outputs, trials: Iterable[FrozenTrial]) -> Outputs:
    """The outputs, and a limit for every constraint that a trial has.

    Raises:
        InvalidInput: a constraint has the name of a limit that is there already.
    """
    keys = {key: None for trial in trials for key in trial.constraints}  # in order
    for limit in outputs.limits:
        if limit.name in keys:
            raise InvalidInput(
                f"the study has a constraint {limit.name!r}, and outputs a Limit of that name; "
                "rename one of them"
            )
    names = dict.fromkeys(_limit_name(key, outputs.names) for key in keys)
    limits = [Limit(name, upper=0.0) for name in names]
    return Outputs.of([*outputs.objectives, *outputs.limits, *limits, *outputs.recorded])


def _value_names(n: int) -> list[str]:
    return ["value"] if n == 1 else [f"value_{i}" for i in range(n)]


def _limit_name(key: str, taken: Sequence[str]) -> str:
    """A constraint as an output; `constraints_func` gives numbers, which are no names."""
    return key if _is_name(key, taken) else _CONSTRAINT + key


def _is_name(key: str, taken: Sequence[str]) -> bool:
    """Whether a constraint keeps its name; else no other one may have the name that it gets."""
    bare = key.removeprefix(_CONSTRAINT)
    is_usable = bool(key.strip()) and not key.isdigit() and key not in taken
    return is_usable and (bare == key or _is_name(bare, taken))


def told(trial: FrozenTrial, outputs: Outputs) -> dict[str, float]:
    """The objectives that a trial returned, if they are finite; of a pruned one the last report.

    The distance from a target is not what was measured.
    """
    return {o.name: value for o, value in _returned(trial, outputs) if o.target is None}


def without_sides(trial: FrozenTrial, outputs: Outputs) -> list[Objective]:
    """The objectives whose distance from a target is all that is known: not, on which side."""
    aimed = [o for o, _ in _returned(trial, outputs) if o.target is not None]
    known = noted(trial, outputs) if aimed else {}
    return [objective for objective in aimed if objective.name not in known]


def _returned(trial: FrozenTrial, outputs: Outputs) -> list[tuple[Objective, float]]:
    """The finite values of a trial as Optuna has them."""
    values: Sequence[float] = trial.values or ()
    if not values and trial.state is TrialState.PRUNED and trial.last_step is not None:
        values = [trial.intermediate_values[trial.last_step]]  # added with `add_trial`, not told
    pairs = zip(outputs.objectives, values, strict=False)
    return [(objective, value) for objective, value in pairs if _is_finite(value)]


def noted(trial: FrozenTrial, outputs: Outputs) -> dict[str, float]:
    """What a trial measured besides what it returned: constraints, and what `set_values` noted."""
    known = {**excesses(trial, outputs), **_set(trial.user_attrs)}
    return {name: known[name] for name in outputs.names if _is_finite(known.get(name))}


def excesses(trial: FrozenTrial, outputs: Outputs) -> dict[str, float]:
    """The constraints of a trial, by the names of their limits: above 0 they are violated."""
    others = [objective.name for objective in outputs.objectives]
    others += [output.name for output in outputs.recorded]
    return {_limit_name(key, others): excess for key, excess in trial.constraints.items()}


def unknown_names(trial: FrozenTrial, outputs: Outputs) -> list[str]:
    """What a trial has noted that is not an output."""
    return [name for name in _set(trial.user_attrs) if name not in outputs.names]


def _set(user_attrs: Mapping[str, Any]) -> dict[str, Any]:
    """What `set_values` has noted; anybody can set the attribute, to anything."""
    values = user_attrs.get(VALUES)
    return {str(name): v for name, v in values.items()} if isinstance(values, Mapping) else {}


def _is_finite(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max
