"""Where the command `becbo` begins, also as `python -m becbo`."""

from __future__ import annotations

import sys

from becbo.extras import MissingExtra, needed_extras


def main() -> None:
    """Runs the command line; without its packages, says what to install."""
    try:
        with needed_extras():
            from becbo.cli import main as command_line
    except MissingExtra as error:
        sys.exit(f"error: {error}")
    command_line()


if __name__ == "__main__":
    main()
