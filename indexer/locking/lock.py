"""The lock: an alias in; one command at a time that makes, swaps or removes its generations, and proof of it, out.

The owner renews it in the background. Whoever finds it held watches it: a beat within the owner's `expiry` means that
the owner lives, none means that it is dead and the lock is taken over. The time is measured here, on the clock that
only goes forward, so no two machines' clocks are ever compared. An owner whose process is known to be dead on this
machine is not waited for. Every write is compare and set, so that of several only one succeeds, and an owner that was
taken for dead cannot renew any more and stops.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from types import TracebackType

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.engine.failures import CommandError
from indexer.engine.retry import Patience
from indexer.locking.owner import Owner, lives, this_process
from indexer.locking.record import LockRecord, LockRecords, MovedError, now_text
from mappings.engine_errors import cause

EXPIRY = 60.0  # seconds; long enough for a stalled machine or network, short enough to wait for
BEATS = 6  # within the expiry: five may be lost
LOOKS = 60  # within the expiry, while somebody else's lock is watched
REQUEST_SECONDS = 10.0  # for one read or write; several fit into the expiry
TRIES = 3  # a write of ours whose answer was lost looks like somebody else's until it is read

_held: set[str] = set()  # owners within this process: a pid alone does not tell whether one has ended


class LockHeldError(CommandError):
    """Somebody else is at work; the message says who and since when."""


class LockLostError(CommandError):
    """Somebody else took this lock over."""


class Lock:
    """A context in which this process alone may change an alias's generations."""

    def __init__(
        self,
        client: OpenSearch,
        alias: str,
        command: str,
        patience: Patience,
        say: Callable[[str], None],
        *,
        expiry: float = EXPIRY,
    ) -> None:
        self._alias = alias
        self._records = LockRecords(client, alias, REQUEST_SECONDS)
        self._patience = patience
        self._say = say
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._lost = ""
        self._stopping: list[threading.Event] = []
        self._thread = threading.Thread(target=self._beat, args=(expiry / BEATS,), name="lock", daemon=True)
        now = now_text()
        self.owner = this_process()
        self._record = LockRecord(owner=self.owner, command=command, index=None, since=now, beat=now, expiry=expiry)
        self.predecessor: LockRecord | None = None  # the dead owner that it was taken from

    def __enter__(self) -> "Lock":
        _held.add(self.owner.id)
        try:
            self._acquire()
            self._thread.start()
        finally:
            if not self._thread.is_alive():
                _held.discard(self.owner.id)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        _held.discard(self.owner.id)
        if self._lost:
            return
        try:
            self._release()
        except OpenSearchException as failure:
            self._say(f"the lock of {self._alias} could not be given back ({cause(failure)}); it ends by itself")

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

        `index` is noted as the generation that is filled from now on.
        """
        with self._writing:
            self.check()
            wanted = self._record.renewed() if index is None else self._record.renewed().filling(index)
            for _ in range(TRIES):
                try:
                    self._record = self._records.replace(self._record, wanted)
                except MovedError:
                    self._read_again()
                else:
                    return
            self._lose("it changes all the time")

    def _read_again(self) -> None:
        found = self._records.read()
        if found is None:
            self._lose("somebody removed it")
        elif found.owner.id != self.owner.id:
            self._lose(f"it is held by {found.holder()}")
        else:
            self._record = found

    def _lose(self, why: str) -> None:
        self._lost = f"the lock of {self._alias} was lost, so nothing is swapped in or removed any more: {why}"
        for event in self._stopping:
            event.set()
        raise LockLostError(self._lost)

    def _beat(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            with contextlib.suppress(OpenSearchException):  # the next beat may arrive; the swap asks for itself
                try:
                    self.renew()
                except LockLostError:
                    return

    def _release(self) -> None:
        for _ in range(TRIES):
            try:
                self._records.remove(self._record)
            except MovedError:
                with contextlib.suppress(LockLostError):
                    self._read_again()
                if self._lost:
                    return
            else:
                return

    def _acquire(self) -> None:
        watch = Watch(self._say, self._alias)
        while True:
            found = self._patience.call(self._records.read)
            with contextlib.suppress(MovedError):
                if found is None:
                    self._record = self._patience.call(lambda: self._records.create(self._record))
                    return
                if found.owner.id == self.owner.id:  # the answer to its creation was lost
                    self._record = found
                    return
                if watch.is_dead(found):
                    self._say(f"the lock of {self._alias} is taken from {found.holder()}, which has died")
                    self._take(found)
                    return
                time.sleep(found.expiry / LOOKS)

    def _take(self, found: LockRecord) -> None:
        self.predecessor = found
        self._record = self._patience.call(lambda: self._records.replace(found, self._record))


class Watch:
    """Somebody else's lock under observation."""

    def __init__(self, say: Callable[[str], None], alias: str) -> None:
        self._say = say
        self._alias = alias
        self._seen: LockRecord | None = None
        self._since = self._last = 0.0

    def is_dead(self, found: LockRecord) -> bool:
        """Whether its owner is known to be dead; raises LockHeldError where it lives."""
        alive = known_to_live(found.owner)
        if alive is False:
            return True
        moved = self._seen is not None and self._seen.place != found.place
        # This machine's clock may be compared with itself. A process that lives and is not heard of is watched.
        if moved or (alive and found.age() < found.expiry):
            message = f"{self._alias} is being changed by {found.holder()}: wait for its end or stop it, then try again"
            raise LockHeldError(message)
        now = time.monotonic()
        if self._seen is None:
            self._say(
                f"the lock of {self._alias} is held by {found.holder()}; watching for up to {found.expiry:g} seconds "
                "whether it lives"
            )
        # While the engine did not answer, its owner could not be heard of either: that time does not count.
        if self._seen is None or now - self._last > found.expiry / BEATS:
            self._seen, self._since = found, now
        self._last = now
        return now - self._since >= found.expiry


def known_to_live(owner: Owner) -> bool | None:
    """Whether an owner lives, None where that cannot be told from here."""
    alive = lives(owner)
    return owner.id in _held if alive and owner.pid == os.getpid() else alive
