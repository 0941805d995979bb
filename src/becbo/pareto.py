"""Pareto fronts and hypervolumes. All objectives are minimised here, as the field writes it."""

from __future__ import annotations

import numpy as np

from becbo.arrays import Array, Mask


def nondominated(F: Array) -> Mask:  # (n, m) -> (n,)
    """Finds the Pareto front.

    Args:
        F: objective values (n, m), to be minimised.

    Returns:
        Which rows no other row dominates. Of equal rows, the first is on the front.
    """
    keep = np.zeros(len(F), dtype=bool)
    left = np.lexsort(F.T[::-1])  # nothing dominates the first; equal rows stay in order
    while len(left):
        keep[left[0]] = True
        left = left[(F[left] < F[left[0]]).any(axis=1)]
    return keep


def hypervolume(F: Array, reference: Array) -> float:
    """Measures a front: the volume that it dominates up to a reference point.

    Args:
        F: objective values (n, m), to be minimised; they need not be nondominated.
        reference: the point (m,) that the volume is bounded by. Rows that are not below it in
            every objective count for nothing.

    Returns:
        The volume, 0 if no row counts.
    """
    F = np.asarray(F, dtype=float)[(np.asarray(F) < reference).all(axis=1)]
    F = F[nondominated(F)]
    if not len(F):
        return 0.0
    if F.shape[1] == 1:
        return float(reference[0] - F.min())
    if F.shape[1] == 2:
        a, b = F[np.argsort(F[:, 0])].T
        return float(((np.append(a[1:], reference[0]) - a) * (reference[1] - b)).sum())
    # Slabs between successive values of the last objective, each a volume with one less.
    F = F[np.argsort(F[:, -1], kind="stable")]
    heights = np.diff(np.append(F[:, -1], reference[-1]))
    return float(
        sum(
            height * hypervolume(F[: i + 1, :-1], reference[:-1])
            for i, height in enumerate(heights)
            if height > 0
        )
    )


def boxes(F: Array, reference: Array) -> tuple[Array, Array]:  # (n, m) -> (b, m), (b, m)
    """Divides what is not dominated into boxes, for one to three objectives.

    Args:
        F: objective values (n, m), to be minimised.
        reference: the point (m,) that bounds the boxes from above.

    Returns:
        Lower and upper corners of disjoint boxes; lower ones may be -inf. A point improves the
        front where it lies in one of them.
    """
    m = len(reference)
    F = F[(F < reference).all(axis=1)].reshape(-1, m)
    F = F[nondominated(F)]
    # Fewer objectives: add some in which every point is as good as can be.
    F = np.hstack([F, np.full((len(F), 3 - m), -np.inf)])
    top = np.append(reference, np.zeros(3 - m))
    lower, upper = _boxes_of_three(F, top)
    return lower[:, :m], upper[:, :m]


def _boxes_of_three(F: Array, top: Array) -> tuple[Array, Array]:  # (n, 3), (3,)
    """Sweeps the third objective upwards over a staircase of the first two.

    A step is (left, right, height, since): where left <= f1 < right, everything below `height` in
    f2 is an improvement, from f3 = since on. A new point cuts the steps that it lowers: what they
    were ends as a box.
    """
    steps = [(-np.inf, top[0], top[1], -np.inf)]
    found: list[tuple[tuple[float, float, float], tuple[float, float, float]]] = []

    def end(left: float, right: float, height: float, since: float, now: float) -> None:
        if right > left and now > since and height > -np.inf:
            found.append(((left, -np.inf, since), (right, height, now)))

    for a, b, c in F[np.lexsort(F.T[[1, 0, 2]])]:
        new, right_end = [], a
        for left, right, height, since in steps:
            if right <= a or height <= b:
                new.append((left, right, height, since))
                continue
            cut = max(left, a)
            end(cut, right, height, since, c)
            if left < cut:
                new.append((left, cut, height, since))
            right_end = right
        if right_end > a:
            # The lowered part is one step, from the point to where the staircase is lower anyway.
            new.append((a, right_end, b, c))
        steps = sorted(new)
    for left, right, height, since in steps:
        end(left, right, height, since, top[2])
    lower, upper = np.array(found).swapaxes(0, 1)
    return lower, upper
