"""One BLAS thread while a proposal is computed, and which BLAS it is: by threadpoolctl.

A proposal is hundreds of small matrix products, for which more threads only get in each other's
way: with two threads on two busy cores a run took four times as long. Setting the environment
variable OPENBLAS_NUM_THREADS=1 before Python starts does the same where threadpoolctl is missing.
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


def blas() -> str:
    """The BLAS libraries of NumPy and SciPy, each with its version and the kernel it has chosen.

    The kernel decides how fast products are, and how their last digits are rounded.
    """
    controller = _controller()
    libraries = [] if controller is None else controller.info()
    names = {
        " ".join(str(library.get(key) or "") for key in ("internal_api", "version", "architecture"))
        for library in libraries
        if library["user_api"] == "blas"
    }
    return ", ".join(name.strip() for name in sorted(names)) or "unknown"
