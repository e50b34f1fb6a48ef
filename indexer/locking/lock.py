"""The lock of an alias: one command at a time makes, swaps or removes its generations.

The owner renews it by a heartbeat. Another command watches it: a heartbeat within the owner's `expiry` means that the
owner is alive, none means that it is dead, and the lock is taken over. The time is measured here, on the clock that
only goes forward, so no two machines' clocks are ever compared. An owner whose process is known to be dead on this
machine is not waited for. Every write is compare and set, so that of several only one succeeds, and an owner that was
taken for dead cannot renew any more and stops.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.engine.hidden_index import now_text
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.locking.owner import Owner, is_process_alive, this_process
from indexer.locking.record import LockRecord, LockRecords, RecordChangedError
from mappings.engine_errors import cause

EXPIRY = 60.0  # seconds; long enough for a stalled machine or network, short enough to wait for
HEARTBEATS = 6  # within the expiry: five may be lost
POLLS = 60  # within the expiry, while somebody else's lock is watched
TRIES = 3  # a write of ours whose response was lost looks like somebody else's until it is read

Result = TypeVar("Result")


class LockHeldError(CommandError):
    """Somebody else is at work; the message says who and since when."""


class LockLostError(CommandError):
    """Somebody else took this lock over."""


@dataclass
class Lock:
    """A context in which this process alone may change an alias's generations."""

    client: OpenSearch
    alias: str
    command: str
    retry: RetryPolicy
    say: Callable[[str], None]
    expiry: float = EXPIRY

    def __post_init__(self) -> None:
        self._records = LockRecords(self.client, self.alias)
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._lost = ""
        self._stopping: list[threading.Event] = []
        self._acquired = False
        now = now_text()
        self.owner = this_process()
        self._record = LockRecord(
            owner=self.owner, command=self.command, index=None, since=now, heartbeat=now, expiry=self.expiry
        )
        self._thread = threading.Thread(target=self._send_heartbeats, name=_thread_name(self.owner), daemon=True)
        self.previous_owner: LockRecord | None = None  # the crashed owner that it was taken from

    def __enter__(self) -> "Lock":
        self._thread.start()  # first: to others in this process, an owner without its thread is dead
        try:
            self._acquire()
        finally:
            if not self._acquired:
                self._end_heartbeats()
        return self

    def __exit__(self, *_: object) -> None:
        self._end_heartbeats()
        if self._lost:
            return
        try:
            with contextlib.suppress(LockLostError):
                self._tried(lambda: self._records.remove(self._record))
        except OpenSearchException as failure:
            self.say(f"the lock of {self.alias} could not be given back ({cause(failure)}); it ends by itself")

    def _end_heartbeats(self) -> None:
        self._ended.set()
        self._thread.join()

    def stops(self, event: threading.Event) -> None:
        """Sets this event, too, when the lock is lost: whoever waits need not wait any longer."""
        self._stopping.append(event)
        if self._lost:
            event.set()

    def check(self) -> None:
        """Raises LockLostError where it is known that the lock is lost; asks nobody."""
        if self._lost:
            raise LockLostError(self._lost)

    def renew(self, index: str | None = None) -> None:
        """Proves by a write that the lock is still ours; raises LockLostError or the client's error.

        `index` is the generation that is filled from now on.
        """
        with self._writing:
            self.check()
            record = replace(self._record, heartbeat=now_text(), index=index or self._record.index)
            self._record = self._tried(lambda: self._records.replace(self._record, record))

    def _tried(self, write: Callable[[], Result]) -> Result:
        """The result of a write, which is tried again where only the response to the one before it was lost."""
        for _ in range(TRIES):
            try:
                return write()
            except RecordChangedError:
                self._read_again()
        raise self._lose("it changes all the time")

    def _read_again(self) -> None:
        record = self._records.read()
        if record is None:
            raise self._lose("somebody removed it")
        if record.owner.id != self.owner.id:
            raise self._lose(f"it is held by {record.description()}")
        self._record = record

    def _lose(self, why: str) -> LockLostError:
        """Notes that the lock is lost; the error to raise."""
        self._lost = f"the lock of {self.alias} was lost, so nothing is swapped in or removed any more: {why}"
        for event in self._stopping:
            event.set()
        return LockLostError(self._lost)

    def _send_heartbeats(self) -> None:
        while not self._ended.wait(self.expiry / HEARTBEATS):
            if not self._acquired:
                continue
            with contextlib.suppress(OpenSearchException):  # the next one may arrive; the swap asks for itself
                try:
                    self.renew()
                except LockLostError:
                    return

    def _acquire(self) -> None:
        watch = Watch(self.say, self.alias)
        while not self._acquired:
            record = self.retry.call(self._records.read)
            with contextlib.suppress(RecordChangedError):
                if record is None:
                    self._record = self.retry.call(lambda: self._records.create(self._record))
                elif record.owner.id == self.owner.id:  # the response to its creation was lost
                    self._record = record
                elif watch.is_dead(record):
                    self.say(f"the lock of {self.alias} is taken from {record.description()}, which has crashed")
                    self.previous_owner = record
                    self._record = self.retry.call(partial(self._records.replace, record, self._record))
                else:
                    time.sleep(record.expiry / POLLS)
                    continue
                self._acquired = True


class Watch:
    """Watches somebody else's lock for a heartbeat."""

    def __init__(self, say: Callable[[str], None], alias: str) -> None:
        self._say = say
        self._alias = alias
        self._last_record: LockRecord | None = None
        self._since = self._polled = 0.0

    def is_dead(self, record: LockRecord) -> bool:
        """Whether its owner is known to be dead; raises LockHeldError where it is alive."""
        alive = is_alive(record.owner)
        if alive is False:
            return True
        moved = self._last_record is not None and self._last_record.sequence != record.sequence
        # This machine's clock may be compared with itself. A process that is alive without a heartbeat is watched.
        if moved or (alive and record.age() < record.expiry):
            raise LockHeldError(
                f"{self._alias} is being changed by {record.description()}: wait for its end or stop it, then try again"
            )
        now = time.monotonic()
        if self._last_record is None:
            self._say(
                f"the lock of {self._alias} is held by {record.description()}; watching for up to "
                f"{record.expiry:g} seconds for a heartbeat"
            )
        # While the engine did not answer, its owner could not be heard of either: that time does not count.
        if self._last_record is None or now - self._polled > record.expiry / HEARTBEATS:
            self._last_record, self._since = record, now
        self._polled = now
        return now - self._since >= record.expiry


def is_alive(owner: Owner) -> bool | None:
    """Whether an owner is alive; None where that cannot be told from here."""
    alive = is_process_alive(owner)
    if alive and owner.pid == os.getpid():  # a pid alone does not tell whether a lock of this process has ended
        return any(thread.name == _thread_name(owner) for thread in threading.enumerate())
    return alive


def _thread_name(owner: Owner) -> str:
    return f"lock {owner.id}"
