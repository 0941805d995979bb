"""Which trials are alive: workers give signs of life, and whoever looks notices silence.

Nobody compares clocks. A trial is silent if its last sign of life, or that it has none, has not
changed while this process has been watching. So it does not matter when a worker died, and nobody
is taken for dead because the storage was away or this process was suspended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage

from becbo.optuna.breakage import BREAKAGE
from becbo.optuna.internals import heartbeat_of
from becbo.optuna.outcomes import SILENT

# Seconds until the next attempt to give a sign of life that the storage did not take.
_SOON = 1.0


class Watch:
    """Notices which trials of a study have been silent for too long.

    Args:
        grace: seconds of silence after which a trial is taken for lost.
        clock: gives the time in seconds.
    """

    def __init__(self, grace: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._grace, self._clock = grace, clock
        self._looked: float | None = None
        self._silences: dict[int, tuple[Any, float]] = {}  # trial -> its last sign, seconds since

    def silent(self, signs: Mapping[int, Any]) -> list[int]:
        """The trials that have been silent for too long.

        Args:
            signs: running trial -> its last sign of life, whatever that is; None: there is none.
        """
        now = self._clock()
        # Of a time in which nobody looked only a part counts: perhaps the storage was away, or all
        # processes were suspended, and the others are about to give a sign.
        passed = 0.0 if self._looked is None else min(now - self._looked, self._grace / 2)
        self._looked = now
        before, self._silences = self._silences, {}
        for trial, sign in signs.items():
            last, silence = before.get(trial, (sign, -passed))
            self._silences[trial] = sign, silence + passed if last == sign else 0.0
        return [t for t, (_, silence) in self._silences.items() if silence >= self._grace]


class Watches:
    """A watch for each study of a storage.

    Args:
        grace: seconds of silence after which a trial is taken for lost.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._by_study: dict[int, Watch] = {}

    def note_silent(
        self, storage: BaseStorage, study_id: int, signs: Mapping[int, Any]
    ) -> list[int]:
        """The ids of trials that have been silent for too long, each of which says so from now on.

        Args:
            storage: where the study is stored.
            study_id: the study.
            signs: id of a running trial -> its last sign of life.
        """
        noted = []
        for trial_id in self._by_study.setdefault(study_id, Watch(self._grace)).silent(signs):
            with suppress(UpdateFinishedTrialError):  # it has just ended
                storage.set_trial_system_attr(trial_id, SILENT, True)
                noted.append(trial_id)
        return noted


@contextmanager
def alive(storage: BaseStorage, trial_id: int) -> Iterator[None]:
    """Gives signs of life of a trial, from a thread, where the storage keeps them.

    Args:
        storage: that of the study.
        trial_id: the id of the trial in the storage.
    """
    heartbeat = heartbeat_of(storage)
    if heartbeat is None:
        yield
        return
    interval, record = heartbeat
    ended = threading.Event()

    def beat() -> None:
        pause = 0.0
        while not ended.wait(pause):
            try:
                record(trial_id)
                pause = interval
            except BREAKAGE:  # whoever stores the result says so; the next sign may pass
                pause = min(_SOON, interval)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
