"""Adam, for networks of the paper's classifier and for the flat limits of the default one.

Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the customary constants
BLOCK = 2**16  # weights per sweep: the four vectors stay in the second-level cache


def adam(theta: Floats, grad: Floats, fill: Callable[[], bool], rate: float, n_steps: int) -> None:
    """Minimise over `theta` in place; `fill()` computes `grad` and says whether to go on.

    The moments are kept without their factors (1 - beta), which go into the step size and
    epsilon instead; `grad` serves as scratch. Both save passes over the parameters.
    """
    vectors = theta, grad, np.zeros_like(theta), np.zeros_like(theta)
    blocks = [[v[i : i + BLOCK] for v in vectors] for i in range(0, theta.size, BLOCK)]
    for t in range(1, n_steps + 1):
        if not fill():
            return
        scale = math.sqrt((1 - BETA2**t) / (1 - BETA2))
        step = rate * scale * (1 - BETA1) / (1 - BETA1**t)
        for p, g, m, v in blocks:
            m *= BETA1
            m += g
            v *= BETA2
            g *= g
            v += g
            np.sqrt(v, out=g)
            g += EPSILON * scale
            np.divide(m, g, out=g)
            g *= step
            p -= g
