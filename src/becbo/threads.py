"""One BLAS thread while a proposal is computed, where threadpoolctl is installed.

A proposal is hundreds of small matrix products, for which more threads only get in each other's
way: with two threads on two busy cores a run took four times as long. Setting the environment
variable OPENBLAS_NUM_THREADS=1 before Python starts does the same without threadpoolctl.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any


@cache  # finding the loaded libraries takes milliseconds
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """A context in which NumPy and SciPy compute on one thread."""
    controller = _controller()
    return nullcontext() if controller is None else controller.limit(limits=1)
