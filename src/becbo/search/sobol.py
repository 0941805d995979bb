"""Scrambled Sobol points, those of `scipy.stats.qmc` to the last bit.

Importing `scipy.stats` takes a third of a second of processor time, a quarter of all that `becbo
suggest` takes. Its table of direction numbers is all that is needed: Joe and Kuo, "Constructing
Sobol sequences with better two-dimensional projections", SIAM Journal on Scientific Computing 30,
2008. The scrambling is by random triangular matrices and a digital shift: Matousek, "On the
L2-discrepancy for anchored boxes", Journal of Complexity 14, 1998.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from becbo.arrays import Array

_BITS = 30
_PLACES = 2 ** np.arange(_BITS - 1, -1, -1, dtype=np.int64)  # of the digits, the first one largest

Integers = NDArray[np.int64]


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:  # (n, d)
    """The first n points of a scrambled Sobol sequence."""
    rng = rng.spawn(1)[0]
    shift = rng.integers(2, size=(d, _BITS), dtype=np.uint32).astype(np.int64) @ _PLACES[::-1]
    matrices = np.tril(rng.integers(2, size=(d, _BITS, _BITS), dtype=np.uint32)).astype(np.int64)
    matrices[:, np.arange(_BITS), np.arange(_BITS)] = 1
    digits = (_directions(d)[:, :, None] // _PLACES) % 2  # (d, bit, digit)
    scrambled = (np.einsum("dpk,djk->djp", matrices, digits) % 2) @ _PLACES  # (d, bit)
    index = np.arange(n)
    gray = index ^ (index >> 1)
    points = np.tile(shift, (n, 1))
    for bit in range(int(n).bit_length()):
        points[(gray >> bit) % 2 == 1] ^= scrambled[:, bit]
    return np.asarray(points * 2.0**-_BITS)


@cache
def _directions(d: int) -> Integers:  # (d, bit)
    """The direction numbers of d dimensions, by the recurrence of their primitive polynomials."""
    import scipy  # late: recording a result does without

    table = np.load(Path(scipy.__file__).parent / "stats" / "_sobol_direction_numbers.npz")
    polynomials, initial = table["poly"], table["vinit"]
    rows = [[1] * _BITS]  # the first dimension is van der Corput's
    for i in range(1, d):
        polynomial = int(polynomials[i])
        degree = polynomial.bit_length() - 1
        row = [int(m) for m in initial[i, :degree]]
        for j in range(degree, _BITS):
            number = row[j - degree]
            for k in range(degree):
                if (polynomial >> (degree - 1 - k)) & 1:
                    number ^= (2 << k) * row[j - k - 1]
            row.append(number)
        rows.append(row)
    return np.array(rows, dtype=np.int64) * _PLACES
