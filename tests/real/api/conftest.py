"""A running app with a few items, in this process and as the real command in a process of its own."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, sleep

import httpx
import pytest

from api.settings import Settings
from tests.support.api.catalogue import loaded
from tests.support.api.described import only_described
from tests.support.app import ALL_SCOPES, RunningApp, new_token, running
from tests.support.servers import free_port
from tests.support.store.migrated import migrated

START_LIMIT = 150
"""Seconds: a machine with ten times its work starts the API in 80."""


@pytest.fixture(scope="package")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    """The app with a handful of items of platform 730."""
    with loaded(opensearch_url, tmp_path_factory.mktemp("api")) as settings:
        async with running(settings) as started:
            started.client.event_hooks = {"response": [only_described(started.app)]}
            yield started


@pytest.fixture(scope="package")
async def served(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.Client]:
    """A client of `gear-api serve` on a free port, with items, a database and a token of its own.

    It shares nothing with `app`, whose background work stands still while a test waits for this process.
    """
    with loaded(opensearch_url, tmp_path_factory.mktemp("served")) as settings:
        await migrated(settings.database_url)
        token = await new_token(settings.database_url, *ALL_SCOPES)
        with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
            client.headers["Authorization"] = f"Bearer {token}"
            yield client


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """The address of `gear-api serve` with these settings; it ends with the block."""
    port = free_port()
    environment = {
        **os.environ,
        **{f"GEAR_{name.upper()}": str(getattr(settings, name)) for name in settings.model_fields_set},
        "GEAR_API_PORT": str(port),
    }
    command = [str(Path(sys.executable).parent / "gear-api"), "serve"]
    with TemporaryFile("w+") as log, subprocess.Popen(command, env=environment, stderr=log) as process:
        try:
            if not lives(process, f"http://127.0.0.1:{port}"):
                log.seek(0)
                pytest.fail(f"gear-api serve did not start: {log.read()[-2000:]}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def lives(process: "subprocess.Popen[bytes]", url: str) -> bool:
    """Whether the API answers at this address before its process or our patience ends."""
    deadline = monotonic() + START_LIMIT
    while monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/health/live", verify=False).status_code == 200:
                return True
        except httpx.TransportError:
            sleep(0.1)
    return False
