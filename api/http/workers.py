"""The worker processes of a server: forked from one that has read all, and replaced where they die."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkProcess
from pathlib import Path
from pickle import UnpicklingError
from socket import socket
from time import monotonic
from typing import Final

import uvicorn
from uvicorn._subprocess import subprocess_started
from uvicorn.supervisors import Multiprocess, multiprocess

from api.log import log

FORKS: Final = sys.platform == "linux"
"""Elsewhere the system's own libraries may have threads, which no fork survives: each worker reads all anew."""
POLL_SECONDS: Final = 1.0  # after which a worker that does not answer is looked at


class Supervisor(Multiprocess):
    """uvicorn's supervisor of workers, which counts their deaths, and does not keep their socket open while they end.

    Connections that came meanwhile would be accepted by nobody. `has_failed`: it ends because a worker could not start.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket], on_deaths: Callable[[int], None]) -> None:
        super().__init__(config, sockets)
        self._on_deaths = on_deaths
        self.has_failed = False
        multiprocess.Process = Worker  # type: ignore[misc]  # it asks for no other class
        gc.collect()
        gc.freeze()  # a collection in a worker would write to each object, so that memory is shared no more

    def init_processes(self) -> None:
        """Starts the workers, all or none."""
        try:
            super().init_processes()
        except OSError as error:
            log.error("a worker could not be started", cause=str(error))
            self.has_failed = True
            self.should_exit.set()

    def keep_subprocess_alive(self) -> None:
        """Replaces the workers that have ended or hang. One for which the system has no room is tried again."""
        if self.should_exit.is_set():
            return
        before = list(self.processes)
        with self._trying_again():
            super().keep_subprocess_alive()
        self.has_failed = self.should_exit.is_set()
        deaths = [process for process in before if process not in self.processes]
        for process in deaths:
            log.error("a worker ended unasked and was replaced", pid=process.pid, exitCode=process.exitcode)
        self._on_deaths(len(deaths))

    def handle_hup(self) -> None:
        """Replaces all workers, each once the one in its place serves."""
        with self._trying_again(signal.SIGHUP):
            super().handle_hup()

    def handle_ttin(self) -> None:
        with self._trying_again(signal.SIGTTIN):
            super().handle_ttin()

    @contextmanager
    def _trying_again(self, *signals: int) -> Iterator[None]:
        """Where the system has no room for a worker, the others serve on, and the signals that ask for it return."""
        try:
            yield
        except OSError as error:
            log.error("a worker could not be started and is tried again", cause=str(error))
            self.processes_num = len(self.processes)  # SIGTTIN had counted it
            self.signal_queue.extend(signals)

    def terminate_all(self) -> None:
        """Tells the workers to stop and leaves the socket to them."""
        super().terminate_all()
        for each in self.sockets:
            each.close()


class Worker(multiprocess.Process):
    """uvicorn's worker, which starts at once: it shares the libraries and the vocabulary with all others
    (docs/decisions/0094).
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        if FORKS:
            arguments = {"config": config, "target": self.target, "sockets": sockets, "stdin_fileno": None}
            self.process = _Fork(target=subprocess_started, kwargs=arguments)  # type: ignore[assignment]  # it is typed as spawned

    def is_alive(self, timeout: float = 5) -> bool:
        """Whether it answers in time. One that dies meanwhile is not waited for."""
        deadline = monotonic() + timeout
        with suppress(OSError, EOFError, UnpicklingError):
            if self.process.is_alive():
                self.parent_conn.send(b"ping")  # once: the response to another would vouch for a worker that hangs
            while self.process.is_alive() and monotonic() < deadline:
                if self.parent_conn.poll(POLL_SECONDS):
                    self.parent_conn.recv()
                    return True
        return False


class _Fork(ForkProcess):
    """A process that no signal reaches before it has handlers of its own: the supervisor's only note that one came."""

    def start(self) -> None:
        """Forks. Where that fails, it closes the pipes that `multiprocessing` leaves open: there are many tries."""
        before = _descriptors()
        earlier = signal.pthread_sigmask(signal.SIG_BLOCK, multiprocess.SIGNALS)
        try:
            super().start()
        except OSError:
            for each in _descriptors() - before:
                os.close(each)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, earlier)

    def run(self) -> None:
        """Does its work, in the new process."""
        for each in multiprocess.SIGNALS:
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
        with suppress(KeyboardInterrupt):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, multiprocess.SIGNALS)
            super().run()


def _descriptors() -> set[int]:
    """Those that are open; the one by which they are listed is not any more."""
    return {int(each.name) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}
