"""The requests that a service sends: the engine's address in, one to give the service out, and what went through it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

CHUNK = 65_536


class Recorder:
    """What was sent to the engine since it was last asked."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._sent = bytearray()

    def noted(self, data: bytes) -> None:
        """Notes what goes to the engine."""
        self._sent += data

    def taken(self) -> bytes:
        """The bytes since the last call."""
        sent = bytes(self._sent)
        self._sent.clear()
        return sent


@contextmanager
def recording(opensearch_url: str) -> Iterator[Recorder]:
    """A wire to the engine that keeps what is sent; for one caller at a time."""
    engine = urlsplit(opensearch_url)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        recorder = Recorder(f"http://127.0.0.1:{listener.getsockname()[1]}")

        def accept() -> None:
            with suppress(OSError):  # the listener was closed
                while True:
                    near, _ = listener.accept()
                    far = socket.create_connection((str(engine.hostname), engine.port or 9200))
                    threading.Thread(target=_pass, args=(near, far, recorder.noted), daemon=True).start()
                    threading.Thread(target=_pass, args=(far, near, lambda _: None), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield recorder
        listener.shutdown(socket.SHUT_RDWR)


def _pass(source: socket.socket, target: socket.socket, noted: Callable[[bytes], None]) -> None:
    with source:
        with suppress(OSError):  # either side has gone
            while data := source.recv(CHUNK):
                noted(data)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
