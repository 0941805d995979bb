"""Work in the background: other processes compute, the server goes on answering.

Processes and not threads, because a proposal computes for seconds and Python runs one thread at a
time.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

from becbo.errors import BecboError
from becbo.web import tasks

N_WORKERS = 2
MAX_JOBS = 100  # that take turns, one suggestion each
MAX_SECONDS = 120  # for designs whose history the caller keeps

P = ParamSpec("P")
T = TypeVar("T")

_logger = logging.getLogger(__name__)


class Busy(BecboError):
    """Too many jobs are under way already."""


class WorkFailed(BecboError):
    """A job failed, and it is not the caller's fault."""


@dataclass(eq=False)
class SuggestionJob:
    """Suggestions that are being computed.

    Attributes:
        campaign: The campaign.
        q: How many.
        n_done: How many of them are there already.
        n_others: How many jobs it takes turns with, one suggestion each.
        error: Why there are no more than those that are done, if it has failed.
        state: That of the campaign when it failed, once it is known; the reason may be gone when
            it has changed.
    """

    campaign: str
    q: int
    n_done: int = 0
    n_others: int = 0
    error: str = ""
    state: str = ""


class Jobs:
    """Runs jobs in worker processes.

    Args:
        where: The file or database of the campaigns.
        state: A text that changes with a campaign, given its name.
    """

    def __init__(self, where: str, state: Callable[[str], str]) -> None:
        self._where = where
        self._state = state
        self._pool: ProcessPoolExecutor | None = None
        self._jobs: list[SuggestionJob] = []
        self._n_stateless = 0  # suggestions under way whose history the caller keeps
        self._tasks: set[asyncio.Task[Any]] = set()  # the event loop itself forgets them
        self._insights: dict[str, tuple[str, asyncio.Task[tasks.RenderedInsight]]] = {}

    def suggest(self, campaign: str, q: int) -> asyncio.Task[list[int]]:
        """Starts to compute q suggestions; the task returns the numbers of their runs.

        They are fewer if the next one is refused, as by a budget of failures; the job says why. It
        is an error only if there are none.
        """
        if sum(not job.error for job in self._jobs) >= MAX_JOBS:
            raise Busy(_busy())
        # A new attempt clears the error of an earlier one.
        self._jobs = [job for job in self._jobs if job.campaign != campaign or not job.error]
        job = SuggestionJob(campaign, q)
        self._jobs.append(job)
        return self._keep(self._suggest(job))

    async def _suggest(self, job: SuggestionJob) -> list[int]:
        numbers = []
        try:
            # One by one: each sees the ones before it as pending, and progress can be shown.
            for _ in range(job.q):
                numbers.append(await self._run(tasks.suggest_one, self._where, job.campaign))
                job.n_done += 1
        except BecboError as error:
            job.error = str(error)  # first: the job is over, whatever comes next
            job.state = await asyncio.to_thread(self._state, job.campaign)
            if not numbers:
                raise
        else:
            self._jobs.remove(job)
        return numbers

    def of(self, campaign: str) -> list[SuggestionJob]:
        """Copies of the jobs of a campaign: those under way, and the last one that failed."""
        jobs = self._jobs.copy()  # other threads ask, and jobs end meanwhile
        n_others = sum(not job.error for job in jobs) - 1
        return [replace(job, n_others=n_others) for job in jobs if job.campaign == campaign]

    async def predict(self, campaign: str, designs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the models predict for designs."""
        return await self._run(tasks.predict, self._where, campaign, designs)

    async def what_if(self, campaign: str, params: dict[str, Any]) -> dict[str, Any]:
        """What is known about a design of one's own."""
        return await self._run(tasks.what_if, self._where, campaign, params)

    async def maps(self, campaign: str, number: int) -> str:
        """Maps through the design of a run."""
        return await self._run(tasks.render_maps, self._where, campaign, number)

    async def outlook(self, campaign: str, margin: float | None) -> dict[str, Any]:
        """What more experiments of a campaign may bring."""
        return await self._run(tasks.outlook, self._where, campaign, margin)

    async def suggest_for(
        self, description: dict[str, Any], history: list[dict[str, Any]], q: int
    ) -> list[dict[str, Any]]:
        """The next designs after a history that the caller keeps.

        Raises:
            Busy: too many are being computed already.
            WorkFailed: it took too long.
        """
        if self._n_stateless >= MAX_JOBS:
            raise Busy(_busy())
        self._n_stateless += 1
        try:
            # The worker ends in time as well: others are waiting for it.
            deadline = time.monotonic() + MAX_SECONDS
            work = self._run(tasks.suggest_for, description, history, q, deadline)
            return await asyncio.wait_for(work, MAX_SECONDS)
        except TimeoutError:
            raise WorkFailed(
                f"The computation took more than {MAX_SECONDS} s; ask for fewer designs at once."
            ) from None
        finally:
            self._n_stateless -= 1

    async def insight(self, campaign: str, state: str) -> tuple[str, tasks.RenderedInsight]:
        """What a campaign has taught, and the state of its runs at that time or later.

        What was begun before the caller asked may lack what the caller knows, so it is waited for
        and computed anew, once for all who wait.
        """
        known, task = self._insights.get(campaign, ("", None))
        if task is not None and not task.done() and known != state:
            await asyncio.wait([task])
            before, (known, task) = task, self._insights[campaign]
            if task is not before:  # somebody else who waited has begun it
                return known, await asyncio.shield(task)
        if task is None or (task.done() and (known != state or task.exception())):
            known, task = state, self._keep(self._run(tasks.render_insight, self._where, campaign))
            self._insights[campaign] = known, task
        return known, await asyncio.shield(task)

    def close(self) -> None:
        """Waits for the jobs under way and starts no more."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                N_WORKERS, multiprocessing.get_context("spawn"), initializer=tasks.initialize_worker
            )
        pool = self._pool
        try:
            return await asyncio.wrap_future(pool.submit(function, *args, **kwargs))
        except (BecboError, TimeoutError):
            raise
        except BrokenProcessPool as error:  # somebody killed the process, or memory was short
            if self._pool is pool:
                self._pool = None
            raise WorkFailed("The worker process has died; try again.") from error
        except Exception as error:
            _logger.exception("a worker process raised this")
            raise WorkFailed("The computation failed; the server's log says why.") from error

    def _keep(self, coroutine: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # the caller gets it, or sees it in the job


def _busy() -> str:
    return f"{MAX_JOBS} suggestions are being computed already; ask again when some are done."
