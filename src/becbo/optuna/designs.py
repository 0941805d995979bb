"""Which design a trial has: what was suggested, enqueued or proposed, and what is missing."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial

from becbo.optuna.beliefs import PROPOSAL, proposal_of
from becbo.optuna.outcomes import design_of
from becbo.optuna.spaces import StudySpace
from becbo.space import Parameter

Design = dict[str, Any]  # values of `StudySpace.space`
# Names of some parameters -> the values of these that have been evaluated.
PartialDesigns = dict[tuple[str, ...], set[tuple[Any, ...]]]


@dataclass(frozen=True)
class Designs:
    """The designs of trials.

    Args:
        by_number: number of a trial -> its design.
        unusable: numbers of finished trials of which nothing can be used.
        missing: parameter -> numbers of the trials that have a random value of it instead.
    """

    by_number: dict[int, Design] = field(default_factory=dict)
    unusable: set[int] = field(default_factory=set)
    missing: dict[str, list[int]] = field(default_factory=dict)


def read_designs(trials: Sequence[FrozenTrial], space: StudySpace) -> Designs:
    """The designs of trials; values that a finished trial does not have are drawn at random."""
    designs = Designs()
    for trial in trials:
        try:
            known = _known(trial, space)
            if len(known) < len(space.distributions) and not _is_complete(trial):
                continue  # it will have more
            if not known:
                designs.unusable.add(trial.number)
                continue
            parameters = [p for p in space.space.parameters if p.name not in known]
            drawn = {p.name: _draw(trial.number, p) for p in parameters}
            designs.by_number[trial.number] = space.space.validate({**known, **drawn})
        except ValueError:
            designs.unusable.add(trial.number)
            continue
        for name in drawn:
            designs.missing.setdefault(name, []).append(trial.number)
    return designs


def _known(trial: FrozenTrial, space: StudySpace) -> Design:
    """What is known of a trial's design.

    A trial may lack parameters because it failed before they were suggested, did not come to the
    first of them yet, or had no use for them. It has been proposed, or enqueued, with all of them.
    """
    proposal = proposal_of(trial)
    params = {**(proposal.params if proposal else {}), **design_of(trial)}
    return space.encode({n: v for n, v in params.items() if n in space.distributions})


def _is_complete(trial: FrozenTrial) -> bool:
    """Whether no more will be known of a trial's design."""
    return trial.state.is_finished() or PROPOSAL in trial.system_attrs


def _draw(number: int, parameter: Parameter) -> Any:
    """A random value for a trial that has none.

    It differs between trials, because a model learns from that where a parameter does not matter.
    It is the same for every worker.
    """
    rng = np.random.default_rng((number, zlib.crc32(parameter.name.encode())))
    return parameter.decode(rng.random(parameter.width).tolist())


def enqueued(trial: FrozenTrial, space: StudySpace) -> Design:
    """The values that a trial is to have whatever is proposed, where the space has them."""
    given = design_of(trial)
    pinned = {}
    for parameter in space.space.parameters:
        if parameter.name in given:
            value = {parameter.name: given[parameter.name]}
            with suppress(ValueError):  # Optuna warns of values that are out of range
                pinned[parameter.name] = parameter.check(space.encode(value)[parameter.name])
    return pinned


def partial_designs(trials: Sequence[FrozenTrial], designs: Mapping[int, Design]) -> PartialDesigns:
    """What finished trials asked for, where they did not ask for all that was proposed.

    Whatever is proposed for the rest, the result would be the same. Where nothing was proposed this
    is not known: perhaps the parameter is a new one.
    """
    found: PartialDesigns = {}
    for trial in trials:
        design = designs.get(trial.number, {})
        proposal = proposal_of(trial)
        unasked = design.keys() - trial.params.keys()
        asked = tuple(name for name in design if name not in unasked)
        is_finished = trial.state.is_finished() and _is_modelled(trial, design)
        if is_finished and asked and unasked and proposal and unasked <= proposal.params.keys():
            found.setdefault(asked, set()).add(tuple(design[name] for name in asked))
    return found


def _is_modelled(trial: FrozenTrial, design: Design) -> bool:
    """Whether the design has every parameter of the trial that could have had another value."""
    return all(d.single() or name in design for name, d in trial.distributions.items())
