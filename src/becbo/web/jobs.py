"""Work in the background: other processes compute, the server goes on answering.

Processes and not threads, because a proposal computes for seconds and Python runs one thread at a
time.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

from becbo.errors import BecboError
from becbo.web import work

N_WORKERS = 2
MAX_JOBS = 20

P = ParamSpec("P")
T = TypeVar("T")

_logger = logging.getLogger(__name__)


class Busy(BecboError):
    """More was asked for than is under way already."""


class WorkFailed(BecboError):
    """The work came to no end, and it is not the caller's fault."""


@dataclass(eq=False)
class Job:
    """Experiments that are being worked out."""

    campaign: str
    q: int
    n_done: int = 0
    error: str = ""


class Jobs:
    """Runs work in processes of its own."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._pool: ProcessPoolExecutor | None = None
        self._jobs: list[Job] = []
        self._tasks: set[asyncio.Task[Any]] = set()  # the event loop itself forgets them
        self._lessons: dict[str, tuple[str, asyncio.Task[work.Learned]]] = {}

    def suggest(self, campaign: str, q: int) -> asyncio.Task[list[int]]:
        """Starts to work out q experiments; the task ends with their numbers."""
        if sum(not job.error for job in self._jobs) >= MAX_JOBS:
            raise Busy("Enough is being worked out already; wait until some of it is done.")
        # A new try makes the error of an old one disappear.
        self._jobs = [job for job in self._jobs if job.campaign != campaign or not job.error]
        job = Job(campaign, q)
        self._jobs.append(job)
        return self._keep(self._suggest(job))

    async def _suggest(self, job: Job) -> list[int]:
        numbers = []
        try:
            # One by one: each sees the ones before it as pending, and progress can be shown.
            for _ in range(job.q):
                numbers.append(await self._run(work.propose, self._where, job.campaign))
                job.n_done += 1
        except BecboError as error:
            job.error = str(error)
            raise
        self._jobs.remove(job)
        return numbers

    def of(self, campaign: str) -> list[Job]:
        """What is under way for a campaign, and what went wrong last, as it is now."""
        jobs = self._jobs.copy()  # other threads ask, and jobs end meanwhile
        return [replace(job) for job in jobs if job.campaign == campaign]

    async def predict(self, campaign: str, designs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the models say about designs."""
        return await self._run(work.predict, self._where, campaign, designs)

    async def learned(self, campaign: str, state: str) -> tuple[str, work.Learned]:
        """What a campaign has taught, and the state of its runs at that time.

        While an older state is being worked out, that one comes: whoever looks asks again when the
        state has changed, and many who look cause one computation.
        """
        known, task = self._lessons.get(campaign, ("", None))
        if task is None or (task.done() and (known != state or task.exception())):
            known, task = state, self._keep(self._run(work.learn, self._where, campaign))
            self._lessons[campaign] = known, task
        return known, await asyncio.shield(task)

    def close(self) -> None:
        """Waits for the work under way and starts no more."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                N_WORKERS, multiprocessing.get_context("spawn"), initializer=work.begin
            )
        pool = self._pool
        try:
            return await asyncio.wrap_future(pool.submit(function, *args, **kwargs))
        except BecboError:
            raise
        except BrokenProcessPool as error:  # somebody killed the process, or memory was short
            if self._pool is pool:
                self._pool = None
            raise WorkFailed("The process that worked it out has died; try again.") from error
        except Exception as error:
            _logger.exception("a worker process raised this")
            raise WorkFailed("It could not be worked out; the server's log says why.") from error

    def _keep(self, coroutine: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked has been told, or sees it in the job
