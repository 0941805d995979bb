"""What a command of the command line left behind."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str
