"""The low water: chunks sent in order and acknowledged in any in; up to where everything is acknowledged out."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from indexer.documents.digest import Checksum


class Mark(NamedTuple):
    """A place in what is read: so many records of all sources in order, and what of them was accepted."""

    read: int
    accepted: Checksum
    superseded: int = 0  # of the accepted ones, as the engine said


class LowWater:
    """Follows how far the acknowledged chunks reach without a gap."""

    def __init__(self, here: Callable[[], Mark], tell: Callable[[Mark], None], superseded: int = 0) -> None:
        """`here` says what is read when a chunk is sent, all of it in this one or an earlier; `tell` hears marks.

        `superseded` are those of what was acknowledged before.
        """
        self._here = here
        self._tell = tell
        self._lock = threading.Lock()
        self._sent: list[Mark] = []  # from the first that is not passed on
        self._passed = 0
        self._done: dict[int, int] = {}  # a chunk's number: how many of it were superseded
        self._superseded = superseded

    def sent(self) -> int:
        """The number of the chunk that is sent now; called in the order of the source."""
        with self._lock:
            self._sent.append(self._here())
            return self._passed + len(self._sent) - 1

    def acknowledged(self, number: int, superseded: int) -> None:
        """A chunk of which every item is in the index; one of which an item was refused is never acknowledged."""
        with self._lock:
            self._done[number] = superseded
            reached: Mark | None = None
            while self._passed in self._done:
                self._superseded += self._done.pop(self._passed)
                self._passed += 1
                reached = self._sent.pop(0)
            if reached is not None:
                self._tell(reached._replace(superseded=self._superseded))
