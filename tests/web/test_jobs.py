"""Work in the background: shared, bounded, and honest when it fails."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from becbo.errors import InvalidInput
from becbo.report.html import Sections
from becbo.web import jobs as jobs_module
from becbo.web import tasks
from becbo.web.jobs import MAX_JOBS, Busy, Jobs, WorkFailed


class Workers(Jobs):
    """Answers at once, in this process, what it was told to."""

    def __init__(self) -> None:
        super().__init__("lab.db", str)
        self.asked: list[Any] = []
        self.answers: dict[Any, Any] = {}
        self.gate = asyncio.Event()

    async def _run(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(function)
        await self.gate.wait()
        await asyncio.sleep(0)  # as while a process computes: others get their turn
        answer = self.answers[function]
        if isinstance(answer, Exception):
            raise answer
        return next(answer) if isinstance(answer, Iterator) else answer


def insight(content: str) -> tasks.RenderedInsight:
    return tasks.RenderedInsight(Sections(content, None), {})


def test_progress_and_the_end_of_a_job() -> None:
    async def play() -> None:
        jobs = Workers()
        jobs.answers[tasks.suggest_one] = iter([5, 6])
        task = jobs.suggest("coating", 2)
        await asyncio.sleep(0)
        (job,) = jobs.of("coating")
        assert (job.q, job.n_done, job.error) == (2, 0, "")
        assert jobs.of("another") == []
        jobs.gate.set()
        assert await task == [5, 6]
        assert jobs.of("coating") == []

    asyncio.run(play())


def test_an_error_stays_until_the_next_try() -> None:
    async def play() -> None:
        jobs = Workers()
        jobs.gate.set()
        jobs.answers[tasks.suggest_one] = InvalidInput("the space is used up")
        with pytest.raises(InvalidInput):
            await jobs.suggest("coating", 1)
        assert [job.error for job in jobs.of("coating")] == ["the space is used up"]
        jobs.answers[tasks.suggest_one] = iter([5])
        await jobs.suggest("coating", 1)
        assert jobs.of("coating") == []

    asyncio.run(play())


def test_suggestions_that_were_made_are_told_though_the_next_is_refused() -> None:
    async def play() -> None:
        jobs = Workers()
        jobs.gate.set()

        def answers() -> Iterator[int]:
            yield from (5, 6)
            raise InvalidInput("the budget of failures allows no more")

        jobs.answers[tasks.suggest_one] = answers()
        assert await jobs.suggest("coating", 5) == [5, 6]
        (job,) = jobs.of("coating")
        assert (job.q, job.n_done, job.error) == (5, 2, "the budget of failures allows no more")

    asyncio.run(play())


def test_there_is_an_end_to_what_can_be_asked_for() -> None:
    async def play() -> None:
        jobs = Workers()
        jobs.answers[tasks.suggest_one] = iter(range(MAX_JOBS))
        started = [jobs.suggest("coating", 1) for _ in range(MAX_JOBS)]
        with pytest.raises(Busy, match="ask again when"):
            jobs.suggest("another", 1)
        assert {job.n_others for job in jobs.of("coating")} == {MAX_JOBS - 1}
        jobs.gate.set()
        await asyncio.gather(*started)
        jobs.answers[tasks.suggest_one] = iter([1])
        assert await jobs.suggest("another", 1) == [1]

    asyncio.run(play())


def test_a_large_request_does_not_hold_up_a_small_one() -> None:
    async def play() -> None:
        jobs = Workers()
        jobs.answers[tasks.suggest_one] = iter(range(21))
        large, small = jobs.suggest("coating", 20), jobs.suggest("another", 1)
        jobs.gate.set()
        assert max(await small) < 3
        assert len(await large) == 20

    asyncio.run(play())


def test_many_who_look_cause_one_computation() -> None:
    async def play() -> None:
        jobs = Workers()
        first, second = insight("first"), insight("second")
        jobs.answers[tasks.render_insight] = first
        looks = [asyncio.create_task(jobs.insight("coating", state)) for state in "aa"]
        await asyncio.sleep(0)
        jobs.gate.set()
        assert await asyncio.gather(*looks) == [("a", first)] * 2
        assert await jobs.insight("coating", "a") == ("a", first)
        assert len(jobs.asked) == 1
        jobs.answers[tasks.render_insight] = second
        assert await jobs.insight("coating", "b") == ("b", second)
        jobs.answers[tasks.render_insight] = WorkFailed("no memory")
        for _ in range(2):  # what failed is tried again
            with pytest.raises(WorkFailed):
                await jobs.insight("coating", "c")
        assert len(jobs.asked) == 4

    asyncio.run(play())


def test_nobody_gets_an_insight_that_was_begun_before_they_asked() -> None:
    async def play() -> None:
        jobs = Workers()
        old, new = insight("old"), insight("new")
        jobs.answers[tasks.render_insight] = iter([old, new])
        looks = [asyncio.create_task(jobs.insight("coating", state)) for state in "abb"]
        await asyncio.sleep(0)
        jobs.gate.set()
        assert await asyncio.gather(*looks) == [("a", old), ("b", new), ("b", new)]
        assert len(jobs.asked) == 2

    asyncio.run(play())


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "none.db")

    async def play() -> None:
        jobs = Jobs("lab.db", str)
        with pytest.raises(WorkFailed, match="has died; try again"):
            await jobs._run(os._exit, 9)
        with pytest.raises(InvalidInput, match="there is no file"):  # the next one lives
            await jobs._run(tasks.suggest_one, nowhere, "coating")
        jobs.close()

    asyncio.run(play())


LINE = {"name": "x", "parameters": {"a": {"low": 0, "high": 1}}}
OWN = {"believed": None, "origin": "user", "note": None, "outcome": "ok", "reason": None}
MANY = [{**OWN, "params": {"a": i / 400}, "values": {"value": i % 7}} for i in range(400)]
LONG: Any = (LINE, MANY, 50)


def test_a_worker_ends_what_takes_too_long_and_takes_the_next() -> None:
    async def play() -> None:
        jobs = Jobs("lab.db", str)
        with pytest.raises(TimeoutError):
            await jobs._run(tasks.suggest_for, *LONG, time.monotonic())
        (design,) = await jobs.suggest_for(LONG[0], [], 1)
        assert design["origin"] == "initial design"
        jobs.close()

    asyncio.run(play())


def test_who_waits_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        jobs = Jobs("lab.db", str)
        with pytest.raises(WorkFailed, match="took more than 0 s; ask for fewer"):
            await jobs.suggest_for(*LONG)
        jobs.close()

    monkeypatch.setattr(jobs_module, "MAX_SECONDS", 0)
    asyncio.run(play())
