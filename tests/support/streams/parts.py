"""Processes that a supervisor starts again whenever they end, a client that asks until it is answered, and a copy."""

import asyncio
import os
import sqlite3
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import httpx
import orjson

from tests.support.faults.hosts import ROOT
from tests.support.streams.changes import Json

RESTART_SECONDS = 0.3


class Part:
    """A Python program under supervision."""

    def __init__(self, log: Path, arguments: tuple[str, ...], environment: Callable[[], Mapping[str, str]]) -> None:
        self._log = log
        self._arguments = arguments
        self._environment = environment
        self._process: Process | None = None

    async def run(self) -> None:
        """Starts it again and again; it is gone once this is cancelled."""
        try:
            while True:
                with self._log.open("ab") as log:
                    self._process = await asyncio.create_subprocess_exec(
                        sys.executable,
                        *self._arguments,
                        env={**os.environ, "PYTHONPATH": str(ROOT), **self._environment()},
                        cwd=self._log.parent,
                        stdout=log,
                        stderr=log,
                    )
                await self._process.wait()
                await asyncio.sleep(RESTART_SECONDS)
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends it at once, if it is there."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()


class Anywhere(httpx.AsyncBaseTransport):
    """Sends a request to any address until it is answered by something else than a refusal."""

    def __init__(self, address: Callable[[], str]) -> None:
        self._address = address
        self._client = httpx.AsyncClient(timeout=60, transport=httpx.AsyncHTTPTransport(verify=False))  # plain HTTP

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await request.aread()
        headers = {name: request.headers[name] for name in ("authorization", "content-type")}
        while True:
            try:
                url = f"{self._address()}{request.url.raw_path.decode()}"
                response = await self._client.request(request.method, url, content=content, headers=headers)
            except httpx.TransportError:
                pass
            else:
                if response.status_code != 503:
                    return response
            await asyncio.sleep(0.1)

    async def aclose(self) -> None:
        await self._client.aclose()


class Copy:
    """The database of a feed reader, which keeps what the reader did to it, too: in the reader's own transactions."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with closing(sqlite3.connect(file)) as database:
            database.executescript(
                """
                CREATE TABLE items (id INTEGER PRIMARY KEY, item TEXT);
                CREATE TABLE bookmark (one INTEGER PRIMARY KEY, bookmark TEXT);
                CREATE TABLE history (n INTEGER PRIMARY KEY, id INTEGER, item TEXT);
                CREATE TRIGGER put AFTER INSERT ON items
                    BEGIN INSERT INTO history (id, item) VALUES (new.id, new.item); END;
                CREATE TRIGGER gone AFTER DELETE ON items BEGIN INSERT INTO history (id) VALUES (old.id); END;
                CREATE TRIGGER kept AFTER INSERT ON bookmark BEGIN INSERT INTO history (id) VALUES (NULL); END;
                """
            )

    def items(self) -> dict[int, Json]:
        """What it has."""
        with closing(sqlite3.connect(self.file)) as database:
            return {number: orjson.loads(item) for number, item in database.execute("SELECT id, item FROM items")}

    def is_started(self) -> bool:
        """Whether there is a bookmark."""
        with closing(sqlite3.connect(self.file)) as database:
            return bool(database.execute("SELECT count(*) FROM bookmark").fetchone()[0])

    def changes(self) -> list[tuple[int, Json | None]]:
        """What was applied to it since it began, in order."""
        applied = """SELECT id, item FROM history WHERE id IS NOT NULL
            AND n > (SELECT min(n) FROM history WHERE id IS NULL) ORDER BY n"""
        with closing(sqlite3.connect(self.file)) as database:
            return [(number, item and orjson.loads(item)) for number, item in database.execute(applied)]
