"""Our Sobol points are SciPy's."""

import numpy as np
import pytest
from scipy.stats import qmc

from becbo.search.sobol import sobol


@pytest.mark.parametrize("d", [1, 2, 7, 40, 1000])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 256, 300])
def test_points_are_those_of_scipy(n: int, d: int) -> None:
    ours, theirs = np.random.default_rng(n), np.random.default_rng(n)
    for _ in range(2):  # the second sequence of a generator differs from the first
        expected = qmc.Sobol(d, rng=theirs).random_base2(int(np.ceil(np.log2(n))))[:n]
        np.testing.assert_array_equal(sobol(n, d, ours), expected)
    assert ours.random() == theirs.random()
