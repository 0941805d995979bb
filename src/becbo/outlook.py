"""What the next experiments may bring, and whether to go on.

The forecast joins two opinions: how often and by how much the last experiments improved, and what
the models promise of the next proposal. Models alone promise far too much once a search has
settled at the edge. The constants were chosen on the tuning suite; see docs/research/stopping.md.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from becbo.acquisition import log_expected_improvement, log_target_improvement
from becbo.arrays import Array
from becbo.checks import finite_value, whole_number
from becbo.data import Dataset
from becbo.errors import InvalidInput
from becbo.improvement import believed_gains, reference
from becbo.models.base import Models
from becbo.outputs import Outputs
from becbo.pareto import hypervolume, nondominated
from becbo.wording import percent

HORIZONS = (1, 5, 10, 20)  # experiments that an outlook is usually asked about
# Quantiles between which the best lay in four of five cases; gains have a long tail.
INTERVAL = (0.1, 0.98)

_RECENT = 20  # experiments whose improvements are counted
_STEPS = 5  # last improvements whose size is averaged
_TRUST = 0.8  # weight of the improvements that came, beside those that the models promise
_SURE = 1e-3  # the models are never surer than this
_SHRINK = 0.3  # a typical gain beside the models' EI, where no improvement came yet
_FAR = 4.0  # factors of e that the models' EI may be below the steps that came
_LOG_STD = 0.7  # of a gain, in factors of e
_MOST = 0.4  # of the spread: the largest gain of a few experiments to be expected
_FIRST = 10  # acceptable experiments that tell the spread
_SMALL = 0.0003  # of the spread: a gain that is not worth further experiments
_QUIET = 10  # experiments without a worthwhile gain before the advice to stop
_ENOUGH, _ENOUGH_WITH_MARGIN = 110, 30  # experiments before the advice to stop
_UNLIKELY, _UNLIKELY_WITH_MARGIN = 0.5, 0.15  # chances of a gain that advise to stop
_EVERY = 5  # experiments between two outlooks
_N_DRAWS = 64  # of several objectives


class Advice(enum.Enum):
    """What to do next.

    Attributes:
        GO_ON: more experiments are worth their price.
        CONFIRM: repeat the best design; it was measured only once.
        STOP: no gain worth the price is likely.

    Examples:
        >>> if optimizer.outlook.advice() is Advice.STOP:
        ...     print(optimizer.best)
    """

    GO_ON = "go on"
    CONFIRM = "confirm"
    STOP = "stop"


@dataclass(frozen=True)
class Forecast:
    """What the next k experiments may bring, in the units of `Outlook.best`.

    Attributes:
        n_experiments: k.
        expected: the expected best afterwards; None while nothing is acceptable.
        interval: where the best will lie in four of five cases; it holds `expected`. None
            likewise.
        p_better: the chance to beat the best by more than the margin; while nothing is
            acceptable, the chance that something will be.

    Examples:
        >>> forecast = optimizer.outlook.after(10)
        >>> forecast.n_experiments, forecast.p_better < 1
        (10, True)
    """

    n_experiments: int
    expected: float | None
    interval: tuple[float, float] | None
    p_better: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**vars(self), "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True)
class Stop:
    """When it is not worth going on.

    The advice is to stop if the last ten experiments did not gain the margin and the next ones
    are unlikely to, or at once if nothing new can be tried.

    Args:
        margin: the gain that is worth experiments, in the units of the objective, or of the
            hypervolume of several. None: 0.03 % of what was gained over the first acceptable
            designs.
        within: how many experiments may be spent on it.
        chance: stop when the chance of that gain is smaller. None: 0.15 with a margin, 0.5 without.
        at_least: how many experiments there have to be, unless only repeats are left. None: 30
            with a margin, 110 without.

    Raises:
        InvalidInput: if an argument cannot be used.

    Examples:
        >>> result = minimize(run, space, budget=200, stop=Stop(margin=0.5))
    """

    margin: float | None = None
    within: int = 10
    chance: float | None = None
    at_least: int | None = None

    def __post_init__(self) -> None:
        if self.margin is not None:
            _checked_margin(self.margin)
        whole_number("within", self.within)
        if self.at_least is not None:
            whole_number("at_least", self.at_least)
        remedy = "give a number between 0 and 1"
        if self.chance is not None and not 0 < finite_value(self.chance, "chance", remedy) < 1:
            raise InvalidInput(f"chance {self.chance!r} must lie between 0 and 1")

    @property
    def n_least(self) -> int:
        """How many experiments there have to be before the advice to stop."""
        if self.at_least is not None:
            return self.at_least
        return _ENOUGH if self.margin is None else _ENOUGH_WITH_MARGIN

    @property
    def unlikely(self) -> float:
        """The chance of a gain below which it is not worth going on."""
        if self.chance is not None:
            return self.chance
        return _UNLIKELY if self.margin is None else _UNLIKELY_WITH_MARGIN

    @classmethod
    def of(cls, spec: Any) -> Stop:
        """Reads what a user asks for: True or "advised", a margin as a number or text, or a rule.

        Args:
            spec: what the user gave.

        Returns:
            The rule.

        Raises:
            InvalidInput: if it is none of these.
        """
        if isinstance(spec, Stop):
            return spec
        if spec is True or spec == "advised":
            return cls()
        try:
            return cls(margin=float(spec) if not isinstance(spec, bool | np.bool_) else math.nan)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"stop {spec!r} must be True or 'advised', the gain that is worth going on for, "
                "or a becbo.Stop"
            ) from None


_USUAL = Stop()


def is_due(n_done: int) -> bool:
    """Whether to look ahead now, which takes as long as a proposal: after every fifth experiment.

    Args:
        n_done: finished experiments.

    Returns:
        Whether to ask for an outlook.
    """
    return n_done % _EVERY == 0


def _checked_margin(margin: Any) -> float:
    remedy = "give a number of at least 0, in the units of the objective"
    number = finite_value(margin, "margin", remedy)
    if number < 0:
        raise InvalidInput(f"margin {margin!r}: {remedy}")
    return number


@dataclass(frozen=True)
class Outlook:
    """What more experiments may bring.

    Attributes:
        measure: what `best` is: the name of the objective, its distance from the target, or
            "hypervolume".
        best: the best value so far, or the hypervolume of the front; of noisy values, those
            that the models believe. None while nothing is acceptable.
        n_done: experiments that worked or failed.
        n_failed: those that failed, or broke a limit.
        spread: what was gained over the median of the first acceptable designs.
        confirmed: whether the best needs no repeat: values are exact, or it worked twice.
        odds: of an improvement by the next experiment.
        gain: a typical gain of the next experiment, if there is one.
        sign: 1 if `best` grows with every gain, -1 if it falls.
        recent: what the last ten experiments gained.
        left: the most that can be gained: with a target, the distance that is left.
        unit: that of `best`, if the objective has one; a hypervolume has none.
        surcharge: what failures have cost besides the experiments themselves, in experiments.

    Examples:
        >>> outlook = optimizer.outlook
        >>> print(outlook.sentence(), outlook.after(10).expected)
    """

    measure: str
    best: float | None
    n_done: int
    n_failed: int
    spread: float
    confirmed: bool
    odds: float
    gain: float
    sign: float
    recent: float
    left: float = math.inf
    unit: str = ""
    surcharge: float = 0.0

    def chance(self, k: int, margin: float = 0.0) -> float:
        """The chance that the next k experiments beat the best by more than a margin.

        While nothing is acceptable: the chance that something will be.

        Args:
            k: how many experiments.
            margin: a gain, in the units of `best`.

        Returns:
            The chance.

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        p = self._p_any(whole_number("outlook: the number of experiments", k))
        margin = _checked_margin(margin)
        if self.best is None or margin == 0:
            return p
        if margin >= self.left or self.gain == 0:
            return 0.0
        return p * float(ndtr((self._log_typical(k) - math.log(margin)) / _LOG_STD))

    def after(self, k: int, margin: float = 0.0) -> Forecast:
        """What the next k experiments may bring.

        Args:
            k: how many experiments.
            margin: the gain that counts for `Forecast.p_better`.

        Returns:
            The forecast.

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        p_better = self.chance(k, margin)
        if self.best is None:
            return Forecast(k, None, None, p_better)
        gain = self._expected_gain(k)
        low, high = (self._quantile(k, q) for q in INTERVAL)
        ends = sorted(self.best + self.sign * end for end in (min(low, gain), max(high, gain)))
        return Forecast(k, self.best + self.sign * gain, (ends[0], ends[1]), p_better)

    def forecasts(self, margin: float = 0.0) -> list[Forecast]:
        """What the next 1, 5, 10 and 20 experiments may bring.

        Args:
            margin: the gain that counts as better.

        Returns:
            A forecast for each of them.
        """
        return [self.after(k, margin) for k in HORIZONS]

    @property
    def failure_cost(self) -> float:
        """What failures have cost so far, with their price, as a share of all that was spent."""
        if not self.n_done:
            return 0.0
        return (self.n_failed + self.surcharge) / (self.n_done + self.surcharge)

    def margin(self, rule: Stop) -> float:
        """The gain that a rule asks for.

        Args:
            rule: when it is not worth going on.

        Returns:
            The gain, in the units of `best`.
        """
        return _SMALL * self.spread if rule.margin is None else float(rule.margin)

    def margin_text(self, rule: Stop) -> str:
        """The gain that a rule asks for, for people.

        Args:
            rule: when it is not worth going on.

        Returns:
            The number with its unit.
        """
        digits = 3 if rule.margin is None else 6
        return f"{self.margin(rule):.{digits}g} {self.unit}".rstrip()

    def advice(self, rule: Stop = _USUAL) -> Advice:
        """Whether to go on, by a rule.

        Args:
            rule: when it is not worth going on.

        Returns:
            The advice.
        """
        margin = self.margin(rule)
        is_early = self.n_done < rule.n_least
        is_likely = self.chance(rule.within, margin) >= rule.unlikely
        if self.odds > 0 and (is_early or self.recent > margin or is_likely):
            return Advice.GO_ON  # there is something new to try
        return Advice.STOP if self.confirmed else Advice.CONFIRM

    def sentence(self, rule: Stop = _USUAL) -> str:
        """The advice and its reason in one sentence.

        Args:
            rule: when it is not worth going on.

        Returns:
            One sentence in English.
        """
        advice, k = self.advice(rule), rule.within
        margin = self.margin(rule)
        chance = percent(self.chance(k, margin))
        if self.best is None:
            verb = "Stop or change the ranges" if advice is Advice.STOP else "Go on"
            tried = f"nothing is acceptable after {_experiments(self.n_done)}"
            return f"{verb}: {tried}; the chance that something is among the next {k} is {chance}."
        more = f" by more than {self.margin_text(rule)}" if margin else ""
        best = f"the best {self.measure}{more}"
        hope = f"the chance that the next {k} experiments improve {best} is {chance}"
        if not self.odds:
            hope = f"{'nothing new can be tried' if self.left else 'the target is met'}, so {hope}"
        if advice is Advice.STOP:
            return f"Stop: {hope}."
        if advice is Advice.CONFIRM:
            return f"Repeat the best design: it was measured only once, and {hope}."
        if self.n_done < rule.n_least:
            return f"Go on: {_experiments(self.n_done)} so far, and {_begins(rule)}."
        if self.recent > margin:
            return f"Go on: the last {_QUIET} experiments improved {best}."
        return f"Go on: {hope}."

    def to_dict(self, rule: Stop = _USUAL) -> dict[str, Any]:
        """Plain data for JSON: the forecasts and the advice of a rule.

        Args:
            rule: when it is not worth going on.

        Returns:
            A dict of numbers, strings and lists.
        """
        margin = self.margin(rule)
        return {
            "measure": self.measure,
            "unit": self.unit,
            "best": self.best,
            "n_done": self.n_done,
            "n_failed": self.n_failed,
            "failure_cost": self.failure_cost,
            "margin": margin,
            "forecasts": [forecast.to_dict() for forecast in self.forecasts(margin)],
            "advice": self.advice(rule).value,
            "sentence": self.sentence(rule),
        }

    def _p_any(self, k: int) -> float:
        odds = k * self.odds
        return odds / (1 + odds)

    @property
    def _largest(self) -> float:
        return min(_MOST * self.spread or math.inf, self.left)

    def _log_gain(self, k: int) -> float:
        return math.log(self.gain) + 0.5 * math.log(k)

    def _log_typical(self, k: int) -> float:
        """The log of a typical gain, at most the largest; single gains may be larger than that."""
        return min(self._log_gain(k), math.log(self._largest))

    def _quantile(self, k: int, q: float) -> float:
        p = self._p_any(k)
        if p <= 1 - q or self.gain == 0:
            return 0.0
        z = float(ndtri((q - (1 - p)) / p))
        return min(math.exp(self._log_typical(k) + _LOG_STD * z), self.left)

    def _expected_gain(self, k: int) -> float:
        """The mean of a lognormal gain, which counts as the largest one beyond that."""
        p, top = self._p_any(k), self._largest
        if p == 0 or self.gain == 0:
            return 0.0
        mu = self._log_gain(k)
        if math.isinf(top):
            return p * math.exp(mu + _LOG_STD**2 / 2)
        z = (math.log(top) - mu) / _LOG_STD
        body = math.exp(mu + _LOG_STD**2 / 2) * float(ndtr(z - _LOG_STD))
        return p * (body + top * float(ndtr(-z)))


def outlook(
    data: Dataset,
    models: Models | None,
    x: Array | None,
    is_noisy: bool = False,
    price: float = 0.0,
) -> Outlook:
    """What more experiments may bring.

    Args:
        data: the history.
        models: its models; None while nothing was answered.
        x: the design (d,) that the method would try next; None if it can only repeat others.
        is_noisy: whether repeating an experiment gives a different value.
        price: what a failure costs besides the experiment itself, in experiments.

    Returns:
        The outlook. Pending designs count among the next experiments.
    """
    n, rows = len(data.X), np.flatnonzero(data.acceptable)
    n_failed = n - int((data.worked & ~data.beyond.any(axis=1)).sum())
    surcharge = price * int((~data.worked).sum())
    (measure, sign), unit = _measure(data), gain_unit(data.outputs)
    if models is None or not len(rows):
        odds = 0.0 if x is None and n else 1 / (n + 1)  # Laplace's rule of succession
        return Outlook(
            measure,
            best=None,
            n_done=n,
            n_failed=n_failed,
            spread=0.0,
            confirmed=True,
            odds=odds,
            gain=0.0,
            sign=sign,
            recent=0.0,
            unit=unit,
            surcharge=surcharge,
        )
    gains, point = data.gains[rows], reference(data)
    if is_noisy:  # a reading may be luck; repeats of a design have one and the same gain
        designs, which = np.unique(data.X[rows], axis=0, return_inverse=True)
        gains = believed_gains(data, models, designs)[which.reshape(-1)]
    steps = _steps(gains, point)  # (r,) what each acceptable experiment added
    single = gains.shape[1] == 1
    n_best = int((data.X[rows] == data.X[rows[np.argmax(gains[:, 0])]]).all(axis=1).sum())
    confirmed = not is_noisy or not single or n_best > 1
    total = gains.max() if single else steps.sum()
    spread = float(total - np.median([_worth(g, point) for g in gains[:_FIRST]]))
    came = np.zeros(n)
    came[rows[1:]] = steps[1:]
    best = sign * float(total)
    left = best if _has_target(data) else math.inf
    odds, gain = 0.0, 0.0
    if x is not None and left > 0:
        p_model, promised = _promise(data, models, gains, point, x)
        odds = _odds(came[rows[0] + 1 :], p_model)
        gain = typical_gain(came[came > 0], promised)
    spread, recent = max(spread, 0.0), float(came[-_QUIET:].sum())
    return Outlook(
        measure,
        best,
        n_done=n,
        n_failed=n_failed,
        spread=spread,
        confirmed=confirmed,
        odds=odds,
        gain=gain,
        sign=sign,
        recent=recent,
        left=left,
        unit=unit,
        surcharge=surcharge,
    )


def gain_unit(outputs: Outputs) -> str:
    """The unit of a gain, and so of a margin.

    Args:
        outputs: what is optimised.

    Returns:
        The unit of a single objective; a hypervolume has none.
    """
    return outputs.objectives[0].unit if len(outputs.objectives) == 1 else ""


def _measure(data: Dataset) -> tuple[str, float]:
    """What is counted, and whether it grows."""
    if len(data.outputs.objectives) > 1:
        return "hypervolume", 1.0
    (objective,) = data.outputs.objectives
    if _has_target(data):
        return f"distance of {objective.name} from its target", -1.0
    return objective.name, 1.0 if objective.direction == "maximize" else -1.0


def _has_target(data: Dataset) -> bool:
    """Whether a distance is counted, which ends at 0."""
    objectives = data.outputs.objectives
    return len(objectives) == 1 and objectives[0].target is not None


def _worth(gain: Array, point: Array) -> float:  # (k,), (k,)
    """What a design is worth alone: its value, or the volume that it dominates."""
    if len(gain) == 1:
        return float(gain[0])
    return float(np.prod(np.maximum(gain - point, 0.0)))


def _steps(gains: Array, point: Array) -> Array:  # (r, k), (k,) -> (r,)
    """What each experiment added to the best value, or to the hypervolume."""
    if gains.shape[1] == 1:
        return np.maximum(np.diff(np.maximum.accumulate(gains[:, 0]), prepend=gains[0, 0]), 0.0)
    added = [_contribution(g, gains[:i], point) for i, g in enumerate(gains)]
    return np.array(added)


def _contribution(gain: Array, others: Array, point: Array) -> float:  # (k,), (r, k), (k,)
    """The volume that a design adds to those that others dominate."""
    if (gain <= point).any() or (others >= gain).all(axis=1).any():
        return 0.0
    within = np.minimum(others, gain)
    shared = hypervolume(-within[nondominated(-within)], -point) if len(within) else 0.0
    return max(_worth(gain, point) - shared, 0.0)


def _promise(
    data: Dataset, models: Models, gains: Array, point: Array, x: Array
) -> tuple[float, float]:
    """What the models promise of a design: the chance to improve, and by how much if it works."""
    chance = float(models.chance(x[None])[0])
    predictions = [model.predict(x[None]) for model in models.objectives if model is not None]
    mean, std = (np.array(part)[:, 0] for part in zip(*predictions, strict=True))
    has_target = [objective.target is not None for objective in data.outputs.objectives]
    if len(mean) == 1:
        best = float(gains.max())
        log_gain = log_target_improvement if has_target[0] else log_expected_improvement
        ei = float(np.exp(log_gain(mean, std, best)[0][0]))
        ends = (-best - mean[0], best - mean[0]) if has_target[0] else (np.inf, best - mean[0])
        p_better = float(ndtr(ends[0] / std[0]) - ndtr(ends[1] / std[0]))
        return chance * p_better, ei
    draws = mean + std * np.random.default_rng(0).standard_normal((_N_DRAWS, len(mean)))
    draws = np.where(has_target, -np.abs(draws), draws)
    front = gains[nondominated(-gains)]
    added = np.array([_contribution(draw, front, point) for draw in draws])
    return chance * float((added > 0).mean()), float(added.mean())


def _odds(came: Array, p_model: float) -> float:  # (m,) since the first acceptable experiment
    """The odds that the next experiment improves."""
    recent = came[-_RECENT:]
    rate = ((recent > 0).sum() + 0.5) / (len(recent) + 1.5)
    p_model = min(max(p_model, _SURE), 1 - _SURE)
    return float((rate / (1 - rate)) ** _TRUST * (p_model / (1 - p_model)) ** (1 - _TRUST))


def typical_gain(steps: Array, promised: float) -> float:
    """The size of the next improvement: that of the last ones, less if the models promise less.

    They do not raise it: where values span decades, they promise thousands of times too much.

    Args:
        steps: what improvements have added so far, in order.
        promised: by how much the models expect the next design to improve.

    Returns:
        The gain.
    """
    if not len(steps):
        return _SHRINK * promised
    log_step = float(np.log(steps[-_STEPS:]).mean())
    log_promised = math.log(promised) if promised > 0 else -math.inf
    return math.exp(log_step + 0.5 * min(max(log_promised - log_step, -_FAR), 0.0))


def _begins(rule: Stop) -> str:
    """When a rule begins to advise a stop, for a sentence."""
    sooner = rule.margin is None and rule.at_least is None
    unless = f", or after {_ENOUGH_WITH_MARGIN} with a margin of your own" if sooner else ""
    return f"the advice to stop begins after {rule.n_least}{unless}"


def _experiments(n: int) -> str:
    return "1 experiment" if n == 1 else f"{n} experiments"
