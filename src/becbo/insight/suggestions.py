"""Why an experiment is suggested, in one sentence with the numbers behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from becbo.arrays import Array
from becbo.campaign.description import Description
from becbo.campaign.formatting import chance_text, expected_text, number, percent, plural
from becbo.campaign.runs import REPEAT, Run
from becbo.campaign.status import status_of
from becbo.insight.chances import chance_to_improve
from becbo.insight.maps import allowed, parameter_distances
from becbo.optimizer import INITIAL
from becbo.search.choice import AGAIN
from becbo.search.choice import REPEAT as PROVEN
from becbo.trial import Estimate, Outcome, Prediction

Kind = Literal["repeat", "initial", "hand", "first", "random", "far", "edge", "inside"]

# Further values of `Run.origin`.
_HAND, _RANDOM = "user", ("random", "sequence", "restart")
_ENDS = {Outcome.LOST: "was lost", Outcome.OK: "worked", Outcome.FAILED: "failed"}
_REPEATED = {REPEAT: Outcome.LOST, PROVEN: Outcome.OK, AGAIN: Outcome.FAILED}
_HOPE = 0.01  # probability to beat the best below which a design is not tried for its value
_SAFE = 0.8  # probability to work from which a design does not count as being at the edge
_NEAR = 0.1  # distance in the unit cube that never counts as far
_N_DESIGNS = 500  # random designs that define what is far
_CHANGED = 0.05  # difference of two probabilities that is worth a sentence
_UNLIKELY = 0.2  # probability below which a design that once seemed likely is not worth a run


@dataclass(frozen=True)
class Suggestion:
    """An experiment to do next, and what the present models say about it.

    Attributes:
        number: The number of the pending run; None if it has not been asked for.
        params: The design.
        kind: Why this design: a repeat, part of the initial design, chosen by hand, a search for
            the first success, random, far from all runs, at the edge of the feasible region, or
            inside it.
        p_feasible: The probability that it works and keeps every limit; None while there are no
            results.
        band: The one-sigma range of that probability.
        outputs: What to expect of each output if it works; empty while nothing was measured.
        p_better: The probability that it works, keeps the limits, and is better than the best, or
            than the front in some respect; None without results or with four objectives and more.
        p_feasible_before: That probability when it was suggested.
        why: The reason in one sentence.
        remark: Anything unusual about how the design was chosen.
    """

    number: int | None
    params: dict[str, Any]
    kind: Kind
    p_feasible: float | None
    band: tuple[float, float] | None
    outputs: Mapping[str, Estimate]
    p_better: float | None
    p_feasible_before: float | None
    why: str
    remark: str

    @property
    def change(self) -> str:
        """What other runs have changed since it was suggested, and what to do about it."""
        if self.p_feasible_before is None or self.p_feasible is None:
            return ""
        if abs(self.p_feasible_before - self.p_feasible) < _CHANGED:
            return ""
        sentences = (
            f"When it was suggested, the stated chance was {percent(self.p_feasible_before)}; "
            "other runs have been recorded since."
        )
        if self.p_feasible < min(_UNLIKELY, self.p_feasible_before / 2):
            sentences += " Now it is unlikely to succeed: withdraw it and ask for another one."
        return sentences


@dataclass(frozen=True)
class SuggestionContext:
    """What a suggestion is compared with."""

    description: Description
    runs: Sequence[Run]
    front: Sequence[Run]  # the acceptable runs that no other beats
    far: float  # distance to the nearest run from which a design counts as far from all runs

    @property
    def done(self) -> list[Run]:
        """Experiments that worked or failed."""
        return [run for run in self.runs if run.outcome.is_answer]


def suggestion_context(
    description: Description,
    runs: Sequence[Run],
    front: Sequence[Run],
    rng: np.random.Generator,
) -> SuggestionContext:
    """What suggestions are compared with.

    Args:
        description: The campaign.
        runs: All runs.
        front: The best run, or the front of several objectives.
        rng: The source of random designs; a design is far if it is farther out than half of them.

    Returns:
        The context of every suggestion.
    """
    space = description.space
    designs = space.snap(rng.random((_N_DESIGNS, space.dim)))
    designs = designs[allowed(space, designs)]
    context = SuggestionContext(description, runs, front, _NEAR)
    if not context.done or not len(designs):
        return context
    nearest = _distances(context, designs, context.done).min(axis=1)
    return replace(context, far=max(float(np.median(nearest)), _NEAR))


def explain_suggestion(
    context: SuggestionContext,
    number: int | None,
    params: dict[str, Any],
    origin: str,
    now: Prediction | None,
    believed: Prediction | None = None,
    remark: str = "",
) -> Suggestion:
    """Explains why a design is suggested.

    Args:
        context: What it is compared with.
        number: The number of the run, if it is pending.
        params: The design.
        origin: How the design was chosen.
        now: The prediction of the present models; None if there is none.
        believed: The prediction when it was suggested.
        remark: Anything unusual about how the design was chosen.

    Returns:
        The suggestion with its reason.
    """
    now = now if context.done else None
    outputs = context.description.outputs
    kind = _kind(context, params, origin, now)
    return Suggestion(
        number,
        params,
        kind,
        None if now is None else now.p_feasible,
        None if now is None else now.band,
        {} if now is None else now.outputs,
        None if now is None else chance_to_improve(now, outputs, context.front),
        None if believed is None else believed.p_feasible,
        _why(context, kind, origin, params, now),
        remark,
    )


def explain_runs(
    description: Description, runs: Sequence[Run], numbers: Collection[int]
) -> list[Suggestion]:
    """Explains pending runs by what was predicted when they were suggested: no model is fitted.

    Args:
        description: The campaign.
        runs: All of its runs.
        numbers: The numbers of the runs to explain.

    Returns:
        The suggestions.
    """
    front = status_of(description, runs).front
    rng = np.random.default_rng(description.settings.seed)
    context = suggestion_context(description, runs, front, rng)
    return [
        explain_suggestion(
            context, run.number, run.params, run.origin, run.believed, remark=run.remark
        )
        for run in runs
        if run.number in numbers
    ]


def _kind(
    context: SuggestionContext, params: dict[str, Any], origin: str, now: Prediction | None
) -> Kind:
    if origin in _REPEATED:
        return "repeat"
    if origin == _HAND:
        return "hand"
    if origin == INITIAL or now is None:
        return "initial"
    if not context.front:
        return "first"
    if origin in _RANDOM:
        return "random"
    if nearest_run(context, params, context.done)[1] > context.far:
        return "far"
    return "edge" if now.p_feasible < _SAFE else "inside"


def _why(
    context: SuggestionContext,
    kind: Kind,
    origin: str,
    params: dict[str, Any],
    now: Prediction | None,
) -> str:
    if kind == "repeat":
        ended = [r for r in context.runs if r.params == params and r.outcome in _ENDS]
        meant = [r for r in ended if r.outcome is _REPEATED[origin]] or ended
        if not meant:
            return "Repeats a lost run."
        return f"Repeats run {meant[-1].number}, which {_ENDS[meant[-1].outcome]}."
    if kind == "initial":
        n = plural(context.description.settings.n_initial, "experiment")
        return f"Part of the initial design: the first {n} spread over the whole space."
    if now is None:
        return "Chosen by hand."
    outputs = context.description.outputs
    expected = f"expected {expected_text(now.outputs, outputs)}"
    basis = expected if now.outputs else "as far as failures alone can tell"
    said = f"{percent(now.p_feasible)} {chance_text(outputs)}, {basis}"
    if not context.front:
        return f"{_first_aim(context, kind)}: {said}."
    if any(objective.name not in now.outputs for objective in outputs.objectives):
        return f"{_aim(context, kind, params, True)}: {said}."
    win = chance_to_improve(now, outputs, context.front)
    aim = _aim(context, kind, params, win is None or win >= _HOPE)
    return f"{aim}: {said}{_against(context, win)}."


def _against(context: SuggestionContext, win: float | None) -> str:
    """What a suggestion is compared with, and its chance to be better."""
    objectives, front = context.description.outputs.objectives, context.front
    if len(objectives) == 1:
        best = number(front[0].values[objectives[0].name], objectives[0].unit)
        return f" against the best {best} ({percent(win or 0.0)} chance to beat it)"
    runs = f"the front of {plural(len(front), 'run')}"
    return f", to improve {runs}" + ("" if win is None else f" ({percent(win)} chance)")


def _first_aim(context: SuggestionContext, kind: Kind) -> str:
    """What a design is good for while nothing is acceptable."""
    if kind == "hand":
        return "Chosen by hand"
    if all(run.outcome is Outcome.FAILED for run in context.done):
        return "Looks for a first design that works"
    return "Looks for a first design that is acceptable"


def _aim(context: SuggestionContext, kind: Kind, params: dict[str, Any], is_hopeful: bool) -> str:
    """What a design is good for."""
    if kind == "hand":
        return "Chosen by hand"
    if kind == "random":
        return "Drawn at random"
    if kind == "far":
        run, _ = nearest_run(context, params, context.done)
        return f"Explores a region far from all runs (the nearest is run {run.number})"
    run, _ = nearest_run(context, params, [r for r in context.done if r.outcome is Outcome.OK])
    is_best = run.number in [each.number for each in context.front]
    what = "the best so far" if len(context.description.outputs.objectives) == 1 else "on the front"
    name = f"run {run.number}, {what}" if is_best else f"run {run.number}"
    if kind == "edge":
        verb = "Exploits the edge of what works" if is_hopeful else "Finds out where the edge lies"
        return f"{verb} near {name}"
    return f"{'Refines' if is_hopeful else 'Fills a gap'} near {name}, inside what works"


def nearest_run(
    context: SuggestionContext, params: Mapping[str, Any], runs: Sequence[Run]
) -> tuple[Run, float]:
    """The run with the most similar design, and its distance in the unit cube."""
    distances = _distances(context, context.description.space.encode([params]), runs)[0]
    return runs[int(np.argmin(distances))], float(distances.min())


def _distances(
    context: SuggestionContext, X: Array, runs: Sequence[Run]
) -> Array:  # (n, dim) -> (n, len(runs))
    """Distances in the unit cube; two different choices are 1 apart."""
    space = context.description.space
    gaps = parameter_distances(space, X, space.encode([run.params for run in runs]))
    return np.asarray(np.sqrt((gaps**2).sum(axis=2)))
