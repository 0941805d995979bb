"""A classifier for each constraint: told apart by reasons, or by attribution without any."""

from __future__ import annotations

from collections.abc import Sequence
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
    lapses: Sequence[float] | None = None,
) -> Product | None:
    """Fits a classifier for each kind of failure.

    Args:
        single: the classifier of all failures together.
        X: designs (n, d).
        feasible: which of them worked (n,).
        kinds: which failures were of which kind (n, k). Failures of no kind are one more.
        complete: failures whose reasons are all that was wrong (n,).
        lapses: of each kind, how often it strikes by bad luck, and of failures of no kind (k + 1,).
            None: every kind as often as all together.

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
    lapses = [single.lapse] * (kinds.shape[1] + 1) if lapses is None else lapses
    settings = replace(single.settings, n_warm_iterations=_N_ITERATIONS)
    start = replace(single, sites=_NO_SITES)
    seen = [(keepers | group, group) for group, keepers in groups]
    factors = [
        replace(settings, lapse=lapse).fit(X[rows], ~group[rows], start=start)
        for (rows, group), lapse in zip(seen, lapses, strict=False)
    ]
    pessimist = None if feasible.any() else settings
    return Product(tuple(factors), single.scales, lapse=single.lapse, pessimist=pessimist)


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
    single: GPClassifierModel, settings: GPClassifier, X: Array, feasible: Mask
) -> Product | None:
    """Fits the constraints that explain the failures if nobody said why.

    Args:
        single: the classifier of all failures together.
        settings: of the classifier of each constraint.
        X: designs (n, d).
        feasible: which of them worked (n,); there must be both successes and failures.

    Returns:
        The product of the classifiers; None if fewer than two explain any failure.
    """
    constraints = attribute_failures(settings, X, feasible)
    factors = [c for c in constraints if c.latent(X[~feasible])[0].min() < 0]
    return Product(tuple(factors), single.scales, lapse=single.lapse) if len(factors) > 1 else None
