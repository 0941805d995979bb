"""Failures by chance (bad luck): which failures look like it, and at which rate it occurs.

The evidence of a classifier does not tell the rate: a search gathers surprising failures at the
edge anyway, and a high rate explains them all. So the rate is zero until a design has both failed
and worked, which proves bad luck. Then every design is weighted by its chance to be feasible
according to the others.
"""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array
from becbo.surrogates.gp_classifier import Tally

ASSUMED = 0.1  # the rate under which failures are looked through for bad luck
LIKELY = 0.2  # where learning begins once it is proven
MAX_TESTS = 5  # repeats of failed designs to find out
_FIRST_LOOK = 10  # experiments
_SURE = 0.6  # a failed design is repeated if the others say so much for it, or more
_SURER = 0.7  # what is left to certainty after each repeat that failed, in shares of it
_RATES = np.linspace(0.005, 0.6, 120)


def look(n: int) -> int:
    """How many of the first n experiments are looked through for bad luck.

    None before there are ten. Then each time a third more: looking takes a fit, and a few more
    experiments tell little more.
    """
    if n < _FIRST_LOOK:
        return 0
    m = _FIRST_LOOK
    while m + max(m // 3, 1) <= n:
        m += max(m // 3, 1)
    return m


def is_proven(runs: Tally) -> bool:
    """Whether some design has both failed and worked."""
    return bool(((runs.n_worked > 0) & (runs.n_failed > 0)).any())


def is_open(runs: Tally) -> bool:
    """Whether bad luck is neither proven nor has been tested for often enough."""
    n_tests = (runs.n_failed[runs.n_worked == 0] - 1).sum()
    return not is_proven(runs) and bool(n_tests < MAX_TESTS)


def suspect(runs: Tally, left_out: Array) -> int | None:
    """The failed design that is worth a repeat, to tell bad luck from a design that does not work.

    Args:
        runs: of m designs.
        left_out: the chance that each of the first k of them is feasible, according to the other
            designs (k,).

    Returns:
        Its index; None if no failure is that surprising. Each repeat that failed again raises the
        threshold: the models overestimate.
    """
    only_failed = runs.n_worked == 0
    n_refuted = int((only_failed & (runs.n_failed > 1)).sum())
    failed_once = only_failed & (runs.n_failed == 1)
    chances = np.where(failed_once[: len(left_out)], left_out, 0.0)
    index = int(np.argmax(chances))
    return index if chances[index] >= 1 - (1 - _SURE) * _SURER**n_refuted else None


def learned_rate(runs: Tally, left_out: Array) -> float:
    """The mean of the rate of bad luck, given what happened to each design.

    A design of chance C that worked s times and failed f times has the likelihood
    C (1 - e)^s e^f, or 1 - C + C e^f if it never worked.

    Args:
        runs: of m designs.
        left_out: the chance C of the first k of them according to the other designs (k,).

    Returns:
        The rate.
    """
    k = len(left_out)
    C = left_out[:, None]
    worked, failed = runs.n_worked[:k, None], runs.n_failed[:k, None]
    log_luck = failed * np.log(_RATES)  # (k, rates)
    spared = np.log1p(-_RATES) * worked + log_luck
    log_p = np.where(worked > 0, spared, np.log1p(-C * -np.expm1(log_luck))).sum(axis=0)
    weights = np.exp(log_p - log_p.max())
    return float(weights @ _RATES / weights.sum())
