"""The few errors a caller would catch."""


class BecboError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInput(BecboError, ValueError):
    """A value, name or setting that cannot be used; the message says which and what to do."""


class Infeasible(BecboError):
    """Raised by an objective when the experiment failed and has no value.

    Args:
        reason: why, as a string or an exception. Commas separate several reasons, which are taken
            to be all there are.

    Raises:
        InvalidInput: if the reason is anything else.
    """

    def __init__(self, reason: str | BaseException = "failed") -> None:
        super().__init__(reason)
        if isinstance(reason, BaseException):
            reason = str(reason) or type(reason).__name__
        if not isinstance(reason, str):
            raise InvalidInput(f"reason {reason!r} must be a string; separate reasons by commas")
        self.reason = reason
