"""Where the command `becbo` begins, also as `python -m becbo`."""

from __future__ import annotations

import gc
import sys

from becbo.extras import MissingExtra, needed_extras


def main() -> None:
    """Runs the command line; without its packages, says what to install."""
    # Starting makes many objects that all stay: to search them for garbage takes 0.1 s.
    gc.set_threshold(100_000)
    try:
        with needed_extras():
            from becbo.cli import main as command_line
    except MissingExtra as error:
        sys.exit(f"error: {error}")
    command_line()


if __name__ == "__main__":
    main()
