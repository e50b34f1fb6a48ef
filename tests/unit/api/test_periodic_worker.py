"""The loop of background work: it goes on after exceptions and outages, drains at its end, and always ends in time."""

import asyncio

from structlog.testing import capture_logs

from api.background.tasks import StopDeadline
from api.background.workers import BEGIN_SECONDS, PeriodicWorker, running
from store.connection.errors import StoreUnavailable
from tests.support.api.hanging import Hanging, ignore_cancellation


async def test_an_exception_or_an_outage_is_logged_and_does_not_end_the_work() -> None:
    runs = 0
    done = asyncio.Event()

    async def work() -> float:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise ZeroDivisionError
        if runs <= 3:
            raise StoreUnavailable("gone")
        done.set()
        return 3600.0

    with capture_logs() as logs:
        worker = PeriodicWorker("test", work, retry_seconds=0.01)
        async with running(worker):
            await asyncio.wait_for(done.wait(), 30)
            worker.wake()
    assert [entry["log_level"] for entry in logs] == ["error", "warning", "info"]
    assert {entry["work"] for entry in logs} == {"test"}


async def test_a_run_knows_whether_it_was_woken() -> None:
    woken: list[bool] = []
    ran = asyncio.Event()

    async def work() -> float:
        woken.append(worker.was_woken)
        ran.set()
        return 3600.0

    worker = PeriodicWorker("test", work)
    async with running(worker):
        await asyncio.wait_for(ran.wait(), 30)
        ran.clear()
        worker.wake()
        await asyncio.wait_for(ran.wait(), 30)
    assert woken == [False, True]


async def test_workers_begin_one_after_the_other_and_at_once_where_they_are_woken() -> None:
    began: list[str] = []
    all_began, released = asyncio.Event(), asyncio.Event()

    def worker_of(name: str) -> PeriodicWorker:
        async def work() -> float:
            began.append(name)
            if len(began) == 4:
                all_began.set()
            await released.wait()  # one that hangs holds up no other
            return 3600.0

        return PeriodicWorker(name, work)

    workers = [worker_of(name) for name in ("first", "second", "third", "woken")]
    async with running(*workers):
        workers[-1].wake()
        await asyncio.sleep(BEGIN_SECONDS / 4)
        assert sorted(began) == ["first", "woken"]
        await asyncio.wait_for(all_began.wait(), 30)
        assert began[2:] == ["second", "third"]
        released.set()


async def test_work_that_arrives_at_the_end_is_drained() -> None:
    waiting = ["a"]
    published: list[str] = []
    ran = asyncio.Event()

    async def work() -> float:
        published.extend(waiting)
        waiting.clear()
        ran.set()
        return 3600.0

    async with running(PeriodicWorker("test", work, drain=True)):
        await ran.wait()
        waiting.append("b")
    assert published == ["a", "b"]


async def test_a_late_run_is_cancelled_and_its_cleanup_awaited() -> None:
    started, cleaned_up = asyncio.Event(), False

    async def work() -> float:
        nonlocal cleaned_up
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)  # as a transaction rolls back
            cleaned_up = True
        return 0.0

    async with running(PeriodicWorker("test", work), stop=StopDeadline(0.01)):
        await started.wait()
    assert cleaned_up


async def test_workers_that_hang_end_together_and_not_one_after_the_other() -> None:
    hang = Hanging()
    async with running(*(PeriodicWorker("test", hang) for _ in range(4)), stop=StopDeadline(0.5)):
        for _ in range(4):
            await hang.started.get()
    assert max(hang.cancelled_at) - min(hang.cancelled_at) < 0.5


async def test_what_ends_one_after_the_other_shares_one_deadline() -> None:
    hang, stop = Hanging(), StopDeadline(0.5, 0.5)
    async with asyncio.timeout(8):
        for _ in range(10):
            assert len(await stop.finish({asyncio.create_task(hang())})) == 1
        for _ in range(10):
            assert not await stop.close(hang.release, hang.release)
    assert len(hang.cancelled_at) == 30


async def test_what_was_held_is_given_back_after_work_that_was_late() -> None:
    hang, stop, given_back = Hanging(), StopDeadline(0.01), list[str]()

    async def give_back() -> None:
        await asyncio.sleep(0.1)
        given_back.append("a lease")

    async def fail() -> None:
        raise StoreUnavailable("gone")

    assert len(await stop.finish({asyncio.create_task(hang())})) == 1
    assert await stop.close(give_back)
    assert not await stop.close(give_back, fail)
    assert given_back == ["a lease"] * 2


async def test_a_task_that_refuses_to_end_holds_the_end_up_for_a_bounded_time() -> None:
    released = asyncio.Event()
    task = asyncio.create_task(ignore_cancellation(released))
    await asyncio.sleep(0)
    with capture_logs() as logs:
        async with asyncio.timeout(30):
            assert await StopDeadline(0.01, 0.01).finish({task}) == {task}
    assert [entry["event"] for entry in logs] == ["background work does not end; report it"]
    released.set()
    await task
    assert await StopDeadline(0.01).finish(set()) == set()
