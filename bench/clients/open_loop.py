"""A load generator that keeps its rate whatever the service does: `python -m bench.clients.open_loop`, plan on stdin.

A closed loop waits for responses and so never offers more than the service can do. Here requests are due at fixed
times, and each time is counted from when its request was due.
"""

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import uvloop

CLIENT_TIMEOUT_SECONDS = 3.0
TICK_SECONDS = 0.002
MAX_CONNECTIONS = 2_000
PROBE_SECONDS = 0.1
LOST = 0  # the status of a request whose connection ended, or whose client gave up


@dataclass(frozen=True)
class Phase:
    """So many seconds of a rate of requests a second, or of so many clients that wait for their responses."""

    seconds: float
    rate: float = 0.0
    clients: int = 0


@dataclass
class Sent:
    """Requests of one kind: when each was due, the seconds until its response, and the status."""

    due: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    status: list[int] = field(default_factory=list)

    def add(self, due: float, seconds: float, status: int) -> None:
        """Counts a request."""
        self.due.append(due)
        self.seconds.append(seconds)
        self.status.append(status)


class _Connection(asyncio.Protocol):
    """A kept-alive connection with one request under way at most."""

    def __init__(self, sent: Sent, began: float, idle: Callable[["_Connection"], None]) -> None:
        self._sent = sent
        self._began = began
        self._idle = idle
        self._response = b""
        self._due: float | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def send(self, due: float, request: bytes) -> None:
        """Sends a request that was due then."""
        self._due, self._response = due, b""
        if self._transport is None or self._transport.is_closing():
            self._end(LOST)
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._response += data
        head, separator, body = self._response.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0])
        if len(body) < length:
            return
        closes = b"connection: close" in head.lower()
        self._end(int(head[9:12]))
        if not closes:
            self._idle(self)
        elif self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(LOST)

    def close_late(self, before: float) -> bool:
        """Closes the connection where its request was due before; whether it is of no more use."""
        if self._due is not None and self._due < before and self._transport is not None:
            self._transport.abort()
        return self._transport is None or self._transport.is_closing()

    def _end(self, status: int) -> None:
        if self._due is not None:
            self._sent.add(self._due - self._began, time.perf_counter() - self._due, status)
            self._due = None


class Generator:
    """Sends searches by phases; health checks, and orders where there are some, at a steady small rate beside them."""

    def __init__(self, address: str, searches: list[bytes], orders: list[bytes], health: bytes) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._searches = cycle(searches)
        self._orders = iter(orders)
        self._health = health
        self._began = 0.0
        self._idle: deque[_Connection] = deque()
        self._all: list[_Connection] = []
        self._opening: set[asyncio.Task[None]] = set()
        self.sent = {"search": Sent(), "order": Sent(), "health": Sent()}

    async def run(self, phases: list[Phase]) -> None:
        """Runs the phases one after the other."""
        self._began = time.perf_counter()
        probes = [asyncio.create_task(self._probe("health")), asyncio.create_task(self._probe("order"))]
        for phase in phases:
            if phase.clients:
                await self._closed_loop(phase)
            else:
                await self._open_loop(phase)
        await asyncio.sleep(CLIENT_TIMEOUT_SECONDS / 2)
        for probe in probes:
            probe.cancel()

    async def _closed_loop(self, phase: Phase) -> None:
        ends = time.perf_counter() + phase.seconds

        def again(connection: _Connection) -> None:
            if time.perf_counter() < ends:
                connection.send(time.perf_counter(), next(self._searches))

        clients = await asyncio.gather(*(self._connect("search", again) for _ in range(phase.clients)))
        for client in clients:
            again(client)
        while time.perf_counter() < ends:
            await asyncio.sleep(TICK_SECONDS)
            for client in clients:
                client.close_late(time.perf_counter() - CLIENT_TIMEOUT_SECONDS)

    async def _open_loop(self, phase: Phase) -> None:
        began = time.perf_counter()
        count = 0
        while (now := time.perf_counter()) < began + phase.seconds:
            while began + count / phase.rate <= now:
                due = began + count / phase.rate
                count += 1
                if self._idle:
                    self._idle.popleft().send(due, next(self._searches))
                elif len(self._all) + len(self._opening) < MAX_CONNECTIONS:
                    task = asyncio.create_task(self._send_on_new(due))
                    self._opening.add(task)
                    task.add_done_callback(self._opening.discard)
                else:
                    self.sent["search"].add(due - self._began, 0.0, LOST)
            self._all = [each for each in self._all if not each.close_late(now - CLIENT_TIMEOUT_SECONDS)]
            await asyncio.sleep(TICK_SECONDS)

    async def _send_on_new(self, due: float) -> None:
        try:
            connection = await self._connect("search", self._idle.append)
        except OSError:
            self.sent["search"].add(due - self._began, time.perf_counter() - due, LOST)
            return
        self._all.append(connection)
        connection.send(due, next(self._searches))

    async def _probe(self, kind: str) -> None:
        connection: _Connection | None = None
        free = asyncio.Event()
        while (request := self._health if kind == "health" else next(self._orders, None)) is not None:
            free.clear()
            if connection is None or connection.close_late(0.0):
                connection = await self._connect(kind, lambda _: free.set())
            connection.send(time.perf_counter(), request)
            try:
                await asyncio.wait_for(free.wait(), CLIENT_TIMEOUT_SECONDS)
            except TimeoutError:
                connection.close_late(time.perf_counter())
            await asyncio.sleep(PROBE_SECONDS)

    async def _connect(self, kind: str, idle: Callable[[_Connection], None]) -> _Connection:
        loop = asyncio.get_running_loop()
        make = lambda: _Connection(self.sent[kind], self._began, idle)  # noqa: E731  # a factory of one line
        _, connection = await loop.create_connection(make, self._host, self._port)
        return connection


def main() -> None:
    """Reads the plan, runs it and prints what came of each request."""
    plan = json.load(sys.stdin)
    searches, orders = (Path(plan[name]).read_bytes().split(b"\0")[:-1] for name in ("searches", "orders"))
    generator = Generator(plan["address"], searches, orders, plan["health"].encode())
    uvloop.run(generator.run([Phase(**phase) for phase in plan["phases"]]))
    json.dump({kind: asdict(sent) for kind, sent in generator.sent.items()}, sys.stdout)


if __name__ == "__main__":
    main()
