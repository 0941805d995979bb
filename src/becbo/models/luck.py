"""Failures by chance: which failures look like bad luck, and how often it strikes.

The evidence of a classifier does not tell how often: a search gathers surprising failures at the
edge by itself, and a rate explains them all. So a rate is zero until a design has both failed and
worked, which proves it. Then every design counts as far as the others say that it works.
"""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array
from becbo.surrogates.gp_classifier import Tally

ASSUMED = 0.1  # the rate under which failures are looked through for bad luck
MAX_TESTS = 5  # repeats of failed designs to find out
_SURE = 0.95  # a failed design is repeated if the others say so much for it, or more
_TRUST = 0.95  # what a chance of 1 is worth: at corners of the feasible region models promise more
_RATES = np.linspace(0.005, 0.6, 120)


def is_proven(runs: Tally) -> bool:
    """Whether some design has both failed and worked."""
    return bool(((runs.n_worked > 0) & (runs.n_failed > 0)).any())


def suspect(runs: Tally, left_out: Array) -> int | None:
    """The failed design that is worth a repeat, to tell bad luck from a law.

    Args:
        runs: of m designs.
        left_out: the chance of each according to the other designs (m,).

    Returns:
        Its index; None if no failure is that surprising, or enough have been repeated. Each
        repeat that failed again asks for more surprise: the models promise too much.
    """
    only_failed = runs.n_worked == 0
    n_refuted = int((only_failed & (runs.n_failed > 1)).sum())
    if is_proven(runs) or (runs.n_failed[only_failed] - 1).sum() >= MAX_TESTS:
        return None
    chances = np.where(only_failed & (runs.n_failed == 1), left_out, 0.0)
    index = int(np.argmax(chances))
    return index if chances[index] >= 1 - (1 - _SURE) / 2**n_refuted else None


def learned_rate(runs: Tally, left_out: Array) -> float:
    """The mean of the rate of bad luck, given what happened to each design.

    A design of chance C that worked s times and failed f times has the likelihood
    C (1 - e)^s e^f, or 1 - C + C e^f if it never worked.

    Args:
        runs: of m designs.
        left_out: the chance C of each according to the other designs (m,).

    Returns:
        The rate.
    """
    C = _TRUST * left_out[:, None]
    worked, failed = runs.n_worked[:, None], runs.n_failed[:, None]
    log_luck = failed * np.log(_RATES)  # (m, rates)
    spared = np.log1p(-_RATES) * worked + log_luck
    log_p = np.where(worked > 0, spared, np.log1p(-C * -np.expm1(log_luck))).sum(axis=0)
    weights = np.exp(log_p - log_p.max())
    return float(weights @ _RATES / weights.sum())
