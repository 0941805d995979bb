"""The types of arrays. Shapes stand in comments beside them, as in `# (n, d) -> (n,)`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
