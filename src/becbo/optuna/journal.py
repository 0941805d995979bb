"""Optuna's journal for many processes at once: signs of life, and no half records.

A full disk or a power cut leaves the beginning of a record at the end of the file. The next record
would be appended to it, and Optuna could read neither them nor anything behind.
"""

from __future__ import annotations

import json
import logging
import operator
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import FrozenTrial, TrialState

from becbo.optuna.internals import Heartbeat, trial_id_of
from becbo.optuna.liveness import Watches
from becbo.optuna.repeats import requeue_lost

ALIVE = "becbo:alive"  # system attribute of a running trial: its last sign of life

# Seconds after which a lock on the file is taken from whoever holds it. Records are short.
_LEASE = 10
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would change ends of lines
# How Optuna begins a record.
_START = b'{"op_code"'
# Bytes that are read at once in search of the end of the last whole record.
_CHUNK = 65536

_logger = logging.getLogger(__name__)


class SharedJournal(JournalStorage, Heartbeat):
    """A journal with signs of life of its trials.

    Args:
        file: the file.
        heartbeat: seconds between two signs of life; None: there are none.
        grace: seconds of silence after which a trial is taken for lost.
    """

    def __init__(self, file: JournalFile, heartbeat: int | None, grace: int) -> None:
        super().__init__(file)
        self._heartbeat, self._watches = heartbeat, Watches(grace)

    def record_heartbeat(self, trial_id: int) -> None:
        """Gives a sign of life of a trial."""
        with suppress(UpdateFinishedTrialError):  # nobody waits for it any more
            self.set_trial_system_attr(trial_id, ALIVE, time.time())

    def _get_stale_trial_ids(self, study_id: int) -> list[int]:
        running = self.get_all_trials(study_id, deepcopy=False, states=(TrialState.RUNNING,))
        signs = {trial_id_of(trial): trial.system_attrs.get(ALIVE) for trial in running}
        return self._watches.note_silent(self, study_id, signs)

    def get_heartbeat_interval(self) -> int | None:
        """Seconds between two signs of life."""
        return self._heartbeat

    def get_heartbeat_stale_trial_callback(self) -> Callable[[optuna.Study, FrozenTrial], None]:
        """What is done with a trial that was silent for too long."""
        return requeue_lost


class JournalFile(JournalFileBackend):
    """A file in which every line is a whole record.

    Args:
        path: the file, which is created if it does not exist.

    Raises:
        StorageInternalError: the file cannot be used.
        ValueError, KeyError, TypeError: it holds something else than a journal.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._guard = path, _FileLock(path)
        try:
            super().__init__(str(path), self._guard)
            with path.open("rb") as file:
                first = file.readline()
        except OSError as error:
            raise _unusable(path) from error
        # Optuna would append to any file.
        if first.endswith(b"\n"):
            json.loads(_sound_part(first))["op_code"]
        elif not _START.startswith(first[: len(_START)]):
            raise ValueError(f"{path} does not begin with a record")

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        """The records from a number on."""
        number = log_number_from
        try:
            for log in super().read_logs(number):
                number += 1
                yield log
        except OSError as error:
            raise _unusable(self._path) from error
        except ValueError as error:
            if not self._mend():
                raise _unusable(self._path) from error
            yield from super().read_logs(number)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Appends records, all or none of them."""
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        try:
            with self._guard.held():
                file = os.open(self._path, os.O_RDWR | os.O_APPEND | _BINARY)
                try:
                    _mend_end(file, self._path)
                    _append(file, text.encode())
                finally:
                    os.close(file)
        except OSError as error:
            raise _unusable(self._path) from error

    def _mend(self) -> bool:
        """Takes out half records to which another program has appended whole ones."""
        with self._guard.held():
            lines = self._path.read_bytes().splitlines(keepends=True)
            sound = [_sound_part(line) for line in lines[:-1]] + lines[-1:]
            n_half = sum(map(operator.ne, sound, lines))
            if n_half:
                kept = self._path.with_name(f"{self._path.name}.damaged")
                shutil.copy2(self._path, kept)
                mended = self._path.with_name(f"{self._path.name}.mended")
                mended.write_bytes(b"".join(sound))
                os.replace(mended, self._path)
                _logger.error(
                    f"{self._path} had {n_half} half records, which a full disk or a crash leaves; "
                    f"they were taken out. The file as it was is {kept}"
                )
        return bool(n_half)


def _append(file: int, data: bytes) -> None:
    """Appends to an open file; if that fails, the file ends where it did."""
    end, written = os.fstat(file).st_size, 0
    try:
        while written < len(data):
            written += os.write(file, data[written:])
        os.fsync(file)
    except OSError:
        if os.fstat(file).st_size == end + written:  # else somebody took over the lock
            os.ftruncate(file, end)
        raise


def _mend_end(file: int, path: Path) -> None:
    """Cuts half a record off the end of an open file."""
    size = os.fstat(file).st_size
    line = _last_line(file, size)
    sound = _sound_part(line) if line.endswith(b"\n") else b""
    if sound == line:
        return
    kept = path.with_name(f"{path.name}.cut")
    try:
        with kept.open("ab") as copy:
            copy.write(line)
        where = f"they are kept in {kept}"
    except OSError as error:
        where = f"they could not be kept: {error.strerror}"
    os.ftruncate(file, size - len(line))
    _append(file, sound)
    _logger.error(
        f"{path} ended in half a record, which a full disk or a crash leaves; its "
        f"{len(line) - len(sound)} bytes were cut off, {where}"
    )


def _last_line(file: int, size: int) -> bytes:
    """What is behind the last but one end of a line in an open file."""
    start, tail = size, b""
    while start > 0 and b"\n" not in tail[:-1]:
        start = max(0, start - _CHUNK)
        os.lseek(file, start, os.SEEK_SET)
        tail = os.read(file, size - start)
    return tail[tail.rfind(b"\n", 0, -1) + 1 :]


def _sound_part(line: bytes) -> bytes:
    """The whole record in a line, without a half record before it; nothing if there is none."""
    for start in [0, *(found.start() for found in re.finditer(re.escape(_START), line))]:
        with suppress(ValueError):
            json.loads(line[start:])
            return line[start:]
    return b""


def _unusable(path: Path) -> StorageInternalError:
    return StorageInternalError(f"{path} cannot be used")


class _FileLock(JournalFileOpenLock):
    """Optuna's lock, which does not release what somebody else has taken over."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), grace_period=_LEASE)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the lock."""
        self.acquire()
        mine = os.stat(self._lock_file)
        try:
            yield
        finally:
            with suppress(FileNotFoundError, RuntimeError):
                if os.path.samestat(mine, os.stat(self._lock_file)):
                    self.release()
