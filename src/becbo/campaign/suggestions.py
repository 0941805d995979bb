"""What a suggested experiment is for, in one sentence that its numbers bear out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from becbo.campaign.description import Description
from becbo.campaign.maps import differences, within
from becbo.campaign.runs import REPEAT, Run
from becbo.campaign.words import estimate, number, percent
from becbo.data import sign
from becbo.optimizer import INITIAL
from becbo.space import Array
from becbo.trial import Outcome, Prediction

Kind = Literal["repeat", "initial", "hand", "first", "random", "far", "edge", "inside"]

# Further values of `Run.origin`.
_HAND, _RANDOM = "user", ("random", "sequence", "restart")
_HOPE = 0.01  # chance to beat the best below which a design is not tried for its value
_SAFE = 0.8  # a chance to work from which a design does not count as being at the edge
_NEAR = 0.1  # distance in the unit cube that never counts as far
_N_DESIGNS = 500  # random designs that tell what is far
_CHANGED = 0.05  # difference of two chances that is worth a word
_UNLIKELY = 0.2  # a chance below which a design is not worth an experiment, if it was once believed


@dataclass(frozen=True)
class Suggestion:
    """An experiment to do next, and what the models say of it as of now."""

    number: int | None  # of the pending run; None: nobody has asked for it yet
    params: dict[str, Any]
    kind: Kind
    chance: float | None  # to work; None while nothing is known
    band: tuple[float, float] | None  # one-sigma range of the chance
    mean: float | None  # expected value if it works; None while nothing has worked
    std: float | None
    chance_to_win: float | None  # to work and to be better than the best
    believed: float | None  # chance to work when it was suggested
    why: str
    remark: str  # anything unusual about how the design was chosen

    @property
    def changed(self) -> str:
        """What other runs have changed since it was suggested, in words, and what to do then."""
        if self.believed is None or self.chance is None:
            return ""
        if abs(self.believed - self.chance) < _CHANGED:
            return ""
        words = (
            f"When it was suggested, the chance to work was {percent(self.believed)}; "
            "other runs have been recorded since."
        )
        if self.chance < min(_UNLIKELY, self.believed / 2):
            words += " Now it is unlikely to work: better withdraw it and ask for another one."
        return words


@dataclass(frozen=True)
class Known:
    """What a suggestion is judged against."""

    description: Description
    runs: Sequence[Run]
    best: Run | None
    far: float  # distance to the nearest experiment from which a design is far from all

    @property
    def done(self) -> list[Run]:
        """Experiments that worked or failed."""
        return [run for run in self.runs if run.outcome.is_answer]


def knowledge(
    description: Description, runs: Sequence[Run], best: Run | None, rng: np.random.Generator
) -> Known:
    """Everything a suggestion is judged against; far is farther out than half of all designs."""
    space = description.space
    designs = space.snap(rng.random((_N_DESIGNS, space.dim)))
    allowed = designs[within(space, designs)]
    known = Known(description, runs, best, _NEAR)
    if not known.done or not len(allowed):
        return known
    nearest = _distances(known, allowed, known.done).min(axis=1)
    return replace(known, far=max(float(np.median(nearest)), _NEAR))


def suggestion(
    known: Known,
    number: int | None,
    params: dict[str, Any],
    origin: str,
    now: Prediction,
    believed: Prediction | None = None,
    remark: str = "",
) -> Suggestion:
    """A design that is to be tried, with the prediction of the present models."""
    is_known = bool(known.done)
    kind = _kind(known, params, origin, now)
    return Suggestion(
        number,
        params,
        kind,
        now.p_feasible if is_known else None,
        now.band if is_known else None,
        now.mean,
        now.std,
        _chance_to_win(known, now) if is_known else None,
        None if believed is None else believed.p_feasible,
        _why(known, kind, params, now),
        remark,
    )


def _kind(known: Known, params: dict[str, Any], origin: str, now: Prediction) -> Kind:
    if origin == REPEAT:
        return "repeat"
    if origin == INITIAL or not known.done:
        return "initial"
    if origin == _HAND:
        return "hand"
    if known.best is None:
        return "first"
    if origin in _RANDOM:
        return "random"
    if _nearest(known, params, known.done)[1] > known.far:
        return "far"
    return "edge" if now.p_feasible < _SAFE else "inside"


def _why(known: Known, kind: Kind, params: dict[str, Any], now: Prediction) -> str:
    if kind == "repeat":
        lost = [r.number for r in known.runs if r.outcome is Outcome.LOST and r.params == params]
        return f"Repeats run {lost[-1]}, which was lost." if lost else "Repeats a lost run."
    if kind == "initial":
        n = known.description.n_initial
        return f"Part of the initial design: the first {n} experiments spread over the whole space."
    chance = f"{percent(now.p_feasible)} chance to work"
    if known.best is None or now.mean is None or now.std is None:
        aim = "Chosen by hand" if kind == "hand" else "Looks for a first design that works"
        return f"{aim}: {chance}, as far as failures alone can tell."
    unit, win = known.description.objective.unit, _chance_to_win(known, now)
    return (
        f"{_aim(known, kind, params, win >= _HOPE)}: {chance}, expected "
        f"{estimate(now.mean, now.std, unit)} against the best {number(known.best.value, unit)} "
        f"({percent(win)} chance to beat it)."
    )


def _aim(known: Known, kind: Kind, params: dict[str, Any], is_hopeful: bool) -> str:
    """What a design is good for."""
    if kind == "hand":
        return "Chosen by hand"
    if kind == "random":
        return "Drawn at random"
    if kind == "far":
        run, _ = _nearest(known, params, known.done)
        return f"Explores a region far from all runs (the nearest is run {run.number})"
    run, _ = _nearest(known, params, [r for r in known.done if r.outcome is Outcome.OK])
    is_best = known.best is not None and run.number == known.best.number
    name = f"run {run.number}, the best so far" if is_best else f"run {run.number}"
    if kind == "edge":
        verb = "Exploits the edge of what works" if is_hopeful else "Finds out where the edge lies"
        return f"{verb} near {name}"
    return f"{'Refines' if is_hopeful else 'Fills a gap'} near {name}, inside what works"


def _chance_to_win(known: Known, now: Prediction) -> float:
    """To work and to be better than the best, which anything is while nothing has worked."""
    if known.best is None or known.best.value is None or now.mean is None or now.std is None:
        return now.p_feasible
    gain = sign(known.description.objective.direction) * (now.mean - known.best.value)
    if now.std == 0.0:
        return now.p_feasible * (gain > 0)
    return now.p_feasible * 0.5 * math.erfc(-gain / (math.sqrt(2) * now.std))


def _nearest(known: Known, params: dict[str, Any], runs: Sequence[Run]) -> tuple[Run, float]:
    distances = _distances(known, known.description.space.encode([params]), runs)[0]
    return runs[int(np.argmin(distances))], float(distances.min())


def _distances(known: Known, X: Array, runs: Sequence[Run]) -> Array:  # (n, dim) -> (n, len(runs))
    """Between designs in the unit cube; another choice counts as the whole range."""
    space = known.description.space
    gaps = differences(space, X, space.encode([run.params for run in runs]))
    return np.asarray(np.sqrt((gaps**2).sum(axis=2)))
