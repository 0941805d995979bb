"""The few errors a caller would catch."""

from __future__ import annotations

from collections.abc import Mapping


class BecboError(Exception):
    """Base of every error this package raises on purpose.

    Examples:
        >>> try:
        ...     Optimizer(space, method="no-such-method")
        ... except BecboError as error:
        ...     print(type(error).__name__)
        InvalidInput
    """


class InvalidInput(BecboError, ValueError):
    """A value, name or setting that cannot be used; the message says which and what to do.

    Examples:
        >>> optimizer.tell(99, 3.2)
        Traceback (most recent call last):
        becbo.errors.InvalidInput: trial 99 is unknown: there are 3 trials, from 0
    """


class Infeasible(BecboError):
    """Raised by an objective when the experiment failed and has no value.

    Args:
        reason: why, as a string or an exception. Commas separate several reasons, which are taken
            to be all there are.
        measured: the outputs that were measured all the same, by name.

    Raises:
        InvalidInput: if the reason or `measured` is anything else.

    Examples:
        >>> def run(params):
        ...     raise Infeasible("gel", measured={"viscosity": 340})
    """

    def __init__(
        self,
        reason: str | BaseException = "failed",
        measured: Mapping[str, float | None] | None = None,
    ) -> None:
        super().__init__(reason)
        if isinstance(reason, BaseException):
            reason = str(reason) or type(reason).__name__
        if not isinstance(reason, str):
            raise InvalidInput(f"reason {reason!r} must be a string; separate reasons by commas")
        if not isinstance(measured, Mapping | None):
            raise InvalidInput(
                f"measured {measured!r} must be a dict of outputs, such as {{'ph': 7}}"
            )
        self.reason = reason
        self.measured = dict(measured or {})
