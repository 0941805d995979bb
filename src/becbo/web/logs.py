"""The log of the server: what repeats itself is counted, not written again and again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

WINDOW = 60.0  # seconds
MAX_LINES = 10  # of one kind within the window
MAX_KINDS = 1000  # that are remembered


def configure_logs() -> None:
    """Sends all logs of this process to stderr, at a limited rate."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RateLimit())
    logging.getLogger().addHandler(handler)


class RateLimit(logging.Filter):
    """Lets ten lines of one kind through within a minute, then says how many more there were.

    Args:
        clock: The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # kind -> begin, count

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        now, kind = self._clock(), (record.name, str(record.msg)[:40])
        with self._lock:
            begin, count = self._seen.get(kind, (now, 0))
            if now - begin >= WINDOW:
                if count > MAX_LINES:
                    record.msg = f"{record.msg} (and {count - MAX_LINES} more like this before)"
                begin, count = now, 0
            if len(self._seen) >= MAX_KINDS:
                self._seen.clear()
            self._seen[kind] = begin, count + 1
        return count < MAX_LINES
