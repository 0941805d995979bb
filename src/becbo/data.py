"""The history as arrays: unit cube, values to maximise, feasibility."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from becbo.space import Array, Space
from becbo.trial import MAX_LOSSES, Outcome, Trial

_CLOSE = 0.01  # of the range of every parameter
_MAX_KINDS = 8  # of failures that are told apart: each has a model of its own


@dataclass(frozen=True)
class Dataset:
    """Finished experiments. `y` is to be maximised and NaN where the experiment failed."""

    X: Array  # (n, d)
    y: Array  # (n,)
    kinds: NDArray[np.bool_] | None = None  # (n, k) of failures, see `kinds`; None: not known

    @property
    def feasible(self) -> NDArray[np.bool_]:  # (n,)
        """Which experiments worked: the one place where feasibility is spelled."""
        return ~np.isnan(self.y)

    @property
    def n_feasible(self) -> int:
        """How many experiments worked."""
        return int(self.feasible.sum())

    def head(self, n: int) -> Dataset:
        """The first n experiments."""
        return Dataset(self.X[:n], self.y[:n], None if self.kinds is None else self.kinds[:n])

    def successes(self) -> tuple[Array, Array]:  # (k, d), (k,)
        """Designs that worked and their values."""
        return self.X[self.feasible], self.y[self.feasible]


def sign(direction: str) -> float:
    """The factor that turns user values into values to maximise."""
    return -1.0 if direction == "minimize" else 1.0


def dataset(trials: Sequence[Trial], space: Space, direction: str) -> Dataset:
    """Finished trials, in order of their numbers; lost and pending ones say nothing."""
    done = [t for t in trials if t.outcome.is_answer]
    y = [np.nan if t.value is None else sign(direction) * t.value for t in done]
    return Dataset(
        space.encode([t.params for t in done]),
        np.array(y, dtype=float),
        kinds([t.reason if t.outcome is Outcome.FAILED else None for t in done]),
    )


def kinds(reasons: Sequence[str | None]) -> NDArray[np.bool_]:  # (n, k)
    """Which failures were of which kind, by the reasons that were given for them, if any.

    A kind is a reason that was given more than once; capitals do not matter. Of "RuntimeError: it
    melted at 310" the whole counts if it was said again, or else "it melted at" without the number,
    which often is a reading, or else the error. Reasons that always come together are one kind.
    """
    said = [list(_readings(reason or "")) for reason in reasons]
    n_given = Counter(chain(*(set(chain(*ways)) for ways in said)))
    chosen = [
        {next((way for way in ways if n_given[way] > 1), "") for ways in each} for each in said
    ]
    recurring = Counter(chain(*chosen)).most_common()
    columns = [tuple(kind in each for each in chosen) for kind, n in recurring if kind and n > 1]
    apart = list(dict.fromkeys(columns))[:_MAX_KINDS]
    return np.array(apart, dtype=bool).reshape(len(apart), len(chosen)).T


def reasons_in(text: str) -> list[str]:
    """The reasons that a text lists: commas and semicolons separate them, except in quotes."""
    return [item.strip() for item in re.findall(r'(?:"[^"]*"|[^,;])+', text) if item.strip()]


def _readings(text: str) -> Iterator[tuple[str, ...]]:
    """Each reason in a text as it may be read, from the most particular to the most general."""
    head = ""
    for item in reasons_in(text.casefold()):
        # A quoted message is a program's, see `errors.in_words`: what it begins with counts.
        said = re.sub(r'"([^"]*?[^\W\d_][^".,;(]*)[^"]*"', r"\1", item)
        before, colon, reason = said.rpartition(":")
        head = before if colon else head  # it holds for what follows as well
        if reason.strip():
            ways = (
                f"{head}: {reason}",
                _without_numbers(f"{head}: {reason}"),
                _without_numbers(head),
            )
            yield tuple(way for way in (" ".join(way.split()) for way in ways) if way)


def _without_numbers(text: str) -> str:
    return " ".join(re.findall(r"\b[^\W\d_]\w*|:", text)).strip(" :")


def pending_points(trials: Sequence[Trial], space: Space) -> Array:  # (p, d)
    """Designs that are out for evaluation, and those given up, which are so for ever."""
    pending = space.encode([t.params for t in trials if t.outcome is Outcome.PENDING])
    return np.vstack([pending, given_up(trials, space)])


def given_up(trials: Sequence[Trial], space: Space) -> Array:  # (p, d)
    """Designs where experiments are lost again and again: perhaps the designs are the cause.

    That is so where `MAX_LOSSES` close to each other were lost and none was answered since.
    """
    lost = [t for t in trials if t.outcome is Outcome.LOST]
    if len(lost) < MAX_LOSSES:
        return np.empty((0, space.dim))
    X = space.encode([t.params for t in lost])
    known = [t for t in trials if t.outcome.is_answer]
    since = np.array([[k.number > t.number for k in known] for t in lost], dtype=bool)
    answered = _close(X, space.encode([t.params for t in known])) & since
    unclear = X[~answered.any(axis=1)]
    return np.asarray(unclear[_close(unclear, unclear).sum(axis=1) >= MAX_LOSSES])


def _close(A: Array, B: Array) -> NDArray[np.bool_]:  # (n, d), (m, d) -> (n, m)
    return np.asarray(np.abs(A[:, None] - B[None]).max(axis=-1, initial=0.0) <= _CLOSE)
