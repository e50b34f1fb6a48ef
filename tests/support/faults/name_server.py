"""What stands between this process and its name server."""

import socket
import threading
from typing import Any

HANG_SECONDS = 30.0


class NameServer:
    """In place of the system's lookup: passes on, fails with `error`, or does not respond."""

    def __init__(self) -> None:
        self.error: int | None = None
        self.lookups: list[str] = []  # the threads that have asked
        self._system = socket.getaddrinfo
        self._silent_for: tuple[str, ...] = ()
        self._responds = threading.Event()
        self._responds.set()

    def fall_silent(self, *names: str) -> None:
        """Responds to nobody who asks for one of these names; without names to nobody at all."""
        self._silent_for = names
        self._responds.clear()

    def respond(self) -> None:
        """Responds again, also to those who wait."""
        self._responds.set()

    def getaddrinfo(self, host: str, *arguments: Any, **options: Any) -> Any:
        """As the system's."""
        self.lookups.append(threading.current_thread().name)
        if not self._silent_for or host in self._silent_for:
            self._responds.wait(HANG_SECONDS)
        if self.error is not None:
            raise socket.gaierror(self.error, "by the test")
        return self._system(host, *arguments, **options)
