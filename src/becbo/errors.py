"""The few errors a caller would catch."""


class BecboError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInput(BecboError, ValueError):
    """A value, name or setting that cannot be used; the message says which and what to do."""


class Infeasible(BecboError):
    """Raised by an objective when the experiment failed and has no value.

    Commas separate several reasons, which are taken to be all there are.
    """

    def __init__(self, reason: str = "failed") -> None:
        super().__init__(reason)
        self.reason = reason
