"""Why an experiment failed: what people and programs say, parsed once.

A reason is free text. Commas and semicolons separate several reasons, except in quotes. Several
reasons are a complete list of what was wrong; of a single reason nobody knows, because an
experiment often ends with the first limit that breaks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from becbo.errors import Infeasible, InvalidInput

_MAX_KINDS = 8  # of failures that are told apart: each has a model of its own


@dataclass(frozen=True)
class Reasons:
    """The reasons that were given for one failure; falsy if none was.

    Attributes:
        names: each reason, in the words that were used.
        complete: whether the names are everything that was wrong.
        text: the words as they were given; `Reasons.parse` reads them again.
    """

    names: tuple[str, ...] = ()
    complete: bool = False
    text: str = ""

    @classmethod
    def parse(cls, said: str | BaseException | Reasons | None) -> Reasons:
        """Reads what was said about a failure.

        Args:
            said: a text, an exception (one reason, however many commas its message has), None or
                an empty text for nothing, or reasons that have been parsed already.

        Returns:
            The reasons.

        Raises:
            InvalidInput: if it is anything else.
        """
        if isinstance(said, Reasons):
            return said
        if isinstance(said, BaseException):
            said = _in_words(said)
        if said is None:
            return NO_REASONS
        if not isinstance(said, str):
            raise InvalidInput(f"reason {said!r} must be a string; separate reasons by commas")
        names = tuple(_names(said))
        return cls(names, len(names) > 1, said)

    def __bool__(self) -> bool:
        return bool(self.text)

    def __str__(self) -> str:
        return self.text

    def without(self, names: Sequence[str]) -> Reasons:
        """The reasons that name none of the given things, such as measured limits."""
        kept = tuple(name for name in self.names if not _mentions_any(name, names))
        return self if len(kept) == len(self.names) else Reasons(kept, self.complete, self.text)

    def mentions(self, name: str) -> bool:
        """Whether one of the reasons is this name, whatever its capitals and numbers."""
        return any(_mentions_any(reason, [name]) for reason in self.names)


NO_REASONS = Reasons()


def _in_words(error: BaseException) -> str:
    """An exception as one reason: in quotes if its message looks like a list of several."""
    if isinstance(error, Infeasible):
        return error.reason
    name, message = type(error).__name__, str(error)
    if "," in message or ";" in message:
        message = message.replace('"', "'")
        return f'{name}: "{message}"'
    return f"{name}: {message}" if message else name


def _names(text: str) -> Iterator[str]:
    """The reasons in a text; what stands before a colon holds for those that follow too."""
    head = ""
    for item in re.findall(r'(?:"[^"]*"|[^,;])+', text):
        words = re.sub(r"[\s:]+\Z", "", _unquoted(item))  # a colon at the end is no head
        before, colon, _ = words.rpartition(":")
        head = before.strip() if colon else head
        if words:
            yield item.strip() if colon or not head else f"{head}: {item.strip()}"


def _unquoted(item: str) -> str:
    """A quoted message is a program's: what it begins with counts."""
    return re.sub(r'"([^"]*?[^\W\d_][^".,;(]*)[^"]*"', r"\1", item)


def _mentions_any(reason: str, names: Sequence[str]) -> bool:
    said = _unquoted(reason.casefold())
    ways = {said, said.rpartition(":")[2], _without_numbers(said.rpartition(":")[2])}
    spelled = {" ".join(way.split()) for way in ways}
    return any(" ".join(name.casefold().split()) in spelled for name in names)


def recurring(given: Sequence[Reasons]) -> tuple[tuple[str, ...], list[list[bool]]]:
    """Finds the kinds of failures: reasons that were given more than once.

    Capitals do not matter. Of "RuntimeError: it melted at 310" the whole counts if it was said
    again, or else "it melted at" without the number, which often is a reading, or else the error.
    Reasons that always come together are one kind.

    Args:
        given: the reasons of n experiments, none for those that did not fail.

    Returns:
        The names of the k kinds, the most frequent first, and for each of the n experiments
        whether it was of each kind.
    """
    said = [[_readings(name) for name in reasons.names] for reasons in given]
    n_given = Counter(chain(*(set(chain(*ways)) for ways in said)))
    chosen = [
        {next((way for way in ways if n_given[way] > 1), "") for ways in each} for each in said
    ]
    kinds: dict[tuple[bool, ...], str] = {}
    for kind, n in Counter(chain(*chosen)).most_common():
        if kind and n > 1:
            kinds.setdefault(tuple(kind in each for each in chosen), kind)
    kept = list(kinds)[:_MAX_KINDS]
    rows = [list(row) for row in zip(*kept, strict=True)] if kept else [[] for _ in given]
    return tuple(kinds[column].strip(" :") for column in kept), rows


def _readings(name: str) -> tuple[str, ...]:
    """A reason as it may be read, from the most particular to the most general."""
    head, _, reason = _unquoted(name.casefold()).rpartition(":")
    ways = (f"{head}: {reason}", _without_numbers(f"{head}: {reason}"), _without_numbers(head))
    return tuple(way for way in (" ".join(way.split()) for way in ways) if way)


def _without_numbers(text: str) -> str:
    return " ".join(re.findall(r"\b[^\W\d_]\w*|:", text)).strip(" :")
