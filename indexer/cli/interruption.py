"""Turns Ctrl-C and SIGTERM into one KeyboardInterrupt, never in the middle of a swap."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Both signals raise KeyboardInterrupt once; while on hold, after the block only. A second one acts as usual."""

    def __init__(self) -> None:
        self._is_blocked = False
        self._pending = False
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Takes the signals for the length of the block."""
        for number in self._before:
            signal.signal(number, self._handle)
        try:
            yield
        finally:
            self._restore()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Puts an interruption off to the end of the block."""
        self._is_blocked = True
        try:
            yield
        finally:
            self._is_blocked = False
        if self._pending:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
        if not self._is_blocked:
            self._restore()
            raise KeyboardInterrupt

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
