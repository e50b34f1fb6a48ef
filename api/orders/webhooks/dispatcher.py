"""Delivering: due callbacks of the store in, attempts at their receivers out, while the app or the command lives.

Any number of dispatchers share the work by leases. A callback is made at least once: a dispatcher that dies between
the receiver's answer and its own note has it made again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import Final

import structlog

from api.orders.answers import rfc3339
from api.orders.webhooks import schedule
from api.orders.webhooks.attempts import Notes
from api.orders.webhooks.limits import Paces, Shares
from api.orders.webhooks.payload import message_id, message_of
from api.orders.webhooks.sender import Sender, Sent
from api.orders.worker import Rounds, company
from api.settings import Settings
from mappings.platforms import Platforms
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.outbox import deliveries
from store.outbox.attempts import Note
from store.outbox.deliveries import Attempt, DeliveryWork

POLL_SECONDS: Final = 0.5  # another process's order must be told within the second of the contract
LEASE_MARGIN_SECONDS: Final = 15.0  # after an attempt's deadline: to note it, through a short outage too
NOTE_AGAIN_SECONDS: Final = 0.5
STOP_SECONDS: Final = 5.0

log = structlog.get_logger("gear.api")


def utc_now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


class Dispatcher:
    """Makes callbacks. `waits` and `clock` are those of the contract and the machine, but for tests."""

    def __init__(
        self,
        store: Store,
        platforms: Platforms,
        public_url: str,
        sender: Sender,
        *,
        waits: tuple[timedelta, ...] = schedule.WAITS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._store = store
        self._platforms = platforms
        self._public_url = public_url
        self._sender = sender
        self._notes = Notes(store)
        self._waits = waits
        self._clock = clock
        self._chance = SystemRandom().random
        self._rounds = Rounds("callbacks", self._batches, after_a_fault=POLL_SECONDS)
        self._unavailable = False
        self._running: dict[asyncio.Task[None], DeliveryWork] = {}
        self._answered: set[asyncio.Task[None]] = set()  # of the running ones, those whose receiver is done with them
        self._paces = Paces()
        self._short = False  # whether somebody may have been left out of the last look, for want of room

    def wake(self) -> None:
        """There may be work: look at once."""
        self._rounds.wake()

    def stop(self) -> None:
        """Takes no more work; `run` ends when the attempts under way have, or after five seconds."""
        self._rounds.stop()

    async def run(self) -> None:
        """Works until `stop`. A fault of ours is logged and ends a round, not the work."""
        try:
            await self._rounds.run()
        finally:
            await self._end()

    async def _batches(self) -> float:
        """Starts on what is due; the seconds until the next look."""
        taken = await self._take()
        if taken:
            await company(taken)
        # what this process changes wakes this; what others change may go on coming
        more = taken and (self._short or not self._rounds.called)
        return 0.0 if more else POLL_SECONDS

    async def _take(self) -> int:
        """Leases what is due and there is room for, and starts on it; how many that is."""
        self._short = True  # who gives room back while this looks has it look again
        sending = [work for task, work in self._running.items() if task not in self._answered]
        shares = Shares(sending, self._paces, noting=len(self._answered))
        if shares.left <= 0:
            return 0
        now = self._clock()
        seconds = self._sender.seconds + LEASE_MARGIN_SECONDS
        try:
            due = self._rounds.called
            if not due:
                async with self._store.reading() as connection:
                    due = await deliveries.any_due(connection, now, shares.crowded())
            taken: list[DeliveryWork] = []
            if due:
                async with self._store.transaction() as connection:
                    taken = await deliveries.lease(connection, now, seconds, shares)
        except StoreUnavailable as error:
            self._fails(error)
            return 0
        self._works()
        self._short = shares.full()
        for work in taken:
            task = asyncio.create_task(self._deliver(work))
            self._running[task] = work
            task.add_done_callback(self._ended)
        return len(taken)

    async def _deliver(self, work: DeliveryWork) -> None:
        """One attempt and its note."""
        url = work.order.callback_url
        platform = self._platforms.by_id(work.order.platform)
        if platform is None or url is None:
            message = f"order {work.order.id} cannot be told: put the file of platform {work.order.platform} back"
            raise LookupError(message)
        at = self._clock()
        sent = await self._sender.send(message_of(work, url, platform, self._public_url, at))
        self._paces.learn(work.receiver, sent)
        if (task := asyncio.current_task()) is not None:
            self._answered.add(task)
        self._has_room()
        await self._note(work, sent, at)

    async def _note(self, work: DeliveryWork, sent: Sent, at: datetime) -> None:
        """Keeps how the attempt ended; through an outage it tries again for as long as the lease holds."""
        now = self._clock()
        asked = schedule.retry_after(sent.retry_after, now)
        verdict = schedule.verdict(sent.outcome, sent.status_code, asked, work.tries, self._chance(), waits=self._waits)
        attempt = Attempt(at=at, outcome=sent.outcome, status_code=sent.status_code, milliseconds=sent.milliseconds)
        again = None if verdict.wait is None else now + verdict.wait
        _log_attempt(work, sent, verdict.state, again)
        note = Note(work=work, attempt=attempt, state=verdict.state, next_attempt_at=again)
        deadline = asyncio.get_running_loop().time() + LEASE_MARGIN_SECONDS
        while True:
            try:
                if await self._notes.keep(note):
                    self.wake()  # the next event of an order
            except StoreUnavailable as error:
                self._fails(error)
                if asyncio.get_running_loop().time() > deadline:
                    return  # the lease runs out: it is made again
                await asyncio.sleep(NOTE_AGAIN_SECONDS)
            else:
                return

    def _ended(self, task: asyncio.Task[None]) -> None:
        work = self._running.pop(task)
        self._answered.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error(
                "a callback met a fault and is tried again; report it", order=work.order.id, n=work.n, exc_info=fault
            )
        self._has_room()

    def _has_room(self) -> None:
        """There is room for one more: a look, where somebody may wait for it."""
        if self._short:
            self.wake()

    async def _end(self) -> None:
        """Lets the attempts under way come to an end, and gives back what does not."""
        if not self._running:
            return
        _, late = await asyncio.wait(set(self._running), timeout=STOP_SECONDS)
        left = [self._running[task] for task in late]
        for task in late:
            task.cancel()
        if not late:
            return
        await asyncio.wait(late)
        await self._notes.close(STOP_SECONDS)  # what is noted has no lease any more
        try:
            async with self._store.transaction() as connection:
                for work in sorted(left, key=lambda work: (work.order.id, work.n)):
                    await deliveries.give_back(connection, work)
        except StoreUnavailable as error:
            self._fails(error)

    def _fails(self, error: StoreUnavailable) -> None:
        if not self._unavailable:
            self._unavailable = True
            log.warning("callbacks wait for an outage to end", part="the store", cause=str(error)[:300])

    def _works(self) -> None:
        if self._unavailable:
            self._unavailable = False
            log.info("callbacks are made again", part="the store")


def _log_attempt(work: DeliveryWork, sent: Sent, state: str, again: datetime | None) -> None:
    """One line an attempt, with the receiver's host alone: paths and queries may hold secrets."""
    log.info(
        "callback",
        order=work.order.id,
        n=work.n,
        webhookId=message_id(work.order.id, work.n),
        type=f"order.{work.order.state}",
        receiver=work.receiver,
        outcome=sent.outcome,
        statusCode=sent.status_code,
        milliseconds=sent.milliseconds,
        state=state,
        nextAttemptAt=None if again is None else rfc3339(again),
    )


@asynccontextmanager
async def delivering(store: Store, platforms: Platforms, settings: Settings) -> AsyncIterator[Dispatcher]:
    """A dispatcher at work while the block lasts."""
    async with Sender(settings.allow_insecure_callbacks) as sender:
        dispatcher = Dispatcher(store, platforms, settings.public_url, sender)
        task = asyncio.create_task(dispatcher.run())
        try:
            yield dispatcher
        finally:
            dispatcher.stop()
            await asyncio.wait({task})
