"""Background tasks end with their owner."""

import asyncio
import gc
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.background.coalescing import CoalescedRuns, SingleFlight, Waiters
from api.background.failing_rows import backoff_seconds
from api.background.tasks import BackgroundTasks, StopDeadline, gather_or_cancel
from api.errors import ApiError
from store.connection.errors import StoreUnavailable
from tests.support.api.hanging import ignore_cancellation


async def test_closing_waits_for_tasks_and_cancels_those_that_are_late() -> None:
    tasks = BackgroundTasks()
    soon = tasks.start(asyncio.sleep(0.01, "done"))
    never = tasks.start(asyncio.sleep(60))
    await tasks.close(StopDeadline(0.1))
    assert soon.result() == "done"
    assert never.cancelled()
    await tasks.close()  # a second time there is nothing left to do


async def test_closing_waits_also_for_tasks_that_are_started_meanwhile() -> None:
    tasks, ended = BackgroundTasks(), list[str]()

    async def second() -> None:
        await asyncio.sleep(0.01)
        ended.append("second")

    async def first() -> None:
        await asyncio.sleep(0.01)
        tasks.start(second())

    tasks.start(first())
    await tasks.close(StopDeadline(30))
    assert ended == ["second"]


async def test_closing_ends_in_time_though_a_task_ignores_that_it_is_cancelled() -> None:
    released = asyncio.Event()
    tasks = BackgroundTasks()
    task = tasks.start(ignore_cancellation(released))
    await asyncio.sleep(0)
    with capture_logs() as logs:
        async with asyncio.timeout(30):
            await tasks.close(StopDeadline(0.01, 0.01))
    assert [entry["event"] for entry in logs] == ["background work does not end; report it"]
    released.set()
    await task


@pytest.mark.parametrize(
    ("error", "is_logged"),
    [(ValueError("a bug"), True), (ApiError("search_unavailable"), False), (StoreUnavailable("gone"), False)],
)
async def test_an_error_that_nobody_waits_for_is_logged_unless_it_is_an_outage(
    error: Exception, is_logged: bool
) -> None:
    async def work() -> None:
        raise error

    tasks = BackgroundTasks()
    with capture_logs() as logs:
        tasks.start(work())
        await tasks.close()
    assert [(entry["event"], entry["exc_info"]) for entry in logs] == (
        [("a background task failed; report it", error)] if is_logged else []
    )
    assert all(entry["task"].endswith("work") for entry in logs)


async def test_an_error_is_raised_to_those_who_wait_and_to_nobody_else() -> None:
    unseen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))

    async def fail() -> None:
        message = "a bug"
        raise ValueError(message)

    tasks = BackgroundTasks()
    with pytest.raises(ValueError, match="a bug"):
        await tasks.start(fail())
    tasks.start(fail())
    await tasks.close()
    gc.collect()
    await asyncio.sleep(0)
    assert unseen == []


async def test_a_single_flight_gives_its_result_though_another_run_begins_before_its_caller_wakes() -> None:
    tasks, runs, others = BackgroundTasks(), iter(range(2)), list[asyncio.Task[Any]]()

    def call_again() -> None:
        others.append(asyncio.create_task(flight.result(1, ValueError)))

    async def work() -> int:
        await asyncio.sleep(0)
        if not others:
            asyncio.get_running_loop().call_soon(call_again)  # runs when this one is done, before its caller wakes
        return next(runs)

    flight = SingleFlight(tasks, work)
    assert await flight.result(1, ValueError) == 0
    assert await others[0] == 1
    await tasks.close()


async def test_coalesced_runs_serve_all_who_call_before_one_begins_and_nobody_who_calls_later() -> None:
    started = [asyncio.Event(), asyncio.Event()]
    end = asyncio.Event()
    runs: list[int] = []

    async def work() -> int:
        runs.append(len(runs))
        number = runs[-1]
        started[number].set()
        await end.wait()
        return number

    tasks = BackgroundTasks()
    coalesced = CoalescedRuns(tasks, work)
    first = [asyncio.create_task(coalesced.result()) for _ in range(3)]
    await started[0].wait()
    later = [asyncio.create_task(coalesced.result()) for _ in range(3)]
    await asyncio.sleep(0)
    later[0].cancel()  # one goes away
    end.set()
    assert await asyncio.gather(*first) == [0, 0, 0]
    assert await asyncio.gather(*later[1:]) == [1, 1]
    assert runs == [0, 1]
    await tasks.close()


async def test_a_failed_run_fails_for_all_its_callers_and_the_next_one_begins_anew() -> None:
    results: list[Exception | str] = [ValueError("away"), "back"]

    async def work() -> str:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    coalesced = CoalescedRuns(BackgroundTasks(), work)
    failed = await asyncio.gather(coalesced.result(), coalesced.result(), return_exceptions=True)
    assert [str(error) for error in failed] == ["away", "away"]
    assert await coalesced.result() == "back"


async def test_waiters_wait_for_the_moment_or_their_own_time() -> None:
    waiters = Waiters()
    await waiters.wait(0.01)
    long, ended = asyncio.create_task(waiters.wait(60)), asyncio.create_task(waiters.wait(60))
    await asyncio.sleep(0)
    ended.cancel()
    waiters.wake()
    waiters.wake()  # before those who were woken have gone
    await long
    assert ended.cancelled()
    later = asyncio.create_task(waiters.wait(60))
    await asyncio.sleep(0)
    assert not later.done()
    waiters.wake()
    await later


def test_retries_wait_longer_each_time_but_never_long() -> None:
    assert [backoff_seconds(0.25, failures, 2.0) for failures in (1, 2, 3, 4, 5)] == [0.25, 0.5, 1.0, 2.0, 2.0]
    assert backoff_seconds(0.25, 10_000, 2.0) == 2.0
    assert backoff_seconds(0.25, 10_000, 1e9) == 256.0


async def test_work_done_at_the_same_time_ends_together() -> None:
    assert await gather_or_cancel(asyncio.sleep(0.01, 1), asyncio.sleep(0, 2)) == [1, 2]
    ended = list[str]()

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("slow")

    async def failing() -> None:
        await asyncio.sleep(0.01)
        raise ApiError("search_unavailable")

    with pytest.raises(ApiError):
        await gather_or_cancel(slow(), failing())
    assert ended == ["slow"]
