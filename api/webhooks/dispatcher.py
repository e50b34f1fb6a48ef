"""The dispatcher: leases due callbacks from the outbox, sends them and records each attempt.

Any number of dispatchers share the work by leases. A callback is sent at least once: another dispatcher repeats it
where one dies between the receiver's response and its record. An attempt that is never recorded counts as well, so that
none is repeated for ever.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import Final, Self

from aiohttp import TraceConfig

from api.background.tasks import BackgroundTasks, StopDeadline
from api.background.workers import PeriodicWorker, linger
from api.log import log
from api.settings import Settings
from api.webhooks import schedule
from api.webhooks.limits import FreeCapacity, ReceiverLimits, TokenWeights
from api.webhooks.payload import EntryOf, PlatformFileGoneError, event_of, message_id, message_of
from api.webhooks.sender import Sender, SendResult
from mappings.timestamps import rfc3339
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.outbox import attempts, deliveries
from store.outbox.attempts import MAX_ATTEMPTS, FinishedAttempt
from store.records import Attempt, DeliveryWork, Order

POLL_SECONDS: Final = 0.5  # the callback of another process's order is sent within the second of the contract
LEASE_MARGIN_SECONDS: Final = 15.0  # after an attempt's deadline: to record it, through a short outage too
RECORD_RETRY_SECONDS: Final = 0.5
RECORD_LINGER_SECONDS: Final = 0.02
MISSING_FILE_SECONDS: Final = 30.0  # until a callback is looked at again whose platform has no file
MAX_RECORD_BATCH: Final = 50  # one transaction: SQLite's lock is free again well within a tenth of a second


class AttemptRecorder:
    """Group commit: attempts that end at about the same time are recorded in one transaction.

    A commit waits for the disk, and on SQLite for every other writer; one for each callback would cost as much as the
    orders themselves.
    """

    def __init__(self, store: Store, max_attempts: int) -> None:
        self._store = store
        self._max_attempts = max_attempts
        self._committing = asyncio.Lock()
        self._open: tuple[list[FinishedAttempt], asyncio.Task[bool | None]] | None = None
        self._commits = BackgroundTasks()

    async def record(self, attempt: FinishedAttempt) -> bool:
        """Returns after the commit, and whether it made another event due; raises StoreUnavailable where the attempt
        may not be recorded.
        """
        if self._open is None or len(self._open[0]) == MAX_RECORD_BATCH:
            opened: list[FinishedAttempt] = []
            self._open = opened, self._commits.start(self._commit(opened))
        batch, commit = self._open
        batch.append(attempt)
        is_due = await asyncio.shield(commit)
        if is_due is not None:
            return is_due
        async with self._committing:
            return await self._write([attempt])

    async def close(self, stop: StopDeadline) -> None:
        """Lets the commits under way end."""
        await self._commits.close(stop, until_end=True)

    async def _commit(self, batch: list[FinishedAttempt]) -> bool | None:
        """As `record` returns; None where each is to be recorded alone, so that one that fails holds up no other."""
        await asyncio.sleep(RECORD_LINGER_SECONDS)
        async with self._committing:  # meanwhile the batch grows
            if self._open is not None and self._open[0] is batch:
                self._open = None
            try:
                return await self._write(batch)
            except StoreUnavailable:
                raise
            except Exception:
                log.exception("callback attempts are not recorded together; report it", attempts=len(batch))
                return None

    async def _write(self, batch: Sequence[FinishedAttempt]) -> bool:
        async with self._store.transaction() as connection:
            return await attempts.record(connection, batch, self._max_attempts)


class Dispatcher:
    """Sends due callbacks. Tests choose `delays`, `clock` and `max_attempts`."""

    def __init__(
        self,
        store: Store,
        entry_of: EntryOf,
        sender: Sender,
        stop: StopDeadline,
        *,
        delays: tuple[timedelta, ...] = schedule.RETRY_DELAYS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        max_attempts: int = MAX_ATTEMPTS,
    ) -> None:
        self._store = store
        self._entry_of = entry_of
        self._sender = sender
        self._recorder = AttemptRecorder(store, max_attempts)
        self._delays = delays
        self._clock = clock
        self._stop = stop
        self._random = SystemRandom().random
        self._attempts: dict[asyncio.Task[None], DeliveryWork] = {}
        self._recording: set[asyncio.Task[None]] = set()  # of the attempts, those whose receiver has responded
        self._receivers = ReceiverLimits()
        self._tokens = TokenWeights()
        self._short = False  # whether the last lease may have left out due callbacks, for want of capacity
        self.worker = PeriodicWorker("callbacks", self._run_once, retry_seconds=POLL_SECONDS)

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[Self]:
        """After the block lets the attempts under way end, and releases those that do not; the worker has stopped."""
        try:
            yield self
        finally:
            works = dict(self._attempts)
            late = await self._stop.finish(set(works))
            await self._recorder.close(self._stop)  # what is recorded has no lease any more
            if late and not await self._stop.close(lambda: self._release(works[task] for task in late)):
                log.warning("leases of callbacks were not released and run out", callbacks=len(late))

    async def _run_once(self) -> float:
        """Starts attempts; returns the seconds until the next look."""
        started = await self._start_attempts()
        if started:
            await linger(started)
        # this process wakes the worker for its own changes; those of others may go on
        more = started and (self._short or not self.worker.was_woken)
        return 0.0 if more else POLL_SECONDS

    async def _start_attempts(self) -> int:
        """Leases due callbacks as far as the capacity goes and starts an attempt for each, or ends it where its token's
        callbacks were stopped; returns their number.
        """
        self._short = True  # capacity that becomes free during the lease wakes the worker
        sending = [work for task, work in self._attempts.items() if task not in self._recording]
        recording = [self._attempts[task] for task in self._recording]
        capacity = FreeCapacity(sending, self._receivers, self._tokens, recording=recording)
        if capacity.left <= 0:
            return 0
        now = self._clock()
        if not self.worker.was_woken:  # whoever wakes it has left something due
            saturated = capacity.saturated()
            async with self._store.reading() as connection:
                due = await deliveries.any_due(connection, now, saturated)
            if not due:
                self._short = bool(saturated)
                return 0
        async with self._store.transaction() as connection:
            seconds = self._sender.seconds + LEASE_MARGIN_SECONDS
            leased = await deliveries.lease(connection, now, seconds, capacity, self._delays)
        self._short = bool(capacity.saturated())
        stopped = {work.subject.id for work in leased if work.stopped}
        for work in leased:
            if work.stopped:
                continue
            task = asyncio.create_task(self._deliver(work))
            self._attempts[task] = work
            task.add_done_callback(self._finished)
        if stopped:
            async with self._store.transaction() as connection:
                await deliveries.end(connection, stopped)
        return len(leased)

    async def _deliver(self, work: DeliveryWork) -> None:
        started_at = self._clock()
        if work.tries > len(self._delays):  # the last attempt is not on record
            log.error("callback is given up: its attempts were not recorded; report it", **_identity(work))
            await self._persist(lambda: self._fail(work, started_at))
            return
        sent = await self._send(work, started_at)
        if sent is None:  # no attempt
            log.error("callback waits for its platform's file: put it back", **_identity(work))
            await self._persist(lambda: self._release([work], started_at + timedelta(seconds=MISSING_FILE_SECONDS)))
            return
        self._receivers.update(work.receiver, sent)
        self._tokens.update(work.subject.token_id, sent)
        if (task := asyncio.current_task()) is not None:
            self._recording.add(task)
        self._capacity_freed()
        await self._record(work, sent, started_at)

    async def _send(self, work: DeliveryWork, now: datetime) -> SendResult | None:
        """Sends the callback; None where its order's platform has no file.

        An unexpected exception is an attempt too, so that no fault of ours repeats for ever.
        """
        try:
            message = message_of(work, self._entry_of, now)
            if not work.secrets:  # no endpoint of the token covers the address
                return SendResult("refused", None, None, 0)
            return await self._sender.send(message)
        except PlatformFileGoneError:
            return None
        except Exception:
            log.exception("callback attempt failed unexpectedly; report it", **_identity(work))
            return SendResult("unreachable", None, None, 0)

    async def _record(self, work: DeliveryWork, sent: SendResult, started_at: datetime) -> None:
        now = self._clock()
        retry_after = schedule.parse_retry_after(sent.retry_after, now)
        verdict = schedule.verdict(
            sent.outcome, sent.status_code, retry_after, work.tries, self._random(), delays=self._delays
        )
        next_attempt_at = None if verdict.delay is None else now + verdict.delay
        _log_attempt(work, sent, verdict.state, next_attempt_at)
        attempt = Attempt(
            at=started_at, outcome=sent.outcome, status_code=sent.status_code, milliseconds=sent.milliseconds
        )
        finished = FinishedAttempt(work=work, attempt=attempt, state=verdict.state, next_attempt_at=next_attempt_at)
        await self._persist(lambda: self._recorder.record(finished))

    async def _persist(self, write: Callable[[], Awaitable[bool | None]]) -> None:
        """Writes how a delivery goes on; during an outage it tries again until the lease has run out. `write` returns
        whether it made another event due.
        """
        deadline = asyncio.get_running_loop().time() + LEASE_MARGIN_SECONDS
        while True:
            try:
                if await write():
                    self.worker.wake()  # the next event of an order is due
            except StoreUnavailable as error:
                self.worker.outages.begin("store", error.cause)
                if asyncio.get_running_loop().time() > deadline:
                    return
                await asyncio.sleep(RECORD_RETRY_SECONDS)
            else:
                self.worker.outages.end("store")
                return

    async def _fail(self, work: DeliveryWork, now: datetime) -> bool:
        async with self._store.transaction() as connection:
            return await attempts.fail(connection, work, now)

    async def _release(self, works: Iterable[DeliveryWork], due: datetime | None = None) -> None:
        async with self._store.transaction() as connection:
            for work in sorted(works, key=lambda work: (work.subject.id, work.n)):
                await deliveries.release(connection, work, due)

    def _finished(self, task: asyncio.Task[None]) -> None:
        work = self._attempts.pop(task)
        self._recording.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("callback attempt was not recorded; report it", exc_info=error, **_identity(work))
        self._capacity_freed()

    def _capacity_freed(self) -> None:
        if self._short:
            self.worker.wake()


def _identity(work: DeliveryWork) -> dict[str, object]:
    if isinstance(work.subject, Order):
        return {"order": work.subject.id, "n": work.n, "platform": work.subject.platform}
    return {"search": work.subject.id, "n": work.n}


def _log_attempt(work: DeliveryWork, sent: SendResult, state: str, next_attempt_at: datetime | None) -> None:
    """One line for each attempt, with the receiver's host alone: paths and queries may hold secrets."""
    log.info(
        "callback",
        **{"order" if isinstance(work.subject, Order) else "search": work.subject.id},
        n=work.n,
        webhookId=message_id(work.subject.id, work.n),
        type=event_of(work),
        receiver=work.receiver,
        outcome=sent.outcome,
        statusCode=sent.status_code,
        milliseconds=sent.milliseconds,
        state=state,
        nextAttemptAt=None if next_attempt_at is None else rfc3339(next_attempt_at),
    )


@asynccontextmanager
async def dispatching(
    store: Store, entry_of: EntryOf, settings: Settings, stop: StopDeadline, trace_configs: Sequence[TraceConfig] = ()
) -> AsyncIterator[Dispatcher]:
    """A dispatcher with a sender of its own; its worker runs within the block, by `api.background.running`."""
    async with (
        Sender(settings.allow_insecure_callbacks, trace_configs=trace_configs) as sender,
        Dispatcher(store, entry_of, sender, stop).closing() as dispatcher,
    ):
        yield dispatcher
