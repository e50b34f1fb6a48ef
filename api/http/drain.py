"""Drain: a server that is to stop serves on for a while, so that its proxies take it out before it closes."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from types import FrameType

import uvicorn

from api.log import log


class Drain:
    """Whether the process is about to stop, and for how long it serves on."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_draining = False
        self.on_begin: Callable[[], None] = lambda: None

    @contextmanager
    def before_stop(self) -> Iterator[None]:
        """Puts the drain before the server's own stop at SIGTERM, and once; SIGINT stops at once."""
        stop = signal.getsignal(signal.SIGTERM)
        if not isinstance(getattr(stop, "__self__", None), uvicorn.Server):
            yield  # no server of this process handles signals: there is nothing to put it before
            return
        loop = asyncio.get_running_loop()

        def drain(signum: int, frame: FrameType | None) -> None:
            if not self.is_draining:
                self.is_draining = True
                loop.call_soon_threadsafe(begin, context=Context())  # the signal may interrupt a request

        def begin() -> None:
            self.on_begin()
            log.warning("draining: not ready any more, stopping soon", seconds=self._seconds)
            loop.call_later(self._seconds, stop, signal.SIGTERM, None)  # type: ignore[arg-type]  # a method of the server

        signal.signal(signal.SIGTERM, drain)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, stop)
