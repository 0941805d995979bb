"""Which design a trial has: what was suggested, enqueued, proposed, and what nobody asked for."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial

from becbo.optuna.beliefs import PROPOSAL
from becbo.optuna.outcomes import design_of
from becbo.optuna.spaces import Distributions, encode
from becbo.space import Parameter, Space

Design = dict[str, Any]  # values of `space_of(distributions)`
Tried = dict[tuple[str, ...], set[tuple[Any, ...]]]  # names of parameters -> their values


@dataclass(frozen=True)
class Read:
    """What trials say about designs."""

    designs: dict[int, Design] = field(default_factory=dict)  # by the number of the trial
    unknown: set[int] = field(default_factory=set)  # finished trials of which nothing can be used
    lacking: dict[str, list[int]] = field(default_factory=dict)  # parameter -> trials without it


def read_designs(trials: Sequence[FrozenTrial], distributions: Distributions, space: Space) -> Read:
    """What the trials say; what a finished one does not have is made up, see `_drawn`."""
    read = Read()
    for trial in trials:
        try:
            known = _known(trial, distributions)
            if len(known) < len(distributions) and not _has_come_to_all(trial):
                continue  # it will have more
            if not known:
                read.unknown.add(trial.number)
                continue
            drawn = {
                p.name: _drawn(trial.number, p) for p in space.parameters if p.name not in known
            }
            read.designs[trial.number] = space.validate({**known, **drawn})
        except ValueError:
            read.unknown.add(trial.number)
            continue
        for name in drawn:
            read.lacking.setdefault(name, []).append(trial.number)
    return read


def _known(trial: FrozenTrial, distributions: Distributions) -> Design:
    """What is known of a trial's design.

    A trial that failed before its last parameter was suggested, one that did not come to its first
    yet, and one that had no use for some of them, have been proposed, or enqueued, with all.
    """
    proposed = trial.system_attrs.get(PROPOSAL, {}).get("params", {})
    own = {n: v for n, v in design_of(trial).items() if n in distributions}
    return {
        **{n: v for n, v in proposed.items() if n in distributions},
        **encode(distributions, own),
    }


def _has_come_to_all(trial: FrozenTrial) -> bool:
    """Whether nothing more will be known of a trial's design."""
    return trial.state.is_finished() or PROPOSAL in trial.system_attrs


def _drawn(number: int, parameter: Parameter) -> Any:
    """A value for a trial that has none.

    Different for every trial, because a model learns from that where a parameter does not matter.
    The same for every worker.
    """
    rng = np.random.default_rng((number, zlib.crc32(parameter.name.encode())))
    return parameter.decode(rng.random(parameter.width).tolist())


def enqueued(trial: FrozenTrial, distributions: Distributions, space: Space) -> Design:
    """The values that a trial is to have whatever is proposed, where the space has them."""
    given = design_of(trial)
    pinned = {}
    for parameter in space.parameters:
        if parameter.name in given:
            value = {parameter.name: given[parameter.name]}
            with suppress(ValueError):  # Optuna warns of values that are out of range
                stored = encode(distributions, value)[parameter.name]
                pinned[parameter.name] = parameter.check(stored)
    return pinned


def tried_in_part(trials: Sequence[FrozenTrial], designs: Mapping[int, Design]) -> Tried:
    """Of the trials that did not ask for all that was proposed, what they did ask for.

    Whatever is proposed for the rest, they would come out the same. Of trials for which nothing
    was proposed this is not known: perhaps the parameter is a new one.
    """
    tried: Tried = {}
    for trial in trials:
        design = designs.get(trial.number, {})
        proposed = trial.system_attrs.get(PROPOSAL, {}).get("params", {})
        spare = design.keys() - trial.params.keys()
        is_ended = trial.state.is_finished() and _is_modelled(trial, design)
        asked = tuple(name for name in design if name not in spare)
        if is_ended and asked and spare and spare <= proposed.keys():
            tried.setdefault(asked, set()).add(tuple(design[name] for name in asked))
    return tried


def _is_modelled(trial: FrozenTrial, design: Design) -> bool:
    """Whether the trial had no choice of a value besides its design."""
    return all(d.single() or name in design for name, d in trial.distributions.items())
