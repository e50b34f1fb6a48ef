"""Drain: a server that is told to stop serves on for a while, so that its proxies take it out before it closes."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import socket
from types import FrameType

import structlog
import uvicorn
from uvicorn.supervisors import Multiprocess

log = structlog.get_logger("gear.api")


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
                loop.call_soon_threadsafe(begin)

        def begin() -> None:
            self.on_begin()
            log.warning("draining: not ready any more, stopping soon", seconds=self._seconds)
            loop.call_later(self._seconds, stop, signal.SIGTERM, None)  # type: ignore[arg-type]  # a method of the server

        signal.signal(signal.SIGTERM, drain)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, stop)


class Supervisor(Multiprocess):
    """uvicorn's supervisor of workers, which does not keep their socket open while they end, and counts their deaths.

    Connections that came meanwhile would be accepted by nobody.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket], on_deaths: Callable[[int], None]) -> None:
        super().__init__(config, sockets)
        self._on_deaths = on_deaths

    def keep_subprocess_alive(self) -> None:
        """Replaces the workers that have ended or hang."""
        before = list(self.processes)
        super().keep_subprocess_alive()
        deaths = [process for process in before if process not in self.processes]
        for process in deaths:
            log.error("a worker ended unasked and was replaced", pid=process.pid, exitCode=process.exitcode)
        self._on_deaths(len(deaths))

    def terminate_all(self) -> None:
        """Tells the workers to stop and leaves the socket to them."""
        super().terminate_all()
        for each in self.sockets:
            each.close()
