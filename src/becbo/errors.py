"""The few errors a caller would catch, and what may be said about a failure."""

from typing import Any


class BecboError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInput(BecboError, ValueError):
    """A value, name or setting that cannot be used; the message says which and what to do."""


class Infeasible(BecboError):
    """Raised by an objective when the experiment failed and has no value.

    Commas separate several reasons, which are taken to be all there are.
    """

    def __init__(self, reason: str | BaseException = "failed") -> None:
        super().__init__(reason)
        self.reason = reason_text(reason)


def in_words(error: BaseException) -> str:
    """An exception as one reason: in quotes if its message looks like a list of several."""
    if isinstance(error, Infeasible):
        return error.reason
    name, message = type(error).__name__, str(error)
    if "," in message or ";" in message:
        message = message.replace('"', "'")
        return f'{name}: "{message}"'
    return f"{name}: {message}" if message else name


def reason_text(said: Any) -> str:
    """Why an experiment failed or was lost, or an error: a list would be lost without a word."""
    if isinstance(said, BaseException):
        return str(said) or type(said).__name__
    if not isinstance(said, str):
        raise InvalidInput(f"reason {said!r} must be a text; separate several reasons by commas")
    return said
