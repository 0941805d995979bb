"""A classifier for each constraint: told apart by reasons, or by attribution without any."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from becbo.arrays import Array, Mask
from becbo.surrogates.attribution import attribute_failures
from becbo.surrogates.gp_classifier import GPClassifier, GPClassifierModel
from becbo.surrogates.product import Product

_N_ITERATIONS = 6  # of each constraint's hyperparameters, from those of all failures together
_MAX_LISTS = 100  # that constraints learn from besides their own failures: the work grows with them
_NO_SITES = np.zeros((0, 2))


def fit_by_reason(
    single: GPClassifierModel,
    X: Array,
    feasible: Mask,
    kinds: Mask,
    complete: Mask,
    lapse_of: Callable[[Array, Mask], float] | None = None,
) -> Product | None:
    """Fits a classifier for each kind of failure.

    Args:
        single: the classifier of all failures together.
        X: designs (n, d).
        feasible: which of them worked (n,).
        kinds: which failures were of which kind (n, k). Failures of no kind are one more.
        complete: failures whose reasons are all that was wrong (n,).
        lapse_of: how often a kind strikes by bad luck, given designs and which of them it spared.
            None: the rate of all together is known, and no kind strikes more often.

    Returns:
        The product of the classifiers; None with one kind only, or if nothing is known to have
        kept a constraint.
    """
    kept = _kept_the_rest(feasible, kinds, complete)
    groups = [(kind, kept) for kind in kinds.T]
    others = ~feasible & ~kinds.any(axis=1)
    if others.any():
        groups.append((others, feasible))
    if len(groups) < 2 or not any((keepers & ~group).any() for group, keepers in groups):
        return None
    settings = replace(single.settings, n_warm_iterations=_N_ITERATIONS)
    start = replace(single, sites=_NO_SITES)
    seen = [(keepers | group, group) for group, keepers in groups]
    factors = []
    for rows, group in seen:
        spared = X[rows], ~group[rows]
        lapse = single.lapse if lapse_of is None else lapse_of(*spared)
        factors.append(replace(settings, lapse=lapse).fit(*spared, start=start))
    lapse = single.lapse if lapse_of is None else 1.0 - math.prod(1.0 - f.lapse for f in factors)
    pessimist = None if feasible.any() else settings
    return Product(tuple(factors), single.scales, lapse=lapse, pessimist=pessimist)


def _kept_the_rest(feasible: Mask, kinds: Mask, complete: Mask) -> Mask:  # -> (n,)
    """Which experiments count as having kept every constraint that they do not name.

    A complete list is taken at its word; the latest are enough. Of a single reason nobody knows: an
    experiment often ends with the first constraint that it violates. While nothing has worked, one
    list is a sign that single reasons are complete too; otherwise there may be no design known to
    have kept a constraint, and all failures look alike.
    """
    is_list = complete & (kinds.sum(axis=1) > 1)
    if is_list.any() and not feasible.any():
        return np.asarray(kinds.any(axis=1))
    n_since = is_list[::-1].cumsum()[::-1]
    return np.asarray(feasible | (is_list & (n_since <= _MAX_LISTS)))


def fit_attributed(
    settings: GPClassifier, X: Array, feasible: Mask
) -> tuple[GPClassifierModel, ...]:
    """Fits the constraints that explain the failures if nobody said why.

    Args:
        settings: of the classifier of each constraint.
        X: designs (n, d).
        feasible: which of them worked (n,); there must be both successes and failures.

    Returns:
        A classifier for each constraint that explains some failure; none if there is only one.
    """
    constraints = attribute_failures(settings, X, feasible)
    factors = tuple(c for c in constraints if c.latent(X[~feasible])[0].min() < 0)
    return factors if len(factors) > 1 else ()
