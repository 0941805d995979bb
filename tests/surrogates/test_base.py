"""The probit formulas that the models share."""

import numpy as np
from scipy.stats import norm

from becbo.surrogates.base import mills


def test_inverse_mills_ratio() -> None:
    z = np.array([-8.0, -1.0, 0.0, 2.0])
    np.testing.assert_allclose(mills(z), norm.pdf(z) / norm.cdf(z), rtol=1e-10)
    np.testing.assert_allclose(mills(np.array([-1e8, 50.0])), [1e8, 0.0], rtol=1e-10, atol=1e-300)
