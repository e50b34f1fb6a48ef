"""Faults of callbacks: receivers of every kind of bad behaviour, dispatchers that die, databases that go away."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection
from structlog.testing import capture_logs

from api.webhooks import dispatcher, limits
from api.webhooks.payload import message_id
from api.webhooks.sender import Sender
from store.connection.engine import Store
from store.outbox import attempts, deliveries
from store.outbox.attempts import FinishedAttempt
from store.records import Attempt
from tests.support.api.waiting import until
from tests.support.orders.desk import QUICK, Desk, desk_at, dispatching
from tests.support.services import receiver as behaviours
from tests.support.services.receiver import Behaviour, Received, Receiver, responses, says
from tests.support.store.postgres import Postgres

OUTAGE = "background work waits for an outage to end"


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (behaviours.hangs, ("timeout", None)),
        (behaviours.drips, ("timeout", None)),
        (behaviours.resets, ("unreachable", None)),
        (behaviours.floods_its_head, ("unreachable", None)),
        (says(b"SSH-2.0-OpenSSH_9.7\r\n"), ("unreachable", None)),
        (says(b""), ("unreachable", None)),
        (says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"), ("unreachable", None)),
        (responses(500), ("rejected", 500)),
        (responses(404), ("rejected", 404)),
        (responses(301, "Location: http://169.254.169.254/"), ("rejected", 301)),
        (responses(304), ("rejected", 304)),
        (behaviours.drips_its_body, ("delivered", 200)),
        (behaviours.floods, ("delivered", 200)),
        (responses(200, "Content-Encoding: gzip", body=b"no gzip"), ("delivered", 200)),
        (responses(202, "Set-Cookie: a=b", body=b"x" * 1_000_000), ("delivered", 202)),
    ],
)
async def test_bad_behaviour_costs_an_attempt_and_no_more(
    sqlite_url: str, behaviour: Behaviour, outcome: tuple[str, int | None]
) -> None:
    async with desk_at(sqlite_url) as desk:
        with Receiver(behaviour) as receiver:
            order = await desk.place(receiver.url)
            sender = Sender(allow_insecure=True, seconds=1.0) if outcome[0] == "timeout" else None
            async with dispatching(desk.store, sender=sender, delays=(timedelta(seconds=0.3),)):
                await desk.until_tried(order, 1)
                receiver.behaviour = responses(200)
                await desk.until(order, "delivered")
        assert (await desk.outcomes(order))[0] == outcome


async def test_nobody_listens_and_then_somebody_does(desk: Desk) -> None:
    with Receiver() as receiver:
        receiver.close_port()
        order = await desk.place(receiver.url)
        async with dispatching(desk.store, delays=(timedelta(milliseconds=50),) * 1000):
            await desk.until_tried(order, 2)
            receiver.open_port()
            await desk.until(order, "delivered")
    assert (await desk.outcomes(order))[0] == ("unreachable", None)


async def test_a_slow_receiver_does_not_hold_the_others(desk: Desk) -> None:
    with Receiver(behaviours.hangs) as slow, Receiver() as quick:
        for _ in range(3 * limits.RECEIVER_LIMIT):
            await desk.place(slow.url)
        # its attempts outlast this test, and it was there first
        async with dispatching(desk.store, sender=Sender(allow_insecure=True, seconds=60), stop_seconds=0) as sending:
            await until(lambda: slow.connections >= limits.RECEIVER_LIMIT, otherwise="the slow receiver was not tried")
            order = await desk.place(quick.url)
            sending.worker.wake()
            await desk.until(order, "delivered")
            assert slow.max_at_once == limits.RECEIVER_LIMIT
            assert await desk.backlog() == 2 * limits.RECEIVER_LIMIT


async def test_a_long_queue_of_a_receiver_that_is_away_holds_nobody(desk: Desk) -> None:
    with Receiver() as away, Receiver() as quick:
        away.close_port()
        queue = [await desk.place(away.url) for _ in range(limits.MAX_CONCURRENCY + 50)]
        order = await desk.place(quick.url)  # behind all of them
        async with dispatching(desk.store, delays=(timedelta(hours=1),)):
            await desk.until(order, "delivered")
            came = (await desk.deliveries(order))[0].attempts[0].at
            attempts = [attempt for queued in queue for attempt in (await desk.deliveries(queued))[0].attempts]
    assert sum(attempt.at < came for attempt in attempts) < len(queue) - 50


async def test_a_receiver_that_met_the_deadline_gets_one_attempt_at_a_time(desk: Desk) -> None:
    with Receiver(behaviours.hangs) as slow:
        first = await desk.place(slow.url)
        async with dispatching(desk.store, sender=Sender(allow_insecure=True, seconds=0.2), delays=()):
            await desk.until(first, "failed")
            slow.max_at_once = 0
            placed = [await desk.place(slow.url) for _ in range(4)]
            for order in placed:
                await desk.until(order, "failed")
    assert slow.max_at_once == 1


async def test_two_dispatchers_share_the_work_without_doubling_it(desk: Desk) -> None:
    with Receiver() as receiver:
        for _ in range(30):
            await desk.move(await desk.place(receiver.url), "processing")
        rival = Store(desk.url)
        async with dispatching(desk.store) as first, dispatching(rival) as second:
            for each in (first, second):
                each.worker.wake()

            await until(lambda: len(set(receiver.ids)) == 60, otherwise=f"only {len(set(receiver.ids))} came")
        await rival.close()
        assert len(receiver.ids) == 60
    assert await desk.backlog() == 0


async def test_what_a_dead_dispatcher_held_is_sent_when_its_lease_runs_out(desk: Desk) -> None:
    with Receiver() as receiver:
        order = await desk.place(receiver.url)
        async with desk.store.transaction() as connection:
            [work] = await deliveries.lease(connection, datetime.now(UTC), 1.0, everything())
        async with dispatching(desk.store):
            await desk.until(order, "delivered")
            assert datetime.now(UTC) > work.leased_until
        assert len(receiver.received) == 1
        async with desk.store.transaction() as connection:  # the dead one was only slow
            late = Attempt(at=datetime.now(UTC), outcome="timeout", status_code=None, milliseconds=1000)
            again = FinishedAttempt(work=work, attempt=late, state="pending", next_attempt_at=datetime.now(UTC))
            await attempts.record(connection, [again])
    assert await desk.states(order) == ["delivered"]
    assert [outcome[0] for outcome in await desk.outcomes(order)] == ["delivered", "timeout"]


async def test_an_attempt_under_way_at_the_end_is_released(desk: Desk) -> None:
    with Receiver(behaviours.hangs) as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store, sender=Sender(allow_insecure=True, seconds=60), stop_seconds=0.1):
            await until(lambda: len(receiver.received) == 1, otherwise="nothing was sent")
        receiver.behaviour = responses(200)
        async with dispatching(desk.store):  # need not wait for the lease of a minute
            await desk.until(order, "delivered")


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400)])
async def test_a_clock_that_jumps_delays_nothing_for_ever(desk: Desk, jump: timedelta) -> None:
    """A dispatcher with a wrong clock leases and fails; the ones with a right clock still deliver soon."""
    with Receiver(responses(500)) as receiver:
        order = await desk.place(receiver.url)
        async with desk.store.transaction() as connection:
            wrong = datetime.now(UTC) + jump
            taken = await deliveries.lease(connection, wrong, 30.0, everything())
            # with a clock that is behind, even a new callback seems to be long in the future: that is no reason to wait
            assert [work.n for work in taken] == [1]
            failed = Attempt(at=wrong, outcome="rejected", status_code=500, milliseconds=1)
            later = wrong + timedelta(hours=5)
            await attempts.record(
                connection, [FinishedAttempt(work=taken[0], attempt=failed, state="pending", next_attempt_at=later)]
            )
        receiver.behaviour = responses(200)
        async with dispatching(desk.store):
            await desk.until(order, "delivered")


async def test_an_outage_of_the_database_only_delays_callbacks(
    postgres_database_url: str, postgres: Postgres, database: str
) -> None:
    async with desk_at(postgres_database_url) as desk:
        with Receiver() as receiver, capture_logs() as logs:
            order = await desk.place(receiver.url)
            await postgres.stop_serving(database)
            async with dispatching(desk.store):
                await until(lambda: _is_logged(logs, OUTAGE), otherwise="no outage was noticed")
                await postgres.serve_again(database)
                await desk.until(order, "delivered")
            assert await _is_logged(logs, "background work goes on")
    assert len(receiver.received) == 1


async def test_an_outage_after_the_answer_does_not_double_the_callback(
    postgres_database_url: str, postgres: Postgres, database: str
) -> None:
    async with desk_at(postgres_database_url) as desk:
        with Receiver() as receiver, capture_logs() as logs:
            order = await desk.place(receiver.url)
            answering = asyncio.Event()
            loop = asyncio.get_running_loop()

            released = threading.Event()

            async def slowly(request: Received, writer: asyncio.StreamWriter) -> None:
                loop.call_soon_threadsafe(answering.set)
                await asyncio.to_thread(released.wait, 30)
                await responses(200)(request, writer)

            receiver.behaviour = slowly
            async with dispatching(desk.store, sender=Sender(allow_insecure=True, seconds=30)):
                await answering.wait()
                await postgres.stop_serving(database)
                released.set()
                await until(lambda: _is_logged(logs, OUTAGE), otherwise="no outage was noticed")
                await postgres.serve_again(database)
                await desk.until(order, "delivered")
        assert len(receiver.received) == 1


async def test_callbacks_wait_for_a_locked_file(sqlite_url: str) -> None:
    async with desk_at(sqlite_url) as desk:
        with Receiver() as receiver:
            order = await desk.place(receiver.url)
            lock = sqlite3.connect(sqlite_url.partition(":///")[2], isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")
            async with dispatching(desk.store):
                assert receiver.received == []
                lock.execute("ROLLBACK")
                lock.close()
                await desk.until(order, "delivered")


async def test_a_platform_whose_file_is_gone_delays_its_callbacks_and_no_others(sqlite_url: str) -> None:
    async with desk_at(sqlite_url) as desk:
        with Receiver() as receiver, capture_logs() as logs:
            lost, unaffected = await desk.place(receiver.url), await desk.place(receiver.url)
            async with desk.store.transaction() as connection:
                await connection.exec_driver_sql("UPDATE orders SET platform = 999 WHERE id = ?", (lost.id,))
            async with dispatching(desk.store):
                await desk.until(unaffected, "delivered")
                await until(
                    lambda: _is_logged(logs, "callback waits for its platform's file: put it back"),
                    otherwise="nothing was logged",
                )
        [delivery] = await desk.deliveries(lost)
        assert delivery.state == "pending"
        assert delivery.next_attempt_at is not None
        async with desk.store.transaction() as connection:
            await connection.exec_driver_sql("UPDATE orders SET platform = ? WHERE id = ?", (lost.platform, lost.id))
            later = delivery.next_attempt_at + timedelta(seconds=1)
            [work] = await deliveries.lease(connection, later, 30.0, everything())
        assert (work.subject.id, work.tries) == (lost.id, 0), "that was no attempt"


@pytest.mark.parametrize(
    ("status", "retry_after", "state"),
    [
        (200, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "delivered"),
        (500, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "failed"),
        (500, "Mon, 99999999999999999999 Jan 2026 00:00:00 GMT", "failed"),
        (500, "Mon, 01 Jan 0001 00:00:00 +9999", "failed"),
    ],
)
async def test_a_retry_after_that_is_no_date_costs_an_attempt_and_no_more(
    desk: Desk, status: int, retry_after: str, state: str
) -> None:
    with Receiver(responses(status, f"Retry-After: {retry_after}")) as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store, delays=(timedelta(milliseconds=10),)):
            await desk.until(order, state)
        assert len(await desk.outcomes(order)) == len(receiver.received) == (1 if state == "delivered" else 2)


async def test_an_unexpected_exception_counts_as_an_attempt(sqlite_url: str) -> None:
    async with desk_at(sqlite_url) as desk:
        with Receiver() as receiver, capture_logs() as logs:
            order = await desk.place(receiver.url)
            async with desk.store.transaction() as connection:  # nobody writes such a secret: it stands for any fault
                await connection.exec_driver_sql("UPDATE tokens SET webhook_secret = 'whsec_%'")
            async with dispatching(desk.store, delays=(timedelta(milliseconds=10),)):
                await desk.until(order, "failed")
        assert await desk.outcomes(order) == [("unreachable", None)] * 2
        assert receiver.received == []
        assert await _is_logged(logs, "callback attempt failed unexpectedly; report it")


async def test_an_attempt_that_cannot_be_recorded_keeps_no_other_from_its_record(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, bad = attempts.record, ""

    async def failing(connection: AsyncConnection, batch: Sequence[FinishedAttempt], max_attempts: int) -> bool:
        if any(finished.work.subject.id == bad for finished in batch):
            raise KeyError(bad)
        return await record(connection, batch, max_attempts)

    monkeypatch.setattr(attempts, "record", failing)
    async with desk_at(sqlite_url) as desk:
        with Receiver() as receiver, capture_logs() as logs:
            orders = [await desk.place(receiver.url) for _ in range(5)]
            bad = orders[2].id
            async with dispatching(desk.store):
                for order in orders:
                    if order.id != bad:
                        await desk.until(order, "delivered")
                await until(lambda: _is_logged(logs, "callback attempt was not recorded; report it"))
        assert await desk.states(orders[2]) == ["pending"]
    unrecorded = [line for line in logs if line["event"] == "callback attempt was not recorded; report it"]
    assert [line["order"] for line in unrecorded] == [bad]
    assert len(receiver.received) == 5


async def test_a_callback_whose_attempts_are_never_recorded_ends_as_failed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = attempts.record

    async def failing(connection: AsyncConnection, batch: Sequence[FinishedAttempt], max_attempts: int) -> bool:
        if any(finished.work.n == 1 for finished in batch):
            raise KeyError("it stands for any fault")
        return await record(connection, batch, max_attempts)

    with Receiver() as receiver, capture_logs() as logs:
        order = await desk.move(await desk.place(receiver.url), "processing")
        with monkeypatch.context() as patched:
            patched.setattr(attempts, "record", failing)
            patched.setattr(dispatcher, "LEASE_MARGIN_SECONDS", 0.2)
            async with dispatching(desk.store, sender=Sender(allow_insecure=True, seconds=0.5), delays=QUICK[:2]):
                await desk.until(order, "failed", "delivered")
        first, second = message_id(order.id, 1), message_id(order.id, 2)
        assert receiver.ids == [first] * 3 + [second]
        assert await _is_logged(logs, "callback is given up: its attempts were not recorded; report it")
        async with desk.store.reading() as connection:
            assert await attempts.failed_by_token(connection) == {order.token_id: 1}
        await desk.replay(order, 1)
        async with dispatching(desk.store):
            await desk.until(order, "delivered", "delivered")


async def test_the_log_of_attempts_does_not_grow_without_end(sqlite_url: str) -> None:
    async with desk_at(sqlite_url) as desk:
        with Receiver(responses(500)) as receiver:
            order = await desk.place(receiver.url)
            async with dispatching(desk.store, delays=(timedelta(milliseconds=10),) * 6, max_attempts=3):
                await desk.until(order, "failed")
        assert len(await desk.outcomes(order)) == 3


def everything() -> limits.FreeCapacity:
    """The capacity of a dispatcher that does nothing else."""
    return limits.FreeCapacity()


async def _is_logged(logs: Any, event: str) -> bool:
    return any(line["event"] == event for line in logs)
