"""The service with two workers, as a process of its own."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.settings import Settings
from tests.support.api.platform_files import platform_folder


@contextmanager
def two_workers(settings: Settings, folder: Path) -> Iterator[tuple[str, int]]:
    """`gear-api serve --workers 2` with these settings and the platform in English; its address and process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "GEAR_DATABASE_URL": settings.database_url,
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
        "GEAR_PLATFORM_FILES": str(platform_folder(folder)),
        "GEAR_RATE_LIMIT": settings.rate_limit,
        "GEAR_ADDRESS_RATE_LIMIT": settings.address_rate_limit,
    }
    command = [str(Path(sys.executable).with_name("gear-api")), "serve", "--workers", "2", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        service = subprocess.Popen(command, env=environment, stderr=log, cwd=folder)
    try:
        yield f"http://127.0.0.1:{port}", service.pid
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(30)
